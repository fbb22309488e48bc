"""The right version for every input: thresholds found, and written with what speaks for them.

what is known of this program on this device          the evidence beside the threshold file
thresholds tuned on the datasets, old and new         each configuration recorded in the journal as it is measured
the file written, never with less than it held
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from kernelwright.cache import file_digest
from kernelwright.errors import Misuse, ToolError
from kernelwright.evaluate.run.journal_file import WriterLock
from kernelwright.evaluate.run.run import found_folder
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.configurations import Configuration
from kernelwright.versions.explanation import as_json, explanation
from kernelwright.versions.forest import Forest
from kernelwright.versions.guard_names import HasGuard
from kernelwright.versions.program import TunedProgram
from kernelwright.versions.resolution import Resolution
from kernelwright.versions.threshold_file import (
    Evidence,
    Identity,
    evidence_for,
    evidence_path,
    read_thresholds,
    refuse_another_program,
    refuse_unknown,
    set_aside,
    write_thresholds,
)
from kernelwright.versions.thresholds import Tuning, tune
from kernelwright.versions.tune_run import TRIED_THRESHOLDS, TuneRun, tune_facts

NO_ARGUMENTS = "(no arguments)"
"""What a dataset is called that is a CUDA program without arguments."""
Say = Callable[[str], None]
IsOver = Callable[[], bool]


@dataclass(frozen=True)
class Subject:
    """What is tuned, and where its thresholds go."""

    program: TunedProgram
    identity: Identity
    path: Path
    """The threshold file."""
    declared: Forest | None = None
    digest: Callable[[str], str] = lambda dataset: file_digest(dataset) or ""
    """Hash of a dataset's content; empty for one that has none."""
    dispatch_us: Mapping[str, float] = field(default_factory=dict)
    """What deciding costs per call, by dataset, filled as the program runs; empty where nothing says."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """By dataset, a line in which the program seems to say something and that cannot be read, filled as it runs."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """What limits the comparison of outputs, by dataset, filled as the program runs."""
    has_guard: HasGuard = lambda _: None
    """Whether the program has a guard of this name, told without running it."""
    guards: tuple[str, ...] = ()
    """Guards that it is known to have, whether a dataset meets them or not."""


def refuse_files(subject: Subject, *, fresh: bool = False) -> Evidence:
    """What is known of the subject, unless ``fresh``. Raises ``Misuse`` for files that cannot be gone on with, or are of another program or
    device, and for a folder that is not there; ``ToolError`` for one that is not to be written."""
    folder = subject.path.parent
    if not folder.is_dir():
        raise Misuse(f"there is no folder {folder} for {subject.path.name}", hint=f"mkdir -p {folder}")
    if not os.access(folder, os.W_OK):
        raise ToolError(
            f"the folder {folder} is not writable", hint="give -o another folder, or change its permissions"
        )
    held = _held(subject.path)  # It is kept, as far as it is not tuned: better refused now than after all runs.
    if fresh:
        refuse_another_program(subject.path, subject.identity)
        return Evidence(subject.identity)
    evidence = evidence_for(subject.path, subject.identity)
    met = _guards_of(evidence)
    refuse_unknown(subject.path, [name for name in held if name not in met and subject.has_guard(name) is False])
    return evidence


def refuse_datasets(subject: Subject, evidence: Evidence, datasets: Sequence[str], forget: Sequence[str]) -> None:
    """Raises ``Misuse`` where a dataset is given twice, where one to be left out is not there, or where there is none."""
    twice = next((name for name in datasets if list(datasets).count(name) > 1), None)
    if twice is not None:
        raise Misuse(f"dataset {twice} is given twice", hint="name each once: a dataset has one say")
    unknown = next((name for name in forget if name not in evidence.measured), None)
    if unknown is not None:
        raise Misuse(f"{evidence_path(subject.path)} has no dataset {unknown}", hint=_listed(evidence))
    if not datasets and not evidence.measured.keys() - set(forget):
        raise Misuse("there is no dataset to tune for", hint="name one or more with --data")


def tune_program(
    subject: Subject,
    datasets: Sequence[str],
    resolution: Resolution | None = None,
    *,
    fresh: bool = False,
    forget: Sequence[str] = (),
    say: Say = lambda _: None,
    run: TuneRun | None = None,
    is_over: IsOver = lambda: False,
) -> Tuning:
    """Tunes on ``datasets`` and on those of earlier tunings, and writes the threshold file.

    What was measured earlier is taken over, unless ``fresh``; ``forget`` leaves out datasets. ``run``: its journal; what is in there
    is not run again. ``is_over``: whether time is up, asked before a run; then the file is written where it loses nothing by it, and the
    run stays open, to be gone on with. Raises as ``refuse_files``, and ``Misuse`` when no dataset runs, or when another process tunes
    into the file.
    """
    refuse_files(subject, fresh=fresh)
    lock = WriterLock(evidence_path(subject.path))
    try:
        return _tuned(subject, datasets, resolution, fresh, forget, say, run, is_over)
    finally:
        lock.release()


def _tuned(
    subject: Subject,
    datasets: Sequence[str],
    resolution: Resolution | None,
    fresh: bool,
    forget: Sequence[str],
    say: Say,
    run: TuneRun | None,
    is_over: IsOver,
) -> Tuning:
    evidence = refuse_files(subject, fresh=fresh)
    earlier = _guards_of(evidence)
    for name, found in (run.measured() if run is not None else {}).items():
        if len(found) > len(evidence.measured.get(name, ())):
            evidence.measured[name] = found
    before = [c for found in evidence.measured.values() for c in found]
    if before and not any(c.compared or c.failure for c in before):
        evidence.measured.clear()  # The program did not say what it compared, which it may do now.
    if run is None:  # A run knows what it was asked, and may have left out a dataset before it was interrupted.
        refuse_datasets(subject, evidence, datasets, forget)
    for name in forget:
        evidence.measured.pop(name, None)
    for name in datasets:
        digest = subject.digest(name)
        if evidence.digests.get(name, digest) != digest:
            say(f"{name} has changed since it was measured: it is measured anew")
            evidence.measured.pop(name, None)
        evidence.digests[name] = digest
    both = [*evidence.measured, *(name for name in datasets if name not in evidence.measured)]

    told: set[str] = set()

    def note(dataset: str, configuration: Configuration) -> None:
        if (line := subject.unreadable.get(dataset)) and line not in told:
            told.add(line)
            say(
                f"{dataset}: it printed {line!r}, which cannot be read: names have no blanks, values are whole numbers of 64 bits, "
                "times plain numbers (docs/tune.md, What a program has to do)"
            )
        evidence.measured.setdefault(dataset, []).append(configuration)
        if run is not None:
            run.record(dataset, configuration)
        if not fresh:
            evidence.write(subject.path)
        say(f"{dataset or NO_ARGUMENTS}: {_heard(configuration)}")

    tuning = tune(
        subject.program,
        both,
        resolution,
        declared=subject.declared,
        measured={name: list(found) for name, found in evidence.measured.items()},
        say=say,
        watch=note,
        is_over=is_over,
    )
    evidence.measured = tuning.measured
    if tuning.not_done and (kept := _what_would_be_lost(subject.path, tuning, evidence, forget, fresh)):
        if not fresh:
            evidence.write(subject.path)
        say(f"{subject.path} stays as it is: {kept}")
        return tuning
    unmet = [name for name in subject.guards if name not in (*tuning.thresholds, *tuning.never_reached)]
    if not tuning.not_done:
        tuning = replace(tuning, never_reached=(*tuning.never_reached, *unmet))
    if tuning.not_done:  # A dataset that is left may meet any guard.
        thresholds = {**_held(subject.path), **tuning.thresholds}
    else:
        thresholds = _with_those_held(subject, tuning.thresholds, earlier, fresh, say)
    for name in tuning.never_reached:  # Declared, and as far as can be told of no guard.
        if name in thresholds and subject.has_guard(name) is False:
            del thresholds[name]
            say(f"{subject.identity.program} names no guard {name!r}: it gets no threshold")
    for name, remark in subject.remarks.items():
        say(f"{name}: {remark}")
    evidence.explanation = {**as_json(tuning), "lines": explanation(tuning), "remarks": dict(subject.remarks)}
    aside = set_aside(subject.path, evidence, thresholds) if fresh else None
    if aside is not None:
        say(f"what {subject.path} held before is in {aside}")
    evidence.write(subject.path)
    write_thresholds(subject.path, thresholds, subject.identity)
    if tuning.not_done:
        say(f"{subject.path} has what was tuned in time: {', '.join(d.name for d in tuning.datasets)}")
    if run is not None and not tuning.not_done:
        run.journal.note("end", evidence.explanation)
    return tuning


def _what_would_be_lost(path: Path, tuning: Tuning, evidence: Evidence, forget: Sequence[str], fresh: bool) -> str:
    """Why thresholds of the datasets that were tuned in time do not replace what ``path`` holds; empty where they may."""
    if not tuning.datasets:
        return "no dataset was tuned in time"
    if fresh:
        there = path.exists() or evidence_path(path).exists()
        return "--fresh replaces it when all datasets are tuned" if there else ""
    done = {*forget, *(dataset.name for dataset in tuning.datasets)}
    left = [d["name"] for d in evidence.explanation.get("datasets", ()) if d["name"] not in done]
    return f"it was tuned on {left[0]}, which is not done" if left else ""


def _with_those_held(
    subject: Subject, tuned: Mapping[str, int], earlier: Collection[str], fresh: bool, say: Say
) -> dict[str, int]:
    """The thresholds to write: those tuned, and those in the file that no dataset met. ``earlier``: guards that datasets met which are
    left out now. Raises ``Misuse`` for one of a guard of which nothing tells that the program has it; ``fresh`` leaves out one that it has
    not, and says so."""
    held, kept = _held(subject.path), dict[str, int]()
    for name, value in held.items():
        if name in tuned:
            kept[name] = value
            continue
        has = name in earlier or subject.has_guard(name)
        if fresh and has is False:
            say(f"{subject.path} had a threshold {name!r}, and the program has no such guard: it is left out")
            continue
        if not has and not fresh:
            refuse_unknown(subject.path, [name], list(tuned))
        kept[name] = value
        say(f"no dataset meets the guard {name}: its threshold stays {value}")
    return {**kept, **tuned}


def _held(path: Path) -> dict[str, int]:
    return read_thresholds(path) if path.exists() else {}


def _guards_of(evidence: Evidence) -> frozenset[str]:
    """The guards that datasets are known to have met."""
    return frozenset(c.name for found in evidence.measured.values() for known in found for c in known.compared)


def create_run(folder: Path, subject: Subject, asked: Mapping[str, Any]) -> TuneRun:
    """A new run in ``folder``, which is there already. ``asked``: what the command was given. Raises ``Misuse`` when another one is in
    it."""
    return TuneRun.create(folder, TRIED_THRESHOLDS, tune_facts(subject.identity, subject.path, asked))


def opened_run(path: Path | str) -> TuneRun:
    """A run, to go on with. Raises ``Misuse``."""
    return TuneRun.open(found_folder(path).resolve(), TRIED_THRESHOLDS, write=True)


def refuse_changed(run: TuneRun, subject: Subject) -> None:
    """Raises ``Misuse`` where the program is not the one that the run began with."""
    if run.identity != subject.identity:
        raise Misuse(
            f"{subject.identity.program} has changed since {run.name} began: its times say nothing of it now",
            hint="start a new run",
        )


def explained(path: Path) -> dict[str, Any]:
    """What the last tuning into ``path`` found, as ``as_json`` has it, with ``lines`` for people. Nothing is run.
    Raises ``Misuse`` where nothing was tuned, or a tuning was interrupted."""
    evidence = Evidence.read(path)
    if evidence is None:
        raise Misuse(f"there is no {evidence_path(path)}: nothing was tuned into {path}", hint="kw tune --help")
    if not evidence.explanation:
        raise Misuse(f"tuning into {path} was interrupted", hint="tune again: it goes on where it was")
    return evidence.explanation


def _heard(configuration: Configuration) -> str:
    guards = dict.fromkeys(c.name for c in configuration.compared)
    taken = [name for name in guards if any(c.taken for c in configuration.compared if c.name == name)]
    what = f"{', '.join(taken)} taken" if taken else "no guard taken"
    result = str(configuration.failure) if configuration.failure else f"{configuration.time_us:.6g} us"
    return f"{what}: {result}"


def _listed(evidence: Evidence) -> str:
    return f"it has {', '.join(evidence.measured)}" if evidence.measured else "it has none"
