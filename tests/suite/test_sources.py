"""The sources of the suite: they compile clean, and keep to what the link promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernelwright.cuda.clang import Clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.suite import NAMES, load

CUDA_SOURCES = [(name, source) for name in NAMES for source in load(name).source_paths if source.suffix == ".cu"]


@pytest.mark.parametrize(("name", "source"), CUDA_SOURCES, ids=[source.name for _, source in CUDA_SOURCES])
def test_the_device_pass_gives_kernels_without_a_warning(name: str, source: Path, clang: Clang) -> None:
    options = SourceOptions(extra=("-Wall", "-Wextra", "-Werror", *load(name).flags))
    done = device_pass(source, options, clang)
    launched = set(re.findall(r"__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)", source.read_text()))
    compiled = re.findall(r"define[^\n]* ptx_kernel [^\n]*@(\w+)\(", done.text)
    assert launched
    assert {kernel for kernel in launched if not any(f"{len(kernel)}{kernel}" in c for c in compiled)} == set()
    assert done.warnings == ""


@pytest.mark.parametrize("name", NAMES)
def test_every_source_exists_and_all_programs_need_only_the_c_library(name: str) -> None:
    program = load(name)
    assert program.sources and program.title and program.summary.endswith(".")
    assert (program.folder / "__init__.py").is_file()
    for path in program.folder.glob("*.[ch]*"):
        text = path.read_text()
        assert path.suffix == ".h" or path.name in program.sources
        assert not re.search(r"#include <(iostream|vector|string|algorithm|map|memory|cstdio|thrust.*)>|std::", text)


def test_btree_is_a_program_of_several_files() -> None:
    assert {Path(source).suffix for source in load("btree").sources} == {".c", ".cu"}
    assert len(load("btree").sources) > 2
