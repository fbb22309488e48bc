"""One of each is added to a copy of the package as CONTRIBUTING.md says, with one file and one row, and everything that reads the rows
knows it: an edit kind, a guard, a check of a proof, a GPU, a pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "kernelwright"

CLEAR = """
__global__ void clear(int *out, int value) { out[threadIdx.x] = value; }
"""
WORKLOAD = """
import numpy as np
from kernelwright.evaluate.workload.case import Case
from kernelwright.evaluate.workload.workload import Workload

case = Case((1,), (32,), {"out": np.ones(32, np.int32), "value": 0})
workload = Workload("clear.cu", "clear", (case,))
"""


@dataclass(frozen=True)
class Copied:
    """A copy of the package that may be changed, and is as it was for the next test."""

    folder: Path
    before: dict[Path, Path | None] = field(default_factory=dict)
    """By the file that was changed, where the one from before is kept; None for one that is new."""

    def write(self, path: Path, text: str) -> None:
        if path not in self.before:
            kept = self.folder / f"before-{len(self.before)}"
            self.before[path] = Path(shutil.copy2(path, kept)) if path.exists() else None
        path.write_text(text)

    def undo(self) -> None:
        for path, kept in self.before.items():
            if kept is None:
                path.unlink()
            else:
                kept.replace(path)

    def file(self, name: str, text: str) -> None:
        path = self.folder / "kernelwright" / name
        assert not path.exists()
        self.write(path, dedent(text))

    def insert(self, name: str, before: str, text: str) -> None:
        """Puts text before the only place that begins so."""
        path = self.folder / "kernelwright" / name
        found = path.read_text()
        assert found.count(before) == 1, before
        self.write(path, found.replace(before, text + before))

    def run(self, *arguments: str) -> str:
        made = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "200"},
            capture_output=True,
            text=True,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        return made.stdout

    def says(self, program: str) -> list[str]:
        """What a Python program prints that uses the copy."""
        return self.run("-c", dedent(program)).splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With one copy for all tests: Python compiles what they do not change once."""
    made = tmp_path_factory.mktemp("copied")
    shutil.copytree(PACKAGE, made / "kernelwright", ignore=shutil.ignore_patterns("__pycache__"))
    (made / "clear.cu").write_text(CLEAR)
    return made


@pytest.fixture
def copied(folder: Path) -> Iterator[Copied]:
    made = Copied(folder)
    yield made
    made.undo()


def test_an_edit_kind(copied: Copied) -> None:
    copied.file(
        "edits/kinds/store_zero.py",
        '''
        """Storing zero."""

        from collections.abc import Iterator
        from dataclasses import dataclass

        from kernelwright.edits.dice import Dice
        from kernelwright.edits.draft import Draft
        from kernelwright.edits.edit_kind import EditKind, Listing
        from kernelwright.edits.instruction_words import Words, describe_instruction
        from kernelwright.edits.json_fields import read_id
        from kernelwright.edits.original import Id, Node, Original


        @dataclass(frozen=True)
        class StoreZero:
            """The store ``subject`` stores zero."""

            subject: Id

            def apply(self, draft: Draft) -> str | None:
                refused = draft.refuse_use((self.subject, 0))
                if refused is None:
                    draft.set_operand((self.subject, 0), draft.original.zero(draft.known(self.subject).operand_types[0]))
                return refused


        def is_store(node: Node) -> bool:
            return node.instruction.opcode == "store"


        def draw(dice: Dice) -> StoreZero | None:
            subject = dice.site(dice.sites.those(is_store))
            return None if subject is None else StoreZero(subject)


        def stores(original: Original) -> Iterator[StoreZero]:
            yield from (StoreZero(id) for id in original.those(is_store))


        def in_words(original: Original, edit: StoreZero) -> Words:
            what, location = describe_instruction(original, edit.subject)
            return Words("specialised constant", f"{what} stores zero", location)


        KIND = EditKind(
            "store-zero",
            StoreZero,
            in_words,
            reads={"subject": read_id},
            draw=draw,
            share=2.0,
            listed=(Listing(5, stores),),
            relies_on="zeros; they are {alone}",
        )
        ''',
    )
    copied.insert("edits/table.py", "    swap,\n", "    store_zero,\n")
    copied.insert("edits/table.py", "    no_alias.KIND,\n", "    store_zero.KIND,\n")
    said = copied.says(
        WORKLOAD
        + """
import random
from kernelwright.edits import OPERATORS, Gene, Original, apply, draw, draw_gene, edits_in_order, listed, load_genes, dump_genes
from kernelwright.edits.edit_words import in_words
from kernelwright.edits.table import BY_NAME
from kernelwright.prove.invariants import invariants

originals = {name: Original(module, name) for name, module in workload.modules().items()}
((kernel, original),) = originals.items()
edit = draw(original, random.Random(1), operators={"store-zero": 1.0})
print(edit, OPERATORS["store-zero"])
print(any(draw_gene(originals, random.Random(seed)).kind == "store-zero" for seed in range(200)))
gene = next(gene for gene in listed(originals) if BY_NAME[gene.kind].keeps_meaning is False)  # behind those that keep it
print(gene.edit == edit, gene.as_json())
print(load_genes(dump_genes([gene])) == (gene,))
words = in_words(original, edit)
print(words.kind, "|", words.sentence)
print("store i32 0" in apply(original, (edit,)).text)
for invariant in invariants(workload, originals, edits_in_order([gene])):
    print(invariant.sentence, invariant.alone)
"""
    )
    subject = said[0].removeprefix("StoreZero(subject=").partition(")")[0]
    assert said == [
        f"StoreZero(subject={subject}) 2.0",
        "True",
        f"True {{'kernel': '_Z5clearPii', 'edit': 'store-zero', 'subject': {subject}}}",
        "True",
        "specialised constant | the store at clear.cu:2 stores zero",
        "True",
        "operand 0 of 'store' at clear.cu:2 was 0 in all 32 executions on 1 data set right",
    ]


def test_a_row_that_forgets_a_field_is_refused_at_once(copied: Copied) -> None:
    """Else the edit could be written, and not read."""
    path = copied.folder / "kernelwright" / "edits" / "kinds" / "unroll.py"
    text = path.read_text()
    copied.write(path, text.replace('reads={"subject": read_id, "count": read_number}', 'reads={"subject": read_id}'))
    with pytest.raises(
        AssertionError, match=r"the row of unroll reads \['subject'\], its fields are \['count', 'subject'\]"
    ):
        copied.says("import kernelwright.edits")


def test_a_check_of_a_proof(copied: Copied) -> None:
    copied.file(
        "prove/checks/size.py",
        '''
        """Does the variant have no more instructions?"""

        from kernelwright.prove.checks.check_kind import Answer, CheckKind, Turn, failed, passed
        from kernelwright.prove.checks.variant_runs import VariantRuns
        from kernelwright.prove.evidence import Evidence


        def _size(runs: VariantRuns) -> Answer:
            for kernel in runs.kernels:
                before, now = (len(list(m[kernel].functions[kernel].instructions())) for m in (runs.baseline.original, runs.variant))
                if now > before:
                    found = f"{now} instructions, the original {before}"
                    return failed(found, [Evidence(found, kernel=kernel)])
            return passed("no more instructions")


        SIZE = CheckKind("size", "data-specific", "Is it no larger?", Turn.SEEN, _size)
        ''',
    )
    copied.insert("prove/checks/table.py", "    schedules,\n", "    size,\n")
    copied.insert("prove/checks/table.py", "        right_outputs.TOO_GOOD,\n", "        size.SIZE,\n")
    said = copied.says(
        WORKLOAD
        + """
from kernelwright.ir import parse_module, print_module
from kernelwright.prove import CHECKS, Effort, proof_from_json, prove
from kernelwright.report.evolution import CHECKS as SHOWN

original = workload.modules()
((kernel, module),) = original.items()
text = print_module(module)
larger = text.replace("  ret void", "  %more = add i32 1, 2" + chr(10) + "  ret void", 1)
print(CHECKS["size"].asks, "size" in SHOWN)
for changed in (text, larger):
    proof = prove(workload, original, {kernel: parse_module(changed)}, effort=Effort(orders=1, draws=1, changes=1, tries=2))
    print(proof.label, "|", proof.check("size"))
    print([c.name for c in proof.checks].index("size"), proof_from_json(proof.as_json()) == proof)
"""
    )
    assert said == [
        "Is it no larger? True",
        "clean | size: passed - no more instructions",
        "14 True",
        f"data-specific | size: failed - {said[3].rpartition(' - ')[2]}",
        "14 True",
    ]
    assert "instructions, the original" in said[3]


def test_a_gpu(copied: Copied) -> None:
    row = """        Gpu(
            "v100s", "NVIDIA Tesla V100S PCIe 32 GB", "sm_70", VOLTA_SM, multiprocessors=80, clock_mhz=1597,
            l2_bytes=6 * MIB, l2_ways=16, l2_bytes_per_cycle=2048, dram_gb_per_s=1134, memory_bytes=32 << 30,
            l2_latency=193, dram_latency=375, launch_us=3.5, memory_bus_bits=4096, copy_engines=6, host_gb_per_s=12.6,
            sources=_sources(V100, l2_latency=VOLTA, dram_latency=VOLTA, l2_bytes_per_cycle=A100),
        ),
"""
    copied.insert("target.py", '        Gpu(\n            "a100"', row)
    times = copied.says(
        """
        import numpy as np
        import kernelwright as kw

        program = kw.compile("clear.cu", arch="sm_70")
        for name in ("v100", "v100s"):
            out = np.ones(1024, np.int32)
            done = kw.Device(name).launch(program.kernel("clear"), (1,), (1024,), (out, 7))
            print(done.time_us, set(out))
        """
    )
    (slow, seven), (fast, _) = (line.split(maxsplit=1) for line in times)
    assert 3.5 < float(fast) < float(slow) and "7" in seven
    assert "v100s" in copied.run("-m", "kernelwright", "run", "--help")
    (title,) = copied.says(
        """
        from kernelwright.device.serving.properties import properties_of
        from kernelwright.target import gpu

        print(properties_of(gpu("v100s")).name.decode())
        """
    )
    assert title == "NVIDIA Tesla V100S PCIe 32 GB (virtual)"


def test_a_pass(copied: Copied) -> None:
    row = """    Step(
        "cse", "early common-subexpression elimination", "", ("early-cse",), "middle end",
        "removes what the same block has computed, before larger steps see it",
        before="x = a + b; y = a + b;",
        after="x = a + b; y = x;",
    ),
"""
    copied.insert("passes/pipeline.py", '    Step(\n        "inline"', row)
    assert " cse: early common-subexpression elimination" in copied.run("-m", "kernelwright", "passes")
    compiled = ("-m", "kernelwright", "compile", "clear.cu", "--arch", "sm_80", "--emit", "ptx", "-o", "clear.ptx")
    copied.run(*compiled, "--without", "cse")
    assert ".entry _Z5clearPii" in (copied.folder / "clear.ptx").read_text()
    (skipped,) = copied.says(
        """
        from kernelwright.passes import isolation
        from kernelwright.passes.options import PassOptions
        from kernelwright.passes.switches import skipped_passes

        print("early-cse" in isolation.run(skipped_passes, options=PassOptions.of(3, ["cse"])))
        """
    )
    assert skipped == "True"


def test_a_guard(copied: Copied) -> None:
    """It needs no line: an edit puts it into its draft."""
    row = '''@dataclass(frozen=True)
class GridIsLine:
    """Grids of one dimension."""

    def holds(self, facts: LaunchFacts) -> bool:
        return facts.launch.grid[1:] == (1, 1)

    def __str__(self) -> str:
        return "grid is a line"


    def in_words(self, names: Names) -> str:
        return "the grid has one dimension"

    def as_python(self) -> str:
        return "_triple(grid)[1:] == (1, 1)"

    def as_c(self) -> str:
        return "grid[1] == 1 && grid[2] == 1"


'''
    copied.insert("guards.py", "def _overlap(", row)
    copied.insert(
        "edits/kinds/warp_barriers.py",
        "        draft.guards[BlockIsWarp()]",
        "        draft.guards[GridIsLine()] = None\n",
    )
    copied.insert("edits/kinds/warp_barriers.py", "LaunchFacts\nfrom kernelwright.ir", "GridIsLine, ")
    source = "__global__ void clear(int *out, int value) { __syncthreads(); out[threadIdx.x] = value; }\n"
    copied.write(copied.folder / "clear.cu", source)
    said = copied.says(
        WORKLOAD
        + """
from kernelwright.edits import Original, apply
from kernelwright.edits.kinds.warp_barriers import WarpBarriers
from kernelwright.edits.edit_words import guard_in_words
from kernelwright.prove import Effort, prove
from kernelwright.prove.invariants import invariants

original = workload.modules()
((kernel, module),) = original.items()
numbered = Original(module, kernel)
applied = apply(numbered, (WarpBarriers(),))
print([guard_in_words(numbered, guard) for guard in applied.guards])
print(invariants(workload, {kernel: numbered}, [(kernel, WarpBarriers())])[0].sentence)
square = Workload("clear.cu", "clear", (case, Case((1, 2), (32,), case.arguments)))
proof = prove(square, original, {kernel: applied.module}, guards={kernel: applied.guards}, effort=Effort(orders=1, draws=1))
print(proof.label, "|", next(note for note in proof.notes if "outside" in note))
"""
    )
    assert said == [
        "['the grid has one dimension', 'block has at most 32 threads']",
        "grid is a line in all 1 launches on 1 data set; it is checked at each launch",
        f"clean | {said[2].partition(' | ')[2]}",
    ]
    assert "outside what the variant is meant for (grid is a line" in said[2]


def test_a_back_end(copied: Copied) -> None:
    row = '    BackEnd("thorough", "code for this processor, all of it optimised", HOST_IR, Host, HostCode, "full"),\n'
    copied.insert("breeding/back_end_table.py", '    BackEnd(\n        "virtual"', row)
    assert "thorough" in copied.run("-m", "kernelwright", "farm", "--json")
    breed = ("-m", "kernelwright", "breed", "keijzer6", "--generations", "1", "--population", "10", "--seed", "1")
    said = copied.run(*breed, "--backend", "thorough", "--target", "1e9", "--json")
    assert '"backend": "thorough"' in said
