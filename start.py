"""Everything a fresh machine needs, in one command: ``python3 start.py demo`` or ``python3 start.py test``.

Makes a virtual environment in ``.venv`` beside this file, installs Kernelwright there, and runs the main job or the
tests. It needs Python 3.11 to 3.13 on Linux and nothing else; running it again only does what is missing. The demo
installs what a user has, everything else what the tests need besides.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
KW = ENVIRONMENT / "bin" / "kw"

DOWNLOADS = {"": 380, "[dev]": 620}
"""In MB, by what is installed."""

DATA = ["512", "32"]
SEARCH = ["--case", "300 8", "--held-out", "1000 4", "--evaluations", "120", "--seed", "1"]
AGAIN = [str(KW), "evolve", "--resume", "demo"]
"""In place of a search that was begun before."""

COMMANDS: dict[str, tuple[str, list[list[str]]]] = {
    "demo": (
        "a CUDA program run, its kernel made faster, and the program run again with the faster kernel inside",
        [
            [str(KW), "run", "--report", "examples/smooth.cu", "--", *DATA],
            [str(KW), "evolve", "examples/smooth.cu", *SEARCH, "--name", "demo", "--", *DATA],
            [str(KW), "run", "examples/smooth.cu", "--with", "demo", "--", *DATA],
        ],
    ),
    "test": ("the whole fast test suite", [[str(PYTHON), "-m", "pytest", "-n", str(len(os.sched_getaffinity(0)))]]),
    "slow": ("the tests that take longer", [[str(PYTHON), "-m", "pytest", "-m", "slow"]]),
    "setup": ("the virtual environment alone", []),
}


def main() -> int:
    """Sets up what is missing, then runs the command; returns its exit code."""
    chosen = sys.argv[1] if len(sys.argv) > 1 else ""
    if chosen not in COMMANDS or len(sys.argv) > 2:
        print("usage: python3 start.py COMMAND")
        for name, (what, _) in COMMANDS.items():
            print(f"  {name:6} {what}")
        return 2
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        found = ".".join(map(str, sys.version_info[:2]))
        print(f"Kernelwright runs on Python 3.11 to 3.13, this is {found}: start it with one of those", file=sys.stderr)
        return 2
    failed = _set_up("" if chosen == "demo" else "[dev]")
    if failed:
        return failed
    for command in COMMANDS[chosen][1]:
        if "demo" in command and "--name" in command and (ROOT / "kw-runs" / "demo").is_dir():
            command = AGAIN
        print("$", " ".join([Path(command[0]).name, *command[1:]]), flush=True)
        code = subprocess.run(command, cwd=ROOT, env=_environment()).returncode
        if code:
            return code
    if chosen == "demo":
        print(
            "\nnext: kw-runs/demo/report.html; . .venv/bin/activate; kw evolve YOUR_PROGRAM.cu -- ARGUMENTS; kw --help"
        )
    return 0


def _environment() -> dict[str, str]:
    """Of the commands: with bytecode kept, as in an installed package. Where a container says otherwise, every process that
    they start would compile some 500 files anew, a second of each."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _set_up(extras: str) -> int:
    """Installs into ``.venv`` unless that was done since ``pyproject.toml`` last changed. Returns 0 or pip's exit code."""
    done = ENVIRONMENT / f"installed{extras}"
    wanted_since = (ROOT / "pyproject.toml").stat().st_mtime
    if any(mark.stat().st_mtime >= wanted_since for mark in {done, ENVIRONMENT / "installed[dev]"} if mark.is_file()):
        return 0
    size = DOWNLOADS[extras]
    print(f"setting up .venv (once; about {size} MB are downloaded unless pip has them)", flush=True)
    try:
        venv.create(ENVIRONMENT, with_pip=True, clear=False)
    except subprocess.CalledProcessError:
        print(
            "this Python cannot make virtual environments with pip (Debian: apt install python3-venv)", file=sys.stderr
        )
        return 3
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    code = subprocess.run([*pip, "-e", f".{extras}"], cwd=ROOT).returncode
    if code:
        print("installing failed: see pip's message above, then run this again", file=sys.stderr)
        return 3
    done.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
