"""``kw cache``: what is kept, and gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.cache import Cache, content_key
from kernelwright.cli.commands.cache import command
from kernelwright.errors import Misuse, ToolError


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    Cache().put("ir", content_key(["a"]), b"x" * 2_000_000)
    Cache().put("ptx", content_key(["a"]), b"x" * 1_000_000)


def test_it_is_shown_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    command()
    head, _, columns, ir, ptx = (line.split() for line in capsys.readouterr().out.rstrip().splitlines())
    assert head[1:3] == ["3.0", "MB;"] and columns == ["kind", "files", "MB"]
    assert ir[:3] == ["ir", "1", "2.0"] and ptx[:3] == ["ptx", "1", "1.0"]
    command(as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["bytes"] == sum(row["bytes"] for row in found["kinds"]) > 3_000_000


def test_it_is_cleared_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    command(["ir"], clear=True)
    assert capsys.readouterr().out == "freed 2.0 MB\n"
    assert Cache().get("ir", content_key(["a"])) is None and Cache().get("ptx", content_key(["a"])) is not None
    command(clear=True, as_json=True)
    assert json.loads(capsys.readouterr().out)["freed_bytes"] > 1_000_000


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Misuse, match="nothing of the kind 'photos' is kept\nnext: there are bench, clang"):
        command(["photos"], clear=True)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "ir/ab")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(ToolError, match="ir/ab cannot be removed: Permission denied"):
        command(clear=True)
