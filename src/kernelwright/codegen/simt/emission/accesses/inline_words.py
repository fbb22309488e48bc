"""Accesses to a word of a short local array that each lane chooses: the words one after the other, for the lanes that want them.

    int seen[4];                                  for each of the four rows of words:
    seen[v & 3] = x;                                  the lanes whose index it is take x, the others keep what they have

Gathering lane by lane takes longer, and so does a call that does the same.
"""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.uniformity import V
from kernelwright.codegen.simt.emission.accesses.access_address import Address
from kernelwright.codegen.simt.emission.accesses.inline_access import LOCAL, Way, add_to, site
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.partial_stores import write_back
from kernelwright.codegen.simt.emission.representation import is_literal
from kernelwright.codegen.simt.program.program import Access

MOST_WORDS = 8
ROW_BYTES = 128
"""From one word of local memory to the next: the words of 32 lanes lie between."""


class Words(Way):
    """A word each of local memory that has at most ``MOST_WORDS``."""

    def __init__(self, e: Lanes, access: Access, address: Address) -> None:
        # It has no address that serves all lanes of a segment.
        self.e, self.access, self.address = e, access, address
        self.bases = []
        assert address.root is not None
        index = address.root.parts[0]
        first = int(address.plain(0)) // 4
        row = e.vector_type("i32")
        self.index = index
        self.word = e.let(f"add {row} {index}, splat (i32 {first})") if first else index
        self.may_wrap = bool(first) and bool(address.form["zero_extend"])

    @staticmethod
    def fits(e: Lanes, access: Access, address: Address, one_result: bool, is_store: bool) -> bool:
        """Whether each lane accesses an aligned word by an index of its own, and threads have few words and no stack."""
        root = address.root
        return (
            access.space == LOCAL and access.components == 1 and access.bytes == 4 and access.align >= 4
            and e.program.local_bytes <= 4 * MOST_WORDS and not e.program.has_stack
            and root is not None and root.shape is V and address.form["coefficient"] == 4
            and not address.form["stride"] and address.parts == 1
            and is_literal(address.plain(0)) and int(address.plain(0)) % 4 == 0
        )  # fmt: skip

    @property
    def words(self) -> int:
        """Of local memory."""
        return self.e.program.local_bytes // 4

    @property
    def footprint(self) -> int:
        return self.access.bytes

    def check(self, fast: str, slow: str) -> None:
        """Go to ``fast`` when every active lane's word is there, and the launch is not watched."""
        e, row, whole = self.e, self.e.vector_type("i32"), self.e.whole_mask()
        inside = e.number_of_bits(e.let(f"icmp ult {row} {self.word}, splat (i32 {self.words})"))
        if self.may_wrap:
            small = e.number_of_bits(e.let(f"icmp sge {row} {self.index}, zeroinitializer"))
            inside = e.let(f"and i32 {inside}, {small}")
        outside = e.let(f"and i32 {e.let(f'xor i32 {inside}, -1')}, {whole}")
        known = e.let(f"load i64, ptr {site(e, self.access, 'count')}")
        good = [e.let(f"icmp eq i32 {outside}, 0"), e.let(f"icmp ne i64 {known}, 0")]
        if e.mask != "-1":
            # Made here, because both ways and what follows them use it.
            e.as_vector(e.mask)
        e.line(f"br i1 {e.all_of(good)}, label %{fast}, label %{slow}, !prof !1")

    def count(self) -> None:
        """Eight neighbouring lanes share a sector: of each eight, the words that one of them asks for."""
        e, row = self.e, self.e.vector_type("i32")
        bit = e.let(f"shl {row} splat (i32 1), {e.let(f'and {row} {self.word}, splat (i32 {MOST_WORDS - 1})')}")
        if e.mask != "-1":
            bit = e.let(f"select <{e.lanes} x i1> {e.as_vector(e.mask)}, {row} {bit}, {row} zeroinitializer")
        total = ""
        for i in range(e.lanes // 8):
            picks = ", ".join(f"i32 {lane}" for lane in range(8 * i, 8 * i + 8))
            eight = e.let(f"shufflevector {row} {bit}, {row} poison, <8 x i32> <{picks}>")
            if i:
                eight = e.let(f"shl <8 x i32> {eight}, splat (i32 {i * MOST_WORDS})")
            total = e.let(f"or <8 x i32> {total}, {eight}") if total else eight
        e.declare("llvm.vector.reduce.or.v8i32", "i32 (<8 x i32>)")
        e.declare("llvm.ctpop.i32", "i32 (i32)")
        asked = e.let(f"call i32 @llvm.vector.reduce.or.v8i32(<8 x i32> {total})")
        many = e.let(f"zext i32 {e.let(f'call i32 @llvm.ctpop.i32(i32 {asked})')} to i64")
        add_to(e, self.access, "sectors", e.let(f"add i64 {many}, -1"))

    def load(self) -> list[str]:
        e, type = self.e, self.e.vector_type(self.access.type)
        found = "zeroinitializer"
        for word, pointer in enumerate(self._rows()):
            row = e.let(f"load {type}, ptr {pointer}, align 4")
            found = e.let(f"select <{e.lanes} x i1> {self._wanted(word)}, {type} {row}, {type} {found}")
        return [found]

    def store(self, values: list[str]) -> None:
        """Writes each row back, with the new words of those lanes whose index it is."""
        e, row = self.e, self.e.vector_type("i32")
        if e.mask != "-1":
            # No word is that of an inactive lane.
            bits = f"<{e.lanes} x i1> {e.as_vector(e.mask)}"
            self.word = e.let(f"select {bits}, {row} {self.word}, {row} splat (i32 -1)")
        for word, pointer in enumerate(self._rows()):
            write_back(e, e.vector_type(self.access.type), values[0], pointer, 4, self._wanted(word))

    def _rows(self) -> list[str]:
        e = self.e
        base = e.let(f"inttoptr i64 {e.context('local_host', 'i64', 0, 8)} to ptr")
        return [e.let(f"getelementptr i8, ptr {base}, i64 {word * ROW_BYTES}") for word in range(self.words)]

    def _wanted(self, word: int) -> str:
        return self.e.let(f"icmp eq {self.e.vector_type('i32')} {self.word}, splat (i32 {word})")
