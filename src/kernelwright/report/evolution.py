"""A run as one self-contained page: no script, no outside file, readable on a phone and in print.

    write_page(run, run.folder / "report.html")

It shows what the journal recorded, and nothing else; how it reads is in ``evolution.html.jinja``.
"""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from kernelwright.cuda.names import readable
from kernelwright.device.describe_access import plural
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import STAGES, Ok, Rejected
from kernelwright.evaluate.run.journal import Row
from kernelwright.evaluate.run.variant_run import Found, VariantRun
from kernelwright.prove.checks.table import CHECKS
from kernelwright.prove.labels import MEANING
from kernelwright.prove.obligations.obligation import IN_WORDS, Obligation, obligation_from_json
from kernelwright.report import figures, finding_words
from kernelwright.report.by_generation import by_generation, transfer_in_words
from kernelwright.report.counters import besides_time, counters
from kernelwright.report.lineage import in_words, lineage
from kernelwright.report.page_file import written
from kernelwright.report.repeat_command import again, command
from kernelwright.report.selected_variant import UNPROVEN, Spoken, label_of, spoken_of
from kernelwright.report.style_sheet import STYLE
from kernelwright.report.trust import trust_of
from kernelwright.search.ties import TIE

TEMPLATE = Path(__file__).with_name("evolution.html.jinja")
MOST_VARIANTS = 25
EXPLAINED = {"edits", "pairs", "counters", "source", "guards", "guard_names", "patches", "notes"}
"""What the page reads of an explanation."""

Line = tuple[int | None, str, tuple[int, ...]]
"""A line of source: its number (None: some are left out here), its text, the numbers of the edits there."""


def write_page(run: VariantRun[Any], target: Path) -> Path:
    """Writes the page. Raises ``Misuse`` for a run without any evaluation, ``ToolError`` for a file that cannot be written."""
    return written(evolution_page(run), target)


def evolution_page(run: VariantRun[Any]) -> str:
    """The page of a run as HTML. Raises ``Misuse`` for a run without any evaluation."""
    rows = list(run.searched())
    original_us = run.original_us
    if original_us is None:
        raise Misuse(f"{run.name} has no evaluation yet", hint=f"kw evolve --resume {run.folder}")
    spoken = spoken_of(run)
    best = spoken.found if spoken else None
    proof = run.proof(best.name) if best else None
    explained = _explained(run, best) if best else None
    label = spoken.label if spoken else UNPROVEN
    facts = run.journal.sessions[0].facts
    transfer = run.transfer(best.name) if best else None
    free = run.for_any_size if spoken and spoken.accepted else None
    accepted = sum(isinstance(row.outcome, Ok) for row in rows)
    names = explained["guard_names"] if explained else {}
    owed = [obligation_from_json(one) for one in (proof or {}).get("obligations", ())]
    shown = {
        # what was found
        "run": run, "title": _title(run, spoken), "accepted": spoken is None or spoken.accepted,
        "best": best, "original_us": original_us, "gains": run.gains(best) if best else [], "how": _how(run), "trust": trust_of(run, best),
        "kernels": _kernels(run, best),
        "label": label, "meaning": MEANING.get(label), "proof": proof, "explained": explained,  # type: ignore[call-overload]
        "guards": explained["guards"] if explained else None, "rejected": _rejected(run, best), "notes": run.notes,
        "edits": [f"{readable(kernel)}: {what}" for kernel, what in run.kind.described(best.candidate)] if best else [],
        "source": list(_source(explained["source"])) if explained else [],
        "free": free, "free_label": (run.proof(free.name) or {}).get("label", UNPROVEN) if free else "",
        "transfer": transfer_in_words(transfer) if transfer else "",
        "asks": {name: kind.asks.replace("... ", "Are the outputs right ", 1) for name, kind in CHECKS.items()},
        # the search
        "seconds": _seconds(run, rows), "searched": len(rows), "taken": accepted, "causes": _causes(rows, accepted),
        "plots": _plots(run, rows), "variants": _variants(run), "command": command(run), "again": again(run),
        "versions": sorted((str(k), str(v)) for k, v in dict(facts.get("versions") or {}).items()),
        "machine": "{processor}, {cores} cores, {system}".format_map(_Known(facts.get("machine") or {})),
        # words
        "style": STYLE, "colours": figures.LABEL_COLOURS, "counters": counters, "besides_time": besides_time,
        "units": lambda text: text.replace(" us", " µs"), "diff_class": _diff_class, "same_code": finding_words.SAME_CODE,
        "relations": finding_words.RELATIONS, "alone": finding_words.alone, "within": finding_words.within, "gain": finding_words.gain,
        "domain": finding_words.domain(proof), "settled": IN_WORDS, "owed": owed, "owed_together": _together(owed),
        "lineage": lineage(run, best) if best else [], "numbers": in_words,
        "evidence": finding_words.evidence, "summary": finding_words.summary,
        "for_people": lambda text: finding_words.for_people(text, names),
    }  # fmt: skip
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(**shown)


# -- what was found --------------------------------------------------------------------------------------------------------


def _title(run: VariantRun[Any], spoken: Spoken | None) -> str:
    if spoken is None:
        return "Nothing faster was found"
    kernels = _kernels(run, spoken.found)
    which = " and ".join(kernels) if len(kernels) <= 2 else f"{len(kernels)} kernels"
    but = "" if spoken.accepted else f", but {spoken.label}"
    return f"{which}, {spoken.found.speedup:.2f} times as fast{but}"


def _kernels(run: VariantRun[Any], found: Found[Any] | None) -> list[str]:
    """Those that a variant changes, each once."""
    described = run.kind.described(found.candidate) if found else ()
    return list(dict.fromkeys(readable(kernel) for kernel, _ in described))


def _how(run: VariantRun[Any]) -> str:
    settings = run.settings
    return (
        f"measured on {settings.gpu}"
        if settings.gpu
        else f"estimated by the timing model of the virtual {settings.device}"
    )


def _explained(run: VariantRun[Any], best: Found[Any]) -> Mapping[str, Any] | None:
    """What ``kw explain`` noted; None where it was not asked for, or another version noted something else."""
    found = run.explained(best.name)
    return found if found is not None and found.keys() >= EXPLAINED else None


def _rejected(run: VariantRun[Any], best: Found[Any] | None) -> str:
    """What was faster and merely right on the training cases, in a sentence; nothing where that is no more than the best."""
    name, speedup = run.fastest_trained
    if not name or speedup <= (best.speedup if best else 1.0) * (1 + TIE):
        return ""
    proof = run.proof(name)
    why = f"its proof calls it {proof['label']}" if proof else _cause(run, name)
    return finding_words.for_people(
        f"{speedup:.3f}× ({name}), right on the training cases alone{': ' if why else ''}{why}"
    )


def _cause(run: VariantRun[Any], name: str) -> str:
    outcome = next((row.outcome for row in run.rows() if f"v{row.id}" == name), None)
    return str(outcome) if isinstance(outcome, Rejected) else ""


class _Known(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return f"unknown {key}"


def _together(owed: list[Obligation]) -> list[tuple[Obligation, int, float]]:
    """Each that reads alike once, in order: how often it is owed, and the solver's seconds for all of them."""
    found: dict[tuple[str, str, str], list[Obligation]] = {}
    for each in owed:
        found.setdefault((each.method, each.claim, each.reason), []).append(each)
    return [(some[0], len(some), sum(each.seconds for each in some)) for some in found.values()]


def _source(lines: list[list[Any]]) -> Iterator[tuple[str, list[Line]]]:
    """By file, the lines around the edits, with gaps, moved to the left as far as they go."""
    by_file: dict[str, list[tuple[int, str, tuple[int, ...]]]] = {}
    for file, line, text, marks in lines:
        by_file.setdefault(file, []).append((line, text, tuple(marks)))
    for file, found in by_file.items():
        moved = textwrap.dedent("\n".join(text for _, text, _ in found)).split("\n")
        shown: list[Line] = []
        for (line, _, marks), text in zip(found, moved, strict=True):
            if shown and line - 1 != shown[-1][0]:
                shown.append((None, "", ()))
            shown.append((line, text, marks))
        yield "/".join(Path(file).parts[-2:]), shown


def _diff_class(line: str) -> str:
    return {"+": "added", "-": "gone", "@": "note"}.get(line[:1], "")


# -- the search ------------------------------------------------------------------------------------------------------------


def _seconds(run: VariantRun[Any], rows: list[Row]) -> float:
    """How long the search took, all sessions together."""
    last = {row.session: row.at for row in rows}
    return sum(last[each.id] - each.at for each in run.journal.sessions if each.id in last)


def _causes(rows: list[Row], accepted: int) -> list[tuple[str, int, str]]:
    """What became of the candidates: name, how many, what that means; most frequent first."""
    counts: dict[str, int] = {}
    for row in rows:
        if isinstance(row.outcome, Rejected):
            counts[row.outcome.stage] = counts.get(row.outcome.stage, 0) + 1
    named = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [("accepted", accepted, ""), *((stage, count, STAGES[stage]) for stage, count in named)]


def _variants(run: VariantRun[Any]) -> list[tuple[Found[Any], str, str]]:
    """The front, whatever was proven, and the fastest that was rejected; fastest first, with a remark on each."""
    remarks: dict[str, str] = {found.name: "" for found in run.front if found.candidate}
    for event in run.journal.events("proof"):
        remarks.setdefault(event.data["variant"], "")
    name, _ = run.fastest_trained
    if name:
        remarks[name] = _cause(run, name)
    for kind, text in (
        ("minimised", "what minimising left of {}"),
        ("salvaged", "what was left of {}"),
    ):
        for event in run.journal.events(kind):
            of = event.data["of"]
            remarks[event.data["variant"]] = text.format(plural(of, "edit") if isinstance(of, int) else of)
    for event in run.journal.events("fallen"):
        remarks[event.data["variant"]] = "its proof said less than was demanded"
    if run.best is not None:
        remarks[run.best.name] = "; ".join(filter(None, ["the best", remarks.get(run.best.name, "")]))
    found = sorted((run.variant(name) for name in remarks), key=lambda each: -each.speedup)
    return [(each, label_of(run, each.name), remarks[each.name]) for each in found][:MOST_VARIANTS]


def _plots(run: VariantRun[Any], rows: list[Row]) -> dict[str, str]:
    base = run.original_us or 1.0
    best, trained = [(0, 1.0)], [(0, 1.0)]
    edits: dict[int, list[int]] = {}
    points: list[tuple[float, float, str]] = []
    by_error = "error" in run.settings.objectives
    for number, row in enumerate(rows, start=1):
        anyhow = row.facts.get("trained")
        if anyhow and anyhow["time_us"] and base / anyhow["time_us"] > trained[-1][1]:
            trained.append((number, base / anyhow["time_us"]))
        if not isinstance(row.outcome, Ok) or not row.candidate or not row.outcome.time_us:
            continue
        speed = base / row.outcome.time_us
        if speed > best[-1][1]:
            best.append((number, speed))
        if generation := row.facts.get("generation", 0):
            edits.setdefault(generation, []).append(len(row.candidate))
        if speed > 1 + TIE:
            across = row.outcome.error if by_error else float(len(row.candidate))
            points.append((across, speed, label_of(run, f"v{row.id}")))
    ends = [(len(rows), best[-1][1])], [(len(rows), trained[-1][1])]
    plots = {"convergence": figures.convergence(best + ends[0], trained + ends[1])}
    found = run.best
    ring = (found.outcome.error if by_error else float(len(found.candidate)), found.speedup) if found else None
    plots["front"] = figures.front(points, "error" if by_error else "edits", ring) if points else ""
    generations = [(number, statistics.fmean(some), max(some)) for number, some in sorted(edits.items())]
    plots["edits"] = figures.edits_by_generation(generations) if len(generations) > 2 else ""
    fittest = [(each.generation, each.time_us, each.error) for each in by_generation(run)]
    plots["fittest"] = figures.fittest_by_generation(fittest) if len(fittest) > 2 else ""
    plots["has_error"] = "yes" if any(error for _, _, error in fittest) else ""
    return plots
