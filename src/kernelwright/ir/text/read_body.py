"""The lines between the braces of a function."""

from __future__ import annotations

import re

from kernelwright.ir import types as ty
from kernelwright.ir.module import BasicBlock, Function, Instruction
from kernelwright.ir.text.read_instruction import READERS
from kernelwright.ir.text.reader import FIRST_WORD, FunctionReader, Reader, Unexpected, local_key
from kernelwright.ir.text.source import Source, cut_metadata, without_comment
from kernelwright.ir.text.tokens import columns_of, global_reference, name_of
from kernelwright.ir.values import ForwardValue, Value

_LABEL = re.compile(r'([-\w$.]+|"[^"]*"):$', re.ASCII).match
_SEVERAL_LINES = re.compile(r"\s*(?:%\S+\s*=\s*)?(switch|invoke|landingpad|callbr)\b").match
_CONTINUATION = re.compile(r"\s*(?:to|cleanup|catch|filter)\b").match
_REFERENCE = re.compile(r'"[^"]*"|([%@](?:[-\w$.]+|"[^"]*"))', re.ASCII)


def read_body(source: Source, module: Reader, first: int, last: int, function: Function, names: list[str]) -> None:
    """Fill ``function`` from the lines ``first`` up to ``last``; ``names`` are its parameters' tokens, empty when unnamed."""
    _BodyParser(source, module, function).read(first, last, names)


class _BodyParser:
    def __init__(self, source: Source, module: Reader, function: Function) -> None:
        self.source = source
        self.reader = FunctionReader(module)
        self.function = function

    def read(self, first: int, last: int, names: list[str]) -> None:
        source, reader = self.source, self.reader
        source.at = first - 1
        for token, argument in zip(names, self.function.arguments, strict=True):
            self._define_argument(token, argument)
        lines = source.lines
        block: BasicBlock | None = None
        at = first
        while at < last:
            line = lines[at]
            source.at = reader.line = at
            at += 1
            if ";" in line:
                line = without_comment(line)
            if line[:2] != "  " or line.isspace():
                stripped = line.strip()
                if not stripped:
                    continue
                label = _LABEL(stripped)
                if label:
                    block = self._open_block(label.group(1))
                    append = block.instructions.append
                    continue
            if block is None:
                block = self._open_block("")
                append = block.instructions.append
            if "switch" in line or "invoke" in line or "landingpad" in line or "callbr" in line:
                line, at = self._joined(line, at, last)
            instruction = self._instruction(line)
            instruction.parent = block
            append(instruction)
        self._close()

    def _joined(self, line: str, at: int, last: int) -> tuple[str, int]:
        """An instruction that LLVM writes on several lines, as one; and the index of the line after it."""
        lines = self.source.lines
        match = _SEVERAL_LINES(line)
        if match is None:
            return line, at
        if match.group(1) == "switch":
            while "]" not in line and at < last:
                line += " " + without_comment(lines[at]).strip()
                at += 1
            return line, at
        while at < last and _CONTINUATION(lines[at]):
            line += "\n          " + lines[at].strip()
            at += 1
        return line, at

    def _define_argument(self, token: str, argument: Value) -> None:
        reader = self.reader
        if token and not token[1:].isdigit():
            key = local_key(token)
        else:
            reader.last_number = int(token[1:]) if token else reader.last_number + 1
            key = f"%{reader.last_number}"
        if key in reader.values:
            column = self.source.lines[self.source.at].rfind(token) + 1
            self.source.fail(f"{key} is defined twice in this function", column)
        reader.values[key] = argument

    def _open_block(self, label: str) -> BasicBlock:
        """The block that starts here: it may have been named before."""
        reader = self.reader
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
            self.source.fail(str(error))
        if block.parent is not None:
            self.source.fail(f"the block {key} is defined twice in this function")
        reader.open_blocks.pop(key, None)
        block.parent = self.function
        self.function.blocks.append(block)
        return block

    def _instruction(self, line: str) -> Instruction:
        """One instruction, its result registered."""
        reader = self.reader
        head, tail = cut_metadata(line) if ", !" in line else (line, "")
        tokens = self.source.split(head)
        try:
            word = tokens.pop()
            result = ""
            if word[0] == "%" and tokens[-1] == "=":
                result = word
                tokens.pop()
                word = tokens.pop()
            read = READERS.get(word)
            if read is None:
                return self._opaque(line, result, word)
            made = read(reader, word, tokens)
            if tokens:
                raise Unexpected(f"'{tokens.pop()}' follows a complete '{word}'")
            if tail:
                made.metadata = reader.attachments(tail)
            if result:
                self._define(result, made)
            elif made.type is not ty.void:
                self._define(f"%{reader.last_number + 1}", made)
        except (Unexpected, IndexError) as error:
            self.source.fail_here(error)
        return made

    def _define(self, token: str, made: Instruction) -> None:
        """``token`` is this instruction's result from here on, and for those that used it before."""
        reader = self.reader
        if token[1:].isdigit():
            reader.last_number = int(token[1:])
        else:
            made.name = name_of(token)
            if token[1] == '"':
                token = local_key(token)
        if made.type is ty.void:
            raise Unexpected(f"'{made.opcode}' has no result to name {token}", FIRST_WORD)
        before = reader.values.get(token)
        reader.values[token] = made
        if before is None:
            return
        if type(before) is not ForwardValue:
            raise Unexpected(f"{token} is defined twice in this function", FIRST_WORD)
        if made.type is not before.type:
            if made.type is ty.unknown:
                made.type = before.type
            elif before.type is ty.unknown:
                before.type = made.type
            else:
                message = f"{token} has type {made.type} but line {before.line + 1} uses it as {before.type}"
                raise Unexpected(message, FIRST_WORD)
        before.replace_all_uses_with(made)

    def _opaque(self, line: str, result: str, opcode: str) -> Instruction:
        """An opcode we have no reader for: its words are kept, its %operands, @operands and labels are followed."""
        reader = self.reader
        head, tail = (line, "") if opcode[0] == "#" else cut_metadata(line)
        opcode_ends = columns_of(head)[2 if result else 0] - 1 + len(opcode)
        body = head[opcode_ends:].rstrip()
        pieces: list[str] = []
        operands: list[Value] = []
        successors: list[BasicBlock] = []
        start = 0
        for match in _REFERENCE.finditer(body):
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
        made.metadata = reader.attachments(tail)
        if result:
            self._define(result, made)
        return made

    def _close(self) -> None:
        """Nothing may be left open at the end of a body."""
        source, name = self.source, self.function.name
        for key, at in self.reader.open_blocks.items():
            source.fail_at(at, key, f"there is no block {key} in @{name}")
        for value in self.reader.values.values():
            if type(value) is ForwardValue and value.is_used:
                source.fail_at(value.line, value.token, f"{value.token} is used but never defined in @{name}")
        if not self.function.blocks:
            source.fail(f"the body of @{name} is empty")
