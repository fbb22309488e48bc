"""The same kernels compiled by gcc and run thread by thread on the host."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.fuzz.grammar import Source

HERE = Path(__file__).parent
GCC = shutil.which("g++")
Array = npt.NDArray[Any]


class Host:
    """A source as a shared library."""

    def __init__(self, source: Source, folder: Path, name: str) -> None:
        assert GCC is not None
        tables = []
        for n, kernel in enumerate(source.kernels):
            head = re.search(r"\((.*?)\) \{", kernel.text)
            assert head is not None
            types = [re.sub(r"\w+$", "", part.replace("__restrict__", "")).strip() for part in head[1].split(",")]
            casts = ", ".join(f"({type})given[{i}]" for i, type in enumerate(types))
            tables.append(f"static void run{n}() {{ {kernel.name}({casts}); }}")
        names = ", ".join(f"run{n}" for n in range(len(source.kernels)))
        text = "\n".join([
            source.text, "static long long given[8];", *tables, f"static void (*const all[])() = {{{names}}};",
            'extern "C" void launch(int number, unsigned grid, unsigned block, const long long *values) {',
            "    memcpy(given, values, 6 * sizeof *given);", "    run_grid(grid, block, all[number]);", "}\n",
        ])  # fmt: skip
        path, made = folder / f"{name}.cpp", folder / f"{name}.so"
        path.write_text(text)
        flags = ["-O1", "-w", "-fwrapv", "-ffp-contract=off", "-fpermissive", "-shared", "-fPIC", f"-I{HERE}"]
        done = subprocess.run([GCC, *flags, str(path), "-o", str(made)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[:2000]
        self.library = ctypes.CDLL(str(made))

    def launch(self, number: int, grid: int, block: int, arrays: list[Array], n: int, m: int) -> list[Array]:
        """What is in the arrays afterwards."""
        copies = [a.copy() for a in arrays]
        values = np.array([*(a.ctypes.data for a in copies), n, m], np.int64)
        self.library.launch(number, grid, block, values.ctypes.data_as(ctypes.c_void_p))
        return copies
