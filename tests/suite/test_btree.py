"""B+tree queries: the oracle against a dictionary and a scan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kernelwright.suite.btree import workload


@pytest.mark.parametrize("seed", range(5))
def test_the_oracle_agrees_with_a_dictionary_and_a_scan(tmp_path: Path, seed: int) -> None:
    argv = workload.generate(tmp_path, "tiny", seed)
    records, points, ranges = (np.fromfile(tmp_path / name, dtype=np.int32).tolist() for name in argv[1:4])
    value_of = dict(zip(records[::2], records[1::2], strict=True))
    keys = list(value_of)
    want = workload.oracle(tmp_path, argv)
    assert want["values"].tolist() == [value_of.get(point, -1) for point in points]
    assert want["spans"].tolist() == [
        [sum(key < low for key in keys), sum(low <= key < high for key in keys)]
        for low, high in zip(ranges[::2], ranges[1::2], strict=True)
    ]


def test_queries_hit_and_miss_and_values_do_not_follow_from_keys(tmp_path: Path) -> None:
    argv = workload.generate(tmp_path, "small", 1)
    records = np.fromfile(tmp_path / argv[1], dtype=np.int32).reshape(-1, 2)
    want = workload.oracle(tmp_path, argv)
    assert 0.3 < (want["values"] < 0).mean() < 0.6
    assert 0.05 < (want["spans"][:, 1] == 0).mean() < 0.2
    assert len(np.unique(records[:, 0])) == len(records)
    assert (np.diff(np.sort(records[:, 0])) > 1).mean() > 0.5
    assert abs(np.corrcoef(records[:, 0], records[:, 1]).item(1)) < 0.05
