"""How long programs take to compile that are hard on a compiler, beside ``nvcc -ptx``: kernels like SHOC's, and Eigen's tensors, whose
headers are 18,000 lines of templates (gpucc, section 4.2).

Eigen is a library of headers; ``pip install cmeel-eigen`` has them. Without it that row is left out, and a note says so.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from kernelwright.bench.compile.times import PROCESSOR, against_nvcc, ratio
from kernelwright.bench.result import Measured, Row, Say

KERNELS = Path(__file__).parent / "kernels"
EIGEN = ("cmeel.prefix", "include", "eigen3")
"""Where the wheel puts them, below the folder of packages."""
ROUNDS = 3


def add_heavy(result: Measured, kw: Path, nvcc: str | None, say: Say) -> None:
    """Adds a row for each program."""
    eigen = eigen_headers()
    if eigen is None:
        result.notes.append("Eigen's headers are not installed: pip install cmeel-eigen")
    programs = [("like SHOC's", [*sorted((KERNELS / "like_shoc").glob("*.cu"))], ["-std=c++17"])]
    if eigen is not None:
        programs.append(("Eigen's tensors", [KERNELS / "eigen_tensors.cu"], ["-std=c++17", f"-I{eigen}"]))
    for name, files, flags in programs:
        say(f"compile time: {name}")
        times = against_nvcc(files, flags, kw, nvcc, ROUNDS)
        row: Row = {"hard to compile": name, "files": len(files)}
        row |= {f"{key} ms": round(1000 * wall, 1) for key, (wall, _) in times.items()}
        if "nvcc" in times:
            row["cold / nvcc"] = ratio(times, "cold")
            row["cold / nvcc, processor"] = ratio(times, "cold", PROCESSOR)
            row["cached / nvcc"] = ratio(times, "cached")
        result.rows.append(row)


def eigen_headers() -> Path | None:
    """The folder of Eigen's headers, where its package is installed."""
    spec = importlib.util.find_spec("cmeel")
    roots = [Path(place).parent for place in (spec.submodule_search_locations or ())] if spec else []
    numpy = importlib.util.find_spec("numpy")
    roots += [Path(place).parent for place in (numpy.submodule_search_locations or ())] if numpy else []
    found = (root.joinpath(*EIGEN) for root in roots)
    return next((folder for folder in found if (folder / "unsupported" / "Eigen" / "CXX11" / "Tensor").is_file()), None)
