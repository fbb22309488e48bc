"""Estimates beside measured times as one self-contained page: a plot with a dot for each variant, coloured by what bounds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment

from kernelwright import __version__
from kernelwright.report.figures import measured_and_estimated
from kernelwright.report.style_sheet import STYLE

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ f.kernel }} on {{ f.gpu }}: estimates and measured times</title><style>{{ style|safe }}</style></head><body>
<p class="note">Kernelwright {{ version }}, a check of the timing model</p>
<h1>{{ f.kernel }} on {{ f.gpu }}</h1>
<p>{{ f.estimated }} of {{ f.variants }} variants of {{ f.cache }}{% if f.device %}, measured on {{ f.device }}{% endif %};
calibration: {{ f.calibration }}; seed {{ f.seed }}.</p>
<h2>Does it rank them?</h2>
<table>
<tr><td>rank correlation<td class="n">{{ rank(f.agreement.rank) }}</tr>
<tr><td>that of the fastest half<td class="n">{{ rank(f.agreement.fastest_half) }}</tr>
<tr><td>error after one scale of {{ "%.2f"|format(f.agreement.scale) }}<td class="n">{{ percent(f.agreement.error) }}</tr>
<tr><td>how much slower than the best the favourite is<td class="n">{{ percent(f.agreement.regret) }}</tr>
<tr><td>and the best of ten favourites<td class="n">{{ percent(f.agreement.regret_of_ten) }}</tr>
{% for each in f.idle %}<tr><td>pairs that differ in {{ each.name }} alone with equal times<td class="n">{{ percent(each.equal) }}</tr>
{% endfor %}{% for name, value in f.predictors.items() %}<tr><td>rank correlation of {{ name }} alone<td class="n">{{ rank(value) }}</tr>
{% endfor %}</table>
<h2>Each variant</h2>
<p>Across, what was measured; up, what is estimated, after the one scale. On the line both are equal; the colour says what bounds the
estimate.</p>
{{ plot|safe }}
<h2>Farthest off first</h2>
<div class="scroll"><table><tr><th>variant<th class="n">measured µs<th class="n">estimated µs<th class="n">off by<th class="n">registers
<th>bound by</tr>
{% for r in rows %}<tr><td><code>{{ r.variant }}</code><td class="n">{{ r["measured us"] }}<td class="n">{{ r["estimated us"] }}
<td class="n">{{ r["off by"] }}<td class="n">{{ r.registers }}<td>{{ r["bound by"] }}</tr>
{% endfor %}</table></div>
{% if f.failed %}<h2>Not estimated</h2><ul>
{% for r in f.failed %}<li><code>{{ r.variant }}</code>: {{ r.why }}</li>{% endfor %}</ul>{% endif %}
<section><h2>Again</h2><pre>{{ command }}</pre></section></body></html>
"""


def model_check_page(found: Mapping[str, Any], command: str) -> str:
    """The page as HTML, of what ``kw model check --json`` prints. ``command``: the command line that made it."""
    scale = found["agreement"]["scale"]
    points = [(r["measured us"], r["estimated us"] * scale, r["term"]) for r in found["rows"]]
    rows = sorted(found["rows"], key=lambda row: -max(row["off by"], 1 / max(row["off by"], 1e-9)))
    return Environment(autoescape=True).from_string(PAGE).render(
        f=found, rows=rows, plot=measured_and_estimated(points), command=command, style=STYLE, version=__version__,
        rank=lambda value: "none" if value is None else f"{value:.3f}", percent=lambda value: f"{100 * value:.0f} %",
    )  # fmt: skip
