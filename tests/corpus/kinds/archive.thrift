namespace java org.example.archive
namespace py archive

include "shared.thrift"

const i32 MAX_BOXES = 1000

typedef i64 BoxId

enum BoxState {
  SEALED = 1,
  OPENED
}

struct Box {
  1: required BoxId id,
  2: optional string label = "none",
  3: list<string> contents
}

union Place {
  1: i32 shelf
  2: string room
}

exception BoxMissing {
  1: string why
}

service ArchiveDesk extends shared.Base {
  Box fetchBox(1: BoxId id) throws (1: BoxMissing e),
  oneway void sealAll()
  list<Box> listBoxes(
    1: BoxState state
  )
}
