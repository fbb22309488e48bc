"""The pictures of the docs are of the pages as they look today, and whole."""

from __future__ import annotations

import importlib.util
import json
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
