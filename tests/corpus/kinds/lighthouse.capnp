@0xdbb9ad1f14bf0b36;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("coast");

const flashPeriod :UInt32 = 5;

enum Colour {
  white @0;
  red @1;
}

struct Lighthouse @0xa1b2c3d4e5f60718 {
  name @0 :Text;
  height @1 :Float32 = 20;
  colour @2 :Colour;

  union {
    keeper @3 :Person;
    automatic @4 :Void;
  }

  struct Person {
    email @0 :Text;
  }
}

interface Coastguard {
  findLight @0 (name :Text) -> (light :Lighthouse);
  dim @1 (percent :UInt8);
}

annotation audited(struct) :Void;
