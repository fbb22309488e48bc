"""The driver API's and NVRTC's headers against NVIDIA's own: every number, every structure, every signature.

The C compiler is the judge. Where NVIDIA's headers are not installed, there is nothing to compare with.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda.clang import HEADERS
from kernelwright.passes.nvidia_files import files

DRIVER = HEADERS / "kernelwright" / "driver"
TEXT = re.sub(r"/\*.*?\*/", "", (DRIVER / "types.h").read_text() + (DRIVER / "attributes.h").read_text(), flags=re.S)
FUNCTIONS = (DRIVER / "functions.h").read_text()


def of_nvidia(name: str) -> Path:
    found = next(
        files(
            (f"cuda_runtime/include/{name}", f"cuda_nvrtc/include/{name}", f"cu1?/include/{name}"), (f"include/{name}",)
        ),
        None,
    )
    if found is None or shutil.which("gcc") is None:
        pytest.skip(f"no gcc, or no {name} of NVIDIA's to compare with")
    return found.parent


def said_by(program: str, headers: Path, folder: Path) -> dict[str, int]:
    """What a C program prints, compiled with the headers of ``headers``."""
    source, made = folder / "values.c", folder / "values"
    source.write_text(program)
    subprocess.run(["gcc", "-w", f"-I{headers}", source, "-o", made], check=True)
    printed = subprocess.run([made], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in (line.split() for line in printed.splitlines())}


def names() -> list[str]:
    """Every enumerator, error and constant of ours."""
    table = re.findall(r"^KW_DRIVER_ERROR\((\w+)", (DRIVER / "error_table.h").read_text(), re.M)
    enumerators = re.findall(r"^(?:typedef enum .*\{ )?\s*(CU_\w+)\b(?: =|,|$)", TEXT, re.M)
    defined = re.findall(r"^#define (CU\w+) \S", TEXT, re.M)
    return list(dict.fromkeys([*table, *enumerators, *defined]))


def members() -> dict[str, list[str]]:
    """Structure -> its members, without those of structures inside."""
    found = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\n\} (\w+);", TEXT, re.S):
        declared = re.findall(r"^    (?! |struct|union|\})([^;{}]+);", body, re.M)
        found[name] = [re.findall(r"\w+", part.split("[")[0])[-1] for d in declared for part in d.split(",")]
    return found


def test_numbers_and_layouts(tmp_path: Path) -> None:
    lines = [
        f'printf("{name} %lld\\n", (long long){name});' for name in names() if not name.endswith(("_MAX", "_OPTIONS"))
    ]
    for name, fields in members().items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'printf("{name}.{f} %zu\\n", offsetof({name}, {f}));' for f in fields]
    program = "\n".join(
        ["#include <cuda.h>", "#include <stdio.h>", "#include <stddef.h>", "int main(void) {", *lines, "}"]
    )
    ours = said_by(program, HEADERS, tmp_path)
    assert ours == said_by(program, of_nvidia("cuda.h"), tmp_path)
    assert len(ours) > 450


@pytest.mark.parametrize(("name", "ours"), [("cuda.h", DRIVER / "functions.h"), ("nvrtc.h", HEADERS / "nvrtc.h")])
def test_signatures(tmp_path: Path, name: str, ours: Path) -> None:
    """A function that is declared twice must be declared alike."""
    declared = re.sub(r"^typedef .*?;\n", "", ours.read_text(), flags=re.M)
    declared = re.sub(
        r"^typedef enum \{.*?\} \w+;\n|#pragma once\n|^#define __NVRTC_H__\n", "", declared, flags=re.M | re.S
    )
    source = tmp_path / "twice.c"
    source.write_text(f"#include <{name}>\n{declared}")
    done = subprocess.run(["gcc", "-fsyntax-only", f"-I{of_nvidia(name)}", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    source.write_text(source.read_text() + f"int {'cuInit' if name == 'cuda.h' else 'nvrtcVersion'}(void);\n")
    assert subprocess.run(["gcc", "-fsyntax-only", f"-I{of_nvidia(name)}", source], capture_output=True).returncode


def test_the_list_of_functions_is_the_header() -> None:
    listed = re.findall(r"^KW_FUNCTION\((\w+)\)$", (DRIVER / "function_list.h").read_text(), re.M)
    assert listed == re.findall(r"^CUresult (cu\w+)\(", FUNCTIONS, re.M)
    renamed = dict(re.findall(r"^#define (\w+) (\w+)$", (DRIVER / "names.h").read_text(), re.M))
    assert set(renamed) <= set(listed) and all(new == f"{old}_v2" for old, new in renamed.items())
