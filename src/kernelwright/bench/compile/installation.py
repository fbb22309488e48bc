"""An installation as ``pip install kernelwright`` leaves it, made of links, to time commands in.

Packages may have Python run code whenever it starts (``.pth`` files that import). Those of the extras ``openmp`` and ``gpu`` do: 7 ms
of a compile that takes 24. Who has not asked for an extra does not have them.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import sysconfig
import time
import venv
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import kernelwright

_WITH_PYTHON = ("pip", "setuptools")
"""What a fresh virtual environment may hold besides."""
_NAME = re.compile(r"[\w.-]+")
_SCRIPT = (
    "#!{python}\nimport sys\nfrom kernelwright.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
)


def without_extras(folder: Path) -> Path:
    """The command ``kw`` of an installation that is made in ``folder``, beside its ``python``."""
    venv.EnvBuilder(symlinks=True).create(folder)
    programs = folder / "bin"
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for place in sorted(_places()):
        link = packages / place.name
        if not link.exists():
            link.symlink_to(place)
    link = packages / "kernelwright"
    if not link.exists():
        link.symlink_to(Path(kernelwright.__file__).parent)
    command = programs / "kw"
    command.write_text(_SCRIPT.format(python=programs / "python"))
    command.chmod(0o755)
    return command


def start_ms(python: Path | str, rounds: int = 9) -> float:
    """Milliseconds that Python takes to start and end: the median."""
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run([str(python), "-c", ""], check=True, stdin=subprocess.DEVNULL)
        taken.append(time.perf_counter() - begin)
    return 1000 * statistics.median(taken)


def extras_in_words(command: Path) -> str:
    """How much longer Python takes to start in this installation than in one without extras."""
    more = start_ms(sys.executable) - start_ms(command.with_name("python"))
    return f"timed as installed without extras; what is installed here besides makes each start of Python {more:.1f} ms longer"


def _places() -> set[Path]:
    """Folders and files of the packages that ours depends on."""
    found: set[Path] = set()
    for each in _dependencies("kernelwright", set()):
        root = Path(str(each.locate_file("")))
        tops = {file.parts[0] for file in each.files or () if not os.path.isabs(file) and ".." not in file.parts}
        found |= {root / top for top in tops if top != "__pycache__" and "kernelwright" not in top}
    return found


def _dependencies(name: str, seen: set[str]) -> list[Distribution]:
    """A distribution and those that it requires, without extras; one that is not there is left out."""
    if name in seen:
        return []
    seen.add(name)
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return []
    wanted = [each for each in found.requires or () if "extra ==" not in each]
    names = [match[0] for each in wanted if (match := _NAME.match(each))]
    more = _WITH_PYTHON if name == "kernelwright" else ()
    return [found, *(each for other in (*names, *more) for each in _dependencies(other, seen))]
