"""However a run ends, nothing stays behind: no process, no lock, no memory, no file."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .conftest import command, environment, execute

# Programs that are killed and interrupted in every way: they take long on a busy machine.
pytestmark = pytest.mark.slow

HAS_GPU = Path("/dev/nvidia0").exists()


def processes() -> dict[int, tuple[int, str]]:
    """Running processes: number -> parent, command line. Those that only wait to be looked at do not count."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if stat[0] != "Z":
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(entry.name)] = (int(stat[1]), line)
        except OSError:
            continue
    return found


def below(root: int) -> set[int]:
    """The processes that descend from ``root``."""
    parents = {number: parent for number, (parent, _) in processes().items()}
    found: set[int] = set()
    while more := {n for n, p in parents.items() if (p == root or p in found) and n not in found}:
        found |= more
    return found


def left_behind(program: Path) -> list[str]:
    """Command lines of processes of the program, its sockets, and shared memory."""
    alive = [
        line for _, line in processes().values() if str(program) in line or "kernelwright.device.serving.worker" in line
    ]
    sockets = re.findall(r"@kernelwright-\S+", Path("/proc/net/unix").read_text())
    shared = [str(p) for p in Path("/dev/shm").glob("kernelwright*")]
    return [*alive, *sockets, *shared]


def wait_until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


@pytest.fixture
def program(misbehaving: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy under a name of its own, so that its processes can be told from others'."""
    copy = tmp_path / f"misbehaving-{os.getpid()}-{time.monotonic_ns()}"
    copy.write_bytes(misbehaving.read_bytes())
    copy.chmod(0o755)
    yield copy


@contextmanager
def running(*words: str | Path, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that has printed its first line, in a process group of its own."""
    process = subprocess.Popen(
        list(map(str, words)), cwd=cwd, env=environment(), text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("part", ["hangs", "waits"])
@pytest.mark.parametrize("to", ["kw", "terminal"])
def test_interrupted(program: Path, part: str, to: str, tmp_path: Path) -> None:
    """In the middle of a kernel and outside of one; by a signal to ``kw`` alone, or by Ctrl-C, which reaches all."""
    with running(*command("run", program, "--", part), cwd=tmp_path) as process:
        (os.kill if to == "kw" else os.killpg)(process.pid, signal.SIGINT)
        assert process.wait(timeout=10) == 130
    wait_until(lambda: not left_behind(program))


def test_a_program_that_goes_on_after_ctrl_c(program: Path, tmp_path: Path) -> None:
    """Its worker, which the terminal signals too, goes on with it."""
    with running(program, "minds", cwd=tmp_path) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err) == (7, "cudaSuccess\n73\n", "")


def test_a_program_that_does_not_mind_signals(tmp_path: Path) -> None:
    (tmp_path / "stubborn.sh").write_text("#!/bin/bash\ntrap '' INT TERM\necho here\nwhile true; do sleep 0.1; done\n")
    (tmp_path / "stubborn.sh").chmod(0o755)
    with running(*command("run", "./stubborn.sh"), cwd=tmp_path) as process:
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=15) == 130
    wait_until(lambda: not left_behind(tmp_path / "stubborn.sh"))


def test_terminated(program: Path, tmp_path: Path) -> None:
    with running(*command("run", program, "--", "hangs"), cwd=tmp_path) as process:
        process.terminate()
        assert process.wait(timeout=10) == 128 + signal.SIGTERM
    wait_until(lambda: not left_behind(program))


def test_killed(program: Path, tmp_path: Path) -> None:
    with running(*command("run", program, "--", "hangs"), cwd=tmp_path) as process:
        process.kill()
        assert process.wait(timeout=10) == -signal.SIGKILL
    wait_until(lambda: not left_behind(program))


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_program_started_by_hand(program: Path, end: signal.Signals, tmp_path: Path) -> None:
    with running(program, "hangs", cwd=tmp_path) as process:
        wait_until(lambda: any("serving.worker" in line for _, line in processes().values()))
        process.send_signal(end)
        assert process.wait(timeout=10) == -end
    wait_until(lambda: not left_behind(program))


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_worker_that_is_killed(program: Path, by_hand: bool, tmp_path: Path) -> None:
    """The program gets errors, and one sentence says why."""
    words = [program, "hangs"] if by_hand else command("run", program, "--", "hangs")
    with running(*words, cwd=tmp_path) as process:
        time.sleep(0.5)
        if by_hand:
            # The one that works is the child of the one that was started.
            started = {
                n: parent for n, (parent, line) in processes().items() if "kernelwright.device.serving.worker" in line
            }
            (worker,) = started.keys() - started.values()
        else:
            (worker,) = [
                n for n in below(process.pid) if str(program) not in processes()[n][1].split("kernelwright run")[0]
            ]
        os.kill(worker, signal.SIGKILL)
        out, err = process.communicate(timeout=10)
    assert process.returncode == 7 and "cudaErrorDevicesUnavailable" in out
    assert "kw: the device worker was ended by SIGKILL; the system kills processes when memory runs out" in err
    assert "every CUDA call fails from here on" in err
    wait_until(lambda: not left_behind(program))


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
        ("KERNELWRIGHT_BUDGET", "much", "KERNELWRIGHT_BUDGET=much is no whole number"),
        ("KERNELWRIGHT_MEMORY", "0", "no amount of memory"),
    ],
)
def test_bad_settings_of_a_program_started_by_hand(
    program: Path, variable: str, value: str, text: str, tmp_path: Path
) -> None:
    ran = execute([program, "devices"], cwd=tmp_path, **{variable: value})
    assert ran.code == 7 and ran.lines[0] == "cudaErrorNoDevice" and text in ran.err and "Traceback" not in ran.err
