"""``kw evolve``: search for a faster kernel."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kernelwright.errors import ToolError
from kernelwright.evaluate import load_workload
from kernelwright.stories.evolve import Found, evolve


def command(
    workload: Annotated[Path, typer.Argument(help="A Python file that defines `workload`.")],
    seed: Annotated[int, typer.Option(help="Seed of the random draws.")] = 0,
    evaluations: Annotated[int, typer.Option(min=1, help="Candidates to try at most.")] = 500,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Search for a faster kernel, and say what each gain rests on. Exit code 1 when none is found.

    So far: one random deletion, judged by the instructions executed. Nothing is proven about it yet.
    """
    if workload.suffix != ".py":
        raise ToolError(
            f"{workload}: evolving a whole CUDA program is not built yet",
            hint="give a Python workload, as examples/blur.py",
        )
    found = evolve(load_workload(workload), seed=seed, evaluations=evaluations)
    print(json.dumps(asdict(found)) if as_json else _line(found, seed))
    if found.edit is None:
        raise typer.Exit(1)


def _line(found: Found, seed: int) -> str:
    turned_down = ", ".join(f"{count} {stage}" for stage, count in sorted(found.rejected.items())) or "none"
    if found.edit is None:
        return f"{found.kernel}: nothing kept of {found.tried} tried (turned down: {turned_down}; seed {seed})"
    return (
        f"{found.kernel}: {found.before:.0f} → {found.after:.0f} instructions executed ({found.before / found.after:.3f}x), "
        f"error {found.error:g}, by deleting `{found.text.split(', !')[0]}` ({found.line}); "
        f"{found.tried} tried, turned down: {turned_down}; unproven; seed {seed}"
    )
