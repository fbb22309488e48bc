"""LLVM-IR text to a ``Module``.

Two passes over the lines: the first meets every type, global and function by its first line, the second reads
initializers and bodies, so that anything may be used before the line that defines it. Comments are dropped, except the
ones at the top of the file.
"""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.ir import types as ty
from kernelwright.ir.module import Function, GlobalVariable, Module
from kernelwright.ir.text.read_body import read_body
from kernelwright.ir.text.read_instruction import CALLING_CONVENTIONS
from kernelwright.ir.text.reader import VALUE_WORDS, Reader, Unexpected
from kernelwright.ir.text.source import Source, cut_metadata, without_comment
from kernelwright.ir.text.tokens import global_reference, joined, name_of, split, unquote
from kernelwright.ir.types import FunctionType, StructType, Type
from kernelwright.ir.values import Value

LINKAGES = frozenset(
    {"private", "internal", "available_externally", "linkonce", "linkonce_odr", "weak", "weak_odr", "common"}
    | {"appending", "extern_weak", "external"}
)
VISIBILITIES = frozenset(["dso_local", "dso_preemptable", "default", "hidden", "protected", "dllimport", "dllexport"])
_KINDS = ("global", "constant", "alias", "ifunc")


def parse_module(text: str, file: str = "<ir>") -> Module:
    """The module that ``text`` spells. Raises ``IRError`` with file, line, column and a caret when it cannot be read."""
    return _ModuleParser(text, file).parse()


class _ModuleParser:
    def __init__(self, text: str, file: str) -> None:
        self.source = Source(text, file)
        self.module = Module()
        self.reader = Reader({}, dict(ty.SIMPLE), {})
        self.initializers: list[tuple[int, str, GlobalVariable]] = []
        self.bodies: list[tuple[int, int, Function, list[str]]] = []
        self.type_lines: dict[str, int] = {}
        self.entities: list[tuple[int, str, str]] = []
        """The first lines of globals and functions: index, keyword, text."""
        self.extent: dict[int, int] = {}
        """Index of a ``define`` line to that of its closing brace."""
        self.following = 0
        """The index of the line the scan looks at next."""
        self.at_top = True
        """Whether nothing but comments came so far: those stay."""

    def parse(self) -> Module:
        self._scan()
        try:
            for name, at in self.type_lines.items():
                self.source.at = at
                self._named_type(name)
            for at, kind, line in self.entities:
                self.source.at = at
                self._global(line) if kind == "@" else self._function(line, kind)
        except (Unexpected, IndexError) as error:
            self.source.fail_here(error)
        self.module.globals = dict(sorted(self.module.globals.items(), key=lambda g: g[1].kind in ("alias", "ifunc")))
        for at, rest, variable in self.initializers:
            self.source.at = at
            self._initializer(rest, variable)
        for first, last, function, names in self.bodies:
            read_body(self.source, self.reader, first, last, function, names)
        return self.module

    # -- first pass: sort the lines

    def _scan(self) -> None:
        """Meet every top level line once; bodies are skipped, their extent noted."""
        lines, source = self.source.lines, self.source
        while self.following < len(lines):
            source.at = self.following
            line = lines[source.at]
            self.following += 1
            if not line or line.isspace():
                continue
            if ";" in line:
                if line[0] == ";" and self.at_top:
                    self.module.header.append(line)
                line = without_comment(line)
                if not line or line.isspace():
                    continue
            if line[0].isspace():
                line = line.lstrip()
            for start, meet in _TOP_LEVEL:
                if line.startswith(start):
                    meet(self, line)
                    break
            else:
                source.fail(f"expected a top level entity, found '{split(line)[0]}'")
            self.at_top = False

    def _meet_metadata(self, line: str) -> None:
        key, found, text = line.partition(" = ")
        if not found:
            self.source.fail("expected '!name = node'")
        if key[1:].isdigit():
            self.module.metadata[key] = text.rstrip()
        else:
            self.module.named_metadata[key[1:]] = text.rstrip()

    def _meet_type(self, line: str) -> None:
        name, found, definition = line.partition(" = type ")
        if not found:
            self.source.fail("expected '%name = type ...'")
        self.reader.type_texts[name_of(name)] = definition.strip()
        self.type_lines[name_of(name)] = self.source.at

    def _meet_comdat(self, line: str) -> None:
        name, _, text = line.partition(" = ")
        self.module.comdats[name_of(name)] = text.strip()

    def _meet_entity(self, line: str) -> None:
        self.entities.append((self.source.at, line.split(None, 1)[0] if line[0] != "@" else "@", line))

    def _meet_define(self, line: str) -> None:
        self._meet_entity(line)
        lines = self.source.lines
        at = self.following
        while at < len(lines) and not lines[at].lstrip().startswith("}"):
            at += 1
        if at == len(lines):
            self.source.fail("this function has no closing '}'")
        self.extent[self.source.at] = at
        self.following = at + 1

    def _meet_attributes(self, line: str) -> None:
        key, _, text = line[11:].partition(" = ")
        self.module.attribute_groups[key] = text.strip()[1:-1].strip()

    def _meet_source_filename(self, line: str) -> None:
        self.module.source_filename = unquote(line.partition("=")[2].strip())

    def _meet_data_layout(self, line: str) -> None:
        self.module.data_layout = unquote(line.partition("=")[2].strip())

    def _meet_triple(self, line: str) -> None:
        self.module.target_triple = unquote(line.partition("=")[2].strip())

    def _meet_verbatim(self, line: str) -> None:
        self.module.header.append(line)

    # -- first pass: globals and functions by their first line

    def _named_type(self, name: str) -> None:
        try:
            struct = self.reader.named_type(name)
        except Unexpected as error:
            self.source.fail(str(error), self.source.lines[self.source.at].find(" = type ") + 9)
        except IndexError:
            self.source.fail("the type ends before it is complete", len(self.source.lines[self.source.at]) + 1)
        assert isinstance(struct, StructType)
        self.module.named_types[name] = struct

    def _global(self, line: str) -> None:
        """``@name = linkage ... global|constant type`` up to the initializer, which waits for the second pass."""
        head, tail = cut_metadata(line)
        tokens = self.source.split(head)
        name = name_of(tokens.pop())
        self.reader.expect(tokens, "=")
        linkage = ""
        visibility: list[str] = []
        prefix: list[str] = []
        address_space = 0
        while tokens[-1] not in _KINDS:
            word = tokens.pop()
            if word in LINKAGES:
                linkage = word
            elif word in VISIBILITIES:
                visibility.append(word)
            elif word.startswith("addrspace("):
                address_space = int(word[10:-1])
            else:
                prefix.append(word)
        kind = tokens.pop()
        value_type = self.reader.type(tokens)
        made = GlobalVariable(
            name,
            value_type,
            address_space=address_space,
            kind=kind,
            linkage=linkage,
            visibility=" ".join(visibility),
            prefix=joined(prefix),
            module=self.module,
        )
        made.metadata = self.reader.attachments(tail)
        if kind in ("alias", "ifunc"):
            self.reader.expect(tokens, ",")
        self._register(name, made)
        self.module.globals[name] = made
        self.initializers.append((self.source.at, head, made))
        made.suffix = str(len(tokens))  # where the initializer starts, until the second pass

    def _register(self, name: str, value: Value) -> None:
        key = global_reference(name)
        if key in self.reader.values:
            raise Unexpected(f"{key} is defined twice in this module")
        self.reader.values[key] = value

    def _initializer(self, head: str, variable: GlobalVariable) -> None:
        tokens = self.source.split(head)
        del tokens[int(variable.suffix) :]
        variable.suffix = ""
        try:
            if tokens and tokens[-1] != ",":
                if variable.kind in ("alias", "ifunc") and tokens[-1] not in VALUE_WORDS:
                    variable.initializer = self.reader.typed_operand(tokens)
                elif variable.kind in ("alias", "ifunc"):  # LLVM leaves out the type of an expression
                    variable.initializer = self.reader.operand(tokens, variable.type)
                else:
                    variable.initializer = self.reader.operand(tokens, variable.value_type)
            suffix: list[str] = []
            while tokens:
                if tokens[-1] == "," and tokens[-2].startswith("align "):
                    tokens.pop()
                    variable.align = int(tokens.pop()[6:])
                else:
                    suffix.append(tokens.pop())
            variable.suffix = joined(suffix)
        except (Unexpected, IndexError) as error:
            self.source.fail_here(error)

    def _function(self, line: str, keyword: str) -> None:
        """The line of a ``define`` or ``declare``."""
        # A definition carries its attachments between the attributes and '{', a declaration in front of everything.
        head = line.rstrip()
        tokens = self.source.split(head)
        tokens.pop()
        reader = self.reader
        metadata = self._signature_metadata(tokens) if keyword == "declare" else {}
        linkage, visibility, convention = "", [], ""
        while True:
            word = tokens[-1]
            if word in LINKAGES:
                linkage = word
            elif word in VISIBILITIES:
                visibility.append(word)
            elif word in CALLING_CONVENTIONS:
                convention = word
            elif word == "cc":
                tokens.pop()
                convention = f"cc {tokens[-1]}"
            else:
                break
            tokens.pop()
        return_attributes = reader.attributes(tokens)
        result = reader.type(tokens)
        word = tokens.pop()
        if word[0] != "@":
            raise Unexpected(f"expected the name of the function, found '{word}'")
        name = name_of(word)
        parameters, variadic = self._parameters(tokens)
        types = tuple(p[0] for p in parameters)
        made = Function(
            name,
            FunctionType(result, types, variadic),
            linkage=linkage,
            visibility=" ".join(visibility),
            calling_convention=convention,
            return_attributes=return_attributes,
            module=self.module,
        )
        after: list[str] = []
        while tokens and tokens[-1] != "{":
            if tokens[-1][0] == "!":
                metadata |= self._signature_metadata(tokens)
            else:
                after.append(tokens.pop())
        made.attributes = joined(after)
        made.metadata = metadata
        names: list[str] = []
        for argument, (_, attributes, token) in zip(made.arguments, parameters, strict=True):
            argument.attributes = attributes
            argument.name = "" if token[1:].isdigit() else name_of(token) if token else ""
            names.append(token)
        self._register(name, made)
        self.module.functions[name] = made
        if keyword == "define":
            self.bodies.append((self.source.at + 1, self.extent[self.source.at], made, names))

    def _parameters(self, tokens: list[str]) -> tuple[list[tuple[Type, str, str]], bool]:
        """``(type attributes %name, ..., ...)``: each parameter's type, attributes and token, and whether it is variadic."""
        self.reader.expect(tokens, "(")
        found: list[tuple[Type, str, str]] = []
        while tokens[-1] != ")":
            if tokens[-1] == "...":
                tokens.pop()
                self.reader.expect(tokens, ")")
                return found, True
            type = self.reader.type(tokens)
            attributes = self.reader.attributes(tokens)
            token = tokens.pop() if tokens[-1][0] == "%" else ""
            found.append((type, attributes, token))
            if tokens[-1] == ",":
                tokens.pop()
            elif tokens[-1] != ")":
                raise Unexpected(f"expected ',' or ')', found '{tokens.pop()}'")
        tokens.pop()
        return found, False

    def _signature_metadata(self, tokens: list[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        while tokens and tokens[-1][0] == "!":
            kind = tokens.pop()[1:]
            word = tokens.pop()
            found[kind] = self.reader.node(word, tokens)
        return found


_TOP_LEVEL: tuple[tuple[str, Callable[[_ModuleParser, str], None]], ...] = (
    ("!", _ModuleParser._meet_metadata),
    ("@", _ModuleParser._meet_entity),
    ("%", _ModuleParser._meet_type),
    ("$", _ModuleParser._meet_comdat),
    ("declare ", _ModuleParser._meet_entity),
    ("define ", _ModuleParser._meet_define),
    ("attributes ", _ModuleParser._meet_attributes),
    ("source_filename", _ModuleParser._meet_source_filename),
    ("target datalayout", _ModuleParser._meet_data_layout),
    ("target triple", _ModuleParser._meet_triple),
    ("module asm", _ModuleParser._meet_verbatim),
    ("uselistorder", _ModuleParser._meet_verbatim),
)
"""What a top level line starts with, and who takes it. Metadata comes first: most lines are that."""
