"""Source lines through inlined calls."""

from __future__ import annotations

from kernelwright.ir import function_location, parse_module, source_location
from tests.ir.llvm import DATA, optimised, read


def test_every_line_exists_and_holds_what_the_instruction_does() -> None:
    module = parse_module(read("stencil"))
    source = (DATA / "stencil.cu").read_text().split("\n")
    kernel = module.functions["_Z4heatPKfPfS0_iif"]
    multiplies = [i for i in kernel.instructions() if i.opcode == "fmul"]
    assert multiplies
    for i in multiplies:
        place = source_location(i)
        assert place is not None and place.file == "stencil.cu" and place.function == "heat"
        assert source[place.line - 1][place.column - 1] == "*"


def test_inlined_calls_make_a_chain() -> None:
    module = parse_module(optimised("reduce"))
    kernel = module.functions["_Z3sumPKfPfi"]
    call = next(i for i in kernel.instructions() if i.opcode == "call" and "ctaid" in i.callee.name)
    inner = source_location(call)
    assert inner is not None
    assert [(f.file, f.function) for f in inner.frames()] == [
        ("./device.h", "block"),
        ("./device.h", "position"),
        ("reduce.cu", "sum"),
    ]
    user = source_location(call, skip=lambda file: file.endswith(".h"))
    assert user is not None and (user.file, user.function) == ("reduce.cu", "sum")
    source = (DATA / "reduce.cu").read_text().split("\n")
    assert source[user.line - 1][user.column - 1 :].startswith("position()")
    assert str(user) == f"reduce.cu:{user.line}:{user.column}"
    outermost = source_location(call, skip=lambda file: True)
    assert outermost == user  # all frames skipped: the outermost one is the best answer


def test_instructions_without_debug_information_have_no_place() -> None:
    module = parse_module(read("reduce"))
    alloca = next(i for i in module.kernels[0].instructions() if i.opcode == "alloca")
    assert source_location(alloca) is None
    assert source_location(alloca.clone()) is None


def test_functions_have_a_place() -> None:
    module = parse_module(read("control"))
    place = function_location(module.functions["_Z8classifyi"])
    assert place is not None and (place.file, place.function) == ("control.cu", "classify")
    line = (DATA / "control.cu").read_text().split("\n")[place.line - 1]
    assert "int classify(int k)" in line


def test_scopes_through_blocks_and_folders() -> None:
    module = parse_module(
        "define void @f() !dbg !1 {\n  ret void, !dbg !5\n}\n"
        '!0 = !DIFile(filename: "a b.cu", directory: "/home/me")\n'
        '!1 = distinct !DISubprogram(name: "f\\22x", scope: !0, file: !0, line: 3)\n'
        "!2 = distinct !DILexicalBlock(scope: !1, file: !0, line: 4, column: 1)\n"
        '!3 = !DIFile(filename: "/usr/include/h.h", directory: "/home/me")\n'
        "!4 = !DILexicalBlockFile(scope: !2, file: !3, discriminator: 1)\n"
        "!5 = !DILocation(line: 0, scope: !4)\n"
    )
    place = source_location(module.function("f").entry.instructions[0])
    assert place is not None
    assert (place.file, place.line, place.column, place.function) == ("/usr/include/h.h", 0, 0, 'f"x')
    where = function_location(module.function("f"))
    assert where is not None and where.file == "/home/me/a b.cu"
