"""How many warps have a lane whose single-precision quotient the short code cannot round, and take the slow path instead.

    before   %7:float = fdiv [rounded] %5 %6
    after    %t9 = fdiv <32 x float> %t5, %t6
             ... a mask of the lanes with an operand or a quotient at the edge of the range, which is nearly always none
             br i1 %some, label %tell, label %on          at the end of the block, once for all its divisions

A GPU divides by a reciprocal and multiply-adds, whose remainder must not lose bits: FCHK sends a warp to a subroutine where one lane's
operands are zero, infinite, not numbers, or too far apart. Which exponents it sends there NVIDIA does not say; here these are the ones
for which the short code would round wrongly: a divisor whose reciprocal is no normal number, a dividend less than 2^24 above the
smallest normal number, a quotient that is none. Zero among them: the published times of a kernel with divisions 0 / 0 are told by it
(``docs/decisions/0043-slow-paths-of-divisions.md``).
"""

from __future__ import annotations

from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.number_or_lanes import Width
from kernelwright.codegen.simt.program.program import ROUNDED, Block, Op, Program

LEAST_DIVIDEND, GREATEST_DIVISOR = 25, 252
"""Exponents as they are stored. The remainder has its last bit 24 places below the dividend's first; a reciprocal of more is no normal
number."""
LEAST_QUOTIENT, GREATEST_QUOTIENT = -125, 126
"""Differences of the exponents."""


def is_rounded(op: Op) -> bool:
    """Whether an operation is a division with a slow path."""
    return op.code == "fdiv" and op.detail == ROUNDED


def dividing_blocks(program: Program) -> list[Block]:
    """The blocks with such a division. Their slow paths are counted behind all blocks, in this order."""
    return [block for block in program.blocks if any(is_rounded(op) for op in block.ops)]


def note(e: Lanes, op: Op) -> None:
    """Writes which active lanes of a division are slow, for the end of the block."""
    reps = [e.get(a) for a in op.args]
    is_one = all(rep.shape[0] == "u" for rep in reps)
    w = Width(e, not is_one)
    texts = [rep.parts[0] if is_one else e.vector(a) for rep, a in zip(reps, op.args, strict=True)]
    dividend, divisor = (_exponent(w, text) for text in texts)
    apart = _sum(w, w.let(f"sub {w.type('i32')} {dividend}, {divisor}"), -LEAST_QUOTIENT)
    found = [
        _above(w, _sum(w, divisor, -1), GREATEST_DIVISOR - 1),
        _above(w, _sum(w, dividend, -LEAST_DIVIDEND), 254 - LEAST_DIVIDEND),
        _above(w, apart, GREATEST_QUOTIENT - LEAST_QUOTIENT),
    ]
    i1 = w.type("i1")
    either = w.let(f"or {i1} {found[0]}, {found[1]}")
    bits = w.let(f"or {i1} {either}, {found[2]}")
    e.slow.append(e.let(f"select i1 {bits}, i32 {e.whole_mask()}, i32 0") if is_one else e.active_bits(bits))


def _exponent(w: Width, value: str) -> str:
    bits = w.let(f"bitcast {w.type('float')} {value} to {w.type('i32')}")
    moved = w.let(f"lshr {w.type('i32')} {bits}, {w.const('i32', '23')}")
    return w.let(f"and {w.type('i32')} {moved}, {w.const('i32', '255')}")


def _sum(w: Width, value: str, amount: int) -> str:
    return w.let(f"add {w.type('i32')} {value}, {w.const('i32', str(amount))}")


def _above(w: Width, value: str, most: int) -> str:
    """As numbers without a sign, so that negative ones are."""
    return w.let(f"icmp ugt {w.type('i32')} {value}, {w.const('i32', str(most))}")
