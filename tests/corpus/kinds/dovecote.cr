require "json"

module Dovecote
  VERSION = "0.2.0"

  enum Colour
    White
    Grey
  end

  alias Weight = Float64 | Int32

  abstract class Bird
    getter name : String
    property ring = 0

    def initialize(@name : String)
    end

    abstract def sound : String

    def self.parse(line : String)
      new(line.strip)
    end

    def flying?
      true
    end
  end

  record Perch, height : Int32, width = 10

  struct Nest(T)
    def <<(egg : T)
    end
  end

  macro define_flight(name)
    def fly_{{name.id}}; end
  end

  annotation Rare; end
end

lib LibFeather
  fun pluck = feather_pluck(n : Int32) : Void
end
