//! Scenario text in, with the JSON reader of the standard library. Whatever is not valid is an error.

const std = @import("std");
const tables = @import("tables.zig");

pub const Kind = enum(u8) { belt, splitter, inserter, assembler, source, sink, furnace, lane_splitter };

pub const Entity = struct {
    kind: Kind,
    x: i64,
    y: i64,
    dir: u2 = 0, // N, E, S, W
    speed: i32 = 0, // belt
    period: u32 = 1, // source, with its item and a bit for each lane
    item: u8 = 0,
    lanes: u2 = 0,
    recipe: u8 = 0, // crafter
};

pub const Scenario = struct { entities: []const Entity, snapshots: []const u64 };

const Invalid = error{Invalid};
const Object = std.json.ObjectMap;

const kinds = [_][]const u8{ "belt", "splitter", "inserter", "assembler", "source", "sink", "furnace", "lane-splitter" };

fn check(valid: bool) Invalid!void {
    if (!valid) return error.Invalid;
}

fn whole(value: ?std.json.Value, least: u64, most: u64) Invalid!u64 {
    const number: u64 = switch (value orelse return error.Invalid) {
        .integer => |n| if (n < 0) return error.Invalid else @intCast(n),
        .number_string => |digits| std.fmt.parseInt(u64, digits, 10) catch return error.Invalid,
        else => return error.Invalid,
    };
    try check(least <= number and number <= most);
    return number;
}

fn choice(value: ?std.json.Value, names: []const []const u8) Invalid!u8 {
    const word = switch (value orelse return error.Invalid) {
        .string => |s| s,
        else => return error.Invalid,
    };
    for (names, 0..) |name, i| {
        if (std.mem.eql(u8, name, word)) return @intCast(i);
    }
    return error.Invalid;
}

fn object(value: ?std.json.Value, keys: []const []const u8) Invalid!Object {
    const map = switch (value orelse return error.Invalid) {
        .object => |o| o,
        else => return error.Invalid,
    };
    if (keys.len > 0) try check(map.count() == keys.len);
    for (keys) |key| try check(map.contains(key));
    return map;
}

fn array(value: ?std.json.Value) Invalid![]const std.json.Value {
    return switch (value orelse return error.Invalid) {
        .array => |a| a.items,
        else => error.Invalid,
    };
}

fn readEntity(value: std.json.Value, width: u64, height: u64) Invalid!Entity {
    const map = try object(value, &.{});
    var entity: Entity = .{
        .kind = @enumFromInt(try choice(map.get("type"), &kinds)),
        .x = @intCast(try whole(map.get("x"), 0, width - 1)),
        .y = @intCast(try whole(map.get("y"), 0, height - 1)),
    };
    if (entity.kind == .assembler or entity.kind == .furnace) {
        const names = comptime blk: {
            var names: [tables.recipes.len][]const u8 = undefined;
            for (&names, tables.recipes) |*name, recipe| name.* = recipe.name;
            break :blk names;
        };
        entity.recipe = try choice(map.get("recipe"), &names);
        try check(tables.recipes[entity.recipe].furnace == (entity.kind == .furnace));
        return entity;
    }
    entity.dir = @intCast(try choice(map.get("dir"), &.{ "N", "E", "S", "W" }));
    if (entity.kind == .belt) entity.speed = 32 * (1 + @as(i32, try choice(map.get("tier"), &.{ "slow", "fast", "express" })));
    if (entity.kind == .source) {
        entity.item = try choice(map.get("item"), &tables.items);
        entity.lanes = @intCast(1 + try choice(map.get("lane"), &.{ "left", "right", "both" }));
        entity.period = @intCast(try whole(map.get("period"), 1, std.math.maxInt(u32)));
    }
    return entity;
}

pub fn read(gpa: std.mem.Allocator, text: []const u8) !Scenario {
    const value = try std.json.parseFromSliceLeaky(std.json.Value, gpa, text, .{});
    const top = try object(value, &.{ "version", "grid", "ticks", "snapshots", "entities" });
    const grid = try object(top.get("grid"), &.{ "width", "height" });
    _ = try whole(top.get("version"), 1, 1);
    const width = try whole(grid.get("width"), 1, std.math.maxInt(i32));
    const height = try whole(grid.get("height"), 1, std.math.maxInt(i32));
    const ticks = try whole(top.get("ticks"), 0, std.math.maxInt(u64));

    const listed = try array(top.get("snapshots"));
    try check(listed.len > 0);
    const snapshots = try gpa.alloc(u64, listed.len);
    var previous: u64 = 0;
    for (listed, snapshots) |one, *tick| {
        tick.* = try whole(one, previous + 1, ticks);
        previous = tick.*;
    }
    const placed = try array(top.get("entities"));
    const entities = try gpa.alloc(Entity, placed.len);
    for (placed, entities) |one, *entity| entity.* = try readEntity(one, width, height);
    return .{ .entities = entities, .snapshots = snapshots };
}
