"""Whole programs as cases: fresh folders, outputs by reader, and every way to fail."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.evaluate.workload.program_case import ProgramCase, ProgramRun, program_case


def python(code: str, outputs: Any, **more: Any) -> ProgramCase:
    return program_case([sys.executable, "-S", "-c", code], outputs, **more)


def arrays(case: ProgramCase) -> dict[str, NDArray[Any]]:
    found = case.run()
    assert isinstance(found, ProgramRun), found
    assert 0 < found.seconds < 60
    return found.arrays


def test_outputs_by_reader(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("5")
    code = (
        "import struct; n = int(open('in.txt').read());"
        "open('out.bin', 'wb').write(struct.pack('<3f', 1, 2, n)); open('raw', 'wb').write(b'ab');"
        "open('in.txt', 'w').write('spoilt'); print('took 3 steps')"
    )
    case = python(code, {"out.bin": "float32", "raw": "bytes", "stdout": "text"}, folder=tmp_path)
    found = arrays(case)
    assert list(found["out.bin"]) == [1, 2, 5] and list(found["raw"]) == [97, 98]
    assert list(found["stdout"]) == [3] and found["stdout (words)"].tobytes() == b"took # steps"
    # The template is never touched, so that the next run sees the same inputs.
    assert (tmp_path / "in.txt").read_text() == "5" and sorted(os.listdir(tmp_path)) == ["in.txt"]
    assert list(arrays(case)["out.bin"]) == [1, 2, 5]


def test_numbers_in_text_are_those_that_stand_alone() -> None:
    said = "sm_90 v1.2.3 x=-1.5e-3, [2] nan -inf 7. .5 abc4 3%"
    found = arrays(python(f"print({said!r})", {"stdout": "text"}))
    np.testing.assert_array_equal(found["stdout"], [-1.5e-3, 2, np.nan, -np.inf, 7, 0.5, 3])
    assert found["stdout (words)"].tobytes() == b"sm_90 v1.2.3 x=#, [#] # # # # abc4 #%"


def halves(path: Path) -> NDArray[Any]:
    return np.fromfile(path, np.float32) / 2


def test_readers_of_the_users_own() -> None:
    code = "import struct; open('o', 'wb').write(struct.pack('<2f', 4, 6))"
    for reader in (halves, f"{__name__}:halves"):
        assert list(arrays(python(code, {"o": reader}))["o"]) == [2, 3]


def test_the_environment_of_a_run() -> None:
    case = python(
        "import os; print(os.environ['ONE'] + os.environ['TWO'])", {"stdout": "text"}, environment={"ONE": "4"}
    )
    found = case.run({"TWO": "2"})
    assert isinstance(found, ProgramRun) and list(found.arrays["stdout"]) == [42]


@pytest.mark.parametrize(
    ("code", "outputs", "stage", "says"),
    [
        ("raise SystemExit('matrix is singular')", {"stdout": "bytes"}, "program", "exit code 1: matrix is singular"),
        ("import os; os.abort()", {"stdout": "bytes"}, "crash", "SIGABRT"),
        ("pass", {"out.bin": "float32"}, "program", "wrote no out.bin"),
        ("open('o', 'wb').write(b'12345')", {"o": "float32"}, "program", "5 bytes are no whole number"),
        ("open('o', 'wb').write(b'1')", {"o": f"{__name__}:no_luck"}, "program", "ZeroDivisionError"),
        ("raise SystemExit(3)", {"stdout": "bytes"}, "program", "exit code 3 and said nothing"),
    ],
)  # fmt: skip
def test_programs_that_fail(code: str, outputs: dict[str, str], stage: str, says: str) -> None:
    found = python(code, outputs).run()
    assert isinstance(found, Rejected) and found.stage == stage and says in found.reason


def no_luck(path: Path) -> NDArray[Any]:
    raise ZeroDivisionError("of course")


def test_an_exit_code_that_is_meant_to_be() -> None:
    arrays(python("raise SystemExit(3)", {"stdout": "bytes"}, exit_code=3))


def test_a_stale_output_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    (tmp_path / "out.bin").write_bytes(bytes(8))
    found = python("pass", {"out.bin": "float32"}, folder=tmp_path).run()
    assert isinstance(found, Rejected) and "wrote no out.bin" in found.reason


def test_time_is_up_for_the_children_too(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    code = (
        f"import os, time\nif os.fork() == 0:\n    time.sleep(1.5); open({str(mark)!r}, 'w').write('x')\ntime.sleep(60)"
    )
    begin = time.monotonic()
    found = python(code, {"stdout": "bytes"}, timeout_s=0.5).run()
    assert isinstance(found, Rejected) and found.stage == "timeout" and time.monotonic() - begin < 5
    time.sleep(1.5)
    assert not mark.exists()


def test_what_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be run"):
        program_case(["./no-such-program"], ["stdout"]).run()
    with pytest.raises(Misuse, match="command line"):
        program_case([], ["stdout"])
    with pytest.raises(Misuse, match="says what"):
        program_case(["true"], [])
    with pytest.raises(Misuse, match="no folder"):
        program_case(["true"], ["stdout"], tmp_path / "nowhere")
    with pytest.raises(Misuse, match="reads no output"):
        program_case(["true"], {"stdout": "floats"})
    with pytest.raises(Misuse, match="no reader"):
        program_case(["true"], {"stdout": "no_such:reader"})


def test_relative_programs_are_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "app"
    script.write_text("#!/bin/sh\necho 12\n")
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert list(arrays(program_case(["./app"], {"stdout": "text"}))["stdout"]) == [12]


def test_the_fingerprint_sees_inputs(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("1")
    case = program_case(["true"], ["stdout"], tmp_path)
    before = case.fingerprint()
    assert before == program_case(["true"], ["stdout"], tmp_path).fingerprint()
    (tmp_path / "in").write_text("2")
    assert case.fingerprint() != before != program_case(["true", "-v"], ["stdout"], tmp_path).fingerprint()
