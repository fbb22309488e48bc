"""Benchmarks: every figure in the README and the docs comes out of one of these.

``BENCHMARKS`` is the table behind ``kw bench``: a name, the module with its ``measure(quick, say) -> Measured``, a line.
"""

from __future__ import annotations

BENCHMARKS: dict[str, tuple[str, str]] = {
    "compile": (
        "kernelwright.bench.compile.measure",
        "CUDA to PTX against nvcc, stage by stage, the ablation of each step, and machine code beside nvcc's.",
    ),
    "simt": (
        "kernelwright.bench.simt.measure",
        "The virtual GPU against PoCL, and what it costs to make a variant runnable.",
    ),
    "first-hour": (
        "kernelwright.bench.first_hour.measure",
        "What README and docs show, typed command by command with nothing cached: first output, and the longest silence.",
    ),
    "run": ("kernelwright.bench.run", "Running programs: what a launch costs, and starting a worker."),
    "mutants": (
        "kernelwright.bench.mutants",
        "Mutated kernels of the suite: the virtual GPU and the reference executor agree, and nothing crashes.",
    ),
    "programs": (
        "kernelwright.bench.programs.measure",
        "CUDA programs as people have them: how many of a folder build, run and check clean, and what stops the others.",
    ),
    "check": (
        "kernelwright.bench.check.measure",
        "Kernels with a known truth under kw check: planted defects found, and false alarms in sound look-alikes, by class.",
    ),
    "edits": (
        "kernelwright.bench.edits",
        "Random edit sequences over the suite: LLVM accepts whatever comes out, and it comes out quickly.",
    ),
    "prove": (
        "kernelwright.bench.prove.measure",
        "Variants with a known truth: every unsafe one gets its label, no sound one is called unsafe.",
    ),
    "evolve": (
        "kernelwright.bench.evolve",
        "Evolution over the whole suite: as GEVO would report it, and clean; the default search against the paper's.",
    ),
    "rate": (
        "kernelwright.bench.rate",
        "Candidates per second of evolution on each program of the suite, by processor time, and what they are spent on.",
    ),
    "search": (
        "kernelwright.bench.search",
        "How the default search, the paper's and random edits climb from 100 to 5,000 candidates, over five seeds.",
    ),
    "farm": (
        "kernelwright.bench.farm",
        "Populations to cubins: nvcc, NVRTC, resident workers, and our farm; tables 1 to 3 of the paper, and its figures.",
    ),
    "pool": ("kernelwright.bench.pool", "Worker processes: what they cost beside the work they do."),
    "breed": (
        "kernelwright.bench.breed",
        "Breeding: programs are worth the same on every back end, the paper's problems reach their fitness, and DEAP beside it.",
    ),
    "chaos": (
        "kernelwright.bench.chaos",
        "Worker processes under attack: every good item gets its result, every bad one its cause, nothing is left behind.",
    ),
    "sampling": (
        "kernelwright.bench.sampling",
        "Launches estimated from a sample of their blocks against the same run whole, and a large grid in a second.",
    ),
    "model": (
        "kernelwright.bench.model.measure",
        "The timing model: counters against exact counts, estimates against published microbenchmarks, samples against whole grids.",
    ),
    "tune": (
        "kernelwright.bench.tune.measure",
        "Thresholds of programs of several versions: runs against the promised number, times against exhaustive search.",
    ),
    "tune-large": (
        "kernelwright.bench.tune.large",
        "The same on data of about the paper's size, without searches beside it.",
    ),
    "tune-sizes": (
        "kernelwright.bench.tune.sizes",
        "What thresholds do for sizes that they were never tuned on: each left out in turn.",
    ),
    "space": (
        "kernelwright.bench.space.measure",
        "Searches of spaces of implementations against uniform descents, against a hand-tiled and a naive kernel.",
    ),
    "space-tree": (
        "kernelwright.bench.space.tree",
        "Spaces of implementations: size, dead ends, nodes at depth 10, and what the engine does in a second of one core.",
    ),
    "ir": ("kernelwright.bench.ir", "Parsing and printing IR, importing the package, starting the command."),
}
