(** Keeping stock. *)

exception Out_of_stock of string

type item = private {
  name : string;
  mutable count : int;
}

type 'a shelf_map

val default_limit : int
(** At most this many. *)

val describe : item -> string

val fold_items :
  ('acc -> item -> 'acc) -> 'acc -> item shelf_map -> 'acc

module type STORE = sig
  type t
  val insert : t -> item -> t
end

module Make (S : STORE) : sig
  val reload : unit -> S.t
end

external checksum : string -> int = "inv_checksum"

class shelf : int -> object
  method add_item : item -> unit
end
