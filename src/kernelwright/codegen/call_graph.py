"""Which functions call which, and those that may be called again while they run: by themselves, or by others that they call.

    int depth(node *n) { return n ? 1 + max(depth(n->left), depth(n->right)) : 0; }        {depth}
    bool even(int n) { return n ? odd(n - 1) : true; }                                    {even, odd}
    bool odd(int n) { return n ? even(n - 1) : false; }

A call through a pointer counts as one of every function that it may mean.
"""

from __future__ import annotations

from kernelwright.codegen.device_heap import heap_function
from kernelwright.codegen.indirect_calls import is_indirect, meant_functions
from kernelwright.cuda.names import readable
from kernelwright.ir.graph import postorder
from kernelwright.ir.module import Function, Instruction
from kernelwright.ir.values import Value

Group = frozenset[Function]
"""Functions each of which may be running when any of them is called."""


def meant_by(call: Instruction) -> list[Function]:
    """The functions with a body that an instruction calls, or may call by a pointer; none for other instructions."""
    if call.opcode != "call":
        return []
    if isinstance(call.callee, Function):
        callee = heap_function(call.callee) or call.callee
        return [callee] if callee.blocks else []
    return meant_functions(call) if is_indirect(call) else []


def stack_is_full(callee: Value | None, stack_bytes: int) -> str:
    """What is said of a call for which a thread has no room left."""
    name = f"'{readable(callee.name)}'" if isinstance(callee, Function) else "a function by a pointer"
    return (
        f"calls {name}, and the stack of the thread is used up, {stack_bytes} bytes: the recursion is too deep "
        f"(cudaDeviceSetLimit(cudaLimitStackSize, ...) gives more)"
    )


def called_functions(function: Function) -> list[Function]:
    """The functions with a body that a function calls, or may call by a pointer, each once."""
    return list(dict.fromkeys(f for i in function.instructions() for f in meant_by(i)))


def recursive_groups(kernel: Function) -> dict[Function, Group]:
    """The group of each function under the kernel that may be called while it runs; others are not in it.

    Kosaraju: against the calls, from what is left last, one comes to nothing but one's own group.
    """
    calls: dict[Function, list[Function]] = {}
    waiting = [kernel]
    while waiting:
        function = waiting.pop()
        if function not in calls:
            calls[function] = called_functions(function)
            waiting += calls[function]
    callers: dict[Function, list[Function]] = {function: [] for function in calls}
    for function, called in calls.items():
        for each in called:
            callers[each].append(function)
    found: dict[Function, Group] = {}
    seen: set[Function] = set()
    for function in reversed(postorder([kernel], calls.__getitem__)):
        if function in seen:
            continue
        group = frozenset(_until(function, callers, seen))
        seen |= group
        if len(group) > 1 or function in calls[function]:
            found |= dict.fromkeys(group, group)
    return found


def _until(start: Function, callers: dict[Function, list[Function]], seen: set[Function]) -> set[Function]:
    """What leads to ``start``, but through what was seen."""
    found, waiting = {start}, [start]
    while waiting:
        more = [f for f in callers[waiting.pop()] if f not in seen and f not in found]
        found.update(more)
        waiting += more
    return found
