"""How many of the CUDA programs in a folder build, run to their end and check clean, and what stops the others, cause by cause.

    kw bench programs hecbench/src --sample 60 --seed 1 --jobs 2 --shrink
    program     built  ran                         checked  says  build s  run s  check s  stopped at  cause
    adam-cuda   yes    yes, arguments / 8          clean    PASS      6.1    3.9      9.0
    hbc-cuda    yes    needs data                                     7.7    0.2             run         ../data/graph.mtx

Each is copied, built with our compiler under nvcc's name by its own Makefile (without one, all sources of its folder together) and run
by the commands of its target ``run`` (without one, with no arguments). One that does not end in time, which is the processor's, is run
again with its whole numbers divided, and with ``--shrink`` with constants of its source made smaller, which the row says; otherwise
nothing of them is changed. ``kw check`` follows where a run took less than an eighth of its time. A program that wants files that are
not there is counted apart.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path

from kernelwright.bench.programs.building import BUILD_S, build, made, run_commands, toolkit
from kernelwright.bench.programs.projects import Project, copied, drawn, projects
from kernelwright.bench.programs.rows import STATE, Rows
from kernelwright.bench.programs.shrinking import DEGREES, Degree, repetitions_of, settings_of, shrink_sources
from kernelwright.bench.programs.steps import Step, Steps
from kernelwright.bench.programs.tries import Run, run_to_end
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.lazy_dataclasses import dataclass

DEVICE = "h200"
YES, NO, NEEDS_DATA = "yes", "no", "needs data"
CLEAN, FINDINGS, LATE = "clean", "findings", "late"
PROBES = Path(__file__).parent / "probes"
ABSENT = PROBES / "absent"
"""Of features that are not there."""
_FAILED = re.compile(r"\bfail(ed|ure|s)?\b|\bmismatch|\bincorrect|\bwrong\b|\bnot? correct|verification error", re.I)
_PASSED = re.compile(r"\bpass(ed|es)?\b|\bsuccess|\bcorrect\b|\bverified\b|\bok\b|\bresults match\b", re.I)


@dataclass(frozen=True)
class Manner:
    """How programs of a folder are measured.

    ``limit_s``: processor time for all tries to run a program together, half for its check; ``first_divisor``: of its arguments, at the
    first try; ``jobs``: programs at once; ``sample``: how many, drawn by lot, None for all; ``rows``: a file that rows are kept in.
    """

    is_quick: bool = False
    device: str = DEVICE
    compile_flags: tuple[str, ...] = ()
    limit_s: float = 120.0
    first_divisor: int = 1
    jobs: int = 1
    sample: int | None = None
    seed: int = 0
    shrinks: bool = False
    checks: bool = True
    rows: Path | None = None


PLAINLY = Manner()


def measure(quick: bool, say: Say) -> Measured:
    """The probes: a small program for each feature, which ends with 0 where what it computed is right; and what is not there is refused
    with a sentence."""
    manner = Manner(is_quick=quick)
    result = measure_folders(sorted(PROBES.glob("*.cu")), say, manner)
    rows = result.rows
    result.at_least("share of probes that build", _share(rows, "built", YES), 1.0)
    if not quick:
        result.at_least("share of probes that are right", _share(rows, "ran", YES), 1.0)
        result.at_least("share of probes that check clean", _share(rows, "checked", CLEAN), 1.0)
    absent = measure_folders(sorted(ABSENT.glob("*.cu")), say).rows
    result.rows += [{**row, "program": f"absent: {row['program']}"} for row in absent]
    refused = [row["ran"] != YES and " " in row["cause"] for row in absent]
    result.at_least("share of absent features that are refused in words", sum(refused) / len(refused), 1.0)
    return result


def _share(rows: Sequence[Row], column: str, value: str) -> float:
    return len([row for row in rows if row[column] == value]) / len(rows)


def measure_folders(places: Sequence[Path], say: Say, manner: Manner = PLAINLY) -> Measured:
    """Raises ``Misuse`` for a place without programs. Interrupted, it says how to go on; the rows that there are lie in a file."""
    result = Measured("programs")
    everything = _named_apart([projects(place) for place in places], places)
    chosen = drawn(everything, manner.sample, manner.seed)
    if manner.sample is not None:
        result.notes.append(
            f"{len(chosen)} of {len(everything)} programs, drawn by lot with --seed {manner.seed}: "
            "random.Random(seed).shuffle of the sorted names, the first of them"
        )
    cores = max(1, len(os.sched_getaffinity(0)) // manner.jobs)
    asked = [str(place.resolve()) for place in places] + [
        str(manner), str(cores), *(f"{p.name} {path.stat().st_mtime_ns}" for p in everything for path in p.sources),
    ]  # fmt: skip
    with Rows(manner.rows, asked) as rows, tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        steps = Steps(toolkit(Path(scratch) / "toolkit", manner.compile_flags), manner.device, cores)
        left = [project for project in chosen if project.name not in rows.before]
        if len(left) < len(chosen):
            say(f"{len(chosen) - len(left)} of {len(chosen)} programs were measured before")
        found = dict(rows.before)
        with ThreadPoolExecutor(manner.jobs) as pool:
            waiting = {pool.submit(_row, project, steps, manner): project for project in left}
            try:
                for done in as_completed(waiting):
                    row = done.result()
                    rows.note(row)
                    found[row["program"]] = row | {STATE: rows.state}
                    say(f"{len(chosen) - len(left) + _done(waiting)} of {len(chosen)}: {_in_words(row)}")
            except BaseException:
                for each in waiting:
                    each.cancel()
                steps.stop()
                say(f"stopped; the same command goes on from {rows.path}")
                raise
        result.rows = [found[project.name] for project in chosen]
        result.notes += _notes(result.rows, manner, rows.state)
    for row in result.rows:
        row.pop(STATE, None)
    return result


def _named_apart(found: Sequence[Sequence[Project]], places: Sequence[Path]) -> list[Project]:
    """Programs of several places, with the place before their names where two have the same."""
    all_of_them = [each for some in found for each in some]
    if len({each.name for each in all_of_them}) == len(all_of_them):
        return all_of_them
    return [
        replace(each, name=f"{place}/{each.name}") for some, place in zip(found, places, strict=True) for each in some
    ]


def _done(waiting: Iterable[Future[Row]]) -> int:
    return sum(each.done() for each in waiting)


def _in_words(row: Row) -> str:
    """``adam-cuda: built yes, ran yes, checked clean``, or what stopped it."""
    if row["cause"]:
        return f"{row['program']}: stopped at {row['stopped at']}: {row['cause']}"
    return f"{row['program']}: " + ", ".join(f"{name} {row[name]}" for name in ("built", "ran", "checked") if row[name])


def _notes(rows: Sequence[Row], manner: Manner, state: str) -> list[str]:
    """How many, and of what did not come to its end the causes, most frequent first."""
    built = [row for row in rows if row["built"] == YES]
    notes = [f"{len(built)} of {len(rows)} build ({_percent(len(built), len(rows))})"]
    if not manner.is_quick:
        without = [row for row in built if row["ran"] == NEEDS_DATA]
        runnable = [row for row in built if row["ran"] != NEEDS_DATA]
        ran = [row for row in runnable if str(row["ran"]).startswith(YES)]
        smaller = [row for row in ran if row["ran"] != YES]
        notes.append(
            f"{len(ran)} of {len(runnable)} run to their end within {manner.limit_s:g} s of processor time "
            f"({_percent(len(ran), len(runnable))}), "
            f"{len(smaller)} of them made smaller; {len(without)} more need data that is not there"
        )
        says = Counter(row["says"] or "nothing" for row in ran)
        notes.append("of what they compute, they say: " + ", ".join(f"{n} x {word}" for word, n in says.most_common()))
        checked = [row for row in ran if row["checked"] not in ("", LATE)]
        clean = [row for row in checked if row["checked"] == CLEAN]
        notes.append(f"{len(clean)} of {len(checked)} that were checked are clean")
    for stage in ("build", "run", "check"):
        causes = Counter(row["cause"] for row in rows if row["stopped at"] == stage and row["ran"] != NEEDS_DATA)
        notes += [f"stopped at {stage}: {number} x {cause}" for cause, number in causes.most_common()]
    older = sum(row.get(STATE) != state for row in rows)
    return [*notes, *([f"{older} of the rows are of another state of Kernelwright"] if older else [])]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _row(project: Project, steps: Steps, manner: Manner) -> Row:
    row: Row = {"program": project.name, "built": NO, "ran": "", "checked": "", "says": "", "build s": 0.0, "run s": 0.0,
                "check s": 0.0, "stopped at": "", "cause": ""}  # fmt: skip
    with copied(project) as at:
        begun = time.time()
        done = build(project, at, steps, manner.compile_flags)
        programs = made(at, begun - 1)
        row["build s"] = round(done.seconds, 1)
        if not programs or not done.ended_well:
            return row | _stopped("build", done if done.cause else Step("no executable was made", "", 0.0))
        row["built"] = YES
        if manner.is_quick:
            return row
        given = run_commands(project, at, steps, programs)
        settings = settings_of(given, at)

        def shrunk(degree: Degree) -> str:
            changes = shrink_sources(at, degree, settings)
            return ", ".join(changes) if changes and _built_anew(project, at, steps, manner) else ""

        degrees = [d for d in DEGREES if manner.shrinks and shrink_sources(at, d, settings, writes=False)]
        shrinks = [partial(shrunk, degree) for degree in degrees]
        ran = run_to_end(given, at, steps, manner.limit_s, shrinks, manner.first_divisor, repetitions_of(at))
        row["run s"] = round(ran.seconds, 1)
        if not ran.step.ended_well:
            row["ran"] = NEEDS_DATA if ran.missing else NO
            return row | {"stopped at": "run", "cause": ran.missing or ran.step.cause}
        row["ran"] = f"{YES}, {ran.size}" if ran.size else YES
        row["says"] = "FAIL" if _FAILED.search(ran.step.said) else "PASS" if _PASSED.search(ran.step.said) else ""
        return row | _checked(ran, at, steps, manner) if manner.checks else row


def _built_anew(project: Project, at: Path, steps: Steps, manner: Manner) -> bool:
    """A program whose constants were changed; what was made before is away, as make may not see that a header changed."""
    for path in at.rglob("*.o"):
        path.unlink()
    for path in made(at, 0.0):
        path.unlink()
    begun = time.time()
    return build(project, at, steps, manner.compile_flags).ended_well and bool(made(at, begun - 1))


def _checked(ran: Run, at: Path, steps: Steps, manner: Manner) -> Row:
    """``kw check`` of each of its command lines; its cause is the first finding."""
    if ran.seconds > manner.limit_s / 8:
        return {}
    taken = 0.0
    for program, *arguments in ran.commands:
        words = [sys.executable, "-m", "kernelwright", "check", "--device", manner.device, program, "--", *arguments]
        step = steps.take(words, at, max(1.0, manner.limit_s / 2 - taken))
        taken += step.seconds
        if not step.ended_well:
            verdict = LATE if step.is_late else FINDINGS if "finding" in step.said else NO
            return {"checked": verdict, "check s": round(taken, 1)} | _stopped("check", step)
    return {"checked": CLEAN, "check s": round(taken, 1)}


def _stopped(stage: str, step: Step) -> Row:
    cause = f"{step.cause} ({BUILD_S:g} s)" if step.is_late and stage == "build" else step.cause
    return {"stopped at": stage, "cause": cause}
