"""Sizes and offsets in memory, from the module's ``target datalayout``."""

from __future__ import annotations

from kernelwright.ir.types import ArrayType, FloatType, IntType, PointerType, StructType, Type, VectorType


class DataLayout:
    """How many bytes a type takes and where its parts lie. All answers are in bytes.

    Reads pointer, integer, float and vector entries of the layout string; the rest of it (mangling, native widths)
    does not move anything in memory. Source: LLVM Language Reference, "Data Layout".
    """

    def __init__(self, text: str = "") -> None:
        self.text = text
        self._pointers = {0: (8, 8)}
        """Address space to (size, alignment)."""
        self._integers = {1: 1, 8: 1, 16: 2, 32: 4, 64: 8}
        self._floats = {16: 2, 32: 4, 64: 8, 128: 16}
        self._vectors = {64: 8, 128: 16}
        self._aggregate = 1
        for entry in text.split("-"):
            self._read(entry)

    def _read(self, entry: str) -> None:
        if not entry or entry[0] not in "pivfa":
            return
        head, *numbers = entry[1:].split(":")
        if not numbers or not all(n.isdigit() for n in numbers) or not (head.isdigit() or head == ""):
            return
        values = [int(n) // 8 for n in numbers]
        if entry[0] == "p":
            self._pointers[int(head or 0)] = (values[0], values[1] if len(values) > 1 else values[0])
        elif entry[0] == "a":
            self._aggregate = max(values[0], 1)
        else:
            {"i": self._integers, "f": self._floats, "v": self._vectors}[entry[0]][int(head)] = values[0]

    def pointer_size(self, address_space: int = 0) -> int:
        """Bytes of a pointer; one into an address space that the text does not mention has the size of space 0."""
        return self._pointers.get(address_space, self._pointers[0])[0]

    def bits(self, type: Type) -> int:
        """The bits of a value: ``i1`` has 1, ``<2 x i1>`` 2. Raises ``ValueError`` for types without a size."""
        if isinstance(type, IntType | FloatType):
            return type.bits
        if isinstance(type, PointerType):
            return self.pointer_size(type.address_space) * 8
        if isinstance(type, VectorType) and not type.scalable:
            return type.count * self.bits(type.element)
        if isinstance(type, ArrayType | StructType):
            return self.size(type) * 8
        raise ValueError(f"{type} has no fixed size")

    def store_size(self, type: Type) -> int:
        """The bytes a store of the type writes."""
        return (self.bits(type) + 7) // 8

    def size(self, type: Type) -> int:
        """The bytes from one element of an array of the type to the next."""
        if isinstance(type, ArrayType):
            return type.count * self.size(type.element)
        if isinstance(type, StructType):
            return self._struct(type)[1]
        return _up(self.store_size(type), self.alignment(type))

    def alignment(self, type: Type) -> int:
        """The ABI alignment: what ``align`` means when it is not written. Raises ``ValueError`` for a type without one."""
        if isinstance(type, PointerType):
            return self._pointers.get(type.address_space, self._pointers[0])[1]
        if isinstance(type, IntType):
            return self._integer_alignment(type.bits)
        if isinstance(type, FloatType):
            # The 80 bit format takes 16 bytes of its own where a target has it.
            return self._floats.get(type.bits, _power_of_two((type.bits + 7) // 8))
        if isinstance(type, VectorType):
            bits = self.bits(type)
            return self._vectors.get(bits, _power_of_two(self.store_size(type)))
        if isinstance(type, ArrayType):
            return self.alignment(type.element)
        if isinstance(type, StructType):
            if type.packed:
                return 1
            return max((self.alignment(f) for f in type.fields or ()), default=self._aggregate)
        raise ValueError(f"{type} has no alignment")

    def _integer_alignment(self, bits: int) -> int:
        """That of the next wider integer listed; of the widest one when there is none."""
        wider = [width for width in self._integers if width >= bits]
        return self._integers[min(wider) if wider else max(self._integers)]

    def offsets(self, type: StructType) -> tuple[int, ...]:
        """Where each field of a struct begins."""
        return self._struct(type)[0]

    def _struct(self, type: StructType) -> tuple[tuple[int, ...], int]:
        if type.fields is None:
            raise ValueError(f"{type} is opaque and has no size")
        at = 0
        found = []
        for field in type.fields:
            if not type.packed:
                at = _up(at, self.alignment(field))
            found.append(at)
            at += self.size(field)
        return tuple(found), _up(at, self.alignment(type))

    def constant_offset(self, type: Type, indices: tuple[int, ...]) -> int:
        """The bytes a ``getelementptr type, ptr, indices`` adds when all indices are known.
        Raises ``ValueError`` for a type without elements."""
        first, *rest = indices
        offset = first * self.size(type)
        for index in rest:
            if isinstance(type, StructType):
                offset += self.offsets(type)[index]
                assert type.fields is not None
                type = type.fields[index]
            elif isinstance(type, ArrayType | VectorType):
                type = type.element
                offset += index * self.size(type)
            else:
                raise ValueError(f"there is nothing inside {type} to index")
        return offset


def _up(value: int, alignment: int) -> int:
    return (value + alignment - 1) // alignment * alignment


def _power_of_two(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()
