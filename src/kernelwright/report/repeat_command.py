"""How a run is made again: the command that began it, and those that say more about it."""

from __future__ import annotations

import shlex
from typing import Any

from kernelwright.evaluate.run.variant_run import VariantRun


def command(run: VariantRun[Any]) -> str:
    """The command line that began the run; where none was recorded, one that says the same, as far as the settings go."""
    recorded = run.journal.sessions[0].facts.get("command")
    if recorded:
        return str(recorded)
    settings = run.settings
    flags: list[tuple[str, object]] = [
        ("--seed", settings.seed), ("--device", settings.device), ("--preset", settings.preset),
        ("--accept", settings.accept), ("--objectives", ",".join(settings.objectives)),
        ("--evaluations", settings.evaluations), ("--generations", settings.generations), ("--time", settings.seconds),
        ("--population", settings.population), *(("--kernel", kernel) for kernel in settings.kernels),
    ]  # fmt: skip
    given = [word for name, value in flags if value is not None for word in (name, str(value))]
    return f"kw evolve {_what(run)} {shlex.join(given)}"


def _what(run: VariantRun[Any]) -> str:
    subject = run.journal.sessions[0].facts["subject"]
    if subject.get("kind") == "python":
        return shlex.quote(str(subject["path"]))
    return "PROGRAM"


def again(run: VariantRun[Any]) -> list[str]:
    """Commands, one to a line."""
    where = shlex.quote(str(run.folder))
    return [command(run), f"kw show {where}", f"kw prove {where}:best --again", f"kw export {where}:best"]
