"""Nested parallel computations, of which ``flattening.py`` makes programs of several versions (paper 003, section 2.2).

    Map("row", "rows", (                          for each row, all at once
        Fold("sum", "j", "columns", "x[row * columns + j]"),
        Map("j", "columns", (Code("x[row * columns + j] /= sum;"),)),
    ), scalars=(("float", "sum"),))

Texts are C, and the same in every version. Sizes are known to the host: they depend on the program's parameters and on loops
around the outermost map, which makes a program size-variant.
"""

from __future__ import annotations

from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """Statements for one element."""

    text: str


@dataclass(frozen=True)
class Fold:
    """A reduction into a scalar: ``target = operator(... operator(zero, term at 0) ..., term at size - 1)``."""

    target: str
    index: str
    size: str
    term: str
    operator: str = "add"
    """An associative function in C, which takes and returns two values of ``type``."""
    zero: str = "0.0f"
    type: str = "float"


@dataclass(frozen=True)
class Scan:
    """Inclusive prefixes in place, of ``size`` elements, the k-th of which is ``element`` with ``index`` at k."""

    index: str
    size: str
    element: str
    """An lvalue in C, as ``a[n - 1 - k]``."""
    operator: str = "add"
    type: str = "float"


@dataclass(frozen=True)
class Loop:
    """Iterations one after the other."""

    index: str
    count: str
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Map:
    """Iterations that are independent of each other."""

    index: str
    size: str
    body: tuple[Statement, ...]
    scalars: tuple[tuple[str, str], ...] = ()
    """Type and name of what each iteration has for itself."""
    arrays: tuple[tuple[str, str, str], ...] = ()
    """Type, name and length of its own arrays; of an outermost map only."""
    name: str = ""
    """What its guards are called by; for maps with parallelism inside."""
    at_most: str = ""
    """What ``size`` never exceeds, where it changes with a loop inside of another map: a block is made for that."""


Statement = Code | Fold | Scan | Loop | Map


@dataclass(frozen=True)
class Array:
    """An array that lasts for the whole program."""

    name: str
    length: str
    initial: str = "0"
    """Its element ``i``, in C; ``noise(i)`` is a number from 0 up to 1."""
    type: str = "float"


@dataclass(frozen=True)
class NestedProgram:
    """A whole program. Its arguments are the ``parameters``, whole numbers."""

    name: str
    line: str
    """What it computes, in a line."""
    parameters: tuple[str, ...]
    arrays: tuple[Array, ...]
    body: tuple[Loop | Map, ...]
    outputs: tuple[str, ...]
    """The arrays that are printed."""
    datasets: tuple[str, ...]
    """Two, as in Table 1 of the paper, scaled."""
    scale: str
    """What the scale is."""
    functions: str = ""
    """Device functions, in C."""
    large: tuple[str, ...] = ()
    """Datasets of about the size that the paper has; of Rodinia's or FinPar's, where it takes theirs."""


def has_parallelism(body: tuple[Statement, ...]) -> bool:
    """Whether something in ``body`` could run in parallel."""
    return any(
        not isinstance(each, Code | Loop) or (isinstance(each, Loop) and has_parallelism(each.body)) for each in body
    )


def widths(body: tuple[Statement, ...]) -> list[str]:
    """The sizes of what a block runs in parallel."""
    found: list[str] = []
    for each in body:
        if isinstance(each, Loop):
            found += widths(each.body)
        elif not isinstance(each, Code):
            found.append((each.at_most if isinstance(each, Map) else "") or each.size)
    return list(dict.fromkeys(found))
