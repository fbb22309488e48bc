"""Where a program's time goes, kernel by kernel: rows of plain values, ready for JSON, made from its launches.

    rows = profile_rows(profiler.profiled.values())
    rows = merged([rows_of_one_process, rows_of_another])

A row sums up all launches of one kernel, whatever their geometries. Figures of a single launch (instructions, bytes) are
means over them; rates are over all requests; shares of time are weighted by time. ``KEYS`` says what each key means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from kernelwright.codegen.cost.slow_paths import is_slow_label
from kernelwright.cuda.names import readable
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import Estimate
from kernelwright.launch import Triple
from kernelwright.lazy_dataclasses import dataclass

Shape = tuple[str, Triple, Triple, int]
Row = dict[str, Any]

MOST_LINES = 10
"""Source lines of a row: the dearest."""

KEYS: dict[str, str] = {
    "kernel": "name as a person writes it",
    "mangled": "name as the linker sees it",
    "launches": "how often it was launched",
    "time_us": "estimated time in the kernel of all launches together",
    "launch_us": "estimated cost of launching them, which is in no other time",
    "mean_us": "of one launch",
    "least_us": "of the shortest launch",
    "most_us": "of the longest launch",
    "share": "of the time of all kernels",
    "grid": "thread blocks in x, y, z of the geometry that most launches had",
    "block": "threads of a block, likewise",
    "dynamic_shared_bytes": "of a block, likewise",
    "geometries": "every geometry with its launches and its time",
    "instructions": "warp instructions of one launch by class",
    "simt_efficiency": "lanes that took part in them, of 32",
    "requests": "warp requests of one launch by memory (global, shared, local, constant), as the code makes them",
    "sectors_per_request": "32-byte sectors for each request of a warp to global or local memory",
    "load_sectors_per_request": "of loads",
    "store_sectors_per_request": "of stores",
    "wavefronts_per_shared_request": "turns of shared memory for each request; 1 without bank conflicts",
    "turns_per_constant_request": "addresses for each request of constants that is no operand; 1 where a warp reads one",
    "turns_per_atomic_request": "turns for each request of an atomic; 1 where lanes hit different addresses",
    "barriers_per_block": "barriers that a thread block passes",
    "slow_divisions": "divisions of a warp in single precision, of one launch, with operands that are 0, infinite, NaN or too far apart",
    "registers": "of a thread, the most of all launches",
    "occupancy": "resident warps, of the most a multiprocessor holds",
    "occupancy_limit": "what keeps it from more",
    "waves": "rounds of thread blocks on the busiest multiprocessor, the most of all launches",
    "l1_hit_rate": "sectors found in the L1 cache",
    "l2_hit_rate": "of those that were not, found in the L2 cache",
    "dram_bytes": "to and from memory in one launch",
    "terms": "parts of the machine and their shares of the time",
    "bound_by": "the first of them",
    "lines": "source lines that cost most: file, line, share of the time",
    "all_lines": "all source lines that cost anything: file, line, microseconds of all launches",
    "without_line": "share of the time for which no source line is known",
    "sources": "what the estimate was read from",
    "totals": "sums behind the figures above, for merging",
    "roofline": "of a library's routine: how its time was estimated; then only names, calls, times and what bounds it are known",
    "trouble": "why there is no estimate; then only names, launches and geometries are known",
}


@dataclass
class Profiled:
    """Launches of one kernel with one geometry. ``shape``: its mangled name, grid, block, dynamic shared bytes."""

    shape: Shape
    launches: int = 0
    trouble: str = ""
    """Why there is no estimate."""
    times_us: list[float] = field(default_factory=list)
    """Of each launch, without what launching costs."""
    launch_us: float = 0.0
    """What launching costs, of all together."""
    totals: dict[str, float] = field(default_factory=dict)
    lines: dict[tuple[str, int], float] = field(default_factory=dict)
    """Microseconds by file and line."""
    sources: dict[str, str] = field(default_factory=dict)
    bounds: dict[str, float] = field(default_factory=dict)
    """Of a library's routine: microseconds by what bounds it."""

    def add_call(self, time_us: float, launch_us: float, bound_by: str) -> None:
        """A call of a library's routine."""
        self.times_us.append(time_us)
        self.launch_us += launch_us
        self.bounds[bound_by] = self.bounds.get(bound_by, 0.0) + time_us

    def add(self, found: Estimate, observed: Observed) -> None:
        """A launch that has an estimate."""
        self.times_us.append(found.kernel_us)
        self.launch_us += found.time_us - found.kernel_us
        _add_totals(self.totals, _of_launch(found, observed))
        for each in found.lines:
            key = (each.file, each.line)
            self.lines[key] = self.lines.get(key, 0.0) + each.share * found.kernel_us
        self.sources.update(found.sources)


def profile_rows(profiled: Iterable[Profiled]) -> list[Row]:
    """One row per kernel, dearest first."""
    return merged([[_shape_row(each) for each in profiled]])


def merged(results: Iterable[Iterable[Row]]) -> list[Row]:
    """The rows of several processes, or of several geometries, as one row per kernel, dearest first."""
    by_kernel: dict[str, list[Row]] = {}
    for rows in results:
        for row in rows:
            by_kernel.setdefault(row["mangled"], []).append(row)
    made = [_kernel_row(rows) for rows in by_kernel.values()]
    total = sum(row["time_us"] for row in made)
    for row in made:
        row["share"] = row["time_us"] / total if total else 0.0
    return sorted(made, key=lambda row: (-row["time_us"], row["mangled"]))


def _shape_row(each: Profiled) -> Row:
    """The launches of one geometry."""
    kernel, grid, block, shared = each.shape
    time = float(sum(each.times_us))
    geometry = {
        "grid": list(grid), "block": list(block), "dynamic_shared_bytes": shared, "launches": each.launches,
        "time_us": time,
    }  # fmt: skip
    row: Row = {
        "kernel": readable(kernel), "mangled": kernel, "launches": each.launches, "time_us": time,
        "launch_us": each.launch_us, "geometries": [geometry],
    }  # fmt: skip
    if not each.times_us:
        return {**row, "trouble": each.trouble or "nothing was estimated"}
    if each.bounds:
        return {**row, "least_us": min(each.times_us), "most_us": max(each.times_us), "bounds": each.bounds}
    lines = [{"file": file, "line": line, "us": us} for (file, line), us in each.lines.items()]
    return {
        **row, "least_us": min(each.times_us), "most_us": max(each.times_us), "totals": each.totals, "lines": lines,
        "sources": each.sources,
    }  # fmt: skip


def _of_launch(found: Estimate, observed: Observed) -> dict[str, float]:
    """What a launch adds to the totals of its kernel."""
    time = found.kernel_us
    totals = {"timed": 1.0, "waves": float(found.waves), "registers": float(found.registers)}
    totals |= {f"instructions {kind}": n for kind, n in found.instructions.items()}
    totals |= {"lanes": found.simt_efficiency * time, "weight": time, "dram_bytes": found.dram_bytes}
    totals |= {"occupancy": found.occupancy.share * time, f"limit {found.occupancy.limit}": time}
    totals |= {f"term {t.name}": t.share * time for t in found.terms} or {"term launch": time}
    totals |= _traffic(observed)
    blocks, outer = float(observed.geometry.blocks), totals["sectors"]
    slow = sum(b.executions for b in observed.blocks if is_slow_label(b.label))
    totals |= {"blocks": blocks, "barriers": found.barriers * blocks, "slow divisions": float(slow)}
    totals |= {"l1 hits": found.l1_hit_rate * outer, "l2 sectors": (1 - found.l1_hit_rate) * outer}
    totals["l2 hits"] = found.l2_hit_rate * totals["l2 sectors"]
    return totals


def _traffic(observed: Observed) -> dict[str, float]:
    """Requests of one launch, and what they moved."""
    found = dict.fromkeys(
        (
            "requests", "sectors", "load requests", "load sectors", "store requests", "store sectors", "shared requests",
            "wavefronts", "atomic requests", "atomic turns", "constant requests", "constant turns", "at global", "at shared",
            "at local", "at constant",
        ),
        0.0,
    )  # fmt: skip
    for access in observed.accesses:
        outer = access.requests - access.shared_requests
        found["at shared"] += access.shared_requests
        found[f"at {'global' if access.space == 'shared' else access.space}"] += outer
        if access.space == "constant":
            found["constant requests"] += access.requests
            found["constant turns"] += access.requests + access.serial
            continue
        found["requests"] += outer
        found["sectors"] += access.sectors
        found["shared requests"] += access.shared_requests
        found["wavefronts"] += access.wavefronts
        if access.kind == "atomic":
            found["atomic requests"] += access.requests
            found["atomic turns"] += access.requests + access.serial
        else:
            found[f"{access.kind} requests"] += outer
            found[f"{access.kind} sectors"] += access.sectors
    return found


def _kernel_row(rows: list[Row]) -> Row:
    """Rows of one kernel as one."""
    first = rows[0]
    geometries = _geometries(rows)
    usual = max(geometries, key=lambda g: (g["launches"], g["time_us"]))
    time = float(sum(row["time_us"] for row in rows))
    made: Row = {
        "kernel": first["kernel"], "mangled": first["mangled"], "launches": sum(row["launches"] for row in rows),
        "time_us": time, "launch_us": float(sum(row["launch_us"] for row in rows)), "share": 0.0, "geometries": geometries,
        **{key: usual[key] for key in ("grid", "block", "dynamic_shared_bytes")},
    }  # fmt: skip
    routine = [row for row in rows if "bounds" in row]
    if routine:
        return {**made, **_routine_figures(routine, made)}
    timed = [row for row in rows if "totals" in row]
    if not timed:
        return {**made, "trouble": first["trouble"]}
    totals = _totals(timed)
    launches = totals["timed"]
    terms = _named(totals, "term ", time)
    limits = _named(totals, "limit ", time)
    lines, unknown = _lines(timed, time)
    return {
        **made,
        "mean_us": time / launches,
        "least_us": min(row["least_us"] for row in timed),
        "most_us": max(row["most_us"] for row in timed),
        "instructions": _named(totals, "instructions ", launches),
        "simt_efficiency": _rate(totals, "lanes", "weight") or 0.0,
        "requests": {name: n for name, n in _named(totals, "at ", launches).items() if n},
        "sectors_per_request": _rate(totals, "sectors", "requests"),
        "load_sectors_per_request": _rate(totals, "load sectors", "load requests"),
        "store_sectors_per_request": _rate(totals, "store sectors", "store requests"),
        "wavefronts_per_shared_request": _rate(totals, "wavefronts", "shared requests"),
        "turns_per_constant_request": _rate(totals, "constant turns", "constant requests"),
        "turns_per_atomic_request": _rate(totals, "atomic turns", "atomic requests"),
        "barriers_per_block": _rate(totals, "barriers", "blocks") or 0.0,
        "slow_divisions": totals["slow divisions"] / launches,
        "registers": int(totals["registers"]),
        "occupancy": _rate(totals, "occupancy", "weight") or 0.0,
        "occupancy_limit": next(iter(limits), ""),
        "waves": int(totals["waves"]),
        "l1_hit_rate": _rate(totals, "l1 hits", "sectors") or 0.0,
        "l2_hit_rate": _rate(totals, "l2 hits", "l2 sectors") or 0.0,
        "dram_bytes": totals["dram_bytes"] / launches,
        "terms": terms,
        "bound_by": next(iter(terms), ""),
        "lines": lines[:MOST_LINES],
        "all_lines": [[each["file"], each["line"], each["us"]] for each in lines],
        "without_line": unknown,
        "sources": {key: text for row in timed for key, text in row["sources"].items()},
        "totals": totals,
    }


ROOFLINE = "the least time: each operand once through memory, or all arithmetic at full rate; the library's own kernels are unknown"


def _routine_figures(rows: list[Row], made: Row) -> Row:
    bounds: dict[str, float] = {}
    for row in rows:
        _add_totals(bounds, row["bounds"])
    return {
        "mean_us": made["time_us"] / made["launches"], "least_us": min(row["least_us"] for row in rows),
        "most_us": max(row["most_us"] for row in rows), "bounds": bounds, "bound_by": max(bounds, key=lambda b: bounds[b]),
        "roofline": ROOFLINE,
    }  # fmt: skip


def _geometries(rows: Iterable[Row]) -> list[Row]:
    """Each geometry once, most launches first."""
    found: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        for each in row["geometries"]:
            key = (tuple(each["grid"]), tuple(each["block"]), each["dynamic_shared_bytes"])
            kept = found.setdefault(key, {**each, "launches": 0, "time_us": 0.0})
            kept["launches"] += each["launches"]
            kept["time_us"] += each["time_us"]
    return [found[key] for key in sorted(found, key=lambda k: (-found[k]["launches"], k))]


def _totals(rows: Iterable[Row]) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in rows:
        _add_totals(found, row["totals"])
    return found


def _add_totals(to: dict[str, float], more: Mapping[str, float]) -> None:
    """Sums; of waves and registers the most."""
    for name, amount in more.items():
        largest = name in ("waves", "registers")
        to[name] = max(to.get(name, 0.0), amount) if largest else to.get(name, 0.0) + amount


def _named(totals: Mapping[str, float], prefix: str, whole: float) -> dict[str, float]:
    """What is summed under a prefix, as parts of ``whole``, largest first."""
    parts = {n.removeprefix(prefix): x for n, x in totals.items() if n.startswith(prefix)}
    order = sorted(parts, key=lambda n: (-parts[n], n))
    return {name: parts[name] / whole if whole else 0.0 for name in order}


def _rate(totals: Mapping[str, float], part: str, whole: str) -> float | None:
    """None where there was nothing."""
    return totals.get(part, 0.0) / totals[whole] if totals.get(whole) else None


def _lines(rows: Iterable[Row], time: float) -> tuple[list[Row], float]:
    """All known lines, dearest first, with microseconds of all launches and their share; and the share that has none.

    A row that was merged before has all of them in ``all_lines``.
    """
    found: dict[tuple[str, int], float] = {}
    unknown = 0.0
    for row in rows:
        unknown += row.get("without_line", 0.0) * row["time_us"]
        known = row.get("all_lines") or [(each["file"], each["line"], each["us"]) for each in row["lines"]]
        for file, line, us in known:
            if not line:
                unknown += us
                continue
            found[file, line] = found.get((file, line), 0.0) + us
    order = sorted(found, key=lambda key: (-found[key], key))
    lines = [
        {"file": file, "line": line, "us": found[file, line], "share": found[file, line] / time if time else 0.0}
        for file, line in order
    ]
    return lines, unknown / time if time else 0.0
