"""The text of a kernel and of its variant, and data for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwright.bench.prove.families.family import Random


def kernel_source(name: str, parameters: str, body: str, original: str, variant: str, before: str = "") -> str:
    """A kernel whose ``@`` in ``body`` is ``original``, or ``variant`` where VARIANT is defined. ``before``: declarations."""
    choices = "\n".join(
        (f"#ifdef VARIANT\n#define {name}_x {variant}", f"#else\n#define {name}_x {original}", "#endif")
    )
    text = body.replace("@", f"{name}_x")
    return f'{before}\n{choices}\nextern "C" __global__ void {name}({parameters}) {{ {text} }}\n'


def floats(random: Random, count: int, low: float = 0.5, high: float = 2.0) -> Any:
    """``count`` random numbers between two bounds, float32."""
    return random.uniform(low, high, count).astype(np.float32)


def ints(random: Random, count: int, low: int = 0, high: int = 1000) -> Any:
    """``count`` random whole numbers from ``low`` up to below ``high``, int32."""
    return random.integers(low, high, count).astype(np.int32)


def zeros(count: int, dtype: Any = np.float32) -> Any:
    """``count`` zeros of a NumPy type."""
    return np.zeros(count, dtype)
