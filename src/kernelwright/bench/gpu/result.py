"""The result file of one go: JSON with everything, and the same to read."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelwright.bench.result import Measured, Row, toolkit_versions
from kernelwright.cache import write_atomically
from kernelwright.device.real_gpu.worker import GpuInfo
from kernelwright.evaluate.run.machine_facts import machine, tool_versions


def write_result(folder: Path, info: GpuInfo, parts: Sequence[Measured], more: dict[str, Any]) -> Path:
    """Writes ``<date>-<gpu>.json`` and ``.md``; returns the JSON file's path. A second go on a day replaces the first."""
    folder.mkdir(parents=True, exist_ok=True)
    gpu = {
        "name": info.name,
        "arch": info.arch,
        "driver": _release(),
        "CUDA": f"{info.driver_version // 1000}.{info.driver_version % 1000 // 10}",
        "memory GiB": round(info.properties.global_bytes / 2**30, 1),
        "multiprocessors": info.properties.multiprocessors,
        "L2 MiB": round(info.properties.l2_bytes / 2**20, 1),
        "clock MHz": info.properties.clock_khz // 1000,
    }
    content = {
        "date": datetime.date.today().isoformat(),
        "gpu": gpu,
        "machine": machine(),
        "versions": {**tool_versions(), "cuda-bindings": _binding(), **toolkit_versions()},
        "parts": [part.as_json() for part in parts],
        **more,
    }
    slug = re.sub(r"[^a-z0-9]+", "-", info.name.lower()).strip("-")
    path = folder / f"{content['date']}-{slug}.json"
    rewrite(path, content)
    return path


def rewrite(path: Path, content: dict[str, Any]) -> None:
    """Writes a result, and the page beside it."""
    write_atomically(path, (json.dumps(content, indent=1) + "\n").encode())
    write_atomically(path.with_suffix(".md"), page(content).encode())


def page(content: dict[str, Any]) -> str:
    """The result as Markdown."""
    lines = [f"# {content['gpu']['name']}, {content['date']}", ""]
    for title in ("gpu", "machine", "versions"):
        lines.append(f"{title}: " + ", ".join(f"{k} {v}" for k, v in content[title].items()) + "  ")
    for part in content["parts"]:
        lines += ["", f"## {part['name']}", ""]
        for promise in part["promises"]:
            verdict = {True: "holds", False: "**does not hold**", None: "not measured here"}[promise["holds"]]
            lines.append(f"- {promise['name']}: {promise['value']} ({promise['bound']}): {verdict}")
        lines += [f"- note: {note}" for note in part["notes"]]
        for columns, rows in _tables(part["rows"]):
            lines += ["", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
            lines += ["| " + " | ".join(_cell(row.get(c, "")) for c in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _tables(rows: Sequence[Row]) -> list[tuple[list[str], list[Row]]]:
    """Rows with the same first two columns make one table."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(list(row)[:2]), []).append(row)
    return [(list(dict.fromkeys(c for row in group for c in row)), group) for group in found.values()]


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _release() -> str:
    """The driver's own version, as 580.159.03."""
    words = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return (_said(words).splitlines() or ["unknown"])[0]


def _said(words: list[str]) -> str:
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _binding() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("cuda-bindings")
    except PackageNotFoundError:
        return "missing"
