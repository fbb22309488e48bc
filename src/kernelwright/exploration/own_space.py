"""A Python file in which a person declares a space, and schedules that the space should have.

tiles = ground(space, {Dim: ("m", "n")}, {"threads": 64})
schedules = {"rows to threads": [kind("m").THREAD, size("m") == 32]}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kernelwright.errors import Misuse
from kernelwright.exploration.python_file import file_and_name, names_in
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.space.lang.conditions import Condition
from kernelwright.space.lang.ground_space import GroundSpace
from kernelwright.space.review import Schedules

SCHEDULES = "schedules"


@dataclass(frozen=True)
class OwnSpace:
    """``name``: the file's, of the space."""

    name: str
    ground: GroundSpace
    schedules: Schedules


def read_space(written: str) -> OwnSpace:
    """``my_rules.py``, or ``my_rules.py:NAME`` where it has several spaces. Raises ``Misuse``."""
    path, name = file_and_name(written) or (written, "")
    if not Path(path).is_file():
        raise Misuse(f"{path} cannot be read", hint="give a Python file that declares a space (docs/spaces.md)")
    whole = Path(path).resolve()
    names = names_in(str(whole), str(whole.parent))
    spaces = {each: value for each, value in names.items() if isinstance(value, GroundSpace)}
    said = ", ".join(spaces)
    if not spaces:
        raise Misuse(f"{path} has no space with objects", hint="tiles = ground(space, {Dim: ('m', 'n')}, limits)")
    if name and name not in spaces:
        raise Misuse(f"{path} has no space {name}", hint=f"it has {said}")
    if not name and len(spaces) > 1:
        raise Misuse(f"{path} has {len(spaces)} spaces, {said}", hint=f"kw space check {path}:{next(iter(spaces))}")
    chosen = name or next(iter(spaces))
    schedules = names.get(SCHEDULES, {})
    if not isinstance(schedules, Mapping):
        raise Misuse(f"{SCHEDULES} of {path} is no dictionary", hint="schedules = {'rows': [kind('m').THREAD]}")
    for title, conditions in schedules.items():
        if not isinstance(conditions, list | tuple) or not all(isinstance(each, Condition) for each in conditions):
            raise Misuse(
                f"schedule {title} of {path} is no list of decisions", hint="as [kind('m').THREAD, size('m') == 32]"
            )
    return OwnSpace(chosen, spaces[chosen], schedules)
