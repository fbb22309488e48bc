"""A variant as a folder to take along: the kernel as IR, PTX, cubin and patch, its edits, its evidence, and how to load it.

hotspot-1-v77/
    README.md            what it is, what it depends on, when it may be used
    kernel.ll            the variant as optimised LLVM-IR           a set of files per changed kernel where there are several
    kernel.ptx  kernel.cubin
    kernel.original.ll   the original, optimised alike
    kernel.h             a C header: both kernels for several architectures, the checks at each launch, a function that launches
    winner_cupy.py       the same for CuPy
    kernel.sm_80.cubin kernel.sm_75.ptx ... kernel.original.ptx                what it loads
    kernel.patch         from the latter to the former: patch -p1 < kernel.patch
    kernel.edits.patch   the edits alone, before optimisation: to be read
    edits.json           the genome; kernelwright.edits.load_genes reads it
    evidence.json        label, checks, invariants, guards, figures
    load.py              which launches it is for, and how to load it: our devices, CuPy, the CUDA driver
    any-size/            of a run's best that fixes a size, what is left of it for any: a folder like this. The header and the CuPy
                         module above try it where the best does not fit
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from kernelwright import __version__
from kernelwright.architectures import architecture
from kernelwright.cache import write_atomically
from kernelwright.codegen.line_directives import without_lines
from kernelwright.codegen.machine.assemble import assemble
from kernelwright.cuda.names import readable
from kernelwright.device.variables import variables_of
from kernelwright.device.versions.comparison import extents_of
from kernelwright.edits.edit_words import guard_in_words, in_words
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.evaluate.judging.variant import Built
from kernelwright.evaluate.run.variant_run import Found
from kernelwright.evolution.genomes import GENOMES, EvolveRun, Genes, GenomeBuilder
from kernelwright.guards import Guard
from kernelwright.ir import Argument, Module
from kernelwright.ir.kernel_digest import reached_variables
from kernelwright.ir.types import PointerType
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.prove.labels import MEANING, REJECTED
from kernelwright.report.finding_words import domain, for_people
from kernelwright.report.repeat_command import command
from kernelwright.report.trust import trust_of
from kernelwright.stories.c_header import HeaderKernel, HeaderVersion, Images, c_header, images_of
from kernelwright.stories.candidate_words import guard_names, guards_in_words
from kernelwright.stories.patch import to_apply, to_read
from kernelwright.stories.winners import for_any_size

TEMPLATES = Path(__file__).parent / "exported"
ANY_SIZE = "any-size"
"""The folder of what a launch tries where the best of a run does not fit."""


@dataclass(frozen=True)
class ExportedKernel:
    """A kernel of an exported variant, as headers and CuPy modules launch it."""

    kernel: str
    """What ``load.py`` of its folder calls it."""
    stem: str
    version: HeaderVersion

    def for_cupy(self, folder: str = "") -> dict[str, Any]:
        """Its row in a CuPy module; ``folder``: where its files lie, seen from there."""
        images = self.version.images
        return {
            "name": self.version.name,
            "folder": folder,
            "kernel": self.kernel,
            "cubins": {architecture(arch).number: f"{self.stem}.{arch}.cubin" for arch in images.cubin},
            "ptx": {architecture(arch).number: f"{self.stem}.{arch}.ptx" for arch in images.ptx},
        }


@dataclass(frozen=True)
class Exported:
    """A variant's files by name; by mangled name, its kernels that a program of one's own can launch."""

    variant: Found[Genes]
    label: str
    files: Mapping[str, bytes]
    kernels: Mapping[str, ExportedKernel]


def export(run: EvolveRun, name: str, folder: Path | None = None, *, unproven: bool = False) -> Path:
    """Writes the folder, by default in the working folder under the run's and the variant's name; returns it. With a run's best goes
    what of it is for any size, where the run has noted that.

    Raises ``Misuse`` for a variant without a proof or one whose proof rejected it, unless ``unproven``: then that is
    written into its files. Raises ``Misuse`` for a folder that is in use, ``ToolError`` for one that cannot be written:
    then nothing is left there.
    """
    found = run.variant(name)
    if not found.candidate:
        raise Misuse(f"{found.name} is the original: there is nothing to export", hint=f"kw show {run.folder}")
    proof = run.proof(found.name)
    warning = refused(run, found.name, proof, unproven)
    target = folder or Path(f"{run.name}-{found.name}{'-unproven' if warning else ''}")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Misuse(f"{target} is not empty", hint="name another folder with -o")
    second = for_any_size(run, found)
    then = exported(run, second, run.proof(second.name), "") if second is not None else None
    files = dict(exported(run, found, proof, warning, then=then).files)
    if then is not None:
        files |= {f"{ANY_SIZE}/{file}": data for file, data in then.files.items()}
    write_folder(target, files)
    return target


def refused(run: EvolveRun, name: str, proof: Mapping[str, Any] | None, unproven: bool) -> str:
    """What its files have to warn of. Raises ``Misuse`` where that is something, unless ``unproven``."""
    warning = _warning(proof)
    if warning and not unproven:
        way = "--unproven exports it all the same, and says so in the files"
        raise Misuse(
            f"{name} is not exported: {warning}", hint=f"kw prove {run.folder}:{name}" if proof is None else way
        )
    return warning


def exported(
    run: EvolveRun,
    found: Found[Genes],
    proof: Mapping[str, Any] | None,
    warning: str,
    extra: Mapping[str, tuple[Guard, ...]] | None = None,
    then: Exported | None = None,
) -> Exported:
    """What the folder holds. ``extra``: further checks of kernels, by mangled name; ``then``: what its header and its CuPy module try
    where a check does not hold, in the folder ``any-size``."""
    builder = GENOMES.of(run)
    variant, baseline = builder.build(found.candidate), builder.build(())
    more = extra or {}
    changed = {
        kernel: replace(built, guards=(*built.guards, *more.get(kernel, ())))
        for kernel, built in variant.kernels.items()
        if kernel in variant.changed
    }
    stems = stems_of(list(changed))
    files: dict[str, bytes] = {}
    for kernel, built in changed.items():
        edits = [gene.edit for gene in found.candidate if gene.kernel == kernel]
        for ending, data in _of_kernel(builder, baseline.kernels[kernel], built, stems[kernel], warning).items():
            files[f"{stems[kernel]}{ending}"] = data
        files[f"{stems[kernel]}.edits.patch"] = to_read(builder.originals[kernel], edits).encode()
    kernels = _kernels(builder, changed, stems, files)
    label = str(proof["label"]) if proof else "unproven"
    launched = _launched(f"{run.name}:{found.name}", label, warning, kernels, changed, builder)
    tried = {kernel: _in_order(kernel, each, then) for kernel, each in launched.items()}
    for kernel, several in tried.items():
        name, images = launched[kernel].kernel, launched[kernel].version.images
        versions = tuple(each.version for each, _ in several)
        module = changed[kernel].module
        extents = extents_of(module.functions[kernel])
        told = HeaderKernel(name, kernel, pointers_of(module, kernel), extents, versions)
        files |= _dispatching(told, stems[kernel], original_images(baseline.kernels[kernel], builder.arch, images))
        kernels[name]["held"] = images.in_words
    names = guard_names(builder, found.candidate)
    explained = run.explained(found.name)
    shown = {
        "run": run, "variant": found, "warning": warning, "label": label, "meaning": MEANING.get(label),  # type: ignore[call-overload]
        "checks": proof["checks"] if proof else [], "notes": proof["notes"] if proof else [],
        "edits": [(readable(g.kernel), in_words(builder.originals[g.kernel], g.edit)) for g in found.candidate],
        "relied": _relied(explained, found), "domain": domain(proof),
        "guards": [*guards_in_words(builder, found.candidate), *_extra_words(builder, more)], "how": _how(run),
        "trust": trust_of(run, found),
        "original_us": run.original_us, "kernels": kernels, "has_cupy": bool(tried), "then": then, "then_folder": ANY_SIZE,
        "version": __version__, "arch": builder.arch, "command": command(run), "for_people": lambda text: for_people(text, names),
    }  # fmt: skip
    if tried:
        rows = {launched[k].kernel: [each.for_cupy(at) for each, at in several] for k, several in tried.items()}
        files["winner_cupy.py"] = cupy_module(rows, [warning] if warning else [])
    files["README.md"] = rendered("README.md.jinja", shown)
    files["load.py"] = rendered("load.py.jinja", shown)
    files["edits.json"] = json.dumps(found.written, indent=1).encode()
    evidence = {
        "run": run.name, "variant": found.name, "speedup": found.speedup, "original_us": run.original_us,
        "time_us": found.outcome.time_us, "error": found.outcome.error, "device": run.settings.device,
        "measured_on": run.settings.gpu or None, "interval": found.interval,
        "trust": list(trust_of(run, found)), "sets": [gain.as_json() for gain in run.gains(found)],
        "flags": run.flags.as_json() if run.flags else None,
        "seed": run.settings.seed, "command": command(run), "label": label, "warning": warning,
        "guards": {kernel: [*map(str, some), *map(str, more.get(kernel, ()))] for kernel, some in variant.guards.items()},
        "proof": proof, "explained": explained, "for_any_size": then.variant.name if then else None, "version": __version__,
    }  # fmt: skip
    files["evidence.json"] = json.dumps(evidence, indent=1).encode()
    return Exported(found, label, files, launched)


def _extra_words(builder: GenomeBuilder, extra: Mapping[str, tuple[Guard, ...]]) -> list[str]:
    return [guard_in_words(builder.originals[kernel], guard) for kernel, guards in extra.items() for guard in guards]


def _relied(explained: Mapping[str, Any] | None, found: Found[Genes]) -> list[list[str]]:
    """By edit, what it relies on; nothing where it was not asked for, or another version noted something else."""
    edits = list((explained or {}).get("edits", ()))
    return [list(edit.get("invariants", ())) for edit in edits] if len(edits) == len(found.candidate) else []


def _kernels(
    builder: GenomeBuilder, changed: Mapping[str, Built], stems: Mapping[str, str], files: Mapping[str, bytes]
) -> dict[str, dict[str, Any]]:
    """By what a person calls the kernel: what the templates say about it."""
    names = names_of(changed)
    return {
        names[kernel]: {
            "mangled": kernel,
            "stem": stems[kernel],
            "binary": "cubin" if f"{stems[kernel]}.cubin" in files else "ptx",
            "guards": [(guard.as_python(), guard_in_words(builder.originals[kernel], guard)) for guard in built.guards],
            "own_variables": own_variable(kernel, built.module, builder.originals[kernel].module),
            "held": "",
        }
        for kernel, built in changed.items()
    }


def names_of(kernels: Iterable[str]) -> dict[str, str]:
    """What a person calls each kernel, as long as that is one of them only."""
    called = {kernel: readable(kernel) for kernel in kernels}
    return {k: k if list(called.values()).count(name) > 1 else name for k, name in called.items()}


def own_variable(kernel: str, variant: Module, original: Module) -> str:
    """A device variable that one of the two uses and the host may, too: loaded again, it would be another one. Empty: none. The original
    counts, for it runs where a check does not hold, and a variant may have taken what the variable held for a constant."""
    for module in (variant, original):
        reached = reached_variables(module, kernel)
        for v in variables_of(module):
            if v.name in reached and not (v.is_read_only and v.linkage in ("private", "internal")):
                return readable(v.name)
    return ""


def _launched(
    variant: str, label: str, warning: str, kernels: Mapping[str, dict[str, Any]], changed: Mapping[str, Built], builder: GenomeBuilder
) -> dict[str, ExportedKernel]:  # fmt: skip
    """By mangled name, what a program of one's own can launch: kernels that share no variable with it."""
    found = {}
    for name, facts in kernels.items():
        if facts["own_variables"]:
            continue
        kernel = facts["mangled"]
        guards = tuple((g.as_c(), guard_in_words(builder.originals[kernel], g)) for g in changed[kernel].guards)
        images = images_of(changed[kernel].text, builder.arch)
        found[kernel] = ExportedKernel(name, facts["stem"], HeaderVersion(variant, label, guards, images, warning))
    return found


def _in_order(kernel: str, first: ExportedKernel, then: Exported | None) -> list[tuple[ExportedKernel, str]]:
    """What a launch tries, each with the folder of its files. Two where the first has checks and the other is another kernel."""
    later = then.kernels.get(kernel) if then is not None else None
    is_tried = later is not None and first.version.guards and later.version.images != first.version.images
    return [(first, ""), (later, ANY_SIZE)] if later is not None and is_tried else [(first, "")]


def _dispatching(kernel: HeaderKernel, stem: str, original: Images) -> dict[str, bytes]:
    """The header, and what the CuPy module loads: the first version's code for several architectures, and the original's."""
    images, warning = kernel.versions[0].images, kernel.versions[0].warning
    mark = f"// {warning}\n" if warning else ""
    return {
        f"{stem}.h": c_header(kernel, original, stem).encode(),
        f"{stem}.original.ptx": next(iter(original.ptx.values())).encode(),
        **{f"{stem}.{arch}.cubin": data for arch, data in images.cubin.items()},
        **{f"{stem}.{arch}.ptx": (mark + text).encode() for arch, text in images.ptx.items()},
    }


def cupy_module(rows: Mapping[str, Sequence[Mapping[str, Any]]], warnings: Sequence[str]) -> bytes:
    """The text of a CuPy module; ``rows``: by kernel, its versions in the order in which a launch tries them."""
    names = list(dict.fromkeys(row["name"] for several in rows.values() for row in several))
    which = f"{names[0]} where its" if len(names) == 1 else f"the first of {', '.join(names)} whose"
    return rendered("winner_cupy.py.jinja", {"cupy": rows, "which": which, "warnings": warnings})


def original_images(original: Built, arch: str, beside: Images) -> Images:
    """The original's code, for the oldest architecture that ``beside`` has PTX for."""
    oldest = min(beside.ptx, key=lambda each: architecture(each).number, default=arch)
    return Images({oldest: without_lines(original.ptx(oldest))}, {})


def pointers_of(module: Module, kernel: str) -> tuple[int, ...]:
    """The parameters that are pointers."""
    return tuple(n for n, a in enumerate(module.functions[kernel].arguments) if _is_pointer(a))


def _is_pointer(argument: Argument) -> bool:
    return isinstance(argument.type, PointerType) and "byval" not in argument.attributes


def _of_kernel(builder: GenomeBuilder, original: Built, built: Built, stem: str, warning: str) -> dict[str, bytes]:
    """The kernel's files by their endings. There is no cubin where no assembler is installed."""
    text = f"; {warning}\n{built.text}" if warning else built.text
    ptx = built.ptx(builder.arch)
    files = {
        ".ll": text.encode(),
        ".original.ll": original.text.encode(),
        ".patch": to_apply(original.text, text, f"{stem}.original").encode(),
        ".ptx": (f"// {warning}\n{ptx}" if warning else ptx).encode(),
    }
    try:
        files[".cubin"] = assemble(ptx, builder.arch, isolate=True).data
    except (ToolError, CompileError):
        pass
    return files


def _warning(proof: Mapping[str, Any] | None) -> str:
    if proof is None:
        return "UNPROVEN: what it depends on was not checked"
    if proof["label"] in REJECTED:
        return f"REJECTED: its proof calls it {proof['label']} ({MEANING[proof['label']]})"
    return ""


def _how(run: EvolveRun) -> str:
    gpu = run.settings.gpu
    return f"measured on {gpu}" if gpu else f"estimated for the {run.settings.device}"


def stems_of(changed: list[str], alone: str = "kernel") -> dict[str, str]:
    """The name of a kernel's files: what a person calls it, or ``alone`` for a single one."""
    if len(changed) == 1 and alone:
        return {changed[0]: alone}
    names = {kernel: "".join(c if c.isalnum() or c in "_-" else "_" for c in readable(kernel)) for kernel in changed}
    clash = {name for name in names.values() if list(names.values()).count(name) > 1}
    return {
        kernel: f"{name}_{number}" if name in clash else name for number, (kernel, name) in enumerate(names.items())
    }


def rendered(template: str, facts: Mapping[str, Any]) -> bytes:
    """A template of ``exported/`` with these facts, in UTF-8."""
    environment = Environment(
        autoescape=False, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    return environment.from_string((TEMPLATES / template).read_text(encoding="utf-8")).render(**facts).encode()


def write_folder(target: Path, files: Mapping[str, bytes]) -> None:
    """Writes files into a folder, which is gone again if one cannot be written. Raises ``ToolError``."""
    was_there = target.exists()
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (target / name).parent.mkdir(exist_ok=True)
            write_atomically(target / name, data)
    except OSError as error:
        if was_there:
            for name in files:
                (target / name).unlink(missing_ok=True)
            for folder in {(target / name).parent for name in files} - {target}:
                shutil.rmtree(folder, ignore_errors=True)
        else:
            shutil.rmtree(target, ignore_errors=True)
        raise ToolError(f"{target} cannot be written: {error.strerror}", hint="name another folder with -o") from error
