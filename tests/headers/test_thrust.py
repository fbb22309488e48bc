"""thrust with our own headers: on the device, on the host, and where the iterators say; against Python."""

from __future__ import annotations

import itertools
import operator
import subprocess
import sys
from pathlib import Path

import pytest

from kernelwright.errors import CompileError
from kernelwright.executable import build_executable
from kernelwright.pipeline import compile as compile_program

SOURCE = Path(__file__).with_name("thrust_algorithms.cu")
LENGTHS = (1, 7, 256, 300, 5000)

VECTORS = """
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#include <thrust/reduce.h>
#include <thrust/execution_policy.h>
#include <cstdio>
#include <iostream>
#include <vector>
int main() {
    std::vector<float> s(1000);
    for (int i = 0; i < 1000; i++) s[i] = i;
    thrust::device_vector<float> d(s.begin(), s.end()), e = d, empty;
    d[3] = 77; d[4] += 3; e.push_back(5);
    thrust::host_vector<float> h = d;
    printf("%g %g %g %g %zu\\n", (float)d[3], (float)d[4], h[3], (float)e.back(), e.size());
    thrust::sort(d.begin(), d.end(), thrust::greater<float>());
    float *raw = thrust::raw_pointer_cast(d.data());
    thrust::device_ptr<float> p(raw), q = thrust::device_pointer_cast(raw);
    printf("%g %g %d %g\\n", (float)*p, (float)p[1], p == q, thrust::reduce(p, p + 1000));
    thrust::copy(d.begin(), d.begin() + 10, h.begin());
    printf("%g ", h[9]);
    h[0] = -5;
    thrust::copy(h.begin(), h.end(), d.begin());
    thrust::transform(thrust::cuda::par.on(0), d.begin(), d.end(), d.begin(), thrust::negate<float>());
    printf("%g ", (float)d[0]);
    thrust::device_vector<int> ints(d.begin(), d.begin() + 3), filled(4, 7), listed{3, 1, 2};
    ints.erase(ints.begin());
    printf("%d %zu %d %d ", (int)ints[0], ints.size(), (int)filled[3], (int)listed.front());
    std::vector<int> v{3, 1, 2};
    thrust::sort(v.begin(), v.end());
    printf("%d%d%d ", v[0], v[1], v[2]);
    empty.resize(3);
    e = std::move(empty);
    printf("%g %zu %g\\n", thrust::reduce(e.begin(), e.end()), e.size(), thrust::reduce(e.begin(), e.begin(), 8.f));
    try {
        thrust::device_vector<double> huge(1ull << 60);
    } catch (const thrust::system_error &error) {
        printf("%s\\n", error.what());
    }
    thrust::device_vector<double> halves(2, 1.5);
    const thrust::device_vector<double> &same = halves;
    fflush(stdout);
    std::cout << ints[0] << " " << halves[1] << " " << same[0] << std::endl;
    return 0;
}
"""


def expected(n: int) -> dict[str, list[int]]:
    """What every algorithm comes to, by Python's own functions."""
    v = [(i * 7919 + 13) % 1009 - 300 for i in range(n)]
    squares, ordered = [x * x for x in v], sorted(v)
    odd, even = [x for x in v if x % 2], [x for x in v if x % 2 == 0]
    groups = {key: len(list(of)) for key, of in itertools.groupby(ordered)}
    tens: list[int] = []
    for at, x in enumerate(ordered):
        if not at or int(ordered[at - 1] / 10) != int(x / 10):
            tens.append(at)
    maps = [(x % 5 + 1, x % 7) for x in v]
    composed = itertools.accumulate(maps, lambda f, g: (f[0] * g[0] % 97, (f[1] * g[0] + g[1]) % 97))
    first = v.index
    return {
        "squares": squares,
        "doubled": [2 * x for x in v],
        "sorted": ordered,
        "is sorted": [1, v == ordered],
        "order": sorted(range(n), key=lambda i: -v[i]),
        "sums": [sum(v), max(5000, *v), 5 + sum(squares), 3 + sum(map(operator.mul, v, squares))],
        "inclusive": list(itertools.accumulate(v)),
        "exclusive": list(itertools.accumulate([100, *v[:-1]])),
        "composed": [b for _, b in composed],
        "extremes": [first(min(v)), first(max(v))] * 2,
        "found": [
            first(200) if 200 in v else n,
            n,
            len(odd),
            v.count(-287),
            bool(odd),
            len(odd) == n,
            not odd,
        ],
        "even": even,
        "odd": odd,
        "replaced": [7 if x % 2 else x for x in v],
        "unique": list(groups),
        "keys": list(groups),
        "counts": [2 * count for count in groups.values()],
        "first of tens": tens,
        "reversed": v[::-1],
        "equal": [v == v[::-1], 1],
        "differences": [v[0], *map(operator.sub, v[1:], v)],
        "gathered": v[::-1],
        "scattered": v,
        "filled": [v[-1], *[9] * (n - 1)],
        "doubled in place": [2 * x for x in v],
        "computed": [sum(squares), squares[1] if n > 1 else 0],
        "copied": v,
    }


def run(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kw = [sys.executable, "-m", "kernelwright", "run", "--device", "h200"]
    return subprocess.run([*kw, program, "--", *words], capture_output=True, text=True)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("thrust") / "program"
    build_executable(compile_program(SOURCE), [], made)
    return made


@pytest.mark.parametrize("where", ["device", "host", "as the iterators say"])
def test_every_algorithm(where: str, program: Path) -> None:
    done = run(program, where, *map(str, LENGTHS))
    assert done.returncode == 0, done.stderr
    for n, said in zip(LENGTHS, done.stdout.split("\n\n"), strict=False):
        found = {
            name: [int(w) for w in words.split()] for name, words in (told.split(":") for told in said.splitlines())
        }
        wanted = expected(n)
        assert list(found) == list(wanted), done.stderr
        for name, values in wanted.items():
            assert found[name] == values, f"{name} of {n}"


def test_vectors_and_what_copies_them(tmp_path: Path) -> None:
    source = tmp_path / "vectors.cu"
    source.write_text(VECTORS)
    build_executable(compile_program(source), [], tmp_path / "program")
    done = run(tmp_path / "program")
    total = sum(range(1000)) - 3 + 77 + 3
    assert done.stdout.splitlines() == [
        "77 7 77 5 1001",
        f"999 998 1 {total}",
        "990 5 -998 2 7 3 123 0 3 8",
        "out of memory",
        "-998 1.5 1.5",
    ], done.stderr


@pytest.mark.parametrize("name", ["merge", "inclusive_scan_by_key"])
def test_what_we_lack_points_to_nvidias(tmp_path: Path, name: str) -> None:
    source = tmp_path / "app.cu"
    source.write_text(f"#include <thrust/sort.h>\nint main() {{ thrust::{name}(1); }}\n")
    with pytest.raises(CompileError) as caught:
        compile_program(source)
    assert (
        caught.value.hint
        == "our own headers have a part of it: add --headers nvidia, after pip install 'kernelwright[nvidia]'"
    )
