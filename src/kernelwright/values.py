"""Frozen values, as ``dataclasses.dataclass(frozen=True)`` makes them, for the modules that every compile loads.

``dataclasses`` takes 5 ms to import and half a millisecond for each class, because it writes each class its methods and
compiles them: a tenth of a compile. Here all classes share the same few methods, which are slower to call. Elsewhere,
``dataclasses`` is the right choice.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_):
        return lambda function: function


@dataclass_transform(frozen_default=True)
def frozen(cls: type[T]) -> type[T]:
    """The class with its annotated names as fields: given by position or name, compared, hashed and printed in order.

    Fields of its bases come first. ``__post_init__`` is called where there is one. Raises ``TypeError`` for fields that are
    missing or not known, ``AttributeError`` when one is assigned later.
    """
    inherited: tuple[str, ...] = getattr(cls, "_fields", ())
    own = tuple(name for name in cls.__dict__.get("__annotations__", {}) if name not in inherited)  # noqa: RUF063
    defaults = {name: cls.__dict__[name] for name in own if name in cls.__dict__}
    methods: dict[str, Any] = {"_fields": inherited + own, "_defaults": getattr(cls, "_defaults", {}) | defaults}
    for method in (_init, _setattr, _delattr, _eq, _hash, _repr):
        methods.setdefault(f"_{method.__name__}__", method)
    for name, method in methods.items():
        if name not in cls.__dict__:
            setattr(cls, name, method)
    return cls


def replaced(original: T, **fields: Any) -> T:
    """A copy of a value with some fields changed. Raises ``TypeError`` for a field that it has not."""
    kept: dict[str, Any] = {name: original.__dict__[name] for name in original._fields}  # type: ignore[attr-defined]
    return type(original)(**{**kept, **fields})


def _init(self: Any, *given: Any, **named: Any) -> None:
    fields = self._fields
    values = dict(zip(fields, given, strict=False))
    if len(given) > len(fields) or not values.keys().isdisjoint(named):
        raise TypeError(f"{type(self).__name__} takes each of {', '.join(fields)} once")
    values = self._defaults | values | named
    if values.keys() != set(fields):
        wrong = ", ".join(sorted(values.keys() ^ set(fields)))
        raise TypeError(f"{type(self).__name__}: missing or unknown: {wrong}")
    self.__dict__.update(values)
    check = getattr(self, "__post_init__", None)
    if check:
        check()


def _setattr(self: Any, name: str, _: Any) -> None:
    raise AttributeError(f"cannot assign {name}: {type(self).__name__} is a value")


def _delattr(self: Any, name: str) -> None:
    raise AttributeError(f"cannot delete {name}: {type(self).__name__} is a value")


def _key(self: Any) -> tuple[Any, ...]:
    return tuple([self.__dict__[name] for name in self._fields])


def _eq(self: Any, other: object) -> bool:
    return _key(self) == _key(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_key(self))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self._fields)
    return f"{type(self).__qualname__}({shown})"
