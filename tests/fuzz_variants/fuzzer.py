"""A fuzzer of variants: launches of a workload with small random changes, the original beside the variant under its guards.

    python -m tests.fuzz_variants.fuzzer kw-runs/hotspot-1 kw-runs/nn-1 --cases 1000

Several runs (``fuzz_runs.py``) are fuzzed side by side, one to a core, and a line is printed for each. It knows nothing of ``prove``. Everything that a launch is given is changed at random: elements of buffers and of device
variables, numbers and fields among the parameters, grid, block and dynamic shared memory. The original on the same launch is the
oracle; a launch on which it faults, races, reads what nobody wrote or depends on the order of its threads is not used; whether it does is tried in
one order, and in many where the variant differs. Bytes that it reads as ``bool`` stay 0 or 1, as C++ asks: anything else is undefined.
An original that reads past its buffers as recorded may, and so may its variant: each run finds other bytes there, on which nothing may depend. Where a
launch does not meet the guards, the original runs in the place of the variant, as it does in an exported one.
"""

from __future__ import annotations

import math
import struct
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernelwright.codegen.memory_layout import parameter_layout
from kernelwright.codegen.simt.launching.watching import Watch
from kernelwright.device.arena import Arena
from kernelwright.device.execution import Execution, Loaded
from kernelwright.device.guard_facts import facts_of_execution
from kernelwright.device.schedule import Schedule
from kernelwright.device.virtual_gpu.gpu import VirtualGpu
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.case_runner import Modules, Ran, Runner, Stopped
from kernelwright.evaluate.workload.case import Case, Output
from kernelwright.evaluate.workload.comparison import judge
from kernelwright.evaluate.workload.rule_text import Rules
from kernelwright.guards import Guard
from kernelwright.ir import Argument, Instruction, IntType, PointerType, Value
from kernelwright.launch import Launch, Triple

TURNS = 2_000_000
"""Turns of loops that a launch may take."""
PAST = (0, 0xCD, 0xFF)
"""Bytes that reads past a buffer give: to the oracle, in turn to all others."""
ORDERS = 60
"""In which an original is run before a variant is called wrong: sums of some values are the same in most orders."""
Random = np.random.Generator


@dataclass
class Tally:
    """What came of the cases."""

    agree: int = 0
    outside: int = 0
    """In which no launch met the guards."""
    unused: Counter[str] = field(default_factory=Counter)
    """That the original does not accept, by the reason."""
    wrong: list[str] = field(default_factory=list)
    not_reached: int = 0
    """For which the time was too short."""

    def __str__(self) -> str:
        unused = ", ".join(f"{count} {why}" for why, count in self.unused.most_common())
        said = f"{self.agree} agree, {len(self.wrong)} wrong, {self.outside} outside the guards, not used: {unused or 'none'}"
        said += f"; time was up with {self.not_reached} to go" if self.not_reached else ""
        return "\n".join([said, *self.wrong[:5]])


@dataclass
class Variant:
    """Kernels in the place of the original ones, where their guards hold."""

    modules: Modules
    guards: Mapping[str, Sequence[Guard]]


def fuzz(
    cases: Sequence[Case | RecordedCase], kernel: str, originals: Modules, variant: Variant, rules: Rules,
    *, count: int, seed: int, enough: int = 5, limit_s: float = math.inf,
) -> Tally:  # fmt: skip
    """Runs ``count`` cases, fewer when ``enough`` are wrong or ``limit_s`` seconds are over. ``kernel``: that cases without a name launch."""
    gpu, tally = VirtualGpu(kept=200), Tally()
    end = time.monotonic() + limit_s
    runs = _Runs(gpu, kernel, originals)
    known = {id(case): runs.as_recorded(case) for case in cases}
    for number in range(count):
        if time.monotonic() >= end:
            tally.not_reached = count - number
            break
        case = cases[number % len(cases)]
        change = _Small(seed, number)
        before = known[id(case)]
        found = runs.watched(case, change)
        if isinstance(found, str):
            tally.unused[found] += 1
            continue
        output, sites = found
        if isinstance(before, str) or sites - before[1]:
            tally.unused["on which the original does what is undefined"] += 1
            continue
        again, _ = runs.plain(case, change, Schedule.random(number), past=PAST[1])
        if isinstance(again, str) or _difference(again, output, rules):
            tally.unused["on which the original depends on the order of its threads"] += 1
            continue
        for schedule, past in ((Schedule.forward(), PAST[1]), (Schedule.random(number + 1), PAST[2])):
            other, taken = runs.plain(case, change, schedule, variant, past=past)
            if not taken:
                tally.outside += 1
                break
            why = other if isinstance(other, str) else _difference(other, output, rules)
            if why and not isinstance(other, str) and not _difference(_with_nans_of(other, output), output, rules):
                tally.unused["on which bits of NaNs alone differ"] += 1
                break
            if why and any(runs.differs(case, change, turn, output, rules) for turn in range(ORDERS)):
                tally.unused["on which the original depends on the order of its threads"] += 1
                break
            if why:
                tally.wrong.append(f"{case.name or 'case'}, number {number}: {why} ({'; '.join(change.said[:12])})")
                break
        else:
            tally.agree += 1
        if len(tally.wrong) >= enough:
            break
    return tally


class _Runs:
    def __init__(self, gpu: VirtualGpu, kernel: str, originals: Modules) -> None:
        self._gpu = gpu
        self._kernel = kernel
        self._originals = originals
        self._read_past: set[int] = set()
        """Cases on which the original reads past its buffers, as they were recorded."""

    def as_recorded(self, case: Case | RecordedCase) -> tuple[Output, set[object]] | str:
        found = self.watched(case, None)
        if isinstance(found, str):
            self._read_past.add(id(case))
            found = self.watched(case, None)
        return found

    def watched(self, case: Case | RecordedCase, change: _Small | None) -> tuple[Output, set[object]] | str:
        """What the original leaves, and where it does what is undefined; or why it does not come to its end."""
        sites: set[object] = set()

        def run(execution: Execution, arena: Arena) -> Ran:
            if change is not None:
                execution = change.made(execution, arena)
            done = self._gpu.run(execution, arena, watch=Watch(races=True, unwritten=True))
            sites.update(
                (found.kind, id(found.origin), id(found.other)) for found in done.result.found if not found.benign
            )
            return done

        found = self._run(case, run, Schedule.forward(), PAST[0])
        return found if isinstance(found, str) else (found, sites)

    def plain(
        self,
        case: Case | RecordedCase,
        change: _Small,
        schedule: Schedule,
        variant: Variant | None = None,
        past: int = 0,
    ) -> tuple[Output | str, bool]:
        """What is left, or why not, and whether the variant took part."""
        change = _Small(*change.drawn_from)
        taken = False

        def run(execution: Execution, arena: Arena) -> Ran:
            nonlocal taken
            execution = change.made(execution, arena)
            kernel = execution.launch.kernel
            if variant is not None and kernel in variant.modules:
                facts = facts_of_execution(execution, arena)
                if all(guard.holds(facts) for guard in variant.guards.get(kernel, ())):
                    taken = True
                    execution = replace_loaded(execution, variant.modules[kernel])
            return self._gpu.run(execution, arena)

        return self._run(case, run, schedule, past), taken

    def differs(self, case: Case | RecordedCase, change: _Small, turn: int, output: Output, rules: Rules) -> bool:
        """Whether the original leaves something else in another order, or with other bytes behind its buffers."""
        schedule = Schedule.random(turn) if turn else Schedule.forward()
        found, _ = self.plain(case, change, schedule, past=PAST[turn % len(PAST)])
        return isinstance(found, str) or bool(_difference(found, output, rules))

    def _run(
        self, case: Case | RecordedCase, execute: Callable[[Execution, Arena], Ran], schedule: Schedule, past: int
    ) -> Output | str:
        with case.arena() if isinstance(case, RecordedCase) else Arena() as arena:
            overread = past if id(case) in self._read_past else None
            runner = Runner(
                self._originals, execute, arena, schedule=schedule, budget=TURNS, launches=2000, overread=overread
            )
            try:
                return case.run(runner, self._kernel)
            except Stopped as stopped:
                return f"that end with {stopped.rejected.stage}"
            except KernelwrightError as error:
                return f"that cannot be run ({type(error).__name__})"


def replace_loaded(execution: Execution, module: Any) -> Execution:
    loaded = Loaded(module, execution.loaded.variables)
    return replace(execution, loaded=loaded)


def _difference(found: Output, expected: Output, rules: Rules) -> str:
    for name, wanted in expected.arrays.items():
        verdict = judge(rules.of(name), found.arrays[name], wanted)
        if not verdict.accepted:
            return f"'{name}' {verdict.sentence}"
    return ""


def _with_nans_of(found: Output, expected: Output) -> Output:
    """What was found, in memory of unknown type with the other's doubles where both are NaN: which bits a NaN has is not defined."""
    made = {}
    for name, array in found.arrays.items():
        wanted = expected.arrays[name]
        if array.dtype == np.uint8 and array.size % 8 == 0 and array.size == wanted.size:
            ours, theirs = np.array(array).view("<f8"), np.array(wanted).view("<f8")
            array = np.where(np.isnan(ours) & np.isnan(theirs), theirs.view("<u8"), ours.view("<u8")).view(np.uint8)
        made[name] = array
    return replace(found, arrays=made)


class _Small:
    """Small random changes, the same for the same numbers, whoever runs the case."""

    def __init__(self, seed: int, number: int) -> None:
        self.drawn_from = (seed, number)
        self._whole = np.random.default_rng([seed, number])
        self._memory, self._numbers, self._shape = (self._whole.random(3) < (0.7, 0.5, 0.35)).tolist()
        self._seen: set[int] = set()
        self._launches = 0
        self.said: list[str] = []

    def made(self, execution: Execution, arena: Arena) -> Execution:
        """The launch, changed; memory that it is the first to meet is changed too."""
        loaded, launch = execution.loaded, execution.launch
        fixed = {
            a for n, a in loaded.variables.addresses.items()
            if n not in loaded.module.globals or "externally_initialized" not in loaded.module.globals[n].prefix
        }  # fmt: skip
        booleans = _read_as_booleans(execution, arena)
        for buffer in arena.buffers:
            if buffer.address not in self._seen and buffer.size:
                self._seen.add(buffer.address)
                random = np.random.default_rng([*self.drawn_from, *buffer.name.encode()])
                if self._memory and buffer.address not in fixed and random.random() < 0.5:
                    memory = arena.view(buffer)
                    self._change_memory(buffer.name, memory, arena, random)
                    if buffer.address in booleans:
                        np.minimum(memory, 1, out=memory)
        random = np.random.default_rng([*self.drawn_from, self._launches])
        self._launches += 1
        parameters = self._parameters(execution, arena, random) if self._numbers else launch.parameters
        grid, block, shared = launch.grid, launch.block, launch.shared_bytes
        if self._shape:
            grid = _other_extent(grid, random) if random.random() < 0.7 else grid
            block = _other_extent(block, random) if random.random() < 0.4 else block
            block = block if block[0] * block[1] * block[2] <= 1024 and block[2] <= 64 else launch.block
            shared = shared + 64 * int(random.integers(0, 3)) if shared else 0
            self.said.append(f"grid {launch.grid} -> {grid}, block {launch.block} -> {block}")
        return replace(execution, launch=Launch(launch.kernel, grid, block, parameters, shared))

    def _change_memory(self, name: str, memory: Any, arena: Arena, random: Random) -> None:
        width = int(random.choice([1, 2, 4, 4, 4, 8])) if memory.size % 4 == 0 else 1
        if memory.size < width or memory.size % width:
            return
        words = memory.view(f"<u{width}")
        many = random.random() < 0.3
        places = random.integers(0, words.size, max(1, words.size // 4) if many else int(random.integers(1, 4)))
        as_float = width in (4, 8) and random.random() < 0.5
        values = words.view(f"<f{width}") if as_float else words.view(f"<i{width}")
        places = places[~_are_pointers(memory, places * width // 8 * 8, arena)]
        old, another = values[places], values[random.integers(0, values.size, places.size)]
        with np.errstate(all="ignore"):
            half = (old * 0.5).astype(values.dtype)
            choices = np.stack([np.zeros_like(old), np.ones_like(old), -np.ones_like(old), old + 1, old - 1, -old, old * 2, another, half])  # fmt: skip
        values[places] = choices[random.integers(0, len(choices), places.size), np.arange(places.size)]
        self.said.append(f"'{name}' at {len(places)} places as {values.dtype}")

    def _parameters(self, execution: Execution, arena: Arena, random: Random) -> bytes:
        made = bytearray(execution.launch.parameters)
        kernel = execution.loaded.module.functions[execution.launch.kernel]
        for p in parameter_layout(kernel).parameters:
            if isinstance(p.type, PointerType) and not p.byval:
                continue
            step = 4 if p.byval else p.size
            for at in range(p.offset, p.offset + p.size - step + 1, step):
                eight = at // 8 * 8
                points = (
                    eight + 8 <= len(made) and arena.find(int.from_bytes(made[eight : eight + 8], "little")) is not None
                )
                if points or random.random() < 0.5 or step not in (1, 2, 4, 8):
                    continue
                old = int.from_bytes(made[at : at + step], "little", signed=True)
                is_float = p.type.text in ("float", "double") or (p.byval and random.random() < 0.4)
                if is_float and step in (4, 8):
                    code = "<f" if step == 4 else "<d"
                    (value,) = struct.unpack_from(code, made, at)
                    choices = [0.0, 1.0, -value, value * 2, value / 2, value + 1]
                    new = choices[random.integers(len(choices))]
                    if abs(new) < 3e38:
                        struct.pack_into(code, made, at, new)
                else:
                    choices = [0, 1, 2, old - 1, old + 1, old // 2, old * 2, -old, int(random.integers(0, 70))]
                    new = choices[random.integers(len(choices))] & ((1 << 8 * step) - 1)
                    made[at : at + step] = new.to_bytes(step, "little")
                self.said.append(f"parameter at {at} changed")
        return bytes(made)


def _read_as_booleans(execution: Execution, arena: Arena) -> set[int]:
    """Where the buffers start that hold nothing but ``bool``: the kernel loads bytes through their argument that it promises to be 0
    or 1, and so they are."""
    kernel, launch = execution.loaded.module.functions[execution.launch.kernel], execution.launch
    promised = [
        i for i in kernel.instructions()
        if i.opcode == "load" and isinstance(i.type, IntType) and i.type.bits == 8 and "range" in i.metadata
    ]  # fmt: skip
    parameters = parameter_layout(kernel).parameters if promised else ()
    found = set()
    for index in {argument for load in promised for argument in _arguments_behind(load.operands[0])}:
        p = parameters[index]
        buffer = arena.find(int.from_bytes(launch.parameters[p.offset : p.offset + p.size], "little"))
        if buffer is not None and not p.byval and arena.view(buffer).max(initial=0) <= 1:
            found.add(buffer.address)
    return found


def _arguments_behind(pointer: Value) -> set[int]:
    """Those that a pointer may come from."""
    found, seen, open_ends = set(), set(), [pointer]
    while open_ends:
        value = open_ends.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Argument):
            found.add(value.index)
        elif isinstance(value, Instruction) and value.opcode in ("getelementptr", "addrspacecast", "phi", "select"):
            open_ends += [one for one in value.operands if isinstance(one.type, PointerType)]
    return found


def _are_pointers(memory: Any, at: Any, arena: Arena) -> Any:
    """Of the eight bytes at each of ``at``, whether they are an address in one of the arena's buffers."""
    within = at + 8 <= memory.size
    found = memory[(np.where(within, at, 0)[:, None] + np.arange(8)).clip(max=memory.size - 1)].copy().view("<u8")[:, 0]
    starts = np.array([b.address for b in arena.buffers], np.uint64)
    ends = np.array([b.end for b in arena.buffers], np.uint64)
    owner = np.searchsorted(starts, found, side="right").astype(np.int64) - 1
    return within & (owner >= 0) & (found < ends[owner])


def _other_extent(extent: Triple, random: Random) -> Triple:
    made = list(extent)
    axis = int(random.integers(3))
    turn = int(random.integers(5))
    if turn == 0:
        made[axis] += 1
    elif turn == 1:
        made[axis] = max(1, made[axis] - 1)
    elif turn == 2:
        made[axis] *= 2
    elif turn == 3:
        made[axis] = max(1, made[axis] // 2)
    else:
        other = int(random.integers(3))
        made[axis], made[other] = made[other], made[axis]
    x, y, z = made
    return x, min(y, 65535), min(z, 65535)


if __name__ == "__main__":
    from tests.fuzz_variants.fuzz_runs import main

    main()
