"""What counts as a program in a folder of others: a folder with CUDA files, and the Makefile beside them if there is one.

suite/src/scan/{Makefile,main.cu}    built by its Makefile, with our compiler under nvcc's name
samples/reduce/reduce.cu             all sources of the folder together
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    """``name``: its folder, from the folder that was given. ``sources``: without those of folders below."""

    name: str
    folder: Path
    makefile: Path | None
    sources: tuple[Path, ...]


def projects(place: Path) -> list[Project]:
    """The programs at or below ``place``, by name; a CUDA file is a program. Raises ``Misuse`` where there is none."""
    if place.is_file():
        if place.suffix not in CUDA_SUFFIXES:
            raise Misuse(f"{place} is no CUDA file", hint="give a .cu file, or a folder with CUDA programs")
        return [Project(place.stem, place.parent, None, (place,))]
    if not place.is_dir():
        raise Misuse(f"{place} does not exist", hint="check the path")
    found = []
    for folder, below, files in os.walk(place):
        below[:] = sorted(name for name in below if name not in LEFT_OUT)
        sources = tuple(Path(folder, name) for name in sorted(files) if Path(name).suffix in LANGUAGES)
        makefile = next((Path(folder, name) for name in MAKEFILES if name in files), None)
        if any(path.suffix == ".cu" for path in sources) or (makefile and _builds_cuda(makefile, Path(folder))):
            name = Path(folder).relative_to(place).as_posix() if Path(folder) != place else place.resolve().name
            found += _apart(Project(name, Path(folder), makefile, sources))
            if makefile:
                below.clear()  # what lies below is the Makefile's
    if not found:
        raise Misuse(f"there is no CUDA program below {place}", hint="a program is a folder with .cu files")
    return found


def _apart(project: Project) -> list[Project]:
    """Without a Makefile, of several files with a ``main`` each is a program."""
    mains = [path for path in project.sources if _MAIN.search(path.read_text(errors="replace"))]
    if project.makefile is not None or len(mains) < 2:
        return [project]
    return [
        Project(f"{project.name}/{path.stem}", project.folder, None, (path,)) for path in mains if path.suffix == ".cu"
    ]


def _builds_cuda(makefile: Path, folder: Path) -> bool:
    """Whether a Makefile without CUDA files beside it compiles some of a folder below."""
    text = makefile.read_text(errors="replace")
    return bool(re.search(r"\.cu\b", text)) and next(folder.glob("*/*.cu"), None) is not None


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
