"""Generations through the farm: everything once, culprits named, what stays is improved."""

from __future__ import annotations

import ctypes
import multiprocessing
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kernelwright.cache import Cache
from kernelwright.errors import Misuse, ToolError
from kernelwright.farm import Built, Farm, Lost, Raised
from kernelwright.farm.backends.frame import Frame, Language
from kernelwright.farm.backends.host import Host, Loaded
from kernelwright.farm.backends.ptx import Ptx
from kernelwright.farm.backends.tree import Tree
from kernelwright.farm.choice import Candidate, Cost, choose, measured
from kernelwright.farm.fitness import FitnessCache
from tests.farm import problems
from tests.farm.deadly import Deadly


def test_generations_on_the_host() -> None:
    with Farm(Host(), problems.HOST_IR, jobs=2, stayed=2) as farm:
        population = [problems.ir(n % 40) for n in range(60)]
        first = farm.compile(population)
        assert (first.distinct, first.new, first.improved) == (40, 40, 0)
        assert all(isinstance(each, Built) and each.level == "quick" for each in first.results)
        _runs(first.results, [n % 40 for n in range(60)])
        second = farm.compile([*population[:20], problems.ir(99)])
        assert (second.distinct, second.new, second.improved) == (21, 1, 20)
        assert [each.level for each in second.results if isinstance(each, Built)] == ["full"] * 20 + ["quick"]
        _runs(second.results, [*range(20), 99])


def _runs(results: Any, numbers: list[int]) -> None:
    out = (ctypes.c_int * problems.CASES)()
    loaded: dict[int, Loaded] = {}
    for built, n in zip(results, numbers, strict=True):
        code = loaded.setdefault(id(built.image), Loaded(built.image))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(built.individual))(ctypes.addressof(out))
        assert list(out) == problems.expected(n)


def test_what_does_not_compile_is_a_value_and_is_not_tried_again() -> None:
    with Farm(Ptx("sm_90"), problems.PTX, jobs=1) as farm:
        population = [problems.ptx(n) for n in range(20)]
        population[4] = "no.such.instruction;"
        found = farm.compile(population).results
        assert isinstance(found[4], Raised)
        assert all(isinstance(each, Built) for n, each in enumerate(found) if n != 4)
        again = farm.compile(population)
        assert again.new == 0 and again.results == found


def test_an_individual_that_kills_the_compiler_is_lost_alone() -> None:
    with Farm(Deadly(), Frame("tree"), jobs=2, timeout_s=0.25) as farm:
        population = [f"fine {n}" for n in range(40)]
        population[9], population[30] = "crash", "hang"
        found = farm.compile(population).results
        assert isinstance(found[9], Lost) and found[9].stage == "crash"
        assert isinstance(found[30], Lost) and found[30].stage == "timeout"
        assert all(isinstance(each, Built) for n, each in enumerate(found) if n not in (9, 30))


def test_misuse_and_missing_tools_are_told() -> None:
    with pytest.raises(Misuse, match="takes ptx"):
        Farm(Ptx("sm_90"), problems.CUDA)
    with pytest.raises(ToolError, match="not today"):
        Farm(Deadly(reason="not today"), Frame("tree"))


def test_images_kept_on_disk_are_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    log = tmp_path / "log"
    found = []
    for damage in (False, False, True):
        if damage:
            for each in (tmp_path / "population").rglob("*"):
                if each.is_file():
                    each.write_bytes(each.read_bytes()[:-1])
        with Farm(Deadly(log=str(log)), Frame("tree"), jobs=1, keep=True) as farm:
            found.append(farm.compile(["a", "b"]).results)
    assert found[0] == found[1] == found[2]
    assert log.read_text() == "compiled\n" * 2


@dataclass(frozen=True)
class Timed:
    """A back end whose calls take what its clock says."""

    fixed_s: float
    each_s: float
    name: str
    reason: str = ""
    language: Language = "tree"
    batch: tuple[int, int] = (10, 100)

    def missing(self) -> str:
        return self.reason

    def fingerprint(self) -> str:
        return ""

    def compile(self, population: Any, frame: Frame, level: Any = "quick") -> Any:
        Clock.now += self.fixed_s + self.each_s * len(population)
        return Tree().compile(population, frame)


class Clock:
    now = 0.0


def test_costs_are_measured() -> None:
    sample = tuple(str(n) for n in range(24))
    cost = measured(Candidate(Timed(0.01, 0.002, "a"), Frame("tree"), sample, 1e-6), lambda: Clock.now)
    assert cost.fixed_s == pytest.approx(0.01)
    assert cost.each_s == pytest.approx(0.002)
    assert cost.predicted(Timed(0, 0, "a"), 300, 64, 2) == pytest.approx(2 * 0.01 + 150 * 0.002 + 300 * 64 * 1e-6)
    assert cost.predicted(Timed(0, 0, "a"), 5, 0, 2) == pytest.approx(0.01 + 5 * 0.002)
    with pytest.raises(ToolError, match="without individuals"):
        measured(Candidate(Tree(), Frame("tree"), ()))


def test_the_cheapest_usable_back_end_is_chosen() -> None:
    frame = Frame("tree")
    slow, quick, absent = (
        Candidate(Timed(0, 0, name, reason), frame, ("x",))
        for name, reason in (("slow", ""), ("quick", ""), ("absent", "pip install it"))
    )
    costs = {"slow": Cost(0.0, 0.0, 1e-5), "quick": Cost(0.003, 0.0002, 1e-9)}
    few = choose([slow, quick, absent], individuals=300, cases=4, cores=1, costs=costs)
    many = choose([slow, quick, absent], individuals=300, cases=4000, cores=1, costs=costs)
    assert few.best is slow and many.best is quick
    assert many.weighed[-1].reason == "pip install it"
    assert many.weighed[-1].row()["predicted ms"] is None
    assert many.weighed[0].row()["predicted ms"] == pytest.approx(70.2)
    assert many.explained().startswith("quick: 300 individuals on 4000 cases and 1 cores take 70.2 ms, slow ")
    with pytest.raises(ToolError, match="absent: pip install it"):
        choose([absent], individuals=1, cases=1, cores=1)


def test_fitness_is_remembered_for_its_cases_only(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    mine = FitnessCache(["keijzer6", "cases 1"], cache)
    assert mine.get("x + 1") is None
    mine.put({"x + 1": 0.25, "x": float("inf"), "": -0.0})
    again = FitnessCache(["keijzer6", "cases 1"], cache)
    assert (again.get("x + 1"), again.get("x"), again.get(""), again.get("y")) == (0.25, float("inf"), 0.0, None)
    assert FitnessCache(["keijzer6", "cases 2"], cache).get("x + 1") is None
    again.put({"y": float("nan")})
    mine.refresh()
    assert mine.get("y") != mine.get("y") and len(mine) == 4


@pytest.mark.parametrize("damage", ["torn", "garbage", "flip"])
def test_damaged_records_are_passed_over(tmp_path: Path, damage: str) -> None:
    cache = Cache(tmp_path)
    first = FitnessCache(["p"], cache)
    first.put({str(n): float(n) for n in range(10)})
    data = first.path.read_bytes()
    assert len(data) == 320
    first.path.write_bytes(
        {"torn": data[:-5], "garbage": data + b"garbage", "flip": data[:51] + b"\xff" + data[52:]}[damage]
    )
    second = FitnessCache(["p"], cache)
    missing = {"torn": {"9"}, "garbage": set(), "flip": {"1"}}[damage]
    assert {str(n) for n in range(10) if second.get(str(n)) is None} == missing
    second.put({"new": 1.5})
    third = FitnessCache(["p"], cache)
    assert third.get("new") == 1.5 and third.get("0") == 0.0
    assert first.path.stat().st_size % 32 == 0


def test_a_full_file_begins_again(tmp_path: Path) -> None:
    small = FitnessCache(["p"], Cache(tmp_path), limit_bytes=320)
    for n in range(30):
        small.put({str(n): float(n)})
    assert small.path.stat().st_size <= 320
    assert FitnessCache(["p"], Cache(tmp_path)).get("29") == 29.0


def test_an_unusable_disk_is_only_slow(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("")
    cache = FitnessCache(["p"], Cache(blocker / "cache"))
    cache.put({"x": 1.0})
    assert cache.get("x") == 1.0
    assert FitnessCache(["p"], Cache(blocker / "cache")).get("x") is None


def _write(folder: Path, writer: int) -> None:
    cache = FitnessCache(["p"], Cache(folder))
    for n in range(100):
        cache.put({f"{writer} {n}": struct.unpack("<f", struct.pack("<f", writer + n / 100))[0]})


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(tmp_path, n)) for n in range(4)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    found = FitnessCache(["p"], Cache(tmp_path))
    assert len(found) == 400
    assert all(found.get(f"{w} {n}") == pytest.approx(w + n / 100) for w in range(4) for n in range(100))
