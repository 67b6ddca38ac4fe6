module light.lantern;

import std.stdio, std.algorithm;

enum maxLumen = 800;
alias Watts = double;

enum Mode { off, dim, bright }

interface Switchable
{
    void toggle();
}

class Lantern : Switchable
{
    private Mode mode;

    this(Mode m) { mode = m; }

    override void toggle() { mode = Mode.bright; }

    @property int lumen() const pure
    {
        return mode == Mode.off ? 0 : maxLumen;
    }
}

struct Battery(T)
{
    T charge;
    auto drain(T amount) { return charge -= amount; }
}

T clampTo(T)(T v, T lo, T hi) if (is(T : double))
{
    return max(lo, min(v, hi));
}

mixin template Counted() { int count; }

unittest { assert(clampTo(5, 0, 3) == 3); }

void main(string[] args) { writeln(args); }
