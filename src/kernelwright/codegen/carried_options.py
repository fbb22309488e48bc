"""The options of the pipeline that a program's IR carries with it: what is left of a compile may be done where the program runs.

    !kernelwright.options = !{!7}          a named node, so that LLVM and edits keep it
    !7 = !{!"-O3 -slsr"}

An estimate looks at machine code, which is made of a program's IR when its kernel is first estimated; without these it would be made
as usual, whatever the program was compiled with. IR without them is as usual.
"""

from __future__ import annotations

import re

from kernelwright.ir.module import Module
from kernelwright.passes.options import DEFAULT, PassOptions

NAME = "kernelwright.options"
_NODE = re.compile(r"^!(\d+) = ", re.M)
_WORDS = re.compile(r'^(?:distinct )?!\{!"([^"\\]*)"\}$')


def carrying(ir_text: str, options: PassOptions) -> str:
    """The IR with ``options`` in it; as it is where they are the usual ones."""
    if options == DEFAULT:
        return ir_text
    number = max((int(found[1]) for found in _NODE.finditer(ir_text)), default=-1) + 1
    return f'{ir_text.rstrip()}\n\n!{NAME} = !{{!{number}}}\n!{number} = !{{!"{options}"}}\n'


def carried(module: Module) -> PassOptions:
    """The options in the IR that ``module`` was read from. Raises ``Misuse`` for some that this version does not know."""
    for name, nodes in module.named_metadata.items():
        if name.lstrip("!") == NAME and (node := re.search(r"!(\d+)", nodes)):
            words = _WORDS.match(module.metadata.get(f"!{node[1]}", ""))
            return PassOptions.parse(words[1]) if words else DEFAULT
    return DEFAULT
