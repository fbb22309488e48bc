"""The documents: what they name is there, what is there they name, and every page can be reached."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kernelwright.bench import BENCHMARKS
from kernelwright.cli.app import COMMANDS
from kernelwright.prove.labels import LABELS

ROOT = Path(__file__).parents[1]
DOORS = (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
PAGES = (*DOORS, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))

_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"`?\b((?:docs|examples|benchmarks|tests)/[\w./-]*\w)")
_BENCH = re.compile(r"`kw bench (\w[\w-]*)")


def named(page: Path) -> list[Path]:
    """What a page links to or names by its path from the root, where that is a file or the beginning of a file's name."""
    text = page.read_text()
    links = [page.parent / target for target in _LINK.findall(text) if "://" not in target]
    return [path.resolve() for path in links + [ROOT / target for target in _PATH.findall(text)]]


def is_there(path: Path) -> bool:
    """``docs/decisions/0002`` stands for the note of that number."""
    return path.exists() or any(path.parent.glob(path.name + "-*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    missing = [str(path) for path in named(page) if not is_there(path)]
    benches = set(_BENCH.findall(page.read_text())) - {*BENCHMARKS, "all", "NAME"}
    assert not missing and not benches


def test_every_page_is_reached() -> None:
    reached, new = set[Path](), set(DOORS)
    while new:
        reached |= new
        found = {path for page in new for path in named(page)}
        new = {p for path in found for p in (path.rglob("*.md") if path.is_dir() else [path]) if p.suffix == ".md"}
        new = {path for path in new if path.is_file()} - reached
    assert {p for p in PAGES if p.parent.name == "docs"} <= reached


def test_one_page_tells_of_every_command_and_benchmark() -> None:
    page = (ROOT / "docs" / "commands.md").read_text()
    assert set(re.findall(r"^\| `kw (\w+)", page, re.M)) == set(COMMANDS)
    table = page[page.index("| `kw bench` |") :]
    assert set(re.findall(r"^\| `([\w-]+)` \|", table, re.M)) == set(BENCHMARKS)


def test_figures_in_the_readme_say_what_prints_them() -> None:
    """In tables whose last column is the command."""
    text = (ROOT / "README.md").read_text()
    tables = [
        part for part in text.split("\n\n") if part.startswith("|") and part.split("\n")[0].endswith("| command |")
    ]
    assert tables
    for table in tables:
        for row in table.strip().split("\n")[2:]:
            assert _BENCH.search(row.split("|")[-2]) or row.split("|")[-2].strip() == "`make gpu`", row


def test_the_glossary_has_one_line_for_a_term_and_every_label() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text[text.index("## Words") : text.index("## How the code reads")]
    terms = [term for row in re.findall(r"^\| ([^|]+) \| [^|]+ \|$", table, re.M)[1:] for term in row.split(", ")]
    assert len(terms) == len(set(terms)) > 50
    assert all(f"*{label}*" in table for label in LABELS)


def test_the_python_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / "README.md").read_text()
    (code,) = re.findall(r"From Python:\n\n((?:    .*\n)+)", text)
    names: dict[str, object] = {}
    exec(re.sub(r"^    ", "", code, flags=re.M), names)
    assert capsys.readouterr().out.startswith("20000.0 ")


def test_the_readme_is_as_short_as_it_is_meant_to_be() -> None:
    """Two sentences, one picture, two commands, ten lines of what kw explain says, five of Python, five rows of figures."""
    text = (ROOT / "README.md").read_text()
    head = text[: text.index("![")].partition("\n")[2].strip()
    assert len(re.findall(r"[.](?:\s|$)", head)) == 2 and text.count("![") == 1
    blocks = [
        block.strip("\n").splitlines() for block in re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.M) if block.strip()
    ]
    commands, explained, python = ([line for line in block if line.strip()] for block in blocks)
    assert (len(commands), len(explained), len(python)) == (2, 10, 5)
    (figures,) = re.findall(r"^\|---.*\n((?:\|.*\n)+)", text, re.M)
    how = [row.split("|")[-3].strip() for row in figures.splitlines()]
    assert len(how) == 5 and set(how) <= {"estimated", "measured"}
    assert "## What you cannot do yet" in text


def test_what_the_readme_says_that_explain_says_is_what_it_said() -> None:
    """Of the run that the picture shows; ``make pictures`` keeps it."""
    text = (ROOT / "README.md").read_text()
    shown = re.findall(r"From `kw explain smooth-1`:\n\n((?: {4}.*\n|\n)+)", text)[0].splitlines()
    said = json.loads((ROOT / "docs" / "images" / "made.json").read_text())["explained"]
    assert [line[4:] for line in shown if line.strip()] == [line for line in said if line.strip()][:10]


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_into_a_page_lead_to_a_heading(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]*)#([^)\s]+)\)", page.read_text())
    local = [(page.parent / target if target else page, anchor) for target, anchor in links if "://" not in target]
    assert not [(str(target), anchor) for target, anchor in local if anchor not in anchors(target)]
