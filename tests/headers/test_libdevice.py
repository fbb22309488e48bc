"""Every ``__nv_`` function that the headers declare exists in libdevice, with the same types."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from .conftest import HEADERS


def find_libdevice() -> Path | None:
    spec = importlib.util.find_spec("nvidia")
    wheels = [Path(p) for p in (spec.submodule_search_locations or [])] if spec else []
    toolkits = [Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")), *sorted(Path("/usr/local").glob("cuda-*"))]
    found = [f for root in wheels for f in root.glob("*/nvvm/libdevice/libdevice.*.bc")]
    found += [f for root in toolkits for f in root.glob("nvvm/libdevice/libdevice.*.bc")]
    return found[0] if found else None


def _types(module: llvm.ModuleRef) -> dict[str, str]:
    return {f.name: str(f.global_value_type) for f in module.functions if f.name.startswith("__nv_")}


@pytest.fixture(scope="module")
def declared(promised_ir: str) -> dict[str, str]:
    """Name to type of every libdevice function that some promised call comes to."""
    return _types(llvm.parse_assembly(promised_ir))


def test_every_declaration_is_used_by_a_promise(declared: dict[str, str]) -> None:
    text = (HEADERS / "kernelwright" / "libdevice.h").read_text()
    table = (HEADERS / "kernelwright" / "math_table.h").read_text()
    names = {f"__nv_{f}{s}" for f in re.findall(r"^KW_(?:STANDARD|CUDA)_[12]\((\w+)\)", table, re.M) for s in ("", "f")}
    names |= {
        f"__nv_{n}_{m}"
        for n in re.findall(r"^KW_ROUNDED\([\w ]+, (\w+),", text, re.M)
        for m in ("rn", "rz", "ru", "rd")
    }
    names |= set(re.findall(r"\b(__nv_\w+)\(", text)) | {"__nv_rhypot", "__nv_rhypotf"}
    names -= {n for n in names if "##" in n or n == "__nv_"}
    assert len(names) > 250
    assert sorted(names - set(declared)) == []


@pytest.mark.skipif(find_libdevice() is None, reason="no libdevice on this machine")
def test_types_are_libdevices(declared: dict[str, str]) -> None:
    path = find_libdevice()
    assert path
    real = _types(llvm.parse_bitcode(path.read_bytes()))
    assert {n: t for n, t in declared.items() if real.get(n) != t} == {}
