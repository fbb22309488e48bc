"""Random edit sequences over the kernels of the suite: whatever subset, in whatever order, LLVM accepts what comes out.

A sequence is a genome of up to 14 edits of every kind, drawn on the original and on what earlier edits made of it; what is
checked is the genome as drawn, and a part of it in another order. Every tenth is also checked by our own verifier, and
goes through the post-passes. Two worker processes; an interrupted run goes on where it was.

Promises: nothing refused, no exception, no crash; a draw and the application of a genome stay as quick as evolution needs.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Any

from kernelwright.bench.result import Measured, Say
from kernelwright.cache import cache_folder, content_key
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.edits import (
    DRAWN,
    KNOWN,
    OPERATORS,
    Edit,
    Genome,
    LaunchFacts,
    Original,
    apply,
    draw,
    dumps,
    kind_of,
    known_edits,
    loads,
)
from kernelwright.edits.table import BY_NAME
from kernelwright.errors import KernelwrightError
from kernelwright.evaluate.judging.variant import alone
from kernelwright.farm.pool import Pool
from kernelwright.ir import verify
from kernelwright.ir.types import FloatType, IntType
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.llvm import check
from kernelwright.passes.recipe import optimise_with
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import NAMES, load

SEQUENCES = 100_000
CHUNK = 200
"""Sequences that one item of the pool is."""
WORKERS = 2
LONGEST = 14
EVERY_KIND = dict.fromkeys([*DRAWN, KNOWN], 1.0)
THOROUGH = 10
"""Every so many sequences our verifier and the post-passes see it, too."""
ARCH = "sm_80"


def suite_kernels() -> list[Original]:
    """Every kernel of the suite, each from a module of its own."""
    found = []
    for name in NAMES:
        program = load(name)
        options = CompileOptions(
            source=SourceOptions(
                arch=ARCH,
                include=tuple(f[2:] for f in program.flags if f.startswith("-I")),
                define=tuple(f[2:] for f in program.flags if f.startswith("-D")),
            )
        )
        sources = [p for p in program.source_paths if p.suffix == ".cu"]
        for unit in compile_program(sources, options=options).units:
            found += [Original(alone(unit.module, k.name), k.name) for k in unit.module.kernels]
    return found


def some_known(original: Original, rng: random.Random) -> list[Edit]:
    """What would be known of a kernel after one launch that was made up."""
    arguments = []
    for argument in original.function.arguments:
        size = argument.type.bits // 8 if isinstance(argument.type, IntType) else 8
        size = 4 if isinstance(argument.type, FloatType) and argument.type.kind == "float" else size
        arguments.append(rng.choice((0, 1, 16, 1000)).to_bytes(max(size, 1), "little"))
    regions = tuple(range(n << 20, (n << 20) + 64) for n, _ in enumerate(arguments))
    block = rng.choice(((16, 16, 1), (256, 1, 1), (1, 1, 1)))
    return known_edits(
        {"": original}, {"": [LaunchFacts(Launch("", (rng.randint(1, 9), 1, 1), block), tuple(arguments), regions)]}
    )[""]


def random_genome(original: Original, rng: random.Random, longest: int = LONGEST) -> Genome:
    """Edits of every kind, drawn on the original and on what earlier ones made of it."""
    known = some_known(original, rng)
    edits: list[Edit] = []
    draft = apply(original, ()).draft
    for _ in range(rng.randint(1, longest)):
        edit = draw(draft, rng, operators=EVERY_KIND, known=known)
        assert edit is not None, "every kernel of the suite can be edited"
        edits.append(edit)
        if rng.random() < 0.4:
            draft = apply(original, edits).draft
    return tuple(edits)


@dataclass
class Tally:
    """What came of some sequences."""

    sequences: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    inert: int = 0
    checked: int = 0
    refused: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Takes over what came of other sequences."""
        self.sequences += other.sequences
        self.kinds += other.kinds
        self.inert += other.inert
        self.checked += other.checked
        self.refused += other.refused


def run_sequence(originals: list[Original], seed: int, tally: Tally) -> None:
    """One sequence; what is refused is told with its seed and edits."""
    rng = random.Random(seed)
    original = rng.choice(originals)
    try:
        edits = random_genome(original, rng)
        tally.kinds.update(kind_of(e) for e in edits)
        if loads(dumps(edits)) != edits:
            tally.refused.append(f"seed {seed}: JSON and back gives other edits")
        for genome in (edits, tuple(rng.sample(edits, rng.randint(1, len(edits))))):
            _accept(original, genome, seed % THOROUGH == 0, tally)
    except (
        KernelwrightError,
        ArithmeticError,
        LookupError,
        AssertionError,
        ValueError,
        TypeError,
        AttributeError,
    ) as error:
        tally.refused.append(f"seed {seed}, {original.kernel}: {type(error).__name__}: {str(error)[:200]}")
    tally.sequences += 1


def _accept(original: Original, genome: Genome, thorough: bool, tally: Tally) -> None:
    applied = apply(original, genome)
    if thorough:  # our verifier first: LLVM ends the process on some modules that it refuses
        verify(applied.module)
        optimise_with(applied.text, applied.recipe, ARCH)
    else:
        check(applied.text)
    tally.inert += len(applied.inert)
    tally.checked += 1


def prepare() -> Callable[[tuple[int, int]], Tally]:
    """The work of one worker: sequences from one seed to another."""
    originals = suite_kernels()

    def work(seeds: tuple[int, int]) -> Tally:
        tally = Tally()
        for seed in range(*seeds):
            run_sequence(originals, seed, tally)
        return tally

    return work


def measure(quick: bool, say: Say) -> Measured:
    """``quick``: 2,000 sequences."""
    result = Measured("edits")
    count = 2_000 if quick else SEQUENCES
    total, lost = Tally(), list[str]()
    begin, done = time.monotonic(), 0
    with Progress(count) as progress:
        total.add(progress.before)
        if total.sequences:
            say(f"{total.sequences} of {count} sequences were done before")
        for seeds, tally in run_chunks(progress.left):
            done += CHUNK
            if isinstance(tally, Tally):
                total.add(tally)
                progress.note(seeds, tally)
            else:
                lost.append(f"seeds {seeds[0]} to {seeds[1] - 1}: {tally}")
            if done % (10 * CHUNK) == 0:
                say(f"{total.sequences} of {count} sequences, {done / (time.monotonic() - begin):.0f} per second")
    for kind in BY_NAME:
        result.rows.append({"edit": kind, "drawn": total.kinds[kind]})
    result.rows.append({"edit": "all", "drawn": total.kinds.total(), "variants": total.checked, "inert": total.inert})
    result.notes += total.refused[:10] + lost[:10]
    result.at_least("edits: sequences", total.sequences, count)
    result.at_most("edits: refused by LLVM, or an exception", len(total.refused), 0)
    result.at_most("edits: crashes", len(lost), 0)
    result.at_least("edits: kinds drawn", len(total.kinds), len(BY_NAME))
    _costs(result, say)
    return result


def run_chunks(chunks: list[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], Any]]:
    """Each chunk's tally as it is done, or why it is lost."""
    with Pool(prepare, workers=WORKERS, timeout_s=600.0, shared=True) as pool:
        for index, answer in pool.map(chunks):
            yield chunks[index], answer


class Progress:
    """What is done, in a file, as long as the benchmark has not come to its end. Another version's is not looked at."""

    def __init__(self, count: int) -> None:
        room = Path(__file__).parents[1] / "edits"
        sources = [path.read_text() for path in (*sorted(room.glob("*.py")), Path(__file__))]
        self.path = cache_folder() / "bench" / f"edits-{content_key([str(count), *sources])[:16]}.jsonl"
        self.before = Tally()
        self.left = [(seed, min(seed + CHUNK, count)) for seed in range(0, count, CHUNK)]

    def __enter__(self) -> Progress:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    row = json.loads(line)
                except ValueError:
                    continue  # the line that was being written
                seeds = tuple(row.pop("seeds"))
                if seeds in self.left:
                    self.left.remove(seeds)
                    self.before.add(Tally(**row | {"kinds": Counter(row["kinds"])}))
        self._file = self.path.open("a")
        return self

    def note(self, seeds: tuple[int, int], tally: Tally) -> None:
        """Appends to the file what came of the ``seeds`` (first, and one past the last)."""
        self._file.write("\n" + json.dumps({"seeds": seeds, **tally.__dict__}))
        self._file.flush()

    def __exit__(self, kind: object, *_: object) -> None:
        self._file.close()
        if kind is None:
            self.path.unlink()


def _costs(result: Measured, say: Say) -> None:
    """Milliseconds of processor time: to draw an edit on a variant, and to apply, repair and print a genome."""
    originals = sorted(suite_kernels(), key=lambda k: len(k.nodes))
    for original in [originals[0], originals[len(originals) // 2], originals[-1]]:
        say(f"timing {original.kernel}")
        drawn, applied = cost(original)
        thousands = max(1.0, len(original.nodes) / 1000)
        size = {"kernel": original.kernel, "instructions": len(original.nodes)}
        result.rows.append({**size, "draw_ms": round(drawn, 3), "apply_ms": round(applied, 3)})
        result.at_most(f"edits: draw, ms, {len(original.nodes)} instructions", drawn, 0.2 * thousands)
        result.at_most(f"edits: apply, ms, {len(original.nodes)} instructions", applied, 3.6 * thousands)


def cost(original: Original, rounds: int = 40) -> tuple[float, float]:
    """The medians over genomes of 1 to 30 edits, weighted draws on what the genomes make."""
    rng = random.Random(0)
    weights = {id: rng.random() for id in original.nodes}
    drawing, applying = [], []
    for _ in range(rounds):
        found = [draw(original, rng, weights=weights, operators=OPERATORS) for _ in range(rng.randint(1, 30))]
        edits = [e for e in found if e is not None]
        begin = time.process_time()
        draft = apply(original, edits).draft
        middle = time.process_time()
        draw(draft, rng, weights=weights, operators=OPERATORS)
        applying.append(middle - begin)
        drawing.append(time.process_time() - middle)
    return 1e3 * statistics.median(drawing), 1e3 * statistics.median(applying)
