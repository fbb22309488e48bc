"""A computation as loops and scalar statements (paper 004, section 4.1, table 1).

    c = Computation("outer")
    m, n = c.loop("m", 512, tiles=(32, 4)), c.loop("n", 512, tiles=(32, 4))
    a, b, out = c.input("A", (512,)), c.input("B", (512,)), c.output("C", (512, 512))
    x, y = c.load("x", a[m]), c.load("y", b[n])
    c.store("st", out[m, n], c.compute("xy", x * y))
    backbone = c.backbone()

An order of statements or a nesting of loops is not implied, only what each statement needs: each has dims of its own for
the loops it runs over, and decisions say which of them become one loop.
"""

from __future__ import annotations

from math import prod

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.arrays import Access, Array, Loop
from kernelwright.space.computation.expressions import Expression, as_expression
from kernelwright.space.computation.objects import (
    Backbone,
    Dependence,
    Dim,
    DimPair,
    Instruction,
    Reduction,
    Temporary,
)
from kernelwright.space.computation.sizes import LaunchSize, formula_of, is_below, shown
from kernelwright.space.computation.strip_mining import VECTOR_WIDTHS, tile_sizes, vector_widths

COMBINE = {"sum": ("add", 0.0), "max": ("max", -3.0e38)}
"""Reductions: how two values become one, and the value to begin with."""

FEW_RESULTS = 1 << 14
"""Of a reduction: so few that the threads of a GPU are not all busy with one each."""

_WORDS = """
alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const constexpr continue decltype default delete
do double dynamic_cast else enum explicit export extern false final float for friend goto if inline int long mutable namespace new
noexcept not nullptr operator or private protected public register requires return short signed sizeof static static_assert static_cast
struct switch template this throw true try typedef typeid typename union unsigned using virtual void volatile while xor
blockDim blockIdx gridDim threadIdx warpSize thread_x thread_y thread_z float2 float4 make_float2 make_float4 vector
fmaxf expf tanhf exp tanh main check next state
"""
RESERVED = frozenset(_WORDS.split())
"""Words of C++ and CUDA, and those that generated kernels and programs use themselves."""


@dataclass(frozen=True)
class DeclaredStatement:
    """One declared statement before it has dims: the loops it runs over, and of a reduction those it reduces."""

    name: str
    operation: str
    loops: tuple[Loop, ...]
    expression: Expression | None = None
    access: Access | None = None
    reduced: tuple[Loop, ...] = ()
    """Loops of the reduction; its value varies over the others."""

    @property
    def value_loops(self) -> tuple[Loop, ...]:
        """Loops that its value varies over: all but the reduced ones."""
        return tuple(loop for loop in self.loops if loop not in self.reduced)


class Computation:
    """Collects loops, arrays, scalars and statements; ``backbone()`` gives the objects that a space is about.

    Every statement has a name, which its dims and decisions carry: ``a.m1`` is the first tile of loop ``m`` around statement
    ``a``. Raises ``Misuse`` for what is not a loop nest with affine accesses, in the declaration's words.
    """

    def __init__(self, name: str) -> None:
        if not name.isidentifier() or name in RESERVED:
            raise Misuse(f"{name!r} is no name for a computation: its kernel has it in C")
        self.name = name
        self.loops: dict[str, Loop] = {}
        self.arrays: dict[str, Array] = {}
        self.scalars: list[str] = []
        self._statements: dict[str, DeclaredStatement] = {}
        self._lowered: dict[str, bool] = {}

    def loop(self, name: str, extent: object, tiles: tuple[int, ...] = ()) -> Loop:
        """``extent`` iterations, known when the space is made or given at launch (``sizes.py``); ``tiles``: the largest size of each
        tile, outermost first. Raises ``Misuse`` for an extent that is no whole number from 1 up, or is computed from data."""
        self._new(name)
        if isinstance(extent, Expression):
            raise Misuse(
                f"the extent of loop {name} of {self.name} is computed from data",
                hint="loops of a space have extents that are known before launch; such a kernel is for `kw evolve`",
            )
        if isinstance(extent, bool) or not isinstance(extent, int):
            raise Misuse(f"the extent of loop {name} of {self.name} is a whole number, not {extent!r}")
        if not is_below(0, extent):
            raise Misuse(f"loop {name} of {self.name} has {shown(extent)} iterations: there is nothing to compute")
        self.loops[name] = Loop(name, extent, tuple(tiles))
        return self.loops[name]

    def input(self, name: str, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> Array:
        """An array that is read. ``strides`` in elements; row by row when not given."""
        return self._array(name, shape, strides, False)

    def output(self, name: str, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> Array:
        """An array that is written, each element once."""
        return self._array(name, shape, strides, True)

    def scalar(self, name: str) -> Expression:
        """A number given at launch."""
        self._new(name)
        self.scalars.append(name)
        return Expression("scalar", name=name)

    def load(self, name: str, access: Access, *, through_memory: bool = True) -> Expression:
        """``through_memory``: whether implementations may stage the value in a temporary, shared by the threads of a block.
        Raises ``Misuse`` for an output."""
        if access.array.is_output:
            raise Misuse(
                f"{name} reads {access.array}, an output of {self.name}", hint="declare an input of its own for it"
            )
        return self._add(DeclaredStatement(name, "load", access.loops, access=access), through_memory)

    def compute(self, name: str, expression: Expression, *, through_memory: bool = False) -> Expression:
        """A scalar statement over all loops that its operands vary over."""
        return self._add(
            DeclaredStatement(name, "compute", self._loops_of(name, expression), expression), through_memory
        )

    def sum(self, name: str, expression: Expression, over: Loop | tuple[Loop, ...]) -> Expression:
        """The sum of ``expression`` over loops; its value varies over the other loops of the operands."""
        return self._reduce(name, "sum", expression, over)

    def max(self, name: str, expression: Expression, over: Loop | tuple[Loop, ...]) -> Expression:
        """The maximum of ``expression`` over loops; its value varies over the other loops of the operands."""
        return self._reduce(name, "max", expression, over)

    def store(self, name: str, access: Access, expression: Expression) -> None:
        """Writes a value. Each element of the output is written by one iteration: two would race.
        Raises ``Misuse`` for an input, and for an element that is written twice."""
        if not access.array.is_output:
            raise Misuse(f"{name} writes {access.array}, an input of {self.name}", hint="declare it with output()")
        if any(s.access is not None and s.access.array == access.array for s in self._statements.values()):
            raise Misuse(f"two statements write {access.array}")
        if expression.kind != "value":
            expression = self.compute(f"{name}_value", expression)
        varied = self._statements[expression.name].value_loops
        missing = [loop for loop in varied if not access.stride(loop) and loop.may_repeat]
        if missing:
            raise Misuse(
                f"{name} writes one element of {access.array} for all iterations of {missing[0]}",
                hint=f"sum over {missing[0]} first, or give {access.array} a dimension for it",
            )
        reached = 0
        for loop, stride in sorted(access.strides, key=lambda pair: abs(pair[1])):
            step = -stride if stride < 0 else stride
            if loop.may_repeat and not is_below(reached, step):
                raise Misuse(f"{name} writes some elements of {access.array} twice: its strides overlap at {loop}")
            reached += step * (loop.extent - 1)
        self._add(
            DeclaredStatement(name, "store", tuple(dict.fromkeys((*varied, *access.loops))), expression, access), False
        )

    def backbone(self) -> Backbone:
        """The objects of the space. Raises ``Misuse`` for a computation that writes nothing or computes what nothing uses."""
        if not any(s.operation == "store" for s in self._statements.values()):
            raise Misuse(f"{self.name} stores nothing")
        used = {o for s in self._statements.values() if s.expression for o in s.expression.operands}
        unused = [s.name for s in self._statements.values() if s.operation != "store" and s.name not in used]
        if unused:
            raise Misuse(f"{self.name} computes {', '.join(unused)} and does not use it")
        self._check_made_names()
        return _Builder(self).build()

    @property
    def launch_sizes(self) -> tuple[LaunchSize, ...]:
        """Sizes that kernels are given at launch."""
        numbers = [loop.extent for loop in self.loops.values()]
        numbers += [n for array in self.arrays.values() for n in (*array.shape, *array.strides)]
        for statement in self._statements.values():
            if statement.access is not None:
                numbers += [statement.access.offset, *(stride for _, stride in statement.access.strides)]
        return tuple(dict.fromkeys(size for number in numbers for size in formula_of(number).sizes))

    @property
    def statements(self) -> tuple[DeclaredStatement, ...]:
        """All declared statements, in the order of their declaration."""
        return tuple(self._statements.values())

    def may_lower(self, producer: DeclaredStatement, consumer: DeclaredStatement) -> bool:
        """Whether a value may go through memory: as declared, and where the consumer runs over more loops."""
        return self._lowered[producer.name] or not set(consumer.loops) <= set(producer.value_loops) | set(
            consumer.reduced
        )

    # -- checks

    def _check_made_names(self) -> None:
        """Names that kernels give to indices, registers and temporaries."""
        names = list(self._statements)
        made = {f"{loop}{level}": f"index of loop {loop}" for loop in self.loops for level in range(10)}
        made |= {f"v_{name}": f"value of {name}" for name in names}
        passed = {f"{a}_to_{b}": f"temporary from {a} to {b}" for a in names for b in names}
        made |= passed | {
            f"{name}_{loop}0": f"extent of the {what}" for name, what in passed.items() for loop in self.loops
        }
        for size in self.launch_sizes:
            if size.name in RESERVED or "__" in size.name or size.name in (*self.arrays, *self.scalars):
                raise Misuse(f"{size.name!r} is no name for a size of {self.name}: it becomes a parameter in C")
        for given in (*self.arrays, *self.scalars, *(size.name for size in self.launch_sizes)):
            if given in made:
                raise Misuse(f"{given} of {self.name} has the name of the {made[given]}", hint="give it another name")

    def _new(self, name: str) -> None:
        if not name.isidentifier() or "__" in name or name in RESERVED:
            raise Misuse(f"{name!r} is no name for a part of {self.name}: it becomes one in C")
        if name in self.loops or name in self.arrays or name in self.scalars or name in self._statements:
            raise Misuse(f"{self.name} has two things called {name}")

    def _array(self, name: str, shape: tuple[int, ...], strides: tuple[int, ...] | None, is_output: bool) -> Array:
        self._new(name)
        if not shape or not all(is_below(0, n) for n in shape):
            said = f"({', '.join(map(shown, shape))}{',' if len(shape) == 1 else ''})"
            raise Misuse(f"array {name} of {self.name} has no elements: its shape is {said}")
        if strides is None:
            strides = tuple(_product(shape[d + 1 :]) for d in range(len(shape)))
        if len(strides) != len(shape):
            raise Misuse(f"array {name} has {len(shape)} dimensions and {len(strides)} strides")
        if not all(is_below(0, s) for s in strides):
            raise Misuse(f"array {name} has strides {strides}: they count elements, from 1")
        self.arrays[name] = Array(name, tuple(shape), tuple(strides), is_output)
        return self.arrays[name]

    def _loops_of(self, name: str, expression: Expression) -> tuple[Loop, ...]:
        if not isinstance(expression, Expression) or not expression.operands:
            raise Misuse(f"{name} computes nothing from the values of {self.name}")
        for each in expression.walk():
            known = {"value": self._statements, "scalar": self.scalars}.get(each.kind)
            if known is not None and each.name not in known:
                raise Misuse(f"{name} uses {each.name}, which is not of {self.name}")
        loops = (loop for operand in expression.operands for loop in self._statements[operand].value_loops)
        return tuple(dict.fromkeys(loops))

    def _reduce(self, name: str, kind: str, expression: Expression, over: Loop | tuple[Loop, ...]) -> Expression:
        reduced = over if isinstance(over, tuple) else (over,)
        loops = self._loops_of(name, expression)
        missing = [loop for loop in reduced if loop not in loops]
        if missing or not reduced:
            raise Misuse(
                f"{name} is a {kind} over {missing[0] if missing else 'nothing'}: its operands do not vary there"
            )
        return self._add(DeclaredStatement(name, kind, loops, expression, reduced=tuple(reduced)), False)

    def _add(self, statement: DeclaredStatement, through_memory: bool) -> Expression:
        self._new(statement.name)
        self._statements[statement.name] = statement
        self._lowered[statement.name] = through_memory
        return Expression("value", name=statement.name)


class _Builder:
    """The objects of one computation, made in the order of its statements."""

    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.sizes = tile_sizes(computation.loops.values())
        self.instructions: dict[str, Instruction] = {}
        self.pairs: list[DimPair] = []
        self.temporaries: list[Temporary] = []
        self.dependences: list[Dependence] = []
        self.reductions: dict[str, Reduction] = {}

    def build(self) -> Backbone:
        for statement in self.computation.statements:
            if statement.reduced:
                self._reduction(statement)
            else:
                self._add(
                    Instruction(
                        statement.name,
                        statement.operation,
                        self._dims(statement.name, statement.loops, access=statement.access),
                        statement.expression.operands if statement.expression else (),
                        statement.expression,
                        statement.access,
                    )
                )
        by_name = {s.name: s for s in self.computation.statements}
        for statement in self.computation.statements:
            for operand in statement.expression.operands if statement.expression else ():
                self._communication(by_name[operand], statement)
        dims = tuple(d for i in self.instructions.values() for d in i.dims)
        return Backbone(
            self.computation.name,
            tuple(self.computation.loops.values()),
            tuple(self.computation.arrays.values()),
            tuple(self.computation.scalars),
            dims,
            tuple(self.instructions.values()),
            tuple(self.pairs),
            tuple(self.temporaries),
            tuple(self.dependences),
            tuple(self.reductions.values()),
            self.computation.launch_sizes,
        )

    def _add(self, instruction: Instruction) -> Instruction:
        self.instructions[instruction.name] = instruction
        return instruction

    def _dims(
        self,
        name: str,
        loops: tuple[Loop, ...],
        *,
        access: Access | None = None,
        reduced: tuple[Loop, ...] = (),
        shareable: bool = False,
    ) -> tuple[Dim, ...]:
        found = []
        for loop in loops:
            sizes, parallel = self.sizes[loop], loop not in reduced
            found.append(Dim(f"{name}.{loop}0", loop, 0, (), parallel, name))
            for level, universe in enumerate(sizes, 1):
                widths = vector_widths(access, loop, universe) if access and level == len(sizes) else ()
                shared = shareable and not parallel
                found.append(
                    Dim(f"{name}.{loop}{level}", loop, level, universe, parallel, name, widths, is_shareable=shared)
                )
        return tuple(found)

    def _loads_each_term_once(self, term: Expression, loops: tuple[Loop, ...]) -> bool:
        """Whether some operand is loaded for one term of one result: there is nothing to use again."""
        varying = {loop for loop in loops if loop.may_repeat}
        for operand in term.operands:
            i = self.instructions[operand]
            if i.access is not None and varying <= set(i.access.loops):
                return True
            if (
                i.operation == "compute"
                and i.expression is not None
                and self._loads_each_term_once(i.expression, loops)
            ):
                return True
        return False

    def _reduction(self, statement: DeclaredStatement) -> None:
        init = self._add(
            Instruction(
                f"{statement.name}_init",
                "init",
                self._dims(f"{statement.name}_init", statement.value_loops),
                expression=as_expression(COMBINE[statement.operation][1]),
            )
        )
        assert statement.expression is not None
        few = prod(loop.extent for loop in statement.value_loops) <= FEW_RESULTS
        shareable = few or self._loads_each_term_once(statement.expression, statement.loops)
        reduce = self._add(
            Instruction(
                statement.name,
                "reduce",
                self._dims(statement.name, statement.loops, reduced=statement.reduced, shareable=shareable),
                statement.expression.operands,
                Expression(
                    COMBINE[statement.operation][0], (Expression("value", name=init.name), statement.expression)
                ),
            )
        )
        dims = tuple(d for d in reduce.dims if d.loop in statement.reduced)
        self.reductions[reduce.name] = Reduction(reduce, init, dims)
        self.dependences.append(Dependence(init, reduce))
        self.dependences += [Dependence(init, dim) for dim in dims]
        self._pair_up(init, reduce)

    def _communication(self, source: DeclaredStatement, target: DeclaredStatement) -> None:
        producer, consumer = self.instructions[source.name], self.instructions[target.name]
        self._finishes_before(producer, consumer)
        if not self.computation.may_lower(source, target):
            self._pair_up(producer, consumer)
            return
        # A temporary has an axis for each tile. The rest is a loop around all four instructions, or, of what is computed, an axis in
        # global memory: there is no room for it elsewhere.
        name = f"{producer}_to_{consumer}"
        kept = producer.operation != "load"
        axes = [d for d in producer.dims if d.loop in source.value_loops and (d.is_static or kept)]
        if not axes:
            self._pair_up(producer, consumer)
            return
        made = []
        for operation in ("put", "get"):
            own = f"{name}_{operation}"
            dims = tuple(
                Dim(f"{own}.{d.loop}{d.level}", d.loop, d.level, d.universe, True, own, _widths(d.universe), name)
                for d in axes
            )
            operands = (producer.name,) if operation == "put" else ()
            made.append(self._add(Instruction(own, operation, dims, operands, temporary=name)))
        put, get = made
        ends = list(zip(put.dims, get.dims, strict=True))
        tiles, rests = (tuple(pair for pair in ends if pair[0].is_static == static) for static in (True, False))
        self.temporaries.append(Temporary(name, producer, consumer, put, get, tiles, rests))
        self._pair_up(producer, consumer, lowers_to=name, rests=kept)
        for dim, a, b in zip(axes, put.dims, get.dims, strict=True):
            self._pair(dim, a, producer, put, temporary=name)
            self._pair(b, consumer.dim(dim.loop, dim.level), get, consumer, temporary=name)
        self._finishes_before(producer, put)
        self.dependences += [Dependence(put, get), Dependence(get, consumer)]

    def _finishes_before(self, producer: Instruction, consumer: Instruction) -> None:
        """A reduced value is complete after all iterations of the reduction."""
        self.dependences.append(Dependence(producer, consumer))
        if producer.name in self.reductions:
            self.dependences += [Dependence(dim, consumer) for dim in self.reductions[producer.name].dims]

    def _pair_up(
        self, producer: Instruction, consumer: Instruction, *, lowers_to: str | None = None, rests: bool = False
    ) -> None:
        """``rests``: whether a temporary passes what the tiles leave, too."""
        reduction = self.reductions.get(producer.name)
        for dim in producer.dims:
            if reduction is None or dim not in reduction.dims:
                to = lowers_to if dim.is_static or rests else None
                self._pair(dim, consumer.dim(dim.loop, dim.level), producer, consumer, lowers_to=to)

    def _pair(
        self,
        lhs: Dim,
        rhs: Dim,
        producer: Instruction,
        consumer: Instruction,
        *,
        lowers_to: str | None = None,
        temporary: str | None = None,
    ) -> None:
        self.pairs.append(DimPair(f"{lhs}~{rhs}", lhs, rhs, producer.name, consumer.name, lowers_to, temporary))


def _widths(universe: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(w for w in VECTOR_WIDTHS if w in universe)


def _product(numbers: tuple[int, ...]) -> int:
    result = 1
    for n in numbers:
        result *= n
    return result
