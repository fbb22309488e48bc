"""Programs that do wrong: CUDA's errors for the program, a sentence for the person, and the program's own exit code."""

from __future__ import annotations

import re
import time

import pytest

from .conftest import MISBEHAVING, Here


@pytest.fixture(autouse=True)
def one_folder(run: Here, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is compiled once for all of them: what is kept of a compile holds in the folder that it began in."""
    monkeypatch.chdir(tmp_path_factory.getbasetemp())


LINES = MISBEHAVING.read_text().splitlines()


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(LINES, 1) if text in line)


def place(text: str) -> str:
    return f"kw: {MISBEHAVING}:{line_of(text)}: "


LOST = ["cudaErrorIllegalAddress"]
SAID = {
    "overrun": (
        ["cudaSuccess", *4 * LOST],
        [place("c[i] = a[i]"), "kernel add, block (3, 0, 0), thread (232, 0, 0)", "'device allocation 1' (4000 bytes)"],
    ),
    "null": (LOST, [place("void store("), "the pointer is null"]),
    "freed": (LOST, [place("void store("), "offset 20 of buffer 'device allocation 1', which is freed"]),
    "misaligned": (["cudaErrorMisalignedAddress"], [place("void load_misaligned("), "no multiple of 4"]),
    "trap": (["cudaErrorLaunchFailure"], [place("void trap("), "thread (3, 0, 0): the kernel executed a trap"]),
    "assert": (["cudaErrorAssert"], [place("void fails("), "thread (40, 0, 0)", "(int)threadIdx.x < limit"]),
    "barrier": (["cudaErrorLaunchFailure"], ["kernel diverges, block (0, 0, 0)", "barrier"]),
    "shared": (LOST, [place("box[threadIdx.x + n] = 1"), "thread (24, 0, 0)", "shared memory"]),
    "variable": (LOST, [place("void table_overrun("), "'table' (32 bytes)"]),
    "endless": (["cudaErrorLaunchTimeout"], [place("void endless("), "it did not end", "1000000 loop iterations"]),
    "waits-for-ever": (
        ["cudaErrorLaunchTimeout"],
        [
            place("void awaits("),
            "kernel awaits, block (0, 0, 0), thread (0, 0, 0): it waits for ever: no thread of its block",
        ],
    ),
    "too-much": (
        ["cudaSuccess", *3 * ["cudaErrorMemoryAllocation"], "cudaSuccess", "cudaSuccess"],
        ["an allocation of 1125899906842624 bytes finds no room"],
    ),
    "geometry": (
        [*3 * ["cudaErrorInvalidConfiguration"], "cudaErrorInvalidValue", "cudaSuccess"],
        ["kw: a launch of kernel nothing was refused: the number of threads per block in x is 2000"],
    ),
    "frees-twice": (
        ["cudaSuccess", *3 * ["cudaErrorInvalidValue"], "cudaSuccess", "cudaErrorInvalidValue", "cudaSuccess"],
        ["'device allocation 1' at", "is freed twice", "is not the address of a buffer", "4 bytes inside buffer"],
    ),
    "devices": (["cudaSuccess", "cudaErrorInvalidDevice", "cudaSuccess", "1 0", "cudaSuccess"], []),
    "reset": ([*LOST, "cudaSuccess", "cudaSuccess", "73"], ["the pointer is null"]),
    "silent": ([], [place("void store("), "the pointer is null"]),
}


def test_what_waits_for_ever_is_noticed_at_once(run: Here) -> None:
    """Without the budget of the tests above, it took eight minutes."""
    begin = time.monotonic()
    ran = run(MISBEHAVING, "--", "waits-for-ever")
    assert ran.lines == ["cudaErrorLaunchTimeout"] and time.monotonic() - begin < 20


@pytest.mark.parametrize("name", SAID)
def test_what_is_said(name: str, run: Here) -> None:
    answers, sentences = SAID[name]
    ran = run("--budget", "1000000", MISBEHAVING, "--", name)
    assert ran.lines == answers
    for sentence in sentences:
        assert sentence in ran.err, ran.err
    assert bool(ran.err) == bool(sentences) and all(re.match(r"kw: |    ", line) for line in ran.err.splitlines())
    assert ran.code == 7, "the program's own"


def test_a_billion_blocks(run: Here) -> None:
    ran = run("--timeout", "0.5", MISBEHAVING, "--", "many-blocks")
    assert ran.lines == ["cudaErrorLaunchTimeout"] and "stopped after 0.5 seconds" in ran.err


@pytest.mark.parametrize(("name", "code", "err"), [("exits", 42, ""), ("crashes", 139, "was ended by SIGSEGV")])
def test_exit_codes(name: str, code: int, err: str, run: Here) -> None:
    ran = run(MISBEHAVING, "--", name)
    assert ran.code == code and err in ran.err and bool(err) == bool(ran.err)


def test_a_kernel_that_never_ends_does_not_outlive_its_program(run: Here) -> None:
    ran = run(MISBEHAVING, "--", "leaves")
    assert (ran.code, ran.out, ran.err) == (7, "", "")
