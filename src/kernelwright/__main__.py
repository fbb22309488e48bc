"""``python -m kernelwright`` is the command ``kw``."""

from kernelwright.cli import main

main()
