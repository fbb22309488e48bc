"""Which values are needed later: what a suspended warp must find again."""

from __future__ import annotations

from kernelwright.codegen.simt.program.program import Block, Operand, Program, Var


def live_into(program: Program) -> dict[Block, set[Var]]:
    """The values alive when a block begins, its phis and the answers of the gather before it among them.

    A use of an extended value is a use of its root as well. Values that every warp is born with are left out.
    """
    use: dict[Block, set[Var]] = {}
    made: dict[Block, set[Var]] = {}
    for block in program.blocks:
        defined: set[Var] = set()
        used: set[Var] = set()
        for op in block.ops:
            for arg in op.args:
                _add(arg, defined, used)
            defined.update(op.outs)
        for arg in block.term.args:
            _add(arg, defined, used)
        for target in block.succs:
            for phi in target.phis:
                _add(phi.from_block(block), defined, used)
        use[block], made[block] = used, defined
    phis = {b: {p.outs[0] for p in b.phis} for b in program.blocks}
    for block in program.blocks:
        if block.term.outs:
            phis[block.succs[0]].update(block.term.outs)
    live = {b: use[b] | phis[b] for b in program.blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(program.blocks):
            found = live[block]
            before = len(found)
            for target in block.succs:
                found |= live[target] - phis[target] - made[block]
            changed |= len(found) != before
    return live


def _add(arg: Operand, defined: set[Var], used: set[Var]) -> None:
    if not isinstance(arg, Var) or arg.op is None or arg.op.code == "source":
        return
    if arg not in defined:
        used.add(arg)
    if arg.shape is not None and arg.shape[0] == "x":
        _add(arg.shape[1], defined, used)
