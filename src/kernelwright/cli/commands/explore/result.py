"""What a run of exploring has come to."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from kernelwright.exploration.gpu_times import RIGHT
from kernelwright.exploration.run import NAIVE, ExploreRun


def explore_result(run: ExploreRun, seconds: float | None = None) -> dict[str, Any]:
    """What the run has come to, as JSON."""
    best, naive, ended = run.best, run.naive, run.ended or {}
    proven = run.proven_us
    return {
        "run": str(run.folder),
        **run.subject.as_json(),
        "strategy": run.settings.strategy,
        "seed": run.settings.seed,
        "best": best.name if best else None,
        "time_us": best.time_us if best else None,
        "naive_us": naive.time_us if naive else None,
        "speedup": run.speedup,
        **_launched(run),
        "on_gpu": _on_gpu(run),
        "proven_us": proven if math.isfinite(proven) else None,
        "gap": best.time_us / proven - 1 if best and 0 < proven < math.inf else None,
        "evaluations": len(run.journal),
        "rejected": run.journal.rejected(),
        "dead_ends": ended.get("dead_ends"),
        "descents": ended.get("descents"),
        "above_bound": ended.get("above_bound"),
        "finished": run.ended is not None,
        "state": run.state,
        "seconds": None if seconds is None else round(seconds, 1),
        "files": [name for name in ("best.cu", "program.cu", "best.ptx", "decisions.json", "naive.cu") if (run.folder / name).is_file()],
        "decisions": list(best.decisions) if best else [],
    }  # fmt: skip


def _on_gpu(run: ExploreRun) -> dict[str, Any] | None:
    """What a real GPU said; None where none was asked."""
    found, best = run.on_gpu, run.best
    if found is None:
        return None
    return {
        "gpu": found.gpu,
        "best_us": found.of(best.name) if best else None,
        "naive_us": found.of(NAIVE),
        "cublas_us": found.cublas_us,
        "no_cublas": found.no_cublas,
        "rank": found.rank,
        "kernels": [asdict(each) for each in found.kernels],
    }


def _launched(run: ExploreRun) -> dict[str, Any]:
    """Of sizes that are given at launch."""
    if not run.subject.dynamic:
        return {}
    return {"launches": run.launches, "fixed_us": run.fixed_us}


def explore_lines(result: dict[str, Any], open_end: str = "") -> str:
    """The same for a person. ``open_end``: what there is to say of a run that is not finished."""
    causes = ", ".join(f"{stage} {count}" for stage, count in result["rejected"].items()) or "none"
    took = f", {result['seconds']:g} s" if result["seconds"] is not None else ""
    there = result["on_gpu"]
    tried = f"{result['evaluations']} kernels tried (rejected: {causes}){took}; run {result['run']}"
    if open_end:
        tried += f"\n{open_end}"
    if not result["best"]:
        return f"no kernel was right; {tried}"
    if result["best"] == NAIVE:
        lines = [f"nothing faster than the naive kernel was found: estimated {result['time_us']:.2f} us"]
    elif there and there["best_us"]:
        said = "where the naive kernel did not run"
        if there["naive_us"]:
            said = f"{result['speedup']:.2f}x the naive kernel's speed there ({there['naive_us']:.2f} us)"
        lines = [
            f"{result['best']}: {there['best_us']:.2f} us measured on {there['gpu']}, {said}; estimated {result['time_us']:.2f} us"
        ]
    else:
        gain = f"{result['speedup']:.2f}x the naive kernel's speed ({result['naive_us']:.2f} us)"
        lines = [f"{result['best']}: estimated {result['time_us']:.2f} us, {gain}"]
    lines += _beside(there) if there else []
    if result["proven_us"]:
        faster = "estimated faster" if there else "faster"
        lines.append(
            f"nothing in the space is {faster} than {result['proven_us']:.2f} us: the best is at most "
            f"{100 * result['gap']:.0f} % slower"
        )
    if result.get("launches"):
        sizes = [" ".join(str(n) for n in each["sizes"].values()) for each in result["launches"]]
        lines.append(f"sizes are given at launch: run as a whole and right at {len(sizes)} others, {', '.join(sizes)}")
    if result.get("fixed_us"):
        ratio, fixed_us = result["time_us"] / result["fixed_us"], result["fixed_us"]
        lines.append(
            f"with these sizes in the kernel its decisions take {fixed_us:.2f} us: given at launch, {ratio:.2f} times that"
        )
    if result["above_bound"]:
        lines.append(f"note: {result['above_bound']} kernels were faster than their bound, so what is proven is not")
    return "\n".join([*lines, tried, *(f"    {result['run']}/{name}" for name in result["files"]), _valid_for(result)])


def _beside(there: dict[str, Any]) -> list[str]:
    """What a GPU said besides."""
    wrong = [each for each in there["kernels"] if each["outputs"] != RIGHT]
    count, lines = len(there["kernels"]), list[str]()
    if there["cublas_us"] and there["best_us"]:
        lines.append(
            f"cuBLAS takes {there['cublas_us']:.2f} us there: {there['cublas_us'] / there['best_us']:.2f}x its speed"
        )
    elif there["no_cublas"]:
        lines.append(f"not compared with cuBLAS: {there['no_cublas']}")
    rank = "" if there["rank"] is None else f"; estimates rank them {there['rank']:.2f}"
    lines.append(f"{count - len(wrong)} of {count} kernels ran there and were right{rank}")
    return lines + [f"note: {each['name']} there: {each['outputs']}" for each in wrong[:3]]


def _valid_for(result: dict[str, Any]) -> str:
    """For which launches the best kernel is."""
    given = result.get("dynamic") or []
    names = {size.partition(":")[0] for size in given}
    fixed = ", ".join(f"{name} = {value}" for name, value in result["sizes"].items() if name not in names)
    if not given:
        return f"{result['best']} is for {fixed} alone; --dynamic makes kernels whose sizes are given at launch"
    alone = f", and is for {fixed} alone" if fixed else ""
    tuned = " ".join(map(str, result["sizes"].values()))
    return f"{result['best']} takes {', '.join(given)} at launch{alone}; the time above is that of {tuned}, and other sizes have others"
