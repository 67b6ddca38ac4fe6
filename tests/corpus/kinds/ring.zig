const std = @import("std");

pub const capacity: usize = 64;

const RingError = error{ Full, Empty };

pub const Slot = struct {
    value: u32 = 0,
    used: bool = false,

    pub fn clear(self: *Slot) void {
        self.used = false;
    }
};

const Direction = enum { forward, backward };

const Payload = union(enum) { number: i64, text: []const u8 };

var slots: [capacity]Slot = undefined;

pub fn pushValue(v: u32) RingError!void {
    if (isFull()) return RingError.Full;
    slots[0] = .{ .value = v, .used = true };
}

fn isFull() bool {
    return slots[capacity - 1].used;
}

pub fn Ring(comptime T: type) type {
    return struct {
        items: []T,
        pub fn rotate(self: @This(), dir: Direction) void {
            _ = self;
            _ = dir;
        }
    };
}

export fn ring_version() c_int { return 3; }

test "push then clear" {
    try pushValue(4);
}
