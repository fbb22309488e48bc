"""The host pass and the link: what works, what is refused by name, and that nothing half-written is left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kernelwright import long_steps
from kernelwright.cache import Cache
from kernelwright.cuda import link as link_module
from kernelwright.cuda.clang import Clang, find_clang, ziglang_folder
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.cuda.host import HostObject, compile_host, language
from kernelwright.cuda.link import LinkOptions, link_executable, needs_cxx
from kernelwright.cuda.objects.elf import read_elf
from kernelwright.cuda.openmp import find_openmp
from kernelwright.cuda.runtime_library import default_settings, static_runtime
from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.values import replaced

from .conftest import Builder, run
from .fake_worker import FakeWorker

MAIN = "#include <cuda_runtime_api.h>\nint main() { return cudaFree(0); }\n"


@pytest.fixture(scope="module")
def main_object(builder: Builder) -> HostObject:
    return builder.compile("main.c", MAIN)


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


# ---- the host pass ----


def test_languages() -> None:
    assert [language(Path(n)) for n in ("a.cu", "a.c", "a.cc", "a.cpp", "a.cxx")] == ["cuda", "c", "c++", "c++", "c++"]
    with pytest.raises(Misuse, match=r"a\.f90 is neither CUDA, C nor C\+\+"):
        language(Path("a.f90"))


def test_options_reach_the_host_pass(fresh: Builder) -> None:
    fresh.write("folder/number.h", "#define NUMBER 3\n")
    options = SourceOptions(include=(str(fresh.folder / "folder"),), define=("ADDED=4",), std="c++17", fast_math=True)
    c = '#include "number.h"\nint number(void) { int added = ADDED; typeof(added) x = NUMBER; return x + added; }\n'
    cxx = '#include <string_view>\nextern "C" int number();\nint main() { return number() + std::string_view("ab").size(); }\n'
    program = fresh.program({"main.cpp": cxx, "number.c": c}, options)
    assert run(program).status == 9


def test_errors_of_the_host_pass_have_a_place(fresh: Builder, clang: Clang) -> None:
    source = fresh.write("wrong.cpp", "int main() {\n  return nothing;\n}\n")
    with pytest.raises(CompileError) as told:
        compile_host(source, None, fresh.folder / "wrong.o", SourceOptions(), clang)
    assert told.value.place is not None and (told.value.place.line, told.value.place.column) == (2, 10)
    with pytest.raises(Misuse, match="does not exist"):
        compile_host(fresh.folder / "none.cpp", None, fresh.folder / "none.o", SourceOptions(), clang)
    assert leftovers(fresh.folder) == ["wrong.cpp"]


def test_a_lenient_launch_compiles_on_the_host_too(fresh: Builder) -> None:
    text = "__global__ void k(int *p) {}\nint main() { k<< <1, 2>> >(nullptr); return cudaGetLastError(); }\n"
    assert run(fresh.program({"lenient.cu": text})).status == 100


def test_an_object_that_cannot_be_written(fresh: Builder, clang: Clang) -> None:
    source = fresh.write("a.c", MAIN)
    with pytest.raises(ToolError, match=r"cannot write .*/nowhere/a\.o: No such file or directory"):
        compile_host(source, None, fresh.folder / "nowhere" / "a.o", SourceOptions(), clang)


# ---- what the program is built with ----


def test_the_program_can_carry_its_device_and_worker(builder: Builder) -> None:
    options = LinkOptions(device="h200", worker='echo "a \\"worker\\"" >&2; exit 3')
    program = builder.program({"carries.c": MAIN}, link=options)
    ran = run(program)
    assert (ran.status, ran.err.splitlines()[0]) == (46, 'a "worker"')
    assert run(program, KERNELWRIGHT_DEVICE="none").status == 100


def test_settings_may_hold_any_character(tmp_path: Path) -> None:
    text = 'say "x\\n" ?? \t€'
    default_settings("a b", text, tmp_path)
    assert read_elf(tmp_path / "defaults.o").symbols()
    content = (tmp_path / "defaults.o").read_bytes()
    assert text.encode() + b"\0" in content and b"a b\0" in content


def test_what_needs_a_cxx_library(builder: Builder) -> None:
    def needs(name: str, text: str) -> bool:
        return needs_cxx([read_elf(builder.compile(name, text).path).symbols()])

    plain = '#include <stdio.h>\n#include <cmath>\nstruct A { ~A() { puts("x"); } } a;\nint main() { return std::sin(1.0); }\n'
    assert not needs("plain.cpp", plain)
    assert not needs("kernel.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
    assert needs("vector.cpp", "#include <vector>\nint main(int n, char **) { return std::vector<int>(n).size(); }\n")
    assert needs("throws.cpp", "int main(int n, char **) { if (n) throw n; }\n")
    assert needs("prints.cpp", '#include <iostream>\nint main() { std::cout << "x"; }\n')
    assert needs(
        "rtti.cpp", "struct A { virtual void f() {} }; A *make() { static A a; return &a; } int main() { make(); }\n"
    )


# ---- refused by name ----


def refused(builder: Builder, sources: dict[str, str]) -> CompileError:
    with pytest.raises(CompileError) as told:
        builder.program(sources)
    assert not any(n.endswith(".exe") for n in leftovers(builder.folder))
    return told.value


DECLARED = 'extern "C" int cudaGraphAddMemAllocNode(void *, void *), cudaIpcOpenMemHandle(void), cudnnCreate(void), cublasXtSgemm(void), nvmlInit_v2(void);\n'


def test_a_call_we_do_not_implement(fresh: Builder) -> None:
    error = refused(fresh, {"app.cu": DECLARED + "int main() {\n    return cudaGraphAddMemAllocNode(0, 0);\n}\n"})
    source = fresh.folder / "app.cu"
    assert error.message == f"{source} uses cudaGraphAddMemAllocNode, which our CUDA runtime does not implement"
    assert error.hint == "graphs have nodes for kernels, copies, fills, functions of the host and graphs"
    # The declaration is the first line that has the name.
    assert error.place is not None and (error.place.file, error.place.line) == (str(source), 1)


def test_several_calls_in_several_files(fresh: Builder) -> None:
    other = DECLARED + "int other() { return cudaIpcOpenMemHandle() + cudaGraphAddMemAllocNode(0, 0); }\n"
    error = refused(
        fresh, {"app.cpp": DECLARED + "int main() { return cudaGraphAddMemAllocNode(0, 0); }\n", "other.cpp": other}
    )
    app, second = fresh.folder / "app.cpp", fresh.folder / "other.cpp"
    assert error.message == (
        f"{app} uses cudaGraphAddMemAllocNode, {second} uses cudaIpcOpenMemHandle and cudaGraphAddMemAllocNode: "
        "our CUDA runtime does not implement them"
    )


@pytest.mark.parametrize(
    ("call", "whose", "library"),
    [("cudnnCreate()", "cuDNN", "cudnn"), ("nvmlInit_v2()", "NVML", "nvidia-ml")],
)
def test_another_library_of_the_toolkit(fresh: Builder, call: str, whose: str, library: str) -> None:
    sources = {"app.cpp": DECLARED + f"int main() {{ return {call}; }}\n"}
    name = call.split("(")[0]
    error = refused(fresh, sources)
    assert error.message.endswith(f"uses {name}, of {whose}, which is not part of our CUDA runtime")
    assert f"-l{library}" in (error.hint or "")
    # Named with -l it is told by its name.
    with pytest.raises(CompileError) as told:
        fresh.program(sources, link=LinkOptions(libraries=(library,)))
    assert told.value.message == f"{library} is one of NVIDIA's libraries, which have no place on a virtual GPU"


def test_objects_that_call_openmp_without_its_runtime(fresh: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelwright.cuda.openmp.find_openmp", lambda: None)
    error = refused(
        fresh, {"app.c": "int omp_get_max_threads(void);\nint main(void) { return omp_get_max_threads(); }\n"}
    )
    assert error.message == "the objects call the runtime of OpenMP, which is not installed"
    assert error.hint == "pip install 'kernelwright[openmp]'"


def test_where_openmp_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", ["/nowhere", str(tmp_path)])
    assert find_openmp() is None
    for name in ("lib/libomp.so", "include/omp.h"):
        (tmp_path / "cmeel.prefix" / name).parent.mkdir(parents=True)
        (tmp_path / "cmeel.prefix" / name).write_text("")
    found = find_openmp()
    assert found is not None
    assert found.compile_flags[0] == "-fopenmp=libomp"
    assert found.link_flags[0] == str(tmp_path.resolve() / "cmeel.prefix" / "lib" / "libomp.so")


def test_a_program_may_define_the_function_itself(fresh: Builder) -> None:
    own = 'extern "C" int cudaGraphAddMemAllocNode(void *, void *) { return 5; }\n'
    assert (
        run(
            fresh.program(
                {"app.cpp": DECLARED + "int main() { return cudaGraphAddMemAllocNode(0, 0); }\n", "own.cpp": own}
            )
        ).status
        == 5
    )


def test_a_library_may_define_the_function(fresh: Builder) -> None:
    own = fresh.compile("own.cpp", 'extern "C" int cudaGraphAddMemAllocNode(void *, void *) { return 6; }\n')
    archive = fresh.folder / "libown.a"
    subprocess.run([str(ziglang_folder() / "zig"), "ar", "rcs", str(archive), str(own.path)], check=True)
    options = LinkOptions(extra=(str(archive),))
    program = fresh.program(
        {"app.cpp": DECLARED + "int main() { return cudaGraphAddMemAllocNode(0, 0); }\n"}, link=options
    )
    assert run(program).status == 6


# ---- other failures of the link ----


def test_undefined_and_duplicate_symbols(fresh: Builder) -> None:
    a = "int helper(int); int more(); int main() { return helper(1) + more(); }\n"
    with pytest.raises(CompileError) as told:
        fresh.program({"a.cpp": a})
    message = told.value.message
    assert "helper(int), and 1 more is used" in message and str(fresh.folder / "a.cpp") in message, message
    two = "int helper(int) { return 1; } int more() { return 2; }\n"
    with pytest.raises(CompileError, match="is defined more than once"):
        fresh.program({"a.cpp": a, "b.cpp": two, "c.cpp": two})
    with pytest.raises(CompileError, match="there is no library called nowhere_at_all"):
        fresh.program({"a.cpp": a, "b.cpp": two}, link=LinkOptions(libraries=("nowhere_at_all",)))
    assert not any(n.startswith(".") or n.endswith(".exe") for n in leftovers(fresh.folder))


def test_outputs_that_cannot_be_written(main_object: HostObject, clang: Clang, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"cannot write .*: No such file or directory"):
        link_executable([main_object], tmp_path / "nowhere" / "a.out", clang)
    with pytest.raises(Misuse, match="it is a folder"):
        link_executable([main_object], tmp_path, clang)
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match=r"cannot write .*: Not a directory"):
        link_executable([main_object], tmp_path / "file" / "a.out", clang)
    # No process may create files there, not even root's.
    with pytest.raises(
        ToolError, match=r"cannot write .*: (Permission denied|Operation not permitted|Read-only file system)"
    ):
        link_executable([main_object], Path("/sys/kernel/a.out"), clang)
    assert leftovers(tmp_path) == ["file"]


def test_a_read_only_folder(main_object: HostObject, clang: Clang, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ToolError, match="Permission denied"):
            link_executable([main_object], tmp_path / "a.out", clang)
    finally:
        tmp_path.chmod(0o700)


LIMITED = """
import resource, sys
from pathlib import Path
from kernelwright.cuda.clang import find_clang
from kernelwright.cuda.host import HostObject
from kernelwright.cuda.link import link_executable
from kernelwright.cuda.runtime_library import static_runtime
from kernelwright.errors import ToolError
static_runtime()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    link_executable([HostObject(Path(sys.argv[1]))], Path(sys.argv[2]), find_clang())
except ToolError as e:
    print(e)
"""


@pytest.mark.parametrize("limit", [16384, 100])
def test_no_room_for_the_output(main_object: HostObject, tmp_path: Path, limit: int) -> None:
    # A limit on the size of files is a full disk to the linker, or, at 100 bytes, already to us.
    root = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(main_object.path), str(tmp_path / "a.out"), str(limit)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert "the disk is full, or the file is too large for it\nnext: " in done.stdout, (done.stdout, done.stderr)
    assert done.stderr == ""
    assert leftovers(tmp_path) == []


def test_an_earlier_output_survives_a_failing_link(fresh: Builder) -> None:
    program = fresh.program({"a.cpp": MAIN})
    before = program.read_bytes()
    with pytest.raises(CompileError):
        fresh.program({"a.cpp": "int f(); int main() { return f(); }\n"})
    assert program.read_bytes() == before
    assert not any(n.startswith(".") for n in leftovers(fresh.folder))


def test_objects_that_are_none(fresh: Builder, clang: Clang) -> None:
    text = fresh.write("text.o", "not an object")
    with pytest.raises(Misuse, match=r"text\.o is neither an object file nor a program"):
        link_executable([HostObject(text)], fresh.folder / "a.out", clang)
    with pytest.raises(Misuse, match="cannot read"):
        link_executable([HostObject(fresh.folder / "none.o")], fresh.folder / "a.out", clang)
    with pytest.raises(Misuse, match="there is nothing to link"):
        link_executable([], fresh.folder / "a.out", clang)


def test_the_machine_code_of_a_cut_object_is_not_trusted(main_object: HostObject, clang: Clang, tmp_path: Path) -> None:
    data = main_object.path.read_bytes()
    for length in (64, 200, len(data) // 2, len(data) - 1):
        cut = tmp_path / f"{length}.o"
        cut.write_bytes(data[:length])
        with pytest.raises((Misuse, ToolError, CompileError)):
            link_executable([HostObject(cut)], tmp_path / "a.out", clang)


# ---- the cache, and two at once ----


def test_the_runtime_is_built_once_and_checked(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    first = static_runtime(cache)
    entries = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert len(entries) == 2
    times = {p: p.stat().st_mtime_ns for p in entries}
    assert static_runtime(cache) == first
    assert {p: p.stat().st_mtime_ns for p in entries} == times
    # A damaged entry is noticed and made again.
    largest = max(entries, key=lambda p: p.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 1
    largest.write_bytes(data)
    again = static_runtime(cache)
    assert again == first
    assert largest.read_bytes() != bytes(data)


def test_two_links_at_once(
    main_object: HostObject, clang: Clang, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "cache"))
    failures: list[BaseException] = []

    def one(name: str) -> None:
        try:
            link_executable([main_object], tmp_path / name, clang)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=one, args=(name,)) for name in ("same", "same", "other")]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []
    assert [run(tmp_path / name).status for name in ("same", "other")] == [100, 100]
    assert leftovers(tmp_path) == ["cache", "other", "same"]


def test_a_long_link_is_announced(
    main_object: HostObject, clang: Clang, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_steps, "EVERY_S", 0.001)
    said: list[str] = []
    long_steps.listen(said.append)
    try:
        link_executable([main_object], tmp_path / "a.out", clang)
    finally:
        long_steps.listen(None)
    assert "linking, for 1 s" in said


# ---- without a system compiler ----


def test_system_headers_need_a_system_compiler(
    main_object: HostObject, clang: Clang, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(link_module, "system_cxx", lambda: None)
    with pytest.raises(ToolError, match="there is no C\\+\\+ compiler to link with"):
        link_executable([main_object], tmp_path / "a.out", replaced(clang, system_headers=True))


HERMETIC = """
#include <stdio.h>
#include <stdlib.h>
__global__ void k(int *p) { *p = 1; }
int main() { int *p; printf("%s\\n", cudaGetErrorString(cudaMalloc(&p, 4))); k<<<1, 1>>>(p); return cudaGetLastError(); }
"""


@pytest.mark.slow
def test_hermetic_c_and_cxx(tmp_path: Path) -> None:
    hermetic = Builder(tmp_path, find_clang(hermetic=True))
    ran = run(hermetic.program({"plain.cu": HERMETIC}))
    assert (ran.status, ran.lines) == (100, ["no CUDA-capable device is detected"])
    text = "#include <iostream>\n#include <vector>\n" + HERMETIC.replace('printf("%s\\n", ', "std::cout << (").replace(
        "; k<<<", " << std::vector<int>(3).size() << std::endl; k<<<"
    )
    program = hermetic.program({"cxx.cu": text})
    ran = run(program)
    assert (ran.status, ran.lines) == (100, ["no CUDA-capable device is detected3"])
    assert not any("c++" in n for n in read_elf(program).needed)


@pytest.mark.slow
def test_hermetic_managed_variables(tmp_path: Path) -> None:
    hermetic = Builder(tmp_path, find_clang(hermetic=True))
    program = hermetic.program({"live.cu": (Path(__file__).parent / "live.cu").read_text()})
    with FakeWorker(tmp_path / "socket") as worker:
        ran = run(program, ["managed"], KERNELWRIGHT_SOCKET=str(worker.path))
    assert ran.lines == ["42 3", "42 3", "50 3 1 50"]


@pytest.mark.parametrize("libraries", [(), ("cublas",)])
def test_what_our_cublas_lacks_is_refused_with_or_without_the_library(
    fresh: Builder, libraries: tuple[str, ...]
) -> None:
    fresh.write("app.cpp", DECLARED + "int main() { return cublasXtSgemm(); }\n")
    with pytest.raises(
        CompileError, match=r"uses cublasXtSgemm, of cuBLAS, which our CUDA runtime does not implement"
    ) as told:
        fresh.program(
            {"app.cpp": DECLARED + "int main() { return cublasXtSgemm(); }\n"}, link=LinkOptions(libraries=libraries)
        )
    assert told.value.hint == "cublas_api.h declares what it implements"
