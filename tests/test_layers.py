"""The rooms of the house and who may import whom (CONTRIBUTING.md, docs/decisions/0005): each line imports only from lines above it."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "kernelwright"

LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "errors",
        "values",
        "lazy_dataclasses",
        "architectures",
        "target",
        "search",
        "cache",
        "lru",
        "long_steps",
        "elf",
        "guards",
        "launch_relations",
        "launch",
        "kernel_version",
        "calibration",
        "gpu_text",
        "gpu_figures",
        "own_gpu",
    ),
    ("ir", "space/engine"),
    ("cuda", "passes", "edits", "grammar", "space"),
    ("codegen",),
    ("pipeline",),
    ("executable",),
    ("farm", "device"),
    ("evaluate",),
    ("evolution", "breeding", "exploration"),
    ("prove",),
    ("versions", "report"),
    ("stories",),
    ("cli", "bench", "suite"),
)
LEVEL = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}

# Within the first line `search` is an island; the others are its neighbours' foundations and may use one another.
FOUNDATION = {
    "errors",
    "values",
    "lazy_dataclasses",
    "architectures",
    "target",
    "cache",
    "lru",
    "long_steps",
    "elf",
    "guards",
    "launch_relations",
    "launch",
    "kernel_version",
    "calibration",
    "gpu_text",
    "gpu_figures",
    "own_gpu",
}


Import = ast.Import | ast.ImportFrom
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a statement holds others."""


@functools.cache
def declared(path: Path) -> tuple[tuple[Import, ...], tuple[tuple[str, list[ast.expr]], ...]]:
    """The imports of a file, and its classes with their bases, at any depth of its code."""
    imports: list[Import] = []
    classes = []
    rest: list[ast.AST] = [ast.parse(path.read_text())]
    for node in rest:  # it grows: statements alone, which are a tenth of what there is
        if isinstance(node, Import):
            imports.append(node)
        elif isinstance(node, ast.ClassDef):
            classes.append((node.name, node.bases))
        for block in BLOCKS:
            rest += getattr(node, block, ())
    return tuple(imports), tuple(classes)


ISLANDS = {"space/engine"}
"""Folders of a room that have a line of their own, above it."""


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    return _room(parts).removesuffix(".py").replace("__main__", "cli")


def _room(parts: tuple[str, ...]) -> str:
    return "/".join(parts[:2]) if "/".join(parts[:2]) in ISLANDS else parts[0]


def imported_rooms(path: Path) -> set[tuple[str, int]]:
    """Rooms that a file imports at any depth of its code, with the line number."""
    found = set()
    for node in declared(path)[0]:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import; write the room's full name"
            names = [
                f"{node.module}.{alias.name}" if node.module == "kernelwright" else str(node.module)
                for alias in node.names
            ]
        else:
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "kernelwright" and len(parts) > 1 and parts[1] != "__version__":
                found.add((_room(tuple(parts[1:])), node.lineno))
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


# -- circles of imports


def module_name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")


def import_graph(root: Path) -> dict[str, set[str]]:
    """Per module of the package in ``root`` the modules it imports, wherever in the file: at the top, in a function, or for
    the type checker only. ``from package import module`` counts as an import of the module."""
    files = {module_name(path, root): path for path in sorted(root.rglob("*.py"))}
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        imported: set[str] = set()
        for node in declared(path)[0]:
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            else:
                full = {f"{node.module}.{alias.name}" for alias in node.names}
                imported |= {each if each in files else str(node.module) for each in full}
        graph[name] = (imported & files.keys()) - {name}
    return graph


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module: Kosaraju's two depth-first searches."""
    importers: dict[str, set[str]] = {name: set() for name in graph}
    for name, imported in graph.items():
        for other in imported:
            importers[other].add(name)

    def search(start: str, edges: dict[str, set[str]], seen: set[str]) -> list[str]:
        """The modules first reached from ``start``, each after all that is reached from it."""
        finished: list[str] = []
        seen.add(start)
        stack = [(start, iter(sorted(edges[start])))]
        while stack:
            name, rest = stack[-1]
            following = next((other for other in rest if other not in seen), None)
            if following is None:
                finished.append(name)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(sorted(edges[following]))))
        return finished

    order: list[str] = []
    seen: set[str] = set()
    for name in sorted(graph):
        if name not in seen:
            order += search(name, graph, seen)
    found, seen = [], set()
    for name in reversed(order):
        if name not in seen:
            found.append(sorted(search(name, importers, seen)))
    return sorted(component for component in found if len(component) > 1)


def test_imports_make_no_circle() -> None:
    """Not within a room either. Handlers take a small context that imports none of them; one file has the table."""
    found = circles(import_graph(ROOT))
    assert not found, "modules that import each other:\n" + "\n".join(", ".join(each) for each in found)


def plant(folder: Path, files: dict[str, str]) -> Path:
    """A package ``planted`` with these files."""
    root = folder / "planted"
    for name, text in {"__init__.py": "", "room/__init__.py": "", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_circle_is_seen(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "room/a.py": "from planted.room import b\n",
            "room/b.py": "def late():\n    from planted.room.c import name\n",
            "room/c.py": "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import planted.room.a\n",
            "room/d.py": "from planted.room import a\nfrom planted.room.a import name\n",
        },
    )
    assert circles(import_graph(root)) == [["planted.room.a", "planted.room.b", "planted.room.c"]]


def test_a_line_of_imports_is_no_circle(tmp_path: Path) -> None:
    root = plant(tmp_path, {"x.py": "from planted import y, z\n", "y.py": "from planted.z import name\n", "z.py": ""})
    assert circles(import_graph(root)) == []


# -- levels of inheritance


def class_bases(root: Path) -> dict[str, list[str]]:
    """Per class of the package in ``root`` its bases, by their full names."""
    found: dict[str, list[str]] = {}
    for path in sorted(root.rglob("*.py")):
        module, (imports, classes) = module_name(path, root), declared(path)
        known = {name: f"{module}.{name}" for name, _ in classes}
        for node in imports:
            if isinstance(node, ast.ImportFrom):
                known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        for name, given in classes:
            bases = [base.value if isinstance(base, ast.Subscript) else base for base in given]
            names = [ast.unparse(base).partition(".") for base in bases]
            found[f"{module}.{name}"] = [known.get(first, first) + dot + rest for first, dot, rest in names]
    return found


def inherited_twice(bases: dict[str, list[str]]) -> list[str]:
    """Chains of three classes of ours. Protocols are interfaces, and the errors of ``errors.py`` stand for those of Python:
    neither counts as a level."""

    def own(name: str) -> list[str]:
        return [
            base
            for base in bases[name]
            if base in bases and "typing.Protocol" not in bases[base] and base.split(".")[1] != "errors"
        ]

    return [f"{name} -> {base} -> {root}" for name in sorted(bases) for base in own(name) for root in own(base)]


def test_inheritance_is_one_level_deep() -> None:
    assert inherited_twice(class_bases(ROOT)) == []


def test_a_second_level_is_seen(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "errors.py": "class PlantedError(Exception): ...\nclass DeviceError(PlantedError): ...\n",
            "a.py": "from typing import Protocol\nclass Base: ...\nclass Like(Protocol): ...\nclass LikeMore(Like, Protocol): ...\n",
            "b.py": "from planted import a\nfrom planted.a import Base as Root, LikeMore\n"
            "class Middle(Root): ...\nclass Both(LikeMore): ...\nclass Other(a.Base): ...\n",
            "c.py": "from planted.b import Middle, Both, Other\nfrom planted.errors import DeviceError\n"
            "class Leaf(Middle): ...\nclass Twin(Other): ...\nclass Fine(Both): ...\nclass Lost(DeviceError): ...\n",
        },
    )
    assert inherited_twice(class_bases(root)) == [
        "planted.c.Leaf -> planted.b.Middle -> planted.a.Base",
        "planted.c.Twin -> planted.b.Other -> planted.a.Base",
    ]


def walks() -> list[list[str]]:
    """The numbered lists of files under "Four walks" in CONTRIBUTING.md, as names of modules."""
    text = (ROOT.parents[1] / "CONTRIBUTING.md").read_text()
    section = text[text.index("## Four walks") :].partition("\n## ")[0]
    found: list[list[str]] = []
    for number, file in re.findall(r"^(\d+)\. `([\w/]+)\.py`", section, re.M):
        if number == "1":
            found.append([])
        found[-1].append("kernelwright." + file.replace("/", "."))
    return found


def test_no_step_of_a_walk_goes_back() -> None:
    graph = import_graph(ROOT)
    assert len(walks()) == 5 and all(len(walk) > 4 for walk in walks())
    for walk in walks():
        assert set(walk) <= graph.keys(), f"no such file: {set(walk) - graph.keys()}"
        back = [(b, a) for n, b in enumerate(walk) for a in walk[:n] if a in graph[b]]
        assert not back, f"imports of an earlier step: {back}"
