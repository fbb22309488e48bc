"""Explorations from the command and from Python: axpy, whose space is small."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernelwright as kw
from kernelwright.cli.commands.explore.command import command
from kernelwright.cli.commands.explore.result import explore_lines, explore_result
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Ok
from kernelwright.exploration.decisions import DECISIONS
from kernelwright.exploration.files import RECORD, read_decisions
from kernelwright.exploration.judge import KernelJudge
from kernelwright.exploration.kernel_space import KernelSpace
from kernelwright.exploration.naive import naive_decisions
from kernelwright.exploration.run import ExploreRun, ExploreSettings, noted_kernel
from kernelwright.exploration.standing import ExploreStanding
from kernelwright.exploration.subject import Subject
from kernelwright.exploration.trial import Trials
from kernelwright.search.tree.leaf_search import LeafSearch
from kernelwright.stories.explore import create, proceed

SIZE = 1 << 12
SETTINGS: dict[str, Any] = {"evaluations": 4, "seed": 5, "batch": 2}


@pytest.fixture(scope="module")
def space() -> KernelSpace:
    return KernelSpace(Subject.of("axpy", (SIZE,), "h200"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> ExploreRun:
    folder = tmp_path_factory.mktemp("runs") / "axpy-1"
    return kw.explore("axpy", (SIZE,), device="h200", folder=folder, jobs=1, **SETTINGS)


def rows(run: ExploreRun) -> list[tuple[Any, Any]]:
    return [(row.candidate, row.outcome) for row in run.rows()]


def test_the_space_is_a_tree_whose_bounds_do_not_fall(space: KernelSpace) -> None:
    node, path, bound = space.root(), [], 0.0
    assert node is not None
    while children := space.children(node.node):
        assert all(each.bound >= 0 for each in children)
        node = min(children, key=lambda each: each.bound)
        path.append(node.decision)
        bound = max(bound, node.bound)
    assert space.children(node.node) is None
    decisions = space.words(path)
    kernel = space.kernel(decisions)
    assert kernel.name == "axpy" and kernel.threads * kernel.grid[0] <= SIZE
    assert space.bound.time_us(space.decided(decisions)) == pytest.approx(node.bound)


def test_decisions_commute(space: KernelSpace) -> None:
    decisions = naive_decisions(space)
    assert space.kernel(tuple(reversed(decisions))) == space.kernel(decisions)


def test_the_naive_kernel_stages_nothing(space: KernelSpace) -> None:
    kernel = space.kernel(naive_decisions(space))
    assert kernel.shared_bytes == kernel.barriers == 0 and "for" not in kernel.source
    assert kernel.grid[0] * kernel.threads == SIZE


def test_the_naive_softmax_does_each_row_once() -> None:
    """As a person writes it first: a thread for each row, three loops one after the other. Once it found the maximum anew for each term."""
    space = KernelSpace(Subject.of("softmax", (256, 24), "h200"))
    kernel = space.kernel(naive_decisions(space))
    loops = list[int]()
    for line in kernel.source.splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        if "for (" in line:
            loops.append(depth)
    assert loops.count(1) == 3 and max(loops) <= 2
    at = [kernel.source.index(text) for text in ("fmaxf(", "v_total = v_total + ", "__stcg(")]
    assert at == sorted(at) and kernel.grid[0] * kernel.threads == 256 and kernel.shared_bytes == 0


@pytest.mark.parametrize(
    ("decisions", "said"),
    [
        (["size(x.n1) = 3"], "decision 1, size(x.n1) = 3: "),
        (["sizes(x.n1) = 4"], "there is no choice sizes"),
        (["size(x.m1) = 4"], "axpy 4096 has no x.m1"),
        (["size(x.n1) = 4", "size(y.n1) = 8"], "decision 2, size(y.n1) = 8, contradicts those before it"),
        (["size(x.n1) = 4"], "open"),
    ],
)
def test_what_an_edited_replay_file_may_say(space: KernelSpace, decisions: list[str], said: str) -> None:
    with pytest.raises(Misuse) as raised:
        space.kernel(tuple(decisions))
    assert said in raised.value.message


def test_a_contradiction_names_the_rule(space: KernelSpace) -> None:
    with pytest.raises(Misuse) as raised:
        space.decided(("dim_kind(x.n0) = BLOCK", "size(x.n1) = 4", "size(y.n1) = 8"))
    hint = str(raised.value.hint)
    assert "size(x.n1) is 4" in hint and "size(y.n1) is 8" in hint and "dim_kind" not in hint
    assert "one size" in hint or "same size" in hint


def test_a_run_ends_with_a_kernel_and_its_files(finished: ExploreRun) -> None:
    best, naive, ended = finished.best, finished.naive, finished.ended
    assert best is not None and naive is not None and ended is not None
    assert ended["evaluations"] == 4 == len(finished.journal)
    assert 0 < finished.proven_us <= best.time_us <= naive.time_us
    for name in ("best.cu", "program.cu", "best.ptx", "naive.cu", "decisions.json"):
        assert (finished.folder / name).stat().st_size > 100
    subject, decisions = read_decisions(finished.folder / "decisions.json")
    assert subject == finished.subject and decisions == best.decisions
    assert ".visible .entry axpy" in (finished.folder / "best.ptx").read_text()
    record = json.loads((finished.folder.parent / RECORD).read_text())
    assert record["axpy 4096 on h200"]["time_us"] == best.time_us


def test_a_run_may_end_where_it_is_fast_enough(finished: ExploreRun, tmp_path: Path) -> None:
    """After the batch in which it became so, which any kernel does here; where none does, with its budget."""
    naive = finished.naive
    assert naive is not None
    ends = [(1000 * naive.time_us, 2), (naive.time_us / 1e6, 4)]
    for number, (until_us, evaluations) in enumerate(ends):
        folder = tmp_path / f"axpy-{number}"
        run = kw.explore("axpy", (SIZE,), device="h200", folder=folder, jobs=1, until_us=until_us, **SETTINGS)
        assert run.ended is not None and run.ended["evaluations"] == evaluations == len(run.journal)
        assert rows(run) == rows(finished)[:evaluations]


def test_what_the_first_blocks_promise_is_no_end(
    finished: ExploreRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a kernel as a whole takes longer than its first blocks said, the search goes on, and asks each kernel once."""
    assert finished.naive is not None
    asked: list[tuple[str, ...]] = []
    whole = KernelJudge.whole

    def slower(self: KernelJudge, decisions: Any, sizes: Any = None) -> Any:
        asked.append(decisions)
        outcome = whole(self, decisions, sizes)
        return replace(outcome, time_us=3 * until_us) if isinstance(outcome, Ok) else outcome

    until_us = 1000 * finished.naive.time_us
    monkeypatch.setattr(KernelJudge, "whole", slower)
    given = {**SETTINGS, "until_us": until_us}
    run = kw.explore("axpy", (SIZE,), device="h200", folder=tmp_path / "axpy", jobs=1, **given)
    assert run.ended is not None and run.ended["evaluations"] == 4
    assert len(asked) <= 4 + 2  # each best of a batch, the winner, the naive kernel


def test_gains_are_counted_from_the_naive_kernel_as_a_whole(finished: ExploreRun, space: KernelSpace) -> None:
    tried, at_the_end = finished.journal.events("naive")
    trials = Trials(finished.subject)
    outcome = trials.whole(space.kernel(naive_decisions(space)))
    trials.close()
    assert isinstance(outcome, Ok) and finished.naive is not None
    assert at_the_end.data["time_us"] == finished.naive.time_us == outcome.time_us
    assert at_the_end.data["decisions"] == tried.data["decisions"]


def test_the_program_around_the_best_kernel_has_its_launch(finished: ExploreRun) -> None:
    text = (finished.folder / "program.cu").read_text()
    assert finished.best is not None
    kernel = KernelSpace(finished.subject).kernel(finished.best.decisions)
    grid, block = ", ".join(map(str, kernel.grid)), ", ".join(map(str, kernel.block))
    assert f"axpy<<<dim3({grid}), dim3({block})>>>(device_X, device_Y, device_Z, 1.5f);" in text


@pytest.mark.slow
def test_the_program_around_the_best_kernel_runs(finished: ExploreRun) -> None:
    """The same sum as NumPy's, of inputs made as the program makes them."""
    state, numbers = np.uint64(1), []
    for _ in range(2 * SIZE):
        state = (state * np.uint64(1664525) + np.uint64(1013904223)) & np.uint64(0xFFFFFFFF)
        numbers.append(np.float32(int(state) >> 8) / np.float32(1 << 23) - np.float32(1))
    x, y = np.array(numbers, np.float64).reshape(2, SIZE)
    command = [sys.executable, "-m", "kernelwright", "run", str(finished.folder / "program.cu"), "--device", "h200"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    name, said, total, _, _ = done.stdout.replace(",", "").split()
    assert (name, said) == ("Z:", "sum") and float(total) == pytest.approx((1.5 * x + y).sum(), rel=1e-3)


def test_no_kernel_is_faster_than_its_bound(finished: ExploreRun) -> None:
    found = [row for row in finished.rows() if isinstance(row.outcome, Ok)]
    assert found and all(row.facts["bound_us"] <= row.outcome.cost * (1 + 1e-6) for row in found)  # type: ignore[union-attr]
    assert finished.ended is not None and finished.ended["above_bound"] == 0


def test_an_interrupted_run_ends_as_if_it_had_not_been(finished: ExploreRun, tmp_path: Path) -> None:
    folder = tmp_path / "axpy-1"
    folder.mkdir()

    def interrupt(standing: ExploreStanding) -> None:
        if standing.evaluations == 2:
            raise KeyboardInterrupt

    with create(folder, finished.subject, ExploreSettings(**SETTINGS)) as run, pytest.raises(KeyboardInterrupt):
        proceed(run, jobs=1, watch=interrupt)
    with ExploreRun.open(folder, DECISIONS, write=True) as run:
        assert len(run.journal) == 2 and run.ended is None
        phases = list[str]()
        standing = proceed(run, jobs=2, watch=lambda standing: phases.append(standing.phase))
        assert standing.fresh == 2
        # What runs as a whole can take minutes, and is named.
        assert phases[-2:] == ["the naive kernel as a whole", "finished"]
    with ExploreRun.open(folder, DECISIONS) as run:
        assert rows(run) == rows(finished)
        assert run.best == finished.best and run.proven_us == finished.proven_us
    with ExploreRun.open(folder, DECISIONS, write=True) as run:  # a finished run shows its winner as it ran as a whole
        assert run.best is not None
        run.journal.note("best", noted_kernel(replace(run.best, time_us=2 * run.best.time_us)))
        assert proceed(run, jobs=1).best == run.best


def test_results_are_said(finished: ExploreRun) -> None:
    result = explore_result(finished, 1.5)
    assert result["finished"] and result["evaluations"] == 4 and result["above_bound"] == 0
    assert json.loads(json.dumps(result)) == result
    text = explore_lines(result)
    assert f"{finished.folder}/best.cu" in text and "nothing in the space is faster than" in text
    better = explore_lines({**result, "best": "v3", "time_us": 0.1, "naive_us": 0.2, "speedup": 2.0})
    assert better.startswith("v3: estimated 0.10 us, 2.00x the naive kernel's speed (0.20 us)")
    none = explore_lines({**result, "best": None}, "not finished: kw explore --resume axpy-1")
    assert none.startswith("no kernel was right") and "kw explore --resume" in none


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "there is nothing to explore"),
        ({"computation": "axpy", "jobs": 0}, "--jobs 0"),
        ({"computation": "axpy", "resume": "axpy-1"}, "a run knows what it explores"),
        ({"resume": "nowhere-9"}, "there is no run"),
        ({"computation": "axpy", "sizes": [0]}, "0 iterations"),
        ({"computation": "axpy", "strategy": "dfs"}, "--strategy dfs"),
        ({"replay": Path("none.json")}, "cannot be read"),
    ],
)
def test_misuse_is_said(given: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Misuse) as raised:
        command(**given)
    assert said in raised.value.message and not list(tmp_path.iterdir())


def test_best_first_may_prove_its_gap(space: KernelSpace) -> None:
    """With bounds as times the search ends with a proof, in the real space."""
    from kernelwright.search import Result
    from kernelwright.search.strategies import TREE_SEARCHES

    search: LeafSearch[Any] = TREE_SEARCHES["best-first"].make(space, gap=0.05)
    for _ in range(40):
        paths = search.ask()
        if not paths:
            break
        times = [space.bound.time_us(space.decided(space.words(path))) for path in paths]
        search.tell([Result(path, (time,)) for path, time in zip(paths, times, strict=True)])
    assert search.proven_gap <= 0.05


def test_what_takes_too_long_to_try_is_rejected_before(space: KernelSpace) -> None:
    from dataclasses import replace

    from kernelwright.exploration.judge import MOST_REGISTERS, _too_costly

    kernel = space.kernel(naive_decisions(space))
    assert _too_costly(kernel, space.subject) is None
    spilled = _too_costly(replace(kernel, registers=MOST_REGISTERS + 1), space.subject)
    assert spilled is not None and spilled.stage == "memory" and "513 registers" in spilled.reason
    large = Subject.of("matmul", (1024, 1024, 1024), "h200")
    alone = _too_costly(replace(kernel, grid=(16, 1, 1), block=(64, 1, 1)), large)
    assert alone is not None and alone.stage == "timeout" and "each of its 16 blocks does 67108864" in alone.reason
    assert _too_costly(replace(kernel, grid=(64, 1, 1), block=(64, 1, 1)), large) is None
    idle = _too_costly(replace(kernel, grid=(64, 1, 1), block=(4, 1, 1)), large)
    assert idle is not None and idle.stage == "timeout"
