module garden

import os

pub const max_beds = 12

const (
	season = 'spring'
)

enum Soil {
	clay
	sand
}

pub struct Bed {
pub mut:
	name string
	soil Soil
}

interface Waterable {
	water(litres int) bool
}

type Plot = Bed | string

pub fn new_bed(name string) Bed {
	return Bed{ name: name }
}

fn (mut b Bed) water(litres int) bool {
	return litres > 0 && b.soil == .sand
}

fn (a Bed) == (b Bed) bool { return a.name == b.name }

pub fn map_beds[T](beds []Bed, f fn (Bed) T) []T {
	return beds.map(f(it))
}

fn main() {
	println(os.args)
}
