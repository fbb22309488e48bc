"""Work in other processes: every item gets its result or a cause, whatever the items do."""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.farm import Lost, Pool, Raised, crew
from kernelwright.farm.messages import Kind, send
from tests.farm import tasks
from tests.farm.processes import descendants, ended, soon


def _descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.fixture(scope="module")
def _nothing_older_is_collected() -> None:
    """What other tests have left is looked through once, not twice for each test of this file."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def no_leak(_nothing_older_is_collected: None) -> Iterator[None]:
    """Processes and descriptors are as they were; anonymous memory is a descriptor too. The nursery is there for all pools."""
    with Pool(tasks.identity, workers=1) as pool:
        list(pool.map([0]))
    gc.collect()
    children, descriptors = descendants(), len(_descriptors())
    yield
    gc.collect()
    # The nursery buries a pool's processes a moment after the pool is closed.
    assert soon(lambda: descendants() <= children), descendants() - children
    assert len(_descriptors()) <= descriptors


pytestmark = pytest.mark.usefixtures("no_leak")


def test_results_carry_their_index() -> None:
    with Pool(tasks.doubling, workers=2) as pool:
        assert dict(pool.map(range(500))) == {n: 2 * n for n in range(500)}
        assert dict(pool.map([21])) == {0: 42}
        assert list(pool.map([])) == []


def test_one_worker_is_another_process_too() -> None:
    with Pool(tasks.whoami, workers=1) as pool:
        ((_, (pid, threads)),) = pool.map([None])
        assert pid != os.getpid()
        assert threads == 1


def test_a_worker_is_one_core_s_worth() -> None:
    """Launches of the virtual GPU in it keep to one core, too."""
    with Pool(tasks.environment, workers=1) as pool:
        assert dict(pool.map(["KERNELWRIGHT_CORES", "OMP_NUM_THREADS"])) == {0: "1", 1: "1"}


def test_arguments_reach_the_set_up_whatever_their_size() -> None:
    with Pool(tasks.adding, (5, b"x" * 3_000_000), workers=1) as pool:
        assert dict(pool.map([1])) == {0: 3_000_006}


@pytest.mark.parametrize("size", [0, 1, 32_000, 32_768, 40_000, 5_000_000])
def test_large_items_and_results(size: int) -> None:
    data = [random.Random(n).randbytes(size) for n in range(6)]
    with Pool(tasks.bytes_backwards, workers=2) as pool:
        assert dict(pool.map(data)) == {n: each[::-1] for n, each in enumerate(data)}


def test_all_workers_work_and_results_come_as_they_finish() -> None:
    with Pool(tasks.sleeping, workers=2) as pool:
        list(pool.map([0, 0]))
        begin = time.monotonic()
        order = [index for index, _ in pool.map([0.6, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05])]
    assert order[-1] == 0  # the others did not wait behind the slow one
    assert time.monotonic() - begin < 0.85


def test_what_waits_behind_a_slow_item_is_taken_over() -> None:
    with Pool(tasks.sleeping, workers=2) as pool:
        list(pool.map([0.0] * 64))  # items are quick, so each worker holds many
        times = [0.0] * 200
        times[3] = 0.5
        order = [index for index, _ in pool.map(times)]
    assert order[-1] == 3


SLEEP = f"60.{os.getpid()}"
"""Seconds that no other run of these tests sleeps."""

DEADLY = [
    ("segfault", None, "crash", "SIGSEGV"),
    ("abort", None, "crash", "SIGABRT"),
    ("exit", 3, "crash", "exit status 3"),
    ("exit 0", None, "crash", "exit status 0"),
    ("hang", None, "timeout", "longer than"),
    ("spin", None, "timeout", "longer than"),
    ("stop", None, "timeout", "longer than"),
    ("eat", None, "memory", "more memory than"),
    ("eat in C", None, "memory", "more memory than"),
    ("kill template", None, "crash", "SIGKILL"),
    ("SIGKILL", None, "crash", "SIGKILL"),
    ("close all", None, "crash", "Bad file descriptor"),
    ("child", SLEEP, "crash", "SIGSEGV"),
    ("child and kill template", SLEEP, "crash", "SIGKILL"),
    ("llvm", None, "crash", "Cannot select"),
]


@pytest.mark.parametrize(("action", "value", "stage", "word"), DEADLY, ids=[each[0] for each in DEADLY])
def test_a_deadly_item_is_lost_with_its_cause_and_no_other_is(action: str, value: Any, stage: str, word: str) -> None:
    items: list[tuple[str, Any]] = [("double", n) for n in range(12)]
    items.insert(5, (action, value))
    with Pool(tasks.acting, workers=2, timeout_s=0.3, memory_bytes=100 << 20, shared=True) as pool:
        found = dict(pool.map(items))
        assert ended(f"sleep {SLEEP}")
    lost = found[5]
    assert isinstance(lost, Lost)
    assert lost.stage == stage
    assert word in lost.reason
    assert all(found[n] == 2 * v for n, (a, v) in enumerate(items) if a == "double")


@pytest.mark.parametrize("action", ["once segfault", "once hang", "once eat", "once SIGKILL"])
def test_what_does_not_happen_again_is_not_the_items_fault(action: str, tmp_path: Path) -> None:
    with Pool(tasks.once, (str(tmp_path),), workers=1, timeout_s=0.3, memory_bytes=100 << 20, shared=True) as pool:
        found = dict(pool.map([("double", 1), (action, "mark"), ("double", 2)]))
    assert found == {0: 2, 1: ("again", "mark"), 2: 4}


def test_exceptions_are_values_with_their_cause() -> None:
    with Pool(tasks.acting, workers=2) as pool:
        actions = [("raise", 0), ("raise awkward", 0), ("raise compile error", 0), ("unpicklable", 0), ("sys.exit", 0)]
        found = dict(pool.map([*actions, ("raise", 1), ("print", "hello"), lambda: 0]))
        assert pool.starts <= 2  # nobody died
    division, awkward, compiled, unpicklable, left, fine, printed, unsent = (found[n] for n in range(8))
    assert isinstance(division, Raised) and isinstance(division.error, ZeroDivisionError)
    assert "tasks.py" in division.trace
    assert isinstance(awkward.error, ToolError) and "Awkward: 1 and 2" in awkward.reason
    assert isinstance(compiled.error, CompileError) and compiled.error.place is not None
    assert compiled.error.place.line == 3 and compiled.error.hint == "declare it"
    assert isinstance(unpicklable, Raised) and "pickle" in unpicklable.reason
    assert isinstance(left, Raised) and "SystemExit: bye" in left.reason
    assert fine == 1 and printed == "hello"
    assert isinstance(unsent, Raised) and "pickle" in unsent.reason


def test_a_failing_batch_is_halved_until_the_culprit_stands_alone() -> None:
    items: list[tuple[str, Any]] = [("double", n) for n in range(60)]
    items[17], items[41], items[42] = ("segfault", None), ("raise", 0), ("hang", None)
    with Pool(tasks.batches, workers=2, batch=(5, 30), timeout_s=0.3, shared=True) as pool:
        found = dict(pool.map(items))
    assert found[17].stage == "crash"
    assert isinstance(found[41].error, ZeroDivisionError)
    assert found[42].stage == "timeout"
    assert all(found[n] == 2 * n for n in range(60) if n not in (17, 41, 42))


@pytest.mark.parametrize(
    ("count", "batch", "expected"),
    [
        (300, (50, 150), [150, 150]),
        (300, (10, 100), [75, 75, 75, 75]),
        (7, (10, 100), [7]),
        (25, (10, 100), [13, 12]),
        (1, (1, 1), [1]),
    ],
)
def test_batches_are_equal_shares(count: int, batch: tuple[int, int], expected: list[int]) -> None:
    with Pool(tasks.sized_batches, workers=2, batch=batch) as pool:
        found = dict(pool.map(range(count)))
    assert sorted(found) == list(range(count))
    assert [found[n] for n in range(count)] == [size for size in expected for _ in range(size)]


def test_a_batch_with_too_few_results_is_not_believed() -> None:
    with Pool(tasks.short_batches, workers=1, batch=(4, 4)) as pool:
        assert dict(pool.map([1, 2, 3, 4])) == {0: 1, 1: 2, 2: 3, 3: 4}  # only one at a time has as many


def test_what_the_set_up_raises_is_raised() -> None:
    for shared in (False, True):
        with Pool(tasks.failing, workers=1, shared=shared) as pool, pytest.raises(CompileError, match="nothing to"):
            list(pool.map([1]))
        with Pool(tasks.failing_otherwise, shared=shared) as pool, pytest.raises(ToolError, match="ZeroDivisionError"):
            list(pool.map([1]))
        with Pool(tasks.dying, workers=1, shared=shared) as pool, pytest.raises(ToolError, match="SIGABRT"):
            list(pool.map([1]))


def test_a_shared_set_up_runs_once_and_another_once_in_each_worker(tmp_path: Path) -> None:
    for shared, calls in ((True, 1), (False, 2)):
        folder = tmp_path / str(shared)
        folder.mkdir()
        with Pool(tasks.counting, (str(folder),), workers=2, shared=shared) as pool:
            assert dict(pool.map(range(10))) == {n: n for n in range(10)}
            for _ in range(100):  # on a busy machine one worker may have done it all before the other is there
                if len(list(folder.iterdir())) == calls:
                    break
                assert dict(pool.map(range(10))) == {n: n for n in range(10)}
            assert pool.starts == 2
        assert len(list(folder.iterdir())) == calls


def test_a_shared_set_up_with_threads_is_refused() -> None:
    with Pool(tasks.with_threads, workers=1, shared=True) as pool, pytest.raises(ToolError, match="started threads"):
        list(pool.map([1]))
    with Pool(tasks.with_threads, workers=1) as pool:
        assert dict(pool.map([1])) == {0: 1}


def test_misuse_is_told() -> None:
    with pytest.raises(Misuse, match="cannot import"):
        Pool(lambda: tasks.doubling())
    with pytest.raises(Misuse, match="0 workers"):
        Pool(tasks.doubling, workers=0)
    with pytest.raises(Misuse, match="batches of 3 to 2"):
        Pool(tasks.doubling, batch=(3, 2))
    with Pool(tasks.doubling, workers=1) as pool:
        first = pool.map([1, 2])
        next(first)
        with pytest.raises(Misuse, match="busy"):
            next(pool.map([1]))
        first.close()  # type: ignore[attr-defined]
    with pytest.raises(Misuse, match="closed"):
        next(pool.map([1]))
    pool.close()


def test_an_abandoned_map_does_not_disturb_the_next() -> None:
    with Pool(tasks.sleeping, workers=2) as pool:
        for _ in pool.map([0.01] * 50):
            break
        assert dict(pool.map([0.0, 0.02])) == {0: 0.0, 1: 0.02}


@pytest.mark.parametrize("which", [1, 4])
def test_ctrl_c_just_after_an_item_was_sent(monkeypatch: pytest.MonkeyPatch, which: int) -> None:
    """What was sent and not noted comes back, or its answer does."""
    sent = 0

    def interrupted(*given: Any, **named: Any) -> bool:
        nonlocal sent
        done = send(*given, **named)
        sent += given[1] is Kind.WORK
        if given[1] is Kind.WORK and sent == which:
            raise KeyboardInterrupt
        return done

    with Pool(tasks.sleeping, workers=2) as pool:
        monkeypatch.setattr(crew, "send", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(pool.map([0.01] * 9))
        assert dict(pool.map([0.0, 0.02, 0.01])) == {0: 0.0, 1: 0.02, 2: 0.01}


def test_workers_killed_at_random_from_outside() -> None:
    stop = threading.Event()

    def kill(pool: Pool) -> None:
        dice = random.Random(1)
        while not stop.wait(0.02):
            alive = pool.pids()
            if alive:
                try:
                    os.kill(dice.choice(alive), dice.choice([9, 15]))
                except ProcessLookupError:
                    continue

    with Pool(tasks.sleeping, workers=2, shared=True) as pool:
        killer = threading.Thread(target=kill, args=(pool,))
        killer.start()
        try:
            times = [0.001 * (n % 7) for n in range(300)]
            assert dict(pool.map(times)) == dict(enumerate(times))
        finally:
            stop.set()
            killer.join()
        assert pool.starts > 5


def test_from_a_process_with_threads_and_from_one_of_them() -> None:
    found: list[dict[int, Any]] = []
    stop = threading.Event()
    spinner = threading.Thread(target=stop.wait)
    spinner.start()

    def use() -> None:
        with Pool(tasks.doubling, workers=2) as pool:
            found.append(dict(pool.map(range(20))))

    threads = [threading.Thread(target=use) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    stop.set()
    spinner.join()
    assert found == [{n: 2 * n for n in range(20)}] * 2


def test_a_pool_outlives_the_thread_that_made_it() -> None:
    pools: list[Pool] = []

    def make() -> None:
        pools.append(Pool(tasks.doubling, workers=1))
        list(pools[0].map([1]))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    time.sleep(0.05)
    with pools[0] as pool:
        assert dict(pool.map([4])) == {0: 8}
        assert pool.starts == 1


def test_a_worker_that_keeps_memory_is_replaced() -> None:
    with Pool(tasks.hoarding, workers=1, memory_bytes=64 << 20, shared=True) as pool:
        found = dict(pool.map([8 << 20] * 14))
        assert found == dict.fromkeys(range(14), 8 << 20)
        assert pool.starts > 1


def test_time_limits_follow_what_items_take() -> None:
    with Pool(tasks.doubling, workers=1) as pool:
        generous = pool.timeout_s
        list(pool.map(range(50)))
        assert 5 <= pool.timeout_s < generous


def test_an_item_costs_well_under_a_millisecond() -> None:
    with Pool(tasks.doubling, workers=2) as pool:
        list(pool.map(range(100)))
        begin = time.process_time()
        list(pool.map(range(5000)))
        assert (time.process_time() - begin) / 5000 < 0.2e-3
