"""From device IR to the tables of a blob: which kernels there are, how their arguments are packed, which variables.

    kernels, variables = tables(ir_text)

Sizes and alignments are LLVM's own for the module's data layout; a structure passed by value is as large as its type,
whatever the pointer that carries it in IR.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm

from kernelwright.cuda.blob import Kernel, Parameter, ParameterKind, Variable
from kernelwright.cuda.objects.elf import Elf
from kernelwright.errors import CompileError, IRError

_NAME = r'@(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[-\w$.]+))'
_KERNEL = re.compile(rf"^define\b[^@\n]*\bptx_kernel\b[^@\n]*{_NAME}\(", re.M)
_GLOBAL = re.compile(
    rf"^{_NAME} = (?P<words>[a-z_ ]*)addrspace\((?P<space>\d+)\)(?P<rest> [a-z_ ]*\b(?:global|constant) [^\n]*)$", re.M
)
_TYPE = re.compile(r'^%(?:"[^"\n]*"|[-\w$.]+) = type [^\n]*$', re.M)
_BYVAL = re.compile(r"byval\((.*)\)$", re.S)
_ALIGN = re.compile(r"align (\d+)$")
_BOUND = re.compile(r'"nvvm\.(maxntid|minctasm)"="([\d,]+)"')
_SECTION_OF_MANAGED = 'section "kw_managed"'
_GLOBAL_SPACE, _CONSTANT_SPACE = 1, 4


def tables(ir: str) -> tuple[tuple[Kernel, ...], tuple[Variable, ...]]:
    """The kernels and the variables that a host can name, in the order of the module.

    Raises ``IRError`` for text that LLVM does not parse, ``CompileError`` for a managed variable that is initialised with an
    address.
    """
    # A context of its own: in a shared one, LLVM renames the structures of the second module that has them.
    context = llvm.create_context()
    try:
        module = llvm.parse_assembly(ir, context)
    except RuntimeError as e:
        raise IRError(f"the device code is not LLVM-IR: {e}") from None
    layout = llvm.create_target_data(module.data_layout)
    names = {_unquote(m) for m in _KERNEL.finditer(ir)}
    types = "\n".join(_TYPE.findall(ir))
    sizes = _ByValueSizes(f'target datalayout = "{module.data_layout}"\n{types}\n')
    kernels = tuple(_kernel(f, layout, sizes) for f in module.functions if f.name in names and not f.is_declaration)
    return kernels, _variables(ir, module, layout, types)


def _unquote(match: re.Match[str]) -> str:
    quoted = match["quoted"]
    if quoted is None:
        return match["plain"]
    return re.sub(r"\\([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), quoted)


class _ByValueSizes:
    """Size of a type given by its text, asked from LLVM by declaring a variable of it."""

    def __init__(self, preamble: str) -> None:
        self._preamble = preamble
        self._known: dict[str, int] = {}

    def __call__(self, type_text: str) -> int:
        if type_text not in self._known:
            context = llvm.create_context()
            module = llvm.parse_assembly(f"{self._preamble}@asked = external global {type_text}\n", context)
            layout = llvm.create_target_data(module.data_layout)
            self._known[type_text] = layout.get_abi_size(module.get_global_variable("asked").global_value_type)
        return self._known[type_text]


def _kernel(function: llvm.ValueRef, layout: llvm.TargetData, sizes: _ByValueSizes) -> Kernel:
    bounds = {name: value for a in function.attributes for name, value in _BOUND.findall(a.decode())}
    threads = 1
    for dimension in bounds.get("maxntid", "0").split(","):
        threads *= int(dimension)
    parameters: list[Parameter] = []
    end = 0
    for argument in function.arguments:
        size = layout.get_abi_size(argument.type)
        alignment = layout.get_abi_alignment(argument.type)
        kind = ParameterKind.POINTER if argument.type.is_pointer else ParameterKind.VALUE
        attributes = [a.decode() for a in argument.attributes]
        structure = next((m[1] for a in attributes if (m := _BYVAL.match(a))), None)
        if structure is not None:
            size, kind = sizes(structure), ParameterKind.STRUCTURE
            alignment = next((int(m[1]) for a in attributes if (m := _ALIGN.match(a))), 1)
        offset = -(-end // alignment) * alignment
        parameters.append(Parameter(offset, size, alignment, kind))
        end = offset + size
    return Kernel(function.name, tuple(parameters), threads, int(bounds.get("minctasm", "0")))


def _variables(ir: str, module: llvm.ModuleRef, layout: llvm.TargetData, types: str) -> tuple[Variable, ...]:
    found = []
    managed = [m for m in _GLOBAL.finditer(ir) if _SECTION_OF_MANAGED in m["rest"]]
    initial = _initial_bytes(managed, types) if managed else {}
    known = {v.name: v for v in module.global_variables}
    for match in _GLOBAL.finditer(ir):
        space = int(match["space"])
        # A weak declaration is how our headers spell threadIdx and its like.
        if space not in (_GLOBAL_SPACE, _CONSTANT_SPACE) or "extern_weak" in match["words"]:
            continue
        name = _unquote(match)
        variable = known[name]
        value_type = variable.global_value_type
        found.append(
            Variable(
                name=name,
                size=layout.get_abi_size(value_type),
                alignment=layout.get_abi_alignment(value_type),
                is_constant=space == _CONSTANT_SPACE,
                is_external=bool(variable.is_declaration),
                is_managed=_SECTION_OF_MANAGED in match["rest"],
                initial=initial.get(name, b""),
            )
        )
    return tuple(found)


def _initial_bytes(managed: list[re.Match[str]], types: str) -> dict[str, bytes]:
    """What the initialisers are in memory: compiled for the host, whose layout of data is the same, and read back."""
    lines = [types]
    for match in managed:
        name = _unquote(match)
        if "@" in match["rest"]:
            raise CompileError(
                f"the managed variable {name} is initialised with the address of something else",
                hint="set it at the start of main",
            )
        # One section each, so that the bytes of a variable are the bytes of its section.
        rest = match["rest"].replace(_SECTION_OF_MANAGED, f'section "kw.{len(lines)}"')
        words = match["words"].replace("internal", "").replace("dso_local", "")
        lines.append(
            match[0][: match.start("words") - match.start()] + words + re.sub(r"^ externally_initialized", "", rest)
        )
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine()
    data = machine.emit_object(llvm.parse_assembly("\n".join(lines), llvm.create_context()))
    content = Elf(data, "managed variables")
    found = {}
    for number, match in enumerate(managed, 1):
        initial = content.content(f"kw.{number}") or b""
        if initial.strip(b"\0"):
            found[_unquote(match)] = initial
    return found
