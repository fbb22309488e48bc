"""LLVM types, interned: two types are the same type exactly when they are the same object.

``str(t)`` is the type as LLVM writes it. A named struct is one object per (name, definition), so types agree across
modules and copies of a module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from kernelwright.errors import IRError, Place
from kernelwright.ir.text.tokens import columns_of, name_of, quoted, tokens_of


class Type:
    """Base of all types. ``text`` is the LLVM spelling."""

    __slots__ = ("constants", "made_from", "text")

    text: str
    constants: dict[str, Any]
    """The simple constants of this type by their text: they are interned too. ``constants.py``, which is built on types,
    makes them."""
    made_from: tuple[Any, ...]
    """The arguments of the constructor: copies and pickles find the same object again."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.made_from

    def __copy__(self) -> Type:
        return self

    def __deepcopy__(self, memo: object) -> Type:
        return self


_T = TypeVar("_T", bound=Type)
_INTERNED: dict[tuple[Any, ...], Any] = {}


def _known(cls: type[_T], *made_from: Any) -> _T | None:
    """The one object of this class made from these arguments, when there is one."""
    found: _T | None = _INTERNED.get((cls, *made_from))
    return found


def _made(cls: type[_T], made_from: tuple[Any, ...], text: str, **fields: Any) -> _T:
    """The first object of this class made from these arguments."""
    made = object.__new__(cls)
    made.text, made.constants, made.made_from = text, {}, made_from
    for name, value in fields.items():
        setattr(made, name, value)
    _INTERNED[(cls, *made_from)] = made
    return made


class VoidType(Type):
    """No value: the result of a store, a branch, a call of a ``void`` function."""

    __slots__ = ()

    def __new__(cls) -> VoidType:
        return _known(cls) or _made(cls, (), "void")


class LabelType(Type):
    """The type of a basic block."""

    __slots__ = ()

    def __new__(cls) -> LabelType:
        return _known(cls) or _made(cls, (), "label")


class MetadataType(Type):
    """The type of a ``metadata`` argument."""

    __slots__ = ()

    def __new__(cls) -> MetadataType:
        return _known(cls) or _made(cls, (), "metadata")


class TokenType(Type):
    """LLVM's ``token``."""

    __slots__ = ()

    def __new__(cls) -> TokenType:
        return _known(cls) or _made(cls, (), "token")


class OtherType(Type):
    """A type kept as text (``target("...")``, ``x86_amx``), and the unknown type of an instruction kept as text."""

    __slots__ = ()

    def __new__(cls, text: str) -> OtherType:
        return _known(cls, text) or _made(cls, (text,), text)


class IntType(Type):
    """``i1``, ``i32``, ...: an integer of ``bits`` bits."""

    __slots__ = ("bits",)
    bits: int

    def __new__(cls, bits: int) -> IntType:
        return _known(cls, bits) or _made(cls, (bits,), f"i{bits}", bits=bits)


FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128, "ppc_fp128": 128}


class FloatType(Type):
    """``half``, ``bfloat``, ``float``, ``double``, ...; ``kind`` is that word, ``bits`` its width."""

    __slots__ = ("bits", "kind")
    kind: str
    bits: int

    def __new__(cls, kind: str) -> FloatType:
        return _known(cls, kind) or _made(cls, (kind,), kind, kind=kind, bits=FLOAT_BITS[kind])


class PointerType(Type):
    """``ptr`` or ``ptr addrspace(n)``. CUDA: 1 global, 3 shared, 4 constant, 5 local."""

    __slots__ = ("address_space",)
    address_space: int

    def __new__(cls, address_space: int = 0) -> PointerType:
        text = f"ptr addrspace({address_space})" if address_space else "ptr"
        return _known(cls, address_space) or _made(cls, (address_space,), text, address_space=address_space)


class VectorType(Type):
    """``<count x element>``; ``scalable`` puts ``vscale x`` in front."""

    __slots__ = ("count", "element", "scalable")
    count: int
    element: Type
    scalable: bool

    def __new__(cls, count: int, element: Type, scalable: bool = False) -> VectorType:
        found = _known(cls, count, element, scalable)
        if found is not None:
            return found
        text = f"<{'vscale x ' if scalable else ''}{count} x {element.text}>"
        return _made(cls, (count, element, scalable), text, count=count, element=element, scalable=scalable)


class ArrayType(Type):
    """``[count x element]``."""

    __slots__ = ("count", "element")
    count: int
    element: Type

    def __new__(cls, count: int, element: Type) -> ArrayType:
        text = f"[{count} x {element.text}]"
        return _known(cls, count, element) or _made(cls, (count, element), text, count=count, element=element)


class StructType(Type):
    """A struct: literal when ``name`` is empty. ``fields`` is ``None`` for an opaque one (``type opaque``)."""

    __slots__ = ("fields", "name", "packed")
    fields: tuple[Type, ...] | None
    packed: bool
    name: str

    def __new__(cls, fields: tuple[Type, ...] | None, packed: bool = False, name: str = "") -> StructType:
        found = _known(cls, fields, packed, name)
        if found is not None:
            return found
        text = f"%{quoted(name)}" if name else _body_of(fields, packed)
        return _made(cls, (fields, packed, name), text, fields=fields, packed=packed, name=name)

    @property
    def definition(self) -> str:
        """What stands after ``type`` in the definition: ``{ float, i32 }``, ``<{ i8 }>`` or ``opaque``."""
        return _body_of(self.fields, self.packed)


def _body_of(fields: tuple[Type, ...] | None, packed: bool) -> str:
    if fields is None:
        return "opaque"
    body = f"{{ {', '.join(f.text for f in fields)} }}" if fields else "{}"
    return f"<{body}>" if packed else body


class FunctionType(Type):
    """``result (parameters)``, with ``...`` when variadic."""

    __slots__ = ("parameters", "result", "variadic")
    result: Type
    parameters: tuple[Type, ...]
    variadic: bool

    def __new__(cls, result: Type, parameters: tuple[Type, ...], variadic: bool = False) -> FunctionType:
        found = _known(cls, result, parameters, variadic)
        if found is not None:
            return found
        words = [p.text for p in parameters] + (["..."] if variadic else [])
        text = f"{result.text} ({', '.join(words)})"
        made_from = (result, parameters, variadic)
        return _made(cls, made_from, text, result=result, parameters=parameters, variadic=variadic)


void = VoidType()
label = LabelType()
metadata = MetadataType()
token = TokenType()
unknown = OtherType("?")
i1, i8, i16, i32, i64 = (IntType(bits) for bits in (1, 8, 16, 32, 64))
f16, bf16, f32, f64 = (FloatType(kind) for kind in ("half", "bfloat", "float", "double"))
ptr = PointerType()

_ONE_WORD: list[Type] = [void, label, metadata, token, i1, i8, i16, i32, i64, ptr, OtherType("x86_amx")]
SIMPLE: dict[str, Type] = {t.text: t for t in [*_ONE_WORD, *map(FloatType, FLOAT_BITS)]}
"""Types that are one token in every module."""

_STARTS = frozenset("[<{%")


def starts_type(token_: str) -> bool:
    """Whether a token can begin a type (and so is no attribute, linkage or other word)."""
    return (
        token_ in SIMPLE
        or token_[0] in _STARTS
        or token_.startswith(("ptr ", "target("))
        or (token_[0] == "i" and token_[1:].isdigit())
    )


class BadType(Exception):
    """The next token starts no type; the reader of the line turns this into an ``IRError`` with its place."""


def read_type(tokens: list[str], known: dict[str, Type], named: Callable[[str], Type]) -> Type:
    """Pop one type off the reversed ``tokens``.

    ``known`` remembers the types of single tokens; ``named`` resolves ``%struct.x``. Raises ``BadType``.
    """
    word = tokens.pop()
    found = known.get(word)
    if found is None:
        found = _read_new(word, tokens, known, named)
    while tokens and tokens[-1] == "(":
        found = _read_function(found, tokens, known, named)
    return found


def _read_new(word: str, tokens: list[str], known: dict[str, Type], named: Callable[[str], Type]) -> Type:
    first = word[0]
    if first == "%":
        known[word] = found = named(name_of(word))
        return found
    if first == "i" and word[1:].isdigit():
        known[word] = found = IntType(int(word[1:]))
        return found
    if word.startswith("ptr addrspace"):
        known[word] = found = PointerType(int(word[14:-1]))
        return found
    if word.startswith("target("):
        return OtherType(word)
    if len(word) > 1 and first in "[<":  # a simple array or vector in one token
        inner = tokens_of(word[1:-1])
        made = _read_sequence(first, inner, known, named)
        known[word] = made
        return made
    if word == "[" or (word == "<" and tokens[-1] != "{"):
        made = _read_sequence(word, tokens, known, named)
        _expect(tokens, "]" if word == "[" else ">")
        return made
    if word in ("{", "<"):
        if word == "<":
            tokens.pop()
        fields = _read_list(tokens, "}", known, named)[0]
        if word == "<":
            _expect(tokens, ">")
        return StructType(fields, word == "<")
    raise BadType(f"expected a type, found '{word}'")


def _read_sequence(opening: str, tokens: list[str], known: dict[str, Type], named: Callable[[str], Type]) -> Type:
    """``4 x float`` after an opening bracket."""
    scalable = tokens[-1] == "vscale"
    if scalable:
        tokens.pop()
        _expect(tokens, "x")
    count = tokens.pop()
    if not count.isdigit():
        raise BadType(f"expected the number of elements, found '{count}'")
    _expect(tokens, "x")
    element = read_type(tokens, known, named)
    return ArrayType(int(count), element) if opening == "[" else VectorType(int(count), element, scalable)


def _read_function(result: Type, tokens: list[str], known: dict[str, Type], named: Callable[[str], Type]) -> Type:
    tokens.pop()
    parameters, variadic = _read_list(tokens, ")", known, named)
    return FunctionType(result, parameters, variadic)


def _read_list(
    tokens: list[str], closing: str, known: dict[str, Type], named: Callable[[str], Type]
) -> tuple[tuple[Type, ...], bool]:
    """Types up to ``closing``, separated by commas, and whether ``...`` ended them."""
    found: list[Type] = []
    while tokens[-1] != closing:
        if tokens[-1] == "...":
            tokens.pop()
            _expect(tokens, closing)
            return tuple(found), True
        found.append(read_type(tokens, known, named))
        if tokens[-1] == ",":
            tokens.pop()
        elif tokens[-1] != closing:
            raise BadType(f"expected ',' or '{closing}', found '{tokens.pop()}'")
    tokens.pop()
    return tuple(found), False


def _expect(tokens: list[str], word: str) -> None:
    found = tokens.pop()
    if found != word:
        raise BadType(f"expected '{word}', found '{found}'")


def parse_type(text: str, named: dict[str, Type] | None = None) -> Type:
    """The type that ``text`` spells, e.g. ``parse_type("[4 x ptr addrspace(3)]")``.

    ``named`` gives the named structs by name (``module.named_types``). Raises ``IRError`` with the column.
    """
    structs = named or {}

    def resolve(name: str) -> Type:
        if name not in structs:
            raise BadType(f"there is no type named %{quoted(name)} here")
        return structs[name]

    tokens = tokens_of(text)
    total = len(tokens)
    try:
        found = read_type(tokens, dict(SIMPLE), resolve)
        if tokens:
            raise BadType(f"'{tokens.pop()}' follows a complete type")
        return found
    except (BadType, IndexError) as error:
        at = total - len(tokens) - (1 if isinstance(error, BadType) else 0)
        columns = columns_of(text)
        place = Place("<type>", 1, columns[min(max(at, 0), len(columns) - 1)], text)
        message = str(error) if isinstance(error, BadType) else "the type ends too early"
        raise IRError(message, place=place, hint="write the type as LLVM does, e.g. <4 x float>") from None
