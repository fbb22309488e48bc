"""Plots as SVG: the same text for the same figures, well-formed, as wide as the page."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from kernelwright.prove.labels import LABELS
from kernelwright.report import figures

PLOTS = {
    "convergence": "figures.convergence([(0, 1.0), (9, 1.5)], [(0, 1.0), (4, 2.5)])",
    "front": "figures.front([(1, 1.1, 'clean'), (2, 1.4, 'wrong'), (3, 1.2, 'unproven')], 'edits')",
    "curves": "figures.curves({'a': [(1, 1.0), (2, 2.0)], 'b': [(1, 3.0), (2, 1.0)]}, 'workers', 'speed-up')",
    "fittest": "figures.fittest_by_generation([(0, 9.0, 0.0), (1, 8.0, 0.002), (2, 7.0, 0.001)])",
    "edits": "figures.edits_by_generation([(1, 1.5, 3), (2, 2.5, 4)])",
}


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_is_deterministic_and_well_formed(name: str) -> None:
    text = eval(PLOTS[name])
    # in another process, where names and hashes may fall out differently
    code = f"from kernelwright.report import figures; print({PLOTS[name]}, end='')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == text
    root = ElementTree.fromstring(text)
    assert root.tag == "svg" and root.attrib["aria-label"] == name and "viewBox" in root.attrib
    assert "width" not in root.attrib and "height" not in root.attrib


def test_the_legend_names_what_is_drawn() -> None:
    text = figures.front([(1, 1.1, "clean"), (2, 1.4, "wrong")], "error")
    assert ">clean<" in text and ">wrong<" in text and ">lock-step only<" not in text and ">error<" in text


def test_an_error_is_drawn_beside_the_time_where_there_is_one() -> None:
    exact = figures.fittest_by_generation([(0, 9.0, 0.0), (1, 8.0, 0.0)])
    within = figures.fittest_by_generation([(0, 9.0, 0.0), (1, 8.0, 0.01)])
    assert ">time of the fittest, us<" in exact and ">error, %<" not in exact and ">error<" not in exact
    assert ">time of the fittest, us<" in within and ">error, %<" in within and ">error<" in within


def test_every_label_has_a_colour_of_its_own() -> None:
    assert set(LABELS) < set(figures.LABEL_COLOURS)
    assert len(set(figures.LABEL_COLOURS.values())) == len(figures.LABEL_COLOURS)
