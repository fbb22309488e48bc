"""``kw patch``: a variant as a patch of its CUDA source, as far as it can be said there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kernelwright.cli.support.compile_flags import CompileFlags, takes_flags
from kernelwright.cli.support.plain_flags import Flag
from kernelwright.cli.support.variant_argument import RunAndVariant, opened
from kernelwright.evaluate.outcome import Ok
from kernelwright.stories.source_patch import SourcePatch, source_patch
from kernelwright.stories.winners import SAFE

OWN_FLAGS: tuple[Flag, ...] = (
    Flag("source", ("--source",), "text", "The source, where it is not where the run found it."),
    Flag("as_json", ("--json",), "switch", "One JSON object in place of the patch.", False),
)


def _report(found: SourcePatch) -> None:
    """What is in the patch and what is not, on standard error: the patch itself goes to standard output."""
    lines = [f"{found.variant} of {found.file}, {found.label}"]
    if found.label not in SAFE:
        lines.append(f"WARNING: {found.variant} is less safe than the original")
    lines += [f"in the patch: {sentence}" for sentence in found.said]
    lines += [f"not said in CUDA C: {sentence}" for sentence in found.unsaid]
    for each in found.kernels:
        sizes = f"{each.instructions} PTX instructions, the variant {each.variant_instructions}, the original {each.original_instructions}"
        verdict = "the variant's very code" if each.is_same else "not the variant's very code"
        lines.append(f"compiled, {each.kernel} is {verdict}: {sizes}")
    lines += _run_in_words(found)
    if found.said:
        lines += [_valid_in_words(found)]
    if not found.said:
        lines.append("no edit of it can be said in CUDA C: use it with kw run --with, or kw export")
    for line in lines:
        print(f"kw: {line}", file=sys.stderr)


def _valid_in_words(found: SourcePatch) -> str:
    """For which launches the patched source is: it has no check of its own."""
    kernels = dict.fromkeys(each.kernel for each in found.kernels)
    if not found.guards:
        return (
            f"the patched source is for every launch of {', '.join(kernels)}, as far as the variant is: {found.label}"
        )
    return f"the patched source is right only where {'; '.join(found.guards)}; it checks none of this"


def _run_in_words(found: SourcePatch) -> list[str]:
    outcome = found.outcome
    if outcome is None:
        return []
    if not isinstance(outcome, Ok):
        return [f"WARNING: run on the run's data, the patched source is not right: {outcome}"]
    equal = "equal to" if outcome.error == 0 else "within the run's tolerance of"
    faster = f"{found.speedup:.3f} times as fast (estimated), the variant {found.variant_speedup:.3f}"
    return [f"run on the run's data, its outputs are {equal} the original's: {faster}"]


def __getattr__(name: str) -> Any:
    """``command`` is made on demand: making it imports typer."""
    if name != "command":
        raise AttributeError(name)

    def command(run: RunAndVariant, flags: CompileFlags, **own: Any) -> int:
        """The source patch of a variant, compiled, compared with it and run; exit code 1 if no edit can be said in CUDA C, or if
        the patched source is not right on the run's data."""
        found, variant = opened(run)
        with found:
            source = Path(own["source"]) if own["source"] else None
            made = source_patch(found, variant, flags.options, source)
        _report(made)
        print(json.dumps(made.as_json()) if own["as_json"] else made.diff, end="\n" if own["as_json"] else "")
        return 0 if made.diff and isinstance(made.outcome, Ok) else 1

    command.__annotations__["run"] = RunAndVariant
    command.__annotations__["own"] = Any
    return takes_flags(command, OWN_FLAGS)
