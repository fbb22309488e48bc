"""Random genomes of random kernels, held against runs: those that are proven must do what the original does on every launch that their
guards admit. It knows nothing of the prover; the slow executor says what a kernel does.

    python -m tests.prove.obligations.brute_force --kernels 1000

What the original does not mean anything on (a fault, a race, a read of memory that nobody wrote) is not asked. A proven variant is run
twice: as its edits leave it, and as LLVM makes it for a GPU, which shows where LLVM was told what does not hold.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kernelwright.device.arena import Arena
from kernelwright.device.reference import Translation, Watch, run_reference
from kernelwright.device.variables import load_variables
from kernelwright.edits import Edit, Original, apply, draw
from kernelwright.edits.gene_draw import with_edits
from kernelwright.edits.genome import Applied
from kernelwright.edits.kinds.loads.collect_loads import CollectLoads, collections
from kernelwright.edits.kinds.loads.collect_turns import CollectTurns, turns
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.guards import LaunchFacts
from kernelwright.ir import Module, parse_module
from kernelwright.launch import Launch
from kernelwright.passes.recipe import optimise_with
from kernelwright.prove.obligations.obligation import all_hold
from kernelwright.prove.obligations.owed import owed, provable_part
from kernelwright.prove.obligations.solver import Budget
from tests.prove.obligations.careless_edits import WITHOUT, Careless
from tests.prove.obligations.guarded_kernels import POINTERS, GuardedKernel

LAUNCHES = 24
SOLVER_UNITS = 2_000_000
STEPS = 20_000
ARCH = "sm_90"
BESIDE = {
    "constant-condition": 2.0,
    "replace-operand": 2.0,
    "delete": 2.0,
    "move": 2.0,
    "copy": 2.0,
    "swap": 1.0,
    "replace-instruction": 1.0,
    "hoist-loads": 2.0,
    "hoist-masked-loads": 2.0,
    "change-constant": 0.5,
    "unroll": 0.5,
}
"""Edits that stand beside the one that is looked at, by how often."""

Collected = CollectLoads | CollectTurns
Listed = Callable[[Original], Iterator[Collected]]

Seen = bytes | str
"""The memory that a launch left, or why it stopped."""


@dataclass
class Tally:
    """What came of the genomes."""

    genomes: int = 0
    proven: int = 0
    different: int = 0
    """Those that a launch told from the original, proven or not: of which the runs know."""
    inside: int = 0
    """Launches on which a proven one was held against its original."""
    wrong: list[str] = field(default_factory=list)
    """Proven, and told from the original."""

    def __str__(self) -> str:
        return (
            f"{self.genomes} genomes, {self.proven} proven, {len(self.wrong)} of these differ; {self.inside} launches inside their guards; "
            f"{self.different} of all differ on a launch"
        )


@dataclass(frozen=True)
class Tried:
    """A launch that the original means something on, what it left, and the seed that makes it again."""

    seed: str
    facts: LaunchFacts
    left: Seen


class Bench:
    """A kernel with its launches."""

    def __init__(self, made: GuardedKernel, arena: Arena, seed: int) -> None:
        self.original = Original(parse_module(made.text), "k")
        self._made, self._arena = made, arena
        plain = apply(self.original, ()).module
        self.tried = [
            Tried(name, facts, left)
            for name in (f"{seed} {number}" for number in range(LAUNCHES))
            for facts, left in [self._run(Kernel(plain, arena, is_watched=True), name)]
            if isinstance(left, bytes)
        ]

    def launches(self, number: int) -> list[LaunchFacts]:
        return [each.facts for each in self.tried[:number]]

    def differs(self, module: Module, guards: Applied) -> tuple[int, str]:
        """How many launches the guards admit; and the first on which a module leaves something else than the original, with what it is."""
        kernel, inside = Kernel(module, self._arena), 0
        for each in self.tried:
            if all(guard.holds(each.facts) for guard in guards.guards):
                inside += 1
                _, left = self._run(kernel, each.seed)
                if left != each.left:
                    launch = each.facts.launch
                    return (
                        inside,
                        f"launch {each.seed}, {launch.block[0]} threads: {left if isinstance(left, str) else 'other memory'}",
                    )
        return inside, ""

    def _run(self, kernel: Kernel, seed: str) -> tuple[LaunchFacts, Seen]:
        with self._made.launch(random.Random(seed), self._arena) as given:
            facts = given.facts(self.original.function)
            stopped = kernel.run(given.launch)
            # Two pointers may share memory, which is read twice then.
            left = b"".join(bytes(self._arena.bytes(each.start, each.bytes)) for each in given.memory)
        return facts, stopped or left


class Kernel:
    """A module that is launched often."""

    def __init__(self, module: Module, arena: Arena, *, is_watched: bool = False) -> None:
        self._arena, self._is_watched = arena, is_watched
        self._code = Translation(module, "k", load_variables(module, arena), watched=is_watched)

    def run(self, launch: Launch) -> str:
        """Why a launch stopped, or, where it is watched, what it did that nobody may; empty for none."""
        watch = Watch() if self._is_watched else None
        ran = run_reference(
            self._code, "k", launch.grid, launch.block, launch.parameters, self._arena, budget=STEPS, watch=watch
        )
        return str(ran.fault) if ran.fault else ran.findings[0].kind if ran.findings else ""


def hold(seed: int, arena: Arena, tally: Tally, genomes: int = 4, listed: Listed = collections) -> None:
    """Some genomes of one kernel, each with one of the edits that are ``listed``."""
    numbers, made, mark = random.Random(seed), GuardedKernel(seed), arena.next_address
    bench = Bench(made, arena, seed)
    places = list(listed(bench.original))
    for _ in range(genomes if places and bench.tried else 0):
        edits = list(_genome(bench.original, places, numbers))
        _held(bench, edits, numbers, tally, f"kernel {seed}")
    arena.rewind(mark)


def _genome(original: Original, places: Sequence[Collected], numbers: random.Random) -> Iterator[Edit]:
    """Loads collected in one place or two, those of one block below with all care or without some, anywhere among other edits."""
    ends = [ids[-1] for block, ids in enumerate(original.order) if original.reachable[block]]
    collected: list[Edit] = [numbers.choice(places)]
    if numbers.random() < 0.3:
        collected.append(CollectLoads(numbers.choice(ends)))
    if isinstance(collected[0], CollectLoads) and numbers.random() < 0.4:
        place = numbers.choice(places).subject if numbers.random() < 0.5 else numbers.choice(ends)
        collected[0] = Careless(place, numbers.choice(list(WITHOUT)))
    made: list[Edit] = []
    # What is careless alone is often called right by a prover that overlooks it; beside much else, hardly anything is.
    beside = numbers.choice((0, 0, 1) if isinstance(collected[0], Careless) else (0, 1, 1, 2, 3))
    for _ in range(beside + len(collected)):
        more = collected.pop() if collected and numbers.random() < 0.6 else None
        if more is None and numbers.random() < 0.3:
            more = NoAlias(numbers.randrange(POINTERS + 1))
        if more is None:
            more = draw(with_edits(original, tuple(made)), numbers, operators=BESIDE)
        made += [more] if more is not None else []
    yield from (*made, *collected)


def _held(bench: Bench, edits: list[Edit], numbers: random.Random, tally: Tally, name: str) -> None:
    original, tally.genomes = bench.original, tally.genomes + 1
    # Mostly by construction alone: questions to the solver take most of the time.
    units = SOLVER_UNITS if numbers.random() < 0.2 else 0
    is_proven = all_hold(owed(original, edits, budget=Budget(units), arch=ARCH))
    if not is_proven and numbers.random() < 0.07:
        # As a search does: what is proven of it, with guards that admit the launches in training.
        edits = provable_part(original, edits, bench.launches(3), units=SOLVER_UNITS, arch=ARCH)
        is_proven = any(isinstance(edit, CollectLoads | CollectTurns | Careless) for edit in edits) and all_hold(
            owed(original, edits, budget=Budget(), arch=ARCH)
        )
    applied = apply(original, edits)
    inside, why = bench.differs(applied.module, applied)
    if is_proven and not why:
        text = optimise_with(applied.text, applied.recipe, ARCH)
        after = bench.differs(parse_module(text), applied)[1]
        why = f"after LLVM's passes: {after}" if after else ""
    tally.proven += is_proven
    tally.inside += inside if is_proven else 0
    tally.different += bool(why)
    if is_proven and why:
        tally.wrong.append(f"{name}, {edits}: {why}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first")
    parser.add_argument(
        "--turns", action="store_true", help="loads of several turns of a loop, not those below a block"
    )
    options = parser.parse_args()
    tally, begin = Tally(), time.monotonic()
    with Arena() as arena:
        for number in range(options.first, options.first + options.kernels):
            before = len(tally.wrong)
            hold(number, arena, tally, listed=turns if options.turns else collections)
            for wrong in tally.wrong[before:]:
                print(wrong, flush=True)
            if number % 100 == 99:
                print(f"{number + 1} kernels: {tally} ({time.monotonic() - begin:.0f} s)", flush=True)
    print(tally)


if __name__ == "__main__":
    main()
