"""docs/api.md is what the docstrings say today, and says something of each public name."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import kernelwright

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def page() -> str:
    spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    made: str = maker.page()
    return made


def test_the_page_is_not_older_than_the_docstrings(page: str) -> None:
    assert (DOCS / "api.md").read_text() == page, "make api: docstrings have changed since"


def test_every_public_name_has_an_entry_with_words(page: str) -> None:
    entries = dict(re.findall(r"^### `kw\.(\w+)`\n(.*?)(?=^##|\Z)", page, re.M | re.S))
    assert set(entries) == set(kernelwright.__all__) - {"__version__"}
    for name, text in entries.items():
        words = re.sub(r"^    .*$", "", text, flags=re.M).split()
        assert len(words) > 5, name
    assert "0x" not in page  # an address would be another one tomorrow
