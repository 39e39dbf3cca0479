//! Lattice, tick by tick, with cheap bookkeeping: see README.md.

const std = @import("std");
const tables = @import("tables.zig");
const answer = @import("answer.zig");
const scenario = @import("scenario.zig");

const Entity = scenario.Entity;
const Kind = scenario.Kind;
const Recipe = tables.Recipe;

const tile_length = 256;
const spacing = 64;
const entry = 192;
const swing = 8;
const cap = 8;
const nothing = 0xff;

const gpa = std.heap.wasm_allocator;

fn list(comptime T: type, count: usize) []T {
    return gpa.alloc(T, count) catch @trap();
}

/// Both the coordinates and the items of one lane of one run, downstream first. A coordinate counts from the end of the
/// run: position p on the run's i-th tile is 256 i + p.
const Lane = struct {
    at: []i32,
    items: []u8,
    count: usize = 0,
    speeds: []const i32, // by tile

    /// The first item at or upstream of a coordinate.
    fn find(lane: *const Lane, from: i32) usize {
        var low: usize = 0;
        var high = lane.count;
        while (low < high) {
            const middle = (low + high) / 2;
            if (lane.at[middle] < from) low = middle + 1 else high = middle;
        }
        return low;
    }

    fn compact(lane: *Lane) void {
        var floor: i32 = 0;
        for (lane.at[0..lane.count]) |*at| {
            const moved = at.* - lane.speeds[@intCast(@as(u32, @intCast(at.*)) / tile_length)];
            at.* = @max(moved, floor);
            floor = at.* + spacing;
        }
    }

    fn take(lane: *Lane, index: usize) u8 {
        const item = lane.items[index];
        lane.count -= 1;
        for (index..lane.count) |i| {
            lane.at[i] = lane.at[i + 1];
            lane.items[i] = lane.items[i + 1];
        }
        return item;
    }
};

/// One lane of one belt tile. No two items ever stand closer than `spacing`, on any two tiles of a run, so what is asked
/// of a tile may be asked of its lane.
const Place = struct {
    lane: *Lane,
    start: i32,

    fn accepts(place: Place, pos: i32) bool {
        const lane = place.lane;
        const next = lane.find(place.start + pos - spacing + 1);
        return next == lane.count or lane.at[next] >= place.start + pos + spacing;
    }

    fn force(place: Place, pos: i32, item: u8) bool {
        const lane = place.lane;
        const at = place.start + pos;
        const next = lane.find(at - spacing + 1);
        if (next < lane.count and lane.at[next] < at + spacing) return false;
        var i = lane.count;
        while (i > next) : (i -= 1) {
            lane.at[i] = lane.at[i - 1];
            lane.items[i] = lane.items[i - 1];
        }
        lane.at[next] = at;
        lane.items[next] = item;
        lane.count += 1;
        return true;
    }

    /// The index of the first item on the tile.
    fn head(place: Place) ?usize {
        const index = place.lane.find(place.start);
        if (index == place.lane.count or place.lane.at[index] >= place.start + tile_length) return null;
        return index;
    }

    /// The same if it stands at the tile's downstream edge.
    fn arrived(place: Place) ?usize {
        const index = place.lane.find(place.start);
        if (index == place.lane.count or place.lane.at[index] != place.start) return null;
        return index;
    }
};

const Crafter = struct {
    recipe: *const Recipe,
    is_furnace: bool,
    inputs: [2]u8 = .{ 0, 0 },
    output: u8 = 0,
    left: u8 = 0,

    fn input(crafter: *const Crafter, item: u8) ?usize {
        if (item == crafter.recipe.input[0]) return 0;
        if (item == crafter.recipe.input[1]) return 1;
        return null;
    }

    fn wants(crafter: *const Crafter, item: u8) bool {
        return if (crafter.input(item)) |i| crafter.inputs[i] < cap else false;
    }

    fn rank(crafter: *const Crafter, item: u8) u32 {
        const count: u32 = crafter.inputs[crafter.input(item).?];
        return if (crafter.is_furnace and item == tables.coal) count else count + 16;
    }

    fn run(crafter: *Crafter) void {
        const recipe = crafter.recipe;
        if (crafter.left > 1) {
            crafter.left -= 1;
            return;
        }
        if (crafter.left == 1) {
            crafter.output += recipe.amount;
            crafter.left = 0;
        }
        if (crafter.inputs[0] < recipe.need[0] or crafter.inputs[1] < recipe.need[1]) return;
        if (crafter.output + recipe.amount > cap) return;
        crafter.inputs[0] -= recipe.need[0];
        crafter.inputs[1] -= recipe.need[1];
        crafter.left = recipe.ticks;
    }
};

const Source = struct {
    period: u32,
    wait: u32, // ticks until it emits
    item: u8,
    places: [2]?Place = .{ null, null },
};

const Sink = struct {
    consumed: [tables.items.len]u64 = @splat(0),
    places: [8]Place = undefined,
    count: usize = 0,
};

const From = union(enum) { nothing, belt: struct { far: Place, near: Place }, crafter: *Crafter, source: u8 };
const To = union(enum) { nothing, belt: Place, crafter: *Crafter, sink: *Sink };

const Arm = struct {
    from: From = .nothing,
    to: To = .nothing,
    held: u8 = nothing,
    left: u8 = 0,

    fn wouldAccept(arm: *const Arm, item: u8) bool {
        return switch (arm.to) {
            .nothing => false,
            .belt => |place| place.accepts(entry),
            .crafter => |crafter| crafter.wants(item),
            .sink => true,
        };
    }

    fn drop(arm: *Arm) bool {
        switch (arm.to) {
            .nothing => return false,
            .belt => |place| return place.force(entry, arm.held),
            .crafter => |crafter| {
                if (!crafter.wants(arm.held)) return false;
                crafter.inputs[crafter.input(arm.held).?] += 1;
            },
            .sink => |sink| sink.consumed[arm.held] += 1,
        }
        return true;
    }

    /// What a machine has least of, the far lane's head if it does not matter.
    fn grabForCrafter(crafter: *const Crafter, far: Place, near: Place) u8 {
        var best: ?struct { lane: *Lane, index: usize, rank: u32 } = null;
        for ([2]Place{ far, near }) |place| {
            const index = place.head() orelse continue;
            const item = place.lane.items[index];
            if (!crafter.wants(item)) continue;
            const rank = crafter.rank(item);
            if (best == null or rank < best.?.rank) best = .{ .lane = place.lane, .index = index, .rank = rank };
        }
        return if (best) |found| found.lane.take(found.index) else nothing;
    }

    fn grab(arm: *Arm) u8 {
        switch (arm.from) {
            .nothing => return nothing,
            .belt => |belt| {
                if (arm.to == .crafter) return grabForCrafter(arm.to.crafter, belt.far, belt.near);
                const place = if (belt.far.head() != null) belt.far else belt.near;
                const index = place.head() orelse return nothing;
                return if (arm.wouldAccept(place.lane.items[index])) place.lane.take(index) else nothing;
            },
            .crafter => |crafter| {
                if (crafter.output == 0 or !arm.wouldAccept(crafter.recipe.output)) return nothing;
                crafter.output -= 1;
                return crafter.recipe.output;
            },
            .source => |item| return if (arm.wouldAccept(item)) item else nothing,
        }
    }

    fn run(arm: *Arm) void {
        if (arm.held == nothing) {
            if (arm.left > 0) {
                arm.left -= 1;
                return;
            }
            arm.held = arm.grab();
            if (arm.held != nothing) arm.left = swing;
        } else if (arm.left > 1) {
            arm.left -= 1;
        } else if (arm.drop()) {
            arm.held = nothing;
            arm.left = swing;
        }
    }
};

const Splitter = struct {
    inputs: [2]?[2]Place = .{ null, null }, // by half, by lane
    outputs: [2]?[2]Place = .{ null, null },
    preferred: [2]u1 = .{ 0, 0 },

    fn run(splitter: *Splitter, in_first: u1) void {
        for (0..2) |lane| {
            for ([2]u1{ in_first, in_first ^ 1 }) |half| {
                const input = (splitter.inputs[half] orelse continue)[lane];
                const index = input.arrived() orelse continue;
                const item = input.lane.items[index];
                const wish = splitter.preferred[lane];
                for ([2]u1{ wish, wish ^ 1 }) |chosen| {
                    const output = (splitter.outputs[chosen] orelse continue)[lane];
                    if (!output.force(entry, item)) continue;
                    _ = input.lane.take(input.arrived().?); // again: both may be the same lane
                    splitter.preferred[lane] = chosen ^ 1;
                    break;
                }
            }
        }
    }

    fn runLanes(splitter: *Splitter) void {
        const input = splitter.inputs[0] orelse return;
        for (0..2) |lane| {
            const index = input[lane].arrived() orelse continue;
            const output = (splitter.outputs[lane] orelse continue)[lane];
            if (output.force(entry, input[lane].lane.items[index])) _ = input[lane].lane.take(input[lane].arrived().?);
        }
    }
};

const SideLoad = struct { from: Place, to: Place, pos: i32 };

// ---- the world ----------------------------------------------------------------------------------------------------

var entities: []const Entity = undefined;
var owners: std.AutoHashMapUnmanaged([2]i64, u32) = .empty;
var curves: []bool = undefined;
var lanes: []Lane = undefined;
var places: [][2]Place = undefined; // by entity
var slots: []usize = undefined; // by entity: its index among those of its kind
var sources: []Source = undefined;
var arms: []Arm = undefined;
var crafters: []Crafter = undefined;
var splitters: []Splitter = undefined;
var lane_splitters: []Splitter = undefined;
var sinks: []Sink = undefined;
var side_loads: []SideLoad = undefined;

fn ownerAt(x: i64, y: i64) ?u32 {
    return owners.get(.{ x, y });
}

fn ownerBeside(x: i64, y: i64, dir: u2) ?u32 {
    const dx = [4]i64{ 0, 1, 0, -1 };
    const dy = [4]i64{ -1, 0, 1, 0 };
    return ownerAt(x + dx[dir], y + dy[dir]);
}

fn beltBeside(x: i64, y: i64, dir: u2) ?u32 {
    const owner = ownerBeside(x, y, dir) orelse return null;
    return if (entities[owner].kind == .belt) owner else null;
}

fn opposite(dir: u2) u2 {
    return dir ^ 2;
}

fn laneSide(dir: u2, lane: usize) u2 {
    return dir +% (if (lane == 0) @as(u2, 3) else 1);
}

fn nearLane(actor: u2, belt: u2) usize {
    return if (laneSide(belt, 0) == opposite(actor)) 0 else 1;
}

fn placeEntities() void {
    for (entities, 0..) |entity, e| {
        const upright = entity.dir % 2 == 1;
        const size: [2]i64 = switch (entity.kind) {
            .assembler => .{ 3, 3 },
            .furnace => .{ 2, 2 },
            .splitter, .lane_splitter => if (upright) .{ 1, 2 } else .{ 2, 1 },
            else => .{ 1, 1 },
        };
        var dy: i64 = 0;
        while (dy < size[1]) : (dy += 1) {
            var dx: i64 = 0;
            while (dx < size[0]) : (dx += 1) owners.put(gpa, .{ entity.x + dx, entity.y + dy }, @intCast(e)) catch @trap();
        }
    }
}

fn isPureCurve(belt: Entity) bool {
    var feeders: usize = 0;
    var bent = false;
    for (0..4) |side| {
        const dir: u2 = @intCast(side);
        const neighbour = entities[ownerBeside(belt.x, belt.y, dir) orelse continue];
        if (neighbour.dir != opposite(dir)) continue;
        switch (neighbour.kind) {
            .belt => {
                feeders += 1;
                bent = neighbour.dir != belt.dir;
            },
            .source, .inserter, .splitter, .lane_splitter => return false,
            else => {},
        }
    }
    return feeders == 1 and bent;
}

fn nextBelt(e: u32) ?u32 {
    const belt = entities[e];
    const ahead = beltBeside(belt.x, belt.y, belt.dir) orelse return null;
    return if (entities[ahead].dir == belt.dir or curves[ahead]) ahead else null;
}

/// Makes both lanes of a run out of its belts, which are listed upstream first.
fn layRun(chain: []const u32, next_lane: *usize) void {
    const speeds = list(i32, chain.len);
    for (chain, 1..) |e, i| speeds[chain.len - i] = entities[e].speed;
    for (0..2) |side| {
        const lane = &lanes[next_lane.*];
        lane.* = .{ .at = list(i32, 4 * chain.len), .items = list(u8, 4 * chain.len), .speeds = speeds };
        next_lane.* += 1;
        for (chain, 1..) |e, i| places[e][side] = .{ .lane = lane, .start = @intCast((chain.len - i) * tile_length) };
    }
}

fn layRuns() void {
    curves = list(bool, entities.len);
    for (entities, curves) |entity, *curve| curve.* = entity.kind == .belt and isPureCurve(entity);
    const used = list(bool, entities.len);
    @memset(used, false);
    const chain = list(u32, entities.len);
    lanes = list(Lane, 2 * entities.len);
    places = list([2]Place, entities.len);
    var lane_count: usize = 0;
    for (entities, 0..) |belt, e| {
        if (belt.kind != .belt or curves[e]) continue;
        const behind = beltBeside(belt.x, belt.y, opposite(belt.dir));
        if (behind != null and entities[behind.?].dir == belt.dir) continue;
        var length: usize = 0;
        var next: ?u32 = @intCast(e);
        while (next) |b| : (next = nextBelt(b)) {
            if (used[b]) break;
            used[b] = true;
            chain[length] = b;
            length += 1;
        }
        if (length > 0) layRun(chain[0..length], &lane_count);
    }
    for (entities, 0..) |belt, e| { // closed loops: each tile is a run of its own
        if (belt.kind == .belt and !used[e]) layRun(&.{@intCast(e)}, &lane_count);
    }
    lanes = lanes[0..lane_count];
}

fn halves(entity: Entity, dir: u2) [2]?[2]Place {
    const upright = entity.dir % 2 == 1;
    var ends: [2]?[2]Place = .{ null, null };
    for (0..2) |half| {
        const x = entity.x + if (half == 1 and !upright) @as(i64, 1) else 0;
        const y = entity.y + if (half == 1 and upright) @as(i64, 1) else 0;
        const belt = beltBeside(x, y, dir) orelse continue;
        if (entities[belt].dir == entity.dir) ends[half] = places[belt];
    }
    return ends;
}

fn setUpArm(entity: Entity) Arm {
    var arm: Arm = .{};
    if (ownerBeside(entity.x, entity.y, opposite(entity.dir))) |from| {
        switch (entities[from].kind) {
            .belt => {
                const near = nearLane(entity.dir, entities[from].dir);
                arm.from = .{ .belt = .{ .near = places[from][near], .far = places[from][1 - near] } };
            },
            .assembler, .furnace => arm.from = .{ .crafter = &crafters[slots[from]] },
            .source => arm.from = .{ .source = entities[from].item },
            else => {},
        }
    }
    if (ownerBeside(entity.x, entity.y, entity.dir)) |to| {
        switch (entities[to].kind) {
            .belt => arm.to = .{ .belt = places[to][nearLane(entity.dir, entities[to].dir)] },
            .assembler, .furnace => arm.to = .{ .crafter = &crafters[slots[to]] },
            .sink => arm.to = .{ .sink = &sinks[slots[to]] },
            else => {},
        }
    }
    return arm;
}

fn setUpSource(entity: Entity) Source {
    var source: Source = .{ .period = entity.period, .wait = entity.period, .item = entity.item };
    if (beltBeside(entity.x, entity.y, entity.dir)) |belt| {
        for (0..2) |side| {
            if (entity.lanes >> @intCast(side) & 1 == 1) source.places[side] = places[belt][side];
        }
    }
    return source;
}

fn setUpSink(entity: Entity) Sink {
    var sink: Sink = .{};
    for (0..4) |side| {
        const dir: u2 = @intCast(side);
        const belt = beltBeside(entity.x, entity.y, dir) orelse continue;
        if (entities[belt].dir != opposite(dir)) continue;
        for (places[belt]) |place| {
            sink.places[sink.count] = place;
            sink.count += 1;
        }
    }
    return sink;
}

fn setUpSideLoads() void {
    side_loads = list(SideLoad, 2 * entities.len);
    var count: usize = 0;
    for (entities, 0..) |belt, e| {
        if (belt.kind != .belt) continue;
        const target = beltBeside(belt.x, belt.y, belt.dir) orelse continue;
        const dir = entities[target].dir;
        if (dir == belt.dir or curves[target]) continue;
        for (0..2) |side| {
            const lies = laneSide(belt.dir, side);
            const pos: i32 = if (lies == opposite(dir)) entry else if (lies == dir) spacing else tile_length / 2;
            side_loads[count] = .{ .from = places[e][side], .to = places[target][nearLane(belt.dir, dir)], .pos = pos };
            count += 1;
        }
    }
    side_loads = side_loads[0..count];
}

fn slotKind(kind: Kind) Kind {
    return if (kind == .furnace) .assembler else kind;
}

fn setUp() void {
    var counts: std.EnumArray(Kind, usize) = .initFill(0);
    slots = list(usize, entities.len);
    for (entities, slots) |entity, *slot| {
        slot.* = counts.get(slotKind(entity.kind));
        counts.getPtr(slotKind(entity.kind)).* += 1;
    }
    sources = list(Source, counts.get(.source));
    arms = list(Arm, counts.get(.inserter));
    crafters = list(Crafter, counts.get(.assembler));
    splitters = list(Splitter, counts.get(.splitter));
    lane_splitters = list(Splitter, counts.get(.lane_splitter));
    sinks = list(Sink, counts.get(.sink));
    for (entities, slots) |entity, slot| {
        switch (entity.kind) {
            .belt => {},
            .splitter, .lane_splitter => {
                const all = if (entity.kind == .splitter) splitters else lane_splitters;
                all[slot] = .{ .inputs = halves(entity, opposite(entity.dir)), .outputs = halves(entity, entity.dir) };
            },
            .inserter => arms[slot] = setUpArm(entity),
            .source => sources[slot] = setUpSource(entity),
            .sink => sinks[slot] = setUpSink(entity),
            .assembler, .furnace => crafters[slot] = .{ .recipe = &tables.recipes[entity.recipe], .is_furnace = entity.kind == .furnace },
        }
    }
    setUpSideLoads();
}

// ---- the tick -----------------------------------------------------------------------------------------------------

fn runTick(in_first: u1) void {
    for (sources) |*source| {
        source.wait -= 1;
        if (source.wait > 0) continue;
        source.wait = source.period;
        for (source.places) |place| {
            if (place) |p| _ = p.force(entry, source.item);
        }
    }
    for (arms) |*arm| arm.run();
    for (lanes) |*lane| lane.compact();
    for (side_loads) |load| {
        const index = load.from.arrived() orelse continue;
        if (load.to.force(load.pos, load.from.lane.items[index])) _ = load.from.lane.take(load.from.arrived().?);
    }
    for (splitters) |*splitter| splitter.run(in_first);
    for (lane_splitters) |*splitter| splitter.runLanes();
    for (crafters) |*crafter| crafter.run();
    for (sinks) |*sink| {
        for (sink.places[0..sink.count]) |place| {
            const index = place.arrived() orelse continue;
            sink.consumed[place.lane.take(index)] += 1;
        }
    }
}

// ---- the answer ---------------------------------------------------------------------------------------------------

fn putCell(out: *answer.Writer, place: Place) void {
    const lane = place.lane;
    const first = lane.find(place.start);
    const end = lane.find(place.start + tile_length);
    out.hash(4, end - first);
    for (first..end) |i| out.beltItem(i == first, @intCast(lane.at[i] - place.start), lane.items[i]);
}

fn putEntity(out: *answer.Writer, e: usize, tick: u64) void {
    const entity = entities[e];
    const slot = slots[e];
    out.hash(1, @intFromEnum(entity.kind));
    switch (entity.kind) {
        .belt => {
            out.text("{\"belt\":{\"left\":[");
            putCell(out, places[e][0]);
            out.text("],\"right\":[");
            putCell(out, places[e][1]);
            out.text("]}}");
        },
        .splitter => {
            const preferred = splitters[slot].preferred;
            out.splitter(@as(u32, preferred[0]) + 2 * @as(u32, preferred[1]), tick & 1);
        },
        .inserter => {
            const arm = &arms[slot];
            out.inserter(if (arm.held == nothing) null else arm.held, arm.left);
        },
        .assembler, .furnace => {
            const crafter = &crafters[slot];
            out.text(if (entity.kind == .furnace) "{\"furnace\":{\"inputs\":" else "{\"assembler\":{\"inputs\":");
            out.counts(2, u8, &crafter.recipe.input, &.{ crafter.inputs[0], crafter.inputs[1] });
            out.text(",\"output\":");
            out.counts(2, u8, &.{crafter.recipe.output}, &.{crafter.output});
            out.hash(2, crafter.left);
            out.text(",\"craft_left\":");
            out.number(crafter.left);
            out.text("}}");
        },
        .source => {
            const phase = tick % entity.period;
            out.hash(4, phase);
            out.text("{\"source\":{\"emit_phase\":");
            out.number(phase);
            out.text("}}");
        },
        .sink => {
            out.text("{\"sink\":{\"consumed\":");
            out.counts(8, u64, &tables.all_items, &sinks[slot].consumed);
            out.text("}}");
        },
        .lane_splitter => out.text("{\"lanesplitter\":{}}"),
    }
}

export fn alloc(length: usize) [*]u8 {
    return list(u8, @max(length, 1)).ptr;
}

export fn simulate(text: [*]const u8, length: usize) u64 {
    const read = scenario.read(gpa, text[0..length]) catch @trap();
    entities = read.entities;
    placeEntities();
    layRuns();
    setUp();

    var out = answer.Writer.init(gpa);
    out.text("[");
    var tick: u64 = 0;
    for (read.snapshots, 0..) |target, s| {
        while (tick < target) : (tick += 1) runTick(@intCast(tick & 1));
        if (s > 0) out.text(",");
        out.open(tick, entities.len);
        for (0..entities.len) |e| {
            if (e > 0) out.text(",");
            putEntity(&out, e, tick);
        }
        out.close();
    }
    out.text("]");
    return @as(u64, @intFromPtr(out.bytes.ptr)) << 32 | out.length;
}
