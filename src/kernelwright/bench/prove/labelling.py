"""Proofs of planted variants, and the labels they give: a few seeds at a time, spread over processes.

    for part, labelled in labelled_parts(parts, workers): ...          # as they finish

A proof depends on its seed alone, so that the labels are the same on any number of cores.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from kernelwright.bench.prove.drawn_edits import DrawnEdit, label_edit
from kernelwright.bench.prove.families.family import Family, Member
from kernelwright.bench.prove.family_table import FAMILIES
from kernelwright.bench.prove.planted import SOUND, UNSAFE, Planted
from kernelwright.edits import Original
from kernelwright.errors import ToolError
from kernelwright.farm import Lost, Pool, Raised
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove import Prover
from kernelwright.prove.checked_run import Device
from kernelwright.prove.labels import LABELS, Label

AT_ONCE = 10
"""Seeds of a planted kernel that make a part."""
DRAWN_SEEDS = 10
"""Of a family: the seeds for which a drawn edit of the member's original is proven besides."""
TIMEOUT_S = 1800.0
"""Of a part: a hundred times what it takes."""


@dataclass(frozen=True)
class Part:
    """Some seeds of a planted kernel, or those of a family that prove one of its sound or unsafe members."""

    name: str
    sound: bool
    seeds: range
    family: bool


@dataclass
class Labelled:
    """The labels that were given, those that may not be, and the processor time of all proofs; and what came of drawn edits."""

    labels: Counter[Label] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0
    drawn: list[DrawnEdit] = field(default_factory=list)

    @property
    def proofs(self) -> int:
        """How many labels were given."""
        return self.labels.total()

    @property
    def proven(self) -> int:
        """How many got a label above clean."""
        return sum(count for label, count in self.labels.items() if LABELS.index(label) < LABELS.index("clean"))

    def add(self, other: Labelled) -> None:
        """Takes over what other proofs gave."""
        self.labels += other.labels
        self.wrong = sorted(self.wrong + other.wrong)
        self.seconds += other.seconds
        self.drawn += other.drawn


def parts_of(seeds: int) -> list[Part]:
    """Everything that is planted, in its order. What proves one member stays together, for its compiled kernels serve all its seeds."""
    some = [range(begin, min(begin + AT_ONCE, seeds)) for begin in range(0, seeds, AT_ONCE)]
    found = [Part(one.kernel, one in SOUND, each, False) for one in (*UNSAFE, *SOUND) for each in some]
    for family in FAMILIES:
        for sound, members in ((False, family.unsafe), (True, family.sound)):
            turns = (range(first, seeds, len(members)) for first in range(min(seeds, len(members))))
            found += [Part(family.name, sound, each, True) for each in turns]
    return found


def labelled_parts(parts: Sequence[Part], workers: int) -> Iterator[tuple[Part, Labelled]]:
    """Raises ``ToolError`` where a proof ends its process, and whatever else a proof raises."""
    with Pool(labelling, workers=max(1, min(workers, len(parts))), timeout_s=TIMEOUT_S) as pool:
        for index, found in pool.map(parts):
            if isinstance(found, Lost):
                raise ToolError(f"proving '{parts[index].name}' ended: {found.reason}")
            if isinstance(found, Raised):
                raise found.error
            yield parts[index], found


def labelling() -> Callable[[Part], Labelled]:
    """What a worker does with one part."""
    families = {family.name: family for family in FAMILIES}
    planted = {one.kernel: one for one in (*UNSAFE, *SOUND)}

    def work(part: Part) -> Labelled:
        if not part.family:
            return label_planted(planted[part.name], part.seeds)
        family = families[part.name]
        return label_members(family, family.sound if part.sound else family.unsafe, part.seeds, DRAWN_SEEDS)

    return work


def label_planted(planted: Planted, seeds: range) -> Labelled:
    """The labels that one variant gets."""
    original, variant, device, found = planted.original, planted.variant, Device(), Labelled()
    begin = time.process_time()
    for seed in seeds:
        label = Prover(planted.workload(seed), original, seed=seed, device=device).prove(variant).label
        found.labels[label] += 1
        if label != planted.label:
            found.wrong.append(f"{planted.kernel} with seed {seed} {label}")
    found.seconds = time.process_time() - begin
    return found


def label_members(family: Family, members: Sequence[Member], seeds: range, drawn_seeds: int = 0) -> Labelled:
    """The labels of one member for each seed, in turn; with an edit of its original for each of the first ``drawn_seeds``."""
    original, variants, device, found = family.original, family.variants, Device(), Labelled()
    for seed in seeds:
        begin = time.process_time()
        member = members[seed % len(members)]
        prover = Prover(family.workload(member, seed), original, seed=seed, device=device)
        changed = {member.kernel: variants[member.kernel]}
        label = prover.prove(changed, guards={member.kernel: member.guards}).label
        found.labels[label] += 1
        if not member.is_right(label):
            found.wrong.append(f"{member.kernel} with seed {seed} {label}")
        found.seconds += time.process_time() - begin
        if seed < drawn_seeds:
            drawn = label_edit(prover, Original(original[member.kernel], member.kernel), seed)
            found.drawn += [drawn] if drawn is not None else []
    return found
