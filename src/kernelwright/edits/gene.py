"""A gene is an edit of one kernel of a program; a candidate is a tuple of genes.

originals = {name: Original(module, name) for name, module in modules.items()}
gene = draw_gene(originals, random, (), weights=weights)
for kernel, applied in apply_genes(originals, (gene,)).items():
    applied.text, applied.guards, applied.recipe
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.genome import Applied, apply
from kernelwright.edits.json_form import as_json, from_json, kind_of
from kernelwright.edits.original import Original
from kernelwright.errors import Misuse
from kernelwright.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Gene:
    """``edit`` of ``kernel``, by its mangled name."""

    kernel: str
    edit: Edit

    @property
    def kind(self) -> str:
        """The kind of edit, by its name in JSON (``delete``, ``fix-argument``): what operator statistics count."""
        return kind_of(self.edit)

    def as_json(self) -> dict[str, Any]:
        """``{"kernel": "_Z4blurPKfPf", "edit": "delete", "subject": 12, ...}``"""
        return {"kernel": self.kernel} | as_json(self.edit)

    @staticmethod
    def from_json(value: Any) -> Gene:
        """The gene again. Raises ``Misuse`` for what is none."""
        kernel = value.get("kernel") if isinstance(value, dict) else None
        if not isinstance(kernel, str) or not kernel:
            raise Misuse(
                f"{json.dumps(value, default=str)[:200]} is no gene: the name of a kernel is expected under 'kernel'",
                hint="give the file that was exported",
            )
        return Gene(kernel, from_json({k: v for k, v in value.items() if k != "kernel"}))


def dump_genes(genes: Iterable[Gene]) -> str:
    """Genes as one line of JSON."""
    return json.dumps([g.as_json() for g in genes], separators=(",", ":"))


def load_genes(text: str) -> tuple[Gene, ...]:
    """The genes again. Raises ``Misuse``."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Misuse(f"these genes are no JSON: {error}", hint="give the file that was exported") from None
    if not isinstance(found, list):
        raise Misuse("genes are a JSON list", hint="give the file that was exported")
    return tuple(Gene.from_json(g) for g in found)


def by_kernel(genes: Iterable[Gene]) -> dict[str, tuple[Edit, ...]]:
    """The edits of each kernel, in their order."""
    found: dict[str, list[Edit]] = {}
    for gene in genes:
        found.setdefault(gene.kernel, []).append(gene.edit)
    return {kernel: tuple(edits) for kernel, edits in found.items()}


def edits_in_order(genes: Iterable[Gene]) -> tuple[tuple[str, Edit], ...]:
    """Each edit with the name of its kernel, for those who need not know of genes."""
    return tuple((gene.kernel, gene.edit) for gene in genes)


def apply_genes(originals: Mapping[str, Original], genes: Iterable[Gene]) -> dict[str, Applied]:
    """The variants of the kernels that the genes touch, by name; a kernel that none touches is not among them.

    Raises ``Misuse`` for a gene of a kernel that is not among the originals: such genes are another program's.
    """
    edits = by_kernel(genes)
    unknown = sorted(edits.keys() - originals.keys())
    if unknown:
        raise Misuse(
            f"there is no kernel '{unknown[0]}' to edit",
            hint=f"the kernels are {', '.join(sorted(originals)) or 'none'}; were these edits made for another program?",
        )
    return {kernel: apply(originals[kernel], own) for kernel, own in edits.items()}
