"""``--with`` of the commands that take a program."""

from __future__ import annotations

from kernelwright.cli.support.plain_flags import Flag

WITH = Flag(
    "winners",
    ("--with",),
    "texts",
    "RUN[:VARIANT][,RUN...]: with these winners inside, checked at each launch; or a threshold file of kw tune --with.",
)
TUNED = ".tuning"
"""The ending of a threshold file."""
