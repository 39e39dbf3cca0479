//! State text and checksum out. The checksum runs along with the text.

const std = @import("std");
const tables = @import("tables.zig");

const room = 1024; // more than any one piece of text

pub const Writer = struct {
    gpa: std.mem.Allocator,
    bytes: []u8,
    length: usize = 0,
    sum: u64 = 0,
    checksum_at: usize = 0,

    pub fn init(gpa: std.mem.Allocator) Writer {
        return .{ .gpa = gpa, .bytes = gpa.alloc(u8, 1 << 20) catch @trap() };
    }

    /// FNV-1a of a number in so many bytes, little-endian.
    pub fn hash(out: *Writer, comptime size: comptime_int, value: u64) void {
        const prime: u64 = 0x100000001b3;
        if (value < 256) { // a zero byte only multiplies
            comptime var power: u64 = 1;
            inline for (0..size) |_| power *%= prime;
            out.sum = (out.sum ^ value) *% power;
            return;
        }
        inline for (0..size) |i| out.sum = (out.sum ^ (value >> (8 * i) & 0xff)) *% prime;
    }

    pub fn text(out: *Writer, piece: []const u8) void {
        if (out.length + room > out.bytes.len) out.bytes = out.gpa.realloc(out.bytes, 2 * out.bytes.len) catch @trap();
        for (piece, out.bytes[out.length..][0..piece.len]) |c, *to| to.* = c;
        out.length += piece.len;
    }

    pub fn number(out: *Writer, value: u64) void {
        var digits: [20]u8 = undefined;
        var start = digits.len;
        var rest = value;
        while (true) {
            start -= 1;
            digits[start] = '0' + @as(u8, @intCast(rest % 10));
            rest /= 10;
            if (rest == 0) break;
        }
        out.text(digits[start..]);
    }

    pub fn beltItem(out: *Writer, first: bool, pos: u32, item: u8) void {
        out.hash(4, pos);
        out.hash(2, item);
        out.text(if (first) "{\"pos\":" else ",{\"pos\":");
        out.number(pos);
        out.text(",\"item\":\"");
        out.text(tables.items[item]);
        out.text("\"}");
    }

    pub fn splitter(out: *Writer, out_pref: u64, in_first: u64) void {
        out.hash(2, out_pref);
        out.hash(1, in_first);
        out.text("{\"splitter\":{\"out_pref\":");
        out.number(out_pref);
        out.text(",\"in_first\":");
        out.number(in_first);
        out.text("}}");
    }

    pub fn inserter(out: *Writer, held: ?u8, left: u8) void {
        out.hash(1, if (held != null) 1 else if (left > 0) 2 else 0);
        out.hash(1, @intFromBool(held != null));
        if (held) |item| out.hash(2, item);
        out.hash(2, left);
        out.text("{\"inserter\":{\"phase\":");
        out.text(if (held != null) "\"swing\",\"held\":\"" else if (left > 0) "\"return\"" else "\"idle\"");
        if (held) |item| {
            out.text(tables.items[item]);
            out.text("\"");
        }
        out.text(",\"swing_left\":");
        out.number(left);
        out.text("}}");
    }

    /// A map of counts, without those that are 0. `items` ascends.
    pub fn counts(out: *Writer, comptime size: comptime_int, comptime Count: type, items: []const u8, values: []const Count) void {
        var entries: u64 = 0;
        for (values) |value| entries += @intFromBool(value != 0);
        out.hash(1, entries);
        var separator: []const u8 = "{\"";
        for (items, values) |item, value| {
            if (value == 0) continue;
            out.hash(2, item);
            out.hash(size, value);
            out.text(separator);
            out.text(tables.items[item]);
            out.text("\":");
            out.number(value);
            separator = ",\"";
        }
        out.text(if (entries == 0) "{}" else "}");
    }

    pub fn open(out: *Writer, tick: u64, entities: usize) void {
        out.sum = 0xcbf29ce484222325;
        out.hash(8, tick);
        out.hash(4, entities);
        out.text("{\"tick\":");
        out.number(tick);
        out.text(",\"checksum\":\"fnv1a64:");
        out.checksum_at = out.length;
        out.text("0000000000000000\",\"entities\":[");
    }

    pub fn close(out: *Writer) void {
        for (0..16) |i| out.bytes[out.checksum_at + i] = "0123456789abcdef"[@intCast(out.sum >> @intCast(60 - 4 * i) & 15)];
        out.text("]}");
    }
};
