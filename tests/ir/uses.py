"""Whether use-lists mirror operands: what every change of a module must leave true."""

from __future__ import annotations

from collections import Counter

from kernelwright.ir import Module, Value


def check_uses(module: Module) -> None:
    """Raise ``AssertionError`` when a use-list disagrees with the operands it should mirror."""
    users: list[Value] = [*module.globals.values()]
    users += [i for f in module.functions.values() for i in f.instructions()]
    expected: dict[int, Counter[int]] = {}
    values: dict[int, Value] = {}
    seen: set[int] = set()
    while users:
        user = users.pop()
        if id(user) in seen:
            continue
        seen.add(id(user))
        for value in user.operands:
            if value._uses is None:
                continue
            values[id(value)] = value
            expected.setdefault(id(value), Counter())[id(user)] += 1
            if value.is_composed:
                users.append(value)
    tracked: list[Value] = [*module.globals.values(), *module.functions.values()]
    for function in module.functions.values():
        tracked += [*function.arguments, *function.instructions()]
    for value in [*tracked, *values.values()]:
        live = Counter(id(u) for u in value._uses or () if u.is_live)
        assert live == expected.get(id(value), Counter()), f"the uses of {value!r} are not those of its users"
