"""What counts as a program in a folder of others: a folder with CUDA files, and the Makefile beside them if there is one.

suite/src/scan/{Makefile,main.cu}    built by its Makefile, with our compiler under nvcc's name
samples/sort/{CMakeLists.txt,src/}   the sources that its CMakeLists.txt names, if that speaks of CUDA
samples/reduce/reduce.cu             all sources of the folder together
altis/{CMakeLists.txt,src/...}       a tree of CMake's: each executable that its lists name is a program, which CMake builds, if it is there
"""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kernelwright.bench.programs import cmake_lists
from kernelwright.cuda.host import LANGUAGES
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.pipeline import CUDA_SUFFIXES

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
LEVELS = 3
"""Folders above a program that it may refer to: ``-I../../common``."""
_MAIN = re.compile(r"^\s*(int|void|auto)\s+main\s*\(", re.M)
LEFT_OUT = (".git", "kw-runs")


@dataclass(frozen=True)
class Project:
    """``name``: its folder, from the folder that was given. ``sources``: without those of folders below. ``target``: what its
    Makefile, or CMake, calls it, where that builds several programs."""

    name: str
    folder: Path
    makefile: Path | None
    sources: tuple[Path, ...]
    target: str = ""
    is_of_cmake: bool = False
    """Whether it is an executable of a tree that CMake builds; ``sources`` are the lists then."""


def projects(place: Path) -> list[Project]:
    """The programs at or below ``place``, by name; a CUDA file is a program. Raises ``Misuse`` where there is none."""
    if place.is_file():
        if place.suffix not in CUDA_SUFFIXES:
            raise Misuse(f"{place} is no CUDA file", hint="give a .cu file, or a folder with CUDA programs")
        return [Project(place.stem, place.parent, None, (place,))]
    if not place.is_dir():
        what = "is neither a file nor a folder" if place.exists() else "does not exist"
        raise Misuse(f"{place} {what}", hint="check the path")
    found = []
    for folder, below, files in os.walk(place):
        below[:] = sorted(name for name in below if name not in LEFT_OUT)
        if shutil.which("cmake") and (executables := cmake_lists.executables(Path(folder))):
            found += [
                Project(f"{name_of(Path(folder), place)}/{name}", Path(folder), None, (at,), name, is_of_cmake=True)
                for name, at in executables
            ]
            below.clear()
            continue
        sources = tuple(Path(folder, name) for name in sorted(files) if Path(name).suffix in LANGUAGES)
        makefile = next((Path(folder, name) for name in MAKEFILES if name in files), None)
        listed = () if makefile else _listed(Path(folder), files)
        if listed:
            found.append(Project(name_of(Path(folder), place), Path(folder), None, listed))
            below.clear()  # what lies below is the program's
        elif any(path.suffix == ".cu" for path in sources) or (makefile and _builds_cuda(makefile, Path(folder))):
            found += _apart(Project(name_of(Path(folder), place), Path(folder), makefile, sources))
            if makefile:
                below.clear()  # what lies below is the Makefile's
    if not found:
        raise Misuse(f"there is no CUDA program below {place}", hint="a program is a folder with .cu files")
    return found


def name_of(folder: Path, place: Path) -> str:
    """Of a program in a folder below ``place``."""
    return folder.relative_to(place).as_posix() if folder != place else place.resolve().name


def _listed(folder: Path, files: Sequence[str]) -> tuple[Path, ...]:
    """Sources of the program that a ``CMakeLists.txt`` is about, if it is about one of CUDA."""
    if cmake_lists.NAME not in files or "CUDA" not in (folder / cmake_lists.NAME).read_text(errors="replace"):
        return ()
    return tuple(folder / source for source in cmake_lists.read_lists(folder, folder).sources)


def _apart(project: Project) -> list[Project]:
    """Of several files with a ``main`` each is a program, unless there is a Makefile that does not name each as a target."""
    mains = [path for path in project.sources if _MAIN.search(path.read_text(errors="replace"))]
    mains = [path for path in mains if path.suffix == ".cu"] if len(mains) > 1 else []
    if project.makefile is not None:
        text = project.makefile.read_text(errors="replace")
        if len(mains) < 2 or not all(re.search(rf"^{re.escape(path.stem)}\s*:(?!=)", text, re.M) for path in mains):
            return [project]
        return [
            Project(f"{project.name}/{path.stem}", project.folder, project.makefile, (path,), path.stem)
            for path in mains
        ]
    return [Project(f"{project.name}/{path.stem}", project.folder, None, (path,)) for path in mains] or [project]


def _builds_cuda(makefile: Path, folder: Path) -> bool:
    """Whether a Makefile without CUDA files beside it compiles some of a folder below."""
    text = makefile.read_text(errors="replace")
    return bool(re.search(r"\.cu\b", text)) and next(folder.glob("*/*.cu"), None) is not None


def drawn(found: Sequence[Project], count: int | None, seed: int) -> list[Project]:
    """``count`` of them by lot, or all; a larger sample of the same seed has all of a smaller one. In the order of their names."""
    ordered = sorted(found, key=lambda project: project.name)
    if count is not None:
        random.Random(seed).shuffle(ordered)
    return sorted(ordered[:count], key=lambda project: project.name)


@contextmanager
def copied(project: Project) -> Iterator[Path]:
    """A copy of the program's folder to build and run in; what lies beside and above it can be read there, by links."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        parents = list(project.folder.resolve().parents)[:LEVELS]
        at = Path(scratch).resolve()
        for outer in reversed(parents):
            inside = project.folder.resolve().relative_to(outer).parts[0]
            for each in sorted(outer.iterdir()) if len(outer.parts) > 1 else ():
                if each.name != inside and not (at / each.name).exists():
                    (at / each.name).symlink_to(each)
            at /= inside
            at.mkdir()
        shutil.copytree(project.folder, at, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        yield at
