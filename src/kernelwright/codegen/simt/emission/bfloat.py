"""``bfloat`` without processor support: its 16 bits are the upper half of a ``float``."""

from __future__ import annotations

from kernelwright.codegen.simt.emission.number_or_lanes import Width


def widen(w: Width, bits: str) -> str:
    """The ``float`` of the same value."""
    wide = w.let(f"zext {w.type('i16')} {bits} to {w.type('i32')}")
    high = w.let(f"shl {w.type('i32')} {wide}, {w.const('i32', '16')}")
    return w.let(f"bitcast {w.type('i32')} {high} to {w.type('float')}")


def narrow(w: Width, value: str) -> str:
    """A ``float`` rounded to nearest even; a NaN becomes the canonical one."""
    i32, i1 = w.type("i32"), w.type("i1")
    bits = w.let(f"bitcast {w.type('float')} {value} to {i32}")
    odd = w.let(f"and {i32} {w.let(f'lshr {i32} {bits}, ' + w.const('i32', '16'))}, {w.const('i32', '1')}")
    up = w.let(f"add {i32} {odd}, {w.const('i32', str(0x7FFF))}")
    rounded = w.let(f"lshr {i32} {w.let(f'add {i32} {bits}, {up}')}, {w.const('i32', '16')}")
    nan = w.let(f"fcmp uno {w.type('float')} {value}, {value}")
    chosen = w.let(f"select {i1} {nan}, {i32} {w.const('i32', str(0x7FFF))}, {i32} {rounded}")
    return w.let(f"trunc {i32} {chosen} to {w.type('i16')}")
