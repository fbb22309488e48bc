"""The page of a run: whole in itself, the same every time, and saying what the journal says."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from kernelwright.errors import Misuse, ToolError
from kernelwright.evolution.genomes import GENOMES, EvolveRun
from kernelwright.prove.obligations.obligation import Obligation
from kernelwright.report.evolution import _together, evolution_page, write_page
from kernelwright.report.lineage import lineage

VOID = {"meta", "br", "link", "img", "hr", "input"}
MAY_STAY_OPEN = {"tr", "td", "th", "li", "p", "dt", "dd"}


class Outline(HTMLParser):
    """Headings, all text, all tags with attributes; fails on a tag that is closed but was not opened."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.headings: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert [tag for tag in self._open if tag not in MAY_STAY_OPEN] == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open[-1] != tag:
            assert self._open[-1] in MAY_STAY_OPEN, f"</{tag}> closes <{self._open[-1]}>"
            self._open.pop()
        assert self._open, f"</{tag}> was not opened"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] != "style":
            self.text.append(data)
        if self._open and self._open[-1] in ("h1", "h2", "h3"):
            self.headings.append(data)

    @property
    def plain(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.text))


@pytest.fixture(scope="module")
def page(finished_run: Path) -> str:
    with EvolveRun.open(finished_run, GENOMES) as run:
        return evolution_page(run)


def test_it_is_whole_in_itself(page: str) -> None:
    outline = Outline(page)
    names = {tag for tag, _ in outline.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed"}
    assert set(re.findall(r"https?://[^\"'\s<]+", page)) <= {"http://www.w3.org/1999/xlink"}  # a name, not a place
    for _, attributes in outline.tags:
        for name, value in attributes.items():
            assert name not in ("src", "action") and not name.startswith("on")
            if name in ("href", "xlink:href"):
                assert value is not None and value.startswith("#")
    assert "url(http" not in page and "@import" not in page


def test_its_parts_are_there_in_order(page: str) -> None:
    headings = Outline(page).headings
    parts = ["The edits", "Why it is faster", "Evidence", "The search", "Variants", "Again"]
    assert [heading for heading in headings if heading in parts] == parts
    assert headings[0].startswith("again, ") and headings[0].endswith(" times as fast")


def test_it_says_what_the_journal_says(finished_run: Path, page: str) -> None:
    text = Outline(page).plain
    with EvolveRun.open(finished_run, GENOMES) as run:
        best = run.best
        assert best is not None and run.original_us is not None
        proof, explained = run.proof(best.name), run.explained(best.name)
        assert proof is not None and explained is not None
        assert f"{run.original_us:.4g} µs became {best.outcome.time_us:.4g} µs" in text
        assert f"({best.speedup:.3f}×)" in text and best.name in text
        assert f"{proof['label']}:" in text
        for check in proof["checks"]:
            assert re.search(rf"{check['name']} ?{check['status']} {re.escape(check['detail'])}", text), check["name"]
        for guard in explained["guards"]:
            assert guard in text
        for edit in explained["edits"]:
            assert f"{edit['kind']} in again: {edit['sentence']}" in text
            for sentence in edit["invariants"]:
                assert f"relies on: {sentence}" in text
        free = run.for_any_size
        assert free is not None, "its best fixes a value"
        assert re.search(rf"For any size ?{free.speedup:.3f}×, \w+, without the checks .* variant {free.name}", text)
        assert run.ended is not None and run.evaluations == run.ended["evaluations"]
        assert f"{run.evaluations} candidates, " in text
        assert f"--seed {run.settings.seed}" in text
        for stage, count in run.rejected.items():
            assert re.search(rf"{stage} ?{count}\b", text)


def test_the_whole_kernel_is_beside_its_edits_and_their_lineage_is_told(finished_run: Path, page: str) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        best = run.best
        assert best is not None
        explained = run.explained(best.name)
        assert explained is not None
        kept = lineage(run, best)
    lines = [line for _, line, _, _ in explained["source"]]
    texts = [text for _, _, text, _ in explained["source"]]
    assert lines == list(range(lines[0], lines[-1] + 1))
    assert "__global__" in texts[0] and texts[-1].strip() == "}"
    assert "<h3>Lineage</h3>" in page or len(kept) == 1
    assert all(f"<td>{each.name}<" in page for each in kept)


def test_what_is_owed_alike_is_said_once() -> None:
    one, other = (Obligation(claim, "construction", "why", seconds=0.5) for claim in ("a", "b"))
    assert _together([one, other, one]) == [(one, 2, 1.0), (other, 1, 0.5)]


def test_it_says_what_the_edits_owe_and_how_that_is_settled(finished_run: Path, tmp_path: Path) -> None:
    owed = [
        Obligation("the condition at again.cu:9 always holds", "solver", "for all that the guards admit", seconds=0.25),
        Obligation("the load at again.cu:7 gives what the store left", "tested", "another thread may write between"),
    ]

    def owes(proof: dict[str, Any]) -> None:
        proof |= {"label": "clean", "obligations": [one.as_json() for one in owed]}

    text = Outline(changed(finished_run, tmp_path, owes, "proof")).plain
    assert "1 of 2 hold." in text and "the label depends on these" not in text
    assert re.search(r"proven by the solver in 250 ms ?the condition at again.cu:9 always holds", text)
    assert re.search(r"not provable ?the load at again.cu:7 gives what the store left", text)


def test_it_says_what_came_of_the_best_on_larger_data(finished_run: Path, page: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(finished_run, tmp_path / "copy"))
    with EvolveRun.open(folder, GENOMES, write=True) as run:
        assert run.best is not None
        found = {
            "variant": run.best.name, "data": "3,000 <deformed> digits", "flags": "", "time_us": [200.0, 160.0],
            "error": [0.06, 0.06], "launches": 12, "exchanged": 11,
        }  # fmt: skip
        run.journal.note("transfer", found)
        text = Outline(evolution_page(run)).plain
    said = "On 3,000 <deformed> digits, the whole program: 1.250x (200 µs became 160 µs in kernels)"
    assert said in text and "it ran in 11 of 12 launches of its kernels." in text
    assert "On larger data" not in Outline(page).plain


@pytest.mark.parametrize("error", [0.0, 0.01])
def test_time_and_error_are_plotted_by_generation(finished_run: Path, tmp_path: Path, error: float) -> None:
    folder = Path(shutil.copytree(finished_run, tmp_path / "copy"))
    with sqlite3.connect(folder / "journal.db") as db:  # its search is too short for several generations
        for number, outcome, facts in db.execute("SELECT id, outcome, facts FROM outcomes").fetchall():
            had = json.loads(outcome)
            made = json.dumps(had | {"error": error}) if had["ok"] and number > 1 else outcome
            later = json.dumps(json.loads(facts) | {"generation": number // 10})
            db.execute("UPDATE outcomes SET outcome = ?, facts = ? WHERE id = ?", (made, later, number))
    with EvolveRun.open(folder, GENOMES) as run:
        page = evolution_page(run)
    assert f"Time of the fastest accepted{' and its error' if error else ''}, generation by generation." in page
    plot = page[page.index('aria-label="fittest"') :]
    assert (">error, %<" in plot[: plot.index("</svg>")]) == bool(error)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("guarded", [True, False])
def test_what_is_data_specific_is_not_for_every_launch(finished_run: Path, tmp_path: Path, guarded: bool) -> None:
    def specific(proof: dict[str, Any]) -> None:
        proof["label"] = "data-specific"
        failed = next(check for check in proof["checks"] if check["name"] == "different")
        failed |= {"status": "failed", "detail": "wrong on <negative> data"}

    shutil.copytree(finished_run, tmp_path / "copy")
    if not guarded:
        changed(finished_run, tmp_path, lambda explained: explained.update(guards=[]))
        shutil.rmtree(tmp_path / "copy")
        (tmp_path / "run").rename(tmp_path / "copy")
    text = Outline(changed(tmp_path / "copy", tmp_path, specific, "proof")).plain
    assert "For every launch that the original takes" not in text
    assert "It is right for launches like those of the training data" in text
    assert "different: wrong on <negative> data." in text and ("Only for launches with" in text) == guarded


def test_it_is_the_same_every_time(finished_run: Path, page: str) -> None:
    with EvolveRun.open(finished_run, GENOMES) as run:
        assert evolution_page(run) == page


def test_ids_are_unique(page: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids)) > 10
    assert set(re.findall(r'(?:url\(#|href="#)([^")]+)', page)) <= set(ids)


def changed(finished_run: Path, folder: Path, change: Callable[[dict[str, Any]], None], kind: str = "explained") -> str:
    """The page of a copy of the run, the data of the last event about its best changed."""
    shutil.copytree(finished_run, folder / "run")
    with EvolveRun.open(finished_run, GENOMES) as run:
        best = run.best.name if run.best else ""
    with sqlite3.connect(folder / "run" / "journal.db") as db:
        events = db.execute("SELECT id, data FROM events WHERE kind = ? ORDER BY id DESC", (kind,)).fetchall()
        number, data = next((n, d) for n, text in events if (d := json.loads(text))["variant"] == best)
        change(data)
        db.execute("UPDATE events SET data = ? WHERE id = ?", (json.dumps(data), number))
    with EvolveRun.open(folder / "run", GENOMES) as run:
        return evolution_page(run)


EVIL = "</pre><script>alert('&')</script>"


def test_source_notes_and_names_cannot_break_out(finished_run: Path, tmp_path: Path) -> None:
    def poison(explained: dict[str, Any]) -> None:
        explained["source"] = [[f"/home/{EVIL}.cu", 7, EVIL, [1]]]
        explained["notes"] = [EVIL]
        explained["guards"] = [EVIL]
        explained["patches"] = {EVIL: f"+{EVIL}"}
        explained["edits"][0] |= {"sentence": EVIL, "kernel": EVIL, "kind": EVIL, "invariants": [EVIL]}

    page = changed(finished_run, tmp_path, poison)
    assert "<script" not in page and "alert(&#39;" in page
    Outline(page)


def test_source_of_several_places_has_gaps_and_moves_left(finished_run: Path, tmp_path: Path) -> None:
    def source(explained: dict[str, Any]) -> None:
        explained["source"] = [
            ["/a/b/x.cu", 7, "    int i;", []], ["/a/b/x.cu", 8, "        i++;", [1]], ["/a/b/x.cu", 20, "    }", []],
        ]  # fmt: skip

    page = changed(finished_run, tmp_path, source)
    assert "<pre>int i;</pre>" in page and "<pre>    i++;</pre>" in page and page.count("⋯") == 1
    assert "b/x.cu" in page and "/a/b" not in page


def test_failed_checks_are_summed_up(finished_run: Path, tmp_path: Path) -> None:
    def fail(proof: dict[str, Any]) -> None:
        for check in proof["checks"]:
            if check["name"] == "sub-warps":
                check |= {"status": "failed", "evidence": [{"sentence": f"finding {n}"} for n in range(9)]}
        proof["label"] = "lock-step only"

    text = Outline(changed(finished_run, tmp_path, fail, "proof")).plain
    assert "lock-step only: right only if the lanes of a warp run in step" in text
    assert "failed: sub-warps" in text
    assert "finding 0 finding 1 finding 2 and 6 more" in re.sub(r"(finding \d)", r" \1 ", text).replace("  ", " ")


def test_an_explanation_of_another_version_counts_as_none(finished_run: Path, tmp_path: Path) -> None:
    page = changed(finished_run, tmp_path, lambda explained: explained.pop("patches"))
    text = Outline(page).plain
    assert "What each does is not recorded: kw explain" in text and "Why it is faster" not in text


def test_a_run_that_found_nothing_says_so(tmp_path: Path) -> None:
    from kernelwright.stories.evolve import evolve

    source = Path(__file__).parents[1] / "stories" / "again.py"
    with evolve(source, folder=tmp_path / "nothing", evaluations=1, seed=1, jobs=1) as run:
        text = Outline(evolution_page(run)).plain
    assert "Nothing faster was found" in text and "No accepted variant beats the original" in text
    assert "The edits" not in text and "1 candidates" in text


def test_a_run_without_evaluations_has_no_page(tmp_path: Path) -> None:
    from kernelwright.evaluate.run.settings import RunSettings
    from kernelwright.evaluate.workload.subject import PythonFile
    from kernelwright.evolution.new_run import create

    (tmp_path / "empty").mkdir()
    with (
        create(tmp_path / "empty", PythonFile("again.py"), RunSettings()) as run,
        pytest.raises(Misuse, match="no evaluation yet"),
    ):
        evolution_page(run)


def test_a_page_that_cannot_be_written_is_told(finished_run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with EvolveRun.open(finished_run, GENOMES) as run, pytest.raises(ToolError, match="cannot be written"):
        write_page(run, tmp_path / "file" / "report.html")
