"""What a program finds where it works, copied for each run, so that none sees what another one left.

    folder = copied(program.folder, program.arguments, place)       # below ``place``

What arguments name outside of the folder (``../../data/graph.txt``) is copied along and lies where they say.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from kernelwright.errors import ToolError

LARGEST_FOLDER = 256 << 20
"""Bytes of a working folder that is copied for each run; a larger one is not."""
MOST_FILES = 5000
NOT_THE_PROGRAMS = frozenset(("kw-runs", ".git", ".hg", ".svn", ".venv", "venv", ".tox", "node_modules"))
"""Folders beside a program that it does not read: our runs, a repository's history, installed packages. They are not copied."""


def is_too_large(folder: str | Path) -> bool:
    """Whether a folder has more bytes or files than are copied for each run."""
    size = files = 0
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_THE_PROGRAMS]
        files += len(names)
        size += sum(os.lstat(os.path.join(where, name)).st_size for name in names)
        if size > LARGEST_FOLDER or files > MOST_FILES:
            return True
    return False


def copied(folder: str, arguments: Sequence[str], place: Path) -> Path:
    """Copies a program's folder below ``place``, which need not exist, and with it what arguments name outside of the folder; what is too
    large for that, or cannot be read, is linked. Returns the copy. Raises ``ToolError`` where the folder itself cannot be copied."""
    origin = Path(os.path.realpath(folder))
    outside = sorted(
        {path for argument in arguments for path in _outside(argument)}, key=lambda path: (len(path), path)
    )
    up = max((Path(path).parts.count("..") for path in outside), default=0)
    # Under its own name, and below folders of their own names: paths may lead up and down again.
    target = place.joinpath(*("up",) * (up - len(origin.parts) + 1), *origin.parts[1:][-up:]) if up else place / "run"
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_folder(folder, target)
    for path in outside:
        _take_along(Path(os.path.normpath(origin / path)), Path(os.path.normpath(target / path)))
    return target


def _outside(argument: str) -> Iterator[str]:
    """The paths outside of the folder that an argument names: as it is, or behind an equals sign."""
    for text in (argument, argument.partition("=")[2]):
        path = os.path.normpath(text) if text else ""
        if path.startswith(".." + os.sep) and not os.path.isabs(path):
            yield path


def _take_along(origin: Path, target: Path) -> None:
    if os.path.lexists(target):
        return
    if not origin.exists():
        if origin.parent.is_dir():  # what is written there
            target.parent.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if origin.is_dir() and not is_too_large(origin):
            return copy_folder(str(origin), target)
        if origin.is_file() and origin.stat().st_size <= LARGEST_FOLDER:
            shutil.copy2(origin, target)
            return
    except (ToolError, OSError):
        shutil.rmtree(target, ignore_errors=True)
    target.symlink_to(origin)


def copy_folder(folder: str, target: Path) -> None:
    """Copies files, folders and links; pipes, sockets and devices are left out. Raises ``ToolError`` naming what cannot be read."""
    try:
        shutil.copytree(folder, target, symlinks=True, ignore=_left_out)
    except shutil.Error as error:
        raise ToolError(f"its folder cannot be copied: {error.args[0][0][0]}") from error
    except OSError as error:
        raise ToolError(f"its folder cannot be copied: {error.filename or error}") from error


def _left_out(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in NOT_THE_PROGRAMS or not _is_plain(os.path.join(folder, name))]


def _is_plain(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:  # gone since the folder was read
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def contents(place: Path, folder: Path) -> dict[str, bytes]:
    """The files at or below ``place``, by their path from ``folder``."""
    return {os.path.relpath(path, folder): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}
