"""What is carried of a search to a machine with a GPU: the launches its variants were judged by, and code for them.

FOLDER/PROGRAM/RUN.json      the launches, which machine code runs each, what the virtual GPU says of it
FOLDER/PROGRAM/memory.npz    what the buffers held before and after, by content: runs of a program share most of it
FOLDER/PROGRAM/images/       machine code (``images.py``), and nvcc's (``nvcc.py``)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.cache import content_key
from kernelwright.device.real_gpu.worker import Buffers, Image, Job
from kernelwright.errors import Misuse
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass

FORMAT = 1
MEMORY = "memory.npz"
IMAGES = "images"
REGULAR = "-regular"
"""At the end of a program's name: on its regular data (``suite/evolving.py``)."""


@dataclass(frozen=True)
class CarriedBuffer:
    """A buffer that a launch can reach. ``before`` and ``after`` name its contents; ``after`` is empty where it is not compared."""

    name: str
    address: int
    type: str
    """NumPy's, of the elements."""
    before: str
    after: str


@dataclass(frozen=True)
class CarriedCase:
    """One recorded launch. ``weight``: how many launches of the program it stands for."""

    name: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: str
    """The parameter buffer in hexadecimal digits."""
    weight: float
    variables: tuple[tuple[str, int], ...]
    """(name, address) of device variables, which lie among the buffers."""
    buffers: tuple[CarriedBuffer, ...]
    is_first: bool = False
    """Of its program: nothing is in L2 then, for estimates and for times."""

    def job(self, image: Image) -> Job:
        """The launch with the code of ``image``, for a GPU's worker."""
        parameters = bytes.fromhex(self.arguments)
        launch = Launch(self.kernel, self.grid, self.block, parameters, self.shared_bytes)
        return Job(image, launch, self.variables)


@dataclass(frozen=True)
class CarriedVariant:
    """A variant, or the original, as launch by launch it is run."""

    name: str
    role: str
    """``original``, ``best`` (what the run stands for), ``as GEVO would`` (the fastest that is right on the training cases) or
    ``other``."""
    label: str
    images: tuple[str, ...]
    """By case, the code that runs: the original's where guards do not hold."""
    estimates: Mapping[str, tuple[float, ...]]
    """By GPU, microseconds of each case."""

    def estimated_us(self, model: str | None, cases: tuple[CarriedCase, ...]) -> float | None:
        """Of the whole program, on a GPU of the tables; None when it was not estimated."""
        each = self.estimates.get(model or "")
        return sum(us * case.weight for us, case in zip(each, cases, strict=True)) if each else None


@dataclass(frozen=True)
class CarriedRun:
    """What is carried of one run. ``arm`` says how it searched, as in ``bench/evolve.py``."""

    program: str
    arm: str
    run: str
    tolerance: str
    """Rules of comparison, as text."""
    cases: tuple[CarriedCase, ...]
    original: CarriedVariant
    variants: tuple[CarriedVariant, ...]

    def write(self, folder: Path) -> None:
        """Writes it as JSON to a file in ``folder`` that is named after the run. Raises ``OSError``."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, separators=(",", ":"))
        (folder / f"{self.run}.json").write_text(text)

    @classmethod
    def read(cls, path: Path) -> CarriedRun:
        """Raises ``Misuse`` for what ``write`` has not written, ``OSError`` for what cannot be read."""
        try:
            value = json.loads(path.read_text())
            if value["format"] != FORMAT:
                raise ValueError(f"format {value['format']}")
            cases = tuple(_case(each) for each in value["cases"])
            variants = tuple(_variant(each) for each in value["variants"])
            return cls(value["program"], value["arm"], value["run"], value["tolerance"], cases,
                       _variant(value["original"]), variants)  # fmt: skip
        except (ValueError, KeyError, TypeError) as error:
            raise Misuse(f"{path} was not prepared by this version ({error})", hint="prepare it again") from error


def _case(value: Mapping[str, Any]) -> CarriedCase:
    known = {**value, "variables": tuple((name, at) for name, at in value["variables"])}
    for shape in ("grid", "block"):
        known[shape] = tuple(value[shape])
    known["buffers"] = tuple(CarriedBuffer(**each) for each in value["buffers"])
    return CarriedCase(**known)


def _variant(value: Mapping[str, Any]) -> CarriedVariant:
    estimates = {gpu: tuple(each) for gpu, each in value["estimates"].items()}
    return CarriedVariant(**{**value, "images": tuple(value["images"]), "estimates": estimates})


class Contents:
    """Contents of buffers by name, to be written once each."""

    def __init__(self) -> None:
        self._known: dict[str, NDArray[np.uint8]] = {}

    def keep(self, data: bytes) -> str:
        """Keeps a buffer's content, and returns the name it will be found by: 24 hexadecimal digits of its hash."""
        key = content_key([data])[:24]
        self._known[key] = np.frombuffer(data, np.uint8)
        return key

    def write(self, folder: Path) -> None:
        """Raises ``OSError``."""
        arrays: dict[str, Any] = dict(self._known)
        np.savez_compressed(folder / MEMORY, **arrays)


class Memory:
    """What ``Contents`` wrote."""

    def __init__(self, folder: Path) -> None:
        """Raises ``OSError`` and ``ValueError`` for a file that is missing or damaged."""
        with np.load(folder / MEMORY) as file:
            self._known = {key: file[key] for key in file.files}

    def before(self, case: CarriedCase) -> Buffers:
        """What the launch finds, by address."""
        return [(buffer.address, self._known[buffer.before].tobytes()) for buffer in case.buffers]

    def typed(self, buffer: CarriedBuffer, when: str) -> NDArray[Any]:
        """A buffer's content ``before`` or ``after`` the launch, as the kernel sees it."""
        return as_type(self._known[buffer.before if when == "before" else buffer.after].tobytes(), buffer.type)


def as_type(data: bytes, type: str) -> NDArray[Any]:
    """Bytes as a one-dimensional array of NumPy's ``type``; it is read-only."""
    return np.frombuffer(data, dtype=type)
