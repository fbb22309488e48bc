"""LLVM-IR text to a ``Module``.

Two passes over the lines: the first meets every type, global and function by its first line, the second reads
initializers and bodies, so that anything may be used before the line that defines it. Comments are dropped, except the
ones at the top of the file.
"""

from __future__ import annotations

import re
from typing import NoReturn

from kernelwright.errors import IRError, Place
from kernelwright.ir import types as ty
from kernelwright.ir.instruction import Instruction
from kernelwright.ir.module import BasicBlock, Function, GlobalVariable, Module
from kernelwright.ir.read_instruction import CALLING_CONVENTIONS, READERS
from kernelwright.ir.reader import VALUE_WORDS, FunctionReader, Reader, Unexpected, local_key
from kernelwright.ir.tokens import columns_of, global_reference, joined, name_of, split, tokens_of, unquote
from kernelwright.ir.types import FunctionType, StructType, Type
from kernelwright.ir.values import ForwardValue, Value

LINKAGES = frozenset(
    {"private", "internal", "available_externally", "linkonce", "linkonce_odr", "weak", "weak_odr", "common"}
    | {"appending", "extern_weak", "external"}
)
VISIBILITIES = frozenset(["dso_local", "dso_preemptable", "default", "hidden", "protected", "dllimport", "dllexport"])
_KINDS = ("global", "constant", "alias", "ifunc")
_ATTACHMENT = re.compile(r"!([-\w$.\\]+) (![0-9]+)(?:, |$)", re.ASCII)
_LABEL = re.compile(r'([-\w$.]+|"[^"]*"):\s*(?:;.*)?$', re.ASCII).match
_SEVERAL_LINES = re.compile(r"\s*(?:%\S+\s*=\s*)?(switch|invoke|landingpad|callbr)\b").match
_CONTINUATION = re.compile(r"\s*(?:to|cleanup|catch|filter)\b").match
_STRING_OR_CUT = re.compile(r'"[^"]*"|, !')
_OPAQUE_REFERENCE = re.compile(r'"[^"]*"|([%@](?:[-\w$.]+|"[^"]*"))|;.*', re.ASCII)


def parse_module(text: str, file: str = "<ir>") -> Module:
    """The module that ``text`` spells. Raises ``IRError`` with file, line, column and a caret when it cannot be read."""
    return _ModuleParser(text, file).parse()


class _ModuleParser:
    def __init__(self, text: str, file: str) -> None:
        self.lines = text.split("\n")
        self.file = file
        self.module = Module()
        self.reader = Reader({}, dict(ty.SIMPLE), {})
        self.initializers: list[tuple[int, str, GlobalVariable]] = []
        self.bodies: list[tuple[int, int, Function, list[str]]] = []
        self.type_lines: dict[str, int] = {}
        self.tokens: list[str] = []
        self.total = 0
        """The words of the line being read that are left, and how many there were."""
        self.at = 0
        """The index of the line being read."""
        self.shown: str | None = None
        """The line as read, when it is not ``lines[at]`` (a joined ``switch``, or what is left without metadata)."""

    def parse(self) -> Module:
        self._scan()
        try:
            for name, at in self.type_lines.items():
                self.at = at
                self._named_type(name)
            for at, kind, line in self._global_lines:
                self.at = at
                self._global(line) if kind == "@" else self._function(line, kind)
        except (Unexpected, IndexError) as error:
            self._fail_here(error)
        self.module.globals = dict(sorted(self.module.globals.items(), key=lambda g: g[1].kind in ("alias", "ifunc")))
        for at, rest, variable in self.initializers:
            self.at = at
            self._initializer(rest, variable)
        for first, last, function, names in self.bodies:
            self._body(first, last, function, names)
        return self.module

    # -- first pass

    def _scan(self) -> None:
        """Sort the top level lines; bodies are skipped, their extent noted."""
        module, lines = self.module, self.lines
        self._global_lines: list[tuple[int, str, str]] = []
        self._extent: dict[int, int] = {}
        at, total = 0, len(lines)
        started = False
        while at < total:
            line = lines[at]
            self.at = at
            at += 1
            if not line or line.isspace():
                continue
            first = line[0]
            if first == ";":
                if not started:
                    module.header.append(line)
                continue
            if first == "!":
                key, found, rest = line.partition(" = ")
                if not found:
                    self._fail("expected '!name = node'", 1)
                if key[1:].isdigit():
                    module.metadata[key] = rest.rstrip()
                else:
                    module.named_metadata[key[1:]] = rest.rstrip()
                continue
            if line.startswith("source_filename"):
                module.source_filename = unquote(line.partition("=")[2].strip())
                continue
            started = True
            if first == "@":
                self._global_lines.append((self.at, "@", line))
            elif first == "%":
                name, _, definition = line.partition(" = type ")
                if not definition:
                    self._fail("expected '%name = type ...'", 1)
                self.reader.type_texts[name_of(name)] = definition.partition(";")[0].strip()
                self.type_lines[name_of(name)] = self.at
            elif first == "$":
                name, _, rest = line.partition(" = ")
                module.comdats[name_of(name)] = rest.strip()
            elif line.startswith("declare"):
                self._global_lines.append((self.at, "declare", line))
            elif line.startswith("define"):
                self._global_lines.append((self.at, "define", line))
                while at < total and lines[at].rstrip() != "}":
                    at += 1
                if at == total:
                    self._fail("this function has no closing '}'", 1)
                self._extent[self.at] = at
                at += 1
            elif line.startswith("target datalayout"):
                module.data_layout = unquote(line.partition("=")[2].strip())
            elif line.startswith("target triple"):
                module.target_triple = unquote(line.partition("=")[2].strip())
            elif line.startswith("attributes "):
                key, _, rest = line[11:].partition(" = ")
                module.attribute_groups[key] = rest.strip()[1:-1].strip()
            elif line.startswith(("module asm", "uselistorder")):
                module.header.append(line)
            else:
                self._fail(f"expected a top level entity, found '{split(line)[0]}'", 1)

    def _named_type(self, name: str) -> None:
        try:
            struct = self.reader.named_type(name)
        except Unexpected as error:
            self._fail(str(error), self.lines[self.at].find(" = type ") + 9)
        except IndexError:
            self._fail("the type ends before it is complete", len(self.lines[self.at]) + 1)
        assert isinstance(struct, StructType)
        self.module.named_types[name] = struct

    def _global(self, line: str) -> None:
        """``@name = linkage ... global|constant type`` up to the initializer, which waits for the second pass."""
        head, tail = _cut_metadata(line)
        self.shown = head
        tokens = self.tokens = tokens_of(head)
        self.total = len(tokens)
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
        made.metadata = self._attachments(tail)
        if kind in ("alias", "ifunc"):
            self.reader.expect(tokens, ",")
        self._register(name, made)
        self.module.globals[name] = made
        self.initializers.append((self.at, head, made))
        made.suffix = str(len(tokens))  # where the initializer starts, until the second pass

    def _register(self, name: str, value: Value) -> None:
        key = global_reference(name)
        if key in self.reader.values:
            raise Unexpected(f"{key} is defined twice in this module")
        self.reader.values[key] = value

    def _initializer(self, head: str, variable: GlobalVariable) -> None:
        self.shown = head
        tokens = self.tokens = tokens_of(head)
        self.total = len(tokens)
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
            self._fail_here(error)

    def _function(self, line: str, keyword: str) -> None:
        """The line of a ``define`` or ``declare``."""
        # A definition carries its attachments between the attributes and '{', a declaration in front of everything.
        head = line.rstrip()
        tokens = self.tokens = tokens_of(head)
        self.shown = head
        self.total = len(tokens)
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
            self.bodies.append((self.at + 1, self._extent[self.at], made, names))

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

    # -- second pass

    def _body(self, first: int, last: int, function: Function, names: list[str]) -> None:
        """The lines between the braces."""
        reader = FunctionReader(self.reader)
        self.at = first - 1
        for token, argument in zip(names, function.arguments, strict=True):
            self._define_argument(reader, token, argument)
        lines = self.lines
        blocks = function.blocks
        block: BasicBlock | None = None
        append = None
        at = first
        while at < last:
            line = lines[at]
            self.at = reader.line = at
            at += 1
            if line[:2] != "  " or line.isspace():
                stripped = line.strip()
                if not stripped or stripped[0] == ";":
                    continue
                label = _LABEL(stripped)
                if label:
                    block = self._open_block(reader, label.group(1), function)
                    append = block.instructions.append
                    continue
            if ";" in line and line.lstrip()[0] == ";":
                continue
            if append is None:
                block = self._open_block(reader, "", function)
                append = block.instructions.append
            if "switch" in line or "invoke" in line or "landingpad" in line or "callbr" in line:
                line, at = self._joined(line, at, last)
            instruction = self._instruction(reader, line)
            instruction.parent = block
            append(instruction)
        self._close(reader, function, blocks)

    def _joined(self, line: str, at: int, last: int) -> tuple[str, int]:
        """An instruction that LLVM writes on several lines, as one; and the index of the line after it."""
        lines = self.lines
        match = _SEVERAL_LINES(line)
        if match is None:
            return line, at
        if match.group(1) == "switch":
            while "]" not in lines[at - 1] and at < last:
                line += " " + lines[at].strip()
                at += 1
            return line, at
        while at < last and _CONTINUATION(lines[at]):
            line += "\n          " + lines[at].strip()
            at += 1
        return line, at

    def _define_argument(self, reader: FunctionReader, token: str, argument: Value) -> None:
        if token and not token[1:].isdigit():
            key = local_key(token)
        else:
            reader.last_number = int(token[1:]) if token else reader.last_number + 1
            key = f"%{reader.last_number}"
        if key in reader.values:
            self._fail(f"{key} is defined twice in this function", self.lines[self.at].rfind(token) + 1)
        reader.values[key] = argument

    def _open_block(self, reader: FunctionReader, label: str, function: Function) -> BasicBlock:
        """The block that starts here: it may have been named before."""
        if not label:
            reader.last_number += 1
            key = f"%{reader.last_number}"
        elif label[0] == '"':
            key = local_key("%" + label)
        else:
            key = "%" + label
            if label.isdigit():
                reader.last_number = int(label)
        try:
            block = reader.new_block(key)
        except Unexpected as error:
            self._fail(str(error), 1)
        if block.parent is not None:
            self._fail(f"the block {key} is defined twice in this function", 1)
        reader.open_blocks.pop(key, None)
        block.parent = function
        function.blocks.append(block)
        return block

    def _instruction(self, reader: FunctionReader, line: str) -> Instruction:
        """One instruction, its result registered."""
        head, tail = _cut_metadata(line) if ", !" in line else (line, "")
        tokens = tokens_of(head)
        self.tokens, self.shown, self.total = tokens, head, len(tokens)
        try:
            word = tokens.pop()
            result = ""
            if word[0] == "%" and tokens[-1] == "=":
                result = word
                tokens.pop()
                word = tokens.pop()
            read = READERS.get(word)
            if read is None:
                return self._opaque(reader, line, result, word)
            made = read(reader, word, tokens)
            if tokens:
                raise Unexpected(f"'{tokens.pop()}' follows a complete '{word}'")
            if tail:
                made.metadata = self._attachments(tail)
            if result:
                self._define(reader, result, made)
            elif made.type is not ty.void:
                self._define(reader, f"%{reader.last_number + 1}", made)
        except (Unexpected, IndexError) as error:
            self._fail_here(error)
        return made

    def _define(self, reader: FunctionReader, token: str, made: Instruction) -> None:
        """``token`` is this instruction's result from here on, and for those that used it before."""
        if token[1:].isdigit():
            reader.last_number = int(token[1:])
        else:
            made.name = name_of(token)
            if token[1] == '"':
                token = local_key(token)
        if made.type is ty.void:
            raise Unexpected(f"'{made.opcode}' has no result to name {token}", self.total)
        values = reader.values
        before = values.get(token)
        values[token] = made
        if before is None:
            return
        if type(before) is not ForwardValue:
            raise Unexpected(f"{token} is defined twice in this function", self.total)
        if made.type is not before.type:
            if made.type is ty.unknown:
                made.type = before.type
            elif before.type is ty.unknown:
                before.type = made.type
            else:
                raise Unexpected(f"{token} has type {made.type} but line {before.line + 1} uses it as {before.type}")
        before.replace_all_uses_with(made)

    def _opaque(self, reader: FunctionReader, line: str, result: str, opcode: str) -> Instruction:
        """An opcode we have no reader for: its words are kept, its %operands, @operands and labels are followed."""
        head, tail = (line, "") if opcode[0] == "#" else _cut_metadata(line)
        body = head[head.index(opcode) + len(opcode) :].rstrip()
        pieces: list[str] = []
        operands: list[Value] = []
        successors: list[BasicBlock] = []
        start = 0
        for match in _OPAQUE_REFERENCE.finditer(body):
            word = match.group(1)
            if word is None or (word[0] == "%" and name_of(word) in reader.type_texts):
                continue
            before = body[start : match.start()]
            if word[0] == "@":
                value = reader.values.get(global_reference(name_of(word)))
                if value is None:
                    continue
                operands.append(value)
            elif before.endswith("label "):
                successors.append(reader.new_block(word))
            else:
                known = reader.values.get(local_key(word))
                operands.append(known if known is not None else reader.unknown_local(word, ty.unknown))
            pieces.append(before)
            start = match.end()
        pieces.append(body[start:])
        made = Instruction(opcode, ty.unknown if result else ty.void, tuple(operands))
        made.text, made.successors = tuple(pieces), tuple(successors)
        made.metadata = self._attachments(tail)
        if result:
            self._define(reader, result, made)
        return made

    def _attachments(self, tail: str) -> dict[str, str]:
        """``!dbg !12, !tbaa !9`` as a dict."""
        if not tail:
            return {}
        pairs = _ATTACHMENT.findall(tail)
        if 2 * len(pairs) == tail.count("!"):
            return dict(pairs)
        found: dict[str, str] = {}
        tokens = tokens_of(tail)
        while tokens:
            kind = tokens.pop()
            word = tokens.pop()
            if kind[0] != "!" or word[0] != "!":
                raise Unexpected(f"expected metadata, found '{kind} {word}'")
            found[kind[1:]] = self.reader.node(word, tokens)
            if tokens:
                self.reader.expect(tokens, ",")
        return found

    def _close(self, reader: FunctionReader, function: Function, blocks: list[BasicBlock]) -> None:
        """Nothing may be left open at the end of a body."""
        for key, at in reader.open_blocks.items():
            self._fail_at(at, key, f"there is no block {key} in @{function.name}")
        for value in reader.values.values():
            if type(value) is ForwardValue and value.is_used:
                self._fail_at(value.line, value.token, f"{value.token} is used but never defined in @{function.name}")
        if not blocks:
            self._fail(f"the body of @{function.name} is empty", 1)

    # -- errors

    def _fail(self, message: str, column: int) -> NoReturn:
        place = Place(self.file, self.at + 1, column, self.lines[self.at])
        raise IRError(message, place=place, hint="correct this line; the text must be LLVM-IR as LLVM 22 prints it")

    def _fail_at(self, at: int, token: str, message: str) -> NoReturn:
        self.at = at
        self._fail(message, max(self.lines[at].find(token), 0) + 1)

    def _fail_here(self, error: Exception) -> NoReturn:
        """Turn what a reader met into an ``IRError`` at the token it met."""
        shown = self.shown if self.shown is not None else self.lines[self.at]
        columns = columns_of(shown)
        if isinstance(error, Unexpected):
            at = self.total - len(self.tokens) - 1 - error.back
            message = str(error)
        else:
            at = len(columns) - 1
            message = "the line ends before it is complete"
        column = columns[min(max(at, 0), len(columns) - 1)]
        line = self.lines[self.at]
        if not line.startswith(shown[: len(line)]) and not shown.startswith(line):
            line = shown
        if column > len(line) + 1:  # a switch that was joined from several lines
            line = shown
        place = Place(self.file, self.at + 1, column, line)
        hint = "correct this line; the text must be LLVM-IR as LLVM 22 prints it"
        raise IRError(message, place=place, hint=hint) from None


def _cut_metadata(line: str) -> tuple[str, str]:
    """The line without its metadata attachments, and the attachments without the comma in front."""
    if '"' not in line:
        head, _, tail = line.partition(", !")
        return head, "!" + tail.rstrip() if tail else ""
    for match in _STRING_OR_CUT.finditer(line):
        if match.group() == ", !":
            return line[: match.start()], line[match.start() + 2 :].rstrip()
    return line, ""
