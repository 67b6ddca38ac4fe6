import gleam/int
import gleam/list

pub const max_stops = 30

pub type Stop {
  Stop(name: String, zone: Int)
  Depot
}

pub opaque type Line {
  Line(number: Int, stops: List(Stop))
}

type Zones =
  List(Int)

pub fn new_line(number: Int) -> Line {
  Line(number: number, stops: [])
}

fn zone_of(stop: Stop) -> Int {
  case stop {
    Stop(zone: z, ..) -> z
    Depot -> 0
  }
}

pub fn zones(line: Line) -> Zones {
  line.stops |> list.map(zone_of)
}

@external(erlang, "tram_ffi", "ring_bell")
pub fn ring_bell(times: Int) -> Nil
