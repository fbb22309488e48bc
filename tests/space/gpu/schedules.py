"""Schedules that experts write, as decisions: what a space must offer."""

from __future__ import annotations

from kernelwright.space.computation.objects import Backbone
from kernelwright.space.gpu.sets import dim_kind, exists, layout, order, size, thread_mapping
from kernelwright.space.lang.conditions import Condition


def naive_matmul(b: Backbone) -> list[Condition]:
    """One thread computes one element: loads, multiplies and adds in a loop over k, nothing staged."""
    d = b.dim
    return [
        *(size(d(f"mad.{loop}1")) == 16 for loop in "mn"),
        *(dim_kind(d(f"mad.{loop}1")).THREAD for loop in "mn"),
        *(dim_kind(d(f"mad.{loop}0")).BLOCK for loop in "mn"),
        *(dim_kind(d(f"mad.{loop}2")).LOOP for loop in "mn"),
        *(dim_kind(d(f"mad.k{level}")).LOOP for level in (0, 1)),
        *(order(d(f"{load}.k{level}"), d(f"mad.k{level}")).MERGED for load in "ab" for level in (0, 1)),
        *(order(d(f"a.m{level}"), d(f"mad.m{level}")).MERGED for level in (0, 1, 2)),
        *(order(d(f"b.n{level}"), d(f"mad.n{level}")).MERGED for level in (0, 1, 2)),
        *(order(d(f"{i}.{loop}{level}"), d(f"mad.{loop}{level}")).MERGED
          for i in ("mad_init", "st") for loop in "mn" for level in (0, 1, 2)),
        *(exists(t).NO for t in b.temporaries),
    ]  # fmt: skip


def tiled_matmul(b: Backbone) -> list[Condition]:
    """The classic one: blocks of 64 x 64, 16 x 16 threads with 4 x 4 elements in registers each, both operands in shared memory."""
    d = b.dim
    found = [exists(t).YES for t in b.temporaries]
    for i in ("mad_init", "mad", "st"):
        for loop in "mn":
            found += [
                dim_kind(d(f"{i}.{loop}0")).BLOCK,
                dim_kind(d(f"{i}.{loop}1")).THREAD,
                size(d(f"{i}.{loop}1")) == 16,
            ]
            found += [size(d(f"{i}.{loop}2")) == 4]
            if (i, loop) != ("st", "n"):
                found.append(dim_kind(d(f"{i}.{loop}2")).UNROLL)
    found += [
        dim_kind(d("st.n2")).VECTOR,
        dim_kind(d("mad.k0")).LOOP,
        dim_kind(d("mad.k1")).UNROLL,
        size(d("mad.k1")) == 8,
    ]
    for load, loop in (("a", "m"), ("b", "n")):
        put, get = f"{load}_to_mad_put", f"{load}_to_mad_get"
        # The load is spread over the threads and written at once; the read happens where it is used.
        found += [order(d(f"{load}.{x}"), d(f"{put}.{x}")).MERGED for x in (f"{loop}1", f"{loop}2", "k1")]
        found += [dim_kind(d(f"{load}.{loop}1")).THREAD, order(d(f"{load}.k0"), d("mad.k0")).MERGED]
        found += [dim_kind(d(f"{get}.{loop}1")).THREAD, dim_kind(d(f"{get}.{loop}2")).UNROLL]
        found += [order(d(f"{get}.{loop}1"), d(f"mad.{loop}1")).MERGED, order(d(f"{get}.k1"), d("mad.k1")).MERGED]
    found += [thread_mapping(d("mad.m1"), d("mad.n1")).OUT]
    found += [
        layout(d("a_to_mad_put.k1"), d("a_to_mad_put.m1")).OUT,
        layout(d("b_to_mad_put.k1"), d("b_to_mad_put.n1")).OUT,
    ]
    return found
