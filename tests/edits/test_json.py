"""Edits as text: what is no edit is told in a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kernelwright.edits import dumps, loads
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.errors import Misuse


def test_the_form() -> None:
    edits = (Delete(12, "float %a"), Copy("c0123456789", 3, 4, (5, 1), (("c0123456789", 0, "i32 1"),)))
    assert json.loads(dumps(edits)) == [
        {"edit": "delete", "subject": 12, "value": "float %a"},
        {
            "edit": "copy",
            "name": "c0123456789",
            "source": 3,
            "before": 4,
            "user": [5, 1],
            "choices": [["c0123456789", 0, "i32 1"]],
        },
    ]
    assert loads(dumps(edits)) == edits
    assert loads("[]") == ()


@pytest.mark.parametrize(
    "value",
    [
        3,
        {"edit": "rename"},
        {"subject": 1},
        {"edit": "delete"},
        {"edit": "delete", "subject": -1},
        {"edit": "delete", "subject": True},
        {"edit": "delete", "subject": "x"},
        {"edit": "delete", "subject": 1, "value": 4},
        {"edit": "delete", "subject": 1, "value": "i32 0\nret void"},
        {"edit": "delete", "subject": 1, "surprise": 4},
        {"edit": "copy", "name": 7, "source": 1, "before": 2},
        {"edit": "copy", "name": "c0123456789", "source": 1, "before": 2, "user": [1]},
        {"edit": "move", "subject": 1, "before": 2, "choices": [[1, 2]]},
        {"edit": "replace-operand", "user": 1, "index": "0", "value": "i32 1"},
    ],
)
def test_what_is_no_edit(value: Any) -> None:
    with pytest.raises(Misuse, match="is no edit"):
        loads(json.dumps([value]))


@pytest.mark.parametrize("text", ["", "{", "{}", "3"])
def test_what_is_no_list_of_edits(text: str) -> None:
    with pytest.raises(Misuse):
        loads(text)
