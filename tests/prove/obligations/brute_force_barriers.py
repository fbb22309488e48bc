"""Barriers of random kernels made narrow, or taken away, held against runs: those that are proven must not race, and leave what was left.

    python -m tests.prove.obligations.brute_force_barriers --kernels 500

The slow executor watches every access. Originals race on no launch that is looked at; variants run on the same ones, in several orders.
"""

from __future__ import annotations

import argparse
import random
import struct
import time
from dataclasses import dataclass, field

import numpy as np

from kernelwright.device.arena import Arena
from kernelwright.device.reference import Translation, Watch, run_reference
from kernelwright.device.schedule import Schedule
from kernelwright.device.variables import load_variables
from kernelwright.edits import Edit, Original, apply
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.narrow_barrier import NarrowBarrier
from kernelwright.edits.kinds.warp_barriers import is_block_barrier
from kernelwright.guards import Guard, LaunchFacts
from kernelwright.ir import Module, parse_module
from kernelwright.launch import Launch
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed
from kernelwright.prove.obligations.solver import Budget
from tests.prove.obligations.shared_kernels import shared_kernel

BLOCKS = (128, 96, 64, 33, 32)
MOST = max(BLOCKS)
ORDERS = (Schedule.forward(), Schedule.reverse(), Schedule.random(1))
SOLVER_UNITS = 3_000_000
STEPS = 20_000


@dataclass
class Tally:
    """What came of the variants."""

    kernels: int = 0
    """Those whose original does not race."""
    variants: int = 0
    proven: int = 0
    narrow: int = 0
    """Proven, and with a barrier that is one of each warp."""
    racing: int = 0
    wrong: list[str] = field(default_factory=list)
    """Proven, and told from the original."""

    def __str__(self) -> str:
        return (
            f"{self.kernels} kernels, {self.variants} variants, {self.proven} proven, {self.narrow} of these with narrow barriers, "
            f"{len(self.wrong)} differ; {self.racing} of all race or differ"
        )


@dataclass(frozen=True)
class Row:
    """A launch of one block, of one row of threads; ``data`` are indexes below the threads there may be."""

    threads: int
    data: tuple[int, ...]
    number: int

    def facts(self) -> LaunchFacts:
        return LaunchFacts(Launch("k", (1, 1, 1), (self.threads, 1, 1)), ())


def hold(seed: int, arena: Arena, tally: Tally, variants: int = 4) -> None:
    """Some variants of one kernel."""
    numbers, mark = random.Random(seed), arena.next_address
    original = Original(parse_module(shared_kernel(seed)), "k")
    barriers = original.those(is_block_barrier)
    rows = [
        Row(threads, tuple(numbers.randrange(MOST) for _ in range(MOST)), numbers.choice((0, 1, 20, 32, 40, 200)))
        for threads in BLOCKS
    ]
    plain = apply(original, ()).module
    expected = _left(plain, rows, (), arena)
    if expected is not None:
        tally.kernels += 1
        for _ in range(variants):
            edits = [_edit(barrier, numbers) for barrier in barriers if numbers.random() < 0.4]
            if edits:
                _held(original, edits, rows, expected, arena, tally, f"kernel {seed}")
    arena.rewind(mark)


def _edit(barrier: object, numbers: random.Random) -> Edit:
    made: Edit = (DeleteBarrier if numbers.random() < 0.2 else NarrowBarrier)(barrier)  # type: ignore[arg-type]
    return made


def _held(
    original: Original, edits: list[Edit], rows: list[Row], expected: list[bytes], arena: Arena, tally: Tally, name: str
) -> None:
    applied = apply(original, edits)
    is_proven = all_hold(owed(original, edits, budget=Budget(SOLVER_UNITS)))
    differs = _left(applied.module, rows, applied.guards, arena) != expected
    tally.variants += 1
    tally.proven += is_proven
    tally.narrow += is_proven and any(isinstance(edit, NarrowBarrier) for edit in edits)
    tally.racing += differs
    if is_proven and differs:
        tally.wrong.append(f"{name}, {edits}")


def _left(module: Module, rows: list[Row], guards: tuple[Guard, ...], arena: Arena) -> list[bytes] | None:
    """What each launch leaves, in the first order; None where one races, faults, or leaves something else in another."""
    if not all(guard.holds(row.facts()) for guard in guards for row in rows):
        raise AssertionError("these launches are inside all guards that such edits have")
    loaded = load_variables(module, arena)
    watched, plain = (Translation(module, "k", loaded, watched=each) for each in (True, False))
    found = []
    for row in rows:
        of_row = {_run(watched if n == 0 else plain, row, order, arena) for n, order in enumerate(ORDERS)}
        if len(of_row) > 1 or None in of_row:
            return None
        found += [each for each in of_row if each is not None]
    return found


def _run(code: Translation, row: Row, order: Schedule, arena: Arena) -> bytes | None:
    mark = arena.next_address
    p, q = arena.allocate(4 * MOST, "p"), arena.allocate(4 * MOST, "q")
    arena.view(p, np.int32)[:] = row.data
    arena.view(q)[:] = 0
    watch = Watch() if code.program.watched else None
    parameters = struct.pack("<QQi", p.address, q.address, row.number)
    ran = run_reference(
        code, "k", (1, 1, 1), (row.threads, 1, 1), parameters, arena, schedule=order, budget=STEPS, watch=watch
    )
    left = arena.view(q).tobytes()
    arena.rewind(mark)
    # What the first steps have not set is no matter of barriers: all read it alike.
    races = any(found.kind == "race" for found in ran.findings)
    return None if ran.fault or races else left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first")
    options = parser.parse_args()
    tally, begin = Tally(), time.monotonic()
    with Arena() as arena:
        for number in range(options.first, options.first + options.kernels):
            before = len(tally.wrong)
            hold(number, arena, tally)
            for wrong in tally.wrong[before:]:
                print(wrong, flush=True)
            if number % 25 == 24:
                print(f"{number + 1}: {tally} ({time.monotonic() - begin:.0f} s)", flush=True)
    print(tally)


if __name__ == "__main__":
    main()
