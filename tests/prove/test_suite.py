"""What is known of the barriers of Needleman-Wunsch (paper 000, section 5): the first, before any use of the tile, is not
needed; the one in the wavefront is needed as soon as a warp does not run in step."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.bench.mutants import record
from kernelwright.edits import Original, apply
from kernelwright.edits.kinds.delete_barrier import barriers
from kernelwright.evaluate.workload.workload import Workload
from kernelwright.prove import Effort, Prover
from kernelwright.prove.invariants import invariants


@pytest.mark.slow
def test_conservative_barriers(tmp_path: Path) -> None:
    workload = Workload.from_capture(record("nw", tmp_path))
    prover = Prover(workload, effort=Effort(changes=12))
    for kernel, module in workload.modules().items():
        original = Original(module, kernel)
        labels = {}
        for edit in barriers(original):
            place = original.location(edit.subject)
            assert place is not None
            labels.setdefault(place.line, set()).add(prover.prove({kernel: apply(original, (edit,)).module}).label)
            (found,) = invariants(workload, {kernel: original}, ((kernel, edit),))
            assert found.holds is (labels[place.line] == {"clean"}), found.sentence
        lines = sorted(labels)
        assert labels[lines[0]] == {"clean"} and labels[lines[-1]] == {"lock-step only"}, labels
