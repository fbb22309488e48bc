"""GPUs in words: a name of the table with what is otherwise, and a calibration; and a person's own, from a TOML file.

    a100                                              of the table
    a100@mine:gpu=a100,rows=80,scale=1.21             with a calibration, as journals have it
    a100@mine.json                                    the same, read from its file
    mine.toml                                         a GPU of one's own: like one of the table, but for what the file says
    mine:like=h100,clock_mhz=1755,sm.l1_latency=40    what was read from there, as journals have it

The file:

    like = "h100"               # the GPU of the table that has everything not said here
    name = "mine"               # else the file's name
    clock_mhz = 1755            # any figure of docs/timing-model.md, those of the multiprocessor in [sm], [sm.rates]

Nothing here knows the table: ``target.gpu`` puts the two together.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kernelwright.calibration import DEFAULT, Calibration, calibration_of, load
from kernelwright.errors import Misuse, reason
from kernelwright.lazy_dataclasses import dataclass

TOML, JSON = ".toml", ".json"
Value = int | float | tuple[int, ...]
HINT = 'like = "h100", clock_mhz = 1755, and whatever else is not as that GPU has it; docs/timing-model.md names the figures'
_NAME = re.compile(r"[A-Za-z_][\w.+-]*")


@dataclass(frozen=True)
class GpuInWords:
    """``like`` is empty for a GPU of the table. ``figures``: what is otherwise, by name: ``clock_mhz``, ``sm.l1_latency``,
    ``sm.rates.fma``. ``place``: where it was read, for messages."""

    name: str
    like: str
    figures: tuple[tuple[str, Value], ...]
    calibration: Calibration
    place: str

    @property
    def text(self) -> str:
        """As ``read_gpu`` reads it."""
        said = [f"like={self.like}", *(f"{name}={_said(value)}" for name, value in self.figures)] if self.like else []
        own = f"{self.name}:{','.join(said)}" if said else self.name
        return f"{own}@{self.calibration.text}" if self.calibration.text else own


def read_gpu(text: str) -> GpuInWords:
    """Raises ``Misuse`` for files and words that are no GPU; whether a name or a figure is known is not looked at."""
    own, at, calibration = text.partition("@")
    made = DEFAULT
    if at:
        made = load(Path(calibration)) if calibration.endswith(JSON) else calibration_of(calibration)
    if own.endswith(TOML):
        return _of_file(Path(own), made)
    name, colon, rest = own.partition(":")
    if not colon:
        return GpuInWords(own, "", (), made, repr(text))
    pairs = [part.partition("=") for part in rest.split(",")]
    values = {name: value for name, _, value in pairs}
    if "like" not in values:
        raise Misuse(f"unknown GPU {text!r}", hint="a GPU of your own is a TOML file: --device mine.toml")
    figures = tuple((n, _read(v, n, repr(text))) for n, v in values.items() if n != "like")
    return GpuInWords(name, values["like"], figures, made, repr(text))


def _of_file(path: Path, calibration: Calibration) -> GpuInWords:
    try:
        found = tomllib.loads(path.read_text())
    except OSError as error:
        raise Misuse(f"{path} cannot be read: {error.strerror or error}", hint="--device takes a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misuse(f"{path}: {reason(error)}", hint=HINT) from None
    name, like = found.pop("name", path.stem), found.pop("like", None)
    if not isinstance(like, str):
        raise Misuse(f"{path} does not say which GPU of the table yours is like", hint=HINT)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Misuse(f"{path}: {name!r} is no name of a GPU", hint="letters, digits, and . _ + - within")
    return GpuInWords(name, like, tuple(_figures(found, "", path)), calibration, str(path))


def _figures(found: Mapping[str, Any], before: str, path: Path) -> Iterator[tuple[str, Value]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _figures(value, f"{before}{name}.", path)
        elif isinstance(value, list) and all(type(v) is int for v in value):
            yield before + name, tuple(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield before + name, value
        else:
            raise Misuse(f"{path}: {before}{name} is {value!r}, which is no number", hint=HINT)


def _said(value: Value) -> str:
    return "+".join(map(str, value)) + "+" if isinstance(value, tuple) else repr(value)


def _read(text: str, name: str, place: str) -> Value:
    try:
        if text.endswith("+"):
            return tuple(int(part) for part in text[:-1].split("+") if part)
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        raise Misuse(f"{place}: {name} is {text!r}, which is no number", hint=HINT) from None
