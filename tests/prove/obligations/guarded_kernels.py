"""Random kernels with loads behind conditions, from several pointers, and random launches of them.

    made = GuardedKernel(seed)
    made.text                                # LLVM-IR of kernel ``k``
    launch = made.launch(numbers, arena)     # memory, numbers and shape, as a launch has them

Each ``if`` mostly asks whether an index is below ``n``, but also what has nothing to do with the index; indexes are numbers of threads,
of turns, or data, some of which lead far out of their memory. Pointers may share memory unless the source says ``noalias``, may point into
the middle of it, and may have few bytes behind them, or none.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kernelwright.device.arena import Arena
from kernelwright.device.guard_facts import facts_of
from kernelwright.guards import LaunchFacts
from kernelwright.ir import Function
from kernelwright.launch import Launch
from tests.prove.obligations.test_construction import HEAD

THREADS = 8
"""Most that a block has."""
OUTPUTS = 4
"""Words that each thread writes of its own."""
TABLE = 16
"""Elements of the arrays in shared and in constant memory."""
POINTERS = 3
"""That data are read behind; a fourth one is for outputs."""
WIDTHS = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8, "<2 x i32>": 8}
FIELDS = "{ i32, i16, i64 }"
"""A structure, to which some pointers point; its offsets are 0, 4 and 8."""
FIELD_TYPES = ("i32", "i16", "i64")
FAR = (1 << 20, -1, 2**31 - 1, -(2**31), 77)
"""What data that lead nowhere are."""


@dataclass(frozen=True)
class Memory:
    """What a launch gives one pointer."""

    start: int
    """Of the allocation."""
    address: int
    bytes: int
    """Of the allocation."""


@dataclass(frozen=True)
class Given:
    """A launch with its memory, which the arena holds."""

    launch: Launch
    memory: tuple[Memory, ...]
    """By pointer."""

    def facts(self, kernel: Function) -> LaunchFacts:
        def region(address: int) -> range | None:
            # A pointer to the end of its memory is in none, as one to no memory at all.
            found = next((m for m in self.memory if m.start <= address < m.start + m.bytes), None)
            return range(found.start, found.start + found.bytes) if found is not None else None

        return facts_of(self.launch, kernel, region, ())


class GuardedKernel:
    """A kernel; the same seed always gives the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0
        self._lines: list[str] = []
        self._block = "entry"
        self._values = ["%t", "%n", "%m"]
        """Numbers of 32 bits that are known where the next line stands."""
        self._uniform = True
        """Whether all threads of a block come there together."""
        self._statements = 0
        self._space = " addrspace(1)" if self._random.random() < 0.3 else ""
        self._types = [self._random.choice([*WIDTHS, "i32", "i32", FIELDS]) for _ in range(POINTERS)]
        self._written = [self._random.random() < 0.4 for _ in range(POINTERS)]
        self.no_alias = [self._random.random() < 0.5 for _ in range(POINTERS + 1)]
        self._least = [256] * POINTERS
        """By pointer, what the least demanding access asks of its alignment."""
        self.text = self._kernel()

    @property
    def alignment(self) -> list[int]:
        """By pointer, what its memory is presupposed to be aligned to."""
        return [least if least <= 16 else 8 for least in self._least]

    # -- the kernel

    def _kernel(self) -> str:
        names = ["%a", "%b", "%c", "%out"]
        parameters = [
            f"ptr{self._space}{' noalias' if self.no_alias[n] else ''} {name}" for n, name in enumerate(names)
        ]
        self._several(self._random.randrange(3, 7), 0)
        self._result(0)
        body = "\n".join(self._lines)
        return (
            f"{HEAD}\n@tile = internal addrspace(3) global [{TABLE} x i32] undef\n"
            f"@table = internal addrspace(4) constant [{TABLE} x i32] [{', '.join(f'i32 {n % 5}' for n in range(TABLE))}]\n"
            f"define ptx_kernel void @k({', '.join(parameters)}, i32 %n, i32 %m) {{\nentry:\n"
            "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
            f"  %own = getelementptr [{OUTPUTS} x i32], ptr{self._space} %out, i32 %t\n{body}\n  ret void\n}}\n"
        )

    def _line(self, text: str) -> str:
        self._count += 1
        self._lines.append(f"  %x{self._count} = {text}")
        return f"%x{self._count}"

    def _plain(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def _label(self, name: str) -> None:
        self._lines.append(f"{name}:")
        self._block = name

    def _names(self, *kinds: str) -> list[str]:
        self._count += 1
        return [f"{kind}{self._count}" for kind in kinds]

    def _several(self, count: int, depth: int) -> None:
        for _ in range(count):
            self._statement(depth)

    def _statement(self, depth: int) -> None:
        self._statements += 1
        kinds: dict[Callable[[int], None], float] = {
            self._guarded: 5.0 if depth < 3 and self._statements < 16 else 0.0,
            self._load: 3.0,
            self._calculation: 2.0,
            self._loop: 1.0 if depth < 2 and self._statements < 12 else 0.0,
            self._store: 2.0,
            self._result: 1.0,
            self._shared: 0.7,
            self._leaves: 0.3 if self._statements < 12 else 0.0,
            self._atomic: 0.15,
        }
        self._random.choices(list(kinds), list(kinds.values()))[0](depth)

    def _value(self) -> str:
        # What was made last is what the next is made of, mostly.
        return self._random.choice([*self._values, *self._values[-3:], *self._values[-1:]])

    def _index(self) -> str:
        kind = self._random.random()
        if kind < 0.25:
            return "%t"
        if kind < 0.35:
            return str(self._random.choice((0, 1, 2)))
        if kind < 0.45:
            return self._line(f"and i32 {self._value()}, {self._random.choice((1, 3, 7))}")
        if kind < 0.55:
            return self._line(f"add i32 {self._value()}, {self._random.choice((1, 2, -1))}")
        if kind < 0.6:
            return self._line(f"mul i32 {self._value()}, 1000")
        return self._value()

    def _address(self, pointer: int, index: str, flags: str) -> tuple[str, str]:
        """An address, and the type of what is there."""
        name, type = "%" + "abc"[pointer], self._types[pointer]
        if type == FIELDS:
            field = self._random.randrange(3)
            return (
                self._line(f"getelementptr{flags} {FIELDS}, ptr{self._space} {name}, i32 {index}, i32 {field}"),
                FIELD_TYPES[field],
            )
        return self._line(f"getelementptr{flags} {type}, ptr{self._space} {name}, i32 {index}"), type

    def _read(self, index: str, flags: str = "") -> None:
        """A load, as a number of 32 bits."""
        if self._random.random() < 0.1:
            # An address in one of two memories.
            pointers = self._random.sample(range(POINTERS), 2)
            made = [self._address(p, index, "") for p in pointers]
            if made[0][1] == made[1][1]:
                chosen = self._line(f"icmp slt i32 {self._value()}, {self._value()}")
                either = self._line(f"select i1 {chosen}, ptr{self._space} {made[0][0]}, ptr{self._space} {made[1][0]}")
                self._loaded(either, made[0][1], pointers)
                return
        pointer = self._random.randrange(POINTERS)
        address, type = self._address(pointer, index, flags)
        self._loaded(address, type, [pointer])

    def _loaded(self, address: str, type: str, pointers: list[int]) -> None:
        natural = WIDTHS[type]
        align = natural if self._random.random() < 0.92 else max(1, natural // 2)
        for pointer in pointers:
            self._least[pointer] = min(self._least[pointer], 4 if type == "<2 x i32>" else 8, align)
        volatile = " volatile" if self._random.random() < 0.02 else ""
        value = self._line(f"load{volatile} {type}, ptr{self._space} {address}, align {align}")
        self._values.append(self._as_number(value, type))

    def _as_number(self, value: str, type: str) -> str:
        if type == "i32":
            return value
        if type in ("i8", "i16"):
            return self._line(f"{self._random.choice(('zext', 'sext'))} {type} {value} to i32")
        if type == "i64":
            return self._line(f"trunc i64 {value} to i32")
        if type == "float":
            return self._line(f"bitcast float {value} to i32")
        if type == "double":
            return self._as_number(self._line(f"bitcast double {value} to i64"), "i64")
        return self._line(f"extractelement <2 x i32> {value}, i32 {self._random.randrange(2)}")

    def _load(self, depth: int) -> None:
        """One that nothing asks for; so its index is a small one."""
        kind = self._random.random()
        if kind < 0.1:
            index = self._line(f"and i32 {self._value()}, {TABLE - 1}")
            address = self._line(f"getelementptr i32, ptr addrspace(4) @table, i32 {index}")
            self._values.append(self._line(f"load i32, ptr addrspace(4) {address}"))
        elif kind < 0.2 and self._uniform:
            self._read_tile()
        else:
            self._read(self._random.choice(["%t", "0", self._line(f"and i32 {self._value()}, 1")]))

    def _calculation(self, depth: int) -> None:
        kind = self._random.random()
        if kind < 0.3:
            chosen = self._line(f"icmp {self._predicate()} i32 {self._value()}, {self._value()}")
            self._values.append(self._line(f"select i1 {chosen}, i32 {self._value()}, i32 {self._value()}"))
        elif kind < 0.4:
            self._values.append(self._line(f"{self._random.choice(('urem', 'sdiv'))} i32 {self._value()}, 3"))
        else:
            operation = self._random.choice(("add", "sub", "xor", "and", "mul"))
            self._values.append(self._line(f"{operation} i32 {self._value()}, {self._value()}"))

    def _predicate(self) -> str:
        return self._random.choice(("eq", "ne", "slt", "sle", "sgt", "ult", "uge"))

    def _condition(self) -> tuple[str, str]:
        """What a branch asks, and the index that it is about."""
        index = self._index()
        kind = self._random.random()
        if kind < 0.5:
            asked = self._line(f"icmp ult i32 {index}, %n")
        elif kind < 0.65:
            asked = self._line(f"icmp slt i32 {index}, %n")
            if self._random.random() < 0.8:
                low = self._line(f"icmp sgt i32 {index}, -1")
                asked = self._line(
                    f"and i1 {asked}, {low}"
                    if self._random.random() < 0.5
                    else f"select i1 {asked}, i1 {low}, i1 false"
                )
        elif kind < 0.75:
            asked = self._line(f"icmp eq i32 {self._value()}, {self._random.choice((0, 1, 2))}")
        else:
            asked = self._line(f"icmp {self._predicate()} i32 {self._value()}, {self._value()}")
        return asked, index

    def _guarded(self, depth: int) -> None:
        """An ``if`` with loads in it, with an ``else`` at times."""
        asked, index = self._condition()
        then, other, end = self._names("then", "else", "end")
        has_else = self._random.random() < 0.25
        ways = [f"label %{then}", f"label %{other if has_else else end}"]
        if self._random.random() < 0.25:
            ways.reverse()  # as an 'unless'
        before, head, uniform = list(self._values), self._block, self._uniform
        self._plain(f"br i1 {asked}, {', '.join(ways)}")
        self._uniform = False
        arms: list[tuple[str, list[str]]] = []
        for label in (then, other) if has_else else (then,):
            self._label(label)
            self._values = list(before)
            if self._random.random() < 0.3:
                self._store(depth)
            for _ in range(self._random.randrange(1, 3)):
                self._read(
                    index if self._random.random() < 0.88 else self._index(), self._random.choice((" inbounds", ""))
                )
            self._several(self._random.randrange(0, 3), depth + 1)
            arms.append((self._block, self._values))
            self._plain(f"br label %{end}")
        self._label(end)
        if not has_else:
            arms.append((head, list(before)))
        self._values, self._uniform = before, uniform
        for _ in range(self._random.randrange(1, 3)):
            incoming = ", ".join(
                f"[ {self._random.choice([*values, *values[-2:]])}, %{block} ]" for block, values in arms
            )
            before.append(self._line(f"phi i32 {incoming}"))

    def _loop(self, depth: int) -> None:
        """A few turns, each with its ``if``; as LLVM has it, with the check behind, or with the check before."""
        loop, body, end = self._names("loop", "body", "after")
        before, head, uniform = list(self._values), self._block, self._uniform
        bound = self._random.choice(("%n", "%m", "3"))
        carried = self._value()
        checked_first = self._random.random() < 0.4
        self._plain(f"br label %{loop}")
        self._label(loop)
        turn, sum, onward, last = self._names("i", "s", "j", "u")
        at = len(self._lines)
        self._uniform = self._uniform and bound != "%m"
        if checked_first:
            more = self._line(f"icmp slt i32 %{turn}, {bound}")
            few = self._line(f"icmp ult i32 %{turn}, 4")
            self._plain(f"br i1 {self._line(f'and i1 {more}, {few}')}, label %{body}, label %{end}")
            self._label(body)
        self._values = [*before, f"%{turn}", f"%{sum}"]
        self._several(self._random.randrange(1, 4), depth + 1)
        self._plain(f"%{last} = add i32 {self._values[-1]}, {self._value()}")
        self._plain(f"%{onward} = add nuw nsw i32 %{turn}, 1")
        latch = self._block
        if checked_first:
            self._plain(f"br label %{loop}")
        else:
            more = self._line(f"icmp slt i32 %{onward}, {bound}")
            few = self._line(f"icmp ult i32 %{onward}, 4")
            self._plain(f"br i1 {self._line(f'and i1 {more}, {few}')}, label %{loop}, label %{end}")
        self._lines[at:at] = [
            f"  %{turn} = phi i32 [ 0, %{head} ], [ %{onward}, %{latch} ]",
            f"  %{sum} = phi i32 [ {carried}, %{head} ], [ %{last}, %{latch} ]",
        ]
        self._label(end)
        self._values = [*before, f"%{turn}", f"%{sum}"]
        self._uniform = uniform

    def _store(self, depth: int) -> None:
        """Behind a pointer that the kernel writes through, at the thread's own number, or at an index: the original mostly races then, or has
        one thread."""
        written = [p for p in range(POINTERS) if self._written[p]]
        if not written:
            self._result(depth)
            return
        pointer = self._random.choice(written)
        index = "%t" if self._random.random() < 0.7 else self._line(f"and i32 {self._value()}, 3")
        address, type = self._address(pointer, index, "")
        align = WIDTHS[type]
        self._least[pointer] = min(self._least[pointer], 4 if type == "<2 x i32>" else align)
        self._plain(f"store {type} {self._of_number(self._value(), type)}, ptr{self._space} {address}, align {align}")

    def _of_number(self, value: str, type: str) -> str:
        if type == "i32":
            return value
        if type in ("i8", "i16"):
            return self._line(f"trunc i32 {value} to {type}")
        if type == "float":
            return self._line(f"bitcast i32 {value} to float")
        if type == "<2 x i32>":
            return self._line(f"insertelement <2 x i32> zeroinitializer, i32 {value}, i32 1")
        wide = self._line(f"zext i32 {value} to i64")
        return wide if type == "i64" else self._line(f"bitcast i64 {wide} to double")

    def _result(self, depth: int) -> None:
        place = self._random.randrange(OUTPUTS)
        address = self._line(f"getelementptr i32, ptr{self._space} %own, i32 {place}")
        if self._random.random() < 0.5:
            old = self._line(f"load i32, ptr{self._space} {address}, align 4")
            # All that was made counts, so that no load is without a use.
            for value in self._values[-4:]:
                old = self._line(f"xor i32 {old}, {value}")
            self._plain(f"store i32 {old}, ptr{self._space} {address}, align 4")
        else:
            self._plain(f"store i32 {self._value()}, ptr{self._space} {address}, align 4")

    def _shared(self, depth: int) -> None:
        """A cell of each thread, a barrier where all come to it, and perhaps a neighbour's cell."""
        own = self._line("getelementptr i32, ptr addrspace(3) @tile, i32 %t")
        self._plain(f"store i32 {self._value()}, ptr addrspace(3) {own}, align 4")
        if self._uniform:
            self._plain("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")
            if self._random.random() < 0.7:
                self._read_tile()
                self._plain("call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)")

    def _read_tile(self) -> None:
        index = self._line(f"and i32 {self._value()}, 0") if self._random.random() < 0.5 else "%t"
        address = self._line(f"getelementptr i32, ptr addrspace(3) @tile, i32 {index}")
        self._values.append(self._line(f"load i32, ptr addrspace(3) {address}, align 4"))

    def _leaves(self, depth: int) -> None:
        """A way out, as threads beyond the data take it."""
        asked = self._line(f"icmp {self._random.choice(('uge', 'eq'))} i32 {self._value()}, %n")
        out, on = self._names("out", "on")
        self._plain(f"br i1 {asked}, label %{out}, label %{on}")
        self._label(out)
        self._plain("ret void")
        self._label(on)
        self._uniform = False

    def _atomic(self, depth: int) -> None:
        pointer = self._random.choice([p for p in range(POINTERS) if self._types[p] == "i32"] or [0])
        if self._types[pointer] != "i32":
            return
        self._least[pointer] = min(self._least[pointer], 4)
        name = "%" + "abc"[pointer]
        self._values.append(self._line(f"atomicrmw add ptr{self._space} {name}, i32 1 monotonic"))

    # -- its launches

    @contextmanager
    def launch(self, numbers: random.Random, arena: Arena) -> Iterator[Given]:
        """One launch; its memory is given back behind it."""
        mark = arena.next_address
        n = numbers.choice((0, 1, 2, 4, 5, 8))
        memory = [self._memory(pointer, n, numbers, arena) for pointer in range(POINTERS)]
        out = arena.allocate(4 * OUTPUTS * THREADS, "out", fill=None)
        arena.view(out)[:] = 0
        memory.append(Memory(out.address, out.address, out.size))
        for pointer in range(POINTERS):
            other = numbers.randrange(POINTERS + 1)
            if numbers.random() < 0.35 and other != pointer and not self.no_alias[pointer] and not self.no_alias[other]:
                memory[pointer] = self._shared_with(memory[other], pointer, numbers)
        addresses = [each.address for each in memory]
        parameters = struct.pack("<QQQQii", *addresses, n, numbers.choice((-1, 0, 1, 2, 3, n)))
        threads = numbers.choice((1, 1, 1, 2, 4, THREADS))
        yield Given(Launch("k", (1, 1, 1), (threads, 1, 1), parameters), tuple(memory))
        arena.rewind(mark)

    def _width(self, pointer: int) -> int:
        return 16 if self._types[pointer] == FIELDS else WIDTHS[self._types[pointer]]

    def _memory(self, pointer: int, n: int, numbers: random.Random, arena: Arena) -> Memory:
        width = self._width(pointer)
        elements = numbers.choice((n, max(n, 2), *[max(n, THREADS)] * 5, 0))
        size = elements * width if numbers.random() < 0.9 else numbers.randrange(0, 3 * width)
        front = (self.alignment[pointer] if numbers.random() < 0.2 else 16) * numbers.choice((0, 0, 1, 3))
        buffer = arena.allocate(front + size, "abc"[pointer])
        arena.view(buffer)[:] = list(_data(self._types[pointer], front + size, n, numbers))
        return Memory(buffer.address, buffer.address + front, buffer.size)

    def _shared_with(self, other: Memory, pointer: int, numbers: random.Random) -> Memory:
        step = self.alignment[pointer]
        address = other.address + numbers.choice((0, 0, 1, 2, -1)) * step
        # The other one may be aligned to less.
        address -= address % step
        return Memory(other.start, max(address, other.start), other.bytes)


def _data(type: str, size: int, n: int, numbers: random.Random) -> bytes:
    """Mostly indexes into memory of ``n`` elements, and some that lead far away."""

    def number() -> int:
        return numbers.choice(FAR) if numbers.random() < 0.12 else numbers.randrange(max(n, 1))

    wide = type in ("i64", "double")
    bits = {"i8": 8, "i16": 16}.get(type, 64 if wide else 32)
    count = size * 8 // bits + 1
    made = b"".join((number() & ((1 << bits) - 1)).to_bytes(bits // 8, "little") for _ in range(count))
    return made[:size]
