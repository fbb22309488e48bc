"""A Ray cluster of two nodes on this machine: the same answers as a pool, whatever is killed meanwhile."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kernelwright.errors import CompileError, Misuse, ToolError
from kernelwright.evaluate.workload.subject import PythonFile, Recordings
from kernelwright.farm import Cluster, Lost, Pool, Raised, nursery, pool_for
from kernelwright.farm.cluster_spec import Actor, Spec, moved
from tests.farm import tasks
from tests.farm.processes import descendants, soon

with_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: kernelwright[ray]")
ROOT = Path(__file__).resolve().parents[2]


class Nodes:
    """Two nodes of one core each; ``kill`` takes one of them away as a power cut would."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster as Two

        self._cluster: Any = Two()
        self._cluster.add_node(num_cpus=1, include_dashboard=False, object_store_memory=80 << 20)
        self._second = self._cluster.add_node(num_cpus=1, object_store_memory=80 << 20)

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def kill(self) -> None:
        self._cluster.remove_node(self._second, allow_graceful=False)

    def kill_head(self) -> None:
        self._cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)

    def shutdown(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """One cluster for all: starting two nodes takes longer than all that is tried on them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src"), *sys.path]))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        found = Nodes()
        yield found
        found.shutdown()


@with_ray
def test_no_cluster_to_belong_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the others, which leave a note of theirs behind."""
    services: Any = importlib.import_module("ray._private.services")  # knows the cluster of this machine
    if services.find_gcs_addresses() or importlib.import_module("ray._private.utils").read_ray_address():
        pytest.skip("this machine belongs to a cluster, or did so to one that is dead")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(ToolError, match="belongs to no Ray cluster") as raised:
        Cluster(tasks.doubling, address="auto")
    assert raised.value.hint and "ray start --head" in raised.value.hint


@with_ray
@pytest.mark.slow
def test_the_same_seed_breeds_the_same_program_on_a_cluster(nodes: Nodes, tmp_path: Path) -> None:
    from kernelwright.stories.breed import breed

    journals = []
    for name, cluster in (("local", None), ("ray", nodes.address)):
        settings: dict[str, Any] = {"generations": 4, "population": 100, "seed": 5, "backend": "interpreted"}
        with breed("keijzer6", folder=tmp_path / name, jobs=2, cluster=cluster, cache=False, **settings) as run:
            journals.append([(row.candidate, row.outcome) for row in run.journal.rows()])
    assert journals[0] == journals[1] and len(journals[0]) > 100


@with_ray
@pytest.mark.slow
def test_the_same_seed_finds_the_same_kernel_on_a_cluster(nodes: Nodes, tmp_path: Path) -> None:
    """Rows are recorded as they come, so that journals are equal but for the order."""
    from kernelwright.stories.evolve import evolve

    found = []
    for name, cluster in (("local", None), ("ray", nodes.address)):
        workload = ROOT / "tests" / "stories" / "again.py"
        with evolve(workload, folder=tmp_path / name, evaluations=40, seed=1, jobs=2, cluster=cluster) as run:
            outcomes = {row.hash: row.outcome for row in run.journal.rows()}
            fronts = [event.data["front"] for event in run.journal.events("generation")]
            assert run.best is not None
            found.append((outcomes, fronts, run.best.candidate, run.best.speedup))
    assert found[0] == found[1] and found[0][3] > 1


@with_ray
def test_a_node_killed_in_mid_run_loses_nothing_and_a_dead_cluster_says_so(nodes: Nodes, tmp_path: Path) -> None:
    """The last of those on a cluster: it leaves none."""
    before = descendants()
    with Cluster(tasks.acting, address=nodes.address, timeout_s=1.0) as cluster:
        assert cluster.workers == 2
        items: list[tuple[str, Any]] = [("double", n) for n in range(30)]
        items[7:7] = [("segfault", None), ("raise", 0), ("raise compile error", 0), ("unpicklable", 0)]
        found = dict(cluster.map(items))
        with Pool(tasks.acting, workers=1, timeout_s=1.0) as pool:
            same = dict(pool.map(items))
        assert isinstance(found[7], Lost) and found[7] == same[7]
        assert isinstance(found[9], Raised) and isinstance(found[9].error, CompileError) and found[9].error.place
        assert [str(found[n]) for n in range(34)] == [str(same[n]) for n in range(34)]

        seen = []
        for index, result in cluster.map([("nap", 0.01 + n * 1e-6) for n in range(200)]):
            seen.append(index)
            assert result == 0.01 + index * 1e-6
            if len(seen) == 40:
                nodes.kill()
        assert sorted(seen) == list(range(200))

        for _ in cluster.map([("nap", 0.01)] * 50):
            break  # an abandoned map does not disturb the next
        assert dict(cluster.map([("double", 4), ("double", 5)])) == {0: 8, 1: 10}

        nodes.kill_head()
        with pytest.raises(ToolError, match="is lost") as raised:
            list(cluster.map([("nap", 0.01)] * 400))
        assert raised.value.hint and "--resume" in raised.value.hint
    nursery.close()  # that of this process is kept for its next pool
    assert soon(lambda: descendants() <= before, 20)


@with_ray
def test_an_address_where_nothing_is() -> None:
    with pytest.raises(ToolError, match=r"no cluster at 127\.0\.0\.1:1"):
        Cluster(tasks.doubling, address="127.0.0.1:1")


@pytest.mark.parametrize("address", ["", "nonsense", "ray://head", "http://head:80/", "head:port"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(Misuse, match="is no address of a cluster"):
        Cluster(tasks.doubling, address=address)


def test_without_an_address_it_is_a_pool() -> None:
    with pool_for(None, tasks.doubling, workers=1, files=["nowhere"]) as pool:
        assert isinstance(pool, Pool)
    with pytest.raises(Misuse, match="0 workers"):
        Cluster(tasks.doubling, address="127.0.0.1:1", workers=0)


# -- what runs on a node, without Ray ------------------------------------------------------------------------------


def _spec(*files: Path, arguments: tuple[Any, ...] = ()) -> Spec:
    return Spec.of(tasks.reading if files else tasks.doubling, arguments, 5.0, None, None, False, files)


def test_a_file_that_a_node_lacks_is_sent_and_found_under_its_name(tmp_path: Path) -> None:
    here, there = tmp_path / "here.txt", tmp_path / "there.txt"
    here.write_text("here")
    there.write_text("there")
    spec = _spec(here, there, arguments=((str(here), str(there)),))
    actor = Actor(spec)
    assert actor.missing() == []
    there.write_text("other")  # of another run, with the same name
    assert actor.missing() == [1]
    actor.take([1], b"there")
    answer = actor.work([b"\x80\x05N."])
    assert not isinstance(answer, Raised)
    _, (value,) = answer
    assert isinstance(value, bytes) and b"here" in value and b"there" in value and b"other" not in value


def test_paths_are_replaced_where_subjects_have_them() -> None:
    places = {"/a/data-1.capture": "/tmp/1", "/a/w.py": "/tmp/w.py"}
    recordings = Recordings(("/a/data-1.capture", "/b"), (), "exact")
    assert moved((recordings, PythonFile("/a/w.py"), 3), places) == (
        replace(recordings, paths=("/tmp/1", "/b")),
        PythonFile("/tmp/w.py"),
        3,
    )


def test_a_node_with_another_version_is_told_by_name() -> None:
    found = Actor(replace(_spec(), version="0.0.1")).missing()
    assert isinstance(found, Raised) and "0.0.1" in found.reason and "every node" in str(found.error)


def test_a_file_that_is_not_there_is_misuse(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be read"):
        _spec(tmp_path / "none")


def test_set_up_that_fails_is_told() -> None:
    found = Actor(Spec.of(tasks.failing, (), None, None, None, False, ())).work([b"\x80\x05N."])
    assert isinstance(found, Raised) and "nothing to compile" in found.reason
