"""docs/formats/ is what the docstrings say today: a page for each file format, and no other."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_formats", DOCS / "make_formats.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module  # where its dataclass looks for itself
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_not_older_than_the_docstrings(maker: ModuleType) -> None:
    there = {path.name: path.read_text() for path in (DOCS / "formats").glob("*.md")}
    assert there == maker.pages(), "make api: docstrings have changed since"


def test_a_page_says_what_is_in_the_file(maker: ModuleType) -> None:
    pages = maker.pages()
    assert "CREATE TABLE outcomes" in pages["journal.md"] and "`--device`" in pages["settings.md"]
    assert "MAGIC | version" in pages["capture.md"] and "name=value" in pages["thresholds.md"]
    assert "Keys: `name`, `gpu`, `rows`" in pages["calibration.md"]
    assert all(len(text.split()) > 30 for text in pages.values())
