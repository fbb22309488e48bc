"""What is said of an original that does something undefined itself."""

from __future__ import annotations

from kernelwright.evaluate.judging.fault_sites import End, Site
from kernelwright.evaluate.judging.original_races import SHOWN, remarks


def race(line: int, scope: str, *, silent: bool = False, kernel: str = "_Z4stepPi") -> Site:
    ends = (End("read", "/home/me/app.cu", line, 3), End("write", "/home/me/app.cu", line + 1, 5))
    return Site("race", kernel, "buffer 1", ends, scope, silent)


def test_nothing_is_said_of_nothing() -> None:
    assert remarks([], "clean") == []


def test_one_race_at_several_distances_is_one_place() -> None:
    (said,) = remarks([race(7, "warp"), race(7, "grid"), race(7, "block")], "safe")
    assert said.startswith(
        "the original races itself in step: read at app.cu:7 and write at app.cu:8, by different warps of a block, different "
        "blocks and lanes of one warp. Variants are compared with it place by place"
    )


def test_values_that_never_differed_are_told_apart() -> None:
    (said,) = remarks([race(7, "warp"), race(7, "warp", silent=True)], "safe")
    assert "by lanes of one warp; read at app.cu:7" in said and said.count("(no value differed)") == 1


def test_each_kernel_and_kind_has_its_own_sentence_and_the_way_is_said_once() -> None:
    unwritten = Site("uninitialised", "_Z4stepPi", "shared memory", (End("read", "app.cu", 4, 1),))
    said = remarks([race(1, "grid", kernel="_Z4halfPi"), race(1, "grid"), unwritten], "clean")
    assert [text.split(":")[0] for text in said] == [
        "the original races itself in half",
        "the original races itself in step",
        "the original reads unwritten memory in step",
    ]
    assert sum("--accept safe takes" in text for text in said) == 1


def test_many_places_are_counted() -> None:
    (said,) = remarks([race(10 * n, "grid") for n in range(SHOWN + 2)], "any")
    assert "; and 2 more places. Variants" in said and said.count("write at") == SHOWN
