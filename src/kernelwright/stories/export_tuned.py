"""A threshold file of winners as a folder to take along: every winner, and what picks among them at each launch.

app-tuned/
    README.md            which winner runs where, and why
    again.h              a C header per kernel: all winners of it, each behind its checks and its threshold, and the original
    winner_cupy.py       the same for CuPy
    app-1-v59/           each winner by itself, as ``kw export`` writes it; its threshold is one of its checks
    app.tuning  app.tuning.json     the thresholds, and what was measured
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from kernelwright import __version__
from kernelwright.cuda.names import readable
from kernelwright.errors import Misuse
from kernelwright.evolution.genomes import GENOMES, EvolveRun, GenomeBuilder
from kernelwright.ir import parse_module
from kernelwright.kernel_version import Version
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.stories.c_header import HeaderKernel, HeaderVersion, Images, c_header, images_of
from kernelwright.stories.export import (
    Exported,
    cupy_module,
    exported,
    names_of,
    original_images,
    own_variable,
    pointers_of,
    refused,
    rendered,
    stems_of,
    write_folder,
)
from kernelwright.stories.winners import Winners, opened, winners
from kernelwright.versions.threshold_file import evidence_path, runs_of


@dataclass(frozen=True)
class _Origin:
    """The run that a version comes from."""

    run: EvolveRun
    builder: GenomeBuilder


def export_tuned(path: Path, folder: Path | None = None, *, unproven: bool = False) -> Path:
    """Writes the folder, by default ``app-tuned`` in the working folder for ``app.tuning``; returns it.

    Raises ``Misuse`` where no winner is taken, where one is without a proof or was rejected by it, unless ``unproven``, and for a
    folder in use; ``ToolError`` for one that cannot be written: then nothing is left there.
    """
    taken = winners([str(path)], ordered=False)
    versions = taken.versions
    if not versions:
        raise Misuse(
            f"no dataset of {path} runs faster with a winner: there is nothing to export",
            hint=f"kw tune --explain -o {path}",
        )
    target = folder or Path(f"{path.stem}-tuned")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Misuse(f"{target} is not empty", hint="name another folder with -o")
    with ExitStack() as stack:
        runs = [stack.enter_context(opened(text)[0]) for text in runs_of(path)]
        origins = {run.name: _Origin(run, GENOMES.of(run)) for run in runs}
        write_folder(target, _files(path, taken, origins, unproven))
    return target


def _files(path: Path, taken: Winners, origins: Mapping[str, _Origin], unproven: bool) -> dict[str, bytes]:
    versions = taken.versions

    def own(version: Version) -> Version:
        return taken.own[version.name, version.kernel]

    files = {path.name: path.read_bytes()}
    if evidence_path(path).exists():
        files[evidence_path(path).name] = evidence_path(path).read_bytes()
    warnings: dict[str, str] = {}
    folders: dict[str, str] = {}
    singles: dict[str, Exported] = {}
    for name in dict.fromkeys(version.name for version in versions):
        run, variant = origins[name.rpartition(":")[0]].run, name.rpartition(":")[2]
        if variant == "flags":
            continue
        found = run.variant(variant)
        proof = run.proof(variant)
        warnings[name] = refused(run, variant, proof, unproven)
        folders[name] = name.replace(":", "-")
        extra = {v.kernel: v.guards[len(own(v).guards) :] for v in versions if v.name == name}
        singles[name] = exported(run, found, proof, warnings[name], extra)
        files |= {f"{folders[name]}/{file}": data for file, data in singles[name].files.items()}
    kernels = _headers(versions, origins, warnings, singles, files)
    cupy = _cupy_rows(versions, folders, singles)
    shown = {
        "path": path.name, "versions": versions, "folders": folders, "readable": readable, "warnings": warnings,
        "kernels": kernels, "cupy": cupy, "version": __version__, "own_checks": lambda v: own(v).words,
        "thresholds": lambda v: v.words[len(own(v).words) :],
    }  # fmt: skip
    if cupy:
        files["winner_cupy.py"] = cupy_module(
            cupy, [f"{name}: {warning}" for name, warning in warnings.items() if warning]
        )
    return {"README.md": rendered("tuned_readme.md.jinja", shown), **files}


def _headers(
    versions: Sequence[Version], origins: Mapping[str, _Origin], warnings: Mapping[str, str],
    singles: Mapping[str, Exported], files: dict[str, bytes],
) -> dict[str, dict[str, Any]]:  # fmt: skip
    """Adds a header per kernel to ``files``; what the description says of each."""
    kernels = list(dict.fromkeys(version.kernel for version in versions))
    stems, names = stems_of(kernels, alone=""), names_of(kernels)
    told: dict[str, dict[str, Any]] = {}
    for kernel in kernels:
        mine = [version for version in versions if version.kernel == kernel]
        builder = origins[mine[0].name.rpartition(":")[0]].builder
        original = builder.build(()).kernels[kernel]
        modules = [parse_module(version.ir) for version in mine]
        held = next((own for m in modules if (own := own_variable(kernel, m, builder.originals[kernel].module))), "")
        told[names[kernel]] = {"stem": stems[kernel], "own_variables": held}
        if held:
            continue
        listed = tuple(
            HeaderVersion(
                version.name,
                version.label,
                tuple((guard.as_c(), words) for guard, words in zip(version.guards, version.words, strict=True)),
                _images(version, singles.get(version.name), builder.arch),
                warnings.get(version.name, ""),
            )
            for version in mine
        )
        header = HeaderKernel(names[kernel], kernel, pointers_of(modules[0], kernel), mine[0].parameters, listed)
        plain = original_images(original, builder.arch, listed[0].images)
        files[f"{stems[kernel]}.h"] = c_header(header, plain, stems[kernel]).encode()
    return told


def _images(version: Version, single: Exported | None, arch: str) -> Images:
    known = single.kernels.get(version.kernel) if single else None
    return known.version.images if known else images_of(version.ir, arch)


def _cupy_rows(
    versions: Sequence[Version], folders: Mapping[str, str], singles: Mapping[str, Exported]
) -> dict[str, list[dict[str, Any]]]:
    """By kernel, its winners that have edits, in the order in which they are tried."""
    names = names_of(dict.fromkeys(version.kernel for version in versions))
    rows: dict[str, list[dict[str, Any]]] = {}
    for version in versions:
        single = singles.get(version.name)
        if single and version.kernel in single.kernels:
            rows.setdefault(names[version.kernel], []).append(
                single.kernels[version.kernel].for_cupy(folders[version.name])
            )
    return rows
