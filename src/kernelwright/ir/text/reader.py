"""What all readers of IR text share: types, constants, globals, and the local names of one function.

Readers take tokens off the end of a reversed list (see ``tokens``). A reader that meets something else than it expects
raises ``Unexpected``; the parser of the module knows the line and turns it into an ``IRError`` with a caret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from kernelwright.ir import types as ty
from kernelwright.ir.constants import (
    CONSTANT_CASTS,
    CONSTANT_EXPRESSIONS,
    ConstantAggregate,
    ConstantExpr,
    ConstantFloat,
    ConstantInt,
    ConstantNull,
    ConstantString,
    InlineAsm,
    MetadataOperand,
    NoToken,
    Poison,
    Undef,
    ZeroInitializer,
)
from kernelwright.ir.module import BasicBlock
from kernelwright.ir.text.tokens import global_reference, joined, name_of, quoted, tokens_of
from kernelwright.ir.types import BadType, FloatType, IntType, StructType, Type, read_type, starts_type
from kernelwright.ir.values import ForwardValue, Value

_ATTACHMENT = re.compile(r"!([-\w$.\\]+) (![0-9]+)(?:, |$)", re.ASCII).findall
CONSTANT_FLAGS = frozenset(["nuw", "nsw", "inbounds", "nusw", "exact"])
ASM_FLAGS = frozenset(["sideeffect", "alignstack", "inteldialect", "unwind"])

_WORDS: dict[str, Callable[[Type], Value]] = {
    "null": ConstantNull,
    "undef": Undef,
    "poison": Poison,
    "zeroinitializer": ZeroInitializer,
    "none": NoToken,
}
EXPRESSIONS = CONSTANT_CASTS | frozenset(CONSTANT_EXPRESSIONS) | {"splat"}
_REFUSED = frozenset(["blockaddress", "dso_local_equivalent", "no_cfi", "ptrauth"])


FIRST_WORD = 1 << 30
"""``back`` for an error that is told at the first word of the line."""


class Unexpected(Exception):
    """The last token taken is not what was expected. ``back`` counts further tokens to step back for the caret."""

    def __init__(self, message: str, back: int = 0) -> None:
        super().__init__(message)
        self.back = back


class Reader:
    """Reads types and constants; ``values`` maps ``@x`` (and in a function ``%x``) to the value of that name."""

    def __init__(self, type_texts: dict[str, str], known: dict[str, Type], values: dict[str, Value]) -> None:
        self.type_texts = type_texts
        self.known = known
        self.values = values
        self.named_types: dict[str, StructType] = {}
        self._resolving: list[str] = []

    # -- types

    def type(self, tokens: list[str]) -> Type:
        """Take a type."""
        found = self.known.get(tokens[-1])
        if found is not None and (len(tokens) < 2 or tokens[-2] != "("):
            tokens.pop()
            return found
        try:
            return read_type(tokens, self.known, self.named_type)
        except BadType as error:
            raise Unexpected(str(error)) from None

    def named_type(self, name: str) -> Type:
        """The struct ``%name``, resolved from its definition when first met."""
        found = self.named_types.get(name)
        if found is not None:
            return found
        text = self.type_texts.get(name)
        if text is None:
            raise Unexpected(f"there is no type named %{quoted(name)} in this module")
        if name in self._resolving:
            raise Unexpected(f"the type %{quoted(name)} contains itself")
        self._resolving.append(name)
        if text == "opaque":
            made = StructType(None, False, name)
        else:
            body = self.type(tokens_of(text))
            if not isinstance(body, StructType):
                raise Unexpected(f"the type %{quoted(name)} is no struct but {body}")
            made = StructType(body.fields, body.packed, name)
        self._resolving.pop()
        self.named_types[name] = made
        return made

    # -- values

    def operand(self, tokens: list[str], type: Type) -> Value:
        """Take a value of this type."""
        word = tokens.pop()
        value = self.values.get(word)
        if value is not None:
            if value.type is type:
                return value
            return self._mistyped(value, word, type)
        constant: Value | None = type.constants.get(word)
        if constant is not None:
            return constant
        return self._new_operand(word, tokens, type)

    def typed_operand(self, tokens: list[str]) -> Value:
        """Take a type and a value of it."""
        return self.operand(tokens, self.type(tokens))

    def _mistyped(self, value: Value, word: str, type: Type) -> Value:
        if value.type is ty.unknown:  # the result of an instruction kept as text: this use tells its type
            value.type = type
            return value
        raise Unexpected(f"{word} has type {value.type} but is used as {type}")

    def _new_operand(self, word: str, tokens: list[str], type: Type) -> Value:
        first = word[0]
        if first == "%":
            return self.unknown_local(word, type)
        if first == "@":
            return self.unknown_global(word, type)
        if type is ty.metadata:
            return self.metadata_operand(word, tokens)
        return self.constant(word, tokens, type)

    def unknown_local(self, word: str, type: Type) -> Value:
        """What ``%word`` is that ``values`` does not have. Raises ``Unexpected``: outside of functions there is none."""
        raise Unexpected(f"{word} is a local value and cannot be used outside a function")

    def unknown_global(self, word: str, type: Type) -> Value:
        """The global that ``@"..."`` is another spelling of. Raises ``Unexpected`` where the module has none."""
        if word[1] == '"':
            value = self.values.get(global_reference(name_of(word)))
            if value is not None:
                return value if value.type is type else self._mistyped(value, word, type)
        raise Unexpected(f"there is no global or function named {word} in this module")

    # -- constants

    def constant(self, word: str, tokens: list[str], type: Type) -> Value:
        """The constant that starts with ``word`` (taken already), of this type."""
        made = _WORDS.get(word)
        if made is not None:
            return made(type)
        if isinstance(type, IntType):
            if word in ("true", "false"):
                return ConstantInt(type, word == "true")
            if word.lstrip("-").isdigit():
                return ConstantInt(type, int(word))
        elif isinstance(type, FloatType) and (word[:2] == "0x" or word[-1:].isdigit() or word[-1:] == "."):
            return ConstantFloat(type, word)
        if word in ("[", "{", "<"):
            return self.aggregate(word, tokens, type)
        if word.startswith('c"'):
            if isinstance(type, ty.ArrayType):
                return ConstantString(type, word)
        elif word in EXPRESSIONS:
            return self.expression(word, tokens, type)
        elif word in _REFUSED:
            raise Unexpected(
                f"'{word}' is not supported: write the program without addresses of blocks or wrapped functions"
            )
        raise Unexpected(f"expected a constant of type {type}, found '{word}'")

    def aggregate(self, word: str, tokens: list[str], type: Type) -> Value:
        """Elements up to the closing bracket."""
        closing = {"[": "]", "{": "}", "<": ">"}[word]
        packed = word == "<" and tokens[-1] == "{"
        if packed:
            tokens.pop()
            closing = "}"
        elements: list[Value] = []
        while tokens[-1] != closing:
            elements.append(self.typed_operand(tokens))
            if tokens[-1] != closing:
                self.expect(tokens, ",")
        tokens.pop()
        if packed:
            self.expect(tokens, ">")
        return ConstantAggregate(type, tuple(elements))

    def expression(self, opcode: str, tokens: list[str], type: Type) -> Value:
        """``opcode flags (operands)``."""
        flags: list[str] = []
        while tokens[-1] in CONSTANT_FLAGS or tokens[-1].startswith("inrange("):
            flags.append(tokens.pop())
        self.expect(tokens, "(")
        source_type = None
        if opcode == "getelementptr":
            source_type = self.type(tokens)
            self.expect(tokens, ",")
        operands = [self.typed_operand(tokens)]
        while tokens[-1] == ",":
            tokens.pop()
            operands.append(self.typed_operand(tokens))
        if opcode in CONSTANT_CASTS:
            self.expect(tokens, "to")
            found = self.type(tokens)
        elif opcode == "splat":
            found = type
        else:
            try:
                found = CONSTANT_EXPRESSIONS[opcode](tuple(operands))
            except ValueError as error:
                raise Unexpected(str(error)) from None
        self.expect(tokens, ")")
        if found is not type:
            raise Unexpected(f"this '{opcode}' has type {found} but is used as {type}")
        return ConstantExpr(opcode, type, tuple(operands), tuple(flags), source_type)

    def inline_asm(self, tokens: list[str]) -> InlineAsm:
        """What follows ``asm``: flags, text, constraints."""
        flags: list[str] = []
        while tokens[-1] in ASM_FLAGS:
            flags.append(tokens.pop())
        text = self.string(tokens)
        self.expect(tokens, ",")
        return InlineAsm(text, self.string(tokens), tuple(flags))

    def metadata_operand(self, word: str, tokens: list[str]) -> Value:
        """A node reference, string, inline node, or typed value after ``metadata``."""
        if word[0] != "!":
            tokens.append(word)
            return MetadataOperand("", (self.typed_operand(tokens),))
        return MetadataOperand(self.node(word, tokens))

    def node(self, word: str, tokens: list[str]) -> str:
        """The text of a metadata node that starts with ``word``: ``!7``, ``!"s"``, ``!{...}``, ``!DIExpression(...)``."""
        if word == "!" and tokens[-1][0] == '"':
            return word + tokens.pop()
        words = [word]
        depth = 0
        while not word[1:].isdigit() and tokens and (depth or tokens[-1] in ("(", "{")):
            piece = tokens.pop()
            words.append(piece)
            depth += (piece in ("(", "{")) - (piece in (")", "}"))
            if depth == 0:
                break
        return _spaced_node(words)

    def attachments(self, text: str) -> dict[str, str]:
        """``!dbg !12, !tbaa !9`` as a dict."""
        pairs = _ATTACHMENT(text)
        if 2 * len(pairs) == text.count("!"):
            return dict(pairs)
        found: dict[str, str] = {}
        tokens = tokens_of(text)
        while tokens:
            kind = tokens.pop()
            word = tokens.pop()
            if kind[0] != "!" or word[0] != "!":
                raise Unexpected(f"expected metadata, found '{kind} {word}'")
            found[kind[1:]] = self.node(word, tokens)
            if tokens:
                self.expect(tokens, ",")
        return found

    # -- words

    def string(self, tokens: list[str]) -> str:
        """The inside of a string literal, escapes as they are."""
        word = tokens.pop()
        if word[0] != '"':
            raise Unexpected(f"expected a string, found '{word}'")
        return word[1:-1]

    def expect(self, tokens: list[str], word: str) -> None:
        """Take exactly this token."""
        found = tokens.pop()
        if found != word:
            raise Unexpected(f"expected '{word}', found '{found}'")

    def attributes(self, tokens: list[str]) -> str:
        """Words up to the next type, value or punctuation, as text: parameter and return attributes."""
        words: list[str] = []
        while True:
            word = tokens[-1]
            if not (word[0].isalpha() or word[0] == '"') or word in VALUE_WORDS or word[:2] == 'c"':
                break
            if starts_type(word):
                break
            words.append(tokens.pop())
            if tokens[-1] == "=":
                words += (tokens.pop(), tokens.pop())
            elif tokens[-1] == "(":  # an attribute with an argument that is no single token
                depth = 0
                while True:
                    piece = tokens.pop()
                    words.append(piece)
                    depth += (piece == "(") - (piece == ")")
                    if depth == 0:
                        break
        return joined(words)


VALUE_WORDS = (
    frozenset(["null", "undef", "poison", "zeroinitializer", "none", "true", "false", "asm"]) | _REFUSED | EXPRESSIONS
)


def _spaced_node(words: list[str]) -> str:
    text = words[0]
    for before, word in pairwise(words):
        tight = word in ",)}(:" or before in "({" or before[-1] in "({" or before == "!"
        text += word if tight else " " + word
    return text


class FunctionReader(Reader):
    """Reads the body of one function: local values and blocks may be used before they are defined."""

    def __init__(self, module: Reader) -> None:
        super().__init__(module.type_texts, module.known, dict(module.values))
        self.named_types = module.named_types
        self.line = 0
        self.open_blocks: dict[str, int] = {}
        self.last_number = -1

    def unknown_local(self, word: str, type: Type) -> Value:
        """The value that a spelling like ``%"x"`` names, else a stand-in that is replaced once it is defined."""
        key = local_key(word)
        value = self.values.get(key)
        if value is not None:
            return value if value.type is type else self._mistyped(value, word, type)
        made = ForwardValue(type, key, self.line)
        self.values[key] = made
        return made

    def block(self, tokens: list[str]) -> BasicBlock:
        """Take ``%name`` of a block, which may come later."""
        word = tokens.pop()
        value = self.values.get(word)
        if type(value) is BasicBlock:
            return value
        return self.new_block(word)

    def new_block(self, word: str) -> BasicBlock:
        """The block that a ``%word`` names, made when it is first met. Raises ``Unexpected`` for the name of another value."""
        if word[0] != "%":
            raise Unexpected(f"expected the name of a block, found '{word}'")
        key = local_key(word)
        value = self.values.get(key)
        if isinstance(value, BasicBlock):
            return value
        if value is not None:
            raise Unexpected(f"{word} is no block but a value of type {value.type}")
        made = BasicBlock("" if key[1:].isdigit() else name_of(key))
        self.values[key] = made
        self.open_blocks[key] = self.line
        return made

    def label(self, tokens: list[str]) -> BasicBlock:
        """Take ``label %name``."""
        word = tokens.pop()
        if word != "label":
            raise Unexpected(f"expected 'label', found '{word}'")
        return self.block(tokens)


def local_key(word: str) -> str:
    """``%"plain"`` is the same name as ``%plain``: one spelling for the table of names."""
    return "%" + quoted(name_of(word)) if word[1] == '"' else word
