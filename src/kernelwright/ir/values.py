"""Values and their uses.

Every value knows who uses it, so that replacing it everywhere is cheap and total. Simple constants (``i32 5``) are
interned and keep no uses; everything that belongs to a module does.
"""

from __future__ import annotations

from typing import ClassVar

from kernelwright.ir.types import Type
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Use:
    """Operand ``index`` of ``user`` is the value in question."""

    user: Value
    index: int

    def set(self, value: Value) -> None:
        """Make this one operand ``value``."""
        self.user.set_operand(self.index, value)


class Value:
    """Anything an operand can be. ``name`` has no ``%`` or ``@``; it is empty for numbered values.

    A value that has operands itself (an instruction, an initialised variable, a constant made of others) is registered with
    each of them as a user. Equality is identity.
    """

    __slots__ = ("_operands", "_uses", "name", "type")

    is_constant: ClassVar[bool] = False
    is_composed: ClassVar[bool] = False
    """Whether it is a constant made of others: a use of them only while it is used itself."""

    type: Type
    name: str
    _operands: tuple[Value, ...]
    _uses: list[Value] | None
    """One entry per operand that is this value, in the order the uses appeared; ``None``: not tracked."""

    def __init__(self, type: Type, name: str = "", operands: tuple[Value, ...] = ()) -> None:
        self.type = type
        self.name = name
        self._uses = []
        self._operands = operands
        for value in operands:
            if value._uses is not None:
                value._uses.append(self)

    # -- those that use it

    @property
    def is_live(self) -> bool:
        """Whether uses by this value count: a constant expression nothing uses is no use of its operands."""
        return not self.is_composed or self.is_used

    @property
    def users(self) -> list[Value]:
        """Those that have this value as an operand, each once, in the order they came to use it."""
        return list(dict.fromkeys(u for u in self._uses or () if u.is_live))

    @property
    def uses(self) -> list[Use]:
        """Every operand that is this value."""
        return [Use(user, i) for user in self.users for i, v in enumerate(user.operands) if v is self]

    @property
    def is_used(self) -> bool:
        """Whether anything uses this value."""
        return any(u.is_live for u in self._uses or ())

    def replace_all_uses_with(self, value: Value) -> None:
        """Every operand that is this value becomes ``value``, which must be of the same type (``ValueError``).
        Raises ``ValueError`` for another type."""
        if value.type is not self.type:
            raise ValueError(f"cannot replace a {self.type} by a {value.type}")
        if value is self:
            return
        for user in list(dict.fromkeys(self._uses or ())):
            for i, operand in enumerate(user.operands):
                if operand is self:
                    user.set_operand(i, value)

    # -- what it uses

    @property
    def operands(self) -> tuple[Value, ...]:
        """The values used, in LLVM's order (a call: arguments, bundle operands, callee). Assigning keeps uses right."""
        return self._operands

    @operands.setter
    def operands(self, values: tuple[Value, ...]) -> None:
        for old in self._operands:
            if old._uses is not None:
                old._uses.remove(self)
        self._operands = tuple(values)
        for new in self._operands:
            if new._uses is not None:
                new._uses.append(self)

    def set_operand(self, index: int, value: Value) -> None:
        """Make operand ``index`` be ``value``. Types are not checked here: ``verify`` does."""
        operands = self._operands
        old = operands[index]
        if old is value:
            return
        self._operands = (*operands[:index], value, *operands[index + 1 :])
        if old._uses is not None:
            old._uses.remove(self)
        if value._uses is not None:
            value._uses.append(self)

    def drop_operands(self) -> None:
        """Forget all operands, so that they no longer count this as a user."""
        self.operands = ()

    def reference(self, names: Names) -> str:
        """How an operand that is this value is written, its type left out."""
        return names[self]


class Names(dict[Value, str]):
    """``names[value]`` is how ``value`` is written as an operand. Filled with the local names of one function."""

    def __missing__(self, value: Value) -> str:
        text = "<badref>" if isinstance(value, Local) else value.reference(self)
        self[value] = text
        return text


class Local:
    """Marks values that live in a function: without a place in it they have no name to print."""

    __slots__ = ()


class ForwardValue(Value, Local):
    """A value used before its line was read; the parser replaces it. Seen outside the parser only in broken IR."""

    __slots__ = ("line", "token")

    def __init__(self, type: Type, token: str, line: int) -> None:
        super().__init__(type)
        self.token = token
        self.line = line
