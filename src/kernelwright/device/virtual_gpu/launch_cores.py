"""On how many cores one launch of the virtual GPU may run: the one place that says it.

As many as ``KERNELWRIGHT_CORES`` says, else all that this process may use. Workers of a pool, of which there is one for each core,
have 1 there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from kernelwright.errors import Misuse

VARIABLE = "KERNELWRIGHT_CORES"


def launch_cores(environment: Mapping[str, str] | None = None) -> int:
    """At least 1. Raises ``Misuse`` where the variable is no such number."""
    text = (os.environ if environment is None else environment).get(VARIABLE) or ""
    if not text:
        return len(os.sched_getaffinity(0))
    if not text.isdigit() or not int(text):
        raise Misuse(f"{VARIABLE}={text} is no number of cores", hint=f"set {VARIABLE} to 1 or more, or leave it out")
    return int(text)
