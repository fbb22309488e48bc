"""Partial candidates made from a written leaf: its decisions as domains of one value, some of them opened again."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelwright.space.computation.objects import Backbone, Dim, Leaf, Temporary

ORDER = ("BEFORE", "AFTER", "INNER", "OUTER", "MERGED")
KINDS = ("LOOP", "UNROLL", "VECTOR", "BLOCK", "THREAD")
MAPPINGS = ("NOT", "MAPPED", "OUT", "IN")
SPACES = ("SHARED", "GLOBAL")


class TableNumbering:
    """One variable for each decision that a bound asks about, pairs of statements held once."""

    def __init__(self, backbone: Backbone) -> None:
        self.backbone = backbone
        self.index: dict[tuple[str, ...], int] = {}
        names = [s.name for s in backbone.statements]
        keys: list[tuple[str, ...]] = [("order", a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
        keys += [("dim_kind", d.name) for d in backbone.dims]
        keys += [("size", d.name) for d in backbone.static_dims]
        keys += [(choice, t.name) for choice in ("exists", "mem_space") for t in backbone.temporaries]
        tiles = [d.name for d in backbone.static_dims]
        keys += [("thread_mapping", a, b) for n, a in enumerate(tiles) for b in tiles[n + 1 :]]
        self.index = {key: n for n, key in enumerate(keys)}

    def variable(self, choice: str, *objects: Any) -> tuple[int, bool]:
        key = (choice, *(o.name for o in objects))
        if key in self.index:
            return self.index[key], False
        return self.index[choice, key[2], key[1]], True

    def values(self, choice: str, *objects: Any) -> tuple[str | int, ...]:
        if choice == "size":
            return tuple(objects[0].universe)
        values = {
            "order": ORDER,
            "dim_kind": KINDS,
            "thread_mapping": MAPPINGS,
            "mem_space": SPACES,
            "exists": ("NO", "YES"),
        }
        return values[choice]

    def state(self, leaf: Leaf, opened: float = 0.0, seed: int = 0) -> npt.NDArray[np.uint16]:
        """The leaf; each decision has all its values again with probability ``opened``."""
        generator = random.Random(seed)
        state = np.zeros(len(self.index), np.uint16)
        for (choice, *names), number in self.index.items():
            things = [self.backbone.by_name[name] for name in names]
            values = self.values(choice, *things)
            full = (1 << len(values)) - 1
            if choice == "exists":
                assert isinstance(things[0], Temporary)
                mask = 2 if leaf.exists(things[0]) else 1
            elif all(leaf.exists(t) for t in things):
                mask = 1 << values.index(leaf.value(choice, *things))
            else:
                mask = full
            state[number] = full if generator.random() < opened else mask
        return state

    def sizes(self, state: npt.NDArray[np.uint16], dim: Dim) -> list[int]:
        return [s for n, s in enumerate(dim.universe) if state[self.index["size", dim.name]] >> n & 1]
