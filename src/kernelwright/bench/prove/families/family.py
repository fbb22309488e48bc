"""A family: variants that make the same mistake in different ways, and sound ones that look like them.

    Family("loop never empty", "a loop is taken to run at least once", (Member(...), ...))

The sources of a family are compiled as one, once as they are and once with ``-DVARIANT``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from kernelwright.evaluate.judging.case_runner import Modules, by_kernel
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import RulesGiven, Workload
from kernelwright.guards import Guard
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove.labels import LABELS, Label

Random = np.random.Generator
FURTHER = 1_000_000
"""Seeds of further cases start here."""
SOUND: frozenset[Label] = frozenset({"clean", "as safe as the original"})
"""The second is what a sound variant of an original that races can have."""


@dataclass(frozen=True, eq=False)
class Member:
    """One variant. ``label``: the best one that it may get; those in ``SOUND`` say that it is sound."""

    kernel: str
    label: Label
    source: str
    case: Callable[[Random], Case]
    """Training data from a seed; further cases are made in the same way."""
    guards: tuple[Guard, ...] = ()
    tolerance: RulesGiven = 0.0

    @property
    def is_sound(self) -> bool:
        """Whether its best label is that of a sound variant."""
        return self.label in SOUND

    def is_right(self, label: Label) -> bool:
        """Whether a label is one that the variant may get: of a sound one its own or better, of an unsafe one its own or worse."""
        given, own = LABELS.index(label), LABELS.index(self.label)
        return given <= own if self.is_sound else given >= own


@dataclass(frozen=True, eq=False)
class Family:
    """``mistake``: what the unsafe members take for granted."""

    name: str
    mistake: str
    members: tuple[Member, ...]
    declarations: str = ""
    """What all of them share."""

    def __post_init__(self) -> None:
        names = [member.kernel for member in self.members]
        if len(set(names)) != len(names):
            raise ValueError(f"two members of '{self.name}' have one name")

    @property
    def unsafe(self) -> Sequence[Member]:
        """The members that make the mistake."""
        return [member for member in self.members if not member.is_sound]

    @property
    def sound(self) -> Sequence[Member]:
        """The members that do not make the mistake."""
        return [member for member in self.members if member.is_sound]

    @property
    def original(self) -> Modules:
        """The modules of all members without ``-DVARIANT``, by kernel."""
        return self._compiled[0]

    @property
    def variants(self) -> Modules:
        """The modules of all members with ``-DVARIANT``, by kernel."""
        return self._compiled[1]

    @cached_property
    def _compiled(self) -> tuple[Modules, Modules]:
        """Of one file, original and variants: a race is known by the name of its file too."""
        with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
            source = Path(folder) / "family.cu"
            source.write_text("\n".join([self.declarations, *(member.source for member in self.members)]))
            return by_kernel(compile_program(source).module), by_kernel(
                compile_program(source, define=["VARIANT"]).module
            )

    def workload(self, member: Member, seed: int) -> Workload:
        """Two training cases, and a generator of further ones that share everything but the values."""

        def case(number: int) -> Case:
            return member.case(np.random.default_rng([number, *member.kernel.encode()]))

        cases = (case(2 * seed), case(2 * seed + 1))
        return Workload(
            Path(__file__), member.kernel, cases, member.tolerance, generator=lambda number: case(FURTHER + number)
        )
