"""The costs every user meets: parsing and printing IR, importing the package, asking for help."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kernelwright.bench.result import Measured, Say, interleaved, seconds
from kernelwright.ir import Module, parse_module, print_module
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import load


def measure(quick: bool, say: Say) -> Measured:
    """Milliseconds to parse and print 1,000 instructions; seconds to import the package and to print ``kw --help``."""
    result = Measured("ir")
    repeat = 3 if quick else 15
    texts = {}
    for name in ("heartwall", "euler3d", "lud"):
        say(name)
        unit = compile_program(load(name).source_paths[0]).units[0]
        texts[name] = unit.optimised
    worst = 0.0
    for name, text in texts.items():
        module = parse_module(text)
        count = _instructions(module)
        times = interleaved(
            {
                "parse": partial(_time, partial(parse_module, text)),
                "print": partial(_time, partial(print_module, module)),
            },
            repeat,
        )
        both = 1000 * (times["parse"] + times["print"])
        worst = max(worst, both * 1000 / count)
        result.rows.append(
            {
                "module": name,
                "instructions": count,
                "parse ms": round(1000 * times["parse"], 2),
                "print ms": round(1000 * times["print"], 2),
                "both, per 1,000 instructions": round(both * 1000 / count, 1),
            }
        )
    kw = str(Path(sys.executable).with_name("kw"))
    ours = [kw] if Path(kw).exists() else [sys.executable, "-m", "kernelwright"]
    starts = interleaved(
        {
            "import": lambda: seconds([sys.executable, "-c", "import kernelwright"]),
            "help": lambda: seconds([*ours, "--help"]),
        },
        repeat,
    )
    result.rows += [{"start": name, "seconds": round(value, 3)} for name, value in starts.items()]
    result.at_most("ms to parse and print 1,000 instructions", worst, 40)
    result.at_most("seconds to import kernelwright", starts["import"], 0.3)
    result.at_most("seconds for kw --help", starts["help"], 0.5)
    return result


def _instructions(module: Module) -> int:
    return sum(len(block.instructions) for function in module.functions.values() for block in function.blocks)


def _time(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin
