"""A run as one self-contained page: no script, no outside file, readable on a phone and in print.

It shows what the journal recorded, and nothing else.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment

from kernelwright.cuda.names import readable
from kernelwright.evaluate.outcome import STAGES, Ok
from kernelwright.evaluate.run import Found, Run
from kernelwright.prove.labels import LABELS, MEANING
from kernelwright.report import figures
from kernelwright.report.page import STYLE

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title><style>{{ style|safe }}</style></head><body>
<h1>{{ title }}</h1>
{% if best %}
<p class="head"><b>{{ "%.3f"|format(best.speedup) }}×</b> as fast as the original,
label <b class="label" style="color:{{ colours[label] }}">{{ label }}</b>{% if meaning %}: {{ meaning }}{% endif %}.</p>
<p>{{ "%.4g"|format(original_us) }} µs became {{ "%.4g"|format(best.outcome.time_us) }} µs, {{ how }}; error
{{ "%g"|format(best.outcome.error) }}; {{ best.candidate|length }} edits (variant {{ best.name }}). The original went
through the same passes.
{% if any[0] and any[1] > best.speedup * 1.005 %}Whatever was merely right on the training cases came to
{{ "%.3f"|format(any[1]) }}× ({{ any[0] }}); it was turned down.{% endif %}</p>
{% if guards %}<p>It is meant for launches with {% for g in guards %}<code>{{ g }}</code>{{ ", " if not loop.last }}{% endfor %};
any other needs the original kernel.</p>{% endif %}
{% else %}<p class="head">Nothing faster was found that is accepted.</p>
{% if any[0] %}<p>Whatever was merely right on the training cases came to {{ "%.3f"|format(any[1]) }}× ({{ any[0] }}).</p>{% endif %}
{% endif %}
{% for note in notes %}<p class="note">Note: {{ note }}</p>{% endfor %}

<section><h2>The search</h2>
<p>{{ candidates }} candidates, {{ accepted }} accepted, seed {{ settings.seed }}, preset {{ settings.preset }}, accepting
{{ settings.accept }} and better; {{ "%.0f"|format(seconds) }} s.</p>
<figure>{{ plots.convergence|safe }}<figcaption>Best speed-up so far.</figcaption></figure>
<figure>{{ plots.front|safe }}<figcaption>Accepted variants that are faster than the original, by label.</figcaption></figure>
<figure>{{ plots.causes|safe }}<figcaption>What became of the candidates.</figcaption></figure>
<table>{% for stage, count in rejected %}<tr><td>{{ stage }}<td class="n">{{ count }}<td class="note">{{ stages[stage] }}</tr>
{% endfor %}</table>
{% if plots.edits %}<figure>{{ plots.edits|safe }}
<figcaption>Edits of accepted variants over the generations.</figcaption></figure>{% endif %}
</section>

{% if best %}<section><h2>The winner</h2>
{% if explained %}
<table><tr><th>#<th>kind<th>what<th class="n">alone<th class="n">within<th>same machine code without it</tr>
{% for e in explained.edits %}<tr><td>{{ e.number }}<td>{{ e.kind }}<td>{{ e.sentence }}{% for i in e.invariants %}
<br><span class="note">relies on: {{ i }}</span>{% endfor %}
<td class="n">{{ gain(e.alone) }}<td class="n">{{ gain(e.within) }}<td>{{ {True: "yes", False: "no"}.get(e.same_code, "not known") }}</tr>
{% endfor %}</table>
<p class="note">Alone: what the edit gains by itself, of the original's time. Within: what the variant loses without it.
Rejected: alone, or without it, the result is wrong.</p>
{% if explained.pairs %}<h3>Edits that do not just add up</h3><table>
{% for p in explained.pairs %}<tr><td>{{ p.a }} and {{ p.b }}<td>{{ p.relation }}<td class="n">{{ gain(p.together) }} together</tr>
{% endfor %}</table>{% endif %}
{% if explained.source %}<h3>Beside the source</h3><table class="code">
{% for file, line, text, marks in explained.source %}<tr{% if marks %} class="hit"{% endif %}><td class="n">{{ line }}
<td><pre>{{ text }}</pre><td>{% for m in marks %}<span class="mark">{{ m }} {{ explained.edits[m - 1].kind }}</span> {% endfor %}</tr>
{% endfor %}</table>{% endif %}
<h3>Counters</h3><table><tr><th><th class="n">original<th class="n">variant<th class="n">change</tr>
{% for name, pair in explained.counters.items() %}<tr><td>{{ name }}<td class="n">{{ figure(pair[0]) }}
<td class="n">{{ figure(pair[1]) }}<td class="n">{{ change(pair) }}</tr>{% endfor %}</table>
{% else %}<ol>{% for e in edits %}<li>{{ e }}</li>{% endfor %}</ol>
<p class="note">kw explain {{ path }} says what each edit does.</p>{% endif %}</section>

<section><h2>Evidence</h2>
{% if proof %}<table><tr><th>check<th><th>what was found</tr>
{% for c in proof.checks %}<tr><td>{{ c.name }}<td class="{{ c.status.replace(" ", "") }}">{{ c.status }}<td>{{ c.detail }}
{% for e in c.evidence %}<br><span class="note">{{ e.sentence }}</span>{% endfor %}</tr>{% endfor %}</table>
{% for note in proof.notes %}<p class="note">{{ note }}</p>{% endfor %}
<p class="note">Checks are runs, not mathematics: they say what was tried, and that nothing else is known.</p>
{% else %}<p>None: kw prove {{ path }} makes it.</p>{% endif %}</section>{% endif %}

{% if front %}<section><h2>The front</h2><table><tr><th>variant<th class="n">speed-up<th class="n">error<th class="n">edits<th>label</tr>
{% for f, its in front %}<tr><td>{{ f.name }}<td class="n">{{ "%.3f"|format(f.speedup) }}×<td class="n">{{ "%g"|format(f.outcome.error) }}
<td class="n">{{ f.candidate|length }}<td>{{ its }}</tr>{% endfor %}</table></section>{% endif %}

<section><h2>Again</h2><pre>{{ again }}</pre>
<p class="note">On a virtual GPU the same seed gives the same run, bit for bit.
{% for name, text in versions %}{{ name }} {{ text }}{{ ", " if not loop.last }}{% endfor %}</p></section>
</body></html>
"""


def evolution_page(run: Run) -> str:
    """The page of a run as HTML. Raises ``Misuse`` for a run without any evaluation."""
    best, original = run.best, run.original
    proof = run.proof(best.name) if best else None
    label = proof["label"] if proof else "unproven"
    rows = list(run.rows())
    session = run.journal.sessions[0].facts
    settings = run.settings
    shown = {
        "title": run.name, "style": STYLE, "best": best, "original_us": original.time_us if original else 0.0,
        "label": label, "meaning": next((text for name, text in MEANING.items() if name == label), ""),
        "colours": figures.LABEL_COLOURS, "any": run.fastest_trained, "notes": run.notes,
        "how": "measured" if settings.device.startswith("cuda") else "estimated by the virtual GPU",
        "candidates": len(rows), "accepted": sum(isinstance(row.outcome, Ok) for row in rows), "settings": settings,
        "seconds": rows[-1].at - run.journal.sessions[0].at if rows else 0.0,
        "rejected": sorted(run.rejected.items(), key=lambda item: -item[1]), "stages": STAGES,
        "plots": _plots(run), "explained": run.explained(best.name) if best else None, "proof": proof,
        "edits": [f"{readable(gene.kernel)}: {gene.edit}" for gene in best.candidate] if best else [],
        "guards": _guards(run, best), "path": run.folder, "front": [(f, _label(run, f)) for f in run.front if f.candidate],
        "gain": _gain, "figure": _figure, "change": _change, "again": _again(run),
        "versions": sorted((str(k), str(v)) for k, v in dict(session.get("versions") or {}).items()),
    }  # fmt: skip
    return Environment(autoescape=True).from_string(PAGE).render(**shown)


def _plots(run: Run) -> dict[str, str]:
    original = run.original
    base = original.time_us if original else 1.0
    best, trained = 1.0, 1.0
    best_points, trained_points = [(0, 1.0)], [(0, 1.0)]
    edits: dict[int, list[int]] = {}
    for row in run.rows():
        speed = base / row.outcome.time_us if isinstance(row.outcome, Ok) and row.outcome.time_us else 0.0
        anyhow = row.facts.get("trained")
        if speed > best:
            best = speed
            best_points.append((row.id, best))
        if anyhow and anyhow["time_us"] and base / anyhow["time_us"] > trained:
            trained = base / anyhow["time_us"]
            trained_points.append((row.id, trained))
        generation = row.facts.get("generation", 0)
        if speed and generation:
            edits.setdefault(generation, []).append(len(row.candidate))
    last = len(run.journal)
    accepted = run.accepted
    by_error = "error" in run.settings.objectives
    points = [
        (f.outcome.error if by_error else len(f.candidate), f.speedup, _label(run, f))
        for f in accepted
        if f.candidate and f.is_gain
    ]
    plots = {
        "convergence": figures.convergence([*best_points, (last, best)], [*trained_points, (last, trained)]),
        "front": figures.front(points, "error" if by_error else "edits") if points else "",
        "causes": figures.causes(run.rejected, len(accepted)),
    }
    if len(edits) > 1:
        plots["edits"] = figures.edits_by_generation(
            [(generation, statistics.fmean(some), max(some)) for generation, some in sorted(edits.items())]
        )
    return plots


def _label(run: Run, found: Found) -> str:
    proof = run.proof(found.name)
    return str(proof["label"]) if proof and proof["label"] in LABELS else "unproven"


def _guards(run: Run, best: Found | None) -> list[str]:
    explained: Mapping[str, Any] = (run.explained(best.name) if best else None) or {}
    return list(explained.get("guards", ()))


def _gain(share: float | None) -> str:
    return "rejected" if share is None else f"{100 * share:+.1f} %"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _change(pair: tuple[float, float]) -> str:
    before, after = pair
    return "" if not before else f"{100 * (after - before) / before:+.1f} %"


def _again(run: Run) -> str:
    command = run.journal.sessions[0].facts.get("command")
    lines = [str(command)] if command else []
    return "\n".join([*lines, f"kw show {run.folder}", f"kw prove {run.folder}:best", f"kw export {run.folder}:best"])
