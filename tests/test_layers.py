"""The rooms of the house and who may import whom (CONTRIBUTING.md, docs/decisions/0005): each line imports only from lines above it."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "kernelwright"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "values", "architectures", "target", "search", "cache", "elf", "guards", "launch", "calibration"),
    ("ir",),
    ("cuda", "passes", "edits", "grammar"),
    ("codegen",),
    ("pipeline",),
    ("executable",),
    ("farm", "device"),
    ("evaluate",),
    ("prove",),
    ("report",),
    ("stories",),
    ("cli", "bench", "suite"),
)
LEVEL = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}

# Within the first line `search` is an island; the others are its neighbours' foundations and may use one another.
FOUNDATION = {"errors", "values", "architectures", "target", "cache", "elf", "guards", "launch", "calibration"}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py").replace("__main__", "cli")


def imported_rooms(path: Path) -> set[tuple[str, int]]:
    """Rooms that a file imports at any depth of its code, with the line number."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import; write the room's full name"
            names = [
                f"{node.module}.{alias.name}" if node.module == "kernelwright" else str(node.module)
                for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "kernelwright" and len(parts) > 1 and parts[1] != "__version__":
                found.add((parts[1], node.lineno))
    return found


def breaches(files: dict[Path, set[tuple[str, int]]]) -> list[str]:
    found = []
    for path, rooms in files.items():
        own = room_of(path)
        if own == "__init__":
            continue  # the package itself forwards to every room, lazily
        for room, line in sorted(rooms):
            if room == own or {own, room} <= FOUNDATION:
                continue
            if room not in LEVEL:
                found.append(f"{path}:{line}: {room} is no room of the house")
            elif LEVEL[room] >= LEVEL[own] and not (own in {"cli", "bench"} and room in {"bench", "suite"}):
                found.append(f"{path}:{line}: {own} may not import {room}")
    return found


def all_files() -> dict[Path, set[tuple[str, int]]]:
    return {path: imported_rooms(path) for path in sorted(ROOT.rglob("*.py"))}


def test_every_room_is_known() -> None:
    rooms = {room_of(path) for path in ROOT.rglob("*.py")} - {"__init__"}
    assert rooms <= set(LEVEL), f"rooms without a layer: {sorted(rooms - set(LEVEL))}"


def test_every_line_has_its_rooms() -> None:
    """What is planned gets its line with its first file."""
    rooms = {room_of(path) for path in ROOT.rglob("*.py")}
    assert set(LEVEL) <= rooms, f"lines without a room: {sorted(set(LEVEL) - rooms)}"


def test_the_tour_tells_of_every_room() -> None:
    tour = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    missing = [room for room in LEVEL if f"`{room}/`" not in tour and f"`{room}.py`" not in tour]
    assert not missing, f"CONTRIBUTING.md does not tell of {missing}"


def test_imports_go_downwards() -> None:
    assert breaches(all_files()) == []


def test_a_breach_is_seen() -> None:
    wrong = {ROOT / "ir" / "x.py": {("codegen", 3)}, ROOT / "edits" / "y.py": {("grammar", 1)}}
    assert len(breaches(wrong)) == 2
