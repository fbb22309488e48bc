"""Cases in Python: one launch, several, and a host program; inputs stay as they are, outputs have names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.device.arena import Arena
from kernelwright.device.reference import execute_reference
from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.case_runner import Argument, Runner, Stopped, by_kernel
from kernelwright.evaluate.workload.case import Case, Launcher, Output, Step
from tests.evaluate import kernels

IN = np.arange(8, dtype=np.float32)


def run(case: Case, kernel: str = "scale", launches: int = 100) -> Output:
    with Arena() as arena:
        return case.run(Runner(by_kernel(kernels.module()), execute_reference, arena, launches=launches), kernel)


def test_one_launch() -> None:
    out = np.zeros(8, np.float32)
    found = run(Case((2,), (4,), (IN, out, 3.0, 7)))
    assert list(found.arrays) == ["argument 0", "argument 1"]
    assert np.array_equal(found.arrays["argument 1"], [0, 3, 6, 9, 12, 15, 18, 0])
    assert not out.any() and np.array_equal(IN, np.arange(8))
    assert np.array_equal(found.before["argument 1"], np.zeros(8)) and np.array_equal(found.inputs["argument 0"], IN)


def test_names_and_shapes_are_the_users() -> None:
    arguments: dict[str, Argument] = {
        "in": IN.reshape(2, 4),
        "out": np.ones((2, 4), np.float32),
        "factor": np.float32(2),
        "n": np.int32(8),
    }
    found = run(Case((1,), (8,), arguments))
    assert np.array_equal(found.arrays["out"], 2 * IN.reshape(2, 4))
    assert found.before["out"].shape == (2, 4)


def test_several_launches_share_their_arrays() -> None:
    values = np.arange(4, dtype=np.int32)
    steps = tuple(Step((1,), (4,), {"values": values, "step": s}, kernel="add") for s in (10, 100))
    found = run(Case(launches=steps), kernel="")
    assert list(found.arrays) == ["values"]
    assert np.array_equal(found.arrays["values"], [110, 111, 112, 113])


def test_two_arrays_of_one_name_are_told_apart() -> None:
    one, two = np.zeros(4, np.int32), np.ones(4, np.int32)
    found = run(Case(launches=tuple(Step((1,), (4,), (a, 1), kernel="add") for a in (one, two))))
    assert {n: int(a[0]) for n, a in found.arrays.items()} == {"argument 0": 1, "add argument 0": 2}


def test_a_host_program_sees_results_between_launches() -> None:
    def host(launch: Launcher) -> Mapping[str, NDArray[Any]]:
        values, rounds = np.array([1, 2, 3, 4], np.int32), 0
        while values[0] < 100:
            values[1] = 7  # the host writes, too
            launch("add", 1, 4, values, int(values[0]))  # doubles the first
            rounds += 1
        return {"values": values, "rounds": np.array(rounds)}

    found = run(Case(host=host))
    assert list(found.arrays["values"]) == [128, 7 + 64, 3 + 127, 4 + 127] and found.arrays["rounds"] == 7
    assert list(found.before["values"]) == [1, 7, 3, 4]
    # Nothing was changed for the next run.
    assert list(run(Case(host=host)).arrays["values"]) == [128, 71, 130, 131]


def test_a_host_program_that_fails_or_never_ends() -> None:
    def lost(launch: Launcher) -> Mapping[str, NDArray[Any]]:
        values = np.zeros(4, np.int32)
        launch("add", 1, 4, values, 5)
        return {"found": values[values[0] :][:1] / np.zeros(0)[0]}

    def endless(launch: Launcher) -> Mapping[str, NDArray[Any]]:
        while True:
            launch("add", 1, 4, np.zeros(4, np.int32), 5)

    with pytest.raises(Stopped, match="program: its host program fails: IndexError"):
        run(Case(host=lost))
    with pytest.raises(Stopped, match="timeout: the host launched more than 20"):
        run(Case(host=endless), launches=20)


def test_null_pointers() -> None:
    with pytest.raises(Stopped, match="out-of-bounds"):
        run(Case((1,), (4,), (None, 1)), "add")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Case(),
        lambda: Case((1,), (1,), launches=(Step((1,), (1,), ()),)),
        lambda: Case((1,), (1,), host=lambda launch: {}),
    ],
)
def test_a_case_states_its_run_once(make: Any) -> None:
    with pytest.raises(Misuse, match="once"):
        make()


def test_arrays_a_device_cannot_take_in_place() -> None:
    def host(launch: Launcher) -> Mapping[str, NDArray[Any]]:
        launch("add", 1, 4, np.zeros(8, np.int32)[::2], 5)
        return {}

    with pytest.raises(Misuse, match="not contiguous"):
        run(Case(host=host))
    # In a case that is data, arrays are copied anyway.
    assert run(Case((1,), (4,), (np.arange(8, dtype=np.int32)[::2], 1)), "add").arrays["argument 0"][1] == 3


def test_fingerprints_tell_cases_apart() -> None:
    out, other = np.zeros(8, np.float32), np.zeros(8, np.float32)
    cases = [
        Case((2,), (4,), (IN, out, 3.0, 7)),
        Case((1,), (4,), (IN, out, 3.0, 7)),
        Case((2,), (4,), (IN, out, 3.0, 8)),
        Case((2,), (4,), (IN + 1, out, 3.0, 7)),
        Case((2,), (4,), (IN, out, 3.0, 7), shared_bytes=4),
        Case((2,), (4,), (IN.astype("f8"), out, 3.0, 7)),
        Case((2,), (4,), (out, out, 3.0, 7)),
        Case((2,), (4,), (out, other, 3.0, 7)),
    ]
    assert len({case.fingerprint() for case in cases}) == len(cases)
    assert cases[0].fingerprint() == Case((2,), (4,), (IN.copy(), other, 3.0, 7)).fingerprint()
