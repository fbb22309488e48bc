"""What the lanes of a warp have in common: which values are one number, which rise evenly, which differ freely.

    ("u",)                       one number for the whole warp
    ("s", k)                     per segment of lanes: a number of its own, rising by k from lane to lane
    ("x", r, zero, c, rest)      rest + c * extension to 64 bits of the 32-bit value r, which the extension may wrap
    ("v",)                       anything

The third exists because an index is computed in 32 bits and used in 64: extending the first lane's number is the same
as extending every lane's only when no lane wraps, which is known when the access runs, not now.

Two things make lanes differ although they compute the same: they took different branches before (a phi behind a
divergent branch), or left a loop in different iterations (a value used behind a divergent loop).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kernelwright.codegen.simt.analyses.divergence import Divergence
from kernelwright.codegen.simt.analyses.value_ranges import alignment, maximum
from kernelwright.codegen.simt.options import Geometry
from kernelwright.codegen.simt.program.program import Block, Const, Op, Operand, Phi, Program, Var, bits_of

Shape = tuple[Any, ...]
U: Shape = ("u",)
V: Shape = ("v",)
_RANK = {"u": 0, "s": 1, "x": 2, "v": 3}


def analyse(
    program: Program, geometry: Geometry, forced: frozenset[Var] = frozenset(), split: bool = False
) -> Divergence:
    """Gives every value its ``shape``; values in ``forced`` are ``V``. Returns what is known about control.

    ``split``: lanes of a warp need not run in step, so that no block is certain to see all of them.
    """
    return Analysis(program, geometry, forced, split).run()


class Analysis:
    """An optimistic fixed point: everything is uniform until something says otherwise."""

    def __init__(self, program: Program, geometry: Geometry, forced: frozenset[Var], split: bool) -> None:
        self.program = program
        self.geometry = geometry
        self.forced = forced
        self.control = Divergence(program, split)
        self.on = geometry.segments > 0 and program.reducible

    def run(self) -> Divergence:
        """Writes every value's ``shape``, and returns what is known about control. All are ``V`` where nothing is known of lanes, or where
        control flow is irreducible."""
        program = self.program
        for source in program.sources.values():
            source.shape = self._source(source)
        if not self.on:
            self._give_up()
            return self.control
        for op in program.ops():
            for out in op.outs:
                out.shape = V if out in self.forced else None
        changed = True
        while changed:
            changed = False
            for block in program.blocks:
                self.block = block
                for phi in block.phis:
                    changed |= self._lower(phi.outs[0], self._phi(phi, block))
                for op in block.ops:
                    if op.outs:
                        shape = self._transfer(op)
                        for out in op.outs:
                            changed |= self._lower(out, shape)
                term = block.term
                for out in term.outs:
                    changed |= self._lower(out, V)
                if len(term.targets) > 1 and block not in self.control.divergent:
                    shape = self.at(term.args[0], block)
                    if shape is not None and shape[0] != "u":
                        self.control.diverge(block)
                        changed = True
        return self.control

    def _give_up(self) -> None:
        """Nothing is known about lanes, or about loops: every value is a vector, every branch divergent."""
        for op in self.program.ops():
            for out in op.outs:
                out.shape = V
        for block in self.program.blocks:
            if len(block.term.targets) > 1:
                self.control.diverge(block)

    def _lower(self, out: Var, shape: Shape | None) -> bool:
        """Move a value down the lattice; whether it moved."""
        old = out.shape
        if out in self.forced:
            shape = V
        if shape is None or shape == old or old is V:
            return False
        if old is not None and _RANK[shape[0]] <= _RANK[old[0]]:
            if _RANK[shape[0]] < _RANK[old[0]]:
                return False
            shape = V
        out.shape = shape
        return True

    def at(self, operand: Operand, block: Block) -> Shape | None:
        """The shape of a value as ``block`` sees it: behind a divergent loop lanes keep what they left with."""
        if isinstance(operand, Const):
            return U
        shape: Shape | None = operand.shape
        if shape is not None and shape is not V and operand.block is not None:
            loop = operand.block.loop
            while loop is not None and block not in loop.blocks:
                if loop.divergent:
                    return V
                loop = loop.parent
        return shape

    # -- values that exist before the kernel starts

    def _source(self, source: Var) -> Shape:
        assert source.op is not None
        kind, detail = source.op.detail
        g = self.geometry
        if kind == "lane":
            return ("s", 1) if g.segments else V
        if kind != "tid":
            return U
        if not g.segments:
            return V
        if detail == "x":
            return ("s", 1)
        return U if g.segments == 1 else ("s", 0)

    # -- phis

    def _phi(self, phi: Phi, block: Block) -> Shape | None:
        shape: Shape | None = None
        joined = block in self.control.joins
        first = phi.args[0]
        same = all(_same(a, first) for a in phi.args)
        for arg in phi.args:
            other = self.at(arg, block)
            if other is None:
                continue
            shape = other if shape is None else self._meet(shape, other, block)
        if shape is not None and joined and not same:
            return V
        return shape

    def _meet(self, a: Shape, b: Shape, block: Block) -> Shape:
        if a[0] == "x" and not self._dominates_phi(a[1], block):
            return V
        if a == b:
            return a
        kinds = {a[0], b[0]}
        if kinds == {"u", "s"} and (a if a[0] == "s" else b)[1] == 0:
            return ("s", 0)
        if kinds == {"x"} and a[1:4] == b[1:4] and a[4][0] == "s" and b[4][0] == "u" and a[4][1] == 0:
            return a
        if kinds == {"x"} and a[1:4] == b[1:4] and b[4][0] == "s" and a[4][0] == "u" and b[4][1] == 0:
            return b
        return V

    def _dominates_phi(self, root: Var, block: Block) -> bool:
        """Whether the phi's block always sees the value of ``root`` that its operands were made from."""
        if root.block is None:
            return True
        return (
            root.block is not block
            and (root.block.loop is None or block in root.block.loop.blocks)
            and not (block.loop is not None and block.loop.header is block and root.block in block.loop.blocks)
        )

    # -- operations

    def _transfer(self, op: Op) -> Shape | None:
        code = op.code
        shapes: list[Shape] = []
        for arg in op.args:
            shape = self.at(arg, self.block)
            if shape is None:
                return None
            shapes.append(shape)
        rule = RULES.get(code)
        if rule is not None:
            return rule(self, op, shapes)
        return self._per_part(shapes)

    def _per_part(self, shapes: list[Shape]) -> Shape:
        """What any pure operation keeps: one number, or one number per segment."""
        worst = U
        for shape in shapes:
            if shape is V or shape[0] == "x" or (shape[0] == "s" and shape[1]):
                return V
            if shape[0] == "s":
                worst = shape
        return worst

    def linear(self, stride: int, shapes: list[Shape], bits: int) -> Shape:
        """A value that rises by ``stride``, made of values of these shapes."""
        stride &= (1 << bits) - 1
        if stride >> (bits - 1):
            stride -= 1 << bits
        if stride == 0 and (self.geometry.segments == 1 or all(s[0] == "u" for s in shapes)):
            return U
        return ("s", stride)

    def _add(self, op: Op, shapes: list[Shape], sign: int = 1) -> Shape:
        a, b = shapes
        if a is V or b is V:
            return V
        if a[0] == "x" or b[0] == "x":
            return self._add_extended(a, b, sign)
        return self.linear(_stride(a) + sign * _stride(b), shapes, bits_of(op.outs[0].type))

    def _add_extended(self, a: Shape, b: Shape, sign: int) -> Shape:
        if a[0] == "x" and b[0] == "x":
            if a[1:3] != b[1:3]:
                return V
            rest = self.linear(_stride(a[4]) + sign * _stride(b[4]), [a[4], b[4]], 64)
            k = a[3] + sign * b[3]
            return ("x", a[1], a[2], k, rest) if k else rest
        x, other = (a, b) if a[0] == "x" else (b, a)
        if other is V:
            return V
        if x is a:
            return ("x", a[1], a[2], a[3], self.linear(_stride(a[4]) + sign * _stride(b), [a[4], b], 64))
        return ("x", b[1], b[2], sign * b[3], self.linear(_stride(a) + sign * _stride(b[4]), [a, b[4]], 64))

    def _sub(self, op: Op, shapes: list[Shape]) -> Shape:
        return self._add(op, shapes, -1)

    def scaled(self, shape: Shape, factor: int, bits: int) -> Shape:
        """The shape of a value of this shape times ``factor``, as an integer of ``bits`` bits."""
        if shape[0] == "x":
            k = wrapped(shape[3] * factor, 64)
            return ("x", shape[1], shape[2], k, self.scaled(shape[4], factor, 64)) if k else U
        if shape[0] == "s":
            return self.linear(shape[1] * factor, [shape], bits)
        return shape

    def _mul(self, op: Op, shapes: list[Shape]) -> Shape:
        for i in (0, 1):
            arg = op.args[i]
            if isinstance(arg, Const) and arg.value is not None:
                return self.scaled(shapes[1 - i], arg.value, bits_of(op.outs[0].type))
        return self._per_part(shapes)

    def _shl(self, op: Op, shapes: list[Shape]) -> Shape:
        amount = op.args[1]
        bits = bits_of(op.outs[0].type)
        if isinstance(amount, Const) and amount.value is not None and 0 <= amount.value < bits:
            return self.scaled(shapes[0], 1 << amount.value, bits)
        return self._per_part(shapes)

    def _or(self, op: Op, shapes: list[Shape]) -> Shape:
        if self.disjoint(op):
            return self._add(op, shapes)
        return self._per_part(shapes)

    def disjoint(self, op: Op) -> bool:
        """Whether no bit can be set in both operands, so that ``or`` is a sum."""
        for a, b in (op.args, op.args[::-1]):
            high = maximum(b, self.geometry)
            if high is not None and alignment(a, self.geometry, every=True) > high:
                return True
        return False

    def _and(self, op: Op, shapes: list[Shape]) -> Shape:
        kept = self.masked(op, shapes[0])
        return kept if kept is not None else self._per_part(shapes)

    def masked(self, op: Op, shape: Shape) -> Shape | None:
        """``and`` with a constant that keeps all or none of the bits in which the lanes of a segment differ."""
        mask, per = op.args[1], self.geometry.per_segment
        if shape != ("s", 1) or not isinstance(mask, Const) or alignment(op.args[0], self.geometry) < per:
            return None
        low = mask.value & (per - 1) if mask.value is not None else -1
        if low == per - 1:
            return shape
        return self.linear(0, [shape], 32) if low == 0 else None

    def _lshr(self, op: Op, shapes: list[Shape]) -> Shape:
        amount, per = op.args[1], self.geometry.per_segment
        if (
            shapes[0] == ("s", 1)
            and isinstance(amount, Const)
            and amount.value is not None
            and 0 <= amount.value < bits_of(op.outs[0].type)
            and 1 << amount.value >= per
            and alignment(op.args[0], self.geometry) >= per
        ):
            return self.linear(0, [shapes[0]], 32)
        return self._per_part(shapes)

    def _icmp(self, op: Op, shapes: list[Shape]) -> Shape:
        """Comparing aligned thread numbers with a multiple of the segment: all lanes of a segment agree."""
        bound, per = op.args[1], self.geometry.per_segment
        if (
            shapes[0] == ("s", 1)
            and isinstance(bound, Const)
            and bound.value is not None
            and alignment(op.args[0], self.geometry) >= per
            and (
                (op.detail in ("ult", "uge", "slt", "sge") and bound.value >= 0 and bound.value % per == 0)
                or (op.detail in ("ugt", "ule", "sgt", "sle") and bound.value >= 0 and (bound.value + 1) % per == 0)
            )
        ):
            return self.linear(0, [shapes[0]], 32)
        return self._per_part(shapes)

    def _extend(self, op: Op, shapes: list[Shape]) -> Shape:
        shape, arg = shapes[0], op.args[0]
        if shape is V or (shape[0] == "s" and shape[1]):
            if op.outs[0].type != "i64" or arg.type != "i32" or not isinstance(arg, Var):
                return V
            if shape is not V:
                high = maximum(arg, self.geometry)
                if high is not None and high < 1 << 31:
                    return self.linear(shape[1], shapes, 64)
            return ("x", arg, op.code == "zext", 1, U)
        return self._per_part(shapes)

    def _trunc(self, op: Op, shapes: list[Shape]) -> Shape:
        shape = shapes[0]
        if shape[0] == "s":
            return self.linear(shape[1], shapes, bits_of(op.outs[0].type))
        if shape[0] == "x" and op.outs[0].type == "i32":
            root: Shape = self.at(shape[1], self.block) or V
            if root is not V:
                return self.linear(_stride(shape[4]) + shape[3] * _stride(root), [shape[4], root], 32)
        return self._per_part(shapes)

    def _select(self, op: Op, shapes: list[Shape]) -> Shape:
        condition, a, b = shapes
        if condition is V or a is V or b is V:
            return V
        if _same(op.args[1], op.args[2]):
            return a
        if condition[0] == "u" and a == b:
            return a
        if _stride_or_none(a) == 0 and _stride_or_none(b) == 0:
            return self._per_part(shapes)
        if _stride_or_none(a) is not None and _stride_or_none(a) == _stride_or_none(b):
            return ("s", _stride(a)) if condition[0] in ("u", "s") else V
        return V

    def _gep(self, op: Op, shapes: list[Shape]) -> Shape:
        _, scales = op.detail
        total = shapes[0]
        if total is V:
            return V
        for arg, shape, scale in zip(op.args[1:], shapes[1:], scales, strict=True):
            term = self.index_shape(arg, shape)
            if term is V:
                return V
            term = self.scaled(term, scale, 64)
            if total[0] == "x" or term[0] == "x":
                total = self._add_extended(total, term, 1)
                if total is V:
                    return V
            else:
                total = self.linear(_stride(total) + _stride(term), [total, term], 64)
        return total

    def index_shape(self, arg: Operand, shape: Shape) -> Shape:
        """An index of a ``gep`` as a 64-bit value: narrower ones are sign-extended."""
        if arg.type == "i64" or shape[0] == "u" or (shape[0] == "s" and shape[1] == 0):
            return shape
        if arg.type != "i32" or not isinstance(arg, Var) or shape[0] == "x":
            return V
        if shape[0] == "s":
            high = maximum(arg, self.geometry)
            if high is not None and high < 1 << 31:
                return shape
        return ("x", arg, False, 1, U)

    def _load(self, op: Op, shapes: list[Shape]) -> Shape:
        """Lanes that read one address get one value, unless it names the memory each lane has for itself."""
        return V if op.detail.may_be_local else self._per_part(shapes[:1])

    def _varying(self, op: Op, shapes: list[Shape]) -> Shape:
        return V

    def _uniform(self, op: Op, shapes: list[Shape]) -> Shape:
        return U

    def _warp(self, op: Op, shapes: list[Shape]) -> Shape:
        """Votes and reductions give every lane of the same mask the same answer."""
        name = op.detail.name
        if name in ("vote.all", "vote.any", "vote.uni", "ballot", "redux", "activemask"):
            return U if all(s[0] == "u" for s in shapes[:1]) else V
        if name == "shuffle":
            # (mask, value, lane, clamp): every lane reads the same one, and all lanes take part.
            lane, clamp = shapes[2], op.args[3]
            whole = isinstance(clamp, Const) and clamp.value == 31
            if op.detail.mode == "idx" and lane[0] == "u" and whole and self._everyone(op):
                return U
        return V

    def _everyone(self, op: Op) -> bool:
        mask = op.args[0]
        return (
            isinstance(mask, Const) and mask.value == -1 and self.geometry.full and self.geometry.lanes == 32
            and self.block not in self.control.partial
        )  # fmt: skip

    def _barrier_result(self, op: Op, shapes: list[Shape]) -> Shape:
        return U


def wrapped(value: int, bits: int) -> int:
    """``value`` in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _stride(shape: Shape) -> int:
    stride: int = shape[1] if shape[0] == "s" else 0
    return stride


def _stride_or_none(shape: Shape) -> int | None:
    return _stride(shape) if shape[0] in ("u", "s") else None


def _same(a: Operand, b: Operand) -> bool:
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.type == b.type and a.text == b.text)


Rule = Callable[[Analysis, Op, list[Shape]], Shape | None]

RULES: dict[str, Rule] = {
    "add": Analysis._add,
    "sub": Analysis._sub,
    "mul": Analysis._mul,
    "shl": Analysis._shl,
    "or": Analysis._or,
    "and": Analysis._and,
    "lshr": Analysis._lshr,
    "icmp": Analysis._icmp,
    "zext": Analysis._extend,
    "sext": Analysis._extend,
    "trunc": Analysis._trunc,
    "select": Analysis._select,
    "gep": Analysis._gep,
    "load": Analysis._load,
    "atomic": Analysis._varying,
    "warp": Analysis._warp,
    "print": Analysis._varying,
    "clock": Analysis._uniform,
    "shared-size": Analysis._uniform,
    "barrier-result": Analysis._barrier_result,
}
"""How operations treat shapes, by their code; all others keep what ``_per_part`` keeps."""
