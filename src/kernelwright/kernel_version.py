"""A version: a kernel that takes the place of a program's own, at the launches that its checks admit.

    version = Version("_Z6smoothPKfPfiii", "smooth-1:v59", "proven", original, parameters, ir, guards, words)
    version_from_json(version.as_json()) == version

A program carries versions in its device code (``kw compile --with``), or is given them when it is run (``kw run --with``). Who
launches decides, launch by launch: ``device/versions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from kernelwright.errors import ToolError
from kernelwright.guards import Apart, ArgumentIs, AtStart, BlockIs, BlockIsWarp, GridIs, Guard
from kernelwright.launch_relations import Divisible, Relation, relation_as_json, relation_from_json
from kernelwright.lazy_dataclasses import dataclass

Extent = tuple[int, int]
"""Of a parameter: its offset among the packed arguments and its size, in bytes."""


@dataclass(frozen=True)
class Version:
    """One kernel of one variant."""

    kernel: str
    """The mangled name of the kernel that it stands for, and its own."""
    name: str
    """The run and the variant it comes from: ``smooth-1:v59``."""
    label: str
    """What its proof calls it (``prove/labels.py``); ``unproven`` without one."""
    original: str
    """``kernel_digest`` of the kernel it was made from: for another one it is not right."""
    parameters: tuple[Extent, ...]
    ir: str = field(repr=False)
    """Its module, optimised."""
    guards: tuple[Guard, ...] = ()
    """What is checked at each launch; where one does not hold, the original runs."""
    words: tuple[str, ...] = ()
    """The guards by the names of the source."""
    ptx: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """By architecture."""

    def as_json(self) -> dict[str, Any]:
        """``version_from_json`` reads it."""
        return {
            "kernel": self.kernel, "name": self.name, "label": self.label, "original": self.original,
            "parameters": [list(each) for each in self.parameters], "ir": self.ir,
            "guards": [guard_as_json(guard) for guard in self.guards], "words": list(self.words), "ptx": dict(self.ptx),
        }  # fmt: skip


def version_from_json(value: Mapping[str, Any]) -> Version:
    """What ``as_json`` wrote. Raises ``ToolError`` for anything else: a check that cannot be read must not be left out."""
    try:
        return Version(
            kernel=str(value["kernel"]),
            name=str(value["name"]),
            label=str(value["label"]),
            original=str(value["original"]),
            parameters=tuple((int(offset), int(size)) for offset, size in value["parameters"]),
            ir=str(value["ir"]),
            guards=tuple(guard_from_json(each) for each in value["guards"]),
            words=tuple(str(each) for each in value["words"]),
            ptx={str(arch): str(text) for arch, text in value["ptx"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ToolError(
            f"a version of a kernel cannot be read ({error!r})", hint="build the program again with this Kernelwright"
        ) from error


def guard_as_json(guard: Guard) -> dict[str, Any]:
    """A JSON value; ``guard_from_json`` reads it. Raises ``ToolError`` for a guard without such a form."""
    if isinstance(guard, Relation | Divisible):
        return {"relation": relation_as_json(guard)}
    if isinstance(guard, ArgumentIs):
        return {"argument": guard.index, "value": guard.value, "bits": guard.bits.hex()}
    if isinstance(guard, BlockIs | GridIs):
        return {"block" if isinstance(guard, BlockIs) else "grid": list(guard.shape)}
    if isinstance(guard, BlockIsWarp):
        return {"warp": True}
    if isinstance(guard, Apart):
        return {"apart": guard.index}
    if isinstance(guard, AtStart):
        return {"at start": guard.index}
    raise ToolError(f"the check {guard} has no form to be stored in", hint="this is a defect in Kernelwright")


def guard_from_json(value: Mapping[str, Any]) -> Guard:
    """The guard again. Raises ``ValueError``, ``KeyError`` or ``TypeError`` for what is none."""
    match value:
        case {"relation": relation}:
            return relation_from_json(relation)
        case {"argument": int(index), "value": str(written), "bits": str(bits)}:
            return ArgumentIs(index, written, bytes.fromhex(bits))
        case {"block": [int(x), int(y), int(z)]}:
            return BlockIs((x, y, z))
        case {"grid": [int(x), int(y), int(z)]}:
            return GridIs((x, y, z))
        case {"warp": True}:
            return BlockIsWarp()
        case {"apart": int(index)}:
            return Apart(index)
        case {"at start": int(index)}:
            return AtStart(index)
    raise ValueError(f"{value} is no check of a launch")
