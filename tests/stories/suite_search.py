"""Suite programs for tests of what a search finds: recorded, judged, searched and proven in this process."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

from kernelwright.device.settings import virtual_gpu
from kernelwright.edits import Gene, Id, Original
from kernelwright.edits.edit_words import Words, in_words
from kernelwright.edits.kinds.delete import Delete
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.select_launches import choose, look
from kernelwright.evaluate.judging.demands import Accept, Demands
from kernelwright.evaluate.judging.fitness import Fitness
from kernelwright.evaluate.outcome import Ok, Rejected
from kernelwright.evaluate.run.settings import RunSettings
from kernelwright.evaluate.workload.subject import Chosen, Recordings
from kernelwright.evolution.genomes import GENOMES, Genes
from kernelwright.evolution.proposals import Proposals
from kernelwright.prove import Effort, Proof, Prover
from kernelwright.suite import load
from kernelwright.suite.evolving import DATA_SETS

DEVICE = "h200"
EFFORT = Effort(changes=12, tries=40)

Inputs = Callable[[Path], tuple[str, ...]]
"""Writes a data set into a folder, and returns the program's arguments there."""


def recordings(name: str, folder: Path, data: Sequence[Inputs] = (), kernels: Sequence[str] = ()) -> Recordings:
    """A suite program on ``data``, or on the data sets that it is evolved on. ``kernels``: the only ones looked at."""
    program = load(name)
    sets = data or [
        lambda inside, size=size, seed=seed: program.generate(inside, size, seed) for size, seed in DATA_SETS
    ]
    paths: list[str] = []
    chosen: list[Chosen] = []
    for number, inputs in enumerate(sets):
        inside = folder / f"{name}-{number}"
        inside.mkdir(parents=True)
        target = folder / f"{name}-{number}.capture"
        command = [sys.executable, "-m", "kernelwright", "capture", "-o", str(target), *program.flags]
        command += [*map(str, program.source_paths), "--", *inputs(inside)]
        done = subprocess.run(command, cwd=inside, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        paths.append(str(target))
        with Capture.read(target) as capture:
            chosen += choose(number, look(capture, kernels))
    return Recordings(tuple(paths), tuple(chosen))


class Searched:
    """A program, what a search would ask about it, and what comes of that."""

    def __init__(self, subject: Recordings, *, seed: int = 1) -> None:
        self.subject = subject
        self.seed = seed
        self.workload = subject.workload()
        self._judges: dict[Accept, Fitness] = {}

    def judge(self, accept: Accept) -> Fitness:
        if accept not in self._judges:
            made = Fitness(self.workload, virtual_gpu(DEVICE), Demands(accept, self.seed), kind=GENOMES)
            made.reference()
            self._judges[accept] = made
        return self._judges[accept]

    @property
    def originals(self) -> Mapping[str, Original]:
        return self.judge("any").builder.originals

    def place(self, kernel: str, id: Id) -> str:
        """``nw.cu:47``"""
        return self.words(Gene(kernel, Delete(id))).place

    @cached_property
    def proposals(self) -> Proposals:
        return self.proposals_of("default")

    def proposals_of(self, preset: str) -> Proposals:
        settings = RunSettings(preset=preset, device=DEVICE, evaluations=1, seed=self.seed)
        return Proposals(self.workload, self.originals, settings)

    @cached_property
    def prover(self) -> Prover:
        builder = self.judge("any").builder
        return Prover(self.workload, builder.build(()).modules, seed=self.seed, effort=EFFORT)

    def listed(self, *kinds: str) -> list[Gene]:
        """Those of some kinds among the genes that the scan of every search asks about."""
        return [gene for gene in self.proposals.scan() if gene.kind in kinds]

    def drawn(self, count: int, preset: str = "gevo") -> list[Gene]:
        """Genes drawn for the original from the seed, each once."""
        proposals, dice = self.proposals_of(preset), random.Random(self.seed)

        def endless() -> Iterator[Gene]:
            while (gene := proposals.draw(dice, ())) is not None:
                yield gene

        return list(dict.fromkeys(islice(endless(), count)))

    def speedup(self, candidate: Genes, accept: Accept = "any") -> float | Rejected:
        """How much faster than the original, or why it is not accepted."""
        judge = self.judge(accept)
        outcome = judge.evaluate(candidate).outcome
        if isinstance(outcome, Rejected):
            return outcome
        original = judge.evaluate(()).outcome
        assert isinstance(original, Ok)
        return min(original.time_us, judge.as_compiled_us) / outcome.time_us

    def gain(self, candidate: Genes, accept: Accept = "any") -> float:
        """The same as a number: 0 for what is not accepted."""
        found = self.speedup(candidate, accept)
        return 0.0 if isinstance(found, Rejected) else found

    def proof(self, candidate: Genes) -> Proof:
        variant = self.judge("any").builder.build(candidate)
        changed = {gene.kernel: variant.modules[gene.kernel] for gene in candidate}
        return self.prover.prove(changed, guards=variant.guards, speedup=self.gain(candidate))

    def words(self, gene: Gene) -> Words:
        return in_words(self.originals[gene.kernel], gene.edit)
