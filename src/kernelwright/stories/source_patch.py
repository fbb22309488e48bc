"""A variant as a patch of its CUDA source, as far as its edits can be said there; the others in words with their line.

    patched = source_patch(run, "best", options)
    patched.diff            for patch -p1
    patched.said, patched.unsaid        the edits that are in it, and those that are not
    patched.outcome         what came of it on the run's data

What can be said: a barrier removed, ``#pragma unroll`` before a loop, ``__restrict__`` on a parameter, a parameter or an extent of the
launch that is a constant, a condition that is one. The patched file is compiled, its kernels are held against the variant's, and it
is run on the run's data.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from kernelwright.cuda.names import readable
from kernelwright.device.settings import virtual_gpu
from kernelwright.edits.edit_words import guard_in_words, in_words
from kernelwright.edits.gene import Gene
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.original import Original
from kernelwright.errors import CompileError, Misuse
from kernelwright.evaluate.outcome import Ok, Outcome
from kernelwright.evolution.genomes import GENOMES, EvolveRun, GenomeBuilder
from kernelwright.ir import Module, function_location
from kernelwright.ir.kernel_digest import kernel_digest
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.report.selected_variant import label_of
from kernelwright.stories.patched_program import PatchedProgram, code
from kernelwright.stories.source_text import SourceText
from kernelwright.values import replaced


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
    outcome: Outcome | None = None
    """Of the patched program on the run's data sets; None where nothing was said."""
    speedup: float = 1.0
    """Of the patched program over the run's original, estimated."""
    variant_speedup: float = 1.0

    def as_json(self) -> dict[str, Any]:
        """What ``kw patch --json`` prints: ``docs/json.md`` has the keys."""
        is_right = isinstance(self.outcome, Ok)
        return {
            "variant": self.variant, "label": self.label, "file": str(self.file), "diff": self.diff, "said": self.said,
            "unsaid": self.unsaid, "guards": self.guards, "kernels": [asdict(each) for each in self.kernels],
            "is_right": is_right if self.outcome is not None else None, "speedup": round(self.speedup, 4) if is_right else None,
            "variant_speedup": round(self.variant_speedup, 4),
        }  # fmt: skip


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
    program = PatchedProgram(run, found.file, options, arch)
    text, genes = SourceText(before.split("\n"), found.file.name), list[Gene]()
    for gene in variant.candidate:
        original = builder.originals[gene.kernel]
        words = in_words(original, gene.edit)
        sentence = f"{words.kind} in {readable(gene.kernel)}: {words.sentence}"
        if isinstance(gene.edit, ConstantCondition):
            is_said = _say_condition(text, original, gene.edit, _Target(program, builder, (*genes, gene)))
        else:
            is_said = text.apply(original, gene.edit)
        if is_said:
            genes.append(gene)
        elif words.kind == "promise":
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
    patched = program.compiled(after)
    for kernel in sorted(built.changed):
        ours, best, first = (
            code(each, kernel, arch)
            for each in (program.kernel(patched, kernel), built.kernels[kernel], originals.kernels[kernel])
        )
        found.kernels.append(KernelMatch(readable(kernel), ours == best, len(ours), len(best), len(first)))
    (found.outcome,) = program.judged([patched])
    found.variant_speedup = variant.speedup
    if isinstance(found.outcome, Ok):
        found.speedup = program.original_us / found.outcome.time_us
    return found


@dataclass(frozen=True)
class _Target:
    """The code that a changed source should come to: the variant's with the edits that are said, and one more, the last."""

    program: PatchedProgram
    builder: GenomeBuilder
    genes: tuple[Gene, ...]

    def code(self, genes: tuple[Gene, ...]) -> list[str]:
        kernel = self.genes[-1].kernel
        return code(self.builder.build(genes).kernels[kernel], kernel, self.program.arch)


def _say_condition(text: SourceText, original: Original, edit: ConstantCondition, target: _Target) -> bool:
    """Says it in the way that compiles to the code of the edit. Where none does, in the one that is right on the run's data, changes the
    code and comes to the number of instructions that is nearest; not at all where two are as near."""
    wanted, without = target.code(target.genes), target.code(target.genes[:-1])
    tried: list[tuple[tuple[int, str], Module, list[str]]] = []
    for at, line in text.conditions(original, edit):
        try:
            module = target.program.compiled(text.with_line(at, line).joined)
        except CompileError:
            continue
        made = code(target.program.kernel(module, original.kernel), original.kernel, target.program.arch)
        if made == wanted:
            text.lines[at] = line
            return True
        if made != without:
            tried.append(((at, line), module, made))
    outcomes = target.program.judged([module for _, module, _ in tried]) if tried else []
    right = [
        (abs(len(made) - len(wanted)), said)
        for (said, _, made), o in zip(tried, outcomes, strict=True)
        if isinstance(o, Ok)
    ]
    right.sort()
    if not right or (len(right) > 1 and right[0][0] == right[1][0]):
        return False
    at, line = right[0][1]
    text.lines[at] = line
    return True


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
