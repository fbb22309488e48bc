"""Writes docs/formats/, a page for each file format, from docstrings: ``make api``. tests/test_format_pages.py compares the two."""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("formats")


@dataclass(frozen=True)
class Format:
    """``module`` says what is in it; ``more``: names there whose docstrings, fields, rows or texts belong to it, too."""

    title: str
    files: str
    used_by: str
    module: str
    more: tuple[str, ...] = ()


FORMATS: dict[str, Format] = {
    "capture": Format(
        "Recordings",
        "`app.capture`",
        "written by `kw capture` and `kw evolve`, read by `kw replay`",
        "evaluate.capture.file_format",
    ),
    "journal": Format(
        "The journal of a run",
        "`kw-runs/NAME/journal.db`",
        "written by searches, read by every command that names a run",
        "evaluate.run.journal_file",
        ("TABLES",),
    ),
    "thresholds": Format(
        "Thresholds, and the evidence beside them",
        "`app.tuning`, `app.tuning.json`",
        "written by `kw tune`, read by programs of several versions",
        "versions.threshold_file",
        ("Identity", "Evidence"),
    ),
    "forest": Format(
        "The tuning forest", "any `.json`", "read by `kw tune --forest`", "versions.forest", ("Forest", "Edge")
    ),
    "comparisons": Format(
        "What a program of several versions prints",
        "standard error, `{times}`",
        "read by `kw tune`",
        "versions.running.line_protocol",
    ),
    "calibration": Format(
        "Constants of the timing model",
        "any `.json`",
        "written by `kw model fit` and `make gpu`, read by `--calibration`",
        "calibration",
        ("Calibration",),
    ),
    "gpu": Format("A GPU of one's own", "any `.toml`", "read by `--device`", "gpu_text"),
    "tuned-kernel": Format(
        "A kernel that a tuner measured",
        "any `.toml`",
        "read by `kw model --kernel`",
        "device.model_check.kernel_description",
    ),
    "tuner-cache": Format(
        "A tuner's measured times", "any `.json`, also `.gz`", "read by `kw model`", "device.model_check.tuner_cache"
    ),
    "suppressions": Format(
        "Findings that may stand", "any `.toml`", "read by `kw check --suppressions`", "device.checking.suppressions"
    ),
    "settings": Format(
        "Settings of a folder",
        "`kernelwright.toml`",
        "written by `kw init`, read by every command",
        "cli.support.settings_file",
        ("SETTINGS",),
    ),
    "exploration": Format(
        "What an exploration leaves", "`kw-runs/NAME/`", "written by `kw explore`", "exploration.files"
    ),
    "export": Format("A variant to take along", "a folder", "written by `kw export`", "stories.export"),
    "edits": Format(
        "Edits",
        "`edits.json`",
        "written by `kw export`, read by `kernelwright.edits.load_genes`",
        "edits.json_form",
        ("BY_NAME",),
    ),
    "grammar": Format("Grammars", "any text", "read by `Problem(grammar=...)`", "grammar.bnf"),
}


def pages() -> dict[str, str]:
    """By the file's name, every page."""
    index = ["# File formats", "", "What is written and read, by `make api` from docstrings.", ""]
    index += [f"- [{each.title}]({name}.md): {each.files}, {each.used_by}" for name, each in FORMATS.items()]
    return {"README.md": "\n".join(index) + "\n", **{f"{name}.md": page(each) for name, each in FORMATS.items()}}


def page(format: Format) -> str:
    """Raises ``AttributeError`` for a name that its module lacks."""
    module = importlib.import_module(f"kernelwright.{format.module}")
    parts = [f"# {format.title}", "", f"{format.files}; {format.used_by}.", "", _code(inspect.getdoc(module) or "")]
    for name in format.more:
        parts += ["", *_part(name, getattr(module, name))]
    return "\n".join(parts).rstrip() + "\n"


def _part(name: str, found: Any) -> list[str]:
    if isinstance(found, str):
        return [f"## {name.capitalize()}", "", *(f"    {line}".rstrip() for line in found.strip().splitlines())]
    if isinstance(found, dict):
        rows = [
            f"| `{kind}` | {', '.join(f'`{field.name}`' for field in fields(row.type))} |"
            for kind, row in found.items()
        ]
        return ["## Kinds", "", "| kind | fields |", "|---|---|", *rows]
    if isinstance(found, tuple):
        rows = [f"| `{each.name}` | `{each.flag}` | {each.help} | `{each.example}` |" for each in found]
        return [f"## {name.capitalize()}", "", "| setting | flag | | as |", "|---|---|---|---|", *rows]
    named = ", ".join(f"`{each.name}`" for each in fields(found))
    return [f"## {name}", "", _code(inspect.getdoc(found) or ""), "", f"Keys: {named}."]


def _code(text: str) -> str:
    """reStructuredText's ``code`` as Markdown's."""
    return text.replace("``", "`")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text)
    print(FOLDER, file=sys.stderr)


if __name__ == "__main__":
    main()
