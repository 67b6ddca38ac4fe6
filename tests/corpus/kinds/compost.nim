import std/[tables, strformat]

const MaxHeat* = 70.0

type
  Material* = enum
    leaves, grass
  Heap* = ref object of RootObj
    layers: seq[Material]
    heat*: float
  Sensor = object
    id: int

var heaps* = initTable[string, Heap]()

proc newHeap*(layers: seq[Material]): Heap =
  Heap(layers: layers, heat: 20.0)

proc turn(h: Heap) {.inline.} =
  h.heat -= 2

func isHot*(h: Heap): bool = h.heat > MaxHeat / 2

method describe*(h: Heap): string {.base.} =
  fmt"heap at {h.heat}"

iterator warmOnes(): Heap =
  for h in heaps.values:
    if h.isHot: yield h

template withHeap(name: string, body: untyped) =
  let heap {.inject.} = heaps[name]
  body

macro dumpAll(args: varargs[untyped]): untyped = args

proc `+`*(a, b: Heap): Heap = newHeap(a.layers & b.layers)
