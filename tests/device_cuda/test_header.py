"""The C header of an export, compiled and run against a stand-in for the driver: which code it loads, which kernel it launches."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.guards import Apart, ArgumentIs, AtStart, BlockIs, BlockIsWarp, GridIs, Guard
from kernelwright.launch_relations import Divisible, Product, Relation, quantity
from kernelwright.stories.c_header import HeaderKernel, HeaderVersion, Images, c_header
from kernelwright.stories.export import export

from .conftest import Fake

PROGRAM = """
#include "kernel.h"
int main(int argc, char **argv)
{
    CUdeviceptr p, other;
    int n = atoi(argv[1]), passes = argc - 2 + 5;
    (void)passes;
    struct PREFIX_counts counts = {0};
    cuMemAlloc(&p, 4 * 500);
    cuMemAlloc(&other, 4 * 500);
    memset((void *)p, 0, 4 * 500);
    CUfunction original = NULL;
    CUmodule module;
    if (getenv("OWN") && !cuModuleLoadDataEx(&module, "MODULE of the program", 0, NULL, NULL))
        cuModuleGetFunction(&original, module, "PREFIX");
    void *arguments[] = {&p, ARGUMENTS};
    for (int k = 0; k < 3; k++) {
        CUresult result = PREFIX_launch(original, 8, 1, 1, 64, 1, 1, 0, NULL, arguments, &counts);
        if (result) printf("error %d\\n", (int)result);
    }
    printf("%g\\n", *(float *)p);
    PREFIX_report(&counts, stdout);
    return 0;
}
"""


def headers() -> Path:
    found = importlib.util.find_spec("nvidia.cuda_runtime") or pytest.skip("needs NVIDIA's cuda.h")
    assert found.submodule_search_locations is not None
    return Path(next(iter(found.submodule_search_locations))) / "include"


Build = Callable[..., list[str]]


@pytest.fixture
def build(library: Path, tmp_path: Path, fake: Fake) -> Build:
    """Compiles a program with a header, unless it was the last one, and runs it; returns what it printed. ``more``: words that follow n."""
    import ziglang

    zig = Path(ziglang.__file__).parent / "zig"

    last: list[tuple[str, ...]] = []

    def go(
        header: str, n: int = 500, prefix: str = "add_one", arguments: str = "&n", language: str = "c", more: str = ""
    ) -> list[str]:
        if last[-1:] != [(header, prefix, arguments, language)]:
            compiled(header, prefix, arguments, language)
        done = subprocess.run(
            [tmp_path / "app", str(n), *more.split()], capture_output=True, text=True, timeout=60, env={**os.environ}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def compiled(header: str, prefix: str, arguments: str, language: str) -> None:
        last.append((header, prefix, arguments, language))
        (tmp_path / "kernel.h").write_text(header)
        source = tmp_path / f"program.{language}"
        source.write_text(PROGRAM.replace("PREFIX", prefix).replace("ARGUMENTS", arguments))
        compiler = [zig, "cc"] if language == "c" else [zig, "c++", "-std=c++11"]
        command = [
            *compiler,
            "-Wall",
            "-Werror",
            "-Wno-unused-value",
            f"-I{headers()}",
            source,
            library / "libcuda.so.1",
            "-o",
            tmp_path / "app",
        ]
        subprocess.run(list(map(str, command)), check=True, cwd=tmp_path)

    return go


ORIGINAL = Images({"sm_75": "MODULE original"}, {})
VARIANT = Images({"sm_75": "MODULE WRONG old", "sm_80": "MODULE WRONG new", "sm_100": "BAD"}, {})


TAKES = ((0, 8), (8, 4))
"""The parameters that the stand-in's kernels have."""


def header(
    guards: tuple[Guard, ...] = (),
    variant: Images = VARIANT,
    original: Images = ORIGINAL,
    takes: tuple[tuple[int, int], ...] = TAKES,
) -> str:
    tests = tuple((guard.as_c(), str(guard)) for guard in guards)
    version = HeaderVersion("adding-1:v2", "clean", tests, variant)
    return c_header(HeaderKernel("add_one", "add_one", (0,), takes, (version,)), original, "kernel")


HOLD: tuple[Guard, ...] = (
    ArgumentIs(1, "i32 500", (500).to_bytes(4, "little")),
    BlockIs((64, 1, 1)),
    GridIs((8, 1, 1)),
    Apart(0),
    AtStart(0),
    Relation((quantity("bytes", 0),), "==", (quantity("argument", 1, 4),)),
    Relation((Product(1, (*quantity("grid", 0).quantities, *quantity("block", 0).quantities)),), "<=", (Product(512),)),
    Divisible((quantity("argument", 1), Product(4)), 8),
)
FAIL: tuple[Guard, ...] = (
    ArgumentIs(1, "i32 499", (499).to_bytes(4, "little")),
    BlockIs((64, 2, 1)),
    GridIs((1, 8, 1)),
    BlockIsWarp(),
    Relation((quantity("bytes", 0),), ">=", (quantity("argument", 1, 5),)),
    Divisible((quantity("argument", 1),), 8),
)


def test_a_check_means_in_c_what_it_means_elsewhere(build: Build) -> None:
    printed, counted, *failed = build(header((*HOLD, *FAIL)))
    assert (printed, counted) == ("3", "add_one: 0 launches of adding-1:v2, 3 of the original")
    assert failed == [f"  3 times its check failed: {guard}" for guard in FAIL]
    printed, counted, *failed = build(header(HOLD))
    assert (printed, counted, failed) == ("6", "add_one: 3 launches of adding-1:v2, 0 of the original", [])


def test_of_several_variants_the_first_runs_whose_checks_hold(build: Build) -> None:
    """As launches choose among winners everywhere; each has its checks, a threshold among them."""

    def version(name: str, guard: Guard, images: Images = VARIANT) -> HeaderVersion:
        return HeaderVersion(name, "clean", ((guard.as_c(), str(guard)),), images)

    def counted(*versions: HeaderVersion) -> list[str]:
        return build(c_header(HeaderKernel("add_one", "add_one", (0,), TAKES, versions), ORIGINAL, "kernel"))[:2]

    large, small = (Relation((quantity("argument", 1),), ">=", (Product(n),)) for n in (501, 500))
    first, second = version("one-1:v1", large), version("two-1:v2", small)
    said = "add_one: 0 launches of one-1:v1, 3 of two-1:v2, 0 of the original"
    assert counted(first, second) == ["6", said]
    assert counted(version("one-1:v1", small), second)[1].startswith("add_one: 3 launches of one-1:v1, 0 of two-1:v2")
    assert counted(first, version("two-1:v2", large)) == [
        "3",
        said.replace("3 of two", "0 of two").replace("0 of the", "3 of the"),
    ]
    refused = version("one-1:v1", small, Images({"sm_80": "BAD"}, {}))
    assert counted(refused, second) == ["6", said], "one that the driver does not load leaves its launches to the next"
    told = build(c_header(HeaderKernel("add_one", "add_one", (0,), TAKES, (refused, second)), ORIGINAL, "kernel"))
    assert told[2:] == ["  one-1:v1 is not used: the driver does not load it (error 218); the others are tried"]


def test_machine_code_of_this_gpu_goes_first_then_the_newest_ptx(build: Build, fake: Fake) -> None:
    assert build(header())[0] == "6" and fake.named("load") == ["load MODULE WRONG new"]
    cubin = Images(VARIANT.ptx, {"sm_80": b"\x7fELF", "sm_90": b"\x7fELFWRONG", "sm_100": b"\x7fELF"})
    assert build(header(variant=cubin))[0] == "6" and fake.named("load")[1:] == ["load cubin"]


def test_a_gpu_that_the_export_holds_no_code_for(build: Build) -> None:
    printed, counted, why = build(header(variant=Images({"sm_100": "MODULE"}, {"sm_120": b"\x7fELF"})))
    assert (printed, counted) == ("3", "add_one: 0 launches of adding-1:v2, 3 of the original")
    assert "holds no code for this GPU" in why and "machine code of sm_120, PTX from sm_100 on" in why


def test_a_kernel_that_takes_other_arguments_now(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN", "1")
    for takes in (((0, 8), (8, 8)), ((0, 8),)):
        printed, counted, why = build(header(takes=takes))
        assert (printed, counted) == ("3", "add_one: 0 launches of adding-1:v2, 3 of the original")
        assert why == "  no variant is used: the program's kernel add_one takes other arguments now; the original runs"
    assert build(header()) == ["6", "add_one: 3 launches of adding-1:v2, 0 of the original"]


def test_loading_is_no_part_of_a_graph_that_is_captured(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA_CAPTURES", "1")
    assert build(header()) == ["6", "add_one: 3 launches of adding-1:v2, 0 of the original"]


def test_code_that_the_driver_refuses(build: Build) -> None:
    printed, _, why = build(header(variant=Images({"sm_80": "BAD"}, {})))
    assert printed == "3" and "the driver does not load it (error 218); the original runs" in why


@pytest.mark.parametrize("language", ["c", pytest.param("cpp", marks=pytest.mark.slow)])
def test_the_header_of_an_exported_run(
    build: Build, finished_run: Path, tmp_path: Path, fake: Fake, language: str
) -> None:
    """The best where it fits, else what fits any size, else the original."""
    with EvolveRun.open(finished_run, GENOMES) as run:
        assert run.best is not None and run.for_any_size is not None
        best, free = (f"again-1:{each.name}" for each in (run.best, run.for_any_size))
        folder = export(run, "best", tmp_path / "out")
    text = (folder / "kernel.h").read_text()

    def launched(n: int, more: str = "") -> list[str]:
        return build(text, n, "again", "&other, &n, &passes", language, more)[1:]

    assert launched(500) == [f"again: 3 launches of {best}, 0 of {free}, 0 of the original"]
    assert {call.split()[1] for call in fake.named("launch")} == {"_Z5againPKfPfii"}
    counted, *failed = launched(500, "one-pass-more")
    assert counted == f"again: 0 launches of {best}, 3 of {free}, 0 of the original"
    assert failed == [f"  3 times its check failed: {best}: passes == 5"]
    counted, *failed = launched(501)
    assert counted == f"again: 0 launches of {best}, 0 of {free}, 3 of the original"
    assert failed == [f"  3 times its check failed: {name}: bytes behind in >= 4 * n" for name in (best, free)]
