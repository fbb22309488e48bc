"""Guards that compare: ``iterations >= 1``, ``rows == 14 * grid.y``, ``64 <= bytes behind argument 2``, ``n`` divisible by 4.

A quantity is an integer argument, a field of a struct argument, a number in a device variable, an extent of the grid or the block, or how
many bytes of its memory lie behind a pointer. Both sides of a relation are sums of products of quantities. They are computed in Python's
integers, so nothing wraps around at the check. A quantity that a launch does not have (null has no bytes behind it) meets no guard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, get_args

from kernelwright.guards import Guard, LaunchFacts, Names
from kernelwright.lazy_dataclasses import dataclass

Source = Literal["argument", "grid", "block", "bytes", "variable"]
Comparison = Literal["==", "<=", ">="]
SOURCES: tuple[Source, ...] = get_args(Source)
COMPARE: Mapping[Comparison, Callable[[int, int], bool]] = {
    "==": lambda x, y: x == y,
    "<=": lambda x, y: x <= y,
    ">=": lambda x, y: x >= y,
}
WIDTHS = (1, 2, 4, 8)


@dataclass(frozen=True, order=True)
class Quantity:
    """A number that a launch has. Raises ``ValueError`` for one that no launch can have."""

    source: Source
    index: int
    """Which argument; of a grid or block, which axis; of a variable 0."""
    offset: int = 0
    """Of an argument or a variable: the byte that the number begins at, in a struct passed by value or an array."""
    size: int = 4
    """Of an argument or a variable: its bytes."""
    signed: bool = True
    name: str = ""
    """Of a ``__device__`` or ``__constant__`` variable."""

    def __post_init__(self) -> None:
        if self.source not in SOURCES or self.index < 0 or self.offset < 0 or self.size not in WIDTHS:
            raise ValueError(f"no launch has {self.source} {self.index} at {self.offset}, {self.size} bytes")
        if self.source in ("grid", "block") and self.index > 2:
            raise ValueError(f"there is no axis {self.index}")
        if (self.source == "variable") != bool(self.name):
            raise ValueError("a variable has a name, and nothing else has one")

    def of(self, facts: LaunchFacts) -> int | None:
        """Its value in a launch; None where it has none."""
        if self.source == "grid":
            return facts.launch.grid[self.index]
        if self.source == "block":
            return facts.launch.block[self.index]
        if self.source == "variable":
            return self._number(dict(facts.contents).get(self.name, b""))
        if self.index >= len(facts.arguments):
            return None
        data = facts.arguments[self.index]
        if self.source == "bytes":
            region = facts.regions[self.index] if self.index < len(facts.regions) else None
            address = int.from_bytes(data, "little")
            return region.stop - address if region is not None and address in region else None
        return self._number(data)

    def _number(self, data: bytes) -> int | None:
        part = data[self.offset : self.offset + self.size]
        return int.from_bytes(part, "little", signed=self.signed) if len(part) == self.size else None

    def __str__(self) -> str:
        return self._called(f"variable {self.name}" if self.name else f"argument {self.index}")

    def in_words(self, names: Names) -> str:
        """For people: ``grid.x``, ``n``, ``bytes behind rows``, in the names of the source."""
        if self.name:
            return self._called(names.variable(self.name))
        return self._called(names.argument(self.index) if self.source in ("argument", "bytes") else "")

    def _called(self, argument: str) -> str:
        if self.source in ("grid", "block"):
            return f"{self.source}.{'xyz'[self.index]}"
        if self.source == "bytes":
            return f"bytes behind {argument}"
        return f"{argument} at byte {self.offset}" if self.offset else argument

    def as_python(self) -> str:
        """As an exported ``load.py`` computes it."""
        if self.source in ("grid", "block"):
            return f"_triple({self.source})[{self.index}]"
        if self.source == "bytes":
            return f"_bytes_behind(arguments[{self.index}])"
        data = f"_content({self.name!r})" if self.name else f"_bytes(arguments[{self.index}])"
        part = f"{data}[{self.offset}:{self.offset + self.size}]"
        return f"int.from_bytes({part}, 'little', signed={self.signed})"

    def as_c(self) -> str:
        """As an exported header computes it, in 128 bits; it clears ``known`` where a launch has no such number."""
        if self.source in ("grid", "block"):
            return f"(__int128){self.source}[{self.index}]"
        if self.source == "bytes":
            return f"kw_bytes_behind(arguments[{self.index}], &known)"
        if self.source == "variable":  # A header sees no variable of the program (``stories/export.py`` writes none).
            return "(known = 0, (__int128)0)"
        sign = "" if self.signed else "u"
        return f"kw_{sign}int{8 * self.size}((const char *)arguments[{self.index}] + {self.offset})"


@dataclass(frozen=True)
class Product:
    """``factor`` times some quantities; a number alone has none."""

    factor: int
    quantities: tuple[Quantity, ...] = ()

    def of(self, facts: LaunchFacts) -> int | None:
        """Its value in a launch; None where a quantity has none."""
        value = self.factor
        for quantity in self.quantities:
            found = quantity.of(facts)
            if found is None:
                return None
            value *= found
        return value

    def written(self, how: Callable[[Quantity], str]) -> str:
        """``2 * a * b``, with each quantity as ``how`` writes it."""
        parts = [] if self.factor == 1 and self.quantities else [str(self.factor)]
        return " * ".join([*parts, *map(how, self.quantities)])

    def as_c(self) -> str:
        """As an exported header computes it; an overflow clears ``known``."""
        text = _number_in_c(self.factor)
        for quantity in self.quantities:
            text = f"kw_times({text}, {quantity.as_c()}, &known)"
        return text


Sum = tuple[Product, ...]


def value_of(sum: Sum, facts: LaunchFacts) -> int | None:
    """The value of a sum in a launch; None where one of its quantities has none."""
    total = 0
    for product in sum:
        found = product.of(facts)
        if found is None:
            return None
        total += found
    return total


def _written(sum: Sum, how: Callable[[Quantity], str]) -> str:
    text = ""
    for product in sum:
        sign = " - " if product.factor < 0 and text else " + " if text else ""
        text += sign + Product(-product.factor if sign == " - " else product.factor, product.quantities).written(how)
    return text or "0"


def _memories(products: Iterable[Product]) -> list[int]:
    """The arguments whose bytes are asked for."""
    return list(dict.fromkeys(q.index for product in products for q in product.quantities if q.source == "bytes"))


def _number_in_c(value: int) -> str:
    """A constant; C writes those of 64 bits only, and none that is negative."""
    if abs(value) < 1 << 63:
        return f"(__int128){value}LL"
    if abs(value) >= 1 << 124:
        return "(known = 0, (__int128)1)"
    high, low = divmod(value, 1 << 62)
    return f"((__int128){high}LL * {1 << 62}LL + {low}LL)"


def _in_c(sum: Sum) -> str:
    """Numbers of 128 bits; where those do not do, or a quantity is not there, ``known`` becomes 0."""
    text = "(__int128)0"
    for product in sum:
        text = f"kw_plus({text}, {product.as_c()}, &known)"
    return text


@dataclass(frozen=True)
class Relation:
    """``left`` compared with ``right``."""

    left: Sum
    comparison: Comparison
    right: Sum

    def __post_init__(self) -> None:
        if self.comparison not in COMPARE:
            raise ValueError(f"{self.comparison!r} compares nothing")

    def holds(self, facts: LaunchFacts) -> bool:
        left, right = value_of(self.left, facts), value_of(self.right, facts)
        return left is not None and right is not None and COMPARE[self.comparison](left, right)

    def __str__(self) -> str:
        return f"{_written(self.left, str)} {self.comparison} {_written(self.right, str)}"

    def in_words(self, names: Names) -> str:
        """For people, in the names of the source: ``n * m <= 1024``."""

        def called(quantity: Quantity) -> str:
            return quantity.in_words(names)

        return f"{_written(self.left, called)} {self.comparison} {_written(self.right, called)}"

    def as_python(self) -> str:
        left, right = (_written(side, Quantity.as_python) for side in (self.left, self.right))
        whole = "".join(f" and _at_start(arguments[{index}])" for index in self._known_wholly())
        return f"{left} {self.comparison} {right}{whole}"

    def _known_wholly(self) -> list[int]:
        """The arguments whose memory must not be larger than is said, for a view of an array knows its own bytes alone: those that the
        other side has to reach."""
        either = self.comparison == "=="
        larger, smaller = (self.right, self.left) if self.comparison == ">=" else (self.left, self.right)
        wanted = [p for p in larger if p.factor > 0 or either or len(p.quantities) > 1]
        wanted += [p for p in smaller if p.factor < 0 or either or len(p.quantities) > 1]
        return _memories(wanted)

    def as_c(self) -> str:
        return f"{_in_c(self.left)} {self.comparison} {_in_c(self.right)}"


@dataclass(frozen=True)
class Divisible:
    """A sum that ``by`` divides."""

    sum: Sum
    by: int

    def __post_init__(self) -> None:
        if self.by < 1:
            raise ValueError(f"nothing is divided by {self.by}")

    def holds(self, facts: LaunchFacts) -> bool:
        found = value_of(self.sum, facts)
        return found is not None and found % self.by == 0

    def __str__(self) -> str:
        return f"{_written(self.sum, str)} is divisible by {self.by}"

    def in_words(self, names: Names) -> str:
        """For people, in the names of the source: ``n is divisible by 4``."""
        return f"{_written(self.sum, lambda quantity: quantity.in_words(names))} is divisible by {self.by}"

    def as_python(self) -> str:
        whole = "".join(f" and _at_start(arguments[{index}])" for index in _memories(self.sum))
        return f"({_written(self.sum, Quantity.as_python)}) % {self.by} == 0{whole}"

    def as_c(self) -> str:
        return f"{_in_c(self.sum)} % {_number_in_c(self.by)} == 0"


LaunchRelation = Relation | Divisible


def variables_asked(guard: Guard) -> frozenset[str]:
    """The device variables whose content a guard compares."""
    if isinstance(guard, Relation):
        sums: tuple[Sum, ...] = (guard.left, guard.right)
    else:
        sums = (guard.sum,) if isinstance(guard, Divisible) else ()
    return frozenset(q.name for sum in sums for product in sum for q in product.quantities if q.name)


def quantity(source: Source, index: int, factor: int = 1, **more: Any) -> Product:
    """One quantity, or so many times it."""
    return Product(factor, (Quantity(source, index, **more),))


# -- as JSON


def relation_as_json(guard: LaunchRelation) -> dict[str, Any]:
    """A JSON value; ``relation_from_json`` reads it."""
    if isinstance(guard, Divisible):
        return {"sum": _sum_as_json(guard.sum), "by": guard.by}
    return {"left": _sum_as_json(guard.left), "comparison": guard.comparison, "right": _sum_as_json(guard.right)}


def relation_from_json(value: Mapping[str, Any]) -> LaunchRelation:
    """The guard again. Raises ``ValueError``, ``KeyError`` or ``TypeError`` for what is none."""
    if "by" in value:
        return Divisible(_sum_from_json(value["sum"]), _whole(value["by"]))
    return Relation(_sum_from_json(value["left"]), value["comparison"], _sum_from_json(value["right"]))


def _sum_as_json(sum: Sum) -> list[Any]:
    return [[p.factor, *map(_quantity_as_json, p.quantities)] for p in sum]


def _quantity_as_json(q: Quantity) -> list[Any]:
    return [q.source, q.index, q.offset, q.size, q.signed, *([q.name] if q.name else [])]


def _sum_from_json(value: Any) -> Sum:
    made = []
    for factor, *quantities in value:
        parts = tuple(
            Quantity(s, _whole(i), _whole(o), _whole(n), bool(g), *name) for s, i, o, n, g, *name in quantities
        )
        made.append(Product(_whole(factor), parts))
    return tuple(made)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is no whole number")
    return value
