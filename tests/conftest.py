"""Fixtures shared by all tests."""

from __future__ import annotations

import fcntl
import gc
import importlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

from kernelwright.farm.worker import COLLECT_AFTER
from tests import examples
from tests.warm_cache import WarmCache

# Under nohup, or behind & of a shell, these are ignored, and every process that a test starts would ignore them, too.
for _number in (signal.SIGHUP, signal.SIGINT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

# Tests start hundreds of processes; where bytecode is not kept (containers often say so), each compiles 500 files anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Machines are shared and slow at times, so no example has a deadline. Under CI the examples are the same every time: a new
# counterexample is found where somebody can look at it, not in a run that is about something else.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)


def pytest_configure(config: pytest.Config) -> None:
    if _is_slow(config):
        examples.try_all()
    chosen = "ci" if os.environ.get("CI") else "here"
    settings.register_profile("chosen", settings.get_profile(chosen), max_examples=examples.few(100))
    settings.load_profile("chosen")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """``make slow`` tries every property, too, on all its examples."""
    if _is_slow(config):
        for item in items:
            if is_hypothesis_test(getattr(item, "function", None)):
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``-n 2`` each process begins with its half and takes over from the other in the end. So a file's tests are seldom run
    by both, which would make twice what they share."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def _is_slow(config: pytest.Config) -> bool:
    return str(config.getoption("markexpr")).strip() == "slow"


GOLDEN = Path(__file__).parent / "golden"


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Where nothing has been compiled yet, pytest rewrites all files for a quarter of a minute in each process. So with ``-n 2`` the
    second begins with the last file, until it meets one that the first has kept."""
    if os.environ.get("PYTEST_XDIST_WORKER") != "gw1" or session.config.args != session.config.getini("testpaths"):
        return
    here = Path(__file__).parent
    kept = f"{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    for path in sorted(here.rglob("test_*.py"), reverse=True):
        if (path.parent / "__pycache__" / f"{path.stem}.{kept}").exists():
            return
        try:
            importlib.import_module(".".join(path.relative_to(here.parent).with_suffix("").parts))
        except BaseException:
            return  # skipped or damaged: collecting it tells


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="accept the present output as the golden files")


def pytest_collection_finish() -> None:
    """What thousands of collected tests consist of is never looked through again: that took half a second each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After the last test of a file no arena is left: a recording could not be replayed at its addresses in this process."""
    yield
    if nextitem is None or nextitem.path != item.path:
        left = _open_arenas()
        if left:
            gc.collect()  # looks at all that thousands of tests have loaded, so only where it may help
            left = _open_arenas()
        assert not left, f"{item.path} leaves an arena open: {left}"


def _open_arenas() -> list[str]:
    return [line for line in Path("/proc/self/maps").read_text().splitlines() if "memfd:kernelwright" in line]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden("passes/slsr.txt", text)`` compares with ``tests/golden/passes/slsr.txt``, or writes it when told to."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            return
        assert path.exists(), f"no golden file {path}: run pytest --update-golden and read what it writes"
        assert text == path.read_text()

    return check


@pytest.fixture(scope="session")
def of_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run of the tests have in common."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def warm_cache(of_all_workers: Path) -> WarmCache:
    """``with warm_cache.at(folder):`` a cache of a test's own that has what every installation makes first."""
    return WarmCache(of_all_workers / "of-the-installation")


@pytest.fixture(scope="session")
def finished_run(of_all_workers: Path) -> Path:
    """The folder of a finished run of ``tests/stories/again.py``, minimised, proven and explained. To be copied by those who
    write into it. The first process that asks for it makes it, which takes half a minute, and the others wait for that. Loads of
    several turns are not tried in it: they are good for any size, and many tests want a best that is not."""
    from kernelwright.edits import gene_draw
    from kernelwright.evolution.genomes import GENOMES, EvolveRun
    from kernelwright.stories.evolve import evolve
    from kernelwright.stories.explain import explain

    folder, finished = of_all_workers / "finished" / "again-1", of_all_workers / "finished" / "finished"
    folder.parent.mkdir(exist_ok=True)
    with open(folder.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if finished.exists():
            return folder
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed while it made it
        source = Path(__file__).parent / "stories" / "again.py"
        few = tuple(each for each in gene_draw.LISTED if "turns" not in each[1].edits.__name__)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gene_draw, "LISTED", few)
            evolve(source, folder=folder, evaluations=40, seed=1, jobs=2).close()
        with EvolveRun.open(folder, GENOMES, write=True) as run:
            explain(run, "best", jobs=2)
        finished.touch()
    return folder
