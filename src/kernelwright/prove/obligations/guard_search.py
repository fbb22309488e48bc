"""The weakest guard found under which something can be proven: atoms that held in all recorded launches, dropped one by one.

atoms     argument == v where all launches had it alike, else its least and most; the block's and the grid's extents likewise; for each
          pointer, bytes behind it >= what there was least of, and >= size * the threads or blocks of the grid where that held;
          that it shares no memory
search    all atoms at once: if that is not enough, no guard is found. Then each is dropped, or == widened to >= or <=, if the rest do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kernelwright.guards import Apart, Guard, LaunchFacts
from kernelwright.ir import Function
from kernelwright.ir.types import IntType, PointerType
from kernelwright.launch_relations import LaunchRelation, Product, Quantity, Relation, value_of

MOST_TRIES = 40
"""Proofs that a search may take."""


Atom = LaunchRelation | Apart


def atoms(function: Function, launches: Sequence[LaunchFacts], sizes: Sequence[int]) -> list[Atom]:
    """What held in all launches, the likeliest to be dropped first. ``sizes``: of the elements that are read, in bytes."""
    found: list[Atom] = []
    numbers = list(_numbers(function))
    for quantity in numbers:
        values = [quantity.of(facts) for facts in launches]
        known = [value for value in values if value is not None]
        if len(known) == len(values) and known:
            found += _of_range(quantity, min(known), max(known))
    threads = [(Quantity("grid", axis), Quantity("block", axis)) for axis in range(3)]
    for index, argument in enumerate(function.arguments):
        if not isinstance(argument.type, PointerType) or "byval" in argument.attributes:
            continue
        behind = Quantity("bytes", index)
        sides = [(q,) for pair in threads for q in pair] + threads + [(*threads[0], *threads[1])]
        sides += [(q,) for q in numbers if q.source == "argument"]
        sides += [(p, q) for p in numbers for q in numbers if p.source == q.source == "argument" and p <= q]
        for size in dict.fromkeys(sizes):
            for side in sides:
                atom = Relation((Product(1, (behind,)),), ">=", (Product(size, side),))
                if launches and all(atom.holds(facts) for facts in launches) and _says_something(atom, launches):
                    found.append(atom)
        if launches and all(Apart(index).holds(facts) for facts in launches):
            found.append(Apart(index))
    return found


def _says_something(atom: Relation, launches: Sequence[LaunchFacts]) -> bool:
    """Whether the size it asks for is not far below what there was: such an atom would hold by accident."""
    left, right = value_of(atom.left, launches[0]), value_of(atom.right, launches[0])
    return left is not None and right is not None and 4 * right >= left


def _numbers(function: Function) -> Iterator[Quantity]:
    for index, argument in enumerate(function.arguments):
        if isinstance(argument.type, IntType) and argument.type.bits in (8, 16, 32, 64):
            yield Quantity("argument", index, 0, argument.type.bits // 8)
    for source in ("grid", "block"):
        for axis in range(3):
            yield Quantity(source, axis)
    for index, argument in enumerate(function.arguments):
        if isinstance(argument.type, PointerType) and "byval" not in argument.attributes:
            yield Quantity("bytes", index)


def _of_range(quantity: Quantity, least: int, most: int) -> Iterator[Relation]:
    one = (Product(1, (quantity,)),)
    if quantity.source == "bytes":
        yield Relation(one, ">=", (Product(least),))
    elif least == most:
        yield Relation(one, "==", (Product(least),))
    else:
        yield Relation(one, ">=", (Product(least),))
        yield Relation(one, "<=", (Product(most),))


def weakest(candidates: Sequence[Atom], proves: Callable[[Sequence[Guard]], bool]) -> list[Atom] | None:
    """The atoms that are left when none can be dropped; None when not even all of them are enough."""
    kept = list(candidates)
    if not kept or not proves(kept):
        return None
    tries = MOST_TRIES
    chunk = max(1, len(kept) // 2)
    while chunk and tries:
        at = 0
        while at < len(kept) and tries:
            tries -= 1
            rest = kept[:at] + kept[at + chunk :]
            if proves(rest):
                kept = rest
            else:
                at += chunk
        chunk //= 2
    tries = MOST_TRIES
    for number, atom in enumerate(kept):
        for wider in _wider(atom):
            if tries:
                tries -= 1
                if proves([*kept[:number], wider, *kept[number + 1 :]]):
                    kept[number] = wider
                    break
    return kept


def _wider(atom: Atom) -> Iterator[Relation]:
    """Weaker atoms to try in the place of one, the weakest first."""
    if not isinstance(atom, Relation) or atom.right[0].quantities or atom.left[0].quantities[0].source == "bytes":
        return
    bound = atom.right[0].factor
    if atom.comparison in ("==", ">="):
        yield from (
            Relation(atom.left, ">=", (Product(n),)) for n in (*AT_LEAST, bound) if n < bound or atom.comparison == "=="
        )
    if atom.comparison in ("==", "<="):
        yield from (
            Relation(atom.left, "<=", (Product(n),)) for n in (*AT_MOST, bound) if n > bound or atom.comparison == "=="
        )


AT_LEAST = (0, 1)
AT_MOST = (1 << 30, 1 << 20, 1 << 15)
