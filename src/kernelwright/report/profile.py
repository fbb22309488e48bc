"""A profile as one self-contained page: no script, no outside file, readable on a phone and in print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Profile of {{ program }}</title><style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .2em .8em .2em 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } pre { overflow-x: auto; margin: 0; }
.bar { background: #4878a8; height: .7em; min-width: 1px; } section { margin: 2.5em 0; break-inside: avoid; }
.note { color: #666; } h2 { margin-bottom: .2em; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } .note { color: #999; } }
</style></head><body>
<h1>{{ program }}</h1>
<p>Estimated for the {{ gpu }}: {{ "%.1f"|format(total) }} µs in {{ rows|sum(attribute="launches") }} launches.
<span class="note">Estimates of the virtual GPU, not measurements; docs/timing-model.md says what they leave out.</span></p>
<table><tr><th>kernel<th class="n">launches<th class="n">µs<th class="n">share<th>limited by<th style="width:30%"></tr>
{% for r in rows %}<tr><td>{{ r.kernel }}<td class="n">{{ r.launches }}<td class="n">{{ "%.1f"|format(r.time_us) }}
<td class="n">{{ "%.0f"|format(100 * r.share) }} %<td>{{ r.bound_by or "?" }}
<td><div class="bar" style="width:{{ "%.1f"|format(100 * r.share) }}%"></div></tr>{% endfor %}</table>
{% for r in rows %}<section><h2>{{ r.kernel }}</h2>
<p class="note">grid {{ r.grid|join(" × ") }}, block {{ r.block|join(" × ") }},
{{ r.dynamic_shared_bytes }} bytes of dynamic shared memory</p>
{% if r.trouble %}<p>No estimate: {{ r.trouble }}</p>{% else %}
<table>{% for name, value in facts(r) %}<tr><td>{{ name }}<td class="n">{{ value }}</tr>{% endfor %}</table>
<h3>What keeps it busy</h3><table>
{% for name, share in r.terms.items() %}{% if share >= 0.005 %}
<tr><td style="width:30%">{{ name }}
<td class="n" style="width:10%">{{ "%.0f"|format(100 * share) }} %
<td><div class="bar" style="width:{{ "%.1f"|format(100 * share) }}%"></div></tr>
{% endif %}{% endfor %}</table>
<h3>Where the time goes</h3><table>
{% for line in r.lines %}<tr><td class="n" style="width:10%">{{ "%.0f"|format(100 * line.share) }} %
<td style="width:20%">{{ line.file.split("/")[-1] }}:{{ line.line }}
<td><pre>{{ source(line.file, line.line) }}</pre></tr>{% endfor %}</table>
<p class="note">Read from:
{% for k, v in r.sources.items() %}{{ k }}: {{ v }}{{ "; " if not loop.last }}{% endfor %}</p>
{% endif %}</section>{% endfor %}</body></html>
"""


def facts(row: dict[str, Any]) -> list[tuple[str, str]]:
    """The figures of a row in words, for tables."""

    def figure(value: float | None, pattern: str = "{:.2f}") -> str:
        return "none" if value is None else pattern.format(value)

    return [
        ("time of one launch", f"{row['mean_us']:.2f} µs"),
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


def profile_page(program: str, gpu: str, rows: list[dict[str, Any]]) -> str:
    """The page as HTML; ``rows`` as ``device.profile`` makes them."""
    template = Environment(autoescape=True).from_string(PAGE)
    total = sum(row["time_us"] for row in rows)
    return template.render(program=program, gpu=gpu, rows=rows, total=total, facts=facts, source=source_line)


def source_line(file: str, line: int) -> str:
    """A line of source as it stands in the file, empty where it cannot be read."""
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""
