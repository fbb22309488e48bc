"""A kind of edit, as one row: what JSON, drawing, listing, wording and invariants need to know of it.

Each kind has a file in ``edits/kinds`` that ends with its row, and a line in ``edits/table.py``. Nothing else names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, field, fields
from typing import Any, ClassVar, Protocol

from kernelwright.edits.dice import Dice
from kernelwright.edits.draft import Draft
from kernelwright.edits.instruction_words import Words
from kernelwright.edits.json_fields import Reader
from kernelwright.edits.original import Original
from kernelwright.guards import LaunchFacts
from kernelwright.lazy_dataclasses import dataclass

SAME_RESULT = "nothing: it computes the same"
"""What an edit relies on that takes nothing away."""
JUDGED_ALONE = "nothing takes another's place; the outputs are {alone} with this edit alone"
"""The same of an edit that may change results."""


class Edit(Protocol):
    """A frozen dataclass of plain values, with a docstring that says what it does. If it is about one instruction, that is its
    field ``subject`` or ``user``."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def apply(self, draft: Draft) -> str | None:
        """Changes the draft, or says why it cannot."""


@dataclass(frozen=True)
class Listing:
    """Edits of one kind that can be listed. Those of the lowest ``rank`` are tried first: by how often they pay, measured, and
    how few they are."""

    rank: int
    edits: Callable[[Original], Iterator[Edit]]


@dataclass(frozen=True, eq=False)
class EditKind:
    """A row. Raises ``ValueError`` when ``reads`` names other fields than the type has."""

    name: str
    """In JSON, in settings and in statistics: ``delete``."""
    type: type[Edit]
    in_words: Callable[[Original, Any], Words]
    """An edit of the kind in words, whether or not it applies."""
    reads: Mapping[str, Reader] = field(default_factory=dict)
    """By field of the type: how it is read from JSON."""
    draw: Callable[[Dice], Edit | None] | None = None
    """A random edit; None for none. A kind that has no draw is known or listed."""
    share: float = 0.0
    """How often it is drawn unless something else is asked for, in relation to the other kinds: by how often single edits of
    the kind paid, measured. 0: only where it is asked for."""
    in_paper: bool = False
    """Whether it is one of the six of paper 000, section 3.4."""
    listed: tuple[Listing, ...] = ()
    known: Callable[[Original, Sequence[LaunchFacts]], Iterator[Edit]] | None = None
    """The edits that keep the meaning wherever what all these launches had alike holds again. Nothing for no launches."""
    fixes_launch: bool = False
    """Whether it bakes something in that launches differ by: such an edit is good for one size."""
    keeps_meaning: bool = False
    """Whether an edit, where its guards hold, computes the same from any data, if it reads nothing that is not there and orders what
    depends on each other as before. What else is right in training may be right of these data alone."""
    relies_on: str = JUDGED_ALONE
    """What an edit relies on that takes no value, store or barrier away and has no guard. ``{alone}``: whether the outputs are
    right with this edit alone."""

    def __post_init__(self) -> None:
        names = {f.name for f in fields(self.type)}
        if names != self.reads.keys():
            raise ValueError(f"the row of {self.name} reads {sorted(self.reads)}, its fields are {sorted(names)}")
