"""Names of files and folders: few files in a folder, short files, and no two names that differ by an ending only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "kernelwright"

MOST_FILES = 20
MOST_LINES = 500
LONG = {
    "ir/module.py": "values, instructions, blocks, functions and modules refer to each other",
    "ir/rules.py": "one table: the type rule of each LLVM instruction",
}
"""Files that may be longer, each with the reason."""
COMMANDS = ("run", "runs")
"""Files of commands are named as the commands are."""

ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ers", "er", "ors", "or", "ed", "es", "s", "e")


def stem(word: str) -> str:
    """A word without its ending: ``launches``, ``launched`` and ``launching`` are one, so are ``plan`` and ``planner``."""
    for ending in ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3:
            word = rest
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


def name_key(name: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in name.split("_"))


def alike(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different names that differ by endings only."""
    return [(a, b) for a, b in combinations(sorted(set(names)), 2) if name_key(a) == name_key(b)]


def module_names(room: Path) -> set[str]:
    return {path.stem for path in room.rglob("*.py") if path.stem != "__init__"}


def folder_names(room: Path) -> set[str]:
    return {path.parent.name for path in room.rglob("__init__.py")}


def folders() -> Iterator[Path]:
    return (path.parent for path in sorted(ROOT.rglob("__init__.py")))


def rooms() -> list[Path]:
    return [path for path in sorted(ROOT.iterdir()) if (path / "__init__.py").exists()]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("measure", "measured"),
        ("launching", "launched"),
        ("record", "recorded"),
        ("record", "recorder"),
        ("plan", "planned"),
        ("swap", "swapping"),
        ("translate", "translated"),
        ("launch_record", "launches_recorded"),
    ],
)
def test_endings_are_seen(one: str, other: str) -> None:
    assert alike([one, other]) and alike([other, one, "else"])


@pytest.mark.parametrize(
    ("one", "other"),
    [("replay", "record"), ("launch_result", "launch"), ("liveness", "live"), ("loops", "layout"), ("cell", "call")],
)
def test_other_words_are_other_words(one: str, other: str) -> None:
    assert not alike([one, other])


@pytest.mark.parametrize("room", rooms(), ids=lambda path: path.name)
def test_no_two_names_in_a_room_differ_by_an_ending_only(room: Path) -> None:
    """Files among files and folders among folders: a folder of problems may stand beside the file that says what one is."""
    assert [pair for pair in alike(module_names(room)) if pair != COMMANDS] == []
    assert alike(folder_names(room)) == []


def test_no_two_rooms_differ_by_an_ending_only() -> None:
    assert alike(path.stem for path in ROOT.iterdir() if path.suffix in ("", ".py")) == []


def test_folders_hold_few_files() -> None:
    counts = {str(f.relative_to(ROOT)): sum(p.name != "__init__.py" for p in f.glob("*.py")) for f in folders()}
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_files_are_short() -> None:
    lines = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in ROOT.rglob("*.py")}
    assert {file for file, count in lines.items() if count > MOST_LINES} == set(LONG)


IDIOMS = re.compile(
    r"\b(nobody|whoever|somebody|hangs? on|rests? on|turned down|manners|mend(?:s|ed)?|beholden|hears why|neither can tell|stands its proof)\b",
    re.I,
)
"""Ways of saying *unused*, *unknown*, *the caller*, *depends on*, *rejected*, *fix* that a reader has to translate."""


def test_text_is_plain_technical_english() -> None:
    root = Path(__file__).parents[1]
    texts = [
        *root.glob("src/**/*.py"),
        *root.glob("src/**/*.jinja"),
        *root.glob("docs/*.md"),
        root / "README.md",
        root / "CONTRIBUTING.md",
    ]
    found = {
        f"{path.relative_to(root)}:{number}": match[0]
        for path in texts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := IDIOMS.search(line))
    }
    assert not found
