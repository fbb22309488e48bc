"""A profile as one self-contained page: no script, no outside file, readable on a phone and in print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment

from kernelwright import __version__
from kernelwright.report.advice import advice
from kernelwright.report.figures import roofline
from kernelwright.report.kernel_source import kernel_lines, numbered
from kernelwright.report.roofline import in_words, roofs_of, standing_of
from kernelwright.report.style_sheet import STYLE
from kernelwright.target import Gpu

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Profile of {{ program }}</title><style>{{ style|safe }}</style></head><body>
<p class="note">Kernelwright {{ version }}, a profile</p>
<h1>{{ program }}</h1>
<p>Estimated for the {{ gpu }}: {{ "%.3g"|format(total) }} µs in kernels, {{ rows|sum(attribute="launches") }}
{{ "launch" if rows|sum(attribute="launches") == 1 else "launches" }}; what launching costs comes on top,
{{ "%.3g"|format(launching) }} µs.
<span class="note">Estimates of the virtual GPU, not measurements; docs/timing-model.md says what they leave out.</span></p>
<div class="scroll"><table><tr><th>kernel<th class="n">launches<th class="n">µs in it<th class="n">share<th>limited by</tr>
{% for r in rows %}<tr><td>{{ r.kernel }}<td class="n">{{ r.launches }}<td class="n">{{ "%.3g"|format(r.time_us) }}
<td class="n">{{ "%.0f"|format(100 * r.share) }} %<td>{{ r.bound_by or "?" }}</tr>
<tr><td colspan="5"><div class="bar" style="width:{{ "%.1f"|format(100 * r.share) }}%"></div></tr>{% endfor %}</table></div>
{% for r in rows %}<section><h2>{{ r.kernel }}</h2>
<p class="note">grid {{ r.grid|join(" × ") }}, block {{ r.block|join(" × ") }},
{{ r.dynamic_shared_bytes }} bytes of dynamic shared memory</p>
{% if r.trouble %}<p>No estimate: {{ r.trouble }}</p>
{% elif r.roofline %}<p>A library's routine: {{ "%.3g"|format(r.mean_us) }} µs a call, {{ r.roofline }}.</p>{% else %}
{% for sentence in advice(r) %}{% if loop.first %}<h3>What the figures suggest</h3><ul>{% endif %}
<li>{{ sentence }}</li>{% if loop.last %}</ul>{% endif %}{% endfor %}
<h3>Figures</h3>
<table>{% for name, value in facts(r) %}<tr><td>{{ name }}<td style="text-align:right">{{ value }}</tr>{% endfor %}</table>
<h3>What keeps it busy</h3><table>
{% for name, share in r.terms.items() %}{% if share >= 0.005 %}
<tr><td style="width:25%">{{ name }}
<td class="n" style="width:15%">{{ "%.0f"|format(100 * share) }} %
<td><div class="bar" style="width:{{ "%.1f"|format(100 * share) }}%"></div></tr>
{% endif %}{% endfor %}</table>
{% if r.trust %}<p class="note">How far that is trusted: {{ r.trust }}.</p>{% endif %}
{% set roof = roofline(r, loop.index) %}{% if roof %}<h3>Under the roofs</h3><figure>{{ roof[0]|safe }}
<figcaption>Each point is the kernel at one level of memory, below the roof of its colour: {{ roof[1] }}.
Instruction roofline, Ding and Williams 2019; roofs as docs/timing-model.md has them for this GPU.</figcaption></figure>{% endif %}
<h3>Where the time goes</h3><div class="scroll"><table>
{% for line in r.lines %}<tr><td class="n">{{ "%.0f"|format(100 * line.share) }} %
<td>{{ line.file.split("/")[-1] }}:{{ line.line }}
<td><code>{{ source(line.file, line.line).strip() }}</code></tr>{% endfor %}</table></div>
{% for file, lines in whole(r) %}<h3>Line by line</h3>
<p class="note">{{ file.split("/")[-1] }}, shares of the kernel's time</p><table class="code">
{% for number, text, share in lines %}<tr{% if share >= 0.1 %} class="hit"{% endif %}><td class="n">{{ number }}<td class="n">
{%- if share >= 0.0005 %}{{ "%.1f"|format(100 * share) }} %{% endif %}<td><pre>{{ text }}</pre></tr>{% endfor %}</table>{% endfor %}
<p class="note">Read from:
{% for k, v in r.sources.items() %}{{ k }}: {{ v }}{{ "; " if not loop.last }}{% endfor %}</p>
{% endif %}</section>{% endfor %}
{% if command %}<section><h2>Again</h2><pre>{{ command }}</pre></section>{% endif %}</body></html>
"""


def facts(row: dict[str, Any]) -> list[tuple[str, str]]:
    """The figures of a row in words, for tables."""

    def figure(value: float | None, pattern: str = "{:.2f}") -> str:
        return "none" if value is None else pattern.format(value)

    return [
        ("time of one launch", f"{row['mean_us']:.3g} µs"),
        ("cost of launching it", f"{row['launch_us'] / max(row['launches'], 1):.3g} µs"),
        ("warp instructions", f"{sum(row['instructions'].values()):,.0f}"),
        ("SIMT efficiency", f"{100 * row['simt_efficiency']:.0f} %"),
        ("requests to memory", ", ".join(f"{n:,.0f} {memory}" for memory, n in row["requests"].items()) or "none"),
        ("sectors per request", figure(row["sectors_per_request"])),
        ("shared wavefronts per request", figure(row["wavefronts_per_shared_request"])),
        ("barriers per block", figure(row["barriers_per_block"], "{:.0f}")),
        ("occupancy", f"{100 * row['occupancy']:.0f} %, limited by {row['occupancy_limit']}"),
        ("waves", str(row["waves"])),
        ("L1 and L2 hit rate", f"{100 * row['l1_hit_rate']:.0f} %, {100 * row['l2_hit_rate']:.0f} %"),
        ("from DRAM", f"{row['dram_bytes'] / 1024:,.0f} KiB"),
    ]


def profile_page(program: str, gpu: str, rows: list[dict[str, Any]], command: str = "", chip: Gpu | None = None) -> str:
    """The page as HTML; ``rows`` as ``device.profiling.profile_rows`` makes them. ``gpu``: the GPU for people; ``chip``: its figures, for
    the roofline, which is left out without them. ``command``: the command line that made it."""

    def roof(row: dict[str, Any], number: int) -> tuple[str, str] | None:
        standing = standing_of(row)
        if chip is None or standing is None:
            return None
        roofs = roofs_of(chip)
        plot = roofline(roofs.sectors, roofs.issue, standing.rate, standing.intensity, str(number))
        return plot, in_words(standing, roofs)

    template = Environment(autoescape=True).from_string(PAGE)
    return template.render(
        program=program, gpu=gpu, rows=rows, command=command, style=STYLE, version=__version__,
        total=sum(row["time_us"] for row in rows), launching=sum(row["launch_us"] for row in rows),
        facts=facts, advice=advice, source=source_line, whole=whole_kernel, roofline=roof,
    )  # fmt: skip


def whole_kernel(row: dict[str, Any]) -> list[tuple[str, list[tuple[int, str, float]]]]:
    """The source of a row's kernel by file, each line with its number, text and share of the time; nothing where it cannot be read or
    found. Lines of functions that it calls are not among them."""
    by_file: dict[str, dict[int, float]] = {}
    for file, line, us in row.get("all_lines", ()):
        by_file.setdefault(file, {})[line] = us / row["time_us"] if row["time_us"] else 0.0
    found = []
    for file, shares in by_file.items():
        text = _text(file)
        lines = numbered(text.splitlines(), kernel_lines(text, row["kernel"]))
        if lines and any(number in shares for number, _ in lines):
            found.append((file, [(number, line, shares.get(number, 0.0)) for number, line in lines]))
    return found


def source_line(file: str, line: int) -> str:
    """A line of source as it stands in the file, empty where it cannot be read."""
    lines = _text(file).splitlines()
    return lines[line - 1] if 0 < line <= len(lines) else ""


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
