"""Decisions → CUDA C. Every thread executes the whole text; what has a side effect is left to one thread of those that share it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import prod

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.computation.objects import Backbone, Instruction, Leaf
from kernelwright.space.cuda_source.addresses import Address, global_address
from kernelwright.space.cuda_source.barriers import place_barriers
from kernelwright.space.cuda_source.conditions import Whole, asked, condition, summed
from kernelwright.space.cuda_source.fused_loops import AXES, FusedLoop, FusedLoops
from kernelwright.space.cuda_source.generated import GRID_LIMIT, GeneratedKernel, Iterations
from kernelwright.space.cuda_source.global_arrays import global_arrays
from kernelwright.space.cuda_source.joined_threads import joined_threads, shared_reductions
from kernelwright.space.cuda_source.loop_tree import Barrier, Join, Sequence, loop_tree
from kernelwright.space.cuda_source.registers import RegisterFile
from kernelwright.space.cuda_source.shared_arrays import shared_arrays, vector_loop

SHARED_LIMIT = 48 * 1024
"""Static shared memory of a block, bytes, on every GPU."""
THREAD_LIMIT = 1024
PARTS = "xyzw"
LOADS = {"L1": None, "L2": "__ldcg", "READ_ONLY": "__ldg", "NONE": "__ldcs"}
STORES = {"L1": None, "L2": "__stcg", "NONE": "__stcs"}
"""Cache decisions: a plain access, or the intrinsic that carries the hint (PTX ISA, cache operators)."""


Member = Sequence | Instruction | Barrier | Join


@dataclass(frozen=True)
class Known:
    """Of the loops around a text whose last iteration may be only partly there: ``whole``, of whose current iteration everything is;
    ``open``, of which the text has to ask."""

    open: tuple[FusedLoop, ...] = ()
    whole: tuple[FusedLoop, ...] = ()

    def inside(self, loop: FusedLoop) -> Known:
        """The same within one more loop, whose current iteration the text has to check."""
        return Known((*self.open, loop), self.whole)


def generate(backbone: Backbone, leaf: Leaf, *, shared_limit: int = SHARED_LIMIT) -> GeneratedKernel:
    """Raises ``Misuse`` for decisions that contradict one another or need what is not built."""
    return _Writer(backbone, leaf, shared_limit).write()


class _Writer:
    def __init__(self, backbone: Backbone, leaf: Leaf, shared_limit: int) -> None:
        self.backbone, self.leaf = backbone, leaf
        self.loops = FusedLoops(backbone, leaf)
        self.registers = RegisterFile(self.loops)
        shared = (r for reductions in shared_reductions(self.loops).values() for r in reductions)
        self.joined = {r.instruction.name: joined_threads(self.loops, self.registers, r) for r in shared}
        parts = 4 * sum(j.elements for j in self.joined.values())
        self.shared = shared_arrays(self.loops, shared_limit - parts)
        self.shared_bytes = parts + sum(a.bytes for a in self.shared.values())
        self.outer = global_arrays(self.loops)
        rests = [self.loops.rest(i, loop) for i in self.loops.instructions for loop in asked(self.loops, i)]
        self.partial = [f for f in dict.fromkeys(rests) if f.iterations.is_dynamic]
        """Loops whose last iteration may be only partly there, and is asked about."""
        self.lines: list[str] = []

    def write(self) -> GeneratedKernel:
        block = self.loops.block
        if prod(block) > THREAD_LIMIT:
            raise Misuse(f"a block of {prod(block)} threads: at most {THREAD_LIMIT}")
        tree = loop_tree(self.loops)
        used = [t for t in self.backbone.temporaries if self.leaf.exists(t)]
        if prod(block) > 1:
            place_barriers(tree, used)
        blocks = self._indices()
        for array in self.shared.values():
            self._line(1, f"__shared__ __align__(16) float {array.temporary}[{array.elements}];")
        for joined in self.joined.values():
            if joined.elements:
                self._line(1, f"__shared__ float {joined.array}[{joined.elements}];")
        for outer in self.outer.values():
            for line in outer.lines():
                self._line(1, line)
        for each in self.registers.of.values():
            self._line(1, each.declaration())
        self._sequence(tree, 1, Known(tuple(f for f in self.partial if f.kind == "BLOCK")))
        return GeneratedKernel(
            self.backbone.name,
            "\n".join([*self._head(prod(block)), *self.lines, "}", ""]),
            (prod(each.tuned for each in blocks), 1, 1),
            block,
            self.shared_bytes,
            sum("__syncthreads();" in line for line in self.lines),
            sum(prod(r.sizes) for r in self.registers.of.values()),
            tuple(a.name for a in self.backbone.arrays),
            self.backbone.scalars,
            self.backbone.launch_sizes,
            blocks,
            tuple(a.scratch for a in self.outer.values()),
        )

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _head(self, threads: int) -> list[str]:
        kinds = {a.name: "" if a.is_output else "const " for a in self.backbone.arrays}
        parameters = [f"{kinds[a.name]}float *__restrict__ {a}" for a in self.backbone.arrays]
        # Other threads write it, too, so that no barrier may be moved past its accesses: it is not restricted.
        parameters += [f"float *{name}" for name in self.outer]
        parameters += [f"float {s}" for s in self.backbone.scalars]
        parameters += [f"int {size.name}" for size in self.backbone.launch_sizes]
        return [
            f'extern "C" __global__ void __launch_bounds__({threads})',
            f"{self.backbone.name}({', '.join(parameters)}) {{",
        ]

    @property
    def _index_type(self) -> str:
        return "int" if max(a.elements for a in self.backbone.arrays) <= GRID_LIMIT else "long"

    def _indices(self) -> tuple[Iterations, ...]:
        """Indices of blocks and threads. The innermost BLOCK loop varies fastest. Returns what the number of blocks is the product of."""
        blocks = [f for f in self.loops.all if f.kind == "BLOCK" and f.varies]
        depth = {
            f: sum(self.leaf.value("order", f.dims[0], g.dims[0]) == "INNER" for g in blocks if g is not f)
            for f in blocks
        }
        blocks.sort(key=lambda f: -depth[f])
        step, launched = 1, list[str]()
        for number, f in enumerate(blocks):
            faster = " * ".join([*([str(step)] if step > 1 else []), *launched])
            text = f"blockIdx.x / {f'({faster})' if ' * ' in faster else faster}" if faster else "blockIdx.x"
            last, count = number == len(blocks) - 1, f.iterations.text()
            grouped = f"({count})" if " / " in count else count
            self._line(1, f"const {self._index_type} {f.variable} = {text if last else f'{text} % {grouped}'};")
            if f.iterations.is_dynamic:
                launched.append(grouped)
            else:
                step *= f.size
        number = prod(f.size for f in blocks)
        if number > GRID_LIMIT:
            raise Misuse(f"a grid of {number} blocks: at most {GRID_LIMIT}")
        for axis, dims in zip(AXES, self.loops.axes, strict=False):
            meant = " ".join(dict.fromkeys(self.loops.of[d].title for d in dims))
            self._line(1, f"const {self._index_type} thread_{axis} = threadIdx.{axis};  // {meant}")
        return tuple(f.iterations for f in blocks)

    def _sequence(self, sequence: Sequence, depth: int, known: Known) -> None:
        """What asks about loops of ``known.open`` stands twice, side by side where it is small: between barriers, and outside loops of
        which the last iteration is partly there.

        if (m0 < m / 64) { v_a = A[...]; } else { v_a = A[min(m0 * 64 + thread_y, m - 1) ...]; }
        """
        run: list[Member] = []
        for member in [*sequence.body, None]:
            if member is not None and not self._splits(member):
                run.append(member)
                continue
            self._run(run, depth, known, repeats=sequence.loop is not None)
            run = []
            if isinstance(member, Sequence):
                self._loop(member, depth, known)
            elif member is not None:
                self._line(depth, "__syncthreads();")

    def _splits(self, member: Member) -> bool:
        """Whether a text that stands twice must end before it."""
        if isinstance(member, Sequence):
            return member.loop in self.partial or any(map(self._splits, _loops_in(member)))
        return isinstance(member, Barrier)

    def _run(self, run: list[Member], depth: int, known: Known, *, repeats: bool) -> None:
        asking = [self._asked(member, known.open) for member in run]
        numbers = [n for n, loops in enumerate(asking) if loops]
        if not numbers:
            self._plain(run, depth, known.whole, repeats=repeats)
            return
        first, end = numbers[0], numbers[-1] + 1
        blocks = [f for f in known.open if any(f in loops for loops in asking)]
        self._plain(run[:first], depth, known.whole, repeats=repeats)
        self._line(depth, f"if ({_are_whole(blocks)}) {{")
        self._plain(run[first:end], depth + 1, (*known.whole, *blocks), repeats=repeats)
        self._line(depth, "} else {")
        self._plain(run[first:end], depth + 1, known.whole, repeats=repeats)
        self._line(depth, "}")
        self._plain(run[end:], depth, known.whole, repeats=repeats)

    def _asked(self, member: Member, of: Collection[FusedLoop]) -> set[FusedLoop]:
        """Of which of these loops something in it asks whether their iteration is there."""
        if isinstance(member, Instruction):
            return {self.loops.rest(member, loop) for loop in asked(self.loops, member)} & set(of)
        return set().union(*(self._asked(m, of) for m in member.body)) if isinstance(member, Sequence) else set()

    def _plain(self, members: Iterable[Member], depth: int, whole: Whole, *, repeats: bool) -> None:
        """As it is, once. ``whole``: loops of whose current iteration everything is there."""
        for member in members:
            if isinstance(member, Sequence):
                self._head_of(member, depth)
                self._plain(member.body, depth + 1, whole, repeats=True)
                self._line(depth, "}")
            else:
                for line in self._statement(member, whole, repeats=repeats):
                    self._line(depth, line)

    def _statement(self, member: Instruction | Barrier | Join, whole: Whole, *, repeats: bool) -> list[str]:
        if isinstance(member, Barrier):
            return ["__syncthreads();"]
        if isinstance(member, Join):
            return self.joined[member.reduction.instruction.name].lines(repeats=repeats)
        return self._instruction(member, whole)

    def _head_of(self, body: Sequence, depth: int) -> None:
        loop = body.loop
        assert loop is not None
        v = loop.variable
        self._line(depth, "#pragma unroll" if loop.kind == "UNROLL" else "#pragma unroll 1")
        self._line(depth, f"for ({self._index_type} {v} = 0; {v} < {loop.iterations.text()}; {v}++) {{")

    def _loop(self, body: Sequence, depth: int, known: Known) -> None:
        """Where its last iteration may be only partly there: iterations of which everything is, in blocks of which everything is, ask
        nothing; the others follow. Of several such loops inside each other only the innermost one stands twice.

        for (; k0 < (m0 < m / 64 ? k / 16 : 0); k0++) { ... }    for (; k0 < (k + 15) / 16; k0++) { ... }
        """
        loop = body.loop
        assert loop is not None
        if loop not in self.partial or any(map(self._splits, _loops_in(body))):
            inside = known.inside(loop) if loop in self.partial else known
            self._head_of(body, depth)
            self._sequence(body, depth + 1, inside)
            self._line(depth, "}")
            return
        v, count = loop.variable, loop.iterations.whole_text()
        around = [f for f in known.open if f in self._asked(body, known.open)]
        self._line(depth, "{")
        self._line(depth + 1, f"{self._index_type} {v} = 0;")
        texts = [
            (f"({_are_whole(around)} ? {count} : 0)" if around else count, (*known.whole, *around, loop)),
            (loop.iterations.text(), known.whole),
        ]
        for until, whole in texts:
            self._line(depth + 1, "#pragma unroll" if loop.kind == "UNROLL" else "#pragma unroll 1")
            self._line(depth + 1, f"for (; {v} < {until}; {v}++) {{")
            self._plain(body.body, depth + 2, whole, repeats=True)
            self._line(depth + 1, "}")
        self._line(depth, "}")

    def _instruction(self, i: Instruction, whole: Whole) -> list[str]:
        match i.operation:
            case "load" | "store":
                lines = self._access(i, whole)
            case "put" | "get":
                name = str(i.temporary)
                array = self.outer[name] if name in self.outer else self.shared[name]
                address = array.address(self.loops, writes=i.operation == "put")
                lines = self._move(i, array.temporary.name, address, reads=i.operation == "get")
            case _:
                lines = [f"{self.registers.written(i)} = {self._expression(i)};"]
                if i.operation == "reduce":
                    lines = _where(condition(self.loops, i, asked(self.loops, i, whole)), lines)
        return self._by_one_thread(i, lines) if i.operation in ("store", "put") else lines

    def _access(self, i: Instruction, whole: Whole) -> list[str]:
        """Of an argument. Where sizes are given at launch, loads have no branches: LLVM takes much longer for these than for what they
        would leave out."""
        assert i.access is not None
        array, reads = i.access.array.name, i.operation == "load"
        loops, vector = asked(self.loops, i, whole), vector_loop(self.loops, i.dims)
        if not (reads and self.partial):
            asks = condition(self.loops, i, loops, vector)
            return self._move(i, array, global_address(self.loops, i), reads=reads, condition=asks)
        lines = self._move(i, array, global_address(self.loops, i, loops, vector), reads=True)
        there = condition(self.loops, i, [loop for loop in loops if loop in summed(self.loops)], vector)
        lanes = range(vector.size) if vector is not None else [None]
        values = [self.registers.written(i, lane) for lane in lanes] if there else []
        return [*lines, *(f"{value} = {there} ? {value} : 0.0f;" for value in values)]

    def _expression(self, i: Instruction) -> str:
        assert i.expression is not None
        texts = {o: self.registers.read(self.registers.source(o, i), i) for o in i.operands}
        if i.operation == "reduce":
            reduction = self.backbone.reduction(i)
            assert reduction is not None
            texts[reduction.init.name] = self.registers.written(i)
        text = i.expression.c(texts)
        return text[1:-1] if text.startswith("(") and i.expression.kind in ("add", "sub", "mul", "div") else text

    def _move(self, i: Instruction, array: str, address: Address, *, reads: bool, condition: str = "") -> list[str]:
        """``condition``: of an access to an argument, when it is there."""
        vector = vector_loop(self.loops, i.dims)
        place = f"{array}[{address.without(vector).text()}]"
        width = vector.size if vector is not None else 1
        if vector is not None and not any(width in d.vector_widths for d in vector.dims if d.instruction == i.name):
            raise Misuse(f"{i} cannot be a vector of {width} along {vector.title}")
        lanes = list(range(width)) if width > 1 else [None]
        registers = [
            self.registers.written(i, lane)
            if reads
            else self.registers.read(self.registers.source(i.operands[0], i), i, lane)
            for lane in lanes
        ]
        hint = self._hint(i)
        if vector is None:
            if reads:
                read = f"{hint}(&{place})" if hint else place
                return [f"{registers[0]} = {_chosen(condition, read, '0.0f')};"]
            return _where(condition, [f"{hint}(&{place}, {registers[0]});" if hint else f"{place} = {registers[0]};"])
        kind = f"float{width}"
        if reads:
            read = f"{hint}((const {kind} *)&{place})" if hint else f"*(const {kind} *)&{place}"
            zeros = f"make_{kind}({', '.join(['0.0f'] * width)})"
            parts = [f"{r} = vector.{p};" for r, p in zip(registers, PARTS, strict=False)]
            return ["{", f"    const {kind} vector = {_chosen(condition, read, zeros)};",
                    *(f"    {part}" for part in parts), "}"]  # fmt: skip
        made = f"make_{kind}({', '.join(registers)})"
        return _where(condition, [f"{hint}(({kind} *)&{place}, {made});" if hint else f"*({kind} *)&{place} = {made};"])

    def _hint(self, i: Instruction) -> str | None:
        if not i.is_global_access:
            return None
        decision, table = str(self.leaf.value("cache", i)), LOADS if i.operation == "load" else STORES
        if decision not in table:
            raise Misuse(f"{i} cannot use the cache decision {decision}: a {i.operation} knows {', '.join(table)}")
        return table[decision]

    def _by_one_thread(self, i: Instruction, lines: list[str]) -> list[str]:
        """Threads along axes that the instruction does not vary over would all write the same."""
        own = {self.loops.of[d].axis for d in i.dims}
        others = [f"thread_{AXES[axis]}" for axis, n in enumerate(self.loops.block) if n > 1 and axis not in own]
        if not others:
            return lines
        return _where(" && ".join(f"{name} == 0" for name in others), lines)


def _where(condition: str, lines: list[str]) -> list[str]:
    return [f"if ({condition}) {{", *(f"    {line}" for line in lines), "}"] if condition else lines


def _chosen(condition: str, value: str, otherwise: str) -> str:
    return f"{condition} ? {value} : {otherwise}" if condition else value


def _are_whole(loops: Iterable[FusedLoop]) -> str:
    return " && ".join(f"{f.variable} < {f.iterations.whole_text()}" for f in loops)


def _loops_in(body: Sequence) -> list[Sequence]:
    return [member for member in body.body if isinstance(member, Sequence)]
