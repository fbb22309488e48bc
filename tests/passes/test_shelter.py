"""A command in a copy of its process: whatever ends the copy, the original says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

START = """
import os, sys, time, signal
from kernelwright.passes import command_fork
from kernelwright.passes.isolation import run
from kernelwright.passes.options import DEFAULT
ended = command_fork.take()
if isinstance(ended, int):
    os._exit(ended)
if ended is not None:
    print(type(ended).__name__, ended, flush=True)
    os._exit(ended.exit_code)
"""


def begin(body: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", START + body], stdout=pipe, stderr=pipe, text=True)


def result(body: str) -> tuple[int, str, str]:
    running = begin(body)
    out, err = running.communicate(timeout=60)
    return running.returncode, out, err


def test_the_exit_code_is_the_copys() -> None:
    assert result("os._exit(7)") == (7, "", "")
    assert result("print('done'); sys.exit(0)") == (0, "done\n", "")


def test_a_call_is_made_here_and_what_it_prints_is_kept_back() -> None:
    body = """
def speak():
    print("loud"); os.write(2, b"LLVM warns\\n"); return os.getpid()
print(run(speak, options=DEFAULT, isolate=True) == os.getpid(), os.getppid() != os.getpid())
os.write(2, b"after\\n")
sys.exit(3)
"""
    assert result(body) == (3, "True True\n", "after\n")


@pytest.mark.parametrize(
    ("act", "code", "said"),
    [
        (
            "os.kill(os.getpid(), signal.SIGSEGV)",
            3,
            "ToolError the compile process ended by signal SIGSEGV: without a word",
        ),
        (
            "os.write(2, b'LLVM ERROR: Cannot select: x\\n'); os.abort()",
            2,
            "CompileError LLVM cannot compile this module: Cannot",
        ),
        (
            "os.write(2, b'LLVM ERROR: Cannot select: x\\n'); os._exit(1)",
            2,
            "CompileError LLVM cannot compile this module: Cannot",
        ),
        ("os._exit(0)", 3, "ToolError the compile process ended by exit status 0"),
    ],
)
def test_llvm_ends_the_process(act: str, code: int, said: str) -> None:
    status, out, err = result(f"run(lambda: {act.replace('; ', ' and 0 or ')}, options=DEFAULT, isolate=True)\n")
    assert (status, err) == (code, "")
    assert out.startswith(said)


def test_an_end_outside_of_a_call_is_passed_on() -> None:
    assert result("run(lambda: 1, options=DEFAULT, isolate=True)\nos._exit(9)")[0] == 9


def test_too_slow() -> None:
    status, out, _ = result("run(lambda: time.sleep(30), options=DEFAULT, isolate=True, timeout_s=1)")
    assert status == 3
    assert out.startswith("ToolError LLVM took longer than")


def test_an_error_comes_back_and_the_next_call_works() -> None:
    body = """
from kernelwright.errors import IRError
def fail(): raise IRError("no IR")
try:
    run(fail, options=DEFAULT, isolate=True)
except IRError as error:
    print(error)
print(run(lambda: 5, options=DEFAULT, isolate=True), flush=True)
os._exit(0)
"""
    assert result(body) == (0, "no IR\n5\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("at_work", [True, False])
def test_signals_are_passed_on(number: signal.Signals, at_work: bool, tmp_path: Path) -> None:
    """Python's handlers would not run while LLVM is at work."""
    ready = tmp_path / "ready"
    wait = f"open({str(ready)!r}, 'w').close(); time.sleep(30)"
    handle = "signal.signal(signal.SIGTERM, lambda *_: os._exit(143)); signal.signal(signal.SIGHUP, lambda *_: os._exit(129))\n"
    work = f"def work():\n    {wait}\nrun(work, options=DEFAULT, isolate=True)\n"
    rest = f"try:\n    {wait}\nexcept KeyboardInterrupt:\n    os._exit(130)\n"
    running = begin(handle + (work if at_work else rest))
    while not ready.exists():
        assert running.poll() is None, "it ended before it was ready"
        time.sleep(0.01)
    running.send_signal(number)
    assert running.wait(timeout=10) == 128 + number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_right_after_the_copy_is_made_is_passed_on(number: signal.Signals, tmp_path: Path) -> None:
    """On a busy machine the copy may be far along before the original goes on."""
    ready = tmp_path / "ready"
    late = """
import os, time
fork = os.fork
def slow_fork():
    child = fork()
    time.sleep(0.4 if child else 0)
    return child
os.fork = slow_fork
"""
    handle = "signal.signal(signal.SIGTERM, lambda *_: os._exit(143))\n"
    wait = (
        f"try:\n    open({str(ready)!r}, 'w').close(); time.sleep(30)\nexcept KeyboardInterrupt:\n    os._exit(130)\n"
    )
    running = subprocess.Popen([sys.executable, "-c", late + START + handle + wait], stderr=subprocess.DEVNULL)
    while not ready.exists():
        assert running.poll() is None, "it ended before it was ready"
        time.sleep(0.01)
    running.send_signal(number)
    assert running.wait(timeout=10) == 128 + number


def test_an_ignored_hangup_stays_ignored() -> None:
    body = "run(lambda: os.kill(os.getpid(), signal.SIGHUP), options=DEFAULT, isolate=True)\nprint('on', flush=True)\nos._exit(0)\n"
    running = subprocess.run(
        ["bash", "-c", f"trap '' HUP; exec {sys.executable} -c \"$0\"", START + body], capture_output=True, text=True
    )
    assert (running.returncode, running.stdout) == (0, "on\n")


def test_nobody_is_left_who_asked(tmp_path: Path) -> None:
    """The original is killed while LLVM is at work: the copy ends with the call, and writes nothing."""
    ready, written = tmp_path / "ready", tmp_path / "written"
    body = f"""
def work():
    open({str(ready)!r}, "w").write(str(os.getpid()))
    time.sleep(0.5)
run(work, options=DEFAULT, isolate=True)
open({str(written)!r}, "w").close()
"""
    running = begin(body)
    while not ready.exists() or not ready.read_text():
        time.sleep(0.01)
    copy = int(ready.read_text())
    running.kill()
    running.wait()
    for _ in range(200):
        try:
            os.kill(copy, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    assert not written.exists()
