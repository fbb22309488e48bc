"""Complete decisions written by hand as a loop nest, for tests without a space."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.space.computation.objects import Backbone, Dim, DimPair, Instruction, Statement, Temporary


@dataclass(eq=False)
class Nest:
    """A fused loop: its kind, the names of its dims, what is inside (loops and names of instructions, in order)."""

    kind: str
    dims: list[str]
    body: list[Nest | str]
    axis: int | None = None


@dataclass
class WrittenLeaf:
    """``sizes`` by dim of any instruction, as ``m1``; ``layouts``: the ``put`` dims of a temporary, outermost first."""

    backbone: Backbone
    body: list[Nest | str]
    sizes: dict[str, int]
    caches: dict[str, str] = field(default_factory=dict)
    layouts: dict[str, list[str]] = field(default_factory=dict)
    spaces: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.paths: dict[str, tuple[int, ...]] = {}
        self.nests: dict[str, Nest] = {}
        self._walk(self.body, ())

    def _walk(self, body: list[Nest | str], path: tuple[int, ...]) -> None:
        for number, each in enumerate(body):
            here = (*path, number)
            if isinstance(each, str):
                self.paths[each] = here
            else:
                for dim in each.dims:
                    self.paths[dim] = here
                    self.nests[dim] = each
                self._walk(each.body, here)

    def exists(self, thing: Statement | DimPair | Temporary) -> bool:
        if isinstance(thing, Temporary):
            return thing.put.name in self.paths
        return thing.name in self.paths

    def value(self, choice: str, *objects: Statement | DimPair | Temporary) -> str | int:
        a = objects[0]
        match choice:
            case "order":
                return self._order(self.paths[a.name], self.paths[objects[1].name])
            case "dim_kind":
                return self.nests[a.name].kind
            case "size":
                assert isinstance(a, Dim)
                return self.sizes[f"{a.loop}{a.level}"]
            case "thread_mapping":
                first, second = self.nests[a.name].axis, self.nests[objects[1].name].axis
                if first is None or second is None:
                    return "NOT"
                return "MAPPED" if first == second else "IN" if first < second else "OUT"
            case "mem_space":
                return self.spaces.get(a.name, "SHARED")
            case "layout":
                names = self.layouts[a.name.split("_put")[0]]
                return "OUT" if names.index(a.name.split(".")[1]) < names.index(objects[1].name.split(".")[1]) else "IN"
            case "cache":
                assert isinstance(a, Instruction)
                return self.caches.get(a.name, "L1" if a.operation == "load" else "L2")
        raise AssertionError(choice)

    @staticmethod
    def _order(a: tuple[int, ...], b: tuple[int, ...]) -> str:
        if a == b:
            return "MERGED"
        if a[: len(b)] == b:
            return "INNER"
        if b[: len(a)] == a:
            return "OUTER"
        return "BEFORE" if a < b else "AFTER"


def dims(instructions: str, *levels: str) -> list[str]:
    """``dims("a mad", "m0")``: the dims of level ``m0`` around both."""
    return [f"{i}.{level}" for i in instructions.split() for level in levels]


def naive_matmul(backbone: Backbone) -> WrittenLeaf:
    """One thread for each element of the result, all in global memory."""
    inner = [
        "mad_init",
        Nest("LOOP", dims("a b mad", "k0"), [Nest("LOOP", dims("a b mad", "k1"), ["a", "b", "mad"])]),
        "st",
    ]
    rest: list[Nest | str] = list(inner)
    for level, kind, axis in (("n2", "LOOP", None), ("m2", "LOOP", None), ("n1", "THREAD", 0), ("m1", "THREAD", 1),
                              ("n0", "BLOCK", None), ("m0", "BLOCK", None)):  # fmt: skip
        around = "a mad_init mad st" if level.startswith("m") else "b mad_init mad st"
        rest = [Nest(kind, dims(around, level), rest, axis)]
    return WrittenLeaf(backbone, rest, {"m1": 8, "m2": 2, "n1": 16, "n2": 2, "k1": 4})


def tiled_matmul(backbone: Backbone, *, threads: int = 16, vector: bool = True) -> WrittenLeaf:
    """Two-dimensional tiles, both operands in shared memory, 4 x 4 registers a thread, vector loads where rows allow."""
    m1 = n1 = k1 = threads

    def load(i: str, first: str, second: str, unroll: str) -> Nest:
        """One tile: threads along its two dims, the third one inside."""
        kind = "VECTOR" if vector else "UNROLL"
        return Nest("THREAD", dims(f"{i} {i}_to_mad_put", second),
                    [Nest("THREAD", dims(f"{i} {i}_to_mad_put", first),
                          [Nest(kind, dims(i, unroll), [i]),
                           Nest(kind, dims(f"{i}_to_mad_put", unroll), [f"{i}_to_mad_put"])], 0)], 1)  # fmt: skip

    # A's tile: m1 x m2 x k1; its unit stride is k, so that k1 is the vector and the threads are m1 and m2
    load_a = Nest("THREAD", dims("a a_to_mad_put", "m1"),
                  [Nest("UNROLL", dims("a a_to_mad_put", "m2"),
                        [Nest("THREAD", dims("a a_to_mad_put", "k1"), ["a", "a_to_mad_put"], 0)])], 1)  # fmt: skip
    load_b = load("b", "n1", "k1", "n2")
    compute = Nest("THREAD", dims("a_to_mad_get mad", "m1"),
                   [Nest("THREAD", dims("b_to_mad_get mad", "n1"),
                         [Nest("LOOP", dims("a_to_mad_get b_to_mad_get mad", "k1"),
                               [Nest("UNROLL", dims("a_to_mad_get", "m2"), ["a_to_mad_get"]),
                                Nest("UNROLL", dims("b_to_mad_get", "n2"), ["b_to_mad_get"]),
                                Nest("UNROLL", dims("mad", "m2"), [Nest("UNROLL", dims("mad", "n2"), ["mad"])])])], 0)], 1)  # fmt: skip
    begin = Nest("THREAD", dims("mad_init", "m1"), [Nest("THREAD", dims("mad_init", "n1"),
                 [Nest("UNROLL", dims("mad_init", "m2"), [Nest("UNROLL", dims("mad_init", "n2"), ["mad_init"])])], 0)], 1)  # fmt: skip
    end = Nest("THREAD", dims("st", "m1"), [Nest("THREAD", dims("st", "n1"),
               [Nest("UNROLL", dims("st", "m2"), [Nest("VECTOR" if vector else "UNROLL", dims("st", "n2"), ["st"])])],
               0)], 1)  # fmt: skip
    body: list[Nest | str] = [begin, Nest("LOOP", dims("a b mad", "k0"), [load_a, load_b, compute]), end]
    body = [Nest("BLOCK", dims("b mad_init mad st", "n0"), body)]
    body = [Nest("BLOCK", dims("a mad_init mad st", "m0"), body)]
    return WrittenLeaf(
        backbone,
        body,
        {"m1": m1, "m2": 4, "n1": n1, "n2": 4, "k1": k1},
        {"a": "READ_ONLY", "b": "READ_ONLY"},
        {"a_to_mad": ["k1", "m1", "m2"], "b_to_mad": ["k1", "n1", "n2"]},
    )


def vector_axpy(backbone: Backbone, threads: int = 256, cache: str = "NONE") -> WrittenLeaf:
    """Four elements a thread, moved as ``float4``."""
    body: list[Nest | str] = [
        Nest("VECTOR", dims("x", "n2"), ["x"]),
        Nest("VECTOR", dims("y", "n2"), ["y"]),
        Nest("UNROLL", dims("mad", "n2"), ["mad"]),
        Nest("VECTOR", dims("st", "n2"), ["st"]),
    ]
    body = [Nest("THREAD", dims("x y mad st", "n1"), body, 0)]
    body = [Nest("BLOCK", dims("x y mad st", "n0"), body)]
    return WrittenLeaf(backbone, body, {"n1": threads, "n2": 4}, dict.fromkeys(("x", "y", "st"), cache))


def kept_softmax(backbone: Backbone, threads: int = 32, rows: int = 4) -> WrittenLeaf:
    """Rows shared by threads; the exponentials of a row wait in global memory for their sum."""
    everything = "x_max largest_init largest x e e_to_st_value_put e_to_st_value_get total_init total st_value st"

    def row(*body: str) -> Nest:
        of, inside = " ".join(body), Nest("LOOP", dims(" ".join(body), "n0"), list(body))
        return Nest("THREAD", dims(of, "m1"), [Nest("THREAD", dims(of, "n1"), [inside], 0)], 1)

    def begin(init: str) -> Nest:
        return Nest("THREAD", dims(init, "m1"), [init], 1)

    body: list[Nest | str] = [
        begin("largest_init"),
        row("x_max", "largest"),
        begin("total_init"),
        row("x", "e", "e_to_st_value_put", "total"),
        row("e_to_st_value_get", "st_value", "st"),
    ]
    body = [Nest("BLOCK", dims(everything, "m0"), body)]
    layouts = {"e_to_st_value": ["m1", "n1"]}
    return WrittenLeaf(backbone, body, {"m1": rows, "n1": threads}, layouts=layouts, spaces={"e_to_st_value": "GLOBAL"})


def shared_row_sum(backbone: Backbone, threads: int = 32, rows: int = 4, outer: str = "BLOCK") -> WrittenLeaf:
    """Each row added up by neighbouring threads, two rows for each of them; ``rows`` of such pairs in a block. ``outer``: what the tiles
    of rows leave."""
    begin = Nest("THREAD", dims("total_init", "m1"), [Nest("UNROLL", dims("total_init", "m2"), ["total_init"])], 1)
    term: list[Nest | str] = ["x", "total"]
    if "total.n2" in backbone.by_name:
        term = [Nest("UNROLL", dims("x total", "n2"), term)]
    terms = Nest("LOOP", dims("x total", "n0"), [Nest("UNROLL", dims("x total", "m2"), term)])
    add = Nest("THREAD", dims("x total", "m1"), [Nest("THREAD", dims("x total", "n1"), [terms], 0)], 1)
    end = Nest("THREAD", dims("st", "m1"), [Nest("UNROLL", dims("st", "m2"), ["st"])], 1)
    body: list[Nest | str] = [Nest(outer, dims("x total_init total st", "m0"), [begin, add, end])]
    return WrittenLeaf(backbone, body, {"m1": rows, "m2": 2, "n1": threads, "n2": 4})
