"""The threshold file, one ``name=value`` line per threshold as Futhark reads them, and the evidence beside it.

    -- thresholds of ./app {data}
    -- on AMD EPYC 7B13
    -- evidence: app.tuning.json
    main.suff_outer_par_0=20480

Lines that begin with ``--`` are comments, for us and for Futhark. ``app.tuning.json`` holds what was measured, dataset by
dataset, so that tuning goes on where it was, also after Ctrl-C. Neither is ever replaced by less than it held.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from kernelwright.cache import write_atomically
from kernelwright.errors import Misuse, Place
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.versions.configurations import Configuration
from kernelwright.versions.program import INFINITE

FORMAT = 1
_PROGRAM, _DEVICE, _CALIBRATION = "-- thresholds of ", "-- on ", "-- estimated, calibration "
_WITH, _BY = " --with ", " --by "


@dataclass(frozen=True)
class Identity:
    """Whose thresholds they are. Times of another program or device say nothing here."""

    program: str
    device: str
    digest: str = ""
    """Hash of the program's content and of what else decides its times; empty where it has none."""
    calibration: str = ""
    """The constants of the timing model; empty where times are measured."""


def with_winners(program: str, runs: str, by: Sequence[str] = ()) -> str:
    """How a program is called whose kernels have winners of ``runs`` as versions. ``by``: what their thresholds compare."""
    values = "".join(f"{_BY}{value}" for value in by)
    return f"{program}{_WITH}{runs}{values}" if runs else program


def runs_of(path: Path) -> list[str]:
    """The runs whose winners a threshold file was tuned with. Raises ``Misuse`` where there are none."""
    header = header_of(path)
    runs = header[0].partition(_WITH)[2].partition(_BY)[0] if header else ""
    if not runs:
        raise Misuse(f"{path} holds no thresholds of winners", hint="kw tune app.cu --with RUN,RUN writes such a file")
    return runs.split(",")


def winners_named(path: Path, thresholds: Iterable[str]) -> list[str]:
    """Those of ``thresholds`` that are of winners of the runs that the file ``path`` was tuned with; the others are the program's own."""
    header = header_of(path)
    runs = header[0].partition(_WITH)[2].partition(_BY)[0].split(",") if header else []
    names = tuple(f"{Path(run.partition(':')[0]).name}:" for run in runs if run)
    return [name for name in thresholds if names and name.startswith(names)]


def read_thresholds(path: Path) -> dict[str, int]:
    """The thresholds in a file. Raises ``Misuse`` with the line for what is no threshold, or one that is given twice."""
    found: dict[str, int] = {}
    for number, line in enumerate(_text(path).splitlines(), start=1):
        place = Place(str(path), number, 0, line)
        text = line.strip()
        if not text or text.startswith("--"):
            continue
        name, equals, value = (part.strip() for part in text.partition("="))
        try:
            threshold = int(value)
        except ValueError:
            raise Misuse(
                "this is no threshold", place=place, hint="write name=number, or -- before a comment"
            ) from None
        if not (name and equals):
            raise Misuse("this is no threshold", place=place, hint="write name=number, or -- before a comment")
        if not -INFINITE <= threshold <= INFINITE:
            raise Misuse(f"{value} is no number of 64 bits", place=place, hint=f"{INFINITE} is never reached")
        if name in found:
            raise Misuse(f"threshold {name} stands here twice", place=place, hint="keep one of the two lines")
        found[name] = threshold
    return found


def refuse_unknown(path: Path, unknown: Sequence[str], guards: Sequence[str] = ()) -> None:
    """Raises ``Misuse`` where there is a threshold of no guard of the program. ``guards``: those it has, where that is known."""
    if unknown:
        has = f": it has {', '.join(guards)}" if guards else ""
        raise Misuse(
            f"{path} has a threshold {unknown[0]!r}, and the program has no such guard{has}",
            hint="tune this program into a file of its own with -o, or take the line out",
        )


def evidence_path(path: Path) -> Path:
    """The file beside a threshold file that says how it was found."""
    return path.with_name(path.name + ".json")


@dataclass
class Evidence:
    """What was measured, and for whom."""

    identity: Identity
    measured: dict[str, list[Configuration]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    """Per dataset the hash of its content, where it is a file."""
    explanation: dict[str, Any] = field(default_factory=dict)

    @property
    def says_something(self) -> bool:
        """Whether anything ran: a command that was mistyped leaves failures alone."""
        return any(not known.times.failed for found in self.measured.values() for known in found)

    def write(self, path: Path) -> None:
        """Writes it, as JSON, beside the threshold file ``path``. Raises ``OSError``."""
        datasets = {
            name: {"digest": self.digests.get(name, ""), "configurations": [c.as_json() for c in configurations]}
            for name, configurations in self.measured.items()
        }
        value = {
            "format": FORMAT,
            "program": self.identity.program,
            "device": self.identity.device,
            "digest": self.identity.digest,
            "calibration": self.identity.calibration,
            "datasets": datasets,
            "explanation": self.explanation,
        }
        write_atomically(evidence_path(path), (json.dumps(value, indent=1) + "\n").encode())

    @staticmethod
    def read(path: Path) -> Evidence | None:
        """The evidence beside the threshold file ``path``; None where there is none. Raises ``Misuse`` for what is none."""
        there = evidence_path(path)
        if not there.exists():
            return None
        try:
            value = json.loads(_text(there))
        except (ValueError, RecursionError) as error:
            raise Misuse(f"{there} is no JSON: {error}", hint=_DAMAGED) from None
        if isinstance(value, dict) and isinstance(value.get("format"), int) and value["format"] != FORMAT:
            raise Misuse(f"{there} has format {value['format']}", hint="a newer Kernelwright wrote it: upgrade")
        try:
            names = [value["program"], value["device"], value["digest"], value.get("calibration", "")]
            datasets, explanation = value["datasets"], value["explanation"]
            measured = {n: [Configuration.from_json(c) for c in d["configurations"]] for n, d in datasets.items()}
            digests = {n: d["digest"] for n, d in datasets.items()}
            if not all(isinstance(text, str) for text in (*names, *digests.values())) or not _explains(explanation):
                raise TypeError
        except (KeyError, TypeError, AttributeError, Misuse):
            raise Misuse(f"{there} is no evidence of kw tune, or is damaged", hint=_DAMAGED) from None
        return Evidence(Identity(*names), measured, digests, explanation)


_DAMAGED = "move it away, and tune again"


def _explains(explanation: Any) -> bool:
    """Whether it is what ``tune_program`` writes: nothing yet, or what was found, with lines for people."""
    if explanation == {}:
        return True
    return (
        all(isinstance(line, str) for line in explanation["lines"])
        and all(isinstance(dataset["name"], str) for dataset in explanation["datasets"])
        and all(isinstance(left["name"], str) for left in explanation.get("left_out", []))
    )


def evidence_for(path: Path, identity: Identity) -> Evidence:
    """What is known for ``identity``, to be added to. Raises ``Misuse`` when the files there are of another."""
    found = Evidence.read(path)
    if found is None:
        _refuse_another(path, header_of(path), identity)
        return Evidence(identity)
    if not _is_same_file(found.identity, identity):
        if not found.says_something and not path.exists():
            return Evidence(identity)
        _refuse_another(path, (found.identity.program, found.identity.device), identity)
    if found.identity.digest != identity.digest:
        raise Misuse(
            f"{identity.program} has changed since {path} was tuned: times of the old one say nothing of it",
            hint="tune anew with --fresh",
        )
    # Files of before calibrations were named there have none.
    if found.identity.calibration not in ("", identity.calibration):
        raise Misuse(
            f"{path} holds thresholds of times with another calibration of the timing model: {found.identity.calibration}, and this "
            f"is {identity.calibration or 'measured'}",
            hint="tune anew with --fresh, or write to another file with -o",
        )
    found.identity = identity
    return found


def refuse_another_program(path: Path, identity: Identity) -> None:
    """Raises ``Misuse`` where the files there are of another program, whose thresholds nothing may replace. Winners of other runs, and
    what they compare, make no other program."""
    try:
        evidence = Evidence.read(path)
    except Misuse:  # It tells nothing; the threshold file may.
        evidence = None
    if evidence is not None and (
        _is_same_file(evidence.identity, identity) or not (evidence.says_something or path.exists())
    ):
        return
    header = header_of(path)
    found = header[0] if header is not None else evidence.identity.program if evidence is not None else identity.program
    if _is_another_program(found, identity):
        raise Misuse(
            f"{path} holds thresholds of another program: {found}, and this is {identity.program}",
            hint="write to another file with -o, or move that one away",
        )


def set_aside(path: Path, evidence: Evidence, thresholds: Collection[str]) -> Path | None:
    """Copies a threshold file, and the evidence beside it, where they hold what these do not: a threshold, a dataset, or times of another
    device or of the program as it was. Returns the copy of the threshold file; None where nothing would be lost."""
    try:
        earlier = Evidence.read(path)
        is_less = earlier is not None and (
            earlier.identity != evidence.identity or not earlier.measured.keys() <= evidence.measured.keys()
        )
    except Misuse:  # It is of no use here, and may be of use elsewhere.
        is_less = True
    is_less = is_less or (path.exists() and not read_thresholds(path).keys() <= set(thresholds))
    if not is_less:
        return None
    aside = next(
        free
        for n in itertools.count(1)
        if not _is_there(free := path.with_name(f"{path.stem}.before-{n}{path.suffix}"))
    )
    for each, to in ((path, aside), (evidence_path(path), evidence_path(aside))):
        if each.exists():
            write_atomically(to, each.read_bytes())
    return aside


def _is_another_program(program: str, identity: Identity) -> bool:
    return _one_line(program).partition(_WITH)[0] != _one_line(identity.program).partition(_WITH)[0]


def _is_there(path: Path) -> bool:
    return path.exists() or evidence_path(path).exists()


def write_thresholds(path: Path, thresholds: Mapping[str, int], identity: Identity) -> None:
    """Writes the file."""
    lines = [
        f"{_PROGRAM}{_one_line(identity.program)}",
        f"{_DEVICE}{_one_line(identity.device)}",
        *([f"{_CALIBRATION}{_one_line(identity.calibration)}"] if identity.calibration else []),
        f"-- evidence: {evidence_path(path).name}",
        *(f"{name}={value}" for name, value in thresholds.items()),
    ]
    write_atomically(path, ("\n".join(lines) + "\n").encode())


def header_of(path: Path) -> tuple[str, str] | None:
    """Program and device that a threshold file names; None where it is not there or names none."""
    if not path.exists():
        return None
    lines = _text(path).splitlines()
    program = next((line.removeprefix(_PROGRAM) for line in lines if line.startswith(_PROGRAM)), None)
    device = next((line.removeprefix(_DEVICE) for line in lines if line.startswith(_DEVICE)), None)
    return None if program is None or device is None else (program, device)


def _is_same_file(one: Identity, other: Identity) -> bool:
    """Whether both are of the same content on the same device, under the same name in the folder that each was called from."""
    return one.digest == other.digest != "" and one.device == other.device and _last_part(one) == _last_part(other)


def _last_part(identity: Identity) -> str:
    program, *more = _one_line(identity.program).partition(_WITH)
    return "".join((Path(program).name, *more))


def _refuse_another(path: Path, found: tuple[str, str] | None, identity: Identity) -> None:
    wanted = (_one_line(identity.program), _one_line(identity.device))
    if found is None or (_one_line(found[0]), _one_line(found[1])) == wanted:
        return
    what, there, here = (
        ("program", found[0], identity.program) if _one_line(found[0]) != wanted[0] else ("device", found[1], wanted[1])
    )
    raise Misuse(
        f"{path} holds thresholds of another {what}: {there}, and this is {here}",
        hint=f"write to another file with -o{'' if _is_another_program(found[0], identity) else ', or tune anew with --fresh'}",
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror}", hint="kw tune writes one with -o FILE") from None
    except UnicodeDecodeError:
        raise Misuse(f"{path} is no text", hint="kw tune writes one with -o FILE") from None
