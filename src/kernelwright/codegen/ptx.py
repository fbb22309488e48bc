"""LLVM-IR to PTX, and the IR that code generation's own steps leave just before instructions are selected."""

from __future__ import annotations

import re
from pathlib import Path

from kernelwright.architectures import architecture
from kernelwright.codegen.bulk_pieces import in_pieces
from kernelwright.codegen.ptx_versions import with_version
from kernelwright.codegen.rematerialisation import rematerialised
from kernelwright.errors import ToolError
from kernelwright.passes import isolation
from kernelwright.passes.llvm import architecture_of, binding, parsed, retarget, target_machine
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import DEFAULT, PassOptions
from kernelwright.values import frozen, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STOP = "-stop-before="
CONSULT_ALIASES = frozenset({"par", "spec", "slsr", "gra", "gvn", "lsr", "lsv"})
"""Code generation's steps up to the last that asks for aliases: a second round leaves them out, having had them."""

_BLOCK_LABEL = re.compile(r'^(?:define [^@]*@("[^"]+"|[\w.$-]+)\(|("[^"]+"|[\w.$-]+):)', re.MULTILINE)


@frozen
class Generated:
    """One module through the middle end and code generation."""

    ir: str
    ptx: str


def emit_ptx(ir_text: str, arch: str | None = None, options: PassOptions = DEFAULT, *, isolate: bool = False) -> str:
    """PTX of an optimised module for ``arch`` (else the one the IR names).

    ``isolate`` runs LLVM in a worker process even where the options do not need one. Raises ``IRError`` for IR that does
    not parse, ``Misuse`` for an unknown architecture; in a worker, ``CompileError`` for IR that NVPTX cannot express.
    """
    name = architecture(arch or architecture_of(ir_text)).name
    *before, last = _rounds(options)
    for each in before:
        ir_text = isolation.run(_lowered, ir_text, name, each, options=each, isolate=True)
    return isolation.run(_emit_text, ir_text, name, last, options=last, isolate=isolate)


def generate(
    ir_text: str,
    arch: str | None = None,
    options: PassOptions = DEFAULT,
    *,
    cuda_path: Path | None = None,
    isolate: bool = False,
) -> Generated:
    """``optimise`` and ``emit_ptx`` in one go. Raises what they raise."""
    name = architecture(arch or architecture_of(ir_text)).name
    if len(_rounds(options)) == 1:
        return isolation.run(_generate, ir_text, name, options, cuda_path, options=options, isolate=isolate)
    optimised = optimise(ir_text, options, arch=name, cuda_path=cuda_path, isolate=isolate)
    return Generated(optimised, emit_ptx(optimised, name, options, isolate=isolate))


def _rounds(options: PassOptions) -> tuple[PassOptions, ...]:
    """Code generation's IR steps as one round, or two: the second infers memory spaces when nothing asks for aliases any more.

    Leaving out memory-space alias analysis needs this. LLVM cannot be told to ignore spaces that pointers carry, so the
    first round, which has every step that consults alias analysis, runs before pointers carry any.
    """
    if "msaa" not in options.without:
        return (options,)
    if options.level == 0:
        # Nothing asks for aliases then, and there is no CodeGenPrepare to stop before.
        return (replaced(options, without=options.without - {"msaa"}),)
    spaceless = replaced(options, without=options.without | {"msi"})
    return spaceless, replaced(options, without=(options.without - {"msaa"}) | CONSULT_ALIASES)


def _emit_text(ir_text: str, arch: str, options: PassOptions) -> str:
    ir_text = in_pieces(ir_text)
    with parsed(retarget(ir_text, arch)) as module:
        return _emit(module, ir_text, arch, options)


def _generate(ir_text: str, arch: str, options: PassOptions, cuda_path: Path | None) -> Generated:
    optimised = optimise(ir_text, options, arch=arch, cuda_path=cuda_path)
    # From the text, not from the module: reading text back reorders uses, and both ways must give the same bytes.
    return Generated(optimised, _emit_text(optimised, arch, options))


def _emit(module: Any, ir_text: str, arch: str, options: PassOptions) -> str:
    """PTX of ``module``, which prints as ``ir_text``. Leaves the module changed: code generation works in place."""
    _name_blocks(module, ir_text)
    machine = _machine(module, arch, options)
    # Verbose: labels carry the names of the IR's blocks, and .loc the chain of inlined calls; ptx_text.py reads both.
    machine.set_asm_verbosity(True)
    ptx = with_version(_in_ascii(str(machine.emit_assembly(module))))
    return rematerialised(ptx) if options.level else ptx


def _in_ascii(ptx: str) -> str:
    r"""The bytes of other letters, which only comments have, spelled as ``.file`` spells them: ``pr\303\266gram.cu``. ptxas
    takes them nowhere."""
    if ptx.isascii():
        return ptx
    return re.sub(r"[^\0-\x7f]", lambda m: "".join(f"\\{byte:03o}" for byte in m[0].encode("utf-8", "replace")), ptx)


def _machine(module: Any, arch: str, options: PassOptions) -> Any:
    """The code generator, and ``module`` made ready for what the options leave out of it."""
    if "bypass" in options.without:
        for function in module.functions:
            if not function.is_declaration and b"optnone" not in b" ".join(function.attributes):
                function.add_function_attribute("optsize")
    return target_machine(arch, options.level)


def _name_blocks(module: Any, ir_text: str) -> None:
    """Names every numbered block by its number, because LLVM's comments leave out blocks without a name."""
    labels: dict[str, list[str]] = {}
    current: list[str] = []
    for function, label in _BLOCK_LABEL.findall(ir_text):
        if function:
            current = labels.setdefault(function.strip('"'), [])
        else:
            current.append(label.strip('"'))
    for function in module.functions:
        if function.is_declaration:
            continue
        blocks, known = list(function.blocks), labels[function.name]
        # The first block's label is not printed when it is a number: the one after the arguments' numbers.
        if len(known) < len(blocks):
            known.insert(0, str(sum(not argument.name for argument in function.arguments)))
        for block, label in zip(blocks, known, strict=True):
            if not block.name:
                block.name = label


def _lowered(ir_text: str, arch: str, options: PassOptions) -> str:
    llvm = binding()
    llvm.set_option("kernelwright", STOP + "codegenprepare")
    try:
        with parsed(retarget(ir_text, arch)) as module:
            _name_blocks(module, ir_text)
            text = str(_machine(module, arch, options).emit_assembly(module))
    finally:
        llvm.set_option("kernelwright", STOP)
    first, found, rest = text.partition("--- |\n")
    if first or not found:
        raise ToolError("LLVM did not stop before CodeGenPrepare", hint="pip install 'llvmlite==0.50.*'")
    document, _, _ = rest.partition("\n...\n")
    return "\n".join(line[2:] for line in document.splitlines()) + "\n"
