"""Computations that people write: found in their files, kept by runs, held against oracles; and what is refused."""

from __future__ import annotations

import pickle
import shutil
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import kernelwright as kw
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.expert import expert
from kernelwright.exploration.files import RECORD, read_decisions
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.naive import naive_decisions
from kernelwright.exploration.own_file import COPY
from kernelwright.exploration.run import ExploreRun, ExploreSettings
from kernelwright.exploration.subject import Subject
from kernelwright.exploration.trial import Trials
from kernelwright.stories.explore import checked_settings, create

PAGE = Path(__file__).parents[2] / "docs" / "explore.md"
SIZE = 1 << 12


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the page."""
    path = tmp_path_factory.mktemp("own") / "my_computation.py"
    path.write_text(PAGE.read_text().split("```python")[1].split("```")[0])
    return path


def written(folder: Path, declared: str, head: str = "@kw.computation") -> Path:
    path = folder / "own.py"
    lines = dedent(declared).strip().splitlines()
    body = "".join(f"    {line}\n" for line in lines)
    path.write_text(f"import kernelwright as kw\n\n{head}\ndef own(c, n=64):\n{body}")
    return path


COPIED = """
    i = c.loop("n", n, (4,))
    c.store("st", c.output("Y", (n,))[i], c.load("x", c.input("X", (n,))[i]) * 2.0)
"""


@pytest.fixture(scope="module")
def finished(file: Path) -> ExploreRun:
    name = f"{file}:weighted_sum"
    return kw.explore(name, (SIZE,), device="h200", folder=file.parent / "runs" / "own-1", jobs=1, evaluations=1)


def test_the_computation_of_the_page_is_explored(finished: ExploreRun) -> None:
    best, naive = finished.best, finished.naive
    assert best is not None and naive is not None and best.time_us <= naive.time_us
    assert "weighted_sum" in (finished.folder / "best.cu").read_text()
    assert ".visible .entry weighted_sum" in (finished.folder / "best.ptx").read_text()
    (name,) = [key for key in (finished.folder.parent / RECORD).read_text().split('"') if key.startswith("weighted")]
    assert finished.subject.own is not None and finished.subject.own.digest[:12] in name


def test_everything_may_be_added_up_to_one_number(tmp_path: Path) -> None:
    """Its output varies over no loop."""
    path = written(
        tmp_path,
        """
        i = c.loop("n", n, (8,))
        c.store("st", c.output("Y", (1,))[0], c.sum("total", c.load("x", c.input("X", (n,))[i]), over=i))
        """,
    )
    subject = Subject.of(path, (100,), "h200")
    space, trials = KernelSpace(subject), Trials(subject)
    assert isinstance(trials.whole(space.kernel(naive_decisions(space))), Ok)
    trials.close()


def test_a_run_is_read_again_without_the_file_it_came_from(finished: ExploreRun, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(finished.folder, moved)
    subject, decisions = read_decisions(moved / "decisions.json")
    assert KernelSpace(subject).kernel(decisions).source in (moved / "best.cu").read_text()
    with ExploreRun.open(moved, DECISIONS) as run:
        assert str(run.subject) == f"weighted_sum {SIZE}" and run.subject.own == subject.own
    (moved / COPY).unlink()
    with pytest.raises(Misuse, match=r"computation\.py cannot be read"):
        KernelSpace(read_decisions(moved / "decisions.json")[0])
    (moved / COPY).write_text("import kernelwright")
    subject, decisions = read_decisions(moved / "decisions.json")
    with pytest.raises(Misuse, match="is not what it was when it was first read"):
        KernelSpace(subject)


def test_neighbouring_loads_are_right_under_every_schedule(file: Path) -> None:
    """Its oracle is NumPy's, which the statements have to agree with."""
    subject = Subject.of(f"{file}:neighbours", (96,), "h200")
    checked_settings(subject)
    space = KernelSpace(subject)
    trials = Trials(pickle.loads(pickle.dumps(subject)))
    assert isinstance(trials.whole(space.kernel(naive_decisions(space))), Ok)
    trials.close()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_smallest_sizes_have_a_kernel(file: Path, size: int) -> None:
    space = KernelSpace(Subject.of(f"{file}:neighbours", (size,), "h200"))
    kernel = space.kernel(naive_decisions(space))
    assert kernel.grid[0] * kernel.threads == size


def test_what_python_has_at_hand_is_found_in_its_file(file: Path) -> None:
    subject = Subject.of(f"{file}:neighbours", {"n": 64}, "h200")
    assert Subject.of(subject.family, {"n": 64}, "h200") == subject
    with pytest.raises(Misuse, match="is given no n"):
        Subject.of(subject.family, (), "h200")
    with pytest.raises(Misuse, match="a function is no computation with sizes"):
        Subject.of(lambda c: None, (), "h200")  # type: ignore[arg-type]
    assert expert(subject.family, (64,), device="h200").tile("n", 16, 4).left("size", "left.n1") == [16]
    with pytest.raises(Misuse, match="is defined in <string>, which workers and later runs cannot read"):
        names: dict[str, Any] = {"kw": kw}
        exec("@kw.computation\ndef own(c, n): ...", names)
        Subject.of(names["own"], (4,), "h200")


def test_a_run_does_not_go_on_with_another_computation(tmp_path: Path) -> None:
    path, folder = written(tmp_path, COPIED), tmp_path / "own-1"
    folder.mkdir()
    create(folder, Subject.of(str(path), (), "h200"), ExploreSettings()).close()
    ExploreRun.open(folder, DECISIONS, write=True).close()
    path.write_text(path.read_text().replace("2.0", "3.0"))
    with pytest.raises(Misuse, match=r"own\.py has changed since this run began") as raised:
        ExploreRun.open(folder, DECISIONS, write=True)
    assert "own-1/computation.py" in str(raised.value.hint)
    ExploreRun.open(folder, DECISIONS).close()  # it can be shown
    path.unlink()
    with ExploreRun.open(folder, DECISIONS, write=True) as run:
        assert run.subject.backbone.name == "own"


def test_a_file_that_changes_while_it_is_explored_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, COPIED)
    subject = Subject.of(str(path), (), "h200")
    path.write_text(path.read_text() + "\n")
    with pytest.raises(Misuse, match="is not what it was"):
        subject.kept_in(tmp_path)


@pytest.mark.parametrize(
    ("declared", "said", "line"),
    [
        ('c.loop("n", c.load("x", c.input("X", (4,))[c.loop("m", 4)]))', "the extent of loop n of own is computed", 5),
        ('c.loop("n", 0)', "loop n of own has 0 iterations", 5),
        ('c.input("X", (n,))[c.loop("n", n) + 1]', "dimension 0 of array X has 64 elements; its index is 1 to 64", 5),
        ('c.loop("n", n)\nc.input("n", (n,))', "own has two things called n", 6),
        ("n / 0", "ZeroDivisionError: division by zero", 5),
        ("n +", "SyntaxError: invalid syntax", 5),
        ("pass", "own stores nothing", 0),
    ],
)
def test_mistakes_are_told_with_their_line(declared: str, said: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(Misuse) as raised:
        _ = Subject.of(str(written(tmp_path, declared)), (), "h200").backbone
    assert said in raised.value.message
    assert line == 0 or (raised.value.place is not None and raised.value.place.line == line)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("x = 1", "", "own.py defines no computation"),
        ("@kw.computation\ndef a(c): ...\n@kw.computation\ndef b(c): ...", "", "defines 2 computations, a, b"),
        ("@kw.computation\ndef a(c): ...", ":b", "has no computation b outside of functions"),
        ("@kw.computation\ndef a(): ...", "", "a takes no computation"),
        ("@kw.computation\ndef axpy(c, n=4): ...", "", "the library has a axpy already"),
        ("@kw.computation\ndef a(c, n): ...", "", "a is given no n"),
        ("@kw.computation\ndef a(c, n): c.scalar('q')", ":a", "scalar q of a has no value"),
        ("@kw.computation\ndef a(c): ...\nkw.explore(a)", "", "explores while it is read"),
    ],
)
def test_files_that_do_not_do_are_told(text: str, name: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(f"import kernelwright as kw\n{text}\n")
    before = list(sys.path)
    with pytest.raises(Misuse) as raised:
        Subject.of(f"{path}{name}", (4,) if "scalar" in said else (), "h200")
    assert said in raised.value.message and sys.path == before
    with pytest.raises(Misuse, match="cannot be read"):
        Subject.of(Path("nowhere.py"), (), "h200")


@pytest.mark.parametrize(
    ("oracle", "said"),
    [
        ("lambda a, s: {'Y': 3 * a['X']}", "the oracle of own and its statements differ: Y by 0.5"),
        ("lambda a, s: {'Y': a['Z']}", "the oracle of own fails: KeyError: 'Z'"),
        ("lambda a, s: {'Z': a['X']}", "the oracle of own returns Z, and its outputs are Y"),
        ("lambda a, s: a['X']", "the oracle of own returns ndarray"),
        ("lambda a, s: {'Y': 2 * a['X'][:1]}", "returns Y of shape (1,), and it is (64,)"),
        ("lambda a, s: {'Y': a['X'] * float('inf')}", "elements that are no finite numbers"),
    ],
)
def test_an_oracle_that_is_wrong_is_told_before_there_is_a_run(oracle: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, COPIED, f"@kw.computation(oracle={oracle})")
    with pytest.raises(Misuse) as raised:
        checked_settings(Subject.of(str(path), (), "h200"))
    assert said in raised.value.message


def test_an_oracle_that_only_kernels_contradict_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of a computation too large to be carried out."""
    from kernelwright.evaluate.judging.fitness import Evaluated
    from kernelwright.evaluate.outcome import Rejected
    from kernelwright.stories.explore import _naive

    path = written(tmp_path, COPIED, "@kw.computation(oracle=lambda a, s: {'Y': a['X']})")
    subject = Subject.of(str(path), (), "h200")

    class Wrong:
        def __call__(self, batch: Any) -> Any:
            yield 0, Evaluated(Rejected("compare", "Y is off by 0.5"), "")

    with pytest.raises(Misuse, match=r"the naive kernel of own 64 is not what its oracle says: Y is off by 0\.5"):
        _naive(Wrong(), subject, ())  # type: ignore[arg-type]
