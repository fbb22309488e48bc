"""A variant as a folder to take along: the kernel as IR, PTX, cubin and patch, its edits, its evidence, and how to load it.

hotspot-v77/
    README.md            what it is, what it rests on, when it may be used
    kernel.ll            the variant as optimised LLVM-IR           one file per changed kernel where there are several
    kernel.ptx  kernel.cubin
    kernel.patch         from the original's IR, optimised alike, to the variant's
    edits.json           the genome; kernelwright.edits.load_genes reads it
    evidence.json        label, checks, invariants, guards, figures
    load.py              how to load it: our devices, CuPy, the CUDA driver
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment

from kernelwright import __version__
from kernelwright.cache import write_atomically
from kernelwright.codegen.cubin import assemble
from kernelwright.cuda.names import readable
from kernelwright.edits.words import in_words
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.evaluate.run import Found, Run
from kernelwright.evaluate.variant import Builder, Built
from kernelwright.prove.labels import MEANING, REJECTED

_README = """# {{ kernels|join(", ") }}: variant {{ variant.name }} of {{ run }}

{% if warning %}**{{ warning }}**

{% endif %}{{ "%.3f"|format(variant.speedup) }} times as fast as the original ({{ "%.4g"|format(original_us) }} µs to \
{{ "%.4g"|format(variant.outcome.time_us) }} µs, {{ how }}), error {{ "%g"|format(variant.outcome.error) }}. \
Both went through the same passes.

Label: **{{ label }}**{% if meaning %} - {{ meaning }}{% endif %}

## When it may be used
{% for guard in guards %}
- {{ guard }}{% else %}
For every launch that the original takes, as far as the label says.
{% endfor %}
{% if guards %}
A launch for which one of these does not hold needs the original kernel.
{% endif %}
## The edits
{% for words in edits %}
{{ loop.index }}. {{ words.kind }}{% if words.place %} ({{ words.place }}){% endif %}: {{ words.sentence }}{% endfor %}

## Evidence
{% for check in checks %}
- {{ check.name }}: {{ check.status }} - {{ check.detail }}{% else %}
None: nobody has proven it.
{% endfor %}
## Files

`*.ll` optimised LLVM-IR, `*.ptx`, `*.cubin` ({{ arch }}), `*.patch` from the original's IR to the variant's, `edits.json`,
`evidence.json`, `load.py`. Made by Kernelwright {{ version }}.
"""

_LOAD = '''"""How to load {{ names|join(", ") }}.{% if warning %} {{ warning }}{% endif %}

{% for guard in guards %}Only for launches with {{ guard }}.
{% endfor %}"""

from pathlib import Path

HERE = Path(__file__).parent


def on_kernelwright(device="auto"):
    """On a virtual GPU or a real one: launch(grid, block, arguments), NumPy arrays changed in place."""
    import kernelwright as kw

    gpu = kw.Device(device)
    program = kw.load(HERE / "{{ stem }}.ll")
    kernel = program.kernel("{{ first }}")
    return lambda grid, block, arguments, **more: gpu.launch(kernel, grid, block, arguments, **more)


def on_cupy():
    """On a real GPU, with CuPy: kernel(grid, block, arguments)."""
    import cupy

    return cupy.RawModule(path=str(HERE / "{{ stem }}.{{ binary }}")).get_function("{{ first }}")


def on_the_driver():
    """On a real GPU, with cuda-bindings: the CUfunction. A context must be current."""
    from cuda.bindings import driver

    error, module = driver.cuModuleLoadData((HERE / "{{ stem }}.{{ binary }}").read_bytes() + b"\\0")
    assert error == driver.CUresult.CUDA_SUCCESS, error
    error, function = driver.cuModuleGetFunction(module, b"{{ first }}")
    assert error == driver.CUresult.CUDA_SUCCESS, error
    return function
'''


def export(run: Run, name: str, folder: Path | None = None, *, unproven: bool = False) -> Path:
    """Writes the folder, by default beside the working folder under the run's and the variant's name; returns it.

    Raises ``Misuse`` for a variant without a proof or one whose proof rejected it, unless ``unproven``: then that is
    written into its files. Raises ``Misuse`` for a folder that is in use.
    """
    found = run.variant(name)
    if not found.candidate:
        raise Misuse(f"{found.name} is the original: there is nothing to export", hint=f"kw show {run.folder}")
    proof = run.proof(found.name)
    warning = _warning(proof)
    if warning and not unproven:
        way = (
            f"kw prove {run.folder}:{found.name}"
            if proof is None
            else "--unproven exports it all the same, and says so"
        )
        raise Misuse(f"{found.name} is not exported: {warning}", hint=way)
    target = folder or Path(f"{run.name}-{found.name}")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Misuse(f"{target} is not empty", hint="name another folder with -o")
    builder = run.builder()
    variant, baseline = builder.build(found.candidate), builder.build(())
    changed = {k: b for k, b in variant.kernels.items() if any(gene.kernel == k for gene in found.candidate)}
    stems = _stems(changed)
    files: dict[str, bytes] = {}
    binary = "cubin"
    for kernel, built in changed.items():
        stem = stems[kernel]
        header = f"; {warning}\n" if warning else ""
        files[f"{stem}.ll"] = (header + built.text).encode()
        ptx = built.ptx(builder.arch)
        files[f"{stem}.ptx"] = ((f"// {warning}\n" if warning else "") + ptx).encode()
        try:
            files[f"{stem}.cubin"] = assemble(ptx, builder.arch, isolate=True).data
        except (ToolError, CompileError):
            binary = "ptx"
        files[f"{stem}.patch"] = patch(baseline.kernels[kernel], built, stem).encode()
    facts = _facts(run, found, builder, proof, warning)
    guards = [f"{readable(kernel)}: {guard}" for kernel, some in variant.guards.items() for guard in some]
    first = next(iter(changed))
    shown = {
        **facts, "guards": guards, "kernels": [readable(k) for k in changed], "names": list(changed), "variant": found,
        "first": first, "stem": stems[first], "binary": binary, "version": __version__, "arch": builder.arch,
    }  # fmt: skip
    files["README.md"] = _rendered(_README, shown)
    files["load.py"] = _rendered(_LOAD, shown)
    files["edits.json"] = json.dumps(found.edits, indent=1).encode()
    evidence = {
        "run": run.name, "variant": found.name, "speedup": found.speedup, "original_us": facts["original_us"],
        "time_us": found.outcome.time_us, "error": found.outcome.error, "device": run.settings.device,
        "seed": run.settings.seed, "label": facts["label"], "guards": guards, "warning": warning, "proof": proof,
        "explained": run.explained(found.name), "version": __version__,
    }  # fmt: skip
    files["evidence.json"] = json.dumps(evidence, indent=1).encode()
    _write(target, files)
    return target


def patch(before: Built, after: Built, stem: str) -> str:
    """The variant's IR as a change of the original's, both optimised alike; ``patch`` and ``git apply`` read it."""
    lines = difflib.unified_diff(
        before.text.splitlines(keepends=True), after.text.splitlines(keepends=True), f"a/{stem}.ll", f"b/{stem}.ll"
    )
    return "".join(lines)


def _warning(proof: Mapping[str, Any] | None) -> str:
    if proof is None:
        return "UNPROVEN: nobody has checked what it rests on"
    if proof["label"] in REJECTED:
        return f"REJECTED: its proof calls it {proof['label']} ({MEANING[proof['label']]})"
    return ""


def _facts(run: Run, found: Found, builder: Builder, proof: Mapping[str, Any] | None, warning: str) -> dict[str, Any]:
    label = proof["label"] if proof else "unproven"
    return {
        "run": run.name,
        "warning": warning,
        "label": label,
        "meaning": next((text for name, text in MEANING.items() if name == label), ""),
        "checks": proof["checks"] if proof else [],
        "edits": [in_words(builder.originals[gene.kernel], gene.edit) for gene in found.candidate],
        "original_us": run.original.time_us if run.original else 0.0,
        "how": f"estimated for the {run.settings.device}" if not run.settings.device.startswith("cuda") else "measured",
    }


def _stems(changed: Mapping[str, Built]) -> dict[str, str]:
    if len(changed) == 1:
        return dict.fromkeys(changed, "kernel")
    short = [readable(kernel) for kernel in changed]
    names = {k: readable(k) if short.count(readable(k)) == 1 else k for k in changed}
    return {kernel: "".join(c if c.isalnum() or c in "_.-" else "_" for c in name) for kernel, name in names.items()}


def _rendered(template: str, facts: Mapping[str, Any]) -> bytes:
    environment = Environment(autoescape=False, keep_trailing_newline=True)
    return environment.from_string(template).render(**facts).encode()


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            write_atomically(target / name, data)
    except OSError as error:
        raise ToolError(f"{target} cannot be written: {error.strerror}", hint="name another folder with -o") from error
