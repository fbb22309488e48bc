"""Winners: the variants that runs have found, as versions of a program's kernels.

    given = winners(["smooth-1", "hotspot-2:v17"])
    given.versions          for kw run --with and kw compile --with, or program.with_versions(...)
    given.said, given.warned    a sentence each: which variants they are and what their proofs call them

A run named alone stands for its best variant, if its proof calls that at least as safe as the original; else for what of it is
proven. Where the best fixes a size, what is left of it for any size is tried next. Any other variant has to be named, and that is said.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from kernelwright.architectures import architecture
from kernelwright.cuda.names import readable
from kernelwright.device.settings import virtual_gpu
from kernelwright.device.versions.absent import without_kernel
from kernelwright.device.versions.comparison import difference, extents_of
from kernelwright.edits.edit_words import guard_in_words
from kernelwright.edits.instruction_words import describe_argument
from kernelwright.edits.original import Original
from kernelwright.errors import Misuse, check_kind
from kernelwright.evaluate.run.run import found_folder
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes
from kernelwright.ir.kernel_digest import kernel_digest
from kernelwright.ir.types import IntType, PointerType
from kernelwright.kernel_version import Version
from kernelwright.launch_relations import WIDTHS, Quantity
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.pipeline import Program
from kernelwright.pipeline import compile as compile_program
from kernelwright.prove.labels import LABELS, MEANING, Label
from kernelwright.report.selected_variant import UNPROVEN, label_of
from kernelwright.values import replaced
from kernelwright.versions.launch_values import Arguments
from kernelwright.versions.threshold_file import read_thresholds, runs_of, winners_named
from kernelwright.versions.tuned_winners import guarded_by, tuned

SAFE: tuple[Label, ...] = LABELS[: LABELS.index("as safe as the original") + 1]
"""Labels of variants that are used without being named."""


@dataclass
class Winners:
    """Versions, in the order they are tried, and what is to be said of them."""

    versions: list[Version] = field(default_factory=list)
    arguments: dict[str, Arguments] = field(default_factory=dict)
    """By mangled kernel, for thresholds that compare them."""
    own: dict[tuple[str, str], Version] = field(default_factory=dict)
    """By name and kernel, the versions of a threshold file as they are without their thresholds."""
    said: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)


TUNING = ".tuning"


def winners(runs: Sequence[str], *, ordered: bool = True) -> Winners:
    """The variants that ``runs`` name: a run's folder or name, with or without ``:VARIANT``; or a threshold file of
    ``kw tune --with``, for those it was tuned with, each behind its threshold.

    With ``ordered``, a run's variant for any size is tried after its best, and what is said includes which is tried first; without, a run
    has one version, which a threshold stands before. Raises ``Misuse`` for what is no run, a run without a winner, and
    one whose best is less safe than the original and not named; ``ToolError`` for a run whose recordings are missing.
    """
    found = Winners()
    for text in runs:
        check_kind(text, str, "a run", "give its name or folder: kw.winners('smooth-1', 'smooth-2:v17')")
        if text.endswith(TUNING) and Path(text).is_file():
            _add_tuned(found, Path(text))
            continue
        run, variant = opened(text)
        with run:
            _add(found, run, variant, is_second_tried=ordered)
    if ordered:
        _say_order(found)
    return found


def _add_tuned(found: Winners, path: Path) -> None:
    """The winners that a threshold file was tuned with. Those that are never to be taken are said, and left out."""
    before = winners(runs_of(path), ordered=False)
    thresholds = read_thresholds(path)
    guarded = guarded_by(before.versions, before.arguments, thresholds)
    kept = tuned(guarded, thresholds)
    owned = {name for version in guarded for name, _ in version.names()}
    unknown = [name for name in winners_named(path, thresholds) if name not in owned]
    if unknown:
        found.warned.append(f"{path} has thresholds of no winner here, which are ignored: {', '.join(unknown)}")
    found.own |= {(version.name, version.kernel): version for version in before.versions}
    names = {(version.name, version.kernel) for version in kept}
    found.versions += kept
    found.said += before.said
    found.said += [
        f"{version.name} is left out for {readable(version.kernel)}: no dataset of {path} runs faster with it"
        for version in before.versions
        if (version.name, version.kernel) not in names
    ]
    found.warned += before.warned


def versions_of(*runs: str) -> tuple[Version, ...]:
    """The winners of runs for ``kw.Device(winners=...)``: ``kw.winners("smooth-1", "hotspot-2:v17")``.

    Warns of variants that are less safe than the original, which have to be named. Raises as ``winners``.
    """
    found = winners(runs)
    for sentence in found.warned:
        warnings.warn(sentence, stacklevel=2)
    return tuple(found.versions)


def opened(text: str, *, write: bool = False) -> tuple[EvolveRun, str]:
    """The run, to be closed by the caller, and the name of the variant; ``best`` where none is named. Raises ``Misuse``."""
    path, colon, variant = text.rpartition(":")
    try:
        folder = found_folder(path if colon else text)
    except Misuse:
        # A folder whose own name has a colon in it.
        folder, variant, colon = found_folder(text), "", ""
    return EvolveRun.open(folder, GENOMES, write=write), variant if colon and variant else "best"


def _add(found: Winners, run: EvolveRun, asked: str, *, is_second_tried: bool) -> None:
    variants = _recommended(run) if asked == "best" else [run.variant(asked)]
    variants = variants if is_second_tried else variants[:1]
    if not variants[0].candidate:
        raise Misuse(
            f"{variants[0].name} is the original: there is nothing to put in its place", hint=f"kw show {run.folder}"
        )
    workload = run.workload()
    # Of a run with a choice of compile flags, edits start from what these make of the kernels; the program has the given ones.
    given = workload.given_modules()
    builder = GENOMES.builder(workload.modules(), virtual_gpu(run.settings.virtual).arch)
    found.arguments |= {kernel: _arguments(original) for kernel, original in builder.originals.items()}
    fitting: set[str] = set()
    """Kernels with a version that fits every launch."""
    made: set[tuple[str, str]] = set()
    for variant in variants:
        genome = builder.build(variant.candidate)
        built = genome.kernels
        changed = sorted(k for k in genome.changed if k not in fitting and (k, built[k].text) not in made)
        if not changed:
            continue
        label, name = _said(found, run, variant, changed)
        found.versions += [
            Version(
                kernel=kernel,
                name=name,
                label=label,
                original=kernel_digest(given[kernel], kernel),
                parameters=extents_of(given[kernel].functions[kernel]),
                ir=built[kernel].text,
                guards=built[kernel].guards,
                words=tuple(guard_in_words(builder.originals[kernel], guard) for guard in built[kernel].guards),
            )
            for kernel in changed
        ]
        made |= {(kernel, built[kernel].text) for kernel in changed}
        fitting |= {kernel for kernel in changed if not built[kernel].guards}
    unedited = builder.build(GENOMES.original).kernels
    found.versions += [
        Version(
            kernel=kernel,
            name=f"{run.name}:flags",
            label="as safe as the original",
            original=kernel_digest(given[kernel], kernel),
            parameters=extents_of(given[kernel].functions[kernel]),
            ir=unedited[kernel].text,
        )
        for kernel in sorted(workload.optimised)
        if kernel not in fitting
    ]


def _arguments(original: Original) -> Arguments:
    """A kernel's whole numbers and pointers by their names; of one that has none, ``argument 2`` is ``argument2``."""
    made = {}
    for index, argument in enumerate(original.function.arguments):
        name = "".join(describe_argument(original, index).split())
        if isinstance(argument.type, PointerType) and "byval" not in argument.attributes:
            made[name] = Quantity("bytes", index)
        elif isinstance(argument.type, IntType) and argument.type.bits // 8 in WIDTHS:
            made[name] = Quantity("argument", index, 0, argument.type.bits // 8)
    return made


def _said(found: Winners, run: EvolveRun, variant: Found[Genes], kernels: Sequence[str]) -> tuple[str, str]:
    """A variant's label and name, once it is said what it is."""
    label, name = label_of(run, variant.name), f"{run.name}:{variant.name}"
    how = f"measured on {run.settings.gpu}" if run.settings.gpu else f"estimated for the {run.settings.device}"
    shown = ", ".join(map(readable, kernels))
    found.said.append(
        f"{name} is {label}, {variant.speedup:.3f} times as fast by its run ({how}; kernels alone, launches not counted), for {shown}"
    )
    flags = f"{run.name}:flags is the kernels without edits: {run.flags}"
    if run.flags and run.flags.spelled and flags not in found.said:
        found.said.append(flags)
    if label not in SAFE:
        meaning = "what it depends on was not checked" if label == UNPROVEN else MEANING[label]  # type: ignore[index]
        found.warned.append(f"WARNING: {name} is less safe than the original. It is {label}: {meaning}")
    return label, name


def _recommended(run: EvolveRun) -> list[Found[Genes]]:
    """The best variant whose label needs no second thought, and what fixes no size, which is tried where that does not fit. Raises
    ``Misuse`` when there is none."""
    best = run.variant("best")
    chosen = next(
        (each for each in (best, run.proven) if each and each.is_gain and label_of(run, each.name) in SAFE), None
    )
    if chosen is None:
        raise Misuse(
            f"the best of {run.name} is {label_of(run, best.name)}, which is less safe than the original",
            hint=f"name it if you want it all the same: {run.name}:{best.name}; kw show {run.folder} lists others",
        )
    second = for_any_size(run, chosen)
    return [chosen, second] if second is not None else [chosen]


def for_any_size(run: EvolveRun, chosen: Found[Genes]) -> Found[Genes] | None:
    """What is tried where ``chosen`` does not fit, if it is what the run stands for and fixes a size: what is left of it for any, where
    that is known to be faster and is as safe as the original."""
    second, first = run.for_any_size, (each.name for each in (run.best, run.proven) if each)
    is_second = second is not None and chosen.name in first and second.name != chosen.name
    return second if second is not None and is_second and label_of(run, second.name) in SAFE else None


def _say_order(found: Winners) -> None:
    """Where several are for one kernel: which is tried first, and which never gets its turn."""
    by_kernel: dict[str, list[Version]] = {}
    for version in found.versions:
        by_kernel.setdefault(version.kernel, []).append(version)
    for kernel, several in by_kernel.items():
        if len(several) == 1:
            continue
        always = next((n for n, version in enumerate(several) if not version.guards), len(several))
        order = ", then ".join(version.name for version in several[: always + 1])
        found.said.append(f"for each launch of {readable(kernel)}, {order} is tried")
        found.warned += [
            f"{version.name} is never used for {readable(kernel)}: {several[always].name}, named before it, fits every launch"
            for version in several[always + 1 :]
        ]


def placed(program: Program, versions: Sequence[Version]) -> tuple[dict[Path, list[Version]], list[str]]:
    """By source file, the versions of its kernels; and a sentence for each that fits none of them."""
    carried: dict[Path, list[Version]] = {}
    kernels = {name: unit for unit in program.units for name in (kernel.name for kernel in unit.module.kernels)}
    said = list(without_kernel(versions, kernels))
    for version in versions:
        unit = kernels.get(version.kernel)
        if unit is None:
            continue
        function = unit.module.functions[version.kernel]
        why = difference(version, extents_of(function), unit.module)
        if why:
            said.append(f"{version.name} is not used for kernel {readable(version.kernel)}: {why}; the original runs")
        else:
            carried.setdefault(unit.path, []).append(version)
    return carried, said


def placed_where_they_fit(
    program: Program, versions: Sequence[Version], *, cache: bool = True
) -> tuple[Program, dict[Path, list[Version]], list[str]]:
    """As ``placed``, and the program they are placed in: compiled for the newest of its architectures whose kernels most versions
    were made from. An architecture has code of its own, and a run knew one. Raises as compiling does."""
    options = program.options
    archs = sorted((options.source.arch, *options.also), key=lambda arch: architecture(arch).number, reverse=True)
    best = (program, *placed(program, versions))
    for arch in archs:
        if not best[2]:
            break
        if arch == options.source.arch:
            continue
        source, others = replaced(options.source, arch=arch), tuple(each for each in archs[::-1] if each != arch)
        paths = [unit.path for unit in program.units]
        other = compile_program(paths, options=replaced(options, source=source, also=others), cache=cache)
        carried, said = placed(other, versions)
        if len(said) < len(best[2]):
            best = other, carried, said
    return best
