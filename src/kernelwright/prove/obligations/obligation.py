"""An obligation: a sentence that has to hold in every launch that the guards admit, for the variant to mean what the original does.

settled   by construction   the kind of edit keeps the meaning; its docstring says why
          by the solver     no run of the original refutes it (for all inputs)
open      tested            it could not be settled: the tests are all there is
          refuted           the solver found values that make it false; they may be spurious where data decide
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from kernelwright.lazy_dataclasses import dataclass

Method = Literal["construction", "solver", "tested", "refuted"]
METHODS: tuple[Method, ...] = get_args(Method)

IN_WORDS: dict[Method, str] = {
    "construction": "holds by construction",
    "solver": "proven by the solver",
    "tested": "not provable",
    "refuted": "refuted",
}


@dataclass(frozen=True)
class Obligation:
    """Raises ``ValueError`` for a method that there is not."""

    claim: str
    method: Method
    reason: str
    """The argument; or why it could not be settled."""
    kernel: str = ""
    """Its mangled name."""
    place: str = ""
    """``nw.cu:47``, where it is known."""
    subject: str = ""
    """The instruction it is about: its number in the original, or the name of a copy."""
    guards: tuple[str, ...] = ()
    """Guards that it takes and that the variant does not have yet, as JSON (``guards/guard_json.py``)."""
    seconds: float = 0.0
    """Of processor time that the solver took, the search for guards and for a counterexample that can be tried included."""
    counterexample: tuple[tuple[str, int], ...] = ()
    """By name of an input, the value that refutes it."""

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"{self.method!r} settles nothing; there are {', '.join(METHODS)}")

    @property
    def holds(self) -> bool:
        """Whether it is settled for all launches: by construction or by the solver."""
        return self.method in ("construction", "solver")

    def as_json(self) -> dict[str, Any]:
        """Only what applies."""
        written: dict[str, Any] = {"claim": self.claim, "method": self.method, "reason": self.reason}
        written |= {n: v for n in ("kernel", "place", "subject", "seconds") if (v := getattr(self, n))}
        if self.guards:
            written["guards"] = list(self.guards)
        if self.counterexample:
            written["counterexample"] = dict(self.counterexample)
        return written

    def __str__(self) -> str:
        took = f" in {1000 * self.seconds:.0f} ms" if self.seconds else ""
        values = ", ".join(f"{name} = {value}" for name, value in self.counterexample)
        against = f" ({values})" if values else ""
        return f"{self.claim}: {IN_WORDS[self.method]}{took} - {self.reason}{against}"


def obligation_from_json(value: Mapping[str, Any]) -> Obligation:
    """The obligation that ``as_json`` wrote. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
    return Obligation(
        str(value["claim"]),
        value["method"],
        str(value["reason"]),
        str(value.get("kernel", "")),
        str(value.get("place", "")),
        str(value.get("subject", "")),
        tuple(map(str, value.get("guards", ()))),
        float(value.get("seconds", 0.0)),
        tuple((str(name), int(number)) for name, number in value.get("counterexample", {}).items()),
    )


def solver_seconds(obligations: Iterable[Obligation]) -> float:
    """What the solver took for all of them."""
    return sum(one.seconds for one in obligations)


def all_hold(obligations: Iterable[Obligation]) -> bool:
    """Whether all of them hold; true of none."""
    return all(one.holds for one in obligations)
