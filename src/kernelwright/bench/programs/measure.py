"""How many of the CUDA programs in a folder build, run to their end and check clean, and what stops the others, cause by cause.

Nothing of them is changed: each is copied, built with our compiler under nvcc's name by its own Makefile (without one, all
sources of its folder together) and run by the commands of its target ``run`` (without one, with no arguments). One that does not end
in a minute is run again with its whole numbers divided, which is said. ``kw check`` follows where a run took less than a quarter of that.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kernelwright.bench.programs.building import (
    RUN_S,
    Step,
    build,
    check,
    made,
    reduced,
    run,
    run_commands,
    toolkit,
)
from kernelwright.bench.programs.projects import Project, copied, projects
from kernelwright.bench.result import Measured, Row, Say

DEVICE = "h200"
CHECKED_BELOW_S = RUN_S / 4
YES, NO = "yes", "no"
REDUCED = (1, 8, 64)
"""What whole numbers among the arguments are divided by, one after the other, where a program does not end in time."""
PROBES = Path(__file__).parent / "probes"
ABSENT = PROBES / "absent"
"""Of features that are not there."""


def measure(quick: bool, say: Say) -> Measured:
    """The probes: a small program for each feature, which ends with 0 where what it computed is right; and what is not there is refused
    with a sentence."""
    result = measure_folders(sorted(PROBES.glob("*.cu")), say, quick)
    rows = result.rows
    result.at_least("share of probes that build", _share(rows, "built", YES), 1.0)
    if not quick:
        result.at_least("share of probes that are right", _share(rows, "ran", YES), 1.0)
        result.at_least("share of probes that check clean", _share(rows, "checked", "clean"), 1.0)
    absent = measure_folders(sorted(ABSENT.glob("*.cu")), say).rows
    result.rows += [{**row, "program": f"absent: {row['program']}"} for row in absent]
    refused = [row["ran"] != YES and " " in row["cause"] for row in absent]
    result.at_least("share of absent features that are refused in words", sum(refused) / len(refused), 1.0)
    return result


def _share(rows: Sequence[Row], column: str, value: str) -> float:
    return len([row for row in rows if row[column] == value]) / len(rows)


def measure_folders(
    places: Sequence[Path], say: Say, quick: bool = False, device: str = DEVICE, compile_flags: Sequence[str] = ()
) -> Measured:
    """``quick``: built only. Raises ``Misuse`` for a place without programs."""
    result = Measured("programs")
    found = [each for place in places for each in projects(place)]
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        tools = toolkit(Path(scratch) / "toolkit", compile_flags)
        for number, project in enumerate(found, 1):
            say(f"{number} of {len(found)}: {project.name}")
            result.rows.append(_row(project, tools, quick, device, compile_flags))
    rows = result.rows
    built = [row for row in rows if row["built"] == YES]
    ran = [row for row in built if str(row["ran"]).startswith(YES)]
    result.notes.append(f"{len(built)} of {len(rows)} build ({_percent(len(built), len(rows))})")
    if not quick:
        clean = [row for row in ran if row["checked"] == "clean"]
        checked = [row for row in ran if row["checked"]]
        result.notes.append(
            f"{len(ran)} of {len(built)} run to their end within {RUN_S:g} s ({_percent(len(ran), len(built))})"
        )
        result.notes.append(f"{len(clean)} of {len(checked)} that were checked are clean")
    for stage in ("build", "run", "check"):
        causes = Counter(row["cause"] for row in rows if row["stopped at"] == stage)
        result.notes += [f"stopped at {stage}: {number} x {cause}" for cause, number in causes.most_common()]
    return result


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _row(project: Project, tools: Path, quick: bool, device: str, compile_flags: Sequence[str]) -> Row:
    row: Row = {"program": project.name, "built": NO, "ran": "", "checked": "", "build s": 0.0, "run s": 0.0,
                "stopped at": "", "cause": ""}  # fmt: skip
    with copied(project) as at:
        begun = time.time()
        done = build(project, at, tools, compile_flags)
        programs = made(at, begun - 1)
        row["build s"] = round(done.seconds, 1)
        if not programs or not done.ended_well:
            return row | _stopped("build", done if done.cause else Step("no executable was made", "", 0.0))
        row["built"] = YES
        if quick:
            return row
        given = run_commands(project, at, tools, programs)
        for divisor in REDUCED:
            commands = [reduced(command, divisor) for command in given]
            steps = _all_of(commands, at, tools, device)
            if not steps[-1].is_late:
                break
        row["run s"] = round(sum(step.seconds for step in steps), 1)
        if not steps[-1].ended_well:
            return row | {"ran": NO} | _stopped("run", steps[-1])
        row["ran"] = YES if divisor == 1 else f"yes, arguments / {divisor}"
        if row["run s"] > CHECKED_BELOW_S:
            return row
        for command in commands:
            step = check(command, at, tools, device)
            if not step.ended_well:
                return row | {"checked": "findings" if "finding" in step.said else NO} | _stopped("check", step)
        return row | {"checked": "clean"}


def _all_of(commands: Sequence[Sequence[str]], at: Path, tools: Path, device: str) -> list[Step]:
    """Up to the first that fails."""
    steps = []
    for command in commands:
        steps.append(run(command, at, tools, device))
        if not steps[-1].ended_well:
            break
    return steps


def _stopped(stage: str, step: Step) -> Row:
    return {"stopped at": stage, "cause": step.cause}
