"""A variant as a patch of its CUDA source, as far as its edits can be said there; the others in words with their line.

    patched = source_patch(run, "best", options)
    patched.diff            for patch -p1
    patched.said, patched.unsaid        the edits that are in it, and those that are not

What can be said: a barrier removed, ``#pragma unroll`` before a loop, ``__restrict__`` on a parameter, a parameter that is a constant.
The patched file is compiled, and its kernel is held against the variant's.
"""

from __future__ import annotations

import difflib
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernelwright.cuda.names import base_name, readable
from kernelwright.device.settings import virtual_gpu
from kernelwright.edits.barriers import is_barrier
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.edit_words import guard_in_words, in_words
from kernelwright.edits.instruction_words import describe_value
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.edits.original import Original
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.judging.variant import Built
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.ir import Module, function_location
from kernelwright.ir.kernel_digest import kernel_digest
from kernelwright.ir.text.canonical import canonical
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.report.selected_variant import label_of
from kernelwright.values import replaced

_BARRIER = re.compile(r"__syncthreads\(\)\s*;")
_GONE = "\0"
"""In the place of a line that is left out."""
_LOOP = re.compile(r"^(\s*)(?:for|while)\b")
_PLAIN = re.compile(r"-?\d+|-?\d+\.\d*(?:e[+-]?\d+)?")


@dataclass
class KernelMatch:
    """The patched kernel beside the variant's: instructions of both in PTX, and whether they are the same code."""

    kernel: str
    is_same: bool
    instructions: int
    variant_instructions: int
    original_instructions: int


@dataclass
class SourcePatch:
    """What came of it. ``guards``: what must hold at every launch for the patched source to be right."""

    variant: str
    label: str
    file: Path
    diff: str = ""
    said: list[str] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)
    guards: list[str] = field(default_factory=list)
    kernels: list[KernelMatch] = field(default_factory=list)


def source_patch(run: EvolveRun, name: str, options: CompileOptions, file: Path | None = None) -> SourcePatch:
    """``options``: as the program was compiled for the run. ``file``: its source, where it lies elsewhere now.

    Raises ``Misuse`` for the original, for a source that is not there, and for one whose kernel is not the run's;
    ``CompileError`` when the source does not compile.
    """
    variant = run.variant(name)
    if not variant.candidate:
        raise Misuse(f"{variant.name} is the original: there is nothing to patch", hint=f"kw show {run.folder}")
    workload, arch = run.workload(), virtual_gpu(run.settings.virtual).arch
    builder, given = GENOMES.builder(workload.modules(), arch), workload.given_modules()
    built, originals = builder.build(variant.candidate), builder.build(())
    options = replaced(options, source=replaced(options.source, arch=arch))
    found = SourcePatch(
        variant.name, label_of(run, variant.name), file or _file_of(builder.originals, sorted(built.changed))
    )
    before = _read(found.file)
    _check_same(found.file, options, {kernel: given[kernel] for kernel in built.changed})
    if run.flags and run.flags.spelled:
        found.unsaid.append(f"compile flags: {run.flags.spelled}")
        options = replaced(options, passes=PassOptions.parse(run.flags.flags))
    text = _Text(before.split("\n"), found.file.name)
    for gene in variant.candidate:
        original = builder.originals[gene.kernel]
        words = in_words(original, gene.edit)
        sentence = f"{words.kind} in {readable(gene.kernel)}: {words.sentence}"
        is_said = text.apply(original, gene.edit)
        if words.kind == "promise" and not is_said:
            continue  # a check alone: it is among the guards
        (found.said if is_said else found.unsaid).append(sentence)
    found.guards = [
        f"{readable(kernel)}: {guard_in_words(builder.originals[kernel], guard)}"
        for kernel, guards in built.guards.items()
        for guard in guards
    ]
    if not found.said:
        return found
    after = text.joined
    where = _shown(found.file)
    found.diff = "".join(
        difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{where}", f"b/{where}")
    )
    patched = _compiled(found.file, after, options)
    for kernel in sorted(built.changed):
        made = GENOMES.builder({kernel: patched}, arch).build(()).kernels[kernel]
        found.kernels.append(_match(kernel, made, built.kernels[kernel], originals.kernels[kernel], arch))
    return found


class _Text:
    """Lines of a source under way. Nothing adds or takes away a line before the end, so that their numbers stay."""

    def __init__(self, lines: list[str], name: str) -> None:
        self.lines = lines
        self._name = name

    @property
    def joined(self) -> str:
        return "\n".join(line for line in self.lines if line != _GONE)

    def apply(self, original: Original, edit: Edit) -> bool:
        """Says an edit in CUDA C; False where it cannot be."""
        for kind, say in _SAYS.items():
            if isinstance(edit, kind):
                return say(self, original, edit)
        return False

    def _line_of(self, original: Original, edit: Edit) -> int | None:
        location = in_words(original, edit).location
        if location is None or Path(location.file).name != self._name or not 0 < location.line <= len(self.lines):
            return None
        return location.line - 1

    def remove_barrier(self, original: Original, edit: Edit) -> bool:
        at = self._line_of(original, edit)
        if isinstance(edit, Delete) and not is_barrier(original.nodes[edit.subject].instruction):
            return False
        if at is None or len(_BARRIER.findall(self.lines[at])) != 1:
            return False
        rest = _BARRIER.sub(";", self.lines[at])
        above = next((line.strip() for line in reversed(self.lines[:at]) if line.strip() not in ("", _GONE)), "")
        # Alone on its line after a whole statement, the line goes; the body of an if or a loop has to stay a statement.
        self.lines[at] = _GONE if rest.strip() == ";" and above.endswith((";", "{", "}")) else rest
        return True

    def unroll(self, original: Original, edit: Edit) -> bool:
        assert isinstance(edit, Unroll)
        at = self._line_of(original, edit)
        loop = _LOOP.match(self.lines[at]) if at is not None else None
        if at is None or loop is None:
            return False
        count = f" {edit.count}" if edit.count else ""
        # On the same line, so that the numbers of the others stay.
        self.lines[at] = f'{loop[1]}_Pragma("unroll{count}") {self.lines[at].lstrip()}'
        return True

    def restrict(self, original: Original, edit: Edit) -> bool:
        assert isinstance(edit, NoAlias)

        def promised(parameter: str) -> str | None:
            head, star, tail = parameter.rpartition("*")
            return f"{head}*__restrict__ {tail.lstrip()}" if star and "__restrict__" not in parameter else None

        return self._change_parameter(original, edit.index, promised)

    def fix_argument(self, original: Original, edit: Edit) -> bool:
        assert isinstance(edit, FixArgument)
        value, name = describe_value(edit.value), original.function.arguments[edit.index].name
        body = self._body_of(original)
        if body is None or not _PLAIN.fullmatch(value) or not re.fullmatch(r"[A-Za-z_]\w*", name):
            return False
        if not self._change_parameter(original, edit.index, lambda text: None if "const" in text.split() else text):
            return False
        line, column = body
        self.lines[line] = f"{self.lines[line][:column]} {name} = {value};{self.lines[line][column:]}"
        return True

    # -- the kernel's definition

    def _head(self, original: Original) -> tuple[int, int, int] | None:
        """Where its parameters begin and end in the joined text, and where its body begins; None where that is not plain."""
        name = re.escape(base_name(original.kernel))
        found = list(re.finditer(rf"__global__\b[^;{{}}()]*?\b{name}\s*\(", "\n".join(self.lines)))
        if len(found) != 1:
            return None
        joined, at, depth = "\n".join(self.lines), found[0].end(), 1
        while depth and at < len(joined):
            depth += {"(": 1, ")": -1}.get(joined[at], 0)
            at += 1
        rest = re.match(r"\s*\{", joined[at:])
        return (found[0].end(), at - 1, at + rest.end()) if rest else None

    def _body_of(self, original: Original) -> tuple[int, int] | None:
        head = self._head(original)
        if head is None:
            return None
        before = "\n".join(self.lines)[: head[2]]
        return before.count("\n"), len(before) - before.rfind("\n") - 1

    def _change_parameter(self, original: Original, index: int, change: Callable[[str], str | None]) -> bool:
        head = self._head(original)
        if head is None:
            return False
        joined = "\n".join(self.lines)
        parts = joined[head[0] : head[1]].split(",")
        name = original.function.arguments[index].name
        if len(parts) != len(original.function.arguments) or not re.search(rf"\b{re.escape(name)}\s*$", parts[index]):
            return False  # a comma inside a template, say, or a parameter without a name
        changed = change(parts[index])
        if changed is None:
            return False
        parts[index] = changed
        self.lines[:] = (joined[: head[0]] + ",".join(parts) + joined[head[1] :]).split("\n")
        return True


_SAYS: dict[type, Callable[[_Text, Original, Edit], bool]] = {
    DeleteBarrier: _Text.remove_barrier,
    Delete: _Text.remove_barrier,
    Unroll: _Text.unroll,
    NoAlias: _Text.restrict,
    FixArgument: _Text.fix_argument,
}


def _match(kernel: str, made: Built, variant: Built, original: Built, arch: str) -> KernelMatch:
    counts = [_instructions(each.ptx(arch)) for each in (made, variant, original)]
    return KernelMatch(readable(kernel), canonical(made.text) == canonical(variant.text), *counts)


def _instructions(ptx: str) -> int:
    return len(re.findall(r"^\s+(?!\.)[^/\s][^\n]*;", ptx, re.MULTILINE))


def _file_of(originals: Mapping[str, Original], kernels: list[str]) -> Path:
    places = {
        location.file for k in kernels if (location := function_location(originals[k].module.functions[k])) is not None
    }
    if len(places) != 1:
        raise Misuse("the run does not say which file its kernels are in", hint="give it: kw patch RUN --source app.cu")
    return Path(places.pop())


def _shown(file: Path) -> str:
    """Below the working folder as ``patch -p1`` finds it there."""
    try:
        return str(file.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(file).lstrip("/")


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"{file} cannot be read", hint="give the source: kw patch RUN --source app.cu") from error


def _check_same(file: Path, options: CompileOptions, modules: Mapping[str, Module]) -> None:
    """Raises ``Misuse`` when the source does not compile to the kernels of the run."""
    (unit,) = compile_program([file], options=options).units
    for kernel, module in modules.items():
        if kernel not in unit.module.functions or kernel_digest(unit.module, kernel) != kernel_digest(module, kernel):
            raise Misuse(
                f"kernel {readable(kernel)} in {file} is not the one that the run began with",
                hint="it was edited since, or compiled with other flags: give those of the run (-O3, -D, -I, --use_fast_math)",
            )


def _compiled(file: Path, text: str, options: CompileOptions) -> Module:
    """The patched file, compiled beside the original so that it finds its headers. Raises ``CompileError``, ``ToolError``."""
    try:
        with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=".kw-patch-", suffix=".cu") as beside:
            beside.write(text)
            beside.flush()
            (unit,) = compile_program([Path(beside.name)], options=options, cache=False).units
            return unit.module
    except OSError as error:
        raise ToolError(
            f"nothing can be written beside {file}: {error.strerror}", hint="copy the source to a folder of your own"
        ) from error
