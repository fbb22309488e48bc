"""What evaluation asks of a kind of candidate: how it is written, and how a program is built from it.

    kind.to_json(candidate), kind.from_json(value)     in the journal, and wherever else candidates are text
    kind.builder(modules, "sm_90").build(candidate)    the program as the candidate has it: a ``Variant``

A candidate is a value that can be hashed, compared and pickled: a genome, a vector of decisions, thresholds, the text of a
program. Evaluation looks no further. Kinds go to worker processes with the candidates, so they are pickled, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from kernelwright.evaluate.judging.variant import Variant
from kernelwright.ir import Module

C = TypeVar("C", bound=Hashable)
Built_contra = TypeVar("Built_contra", bound=Hashable, contravariant=True)


class Codec(Protocol[C]):
    """How candidates of one kind are written as JSON."""

    @property
    def name(self) -> str:
        """What a run's facts call this kind: the command that makes such runs, as ``breed``. Empty: any kind."""

    def to_json(self, candidate: C) -> Any:
        """A JSON value; equal candidates have equal ones."""

    def from_json(self, value: Any) -> C:
        """The candidate again. Raises ``Misuse`` for a value that ``to_json`` does not write."""


class Builder(Protocol[Built_contra]):
    """Builds the candidates of one program for one architecture. LLVM runs in this process and may end it."""

    def build(self, candidate: Built_contra) -> Variant:
        """The program. Raises ``IRError`` and ``CompileError`` for what LLVM refuses, ``Misuse`` for another program's candidate."""


class VariantKind(Codec[C], Protocol[C]):
    """Candidates from which variants of a workload's kernels are built."""

    @property
    def original(self) -> C:
        """The candidate that changes nothing. It is the only one that is empty: false, as a value and as JSON."""

    def builder(self, modules: Mapping[str, Module], arch: str) -> Builder[C]:
        """``modules``: the original program, by kernel the module that holds it, as a ``Workload`` has it."""

    def described(self, candidate: C) -> Sequence[tuple[str, str]]:
        """What it changes, for people: by kernel (mangled), one line each, in the candidate's order."""


class AsWritten:
    """The codec of those who read runs of any kind: candidates stay the JSON values they were written as."""

    @property
    def name(self) -> str:
        return ""

    def to_json(self, candidate: Any) -> Any:
        return candidate

    def from_json(self, value: Any) -> Any:
        return value
