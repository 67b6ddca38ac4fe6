namespace Town.Parking

open System

type Spot =
    | Free
    | Taken of plate: string

type Garage = { Name: string; Spots: Spot list }

exception GarageFull of string

type IMeter =
    abstract member Charge: TimeSpan -> decimal

type HourlyMeter(rate: decimal) =
    let mutable used = 0
    member this.Used = used
    member _.Reset() = used <- 0
    static member Create rate = HourlyMeter(rate)
    interface IMeter with
        member _.Charge span = decimal span.TotalHours * rate

module Occupancy =
    [<Literal>]
    let WarningLevel = 0.9

    let countFree garage =
        garage.Spots |> List.filter ((=) Free) |> List.length

    let rec private findFirst spots =
        match spots with
        | [] -> None
        | s :: rest -> if s = Free then Some s else findFirst rest

    let inline (|Busy|Quiet|) g = if countFree g < 3 then Busy else Quiet
