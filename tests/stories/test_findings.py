"""What paper 000 found in Rodinia's programs (sections 5.1 and 5.2), found again in the suite's, with fixed seeds; and what
each finding depends on. ``docs/findings.md`` has the table."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kernelwright.edits import Gene, Id
from kernelwright.edits.kinds.delete import Delete
from kernelwright.edits.kinds.fix_launch import FixArgument
from kernelwright.edits.kinds.replace_instruction import ReplaceInstruction
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.evaluate.outcome import Rejected
from kernelwright.prove import REJECTED
from kernelwright.suite import load
from tests.stories.suite_search import Inputs, Searched, recordings

pytestmark = pytest.mark.slow

Program = Callable[[str], Searched]

EXPAND = "_Z15expand_frontieriPKiS0_PhPKhPi"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Suite programs on the data sets that ``kw evolve suite:NAME`` uses, each recorded once."""
    made: dict[str, Searched] = {}

    def of(name: str) -> Searched:
        if name not in made:
            made[name] = Searched(recordings(name, tmp_path_factory.mktemp(name)))
        return made[name]

    return of


def instruction(searched: Searched, kernel: str, opcode: str, line: str) -> Id:
    """The only instruction of a kind on a line."""
    nodes = searched.originals[kernel].nodes
    (found,) = [
        id for id, node in nodes.items() if node.instruction.opcode == opcode and searched.place(kernel, id) == line
    ]
    return found


# -- Needleman-Wunsch: conservative barriers -----------------------------------------------------------------------------


def test_needleman_wunsch_barriers(program: Program) -> None:
    nw = program("nw")
    barriers = nw.listed("delete-barrier")
    conservative = [gene for gene in barriers if nw.words(gene).place == "nw.cu:47"]
    wavefront = [gene for gene in barriers if nw.words(gene).place == "nw.cu:58"]
    # One of each in both kernels: before the tile is first used, and between the steps that use it.
    assert (
        len(barriers) == 4
        and len({gene.kernel for gene in conservative}) == len({gene.kernel for gene in wavefront}) == 2
    )

    assert nw.gain(tuple(barriers)) > 1.2  # as the paper counts: right on the training cases, in step
    for gene in conservative:
        assert nw.gain((gene,), "clean") > 0.99  # accepted; alone it is hardly felt
        assert nw.proof((gene,)).label == "clean"
    for gene in wavefront:
        assert nw.gain((gene,)) > 1.05
        rejected = nw.speedup((gene,), "clean")
        assert isinstance(rejected, Rejected) and rejected.stage in ("order", "fault"), rejected
        proof = nw.proof((gene,))
        assert proof.label == "lock-step only"
        assert proof.check("warp races").evidence


def test_needleman_wunsch_barriers_of_a_warp(program: Program) -> None:
    """What the paper's edit gains without leaning on lanes in step: a block is half a warp, whose own barrier is enough."""
    nw = program("nw")
    of_warp = nw.listed("warp-barriers")
    assert len({gene.kernel for gene in of_warp}) == len(of_warp) == 2
    assert nw.gain(tuple(of_warp), "clean") > 1.15
    assert nw.proof(tuple(of_warp)).label == "clean"


# -- LU decomposition: redundant work --------------------------------------------------------------------------------------


def test_lu_redundant_store(program: Program) -> None:
    """The store inside the sum, which a later one overwrites: the very store of the paper's figure 8."""
    lud = program("lud")
    stores = [
        gene
        for gene in lud.listed("delete")
        if (lud.words(gene).kind, lud.words(gene).place) == ("redundant store", "lud.cu:70")
    ]
    paying = sorted((gene for gene in stores if lud.gain((gene,)) > 1.005), key=lambda gene: -lud.gain((gene,)))
    assert len(paying) >= 4
    assert lud.gain((paying[0],), "clean") > 1.01
    assert lud.proof((paying[0],)).label == "clean"


# -- breadth-first search: the end of a node's edges is loaded again for each of them ----------------------------------------


def test_bfs_repeated_load(program: Program) -> None:
    bfs = program("bfs")
    nodes = bfs.originals[EXPAND].nodes
    loads = [
        id for id, node in nodes.items() if node.instruction.opcode == "load" and bfs.place(EXPAND, id) == "bfs.cu:27"
    ]
    # Two of the three read the same address: before the loop, and in it.
    before, again = next(
        two for two in itertools.combinations(loads, 2) if nodes[two[0]].operands == nodes[two[1]].operands
    )
    (gene,) = [gene for gene in bfs.drawn(4000) if gene.edit == Delete(again, f"i32 {nodes[before].result}")]
    assert (bfs.words(gene).kind, bfs.words(gene).place) == ("redundant load", "bfs.cu:27")
    assert bfs.gain((gene,), "clean") > 1.05
    assert bfs.proof((gene,)).label == "clean"


def test_bfs_promise(program: Program) -> None:
    """What the paper says that a programmer could have done: then the compiler needs no edit to see it."""
    bfs = program("bfs")
    (promise,) = [
        gene
        for gene in bfs.listed("no-alias")
        if bfs.words(gene).sentence == "no other argument reaches the memory behind 'first'"
    ]
    assert bfs.gain((promise,), "clean") > 1.05
    assert bfs.proof((promise,)).label == "clean"


def test_bfs_stores_where_the_published_program_stores(program: Program) -> None:
    """The suite's program once exchanged atomically there: no edit may gain from that."""
    assert program("bfs").listed("exchange-to-store") == []


# -- HotSpot: specialised constants, checks that never bind, memoisation ----------------------------------------------------


def test_hotspot_specialised_constants(program: Program) -> None:
    hotspot = program("hotspot")
    fixed = {gene.edit.index: gene for gene in hotspot.listed("fix-argument") if isinstance(gene.edit, FixArgument)}
    for argument, name, least in ((0, "steps", 1.08), (7, "resistance_x", 1.03)):
        assert hotspot.words(fixed[argument]).sentence.startswith(f"{name} is always ")
        assert hotspot.gain((fixed[argument],), "clean") > least
        proof = hotspot.proof((fixed[argument],))
        assert proof.label == "clean" and any("outside what the variant is meant for" in note for note in proof.notes)


def test_hotspot_range_checks(program: Program) -> None:
    """That a cell lies within what the step before knew: always true is right only as long as nobody else writes the cell."""
    hotspot = program("hotspot")
    known = [
        gene
        for gene in hotspot.listed("constant-condition")
        if hotspot.words(gene).sentence == "the condition of the and %spec.select68 is always true"
    ]
    # One for each of the two checks that are put together there; the other one binds on the training data.
    (gene,) = [gene for gene in known if hotspot.gain((gene,)) > 1.03]
    assert len(known) == 2 and isinstance(hotspot.speedup((gene,), "clean"), Rejected)
    assert hotspot.proof((gene,)).label in REJECTED


def chip(rows: int, cols: int, steps: int, seed: int) -> Inputs:
    def inputs(folder: Path) -> tuple[str, ...]:
        files = load("hotspot").generate(folder, "tiny", seed)[4:]
        rng = np.random.default_rng(seed)
        (325.0 + 8.0 * rng.random((rows, cols))).astype(np.float32).tofile(folder / files[0])
        power = rng.random((rows, cols))
        (power * 150.0 / power.sum()).astype(np.float32).tofile(folder / files[1])
        return (str(rows), str(cols), str(steps), "2", *files)

    return inputs


def test_hotspot_memoisation(program: Program, tmp_path: Path) -> None:
    """Square chips: what was computed of one dimension serves for the other. The suite's are not square."""
    square = Searched(recordings("hotspot", tmp_path, [chip(96, 96, 4, 1), chip(20, 20, 3, 2)]))
    (kernel,) = square.originals
    along_x = instruction(square, kernel, "fdiv", "hotspot.cu:56")
    along_y = instruction(square, kernel, "fdiv", "hotspot.cu:57")
    (gene,) = [
        gene
        for gene in square.drawn(1000)
        if isinstance(gene.edit, ReplaceInstruction) and (gene.edit.subject, gene.edit.source) == (along_y, along_x)
    ]
    words = square.words(gene)
    assert words.kind == "reused value"
    assert words.sentence == "the division at hotspot.cu:57 is a copy of the division at hotspot.cu:56"
    assert square.gain((gene,), "clean") > 1.05  # nothing is wrong with its schedules
    assert square.proof((gene,)).label == "data-specific"
    refused = program("hotspot").speedup((gene,))
    assert isinstance(refused, Rejected) and refused.stage == "compare"


# -- B+tree: the answer is taken from the question --------------------------------------------------------------------------

FIND_POINT = "_Z10find_pointiiPKiS0_PK6RecordS0_Pi"


def dense(order: int, records: int, points: int, seed: int) -> Inputs:
    """Keys without gaps, each record's value is its key, and every key that is sought is there."""

    def inputs(folder: Path) -> tuple[str, ...]:
        rng = np.random.default_rng(seed)
        keys = rng.permutation(records).astype(np.int32)
        np.stack([keys, keys], axis=1).tofile(folder / "records.bin")
        rng.integers(0, records, size=points, dtype=np.int32).tofile(folder / "points.bin")
        np.array([[0, 1]], dtype=np.int32).tofile(folder / "ranges.bin")
        return (str(order), "records.bin", "points.bin", "ranges.bin", "values.bin", "spans.bin")

    return inputs


def test_btree_collapse(program: Program, tmp_path: Path) -> None:
    data = [dense(64, 20_000, 600, 1), dense(16, 500, 40, 2)]
    btree = Searched(recordings("btree", tmp_path, data, ["find_point"]))
    query = btree.originals[FIND_POINT].nodes[instruction(btree, FIND_POINT, "load", "points.cu:13")].result
    drawn: dict[tuple[str, str], list[Gene]] = {}
    for gene in btree.drawn(4000):
        if isinstance(gene.edit, ReplaceOperand):
            node = btree.originals[FIND_POINT].nodes[gene.edit.user]
            if node.instruction.opcode in ("br", "store"):
                drawn.setdefault((btree.words(gene).place, gene.edit.value), []).append(gene)
    (value,) = drawn["points.cu:30", f"i32 {query}"]  # what is stored is the query
    (found,) = drawn["points.cu:29", "i1 true"]  # whether the key is there is not looked up
    # Nor is it searched for. (What ends the loop is on the same line: without it, it runs out of the tree.)
    (search,) = [gene for gene in drawn["points.cu:18", "i1 false"] if btree.gain((value, found, gene))]
    # Each step pays, so that a search gets there one by one.
    gains = [btree.gain(candidate) for candidate in ((value,), (value, found), (value, found, search))]
    assert 1.2 < gains[0] < gains[1] < gains[2] and gains[2] > 5
    for candidate in ((value,), (value, found), (value, found, search)):
        assert btree.proof(candidate).label == "data-specific"
    # The suite's own values have nothing to do with the keys: there it is never right.
    for candidate in ((value,), (value, found, search)):
        refused = program("btree").speedup(candidate)
        assert isinstance(refused, Rejected) and refused.stage == "compare"
