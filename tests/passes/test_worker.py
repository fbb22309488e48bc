"""Compiles in processes of their own: configured once, lost without harm, and equal to compiling here."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from kernelwright.codegen.ptx import emit_ptx
from kernelwright.errors import CompileError, IRError, Misuse, ToolError
from kernelwright.passes import call_fork, isolation, switches, worker
from kernelwright.passes.llvm import binding
from kernelwright.passes.optimise import optimise
from kernelwright.passes.options import DEFAULT, PassOptions
from tests.passes.listing import example

SINE = """
target triple = "nvptx64-nvidia-cuda"
declare double @llvm.sin.f64(double)
define double @f(double %x) {
  %y = call double @llvm.sin.f64(double %x)
  ret double %y
}
"""


def process_id() -> int:
    return os.getpid()


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def shout() -> str:
    os.write(1, b"LLVM prints to standard output\n")
    print("and Python does too", flush=True)
    return "unharmed"


def complain() -> None:
    os.write(2, b"LLVM ERROR: of an earlier call\n")


def bug() -> None:
    raise ZeroDivisionError("in the worker")


@pytest.fixture(params=["fork", "process"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of isolating a call."""
    if request.param == "process":
        monkeypatch.setattr(call_fork, "possible", lambda: False)
    else:
        binding()
        assert call_fork.possible()
    return str(request.param)


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_fork, "possible", lambda: False)


def isolated(function: object, *args: object, timeout_s: float = 60.0) -> object:
    return isolation.run(function, *args, options=DEFAULT, isolate=True, timeout_s=timeout_s)  # type: ignore[arg-type]


@pytest.mark.usefixtures("kind")
def test_a_worker_gives_what_compiling_here_gives() -> None:
    text = example("figure6")
    assert optimise(text, isolate=True) == optimise(text)
    best = optimise(text)
    assert emit_ptx(best, isolate=True) == emit_ptx(best)


def test_default_options_stay_here_and_others_go_to_a_process_that_stays() -> None:
    assert isolation.run(process_id, options=DEFAULT) == os.getpid()
    some, more = PassOptions.of(3, ["slsr"]), PassOptions.of(3, ["slsr", "gra"])
    first = isolation.run(process_id, options=some)
    assert first != os.getpid()
    assert isolation.run(process_id, options=some) == first
    assert isolation.run(process_id, options=more) not in (first, os.getpid())
    # Level and bypass need no process of their own.
    assert isolation.run(process_id, options=PassOptions.of(1, ["slsr", "bypass"])) == first


def test_ablation_works_after_this_process_has_compiled() -> None:
    """And after the ablation, everything is as before."""
    optimise(example("figure5a"))
    lean = PassOptions.of(3, ["slsr", "gra"])
    before = emit_ptx(example("figure5a"), "sm_80")
    assert len(re.findall(r"(mul|mad)\.lo", emit_ptx(example("figure5a"), "sm_80", lean))) == 2
    assert len(re.findall(r"(mul|mad)\.lo", before)) == 1
    assert emit_ptx(example("figure5a"), "sm_80") == before


@pytest.mark.usefixtures("kind")
def test_llvm_giving_up_is_a_compile_error_and_the_next_call_works() -> None:
    with pytest.raises(CompileError, match=r"Cannot select: .*fsin"):
        emit_ptx(SINE, "sm_80", isolate=True)
    assert ".visible .entry" in emit_ptx(optimise(example("figure7")), isolate=True)


@pytest.mark.usefixtures("kind")
def test_a_crash_names_the_signal() -> None:
    with pytest.raises(ToolError, match="SIGSEGV"):
        isolated(kill_myself)
    assert isolated(process_id) != os.getpid()


@pytest.mark.usefixtures("kind")
def test_a_crash_is_not_explained_by_an_earlier_call() -> None:
    isolated(complain)
    with pytest.raises(ToolError, match="SIGSEGV") as error:
        isolated(kill_myself)
    assert "earlier" not in str(error.value)


@pytest.mark.usefixtures("kind")
def test_too_slow_is_stopped() -> None:
    begin = time.monotonic()
    with pytest.raises(ToolError, match=r"longer than 0\.5 s"):
        isolated(sleep, 30, timeout_s=0.5)
    assert time.monotonic() - begin < 10
    assert isolated(process_id) != os.getpid()


@pytest.mark.usefixtures("process")
def test_a_worker_killed_between_calls_is_replaced() -> None:
    before = isolated(process_id)
    assert isinstance(before, int)
    os.kill(before, signal.SIGKILL)
    time.sleep(0.1)
    assert isolated(process_id) not in (before, os.getpid())


@pytest.mark.usefixtures("kind")
def test_prints_do_not_disturb_the_protocol() -> None:
    assert isolated(shout) == "unharmed"


@pytest.mark.usefixtures("kind")
def test_errors_arrive_with_place_and_hint() -> None:
    with pytest.raises(IRError) as error:
        optimise("define void @f() {\n  ret i32 %x\n}", isolate=True)
    assert error.value.place is not None and error.value.place.line == 2
    with pytest.raises(ToolError, match="ZeroDivisionError: in the worker"):
        isolated(bug)


@pytest.mark.usefixtures("process")
def test_threads_share_a_worker_in_turn() -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(isolated(process_id))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(found)) == 1


def test_only_so_many_stay_resident() -> None:
    for n in range(worker.RESIDENT + 2):
        worker.worker(PassOptions.of(3, thresholds={"inline": n}))
    assert len(worker._resident) == worker.RESIDENT
    worker.close_all()
    assert worker._resident == {}


def test_a_worker_ends_with_its_caller() -> None:
    """Even while it is busy, and even when the caller had no chance to close it."""
    code = (
        "import os, sys, threading, time\n"
        "from kernelwright.passes import isolation\n"
        "from kernelwright.passes.options import DEFAULT\n"
        "from tests.passes.test_worker import process_id, sleep\n"
        "print(isolation.run(process_id, options=DEFAULT, isolate=True), flush=True)\n"
        "threading.Thread(target=lambda: isolation.run(sleep, 60, options=DEFAULT, isolate=True)).start()\n"
        "time.sleep(0.2); os.kill(os.getpid(), 9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    child = int(done.stdout)
    for _ in range(50):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the worker outlived its caller")


def refused(switch: str) -> str:
    """What a fresh process says to a switch, after ``optimise`` has run in it when the switch starts with ``late``."""
    try:
        if switch.startswith("late "):
            optimise(example("figure7"))
        switches.apply((switch.removeprefix("late "),))
    except ToolError as error:
        return error.message
    return "taken"


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("switch", "said"),
    [
        ("-opt-disable=slsr", "taken"),
        ("-opt-disable=slsr,slrs", "LLVM did not switch off slrs"),
        ("late -opt-disable=slsr", "taken"),
        ("-unroll-threshold=5", "taken"),
        ("-unrol-threshold=5", "this LLVM has no option -unrol-threshold"),
        ("-disable-lsr", "taken"),
    ],
)
def test_llvm_must_confirm_what_it_is_told(switch: str, said: str) -> None:
    worker.close_all()
    assert isolated(refused, switch) == said
    worker.close_all()


def test_a_refused_configuration_is_refused_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "process_switches", lambda options: ("-no-such-option=1",))
    for _ in range(2):
        with pytest.raises(ToolError, match="no option -no-such-option"):
            isolation.run(process_id, options=PassOptions.of(3, ["slsr"]))


@pytest.mark.usefixtures("kind")
def test_misuse_crosses_unchanged() -> None:
    with pytest.raises(Misuse, match="unknown architecture"):
        optimise(example("figure7"), arch="sm_1", isolate=True)


@pytest.mark.usefixtures("process")
def test_the_next_call_uses_the_process_that_was_started() -> None:
    worker.close_all()
    worker.worker(DEFAULT)
    (started,) = worker._resident.values()
    assert isolated(process_id) == started._process.pid


def test_a_fork_is_a_copy_that_leaves_nothing_behind() -> None:
    binding()
    seen: list[int] = []

    def remember() -> int:
        seen.append(1)
        return os.getpid()

    child = call_fork.call(remember, (), 60.0)
    assert child != os.getpid() and seen == []
    with pytest.raises(ChildProcessError):
        os.waitpid(child, os.WNOHANG)


def test_other_threads_forbid_the_fork() -> None:
    binding()
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait)
    thread.start()
    try:
        assert not call_fork.possible()
    finally:
        gate.set()
        thread.join()
    assert call_fork.possible()


def test_a_result_larger_than_a_pipe_arrives() -> None:
    assert len(call_fork.call(bytes, (5_000_000,), 60.0)) == 5_000_000
