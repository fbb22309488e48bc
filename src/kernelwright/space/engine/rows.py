"""Rows of constraints sorted by variable, and which of them wait for optional objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def by_variable(variables: Array, count: int) -> tuple[Array, Array]:
    """For rows that belong to variables: where each variable's rows begin once sorted, and the sorting."""
    order = np.argsort(variables, kind="stable")
    first = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(variables, minlength=count), out=first[1:])
    return first, order


def waits(presence: Array) -> Array:
    """For which of its variables a constraint is visited when their objects begin to exist: for the first that belongs to them, unless all
    belong to nothing else. ``presence``: (n, k), of the variables of constraints."""
    earlier = np.zeros_like(presence)
    np.bitwise_or.accumulate(presence[:, :-1], axis=1, out=earlier[:, 1:])
    own = presence[:, :1]
    alone = (presence == own).all(1, keepdims=True) & ((own & (own - np.minimum(own, 1))) == 0)
    waits: Array = ((presence & ~earlier) != 0) & ~alone
    return waits


def waiting_first(variables: Array, waits: Array, count: int) -> tuple[Array, Array, Array]:
    """As ``by_variable``, of each variable those rows first that wait; and how many do."""
    order = np.lexsort((~waits, variables))
    return by_variable(variables, count)[0], order, np.bincount(variables[waits], minlength=count)


def starts_of_runs(rows: Array) -> Array:
    """Where runs of equal rows begin."""
    begins = np.ones(len(rows), bool)
    begins[1:] = (rows[1:] != rows[:-1]).any(1)
    found: Array = np.nonzero(begins)[0]
    return found
