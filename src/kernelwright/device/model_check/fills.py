"""What an array or a variable holds before a variant runs: zeros, random floats, or numbers of a file.

    fill = "zeros"                          where nothing is said
    fill = "random"                         floats between 0 and 1
    fill = "points.npy"                     an array that NumPy saved, beside the description
    fill = "arguments.npz:argument_00"      one of several in a file

A file's numbers are repeated where there is room for more of them, and end where there is room for fewer.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass

WORDS = ("zeros", "random")
HINT = 'give "zeros", "random", a file of NumPy\'s beside the description ("points.npy"), or an array of one ("all.npz:points")'


@dataclass(frozen=True)
class Fill:
    """``file`` is empty for zeros and random floats; ``array``: which of a file of several."""

    word: str
    file: Path | None = None
    array: str = ""

    def write(self, view: np.ndarray[Any, np.dtype[np.uint8]], seed: int) -> None:
        """Fills ``view``, which holds zeros."""
        if self.word == "random":
            _repeat(view, np.random.default_rng(seed).random(max(len(view) // 4, 1), np.float32))
        elif self.file is not None:
            _repeat(view, _read(self.file, self.array))


ZEROS = Fill("zeros")


def fill_of(given: Any, folder: Path, place: str) -> Fill:
    """What a description says at ``place``. Raises ``Misuse`` for what is none of these, and for a file that cannot be used."""
    if given in WORDS:
        return Fill(given)
    name, _, array = given.partition(":") if isinstance(given, str) else ("", "", "")
    if not name.endswith(".npz" if array else ".npy"):
        raise Misuse(f"{place}: {given!r} fills nothing", hint=HINT)
    made = Fill("", folder / name, array)
    try:
        found = _read(folder / name, array)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        what = (isinstance(error, OSError) and error.strerror) or "it is no array of numbers that NumPy saved"
        raise Misuse(f"{place}: {folder / name} cannot be used: {what}", hint=HINT) from None
    except KeyError:
        raise Misuse(f"{place}: {folder / name} has no array {array!r}", hint=HINT) from None
    if found.dtype.hasobject or not found.nbytes:
        raise Misuse(f"{place}: {given} holds no numbers", hint=HINT)
    return made


def _read(file: Path, array: str) -> np.ndarray[Any, Any]:
    found = np.load(file, allow_pickle=False)
    return np.asarray(found[array] if array else found)


def _repeat(view: np.ndarray[Any, np.dtype[np.uint8]], numbers: np.ndarray[Any, Any]) -> None:
    raw = np.frombuffer(numbers.tobytes(), np.uint8)
    for at in range(0, len(view), len(raw)):
        view[at : at + len(raw)] = raw[: len(view) - at]
