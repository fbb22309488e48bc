"""The virtual GPU's runtime without its sources: an installation that was removed while a process of it ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.codegen.simt.launching import runtime_library
from kernelwright.errors import ToolError


def test_no_library_is_made_of_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_library, "SOURCES", tmp_path / "gone")
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ToolError, match="has no sources of the virtual GPU"):
        runtime_library.library_path()
    assert not (tmp_path / "cache").exists()
