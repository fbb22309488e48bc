"""``kernelwright.toml`` in the folder that a command starts in: flags for every command there.

Each setting stands for a flag and is put before those of the command line, so that these win. Nothing is read where no file is; it is
looked for in the current folder alone, so that what a command does is seen where it is typed.
"""

from __future__ import annotations

import os

from kernelwright.errors import Misuse, Place, reason
from kernelwright.values import frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    Kind = Literal["text", "number", "texts"]

FILE = "kernelwright.toml"
COMPILING = ("compile", "run", "check", "profile", "capture", "evolve", "patch")
RUNNING = ("run", "check", "profile", "capture", "evolve")
SEARCHING = ("evolve", "breed", "explain", "minimize", "prove")


@frozen
class Setting:
    """``flag``: what it stands for, in the commands of ``used_by``. ``help``, ``example``: as ``kw init`` writes them."""

    name: str
    flag: str
    kind: Kind
    used_by: tuple[str, ...]
    help: str
    example: str


SETTINGS: tuple[Setting, ...] = (
    Setting("device", "--device", "text", RUNNING, "The GPU: a virtual one (h200, a100, ...), or a real one (cuda:0).", '"h200"'),
    Setting("calibration", "--calibration", "text", RUNNING, "Constants of the timing model: a file of kw model fit.", '"mine.json"'),
    Setting("headers", "--headers", "text", COMPILING, "CUDA headers: own, or nvidia (thrust, cub).", '"own"'),
    Setting("include", "-I", "texts", COMPILING, "Folders to search for headers, from this folder on.", '["include"]'),
    Setting("define", "-D", "texts", COMPILING, "Macros.", '["N=1024"]'),
    Setting("arch", "--arch", "text", ("compile",), "What kw compile compiles for; other commands take the device's.", '"sm_90"'),
    Setting("budget", "--budget", "number", RUNNING, "Loop iterations of one launch before it counts as endless.", "17179869184"),
    Setting("timeout", "--timeout", "number", RUNNING, "Seconds that one launch may take, 0 for any.", "600"),
    Setting("memory", "--memory", "text", RUNNING, "Memory that the device may take.", '"4G"'),
    Setting("jobs", "--jobs", "number", SEARCHING, "Worker processes of a search.", "2"),
)  # fmt: skip


def with_settings(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """A command line (``sys.argv``) with the flags of the file in it, and those flags alone.

    Not where a run is gone on with, whose flags were settled when it began. Raises ``Misuse`` for a file that makes no sense.
    """
    if len(words) < 2 or not os.path.exists(FILE):
        return list(words), []
    own = words[: words.index("--")] if "--" in words else words
    if words[1] not in {name for each in SETTINGS for name in each.used_by} or "--resume" in own:
        return list(words), []
    flags = [word for setting, value in _read() if words[1] in setting.used_by for word in _spelled(setting, value)]
    return [*words[:2], *flags, *words[2:]], flags


def _spelled(setting: Setting, value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [word for each in values for word in (setting.flag, str(each))]


def _read() -> list[tuple[Setting, Any]]:
    import tomllib

    try:
        with open(FILE, "rb") as file:
            found = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise Misuse(
            f"{FILE} cannot be read: {reason(error)}", hint="correct it, or remove it; kw init writes a new one"
        ) from None
    by_name = {each.name: each for each in SETTINGS}
    for name, value in found.items():
        if name not in by_name:
            raise Misuse(f"there is no setting {name!r}", place=_place(name), hint=f"there are {', '.join(by_name)}")
        kind = by_name[name].kind
        if not _fits(kind, value):
            wanted = {"text": "a text", "number": "a number from 0 up", "texts": "a list of texts"}[kind]
            raise Misuse(
                f"the setting {name!r} is {value!r}, not {wanted}", place=_place(name),
                hint=f"as {name} = {by_name[name].example}",
            )  # fmt: skip
    return [(by_name[name], value) for name, value in found.items()]


def _fits(kind: Kind, value: Any) -> bool:
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    if kind == "texts":
        return isinstance(value, list) and all(isinstance(each, str) and each for each in value)
    return isinstance(value, str) and bool(value)


def _place(name: str) -> Place:
    """The line that a setting, or a table of that name, stands in."""
    with open(FILE, encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.lstrip("[ \t\"'").startswith(name):
                return Place(FILE, number, 0, line.rstrip("\n"))
    return Place(FILE)


def template() -> str:
    """The file as ``kw init`` writes it: every setting, commented out."""
    head = (
        "# Flags for the commands that start in this folder; those on the command line win.\n"
        "# Take away the # before a setting to use it.\n"
    )
    parts = [f"# {each.help}\n# {each.name} = {each.example}\n" for each in SETTINGS]
    return "\n".join([head, *parts])
