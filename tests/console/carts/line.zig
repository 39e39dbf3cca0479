// Lines of every slope, most about the screen, some coming from far off it.
extern "env" fn line(x1: i32, y1: i32, x2: i32, y2: i32) void;

var stream: u32 = 0x9e3779b9;

fn next() u32 {
    stream ^= stream << 13;
    stream ^= stream >> 17;
    stream ^= stream << 5;
    return stream;
}

fn coordinate() i32 {
    const kind = next() % 16;
    const most: u32 = if (kind < 12) 208 else if (kind < 15) 4000 else 60000;
    return @as(i32, @intCast(next() % most)) - @as(i32, @intCast(if (most == 208) 24 else most / 2));
}

export fn update() void {
    const pad: *volatile u8 = @ptrFromInt(0x16);
    const flags: *volatile u8 = @ptrFromInt(0x1f);
    const colors: *volatile u16 = @ptrFromInt(0x14);
    stream ^= (@as(u32, pad.*) + 1) *% 0x01000193;
    if (stream == 0) stream = 1;
    if (next() % 4 == 0) flags.* = @truncate(next());
    colors.* = @truncate(next());
    for (0..12) |_| line(coordinate(), coordinate(), coordinate(), coordinate());
}
