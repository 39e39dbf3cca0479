;; The console's own side: a memory that no game can reach. It holds the disk, the input tape, the stop conditions and
;; the copies of a game's globals (console.py and pacer.py name the addresses). The disk functions copy between it and
;; the game's page: at most what was stored comes back, at most 1,024 bytes are kept, and a range beyond the page traps.
(module
  (import "env" "memory" (memory $page 1 1))
  (memory $own (export "own") 1 1)

  (func $within (param $at i32) (param $bytes i32)
    (if (i32.or
          (i32.lt_s (local.get $bytes) (i32.const 0))
          (i64.gt_u
            (i64.add (i64.extend_i32_u (local.get $at)) (i64.extend_i32_s (local.get $bytes)))
            (i64.const 65536)))
      (then (unreachable))))

  (func $least (param $a i32) (param $b i32) (result i32)
    (select (local.get $a) (local.get $b) (i32.lt_s (local.get $a) (local.get $b))))

  (func (export "diskr") (param $to i32) (param $size i32) (result i32)
    (local.set $size (call $least (local.get $size) (i32.load $own (i32.const 1024))))
    (call $within (local.get $to) (local.get $size))
    (memory.copy $page $own (local.get $to) (i32.const 0) (local.get $size))
    (local.get $size))

  (func (export "diskw") (param $from i32) (param $size i32) (result i32)
    (local.set $size (call $least (local.get $size) (i32.const 1024)))
    (call $within (local.get $from) (local.get $size))
    (memory.copy $own $page (i32.const 0) (local.get $from) (local.get $size))
    (i32.store $own (i32.const 1024) (local.get $size))
    (local.get $size)))
