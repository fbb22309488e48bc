"""``dataclass`` as the standard library's, except that a class gets its methods when they are first needed.

    from kernelwright.lazy_dataclasses import dataclass

The standard library writes the methods of each class as text and compiles them: a millisecond a class, a third of what it took to
start a command or a worker, which import some 300 and use some 50. Here the first instance that is made, compared, hashed or
printed, and the first look at the fields, has them written: by the standard library, for a twin of the class, from which they are
taken over one by one, so that another thread always finds either what waits for them or the methods themselves.

What a class may say: ``repr``, ``eq``, ``frozen``. With anything else it is the standard library's at once. A mistake in the
declaration of fields is raised at that first use (``tests/test_lazy_dataclasses.py`` uses every class of the package once).
"""

from __future__ import annotations

import dataclasses
import threading
from copy import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, repr=True, eq=True, frozen=False, **others):
        """With the arguments of ``dataclasses.dataclass``."""
        if others:
            return dataclasses.dataclass(cls, repr=repr, eq=eq, frozen=frozen, **others)
        if cls is None:
            return lambda decorated: _defer(decorated, repr, eq, frozen)
        return _defer(cls, repr, eq, frozen)


_WRITTEN = threading.RLock()
"""Held while methods are written: a base may need its own for those of a class."""
_METHODS = ("__repr__", "__eq__", "__hash__", "__init__")
_LOOKED_AT = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")


def _defer(cls: type, repr: bool, eq: bool, frozen: bool) -> type:
    own = cls.__dict__
    explicit = {name: own[name] for name in (*_METHODS, "__match_args__") if name in own}
    if explicit.get("__hash__", ...) is None and "__eq__" in explicit:
        del explicit["__hash__"]  # Python's, for a class that says what is equal
    defaults = {name: own[name] for name in own.get("__annotations__", {}) if name in own}
    for name, default in defaults.items():
        if isinstance(default, dataclasses.Field):
            if default.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, default.default)
    methods = ["__init__", *(["__repr__"] if repr else []), *(["__eq__"] if eq else [])]
    if eq and frozen:
        methods.append("__hash__")
    elif eq and "__hash__" not in explicit:
        cls.__hash__ = None  # type: ignore[assignment]
    if frozen:
        if "__setattr__" in own or "__delattr__" in own:
            raise TypeError(f"{cls.__name__} is frozen and says how its attributes are set")
        cls.__setattr__, cls.__delattr__ = _setattr, _delattr  # type: ignore[assignment]
    deferred = _Deferred(cls, (repr, eq, frozen), explicit, defaults)
    for name in methods:
        if name not in explicit:
            setattr(cls, name, deferred.method(name))
    for name in _LOOKED_AT:
        if name not in explicit:
            setattr(cls, name, _Waiting(deferred, name))
    return cls


class _Deferred:
    """A class whose methods are not written yet: how it was decorated, what it defines itself, and the defaults of its fields."""

    def __init__(
        self, cls: type, options: tuple[bool, bool, bool], explicit: dict[str, Any], defaults: dict[str, Any]
    ) -> None:
        self.cls, self.options, self.explicit, self.defaults = cls, options, explicit, defaults
        self.is_written = False

    def method(self, name: str) -> Any:
        """One that has the real ones written and is the real one from then on."""

        def first(instance: Any, /, *given: Any, **named: Any) -> Any:
            self.write()
            return getattr(self.cls, name)(instance, *given, **named)

        return first

    def write(self) -> None:
        """Raises ``TypeError`` and ``ValueError`` where ``dataclasses.dataclass`` does."""
        with _WRITTEN:
            if not self.is_written:
                twin = self._twin()
                for name in (*_LOOKED_AT, *_METHODS):  # __init__ last
                    if name in twin.__dict__ and name not in self.explicit:
                        setattr(self.cls, name, twin.__dict__[name])
                self.is_written = True

    def _twin(self) -> type:
        """A class without bases that has all fields of this one, with the methods for them."""
        inherited = {
            field.name: field
            for base in self.cls.__mro__[:0:-1]
            if hasattr(base, "__dataclass_fields__")
            for field in dataclasses.fields(base)
        }
        own = self.cls.__dict__.get("__annotations__", {})  # noqa: RUF063
        names = {name: field.type for name, field in inherited.items()} | own
        contents: dict[str, Any] = {name: copy(field) for name, field in inherited.items() if name not in own}
        contents |= {name: getattr(self.cls, name) for name in own if hasattr(self.cls, name)}  # a base's default, too
        contents |= self.defaults
        if hasattr(self.cls, "__post_init__"):
            contents["__post_init__"] = _defer  # that there is one is all that counts
        contents |= {"__annotations__": names, "__module__": self.cls.__module__, "__qualname__": self.cls.__qualname__}
        contents["__doc__"] = "without one, a text would be made of the signature"
        repr, eq, frozen = self.options
        return dataclasses.dataclass(repr=repr, eq=eq, frozen=frozen)(type(self.cls.__name__, (), contents))


class _Waiting:
    """An attribute of a class that is there once its methods are written."""

    def __init__(self, deferred: _Deferred, name: str) -> None:
        self._deferred, self._name = deferred, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        self._deferred.write()
        return getattr(self._deferred.cls, self._name)


def _setattr(self: Any, name: str, value: object) -> None:
    if _is_fixed(type(self), name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delattr(self: Any, name: str) -> None:
    if _is_fixed(type(self), name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_fixed(cls: type, name: str) -> bool:
    """A subclass that is no dataclass may have attributes of its own, as with the standard library."""
    return "__dataclass_fields__" in cls.__dict__ or name in cls.__dataclass_fields__  # type: ignore[attr-defined]
