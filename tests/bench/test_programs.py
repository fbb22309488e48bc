"""Programs of a folder: what counts as one, how it is built and run without touching it, and what is said of those that fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kernelwright.bench.programs.building import run_commands, toolkit
from kernelwright.bench.programs.cmake_lists import Lists, read_lists
from kernelwright.bench.programs.measure import ABSENT, PROBES, Manner, measure_folders
from kernelwright.bench.programs.projects import copied, drawn, projects
from kernelwright.bench.programs.steps import Steps, cause_of
from kernelwright.errors import Misuse
from tests.cli.conftest import Kw, kw  # noqa: F401

KERNEL = "__global__ void k(int *p) { p[threadIdx.x] = 1; }\n"
MAIN = f"""#include "../common/size.h"
#include <cstdlib>
{KERNEL}int main(int argc, char **argv) {{
  int *p;
  if (argc > 1 && atoi(argv[1]) != 7) return 3;
  cudaMalloc(&p, SIZE);
  k<<<1, 32>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}}
"""
MAKEFILE = """
main: main.o
\t$(CUDA_PATH)/bin/nvcc main.o -o $@
main.o: main.cu
\tnvcc -O3 -c main.cu -o main.o
run: main
\t./main 7
"""
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Four programs: one with a Makefile, one without, one that does not compile, two files with a ``main`` each."""
    root = tmp_path / "suite"
    files = {
        "common/size.h": "#define SIZE 128\n",
        "made/main.cu": MAIN,
        "made/Makefile": MAKEFILE,
        "plain/app.cu": MAIN,
        "broken/app.cu": "#include <nowhere.h>\n" + MAIN,
        "two/a.cu": MAIN,
        "two/b.cu": MAIN.replace("SIZE);", "64);"),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_what_is_a_program(suite: Path) -> None:
    found = projects(suite)
    assert [each.name for each in found] == ["broken", "made", "plain", "two/a", "two/b"]
    assert [each.makefile is not None for each in found] == [False, True, False, False, False]
    assert [p.name for p in found[3].sources] == ["a.cu"]


def test_a_copy_sees_its_neighbours_and_leaves_the_folder_alone(suite: Path) -> None:
    before = sorted(p.relative_to(suite) for p in suite.rglob("*"))
    made = next(each for each in projects(suite) if each.name == "made")
    with copied(made) as at:
        assert (at / "../common/size.h").read_text() == "#define SIZE 128\n"
        (at / "main").write_text("new")
        assert not (at / "main.cu").is_symlink()
    assert sorted(p.relative_to(suite) for p in suite.rglob("*")) == before


@needs_make
def test_rows_say_how_far_each_came(suite: Path) -> None:
    """``b.cu`` writes past its buffer; ``broken`` lacks a header."""
    rows = {row["program"]: row for row in measure_folders([suite], lambda line: None).rows}
    assert [rows[name]["built"] for name in ("broken", "made", "plain", "two/a")] == ["no", "yes", "yes", "yes"]
    assert rows["made"]["ran"] == "yes" and rows["made"]["checked"] == "clean"
    assert rows["broken"]["stopped at"] == "build" and "'nowhere.h' file not found" in rows["broken"]["cause"]
    assert rows["two/b"]["stopped at"] in ("run", "check") and rows["two/b"]["cause"]


@needs_make
def test_the_arguments_are_those_of_the_target_run(suite: Path, tmp_path: Path) -> None:
    made = next(each for each in projects(suite) if each.name == "made")
    steps = Steps(toolkit(tmp_path / "toolkit", ()), "h200", 1)
    with copied(made) as at:
        assert run_commands(made, at, steps, [at / "main"]) == [["./main", "7"]]
        assert run_commands(made, at, steps, [at / "other"]) == [["./other"]]


def test_the_arguments_are_those_of_a_script_called_run(suite: Path, tmp_path: Path) -> None:
    plain = next(each for each in projects(suite) if each.name == "plain")
    steps = Steps(toolkit(tmp_path / "toolkit", ()), "h200", 1)
    with copied(plain) as at:
        (at / "run").write_bytes(b"\x7fELF\0./a 1\n")
        assert run_commands(plain, at, steps, [at / "a"]) == [["./a"]]
        (at / "run.sh").write_text(
            "#!/bin/sh\n# the usual\n./a -x 128 ../data/b.txt > result.txt\n./a $1\n./c 3\nbin/a 2 | tee\n"
        )
        assert run_commands(plain, at, steps, [at / "a"]) == [["./a", "-x", "128", "../data/b.txt"]]
        (at / "run").write_text("cd data && ../a in.txt 40 && cd ..\ncd data && ../c\n")
        assert run_commands(plain, at, steps, [at / "a"]) == [["env", "-C", "data", "../a", "in.txt", "40"]]
        (at / "run").write_text("bin/a 2048 10")
        assert run_commands(plain, at, steps, [at / "bin" / "a"]) == [["bin/a", "2048", "10"]]
        (at / "run").write_text("/opt/mpi/bin/mpirun -n 2 --bind-to core ./a 50\nmpiexec -np 4 ./c 1\nmpirun\n")
        assert run_commands(plain, at, steps, [at / "a"]) == [["./a", "50"]]


LISTS = """
# add_executable(wrong wrong.cpp)
set(OUT "${CMAKE_CURRENT_BINARY_DIR}/kernel.fatbin")
include_directories(../common ../nowhere)
target_include_directories(app PRIVATE ${CUDAToolkit_INCLUDE_DIRS} ../plain)
add_executable(app main.cpp)  # the kernel is loaded
add_custom_command(
    OUTPUT ${OUT}
    COMMAND ${CMAKE_CUDA_COMPILER} ${NOBODY} -o ${OUT} -fatbin ${CMAKE_CURRENT_SOURCE_DIR}/kernel.cu
    DEPENDS kernel.cu COMMENT "Building (${OUT})"
)
add_custom_command(TARGET app POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy_if_different kernel.cu main.cpp copies
                   COMMAND something else)
"""
LOADS = """#include "size.h"
#include <cuda.h>
int main() {
  CUcontext context; CUmodule module; CUfunction k; CUdeviceptr p;
  cuInit(0); cuCtxCreate(&context, 0, 0);
  if (cuModuleLoad(&module, "kernel.fatbin") || cuModuleGetFunction(&k, module, "_Z1kPi") || cuMemAlloc(&p, SIZE)) return 1;
  void *arguments[] = {&p};
  return cuLaunchKernel(k, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0) || cuCtxSynchronize();
}
"""


def test_a_program_with_lists_of_cmake(suite: Path, tmp_path: Path) -> None:
    """Its kernel is compiled apart, into a file that it loads; without the lists both would be one program."""
    folder = suite / "lists"
    folder.mkdir()
    for name, text in (("CMakeLists.txt", LISTS), ("main.cpp", LOADS), ("kernel.cu", KERNEL)):
        (folder / name).write_text(text)
    lists = read_lists(folder, tmp_path)
    assert lists.sources == ("main.cpp",) and lists.folders == ("../common", "../plain")
    assert lists.commands == (
        ("nvcc", "-o", "./kernel.fatbin", "-fatbin", "./kernel.cu"),
        ("cp", "-rL", "kernel.cu", "main.cpp", "copies"),
    )
    assert read_lists(suite / "plain", tmp_path) == Lists()
    (row,) = measure_folders([folder], lambda line: None).rows
    assert (row["built"], row["ran"], row["checked"]) == ("yes", "yes", "clean"), row


def test_a_program_of_cmake_whose_sources_lie_below(suite: Path) -> None:
    """It is one program, also without a CUDA file: it may call a library. One that does not speak of CUDA is none of ours."""
    folder = suite / "listed"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.cpp").write_text("int main() {}\n")
    (folder / "src" / "kernel.cu").write_text(KERNEL)
    lists = "project(app LANGUAGES CXX {})\nset(SRCS src/app.cpp src/kernel.cu)\nadd_executable(app ${{SRCS}})\n"
    (folder / "CMakeLists.txt").write_text(lists.format("CUDA"))
    (found,) = projects(folder)
    assert found.name == "listed" and [p.name for p in found.sources] == ["app.cpp", "kernel.cu"]
    assert measure_folders([folder], lambda line: None, Manner(is_quick=True)).rows[0]["built"] == "yes"
    (folder / "CMakeLists.txt").write_text(lists.format(""))
    assert [each.name for each in projects(suite / "listed")] == ["src"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two executables that CMake builds from a library and folders of their own, and a project that stands by itself."""
    folder = tmp_path / "tree"
    texts = {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.18)\nproject(tree LANGUAGES CXX CUDA)\nadd_subdirectory(src)\n",
        "src/CMakeLists.txt": "add_subdirectory(lib)\nadd_executable(one one.cpp)\ntarget_link_libraries(one Lib)\n"
        "add_executable(two two.cu)\n",
        "src/lib/CMakeLists.txt": "add_library(Lib lib.cu)\ntarget_compile_options(Lib PRIVATE -w)\n",
        "src/lib/lib.cu": KERNEL
        + "int launched() { int *p; cudaMalloc(&p, 128); k<<<1, 32>>>(p); return cudaDeviceSynchronize(); }\n",
        "src/one.cpp": "int launched();\nint main() { return launched(); }\n",
        "src/two.cu": "int main() { return 0; }\n",
        "alone/CMakeLists.txt": "project(alone LANGUAGES CUDA)\nadd_executable(alone alone.cu)\n",
        "alone/alone.cu": "int main() { return 0; }\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_executables_of_a_tree_of_cmake_are_programs(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert [(each.name, each.target) for each in projects(tree)] == [("tree/one", "one"), ("tree/two", "two")]
    (tree / "src" / "CMakeLists.txt").write_text("add_executable(${some} two.cu)\nadd_executable(other IMPORTED)\n")
    assert all(not each.is_of_cmake for each in projects(tree))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert all(not each.is_of_cmake for each in projects(tree))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_a_tree_of_cmake_is_built_by_it(tree: Path) -> None:
    rows = measure_folders([tree], lambda line: None, Manner(checks=False)).rows
    assert [(row["program"], row["built"], row["ran"]) for row in rows] == [
        ("tree/one", "yes", "yes"),
        ("tree/two", "yes", "yes"),
    ], rows


def test_a_lot_is_a_part_of_a_larger_one(suite: Path) -> None:
    found = projects(suite)
    names = [[each.name for each in drawn(list(reversed(found)), count, 3)] for count in (1, 3, None)]
    assert set(names[0]) < set(names[1]) < set(names[2]) and names[1] == sorted(names[1])
    assert len({tuple(p.name for p in drawn(found, 2, seed)) for seed in range(20)}) > 3


def test_programs_of_a_makefile_that_names_each(suite: Path) -> None:
    """Without a rule for each it is one program."""
    (suite / "two" / "Makefile").write_text("all: a b\na: a.cu\n\tnvcc a.cu -o a\nb: b.cu\n\tnvcc b.cu -o b\n")
    assert [(p.name, p.target) for p in projects(suite / "two")] == [("two/a", "a"), ("two/b", "b")]
    (suite / "two" / "Makefile").write_text("all: a\na: a.cu b.cu\n\tnvcc a.cu -o a\n")
    assert [(p.name, p.target) for p in projects(suite / "two")] == [("two", "")]


@pytest.mark.parametrize(
    ("said", "status", "cause"),
    [
        ("main.cu:3:10: fatal error: 'a.h' file not found\n", 2, "'a.h' file not found"),
        ("kw: main.cu:3: 'a.h' file not found\nnext: name the folder\n", 2, "'a.h' file not found"),
        ("one\ntwo\n", 3, "exit code 3: two"),
        ("ld: cannot find -lcudart\ncollect2: error: ld returned 1\n", 1, "ld: cannot find -lcudart"),
        (
            "kw: linking, for 2 s\nkw: compiling for sm_75 alone, not for sm_80: --arch chooses\nkw: main is used and defined nowhere\n",
            2,
            "main is used and defined nowhere",
        ),
        ("", -11, "killed by SIGSEGV"),
        ("", 1, "exit code 1"),
    ],
)
def test_causes(said: str, status: int, cause: str) -> None:
    assert cause_of(said, status) == cause


def test_bad_places(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    for place, said in (
        (tmp_path, "no CUDA program"),
        (tmp_path / "gone", "does not exist"),
        (tmp_path / "notes.txt", "no CUDA file"),
        (Path("/dev/null"), "neither a file nor a folder"),
    ):
        with pytest.raises(Misuse, match=said):
            projects(place)


def test_the_command_says_what_it_takes(kw: Kw, tmp_path: Path) -> None:  # noqa: F811
    done = kw("bench", "programs", "gone")
    assert done.returncode == 2 and "gone does not exist" in done.stderr
    (tmp_path / "app.cu").write_text(MAIN)
    done = kw("bench", "programs", "app.cu", "--flags", "-I 'x")
    assert done.returncode == 2 and "no closing quotation" in done.stderr
    done = kw("bench", "ir", "gone")
    assert done.returncode == 2 and "ir takes no folder" in done.stderr


def test_every_probe_says_what_it_is_of() -> None:
    files = [*PROBES.glob("*.cu"), *ABSENT.glob("*.cu")]
    assert len(files) >= 29
    assert all(path.read_text().startswith("// ") for path in files)


@pytest.mark.parametrize("name", ["asynchronous_copies", "templates_and_lambdas", "graphs", "registered_memory"])
def test_probes_end_well(kw: Kw, name: str) -> None:  # noqa: F811
    done = kw("run", str(PROBES / f"{name}.cu"))
    assert done.returncode == 0, done.stderr
