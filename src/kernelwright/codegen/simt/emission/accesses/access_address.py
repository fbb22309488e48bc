"""The address of an access: how the runtime is told of it, and its number for each segment of the warp."""

from __future__ import annotations

from kernelwright.codegen.simt.analyses.uniformity import U, V
from kernelwright.codegen.simt.emission.lane_values import Lanes
from kernelwright.codegen.simt.emission.representation import Rep, is_literal
from kernelwright.codegen.simt.program.program import Access

LINEAR, EXTENDED, INDEXED, ADDRESSES = range(4)


class Address:
    """The address of an access: how it is handed to the runtime, and its number per segment where it runs evenly."""

    def __init__(self, e: Lanes, access: Access, rep: Rep) -> None:
        self.e = e
        self.access = access
        self.rep = rep
        self.root: Rep | None = None
        g = e.geometry
        form = {"form": LINEAR, "segments": g.parts, "segment_lanes": g.per_segment, "stride": rep.stride}
        self.stride: int | None = rep.stride
        if rep.shape == U:
            # One number for the warp, whichever of its segments have active lanes.
            form.update(segments=1, segment_lanes=32)
        elif rep.shape is V:
            form.update(form=ADDRESSES, segments=1, segment_lanes=32, stride=0)
            self.stride = None
        elif rep.shape[0] == "x":
            self.root = e.get(rep.root)
            form.update(coefficient=rep.shape[3], zero_extend=int(rep.shape[2]))
            if self.root.shape is V:
                form["form"] = INDEXED
                self.stride = None
            else:
                form.update(form=EXTENDED, root_stride=self.root.stride)
                self.stride = rep.stride + rep.shape[3] * self.root.stride
        self.form = form
        access.form = form

    @property
    def parts(self) -> int:
        """How many segments have numbers of their own."""
        return max(len(self.rep.parts), len(self.root.parts) if self.root else 1)

    def bases(self) -> list[str]:
        """The address of the first lane of each segment, in the access's own space."""
        e, made = self.e, list[str]()
        # Of a segment that is not whole the index counts from its first active lane.
        is_even = e.mask == "-1" or self.root is None or not self.root.stride
        known: dict[tuple[str, str], str] = {}
        for i in range(self.parts):
            total = self.rep.part(i)
            key = total, self.root.part(i) if self.root is not None else ""
            if is_even and key in known:
                made.append(known[key])
                continue
            if self.root is not None:
                wide = e.extended_root(self.rep, i)
                factor = self.rep.shape[3]
                if factor != 1:
                    wide = e.let(f"mul i64 {wide}, {factor}")
                total = wide if total == "0" else e.let(f"add i64 {wide}, {total}")
            known[key] = self._in_space(total)
            made.append(known[key])
        return made

    def plain(self, i: int) -> str:
        """What segment ``i`` adds to an extended index, in the access's own space."""
        return self._in_space(self.rep.part(i))

    def _in_space(self, address: str) -> str:
        base = self.access.base
        if not base:
            return address
        if is_literal(address):
            return str(int(address) - base)
        return self.e.let(f"sub i64 {address}, {base}")

    def arguments(self) -> tuple[str, str]:
        """Pointers to the plain parts and to the roots, as the runtime takes them."""
        e = self.e
        e.passes_parts = True
        if self.rep.shape is V:
            e.line(f"store {e.vector_type('i64')} {self._vector_in_space()}, ptr {e.scratch(0)}, align 16")
            return e.scratch(0), "null"
        for i in range(e.parts):
            pointer = "%rem" if not i else e.let(f"getelementptr i64, ptr %rem, i64 {i}")
            e.line(f"store i64 {self.plain(i)}, ptr {pointer}")
        if self.root is None:
            return "%rem", "null"
        if self.root.shape is V:
            e.line(f"store {e.vector_type('i32')} {self.root.parts[0]}, ptr {e.scratch(0)}, align 16")
            return "%rem", e.scratch(0)
        for i in range(e.parts):
            pointer = "%root" if not i else e.let(f"getelementptr i32, ptr %root, i64 {i}")
            e.line(f"store i32 {self.root.part(i)}, ptr {pointer}")
        return "%rem", "%root"

    def _vector_in_space(self) -> str:
        if not self.access.base:
            return self.rep.parts[0]
        wide = self.e.vector_type("i64")
        return self.e.let(f"sub {wide} {self.rep.parts[0]}, splat (i64 {self.access.base})")
