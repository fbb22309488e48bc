"""The pictures of the docs are of the pages as they look today, and whole."""

from __future__ import annotations

import importlib.util
import json
import re
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"


def test_they_are_not_older_than_what_they_show() -> None:
    spec = importlib.util.spec_from_file_location("make_pictures", IMAGES / "make_pictures.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    made = json.loads((IMAGES / "made.json").read_text())
    assert made["shows"] == maker.digest(), "make pictures: the pages have changed since"


def test_each_page_is_there_in_both_widths_and_schemes() -> None:
    for page, size, scheme in product(("report", "profile"), ("desktop", "phone"), ("light", "dark")):
        with Image.open(IMAGES / f"{page}-{size}-{scheme}.png") as image:
            assert image.size[0] == (1280 if size == "desktop" else 390)


def test_the_terminal_shows_what_the_readme_says_and_loads_nothing() -> None:
    text = (IMAGES / "evolve.svg").read_text()
    ElementTree.fromstring(text)
    assert "proven" in text and "--with" in text and "@import" not in text and "url(http" not in text


def test_the_plot_of_searches_is_of_the_last_result() -> None:
    spec = importlib.util.spec_from_file_location("make_search", IMAGES / "make_search.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    rows = maker.rows()
    picture = (IMAGES / "search.svg").read_text()
    ElementTree.fromstring(picture)
    assert f'data-shows="{maker.digest(rows)}"' in picture, "python docs/images/make_search.py"
    seeds, budget = {row["seeds"] for row in rows}, max(row["evaluations"] for row in rows)
    text = (ROOT / "docs" / "evolve.md").read_text().replace("\n", " ")
    assert f"{budget:,} candidates" in text and all(f"{count} seeds" in text for count in seeds)


def test_the_plot_of_sizes_left_out_is_of_the_last_result() -> None:
    """It has a mark for each size, and the docs say how many there are and how many are best."""
    spec = importlib.util.spec_from_file_location("make_left_out", IMAGES / "make_left_out.py")
    assert spec is not None and spec.loader is not None
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    rows = maker.rows()
    best = sum(row["of its best"] <= maker.SAME for row in rows)
    picture = (IMAGES / "left-out.svg").read_text()
    ElementTree.fromstring(picture)
    assert len(re.findall(r"<use ", picture)) >= 2 * len(rows)
    assert f'data-shows="{maker.digest(rows)}"' in picture, "python docs/images/make_left_out.py"
    assert f"Of {len(rows)} sizes left out in turn, thresholds of the others are best for {best}" in (
        ROOT / "docs" / "tune.md"
    ).read_text().replace("\n", " ")
