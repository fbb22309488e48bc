"""What edits say of a kernel as a whole, and where that is printed: in the line of its ``define``, at its entry, and in the
lines that ask for the launch's geometry.

    before   define ptx_kernel void @k(ptr %p, i32 %n) #0 {
    after    define ptx_kernel void @k(ptr noalias %p, i32 %n.given) #0 "nvvm.reqntid"="16,16,1" {
               %n = freeze i32 1024
"""

from __future__ import annotations

import re
from typing import Protocol

from kernelwright.ir import Function, Instruction, print_function
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

FIXED_BLOCK = '"nvvm.reqntid"'
"""Blocks of exactly this shape (``.reqntid`` in PTX): LLVM knows the range of thread numbers."""
LARGEST_BLOCK = '"nvvm.maxntid"'
"""PTX knows one of the two only."""
MOST_REGISTERS = '"nvvm.maxnreg"'

_REGISTER = re.compile(r"llvm\.nvvm\.read\.ptx\.sreg\.(tid|ntid|ctaid|nctaid)\.([xyz])")
_BEHIND = re.compile(
    r"(?<![-\w])(section|partition|comdat|align|gc|prefix|prologue|personality)(?![-\w(=])|(?<![-\w])comdat\("
)
"""What stands behind a function's attributes. ``align=2`` would be one of a group's."""
_OF_PARAMETERS = re.compile(r"\b(readonly|writeonly|readnone|captures\([^)]*\))")
"""What a parameter says of the body's use of it."""
_OF_KERNELS = re.compile(r" ?\b(readonly|writeonly|readnone|argmemonly|memory\([^)]*\))")
"""What a kernel says of the memory that its body touches."""
Register = tuple[str, int]
"""A question for the launch's geometry: ``("ntid", 0)`` is ``blockDim.x``."""


@dataclass(frozen=True)
class Setting:
    """What holds in every launch of the variant, and how its machine code is limited."""

    fixed: tuple[tuple[int, str], ...] = ()
    """Arguments that are constants: which, and the constant without its type."""
    apart: frozenset[int] = frozenset()
    """Pointers that share no memory with anything else."""
    bounds: tuple[tuple[int, int, int], ...] = ()
    """Integer arguments between bounds: which, the least value and the greatest, none negative."""
    block: Triple | None = None
    grid: Triple | None = None
    registers: int | None = None


PLAIN = Setting()


class CompileRecipe(Protocol):
    """How LLVM is to compile the variant, as ``passes/recipe.py`` reads it."""

    @property
    def level(self) -> int:
        """LLVM's optimisation level, 0 to 3."""

    @property
    def rounds(self) -> int:
        """How often the pipeline runs, 1 to 4."""

    @property
    def passes(self) -> tuple[str, ...]:
        """Passes that run after the pipeline, in this order."""

    @property
    def without(self) -> tuple[str, ...]:
        """Passes that are left out of the pipeline."""


def head(function: Function, setting: Setting, other_memory: bool) -> str:
    """The lines before the first instruction. ``other_memory``: the kernel may use memory as the original did not; what LLVM
    had found out about that is then left out. It would be believed: a store into what is ``readonly`` gets lost, or is not
    seen by a load through the read-only cache.

    before   define ptx_kernel void @k(ptr readonly %in, ptr writeonly %out) memory(argmem: readwrite) {
    after    define ptx_kernel void @k(ptr %in, ptr %out) {
    """
    arguments, blocks, attributes = function.arguments, function.blocks, function.attributes
    kept = [(a.name, a.attributes) for a in arguments]
    fixed, bounds = dict(setting.fixed), {index: (low, high) for index, low, high in setting.bounds}
    try:
        for index, argument in enumerate(arguments):
            if other_memory:
                argument.attributes = " ".join(_OF_PARAMETERS.sub("", argument.attributes).split())
            if index in setting.apart:
                argument.attributes = f"noalias {argument.attributes}".rstrip()
            if index in bounds:
                argument.attributes = f"{_range(argument.type.text, *bounds[index])} {argument.attributes}".rstrip()
            if index in fixed:
                argument.name = given_name(function, index)
        own = _attributes_without_memory(function) if other_memory else attributes
        before, after = _parted(own)
        function.attributes = " ".join(filter(None, [before, *_more_attributes(function, setting), after]))
        function.blocks = blocks[:1]  # the rest need not be printed
        lines = print_function(function).split("\n")
    finally:
        function.blocks, function.attributes = blocks, attributes
        for argument, (name, text) in zip(arguments, kept, strict=True):
            argument.name, argument.attributes = name, text
    end = next(n for n, line in enumerate(lines) if line.startswith("define"))
    return "\n".join(lines[: end + 1]) + "\n"


def _range(type: str, low: int, high: int) -> str:
    """The attribute; its end is not in it, and the greatest signed number's successor is the least."""
    bits = int(type.removeprefix("i"))
    end = high + 1
    return f"range({type} {low}, {end - (1 << bits) if end >> (bits - 1) else end})"


def _attributes_without_memory(function: Function) -> str:
    """The attributes after the parameters. A group that speaks of memory is written out: others may share it."""
    groups = function.module.attribute_groups if function.module is not None else {}
    words = []
    for word in function.attributes.split(" "):
        group = groups.get(word, "") if word[:1] == "#" else ""
        words.append(group if _OF_KERNELS.search(group) else word)
    # What stands in quotes is no attribute that LLVM knows by this name.
    pieces = re.split(r'("[^"]*")', " ".join(words))
    return "".join(p if n % 2 else _OF_KERNELS.sub("", p) for n, p in enumerate(pieces)).strip()


def _parted(attributes: str) -> tuple[str, str]:
    """What stands behind the parameters, in two: attributes, and what LLVM reads behind all of them only.

    before   local_unnamed_addr #0 comdat align 2        after   ("local_unnamed_addr #0", "comdat align 2")
    """
    pieces, at = re.split(r'("[^"]*")', attributes), 0
    for number, piece in enumerate(pieces):
        found = None if number % 2 else _BEHIND.search(piece)
        if found:
            at += found.start()
            return attributes[:at].strip(), attributes[at:].strip()
        at += len(piece)
    return attributes.strip(), ""


def entry_lines(function: Function, setting: Setting) -> list[str]:
    """The lines at the entry that give fixed arguments their values."""
    found = []
    for index, value in setting.fixed:
        argument = function.arguments[index]
        found.append(f"  %{argument.name} = freeze {argument.type.text} {value}")
    return found


def given_name(function: Function, index: int) -> str:
    """The name of a parameter whose own name is now the constant's."""
    return function.arguments[index].name + ".given"


def register_asked(instruction: Instruction) -> Register | None:
    """What an instruction asks of the launch's geometry."""
    callee = instruction.callee if instruction.opcode == "call" else None
    found = _REGISTER.fullmatch(callee.name) if isinstance(callee, Function) else None
    return (found[1], "xyz".index(found[2])) if found else None


def register_line(result: str, type: str, asked: Register, line: str, setting: Setting) -> str:
    """The line that asks for the geometry, when the answer is known: an extent, or the range of an index.

    before   %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
    after    %n = freeze i32 16
    """
    name, axis = asked
    shape = setting.block if name.endswith("ntid") or name == "tid" else setting.grid
    shape = setting.grid if "cta" in name else shape
    if shape is None:
        return line
    extent = shape[axis]
    if name[0] == "n":
        return f"{result} = freeze {type} {extent}"
    if extent == 1:
        return f"{result} = freeze {type} 0"
    return re.sub(rf"call (?:range\([^)]*\) )?{type}", f"call range({type} 0, {extent}) {type}", line, count=1)


def own_attribute(function: Function, name: str) -> bool:
    """Whether the kernel itself, or its attribute group, has an attribute."""
    groups = function.module.attribute_groups if function.module is not None else {}
    words = function.attributes.split()
    return name in function.attributes or any(name in groups.get(w, "") for w in words if w[0] == "#")


def _more_attributes(function: Function, setting: Setting) -> list[str]:
    found = []
    if setting.block is not None and not any(own_attribute(function, n) for n in (FIXED_BLOCK, LARGEST_BLOCK)):
        found.append(f'{FIXED_BLOCK}="{",".join(map(str, setting.block))}"')
    if setting.registers is not None:
        found.append(f'{MOST_REGISTERS}="{setting.registers}"')
    return found
