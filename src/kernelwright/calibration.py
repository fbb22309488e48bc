"""The constants of the model that a measurement may change, as a value with a JSON file. Nothing measured: all are 1.

found = load(Path("mine.json"))
found.text, calibration_of(found.text)      "mine:gpu=a100,rows=80,scale=1.21", as names of devices carry it
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from kernelwright.errors import Misuse, reason
from kernelwright.lazy_dataclasses import dataclass

UNCALIBRATED = "uncalibrated"
FORMAT = 1
NORMS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Calibration:
    """Factors on the figures of a GPU's table: 1.1 makes that part of the estimate a tenth slower.

    ``norm`` says how well parts of the work overlap: 1 not at all (they add up), 16 almost perfectly (the largest
    decides). ``gpu`` is the one it was fitted on, ``rows`` the number of measurements, ``error`` their mean relative
    error afterwards. ``held_out``: Spearman's rank correlation on measurements that it was not fitted on. ``source``: where the
    times are from; ``left_alone``: the constants that they do not say, each with the reason.
    """

    name: str = UNCALIBRATED
    gpu: str = ""
    rows: int = 0
    error: float | None = None
    held_out: float | None = None
    source: str = ""
    left_alone: tuple[str, ...] = ()
    norm: int = 4
    scale: float = 1.0
    """On the time of a kernel as a whole, without what launching costs: a clock that is lower than the table's, say."""
    launch: float = 1.0
    issue: float = 1.0
    pipes: float = 1.0
    l1: float = 1.0
    l2: float = 1.0
    dram: float = 1.0
    latency: float = 1.0
    """On the latencies of caches and memory."""
    barrier: float = 1.0
    atomic: float = 1.0
    """Cycles between two atomics on one line."""

    def __post_init__(self) -> None:
        if self.norm not in NORMS:
            raise Misuse(f"a calibration's norm is one of {', '.join(map(str, NORMS))}, not {self.norm!r}")
        for name in FACTORS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise Misuse(f"a calibration's {name!r} is a positive number, not {value!r}")
        for name, kinds, what in _ABOUT:
            if isinstance(value := getattr(self, name), bool) or not isinstance(value, kinds):
                raise Misuse(f"a calibration's {name!r} is {what}, not {value!r}")

    @property
    def is_measured(self) -> bool:
        """Whether it was fitted to any measured times; else its factors are the table's own or were given by hand."""
        return self.rows > 0

    def __str__(self) -> str:
        return f"{self.name} ({self.rows} measurements on {self.gpu})" if self.is_measured else self.name

    @property
    def text(self) -> str:
        """Everything that an estimate depends on, and of how many measurements, in one word without spaces; empty where nothing
        was measured or changed. ``calibration_of`` reads it."""
        values = {name: getattr(self, name) for name in ("gpu", "rows", "error", "held_out", "norm", *FACTORS)}
        said = [
            f"{n}={_word(v) if isinstance(v, str) else repr(v)}" for n, v in values.items() if v != getattr(DEFAULT, n)
        ]
        return f"{_word(self.name)}:{','.join(said)}" if said else ""

    def changed(self, name: str, value: float) -> Calibration:
        """The same with one constant changed."""
        return Calibration(**{**asdict(self), name: value})

    def as_json(self) -> dict[str, Any]:
        """All constants with the number of the format, as ``load`` reads them from a file."""
        return {"format": FORMAT, **asdict(self), "left_alone": list(self.left_alone)}

    def save(self, path: Path) -> None:
        """Writes ``as_json`` to a file that ``load`` reads, in place of what is there. Raises ``OSError``."""
        path.write_text(json.dumps(self.as_json(), indent=2) + "\n")


FACTORS = ("scale", "launch", "issue", "pipes", "l1", "l2", "dram", "latency", "barrier", "atomic")

_ABOUT: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("name", str, "a text"),
    ("gpu", str, "a text"),
    ("source", str, "a text"),
    ("rows", int, "a whole number"),
    ("error", (int, float, type(None)), "a number"),
    ("held_out", (int, float, type(None)), "a number"),
    ("left_alone", tuple, "a list of texts"),
)

DEFAULT = Calibration()
HINT = "kw model fit CACHE --kernel K.toml -o mine.json makes one, and so does make gpu"
_PAIR = re.compile(r"(\w+)=([^,]+)")


def load(path: Path) -> Calibration:
    """Raises ``Misuse`` for a file that is not there or holds no calibration."""
    try:
        found = json.loads(path.read_text())
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Misuse(f"{path} holds no calibration: {reason(error)}", hint=HINT) from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Misuse(f"{path} holds no calibration of format {FORMAT}", hint=HINT)
    value = {name: each for name, each in found.items() if name != "format"}
    return _of(
        {**value, **({"left_alone": tuple(value["left_alone"])} if isinstance(value.get("left_alone"), list) else {})},
        str(path),
    )


def calibration_of(text: str) -> Calibration:
    """What ``Calibration.text`` wrote. Raises ``Misuse`` for anything else."""
    name, _, rest = text.partition(":")
    pairs = _PAIR.findall(rest)
    if not name or not pairs or ",".join(f"{n}={v}" for n, v in pairs) != rest:
        raise Misuse(f"{text!r} is no calibration", hint=HINT)
    return _of({"name": name, **{n: v if n == "gpu" else _number(v) for n, v in pairs}}, f"{text!r}")


def _of(value: dict[str, Any], place: str) -> Calibration:
    extra = sorted(set(value) - {f.name for f in fields(Calibration)})
    if extra:
        raise Misuse(f"{place} has constants that the model does not know: {', '.join(extra)}", hint=HINT)
    try:
        return Calibration(**value)
    except Misuse as error:
        raise Misuse(f"{place}: {error.message}", hint=HINT) from None


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _word(text: str) -> str:
    """A name as it may stand in that of a device, and in a command line."""
    return re.sub(r"[^\w.+-]", "-", text) or "unnamed"
