"""``kw check`` as a command: its streams, exit codes, and what is wrong with the question."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kernelwright.cache import write_atomically
from tests.check.conftest import HERE, check, kw

RACE = HERE / "planted" / "race_shared_inter_warp.cu"

SEVERAL = """
#include <cstdio>
__global__ void first(int *p) { p[threadIdx.x] += threadIdx.x; }
__global__ void second(int *p) { p[threadIdx.x + 1] = p[threadIdx.x]; }
int main(int count, char **words)
{
    int *p;
    cudaMalloc(&p, 33 * sizeof(int));
    for (int i = 0; i < 3; i++) {
        first<<<1, 32>>>(p);
        second<<<1, 32>>>(p);
    }
    printf("%s %d\\n", count > 1 ? words[1] : "-", (int)cudaDeviceSynchronize());
    return 5;
}
"""


def test_the_program_goes_on_and_findings_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "several.cu").write_text(SEVERAL)
    done = kw("check", "several.cu", "--", "word", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == "word 0\n", "standard output is the program's own"
    assert done.stderr.count(": uninitialised: ") == 1 and done.stderr.count(": race: ") == 1
    assert "several.cu:3" in done.stderr and "several.cu:4" in done.stderr and "(32 times)" in done.stderr
    assert "what helps: " in done.stderr and "the program ended with exit code 5" in done.stderr
    assert "2 findings in 6 launches" in done.stderr


HALF = """
#include <cstdio>
__global__ void evens(int *p) { p[2 * threadIdx.x] = 1; }
int main()
{
    int *p, *q, given[64] = {};
    cudaMalloc(&p, 64 * sizeof(int));
    cudaMalloc(&q, 64 * sizeof(int));
    cudaMemcpy(q, given, sizeof given, cudaMemcpyHostToDevice);
    evens<<<1, 32>>>(p);
    cudaMemcpy(given, q, sizeof given, cudaMemcpyDeviceToHost);
    cudaMemcpy(given, p, sizeof given, cudaMemcpyDeviceToHost);
    printf("%d\\n", given[0]);
}
"""


@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_unwritten_bytes_in_a_copy_to_the_host_are_a_note(strict: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "half.cu").write_text(HALF)
    done = kw("check", *strict, "half.cu", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "note: uninitialised: 128 of 256 bytes that are copied to the host were never written" in done.stderr
    assert "nothing found (1 benign) in 1 launch" in done.stderr


POLLING = """
__device__ volatile int partial[64];
__global__ void all_read_all(int *out)
{
    partial[blockIdx.x] = 1;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++)
        sum += partial[i];
    out[0] = sum;
}
int main()
{
    int *out;
    cudaMalloc(&out, sizeof(int));
    all_read_all<<<32, 256>>>(out);
    cudaDeviceSynchronize();
}
"""


def test_many_threads_that_poll_are_followed_as_far_as_it_goes(tmp_path: Path) -> None:
    """Who knows what of whom grows with the square of the polls: followed to its end, this took hours."""
    (tmp_path / "polling.cu").write_text(POLLING)
    done = kw("check", "polling.cu", cwd=tmp_path)
    assert "all_read_all" in done.stderr and "does more than is followed" in done.stderr


def test_json_leaves_the_programs_output_on_standard_error() -> None:
    done = check(HERE / "planted" / "async_managed.cu")
    assert done.stderr.startswith(("5\n", "-842150451\n", "0\n")), done.stderr


def test_schedules_repeat_with_their_seed() -> None:
    path = HERE / "planted" / "order_first_come.cu"
    once, again, other = (check(path, "--schedules", "3", "--seed", seed).findings for seed in ("1", "1", "2"))
    assert once == again != other
    assert "element 0" in once[0]["message"] and "random(1)" in once[0]["message"] and "out" in once[0]["buffer"]


def test_without_schedules_orders_are_not_tried() -> None:
    assert check(HERE / "planted" / "order_first_come.cu").findings == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--schedules", "many"], "--schedules many is no number"),
        (["--schedules", "-3"], "--schedules"),
        (["--seed", "x"], "--seed x is no number"),
        (["--device", "z80"], "z80"),
    ],
)
def test_misuse(arguments: list[str], says: str) -> None:
    done = kw("check", *arguments, str(RACE))
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr


def test_no_program_and_programs_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "broken.cu").write_text("int main() { return }\n")
    (tmp_path / "text.txt").write_text("hello\n")
    for name, code in (("nothing.cu", 2), ("broken.cu", 2), ("text.txt", 2)):
        done = kw("check", name, cwd=tmp_path)
        assert done.returncode in (1, code) and name in done.stderr and "Traceback" not in done.stderr


def test_a_kernel_that_never_ends_is_a_finding(tmp_path: Path) -> None:
    source = "__global__ void wait(volatile int *flag) { while (*flag == 0) ; }\n"
    source += (
        "int main() { int *f; cudaMalloc(&f, 4); cudaMemset(f, 0, 4); wait<<<1, 1>>>(f); cudaDeviceSynchronize(); }\n"
    )
    (tmp_path / "endless.cu").write_text(source)
    (found,) = check(tmp_path / "endless.cu", "--budget", "1000").findings
    assert (found["kind"], found["kernel"], found["line"]) == ("launch", "wait", 1) and "does not end" in found[
        "message"
    ]


def test_equal_values_beside_a_defect_are_no_note() -> None:
    """Lanes that all lose an update write one value; that does not make it harmless."""
    done = check(HERE / "planted" / "race_lost_update.cu")
    assert [f["kind"] for f in done.findings] == ["race"] and done.notes == []


WORK_LIST = (HERE / "sound" / "work_list.cu").read_text()


def test_a_permuted_list_is_a_note_where_the_program_gives_the_same(tmp_path: Path) -> None:
    """Also where it prints how long it took, which is another text each time."""
    timed = WORK_LIST.replace("#include <cstdio>", "#include <chrono>\n#include <cstdio>").replace(
        "    return 0;\n",
        '    printf("%lld ns\\n", (long long)std::chrono::steady_clock::now().time_since_epoch().count());\n    return 0;\n',
    )
    (tmp_path / "timed.cu").write_text(timed)
    done = check(tmp_path / "timed.cu", "--schedules", "4")
    assert done.exit_code == 0 and done.findings == [], done.stderr
    assert {(f["kind"], f["also"]["line"]) for f in done.notes} == {("order-dependent", 12)}
    assert all("gives the same in other orders" in f["message"] for f in done.notes)


def test_a_permuted_list_is_a_finding_where_it_shows(tmp_path: Path) -> None:
    """The sum weights nodes by their place in the last list."""
    shown = WORK_LIST.replace(
        "    long sum = 0;\n",
        "    int last[n];\n    cudaMemcpy(last, next, sizeof last, cudaMemcpyDeviceToHost);\n    long sum = 0;\n"
        "    for (int i = 0; i < 20; i++)\n        sum += last[i] * (i + 1);\n",
    )
    assert shown != WORK_LIST
    (tmp_path / "shown.cu").write_text(shown)
    done = check(tmp_path / "shown.cu", "--schedules", "4")
    assert done.exit_code == 1 and {f["kind"] for f in done.findings} == {"order-dependent"}, done.stderr
    assert all("atomics in line 11 and 12" in f["message"] for f in done.findings)


def test_two_checks_of_one_source_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Each puts the program into the cache again while others run it."""
    (tmp_path / "several.cu").write_text(SEVERAL)
    assert kw("check", "several.cu", cwd=tmp_path).returncode == 1
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: kw("check", "several.cu", cwd=tmp_path), range(12)))
    assert {(one.returncode, one.stderr.count("2 findings in 6 launches")) for one in done} == {(1, 1)}


def test_a_recalled_program_can_be_run_from_the_moment_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = []
    replaced = os.replace

    def replace(old: str, new: str) -> None:
        modes.append(os.stat(old).st_mode & 0o111)
        replaced(old, new)

    monkeypatch.setattr(os, "replace", replace)
    write_atomically(tmp_path / "app", b"\x7fELF", executable=True)
    write_atomically(tmp_path / "text", b"text")
    assert modes == [0o111, 0]
