//! The fixed figures of the rules.

pub const items = [_][]const u8{
    "iron-ore",   "iron-plate", "iron-gear",      "copper-ore",        "copper-plate",         "copper-cable",
    "circuit",    "transport-belt",               "fast-transport-belt", "express-transport-belt",
    "assembler",  "fast-assembler",               "express-assembler", "inserter",             "fast-inserter",
    "express-inserter", "coal",
};
pub const coal = 16;
pub const all_items = blk: {
    var indices: [items.len]u8 = undefined;
    for (&indices, 0..) |*index, i| index.* = i;
    break :blk indices;
};

const none = 0xff;

pub const Recipe = struct {
    name: []const u8,
    furnace: bool,
    input: [2]u8,
    need: [2]u8,
    output: u8,
    amount: u8,
    ticks: u8,
};

pub const recipes = [_]Recipe{
    .{ .name = "iron-plate", .furnace = true, .input = .{ 0, coal }, .need = .{ 1, 1 }, .output = 1, .amount = 1, .ticks = 32 },
    .{ .name = "copper-plate", .furnace = true, .input = .{ 3, coal }, .need = .{ 1, 1 }, .output = 4, .amount = 1, .ticks = 32 },
    .{ .name = "iron-gear", .furnace = false, .input = .{ 1, none }, .need = .{ 2, 0 }, .output = 2, .amount = 1, .ticks = 64 },
    .{ .name = "copper-cable", .furnace = false, .input = .{ 4, none }, .need = .{ 1, 0 }, .output = 5, .amount = 2, .ticks = 32 },
    .{ .name = "circuit", .furnace = false, .input = .{ 1, 5 }, .need = .{ 1, 3 }, .output = 6, .amount = 1, .ticks = 96 },
    .{ .name = "transport-belt", .furnace = false, .input = .{ 1, 2 }, .need = .{ 1, 1 }, .output = 7, .amount = 2, .ticks = 48 },
    .{ .name = "inserter", .furnace = false, .input = .{ 2, 6 }, .need = .{ 1, 1 }, .output = 13, .amount = 1, .ticks = 64 },
    .{ .name = "assembler", .furnace = false, .input = .{ 6, 7 }, .need = .{ 1, 2 }, .output = 10, .amount = 1, .ticks = 96 },
};
