"""What is evolved, described so that another process can open it: recordings and the launches chosen of them, or a file.

A subject is small and can be pickled and written as JSON; ``workload`` opens it.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from kernelwright.errors import Misuse, ToolError, reason
from kernelwright.evaluate.capture.capture import Capture
from kernelwright.evaluate.capture.recorded_case import RecordedCase
from kernelwright.evaluate.judging.whole_program import Program
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.flag_choice import FlagChoice
from kernelwright.evaluate.workload.rule_text import parse_rules
from kernelwright.evaluate.workload.workload import Workload, load_workload
from kernelwright.ir import Module, parse_module
from kernelwright.lazy_dataclasses import dataclass


class Subject(Protocol):
    """Anything that can be opened as a workload."""

    def workload(self) -> Workload:
        """Opens it, as often as asked. Raises ``Misuse`` and ``ToolError`` for what is missing or damaged."""

    def as_json(self) -> dict[str, Any]:
        """As a run's facts keep it; ``subject_from_json`` reads it, but not a workload that was given as an object."""

    @property
    def files(self) -> tuple[str, ...]:
        """What ``workload`` reads, for machines that have it not."""


@dataclass(frozen=True)
class Chosen:
    """A launch of a recording, and how many launches it stands for."""

    recording: int
    launch: int
    weight: float = 1.0


@dataclass(frozen=True)
class Larger:
    """A run of the program on a larger set of data. No candidate is judged by it; what is found has to hold there, and is timed there."""

    program: Program
    what: str
    """The data in words."""
    error: str
    """The file with the program's own error after it has run: one float64, the share that it gets wrong."""


@dataclass(frozen=True)
class Recordings:
    """Launches of recordings. ``paths``: one for each data set, the one that times come from first. ``held``: launches that
    candidates are not judged by, for the proof of what was found."""

    paths: tuple[str, ...]
    chosen: tuple[Chosen, ...]
    tolerance: str = "exact"
    held: tuple[Chosen, ...] = ()
    program: Program | None = None
    """How the program of the first recording is run, for the proof in the whole program."""
    flags: FlagChoice | None = None
    """The compile flags that edits start from; None where none were searched."""
    lines: tuple[str, ...] = ()
    """What each recording is of, for people: the program's arguments."""
    larger: Larger | None = None

    @property
    def files(self) -> tuple[str, ...]:
        return (*self.paths, *sorted({path for _, path in self.flags.texts} if self.flags else ()))

    def workload(self) -> Workload:
        captures = [Capture.read(path) for path in self.paths]
        cases = self._cases(captures, self.chosen)
        weights = tuple(each.weight for each in self.chosen)
        rules = parse_rules(self.tolerance)
        made = Workload(captures[0].path, "", tuple(cases), rules, capture=captures[0], weights=weights)
        return replace(made, optimised=_optimised(self.flags)) if self.flags else made

    def held_out(self) -> list[RecordedCase]:
        """The launches for the proof."""
        return self._cases([Capture.read(path) for path in self.paths], self.held)

    def _cases(self, captures: Sequence[Capture], chosen: Sequence[Chosen]) -> list[RecordedCase]:
        rules = parse_rules(self.tolerance)
        modules: dict[tuple[int, str], Module] = {}
        cases = []
        for each in chosen:
            capture = captures[each.recording]
            launch = capture.launches[each.launch]
            asked = (each.recording, launch.module)
            if asked not in modules:
                modules[asked] = parse_module(capture.ir(launch.module))
            of = f" of data set {each.recording + 1}" if len(captures) > 1 else ""
            cases.append(RecordedCase(capture, launch, modules[asked], rules, of))
        return cases

    def as_json(self) -> dict[str, Any]:
        """Chosen and held launches as [recording, launch, weight], counted from 0; ``subject_from_json`` reads it."""
        chosen, held = ([[c.recording, c.launch, c.weight] for c in some] for some in (self.chosen, self.held))
        return {
            "kind": "recordings", "paths": list(self.paths), "chosen": chosen, "held": held, "tolerance": self.tolerance,
            "program": None if self.program is None else asdict(self.program),
            "lines": list(self.lines),
            "flags": None if self.flags is None else self.flags.as_json(),
            "larger": None if self.larger is None else asdict(self.larger),
        }  # fmt: skip


@dataclass(frozen=True)
class PythonFile:
    """A Python file that defines ``workload``. ``tolerance``: in place of its own, when it is not empty."""

    path: str
    tolerance: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        return (self.path,)

    def workload(self) -> Workload:
        found = load_workload(Path(self.path))
        return replace(found, tolerance=parse_rules(self.tolerance)) if self.tolerance else found

    def as_json(self) -> dict[str, Any]:
        """Path and tolerance; ``subject_from_json`` reads it."""
        return {"kind": "python", "path": self.path, "tolerance": self.tolerance}


@dataclass(frozen=True, eq=False)
class Given:
    """A workload at hand. Processes that are made by pickling can take it only if its functions can be imported."""

    given: Workload

    @property
    def files(self) -> tuple[str, ...]:
        return ()

    def workload(self) -> Workload:
        return self.given

    def as_json(self) -> dict[str, Any]:
        """Says only that the workload was given as an object, which a run cannot go on from."""
        return {"kind": "given"}


def subject_of(workload: Workload) -> Subject:
    """A workload at hand, as a subject. Raises ``Misuse`` for one whose functions other processes cannot import."""
    recorded = [case for case in workload.in_process if isinstance(case, RecordedCase)]
    if len(recorded) == len(workload.cases):
        paths = list(dict.fromkeys(str(case.capture.path.absolute()) for case in recorded))
        weights = workload.weights or (1.0,) * len(recorded)
        chosen = tuple(
            Chosen(paths.index(str(case.capture.path.absolute())), case.recorded.number, weight)
            for case, weight in zip(recorded, weights, strict=True)
        )
        return Recordings(tuple(paths), chosen, str(workload.rules))
    try:
        pickle.loads(pickle.dumps(workload))
        functions = [workload.oracle, *(case.host for case in workload.in_process if isinstance(case, Case))]
        if any(getattr(function, "__module__", "") == "__main__" for function in functions):
            raise AttributeError("a function of it is defined in the program itself")
    except Exception as error:
        raise Misuse(
            f"this workload cannot be sent to worker processes ({error})",
            hint="define its functions in a module that can be imported, or give the path of a Python file that defines it",
        ) from error
    return Given(workload)


def _optimised(flags: FlagChoice) -> dict[str, str]:
    try:
        return flags.modules()
    except OSError as error:
        raise ToolError(
            f"a kernel as {flags.flags} compiles it cannot be read: {error.filename}: {error.strerror}",
            hint="it belongs to the run's folder: start a new run",
        ) from error


def _flags(value: Any, folder: Path) -> FlagChoice | None:
    return None if value is None else FlagChoice.from_json(value).below(folder)


def _program(value: Any, folder: Path) -> Program | None:
    if value is None:
        return None
    return Program(str(value["executable"]), tuple(value["arguments"]), str(folder / value["folder"]))


def _larger(value: Any, folder: Path) -> Larger | None:
    program = None if value is None else _program(value["program"], folder)
    return None if program is None else Larger(program, str(value["what"]), str(value["error"]))


def subject_from_json(value: Any, folder: Path) -> Subject:
    """What ``as_json`` wrote; relative paths are below ``folder``. Raises ``Misuse`` for anything else."""
    try:
        kind = value["kind"]
        if kind == "recordings":
            paths = tuple(str(folder / path) for path in value["paths"])
            chosen, held = (
                tuple(Chosen(int(r), int(n), float(w)) for r, n, w in value[which]) for which in ("chosen", "held")
            )
            program, flags = _program(value["program"], folder), _flags(value.get("flags"), folder)
            lines = tuple(str(line) for line in value.get("lines", ()))
            larger = _larger(value.get("larger"), folder)
            return Recordings(paths, chosen, str(value["tolerance"]), held, program, flags, lines, larger)
        if kind == "python":
            return PythonFile(str(folder / value["path"]), str(value["tolerance"]))
    except (KeyError, TypeError, ValueError) as error:
        raise Misuse(f"this run does not say what it evolves ({reason(error)})", hint="start a new one") from error
    raise Misuse(
        "this run evolves a workload that only the Python program that started it has",
        hint="resume it from there: kernelwright.evolve(workload, resume=...)",
    )
