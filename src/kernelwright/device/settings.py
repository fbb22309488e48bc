"""What a worker is told by its surroundings: which GPU, and how much a kernel may take.

KERNELWRIGHT_DEVICE    the device: auto, a virtual GPU by name or as gpu_text.py says (h200@mine.json), or cuda:N for a real one
KERNELWRIGHT_BUDGET    times that the warps of one launch may go back in loops before it counts as endless
KERNELWRIGHT_TIMEOUT   seconds that one launch may run; 0: as long as it wants
KERNELWRIGHT_MEMORY    bytes of memory that the worker may use, device memory included; also 512M, 16G
KERNELWRIGHT_GPUS      how many virtual GPUs a program finds; one
KERNELWRIGHT_CORES     cores that one launch may run on; all that there are
KERNELWRIGHT_STRICT    1: a read past a buffer that a GPU would let pass ends its launch
KERNELWRIGHT_WINNERS   off: a program's own kernels run, not the winners that it carries; count: at the end, which ran how often
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kernelwright.calibration import Calibration, load
from kernelwright.device.virtual_gpu.launch_cores import launch_cores
from kernelwright.errors import Misuse, check_kind
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.own_gpu import with_calibration
from kernelwright.target import DEFAULT_GPU, GPUS, Gpu, gpu

BUDGET = 1 << 34
"""Times that the warps of one launch may go back in loops before it counts as endless: a minute or two."""
TIMEOUT_S = 600.0
"""Ends a kernel without loops but with a billion blocks, which no budget of loop iterations ends."""

MOST_GPUS = 16
"""As many as our runtime looks at (``KW_DEVICES``)."""

OVERREAD = 0
"""The byte that a read past a buffer gives: memory that a GPU hands to a new process holds zeros."""

_CUDA = re.compile(r"cuda(?::(\d+))?")
_SIZE = re.compile(r"(\d+)([KMGT]?)(i?B)?", re.I)
MOST_BYTES = 1 << 44
"""Of a device's memory, which is mapped as a whole."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Settings:
    """How a device behaves."""

    gpu: Gpu
    """The GPU that the virtual one stands for."""
    budget: int = BUDGET
    timeout_s: float = TIMEOUT_S
    memory_bytes: int | None = None
    real: str = ""
    """``cuda:0``: a real GPU, to which ``gpu``, ``budget`` and ``memory_bytes`` mean nothing. Empty: the virtual one."""
    strict: bool = False
    """Whether what a GPU would let pass ends its launch: a read past a buffer (``overread.py``), warps that meet at different
    barriers."""
    winners: str = ""
    """``off``: those that a program carries do not run. ``count``: at the end, what ran is told."""
    cores: int = 1
    """On how many a launch on the virtual GPU may run."""
    gpus: int = 1
    """How many virtual GPUs a program finds, all of them alike."""

    @property
    def name(self) -> str:
        """As ``--device`` and ``KERNELWRIGHT_DEVICE`` spell it."""
        return self.real or self.gpu.name

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Settings:
        """From the environment of a worker. Raises ``Misuse`` naming the variable that makes no sense."""
        memory, strict = environment.get("KERNELWRIGHT_MEMORY"), environment.get("KERNELWRIGHT_STRICT") or "0"
        if strict not in ("0", "1"):
            raise Misuse(f"KERNELWRIGHT_STRICT={strict} is neither 0 nor 1", hint="set it to 1, or leave it out")
        winners = environment.get("KERNELWRIGHT_WINNERS") or ""
        if winners not in ("", "off", "count"):
            raise Misuse(f"KERNELWRIGHT_WINNERS={winners} is neither off nor count", hint="set it so, or leave it out")
        found = cls.for_device(
            environment.get("KERNELWRIGHT_DEVICE") or "auto",
            budget=_number(environment, "KERNELWRIGHT_BUDGET"),
            timeout_s=_number(environment, "KERNELWRIGHT_TIMEOUT"),
            memory_bytes=size_in_bytes(memory) if memory else None,
            strict=strict == "1",
            cores=launch_cores(environment),
            gpus=_number(environment, "KERNELWRIGHT_GPUS"),
        )
        return replace(found, winners=winners)

    @classmethod
    def for_device(
        cls,
        name: str,
        budget: int | None = None,
        timeout_s: float | None = None,
        memory_bytes: int | None = None,
        virtual_for: str = "",
        strict: bool = False,
        cores: int | None = None,
        gpus: int | None = None,
    ) -> Settings:
        """The device that ``name`` asks for: ``auto`` is a real GPU where there is one that we can use.

        ``virtual_for``: what is going to be done that only a virtual GPU does; ``auto`` is one then, and a real one is
        refused. ``cores`` as ``launch_cores`` says, unless told. A real GPU is not waited for with less patience than the program
        has, unless told so. Raises ``Misuse`` for an unknown name.
        """
        gpus = 1 if gpus is None else gpus
        if not 1 <= gpus <= MOST_GPUS:
            raise Misuse(f"a program cannot have {gpus} virtual GPUs", hint=f"give it 1 to {MOST_GPUS}")
        virtual_for = virtual_for or ("--strict" if strict else "--gpus" if gpus > 1 else "")
        real = "" if virtual_for and name == "auto" else real_gpu(name)
        if real and virtual_for:
            raise Misuse(
                f"{virtual_for} works on a virtual GPU, not on {real}", hint=f"choose one of {', '.join(GPUS)}"
            )
        if timeout_s is None:
            timeout_s = 0.0 if real else TIMEOUT_S
        return cls(
            virtual_gpu(name), BUDGET if budget is None else budget, float(timeout_s), memory_bytes, real, strict,
            cores=launch_cores() if cores is None else cores, gpus=gpus,
        )  # fmt: skip

    @property
    def overread(self) -> int | None:
        """The byte that a read past a buffer gives; None where that is a fault."""
        return None if self.strict else OVERREAD

    @property
    def ordinal(self) -> int:
        """The number of the real GPU."""
        return int(self.real.partition(":")[2])


def virtual_gpu(name: str) -> Gpu:
    """The virtual GPU that ``name`` asks for, the default one where it asks for a real GPU. Raises ``Misuse``."""
    return gpu(DEFAULT_GPU) if name == "auto" or _CUDA.fullmatch(name) else gpu(name)


def calibrated(name: str, calibration: str | Path | Calibration | None) -> str:
    """A virtual GPU's name with a calibration, or with that of a file: ``auto`` is the GPU that it was fitted on. Without one, the
    name as it is. Raises ``Misuse`` for a real GPU, whose times are measured, and for a calibration of another GPU.
    """
    if not calibration:
        return name
    check_kind(name, str, "the name of a device", "as kw.Device('h200')")
    check_kind(calibration, (str, Path, Calibration), "the calibration", "give the file that kw model fit wrote")
    if _CUDA.fullmatch(name):
        raise Misuse(
            f"a calibration is of estimates, and times of {name} are measured",
            hint="--device h200, or no --calibration",
        )
    made = calibration if isinstance(calibration, Calibration) else load(Path(calibration))
    return with_calibration(gpu((made.gpu or DEFAULT_GPU) if name == "auto" else name), made).name


def real_gpu(name: str) -> str:
    """``cuda:N`` when ``name`` asks for a real GPU, or for the best there is and there is one; else an empty string."""
    check_kind(name, str, "the name of a device", "as kw.Device('h200')")
    found = _CUDA.fullmatch(name)
    if found:
        return f"cuda:{found[1] or 0}"
    if name != "auto":
        return ""
    from kernelwright.device.real_gpu.availability import is_usable

    return "cuda:0" if is_usable() else ""


def size_in_bytes(text: str) -> int:
    """``512M``, ``16G``, ``1000000`` as a number. Raises ``Misuse``."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or int(found[1]) == 0:
        raise Misuse(f"{text!r} is no amount of memory", hint="write it as 512M or 16G")
    size = int(found[1]) * _UNITS[found[2].upper()]
    if size > MOST_BYTES:
        raise Misuse(f"{text} is more memory than any device has", hint="write it as 512M or 16G")
    return size


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name)
    if not text:
        return None
    if not text.isdigit():
        raise Misuse(f"{name}={text} is no whole number", hint=f"set {name} to a number, or leave it out")
    return int(text)
