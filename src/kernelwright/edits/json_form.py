"""Edits as JSON and back: ``{"edit": "delete", "subject": 12, "value": "float %a"}``.

A genome is a list of them in order; in a run and in ``edits.json`` each also names its kernel, by its mangled name, under ``kernel``.
``edit`` is the kind (``edits/table.py``), the rest the fields of that kind's class: instructions of the original by their numbers, copies
that an edit made by their names, values with their types as LLVM writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.genome import Genome
from kernelwright.edits.table import BY_NAME, row_of
from kernelwright.errors import Misuse


def as_json(edit: Edit) -> dict[str, Any]:
    """An edit as plain values."""
    return {"edit": row_of(edit).name} | {f.name: _plain(getattr(edit, f.name)) for f in fields(edit)}


def kind_of(edit: Edit) -> str:
    """The name of an edit's kind: ``delete``."""
    return row_of(edit).name


def from_json(value: Any) -> Edit:
    """The edit again. Raises ``Misuse`` for what is none."""
    kind = BY_NAME.get(value.get("edit", "")) if isinstance(value, dict) else None
    if kind is None:
        raise _wrong(value, f"one of {', '.join(BY_NAME)} is expected under 'edit'")
    given = {k: v for k, v in value.items() if k != "edit"}
    if not given.keys() <= kind.reads.keys():
        raise _wrong(value, f"'{sorted(given.keys() - kind.reads.keys())[0]}' is no part of it")
    try:
        return kind.type(**{k: kind.reads[k](v) for k, v in given.items()})
    except (TypeError, ValueError) as error:
        raise _wrong(value, str(error)) from None


def dumps(genome: Iterable[Edit]) -> str:
    """A genome as one line of JSON."""
    return json.dumps([as_json(e) for e in genome], separators=(",", ":"))


def loads(text: str) -> Genome:
    """The genome again. Raises ``Misuse``."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Misuse(f"these edits are no JSON: {error}", hint="give the file that was exported") from None
    if not isinstance(found, list):
        raise Misuse("edits are a JSON list", hint="give the file that was exported")
    return tuple(from_json(e) for e in found)


def _wrong(value: Any, why: str) -> Misuse:
    return Misuse(f"{json.dumps(value, default=str)[:200]} is no edit: {why}", hint="give the file that was exported")


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value
