"""Why: a fixed suite of small functions whose fuels, taken together, name the engine's fuel schedule.

Each exported function exercises one kind of instruction. Changing or adding one renames every schedule, so this text
is frozen: extend it only together with a new schema of records.
"""

from __future__ import annotations

__all__ = ["PROBES"]

PROBES = """
(module
  (type $unary (func (param i32) (result i32)))
  (memory 17 64)
  (table $t 4 16 funcref)
  (global $g (mut i64) (i64.const 0))
  (elem (i32.const 0) $add_one $add_two)
  (elem $later func $add_one $add_two)
  (data $bytes "\\01\\02\\03\\04\\05\\06\\07\\08\\09\\0a\\0b\\0c\\0d\\0e\\0f\\10")
  (func $add_one (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))
  (func $add_two (param i32) (result i32) (i32.add (local.get 0) (i32.const 2)))
  (func $recurse (param i32) (result i32)
    (if (result i32) (i32.eqz (local.get 0))
      (then (i32.const 0))
      (else (i32.add (i32.const 1) (call $recurse (i32.sub (local.get 0) (i32.const 1)))))))
  (func (export "empty"))
  (func (export "nop_drop_block") (block (block (nop) (drop (i32.const 1)))) (loop (nop)))
  (func (export "integer_loop") (local i32 i64)
    (loop $again
      (local.set 1 (i64.xor (i64.mul (local.get 1) (i64.const 31)) (i64.extend_i32_u (local.get 0))))
      (br_if $again (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 1000)))))
  (func (export "division") (drop (i64.rem_u (i64.div_s (i64.const 12345678901) (i64.const 77)) (i64.const 13))))
  (func (export "float") (local f64)
    (local.set 0 (f64.sqrt (f64.mul (f64.const 1.5) (f64.add (f64.const 2.5) (f64.const 3)))))
    (drop (i32.trunc_sat_f64_s (f64.nearest (local.get 0)))))
  (func (export "sign_extension") (drop (i64.extend8_s (i64.const 200))) (drop (i32.extend16_s (i32.const 40000))))
  (func (export "branch_table") (local i32)
    (loop $again
      (block $c (block $b (block $a (br_table $a $b $c (i32.rem_u (local.get 0) (i32.const 4))))
        (nop)) (nop))
      (br_if $again (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 1))) (i32.const 40)))))
  (func (export "if_else") (local i32)
    (if (local.get 0) (then (nop)) (else (drop (select (i32.const 1) (i32.const 2) (local.get 0))))))
  (func (export "unreachable_code") (block (br 0) (drop (i32.add (i32.const 1) (i32.const 2)))))
  (func (export "calls") (drop (call $recurse (i32.const 100))))
  (func (export "indirect_call") (drop (call_indirect (type $unary) (i32.const 5) (i32.const 1))))
  (func (export "load_store") (i64.store (i32.const 64) (i64.add (i64.load (i32.const 8)) (i64.load8_u (i32.const 3)))))
  (func (export "global") (global.set $g (i64.add (global.get $g) (i64.const 1))))
  (func (export "multi_value") (drop (call $drop2)))
  (func $drop2_pair (result i32 i32) (i32.const 1) (i32.const 2))
  (func $drop2 (result i32) (call $drop2_pair) (i32.add))
  (func (export "memory_fill_1_MiB") (memory.fill (i32.const 0) (i32.const 7) (i32.const 1048576)))
  (func (export "memory_fill_0") (memory.fill (i32.const 0) (i32.const 7) (i32.const 0)))
  (func (export "memory_copy_64_KiB") (memory.copy (i32.const 131072) (i32.const 0) (i32.const 65536)))
  (func (export "memory_init_16") (memory.init $bytes (i32.const 0) (i32.const 0) (i32.const 16)) (data.drop $bytes))
  (func (export "memory_grow_16") (drop (memory.grow (i32.const 16))))
  (func (export "memory_grow_refused") (drop (memory.grow (i32.const 60000))))
  (func (export "memory_size") (drop (memory.size)))
  (func (export "table_grow_8") (drop (table.grow $t (ref.null func) (i32.const 8))))
  (func (export "table_fill_4") (table.fill $t (i32.const 0) (ref.null func) (i32.const 4)))
  (func (export "table_copy_2") (table.copy $t $t (i32.const 2) (i32.const 0) (i32.const 2)))
  (func (export "table_init_2") (table.init $t $later (i32.const 0) (i32.const 0) (i32.const 2)) (elem.drop $later))
  (func (export "table_get_set") (table.set $t (i32.const 3) (table.get $t (i32.const 0))))
  (func (export "simd")
    (v128.store (i32.const 256)
      (i32x4.mul (v128.load (i32.const 0)) (i8x16.swizzle (v128.const i32x4 1 2 3 4) (v128.const i32x4 3 2 1 0)))))
)
"""
