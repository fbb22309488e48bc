"""The weakest guard found under which something can be proven: atoms that held in all recorded launches, dropped one by one.

atoms     argument, field or number in a device variable == v where all launches had it alike, else its least and most; the block's and
          the grid's extents likewise;
          argument == k * extent + another argument + c where that fits all launches; for each pointer, bytes behind it >= what there was
          least of, >= size * the threads or blocks of the grid and >= the bytes behind another where that held; that it shares no
          memory; that it points at the beginning of it
search    all atoms at once: if that is not enough, no guard is found. Then each is dropped, or == widened to >= or <=, if the rest do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

from kernelwright.codegen.memory_layout import SHARED
from kernelwright.guards import Apart, AtStart, Guard, LaunchFacts
from kernelwright.ir import Argument, ConstantExpr, ConstantInt, DataLayout, Function, GlobalVariable, Instruction
from kernelwright.ir.types import IntType, PointerType
from kernelwright.launch_relations import LaunchRelation, Product, Quantity, Relation, Sum, value_of
from kernelwright.prove.obligations.effects import is_byval, pointer_of

MOST_TRIES = 40
"""Proofs that a search may take."""
MOST_LINEAR = 24
"""Linear relations between what varies."""


Atom = LaunchRelation | Apart | AtStart


def atoms(function: Function, launches: Sequence[LaunchFacts], sizes: Sequence[int]) -> list[Atom]:
    """What held in all launches, the likeliest to be dropped first. ``sizes``: of the elements that are read, in bytes."""
    if not launches:
        return []
    found: list[Atom] = []
    numbers = list(_numbers(function))
    for quantity in numbers:
        values = [quantity.of(facts) for facts in launches]
        known = [value for value in values if value is not None]
        if len(known) == len(values) and known:
            found += _of_range(quantity, min(known), max(known))
    found += _linear(numbers, launches)
    threads = [(Quantity("grid", axis), Quantity("block", axis)) for axis in range(3)]
    pointers = [
        index
        for index, argument in enumerate(function.arguments)
        if isinstance(argument.type, PointerType) and "byval" not in argument.attributes
    ]
    for index in pointers:
        behind = Quantity("bytes", index)
        sides = [(q,) for pair in threads for q in pair] + threads + [(*threads[0], *threads[1])]
        sides += [(q,) for q in numbers if q.source == "argument"]
        sides += [(p, q) for p in numbers for q in numbers if p.source == q.source == "argument" and p <= q]
        wanted = [Product(size, side) for size in dict.fromkeys(sizes) for side in sides]
        wanted += [Product(1, (Quantity("bytes", other),)) for other in pointers if other != index]
        for product in wanted:
            atom = Relation((Product(1, (behind,)),), ">=", (product,))
            if all(atom.holds(facts) for facts in launches) and _says_something(atom, launches):
                found.append(atom)
        of_pointer: tuple[Apart | AtStart, ...] = (Apart(index), AtStart(index))
        found += [each for each in of_pointer if all(each.holds(facts) for facts in launches)]
    return found


def buffers_apart(function: Function, launches: Sequence[LaunchFacts]) -> list[Apart]:
    """That what a kernel writes through shares no memory, as far as that held in all launches."""
    written = [
        Apart(argument.index)
        for argument in function.arguments
        if isinstance(argument.type, PointerType) and argument.users
        and not {"readonly", "byval", "noalias"} & set(argument.attributes.replace("(", " ").split())
    ]  # fmt: skip
    return [guard for guard in written if launches and all(guard.holds(facts) for facts in launches)]


def _linear(numbers: Sequence[Quantity], launches: Sequence[LaunchFacts]) -> list[Relation]:
    """``p == k * q + c`` and ``p == q + k * r + c`` with whole numbers, of arguments and extents that vary, where that fits all
    launches and is no accident of few."""
    rows = list(dict.fromkeys(tuple(q.of(facts) for q in numbers) for facts in launches))
    series: dict[Quantity, list[int]] = {}
    for at, quantity in enumerate(numbers):
        known = [row[at] for row in rows if row[at] is not None]
        if quantity.source != "bytes" and len(known) == len(rows) and len(set(known)) > 1:
            series[quantity] = known  # type: ignore[assignment]
    found: list[Relation] = []
    for p, q in permutations(series, 2):
        line = _line(series[p], series[q]) if len(rows) > 2 else None
        if line is not None:
            found.append(_equal(p, (), q, *line))
    of_two = {(r.left[0].quantities[0], r.right[0].quantities[0]) for r in found}
    for p, q, r in permutations(series, 3):
        if len(rows) > 3 and not of_two & {(p, q), (p, r), (q, r), (q, p), (r, p), (r, q)}:
            rest = [x - y for x, y in zip(series[p], series[q], strict=True)]
            line = _line(rest, series[r])
            if line is not None:
                found.append(_equal(p, (Product(1, (q,)),), r, *line))
    return found[:MOST_LINEAR]


def _line(of: Sequence[int], by: Sequence[int]) -> tuple[int, int] | None:
    """The slope and the constant of a line through all points; None where there is none with whole numbers."""
    points = sorted(set(zip(by, of, strict=True)))
    if len({x for x, _ in points}) < 2:
        return None
    (x, y), (u, v) = points[0], points[-1]
    slope, rest = divmod(v - y, u - x) if u != x else (0, 1)
    if rest or not slope or any(b != y + slope * (a - x) for a, b in points):
        return None
    return slope, y - slope * x


def _equal(p: Quantity, more: Sum, q: Quantity, slope: int, constant: int) -> Relation:
    right: Sum = (*more, Product(slope, (q,)), *((Product(constant),) if constant else ()))
    return Relation((Product(1, (p,)),), "==", right)


def _says_something(atom: Relation, launches: Sequence[LaunchFacts]) -> bool:
    """Whether the size it asks for is not far below what there was: such an atom would hold by accident."""
    left, right = value_of(atom.left, launches[0]), value_of(atom.right, launches[0])
    return left is not None and right is not None and 4 * right >= left


def _numbers(function: Function) -> Iterator[Quantity]:
    for index, argument in enumerate(function.arguments):
        if isinstance(argument.type, IntType) and argument.type.bits in (8, 16, 32, 64):
            yield Quantity("argument", index, 0, argument.type.bits // 8)
    yield from _fields(function)
    for source in ("grid", "block"):
        for axis in range(3):
            yield Quantity(source, axis)
    for index, argument in enumerate(function.arguments):
        if isinstance(argument.type, PointerType) and "byval" not in argument.attributes:
            yield Quantity("bytes", index)


def _fields(function: Function) -> list[Quantity]:
    """The whole numbers that the kernel reads of structures passed by value, and of ``__device__`` and ``__constant__`` variables."""
    layout = DataLayout(function.module.data_layout if function.module is not None else "")
    found: dict[Quantity, None] = {}
    for i in function.instructions():
        if i.opcode != "load" or not isinstance(i.type, IntType) or i.type.bits not in (8, 16, 32, 64):
            continue
        offset, at = 0, pointer_of(i)
        while isinstance(at, Instruction | ConstantExpr) and at.opcode in ("getelementptr", "addrspacecast"):
            if at.opcode == "addrspacecast":
                at = at.operands[0]
                continue
            indices = [index.value for index in at.operands[1:] if isinstance(index, ConstantInt)]
            if len(indices) < len(at.operands) - 1 or at.source_type is None:
                break
            offset += layout.constant_offset(at.source_type, tuple(indices))
            at = at.operands[0]
        if offset >= 0 and isinstance(at, Argument) and is_byval(at):
            found[Quantity("argument", at.index, offset, i.type.bits // 8)] = None
        elif offset >= 0 and isinstance(at, GlobalVariable) and at.address_space != SHARED:
            found[Quantity("variable", 0, offset, i.type.bits // 8, name=at.name)] = None
    return list(found)


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
    if not isinstance(atom, Relation) or atom.left[0].quantities[0].source == "bytes":
        return
    if atom.right[0].quantities:
        if atom.comparison == "==":
            yield from (Relation(atom.left, ">=", atom.right), Relation(atom.left, "<=", atom.right))
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
AT_MOST = (1 << 30, 1 << 20, 1 << 15, 1 << 12)
