"""Edits as JSON and back: ``{"edit": "delete", "subject": 12, "value": "float %a"}``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from kernelwright.edits.genome import Edit, Genome
from kernelwright.edits.kinds.cache_policy import CachePolicy
from kernelwright.edits.kinds.change_constant import ChangeConstant
from kernelwright.edits.kinds.constant_condition import ConstantCondition
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier
from kernelwright.edits.kinds.exchange_to_store import ExchangeToStore
from kernelwright.edits.kinds.fast_math import FastMath
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock, FixGrid
from kernelwright.edits.kinds.hoist_loads import HoistLoads
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.recipe import Recipe
from kernelwright.edits.kinds.replace_instruction import ReplaceInstruction
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.swap import Swap
from kernelwright.edits.kinds.unroll import Unroll
from kernelwright.edits.kinds.warp_barriers import WarpBarriers
from kernelwright.edits.original import CLONE
from kernelwright.errors import Misuse

KINDS: dict[str, type[Edit]] = {
    "cache-policy": CachePolicy,
    "change-constant": ChangeConstant,
    "constant-condition": ConstantCondition,
    "copy": Copy,
    "delete": Delete,
    "delete-barrier": DeleteBarrier,
    "exchange-to-store": ExchangeToStore,
    "fast-math": FastMath,
    "fix-argument": FixArgument,
    "fix-block": FixBlock,
    "fix-grid": FixGrid,
    "hoist-loads": HoistLoads,
    "move": Move,
    "no-alias": NoAlias,
    "recipe": Recipe,
    "replace-instruction": ReplaceInstruction,
    "replace-operand": ReplaceOperand,
    "swap": Swap,
    "unroll": Unroll,
    "warp-barriers": WarpBarriers,
}
_NAMES = {kind: name for name, kind in KINDS.items()}


def as_json(edit: Edit) -> dict[str, Any]:
    """An edit as plain values."""
    return {"edit": _NAMES[type(edit)]} | {f.name: _plain(getattr(edit, f.name)) for f in fields(edit)}


def kind_of(edit: Edit) -> str:
    """The name of an edit's kind: ``delete``."""
    return _NAMES[type(edit)]


def from_json(value: Any) -> Edit:
    """The edit again. Raises ``Misuse`` for what is none."""
    kind = KINDS.get(value.get("edit", "")) if isinstance(value, dict) else None
    if kind is None:
        raise _wrong(value, f"one of {', '.join(KINDS)} is expected under 'edit'")
    names = {f.name for f in fields(kind)}
    given = {k: v for k, v in value.items() if k != "edit"}
    if not given.keys() <= names:
        raise _wrong(value, f"'{sorted(given.keys() - names)[0]}' is no part of it")
    try:
        return kind(**{k: _READERS[k](v) for k, v in given.items()})
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


def _id(value: Any) -> int | str:
    if (type(value) is int and value >= 0) or (isinstance(value, str) and CLONE.fullmatch(value)):
        return value
    raise ValueError(f"{value!r} names no instruction")


def _copy_name(value: Any) -> str:
    if isinstance(value, str) and CLONE.fullmatch(value):
        return value
    raise ValueError(f"{value!r} is no name of a copy")


def _index(value: Any) -> int:
    if type(value) is int and value >= 0:
        return value
    raise ValueError(f"{value!r} is no operand")


def _value(value: Any) -> str:
    if isinstance(value, str) and " " in value and "\n" not in value:
        return value
    raise ValueError(f"{value!r} is no value with its type")


def _number(value: Any) -> int:
    if type(value) is int:
        return value
    raise ValueError(f"{value!r} is no whole number")


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is neither true nor false")


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"{value!r} is no name")


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(_word(w) for w in value)
    raise ValueError(f"{value!r} is no list of names")


def _shape(value: Any) -> tuple[int, int, int]:
    x, y, z = value
    return _number(x), _number(y), _number(z)


def _use(value: Any) -> tuple[int | str, int]:
    id, index = value
    return _id(id), _index(index)


def _choices(value: Any) -> tuple[tuple[int | str, int, str], ...]:
    return tuple((_id(id), _index(index), _value(text)) for id, index, text in value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "name": _copy_name,
    "source": _id,
    "before": _id,
    "subject": _id,
    "first": _id,
    "second": _id,
    "user": lambda v: None if v is None else _use(v) if isinstance(v, list) else _id(v),
    "index": _index,
    "value": lambda v: None if v is None else _value(v),
    "chains": _truth,
    "choices": _choices,
    "count": _number,
    "flag": _word,
    "level": _number,
    "levels": _number,
    "outcome": _truth,
    "passes": _words,
    "policy": _word,
    "registers": lambda v: None if v is None else _number(v),
    "rounds": _number,
    "shape": _shape,
    "without": _words,
}
