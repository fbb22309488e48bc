"""Convolution, row reductions and softmax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelwright.space.computation.declaration import Computation
from kernelwright.space.computation.expressions import exp
from kernelwright.space.computation.family import Arrays, Family

ROW = (256, 4)
"""Tiles of a row: threads that share it, and what each of them loads at once."""


def _conv(filters: int, channels: int, size: int, window: int) -> Computation:
    """One image, channels first, no padding: ``size`` is the side of the result, ``window`` that of the filter."""
    c = Computation("conv")
    f, p, q = c.loop("f", filters, (32, 4)), c.loop("p", size, (32,)), c.loop("q", size, (32, 4))
    ch, r, s = c.loop("c", channels, (32,)), c.loop("r", window), c.loop("s", window)
    side = size + window - 1
    image, weights = c.input("I", (channels, side, side)), c.input("W", (filters, channels, window, window))
    out = c.output("O", (filters, size, size))
    pixel, weight = c.load("pixel", image[ch, p + r, q + s]), c.load("weight", weights[f, ch, r, s])
    c.store("st", out[f, p, q], c.sum("mad", pixel * weight, over=(ch, r, s)))
    return c


def _conv_oracle(arrays: Arrays, scalars: Mapping[str, float]) -> dict[str, Any]:
    window = arrays["W"].shape[-1]
    patches = np.lib.stride_tricks.sliding_window_view(arrays["I"], (window, window), axis=(1, 2))
    return {"O": np.einsum("cpqrs,fcrs->fpq", patches, arrays["W"])}


def _row_sum(m: int, n: int) -> Computation:
    c = Computation("row_sum")
    i, j = c.loop("m", m, (128, 4)), c.loop("n", n, ROW)
    x, y = c.input("X", (m, n)), c.output("Y", (m,))
    c.store("st", y[i], c.sum("total", c.load("x", x[i, j]), over=j))
    return c


def _row_max(m: int, n: int) -> Computation:
    c = Computation("row_max")
    i, j = c.loop("m", m, (128, 4)), c.loop("n", n, ROW)
    x, y = c.input("X", (m, n)), c.output("Y", (m,))
    c.store("st", y[i], c.max("largest", c.load("x", x[i, j]), over=j))
    return c


def _softmax(m: int, n: int) -> Computation:
    """Each row less its maximum, so that no exponential overflows; X is read three times, the exponentials computed twice."""
    c = Computation("softmax")
    i, j = c.loop("m", m, (128,)), c.loop("n", n, ROW[:1])
    x, y = c.input("X", (m, n)), c.output("Y", (m, n))
    largest = c.max("largest", c.load("x_max", x[i, j]), over=j)
    total = c.sum("total", exp(c.load("x_sum", x[i, j]) - largest), over=j)
    c.store("st", y[i, j], exp(c.load("x_out", x[i, j]) - largest) / total)
    return c


def _softmax_kept(m: int, n: int) -> Computation:
    """The same with each exponential computed once: a row of them is kept from its sum to its quotients, which only memory can, in
    global memory where a row is longer than a tile."""
    c = Computation("softmax_kept")
    i, j = c.loop("m", m, (128,)), c.loop("n", n, ROW[:1])
    x, y = c.input("X", (m, n)), c.output("Y", (m, n))
    largest = c.max("largest", c.load("x_max", x[i, j]), over=j)
    e = c.compute("e", exp(c.load("x", x[i, j]) - largest), through_memory=True)
    c.store("st", y[i, j], e / c.sum("total", e, over=j))
    return c


def _softmax_oracle(arrays: Arrays, scalars: Mapping[str, float]) -> dict[str, Any]:
    e = np.exp(arrays["X"] - arrays["X"].max(axis=1, keepdims=True))
    return {"Y": e / e.sum(axis=1, keepdims=True)}


EXAMPLES = (
    Family("conv", {"filters": 64, "channels": 64, "size": 32, "window": 3}, _conv, _conv_oracle, {}),
    Family("row_sum", {"m": 4096, "n": 4096}, _row_sum, lambda a, s: {"Y": a["X"].sum(axis=1)}, {}),
    Family("row_max", {"m": 4096, "n": 4096}, _row_max, lambda a, s: {"Y": a["X"].max(axis=1)}, {}),
    Family("softmax", {"m": 4096, "n": 4096}, _softmax, _softmax_oracle, {}),
    Family("softmax_kept", {"m": 4096, "n": 4096}, _softmax_kept, _softmax_oracle, {}),
)
