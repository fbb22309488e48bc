"""Accesses that run evenly along the lanes as one call each (``runtime/even.c``): soon made, where ``inline_access.py`` is fast.

before   %5:float = load [access 0] %4            4 bytes from lane to lane
after    call void @simt_row_load_global4(ptr %c, ptr SITE, i64 %t4, i64 0, i32 MASK, ptr %scratch1)
         %t5 = load <32 x float>, ptr %scratch1
"""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.uniformity import Shape, U, V
from kernelwright.codegen.simt.emission import struct_offsets
from kernelwright.codegen.simt.emission.accesses.access_address import Address
from kernelwright.codegen.simt.emission.accesses.inline_access import LOCAL, SHARED, site
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.representation import stored
from kernelwright.codegen.simt.program.program import Access, bits_of, bytes_of


def load(e: Lanes, access: Access, address: Address, shape: Shape) -> list[str] | None:
    """The vector, or a number per segment; ``None`` when no call serves such an access."""
    if shape == U and address.rep.shape == U and _is_plain(access):
        given = f"ptr %c, ptr {site(e, access)}, i64 {address.bases()[0]}, i32 {e.whole_mask()}"
        return [_as_type(e, access.type, e.let(e.helper(f"one_{_place(access)}", given, "i64")))]
    if shape == ("s", 0) == address.rep.shape and _are_halves(e) and _is_plain(access):
        return _two(e, access, address)
    if shape is not V or not _is_row(e, access, address):
        return None
    data = e.scratch(1)
    _call_row(e, "load", access, address, data)
    return [e.let(f"load {e.vector_type(access.type)}, ptr {data}, align 16")]


def _two(e: Lanes, access: Access, address: Address) -> list[str]:
    data = e.scratch(1)
    given = f"ptr %c, ptr {site(e, access)}, i64 {address.plain(0)}, i64 {address.plain(1)}, i32 {e.whole_mask()}"
    e.line(e.helper(f"two_{_place(access)}", f"{given}, ptr {data}"))
    places = (data, e.let(f"getelementptr i8, ptr {data}, i64 {16 * access.bytes}"))
    return [e.let(f"load {stored(access.type)}, ptr {p}, align {access.bytes}") for p in places]


def store(e: Lanes, access: Access, address: Address, value: str) -> bool:
    """Whether a call has made the access."""
    if not _is_row(e, access, address):
        return False
    data = e.scratch(1)
    e.line(f"store {e.vector_type(access.type)} {value}, ptr {data}, align 16")
    _call_row(e, "store", access, address, data)
    return True


def _is_plain(access: Access) -> bool:
    return access.components == 1 and access.bytes in struct_offsets.EVEN_BYTES and access.space != LOCAL


def _is_row(e: Lanes, access: Access, address: Address) -> bool:
    size = access.bytes
    if not _is_plain(access) or address.stride != size or access.align < size or access.constant:
        return False
    # Of two rows the sectors are only counted where a mask of both fits a word, the wavefronts where numbers fill banks.
    return e.parts == 1 or (_are_halves(e) and address.parts == 2 and size >= (4 if access.space == SHARED else 2))


def _are_halves(e: Lanes) -> bool:
    """Two segments that are the halves of a warp, as the runtime takes them; those of a block of 8 x 2 threads are not."""
    return e.parts == 2 and e.geometry.per_segment == 16


def _place(access: Access) -> str:
    return f"{'shared' if access.space == SHARED else 'global'}{access.bytes}"


def _call_row(e: Lanes, kind: str, access: Access, address: Address, data: str) -> None:
    plain = [address.plain(i) for i in range(e.parts)] + ["0"]
    given = f"ptr %c, ptr {site(e, access)}, i64 {plain[0]}, i64 {plain[1]}"
    name = f"row_{kind}_{_place(access)}"
    if address.root is not None:
        roots = [address.root.part(i) for i in range(e.parts)] + ["0"]
        name, given = f"indexed_{name}", f"{given}, i32 {roots[0]}, i32 {roots[1]}"
    e.line(e.helper(name, f"{given}, i32 {e.whole_mask()}, ptr {data}"))


def _as_type(e: Lanes, type: str, word: str) -> str:
    """The lowest bits of a 64-bit number as a value of the type."""
    bits = bits_of(stored(type)) if bytes_of(type) < 8 else 64
    if bits < 64:
        word = e.let(f"trunc i64 {word} to i{bits}")
    if type in ("half", "float", "double"):
        word = e.let(f"bitcast i{bits} {word} to {type}")
    return word
