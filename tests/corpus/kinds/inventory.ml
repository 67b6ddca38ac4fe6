open Printf

exception Out_of_stock of string

type unit_kind = Piece | Kilo of float

type item = {
  name : string;
  mutable count : int;
}

module StringMap = Map.Make (String)

module type STORE = sig
  type t
  val insert : t -> item -> t
end

let default_limit = 20

let describe item = sprintf "%s (%d)" item.name item.count

let rec total_count = function
  | [] -> 0
  | { count; _ } :: rest -> count + total_count rest

let rec is_even n = n = 0 || is_odd (n - 1)
and is_odd n = n <> 0 && is_even (n - 1)

let ( +++ ) a b = a @ b

class shelf (width : int) = object (self)
  val mutable items = []
  method add_item i = items <- i :: items
  method private width = width
end

module Memory : STORE = struct
  type t = item list
  let insert t i = i :: t
end

external checksum : string -> int = "inv_checksum"
