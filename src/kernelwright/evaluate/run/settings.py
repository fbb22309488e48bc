"""What a run is asked: its budget, its objectives, what it accepts, and the device it judges and measures on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from kernelwright.architectures import architecture
from kernelwright.device.real_gpu.availability import require_gpu
from kernelwright.device.settings import real_gpu, virtual_gpu
from kernelwright.errors import Misuse, check_names, reason
from kernelwright.evaluate.judging.demands import ACCEPT, Demands
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.search.strategies import DEFAULT, PRESETS
from kernelwright.target import GPUS, gpu_called

MOST_INDIVIDUALS = 10_000
"""Of a generation: the paper has 256, and a larger one is drawn for longer than anybody waits."""


@dataclass(frozen=True)
class RunSettings:
    """Everything that decides what a search asks and how it judges, besides what it evolves. Raises ``Misuse``."""

    preset: str = DEFAULT
    """One of ``search.strategies.PRESETS``."""
    device: str = "auto"
    accept: str = "safe"
    objectives: tuple[str, ...] = ("time",)
    evaluations: int | None = 2000
    generations: int | None = None
    seconds: float | None = None
    population: int | None = None
    seed: int = 0
    kernels: tuple[str, ...] = ()
    """Those that may be edited, by mangled name; none: all."""
    general: bool = False
    """Whether nothing of a launch may be taken for fixed: no argument, block or grid."""
    sampled: bool = True
    """Whether large launches are judged by a sample of their blocks while searching (``judging/sampled_cases.py``); not under ``accept``
    any, where no proof would run them whole."""
    gpu: str = ""
    """What the real GPU is called that times are taken on; empty where they are estimated."""
    arch: str = ""
    """Its architecture."""

    @classmethod
    def on(cls, device: str, **settings: Any) -> RunSettings:
        """Settings for a device by its name. Raises ``Misuse`` for one that there is not, and for settings that there are
        not; ``ToolError`` and ``DeviceError`` for a real GPU that is not there."""
        check_names(settings, (f.name for f in fields(cls) if f.name not in ("device", "gpu", "arch")), "a search")
        if not isinstance(device, str) or not device.startswith("cuda"):
            named = isinstance(device, str) and device != "auto"
            return cls(device=virtual_gpu(device).name if named else device, **settings)
        virtual_gpu(device)
        ordinal = int(real_gpu(device).partition(":")[2])
        found = require_gpu(ordinal)
        return cls(device=f"cuda:{ordinal}", gpu=found.name, arch=architecture(found.arch).name, **settings)

    def __post_init__(self) -> None:
        for name, (kind, what, example) in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise Misuse(f"{name} is {what}, and not {str(value)[:40]!r}", hint=f"as {name}={example!r}")
        if self.preset not in PRESETS:
            raise Misuse(
                f"--preset {self.preset} is none of {', '.join(PRESETS)}",
                hint=", ".join(f"{each.name} {each.praise}" for each in PRESETS.values()),
            )
        if self.accept not in ACCEPT:
            raise Misuse(f"--accept {self.accept} is none of {', '.join(ACCEPT)}", hint="proven is the strictest")
        if self.objectives[:1] != ("time",):
            raise Misuse("the first objective is time", hint="--objectives time, or time,error, or time,error,METRIC")
        if len(set(self.objectives)) != len(self.objectives):
            raise Misuse("an objective is named twice", hint="--objectives time,error")
        limits = (self.evaluations, self.generations, self.seconds, self.population)
        if all(limit is None for limit in limits[:3]):
            raise Misuse("nothing says when to stop", hint="give --evaluations, --generations or --time")
        if any(limit is not None and not 0 < limit < math.inf for limit in limits):
            raise Misuse("a budget is a positive number", hint="--evaluations 2000 --time 300 --population 64")
        if self.population is not None and self.population < 4:
            raise Misuse(f"a population of {self.population} is too small to cross anything", hint="--population 64")
        if self.population is not None and self.population > MOST_INDIVIDUALS:
            raise Misuse(f"a population of more than {MOST_INDIVIDUALS} never gets anywhere", hint="--population 64")
        virtual_gpu(self.device)

    @property
    def demands(self) -> Demands:
        """What of the settings decides how a variant is judged."""
        return Demands(self.accept, self.seed, self.sampled and self.accept != "any")  # type: ignore[arg-type]

    @property
    def virtual(self) -> str:
        """The virtual GPU that candidates are built for and judged on: the one asked for, or the one most like the real GPU."""
        return _most_like(self.gpu, self.arch) if self.gpu else self.device

    def as_json(self) -> dict[str, Any]:
        """As a run's facts keep it, without options that were not asked for; ``from_json`` reads it."""
        value = asdict(self) | {"objectives": list(self.objectives), "kernels": list(self.kernels)}
        return {name: each for name, each in value.items() if each or name not in _OPTIONAL}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RunSettings:
        """What ``as_json`` wrote. Raises ``Misuse`` for anything else."""
        try:
            value = {"sampled": False, **value}  # as it was before there was a choice
            known = {f.name: value[f.name] for f in fields(cls) if f.name in value or f.name not in _OPTIONAL}
            return cls(**known | {"objectives": tuple(known["objectives"]), "kernels": tuple(known["kernels"])})
        except (KeyError, TypeError, ValueError) as error:
            raise Misuse(f"this run's settings cannot be read ({reason(error)})", hint="start a new run") from error


_OPTIONAL = ("general", "sampled", "gpu", "arch")
"""What is written down only where it is asked for."""
_KINDS: Mapping[str, tuple[Any, str, object]] = {
    "preset": (str, "a text", DEFAULT),
    "device": (str, "a text", "auto"),
    "accept": (str, "a text", "safe"),
    "evaluations": (int | None, "a whole number", 2000),
    "generations": (int | None, "a whole number", 20),
    "seconds": (int | float | None, "a number", 300),
    "population": (int | None, "a whole number", 64),
    "seed": (int, "a whole number", 1),
    "general": (bool, "true or false", True),
    "sampled": (bool, "true or false", True),
}
"""What settings are, with an example."""


def _most_like(gpu: str, arch: str) -> str:
    """A GPU of the table: the one of this name, else the newest that is not newer."""
    by_age = sorted(GPUS.values(), key=lambda each: architecture(each.arch).number)
    older = [g for g in by_age if architecture(g.arch).number <= architecture(arch).number] or by_age[:1]
    called = gpu_called(gpu)
    return called.name if called in older else older[-1].name
