"""However a run ends, nothing stays behind: no process, no lock, no memory, no file."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .conftest import command, environment, execute

HAS_GPU = Path("/dev/nvidia0").exists()
MARK = "KW_TEST_MARK"
PATIENCE_S = 60.0
"""Nothing here takes so long, but a machine may have much else to do."""


def marked(folder: Path) -> dict[int, tuple[int, str]]:
    """Running processes of the test whose folder this is: number -> parent, command line. They have its mark in their
    environment. Those that only wait to be looked at do not count."""
    found = {}
    mark = f"{MARK}={folder}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if stat[0] != "Z" and mark in (entry / "environ").read_bytes().split(b"\0"):
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(entry.name)] = (int(stat[1]), line)
        except OSError:
            continue
    return found


def workers(folder: Path) -> set[int]:
    """Processes that do the work of a device: those that no other one waits for, and that are not the program."""
    found = marked(folder)
    parents = {parent for parent, _ in found.values()}
    return {n for n, (_, line) in found.items() if n not in parents and "kernelwright" in line}


def left_behind(folder: Path, kw: int = 0) -> list[str]:
    """Processes of the test, the socket of the ``kw`` with that number, and shared memory."""
    sockets = re.findall(rf"@kernelwright-{kw}-\S+", Path("/proc/net/unix").read_text()) if kw else []
    shared = [str(p) for p in Path("/dev/shm").glob("kernelwright*")]
    return [*(line for _, line in marked(folder).values()), *sockets, *shared]


def wait_until(holds: Callable[[], object], seconds: float = PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def nothing_is_left(folder: Path, kw: int = 0) -> None:
    wait_until(lambda: not left_behind(folder, kw))


@pytest.fixture
def program(misbehaving: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy under a short name in the folder of the test."""
    copy = tmp_path / "program"
    copy.write_bytes(misbehaving.read_bytes())
    copy.chmod(0o755)
    yield copy


@contextmanager
def running(*words: str | Path, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that has printed its first line, in a process group of its own."""
    process = subprocess.Popen(
        list(map(str, words)), cwd=cwd, env=environment(**{MARK: str(cwd)}), text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    late = threading.Timer(PATIENCE_S, lambda: [os.kill(n, signal.SIGKILL) for n in marked(cwd)])
    late.start()
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        # Whoever is left holds our pipes: this ends when the last of them has, or has been ended.
        process.communicate()
        was_late = not late.is_alive()
        late.cancel()
    assert not was_late, "something had to be killed"


@pytest.mark.parametrize("part", ["hangs", "waits", "works"])
@pytest.mark.parametrize("to", ["kw", "terminal"])
def test_interrupted(program: Path, part: str, to: str, tmp_path: Path) -> None:
    """In the middle of a kernel, of one that runs on several cores, and outside of one; by a signal to ``kw`` alone, or by Ctrl-C, which reaches all."""
    with running(*command("run", program, "--", part), cwd=tmp_path) as process:
        if part == "works":
            time.sleep(1)  # until it runs on several cores
        (os.kill if to == "kw" else os.killpg)(process.pid, signal.SIGINT)
        assert process.wait(timeout=PATIENCE_S) == 130
    nothing_is_left(tmp_path, process.pid)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_program_that_goes_on_after_a_signal_to_all(program: Path, sent: signal.Signals, tmp_path: Path) -> None:
    """Its worker, which the terminal, timeout(1) and the like signal too, goes on with it."""
    with running(program, "minds", cwd=tmp_path) as process:
        os.killpg(process.pid, sent)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (7, "cudaSuccess\n73\n", "")
    nothing_is_left(tmp_path)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_program_under_kw_run_may_finish_what_it_does(program: Path, sent: signal.Signals, tmp_path: Path) -> None:
    with running(*command("run", program, "--", "minds"), cwd=tmp_path) as process:
        os.killpg(process.pid, sent)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (128 + sent, "cudaSuccess\n73\n", "")
    nothing_is_left(tmp_path, process.pid)


@pytest.mark.slow
def test_a_program_that_does_not_mind_signals(tmp_path: Path) -> None:
    (tmp_path / "stubborn.sh").write_text("#!/bin/bash\ntrap '' INT TERM\necho here\nwhile true; do sleep 0.1; done\n")
    (tmp_path / "stubborn.sh").chmod(0o755)
    with running(*command("run", "./stubborn.sh"), cwd=tmp_path) as process:
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=PATIENCE_S) == 130
    nothing_is_left(tmp_path, process.pid)


@pytest.mark.parametrize("to", ["kw", "all"])
def test_terminated(program: Path, to: str, tmp_path: Path) -> None:
    with running(*command("run", program, "--", "hangs"), cwd=tmp_path) as process:
        (os.kill if to == "kw" else os.killpg)(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, err) == (128 + signal.SIGTERM, "")
    nothing_is_left(tmp_path, process.pid)


@pytest.mark.parametrize("part", ["hangs", "works"])
def test_killed(program: Path, part: str, tmp_path: Path) -> None:
    with running(*command("run", program, "--", part), cwd=tmp_path) as process:
        if part == "works":
            time.sleep(1)  # until it runs on several cores
        process.kill()
        assert process.wait(timeout=PATIENCE_S) == -signal.SIGKILL
    nothing_is_left(tmp_path, process.pid)


def test_killed_while_the_worker_does_not_move(program: Path, tmp_path: Path) -> None:
    """Whatever it waits for: it does not have to find out by itself."""
    with running(*command("run", program, "--", "hangs"), cwd=tmp_path) as process:
        wait_until(lambda: len(workers(tmp_path)) == 1)
        (worker,) = workers(tmp_path)
        os.kill(worker, signal.SIGSTOP)
        process.kill()
        assert process.wait(timeout=PATIENCE_S) == -signal.SIGKILL
        wait_until(lambda: not left_behind(tmp_path, process.pid), 10)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_program_started_by_hand(program: Path, end: signal.Signals, tmp_path: Path) -> None:
    with running(program, "hangs", cwd=tmp_path) as process:
        wait_until(lambda: workers(tmp_path))
        process.send_signal(end)
        assert process.wait(timeout=PATIENCE_S) == -end
    nothing_is_left(tmp_path)


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_worker_that_is_killed(program: Path, by_hand: bool, tmp_path: Path) -> None:
    """The program gets errors, and one sentence says why."""
    words = [program, "hangs"] if by_hand else command("run", program, "--", "hangs")
    with running(*words, cwd=tmp_path) as process:
        time.sleep(0.5)
        (worker,) = workers(tmp_path)
        os.kill(worker, signal.SIGKILL)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 7 and "cudaErrorDevicesUnavailable" in out
    assert "kw: the device worker was ended by SIGKILL; the system kills processes when memory runs out" in err
    assert "every CUDA call fails from here on" in err
    nothing_is_left(tmp_path, 0 if by_hand else process.pid)


def test_memory_of_a_worker_is_limited(tmp_path: Path) -> None:
    """A kernel whose threads need more than the worker may use is refused; the program goes on."""
    (tmp_path / "large.cu").write_text(
        "#include <cstdio>\n__global__ void large(int *x, int n) {\n"
        "int own[1 << 19]; for (int i = 0; i < n; i++) own[i * 7 % n] = i; x[0] = own[n / 2]; }\n"
        "int main() { int *x; cudaMalloc(&x, 1 << 20); large<<<1, 1024>>>(x, 100);\n"
        'printf("%s\\n", cudaGetErrorName(cudaDeviceSynchronize())); printf("%s\\n", cudaGetErrorName(cudaFree(x))); return 5; }\n'
    )
    ran = execute(command("run", "--memory", "2M", "large.cu"), cwd=tmp_path)
    assert (ran.code, ran.lines) == (5, ["cudaErrorMemoryAllocation", "cudaSuccess"])
    assert re.match(r"kw: there is no memory left to run kernel large", ran.err), ran.err


def test_a_worker_that_nobody_asked_for(tmp_path: Path) -> None:
    ran = execute([*command()[:1], "-m", "kernelwright.device.serving.worker"], cwd=tmp_path)
    assert ran.code == 2 and "started by a CUDA program" in ran.err


@pytest.mark.parametrize(
    ("variable", "value", "text"),
    [
        pytest.param(
            "KERNELWRIGHT_DEVICE", "cuda:9", "kw: ", marks=pytest.mark.skipif(HAS_GPU, reason="there is a GPU here")
        ),
        ("KERNELWRIGHT_DEVICE", "h300", "unknown GPU 'h300'"),
        ("KERNELWRIGHT_CORES", "0", "KERNELWRIGHT_CORES=0 is no number of cores"),
        ("KERNELWRIGHT_BUDGET", "much", "KERNELWRIGHT_BUDGET=much is no whole number"),
        ("KERNELWRIGHT_MEMORY", "0", "no amount of memory"),
        ("KERNELWRIGHT_STRICT", "yes", "KERNELWRIGHT_STRICT=yes is neither 0 nor 1"),
    ],
)
def test_bad_settings_of_a_program_started_by_hand(
    program: Path, variable: str, value: str, text: str, tmp_path: Path
) -> None:
    ran = execute([program, "devices"], cwd=tmp_path, **{variable: value})
    assert ran.code == 7 and ran.lines[0] == "cudaErrorNoDevice" and text in ran.err and "Traceback" not in ran.err
