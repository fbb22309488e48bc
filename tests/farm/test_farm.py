"""Generations through the farm: everything once, culprits named. Fitness that is remembered."""

from __future__ import annotations

import ctypes
import multiprocessing
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kernelwright.cache import Cache
from kernelwright.errors import CompileError
from kernelwright.farm import Built, Farm, Lost, Raised
from kernelwright.farm.backends.backend import Image, Level, Refused
from kernelwright.farm.backends.bundle import Frame, Language
from kernelwright.farm.backends.host import Host, Loaded
from kernelwright.farm.backends.ptx import Ptx
from kernelwright.farm.backends.tree import Tree, texts
from kernelwright.farm.bundle_runner import BundleRunner
from kernelwright.farm.compile_population import build
from kernelwright.farm.fitness_store import FitnessCache
from tests.farm import problems
from tests.farm.deadly import Deadly


def host() -> Callable[[list[str]], list[Built | Raised]]:
    """A set-up: individuals by their numbers, compiled for this processor."""
    return BundleRunner[Any](Host(), problems.HOST_IR, lambda text: problems.ir(int(text))).compile


def test_generations_on_the_host() -> None:
    with Farm(host, batch=(5, 20), jobs=2) as farm:
        population = [str(n % 40) for n in range(60)]
        for generation in (population, [*population[:20], "99"]):
            found = dict(farm.map(generation))
            _runs([found[n] for n in range(len(generation))], [int(text) for text in generation])
        assert len(farm.pids()) == farm.workers == 2


def test_equal_individuals_are_made_once() -> None:
    with Farm(host, batch=(100, 100), jobs=1) as farm:
        found = dict(farm.map([str(n % 4) for n in range(60)]))
    assert len(found) == 60
    assert all(isinstance(each, Built) and len(each.image.places) == 4 for each in found.values())


def _runs(results: Any, numbers: list[int]) -> None:
    out = (ctypes.c_int * problems.CASES)()
    loaded: dict[int, Loaded] = {}
    for built, n in zip(results, numbers, strict=True):
        code = loaded.setdefault(id(built.image), Loaded(built.image))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(built.individual))(ctypes.addressof(out))
        assert list(out) == problems.expected(n)


def ptx() -> Callable[[list[str]], list[Built | Raised]]:
    return BundleRunner[Any](Ptx("sm_90"), problems.PTX, str).compile


def test_what_does_not_compile_is_a_value() -> None:
    with Farm(ptx, batch=Ptx().batch, jobs=1) as farm:
        population = [problems.ptx(n) for n in range(20)]
        population[4] = "no.such.instruction;"
        found = dict(farm.map(population))
        assert isinstance(found[4], Raised)
        assert all(isinstance(each, Built) for n, each in found.items() if n != 4)


def deadly() -> Callable[[list[str]], list[Built | Raised]]:
    return BundleRunner[Any](Deadly(), Frame("tree"), str).compile


def test_an_individual_that_kills_the_compiler_is_lost_alone() -> None:
    with Farm(deadly, batch=Deadly().batch, jobs=2, timeout_s=0.25) as farm:
        population = [f"fine {n}" for n in range(40)]
        population[9], population[30] = "crash", "hang"
        found = dict(farm.map(population))
        assert isinstance(found[9], Lost) and found[9].stage == "crash"
        assert isinstance(found[30], Lost) and found[30].stage == "timeout"
        assert all(isinstance(each, Built) for n, each in found.items() if n not in (9, 30))


class Stopping:
    """Runs text images; ``stop`` stops the others of its image, and is told on its own."""

    def __init__(self) -> None:
        self.images: list[list[str]] = []
        self.closed = False

    def run(self, image: Image) -> list[str | None]:
        given = texts(image)
        self.images.append(given)
        if "stop" in given:
            return ["stopped" if each == "stop" else None for each in given]
        return [each.upper() for each in given]

    def close(self) -> None:
        self.closed = True


def refusing(text: str) -> str:
    if text == "bad":
        raise CompileError("not this one")
    return text


def test_a_batch_is_translated_compiled_and_run_and_what_another_stopped_is_run_again() -> None:
    executor = Stopping()
    runner = BundleRunner(Tree(), Frame("tree"), refusing, executor)
    ran = runner.run(["a", "bad", "stop", "b"])
    assert [each.result for each in ran if not isinstance(each.result, Raised)] == ["A", "stopped", "B"]
    assert isinstance(ran[1].result, Raised) and ran[1].result.reason == "CompileError: not this one"
    assert executor.images == [["a", "stop", "b"], ["a", "b"]]
    assert all(each.run_s > 0 for each in ran if each is not ran[1])
    assert ran[0].compile_s == 0  # text is not compiled
    runner.close()
    assert executor.closed and runner.run([]) == []


@dataclass(frozen=True)
class Slow:
    """A back end that takes its time, and one that names nobody."""

    names: bool = True
    language: Language = "tree"
    batch: tuple[int, int] = (1, 10)

    def missing(self) -> str:
        return ""

    def fingerprint(self) -> str:
        return ""

    def compile(self, population: Sequence[str], frame: Frame, level: Level = "quick") -> Image:
        time.sleep(0.02)
        if not self.names and "bad" in population:
            raise Refused("somebody is wrong")
        return replace(Tree().compile(population, frame), format="ir")


class Lengths:
    def run(self, image: Image) -> list[int]:
        return [len(each) for each in texts(replace(image, format="text"))]

    def close(self) -> None:
        pass


def test_seconds_are_shared_by_a_bundle() -> None:
    ran = BundleRunner(Slow(), Frame("tree"), str, Lengths()).run(["a", "bb"])
    assert [each.result for each in ran] == [1, 2]
    assert ran[0].compile_s == ran[1].compile_s and 0.02 <= 2 * ran[0].compile_s < 1
    assert 0 < ran[0].run_s < 0.01


def test_where_a_compiler_names_nobody_the_culprit_is_found_by_halving() -> None:
    found = build(Slow(names=False), Frame("tree"), ["a", "b", "c", "bad", "d"])
    assert [isinstance(each, Raised) for each in found] == [False, False, False, True, False]


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
