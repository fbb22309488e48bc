"""What all threads of a launch share, as symbols: arguments, the launch's geometry, sizes of memory; and what is known of them.

Integers are mathematical ones, in the range of their type when read as signed; what wraps around says so by a multiple of 2**bits.
Everything that is not understood is a function of its operands about which nothing is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field
from itertools import zip_longest
from typing import Any

from kernelwright.guards import ArgumentIs, AtStart, BlockIs, BlockIsWarp, GridIs, Guard, LaunchFacts
from kernelwright.ir import Argument, Function, Type
from kernelwright.ir.types import IntType, PointerType
from kernelwright.launch_relations import COMPARE, Divisible, Quantity, Relation, Sum
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.obligations.effects import is_byval

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda x, y: x == y,
    "<=": lambda x, y: x <= y,
    ">=": lambda x, y: x >= y,
}

Expr = Any
"""An expression of z3, which has no types that a checker could use."""

AXES = "xyz"
MOST = {"ntid": (1024, 1024, 64), "nctaid": (2**31 - 1, 65535, 65535)}
THREADS = 1024
ADDRESS_BITS = 64


def z3() -> Any:
    """The solver's module; it takes a tenth of a second to load, so nothing else imports it."""
    import z3 as module

    return module


@dataclass(frozen=True, eq=False)
class Term:
    """A value, whether it is not poison, and an interval that it lies in where it is an integer."""

    value: Expr
    ok: Expr
    low: int | None = None
    high: int | None = None


@dataclass(eq=False)
class World:
    """``facts`` hold in every launch that the guards admit."""

    function: Function
    guards: tuple[Guard, ...] = ()
    facts: list[Expr] = field(default_factory=list)
    read: dict[str, Expr] = field(default_factory=dict)
    """What was read of memory that the launch finds there, by words for its place."""
    _symbols: dict[str, Term] = field(default_factory=dict)
    _fresh: int = 0

    def __post_init__(self) -> None:
        x, y, t = (self.geometry("ntid", axis).value for axis in range(3))
        self.facts.append(x * y * t <= THREADS)
        for guard in self.guards:
            self.facts += self.of_guard(guard)

    # -- symbols

    def fresh(self, name: str, sort: Expr) -> Expr:
        """A new symbol, of which nothing is known; ``name`` is for people."""
        self._fresh += 1
        return z3().Const(f"{name}!{self._fresh}", sort)

    def geometry(self, name: str, axis: int) -> Term:
        """``blockDim`` is ``ntid``, ``gridDim`` is ``nctaid``."""
        key = f"{name}.{AXES[axis]}"
        if key not in self._symbols:
            low, high = 1, MOST[name][axis]
            shape = next((g.shape for g in self.guards if isinstance(g, BlockIs if name == "ntid" else GridIs)), None)
            if shape is not None:
                low = high = shape[axis]
            self._symbols[key] = self._bounded(key, low, high)
        return self._symbols[key]

    def argument(self, argument: Argument) -> Term:
        """The term of a kernel's argument, the same each time; a fixed one where a guard says its value."""
        key = f"argument {argument.index}"
        if key not in self._symbols:
            self._symbols[key] = self._of_type(key, argument.type, argument.index)
        return self._symbols[key]

    def bytes_behind(self, index: int) -> Term:
        """The size of the allocation that argument ``index`` points into, counted from where it points."""
        key = f"bytes behind argument {index}"
        if key not in self._symbols:
            self._symbols[key] = self._bounded(key, 0, 2**62)
        return self._symbols[key]

    def bytes_in_front(self, index: int) -> Term:
        """How much of that allocation lies in front of where it points."""
        key = f"bytes in front of argument {index}"
        if key not in self._symbols:
            self._symbols[key] = self._bounded(key, 0, 0 if AtStart(index) in self.guards else 2**62)
            start = self.argument(self.function.arguments[index])
            self.facts.append(start.value - self._symbols[key].value >= 0)
        return self._symbols[key]

    def _of_type(self, key: str, type: Type, index: int) -> Term:
        z = z3()
        if isinstance(type, PointerType):
            return self._bounded(key, 0, 2**63)
        if isinstance(type, IntType) and type.bits == 1:
            return Term(z.Bool(key), z.BoolVal(True))
        if isinstance(type, IntType):
            low, high = -(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1
            fixed = next((g for g in self.guards if isinstance(g, ArgumentIs) and g.index == index), None)
            if fixed is not None:
                low = high = int.from_bytes(fixed.bits, "little", signed=True)
            return self._bounded(key, low, high)
        return Term(z.Const(key, self.sort(type)), z.BoolVal(True))

    def _bounded(self, key: str, low: int, high: int) -> Term:
        z = z3()
        if low == high:
            return Term(z.IntVal(low), z.BoolVal(True), low, high)
        value = z.Int(key)
        self.facts.append(z.And(value >= low, value <= high))
        return Term(value, z.BoolVal(True), low, high)

    def sort(self, type: Type) -> Expr:
        """The solver's sort for a type: truth values for ``i1``, whole numbers for integers and pointers, else one of its own."""
        z = z3()
        if isinstance(type, IntType):
            return z.BoolSort() if type.bits == 1 else z.IntSort()
        return z.IntSort() if isinstance(type, PointerType) else z.DeclareSort(type.text)

    # -- guards

    def of_guard(self, guard: Guard) -> list[Expr]:
        """What a guard says of the symbols; nothing for what says nothing of numbers."""
        if isinstance(guard, BlockIsWarp):
            x, y, t = (self.geometry("ntid", axis).value for axis in range(3))
            return [x * y * t <= 32]
        if isinstance(guard, Relation):
            left, right = self.of_sum(guard.left), self.of_sum(guard.right)
            return [] if left is None or right is None else [_COMPARE[guard.comparison](left, right)]
        if isinstance(guard, Divisible):
            value = self.of_sum(guard.sum)
            return [] if value is None else [value % guard.by == 0]
        return []

    def of_sum(self, sum: Sum) -> Expr | None:
        """A sum of products of what a launch has; None where a part of it has no symbol."""
        total: Expr = z3().IntVal(0)
        for product in sum:
            value: Expr = z3().IntVal(product.factor)
            for quantity in product.quantities:
                symbol = self.of_quantity(quantity)
                if symbol is None:
                    return None
                value = value * symbol
            total = total + value
        return total

    def of_quantity(self, quantity: Quantity) -> Expr | None:
        """The expression of a number that a launch has; None where it has no symbol."""
        if quantity.source in ("grid", "block"):
            return self.geometry("nctaid" if quantity.source == "grid" else "ntid", quantity.index).value
        if quantity.source == "variable":
            return self._in_memory(z3().Int(f"@{quantity.name}"), quantity) if quantity.signed else None
        arguments = self.function.arguments
        if quantity.index >= len(arguments):
            return None
        if quantity.source == "bytes":
            return self.bytes_behind(quantity.index).value
        type = arguments[quantity.index].type
        if isinstance(type, PointerType) and is_byval(arguments[quantity.index]) and quantity.signed:
            return self._in_memory(self.argument(arguments[quantity.index]).value, quantity)
        plain = isinstance(type, IntType) and type.bits == 8 * quantity.size and quantity.signed and not quantity.offset
        return self.argument(arguments[quantity.index]).value if plain else None

    def _in_memory(self, address: Expr, quantity: Quantity) -> Expr:
        """What is read of memory that nothing writes while the kernel runs (``Thread``)."""
        z = z3()
        memory = z.Function(f"memory i{8 * quantity.size}", z.IntSort(), z.IntSort())
        return memory(address + quantity.offset)

    def found_in_memory(self, place: str, value: Expr) -> None:
        """Notes that a number was read at a place: what a launch finds there decides it."""
        known = sum(name.partition(" (")[0] == place for name in self.read)
        self.read[f"{place} ({known + 1})" if known else place] = value

    def inputs(self) -> dict[str, Expr]:
        """The symbols that a launch decides, and what was read of its memory, by name."""
        called = {"ntid": "block", "nctaid": "grid"}
        names = {
            name: ".".join([called.get(name.split(".")[0], name.split(".")[0]), *name.split(".")[1:]])
            for name in self._symbols
        }
        return {names[name]: term.value for name, term in self._symbols.items()} | self.read


def is_met_by(guard: Guard, inputs: Mapping[str, int]) -> bool:
    """Whether values of ``World.inputs`` meet a guard; not, where it asks for what they do not say."""

    def sum_of(sum: Sum) -> int | None:
        total = 0
        for product in sum:
            values = [_input(inputs, quantity) for quantity in product.quantities]
            if None in values:
                return None
            total += math.prod([product.factor, *(value for value in values if value is not None)])
        return total

    if isinstance(guard, Relation):
        left, right = sum_of(guard.left), sum_of(guard.right)
        return left is not None and right is not None and COMPARE[guard.comparison](left, right)
    return False


def _input(inputs: Mapping[str, int], quantity: Quantity) -> int | None:
    if quantity.source in ("grid", "block"):
        return inputs.get(f"{quantity.source}.{AXES[quantity.index]}")
    if quantity.source == "bytes":
        return inputs.get(f"bytes behind argument {quantity.index}")
    is_plain = quantity.source == "argument" and not quantity.offset and quantity.signed
    return inputs.get(f"argument {quantity.index}") if is_plain else None


def inputs_of(facts: LaunchFacts) -> dict[str, int]:
    """What a launch has for ``World.inputs``, as far as it is a number; first what a test cannot change, then what it can."""
    found: dict[str, int] = {}
    for index, (data, region) in enumerate(zip_longest(facts.arguments, facts.regions)):
        address = int.from_bytes(data or b"", "little")
        if region is not None and address in region:
            found |= {
                f"argument {index}": address,
                f"bytes behind argument {index}": region.stop - address,
                f"bytes in front of argument {index}": address - region.start,
            }
    for name, extents in (("block", facts.launch.block), ("grid", facts.launch.grid)):
        found |= {f"{name}.{AXES[axis]}": extent for axis, extent in enumerate(extents)}
    for index, data in enumerate(facts.arguments):
        if len(data) in (1, 2, 4, 8):
            found.setdefault(f"argument {index}", int.from_bytes(data, "little", signed=True))
    return found
