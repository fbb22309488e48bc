"""A pointer is said to share nothing (``__restrict__``) though other threads write through theirs what it is read through."""

from __future__ import annotations

from kernelwright.bench.prove.families.family import Family, Member, Random
from kernelwright.bench.prove.families.family_source import ints, kernel_source, zeros
from kernelwright.evaluate.workload.case import Case
from kernelwright.guards import Apart
from kernelwright.prove.labels import Label


def _data(random: Random) -> Case:
    # No neighbour has more: in training no element changes, so that what was loaded early is right.
    own = ints(random, 64, 0, 9).repeat(2)
    return Case((2,), (64,), {"p": own, "in": ints(random, 128), "out": zeros(128, "int32"), "n": 3})


def _member(name: str, body: str, label: Label = "data-specific", *, pointer: str = "p") -> Member:
    def written(which: str) -> str:
        const = "const " if which == "in" else ""
        return f"{const}int *{f'{name}_x' if which == pointer else ''} {which}"

    parameters = f"{written('p')}, {written('in')}, {written('out')}, int n"
    # The launch is checked for buffers that share memory, so what is left are other threads.
    guards = (Apart(("p", "in", "out").index(pointer)),)
    return Member(name, label, kernel_source(name, parameters, body, "", "__restrict__"), _data, guards)


HEAD = "int t = threadIdx.x, i = blockIdx.x * 64 + t, o = i ^ 1;"
WAIT = "__syncthreads();"
MORE = f"{WAIT} p[o] = max(p[o], x); {WAIT}"

FAMILY = Family(
    "restricted across threads",
    "no other thread writes what is read through a pointer",
    (
        _member("read_again", f"{HEAD} int x = p[i]; {MORE} out[i] = p[i];"),
        _member("read_again_and_added", f"{HEAD} int x = p[i]; {MORE} out[i] = p[i] + x;"),
        _member("read_again_by_the_warp", f"{HEAD} int x = p[i]; __syncwarp(); p[o] = max(p[o], x); __syncwarp(); out[i] = p[i];"),
        _member("read_in_a_loop",
                f"{HEAD} int s = 0; for (int k = 0; k < n; k++) {{ int x = p[i]; {MORE} s += p[i]; {WAIT} }} out[i] = s;"),
        _member("read_twice_again", f"{HEAD} int x = p[i], y = p[o]; {MORE} out[i] = p[i] - y + p[i];"),
        _member("compared", f"{HEAD} int x = p[i]; {MORE} out[i] = p[i] == x;"),
        _member("stored_before", f"{HEAD} int x = in[i] & 15; p[i] = x & 7; {WAIT} p[o] = max(p[o], 0); {WAIT} x = p[i]; {WAIT}"
                f" p[o] = p[o] + (n > 3); {WAIT} out[i] = p[i] + x;"),
        _member("read_again_and_doubled", f"{HEAD} int x = p[i]; {MORE} out[i] = p[i] * 2 - (x & 1);"),
        _member("of_two_further", f"{HEAD.replace('i ^ 1', 'i ^ 2')} int x = p[i]; {WAIT} p[o] += n > 3; {WAIT} out[i] = p[i] + x;"),
        _member("read_behind_a_branch", f"{HEAD} int x = p[i]; {MORE} if (in[i] & 1) out[i] = p[i]; else out[i] = x;"),
        # Sound: it only reads, or each thread has its own words, or nothing is read again.
        _member("only_read", f"{HEAD} int x = in[i]; {MORE} out[i] = in[i] + p[i];", "clean", pointer="in"),
        _member("only_read_in_a_loop", f"{HEAD} int s = 0; for (int k = 0; k < n; k++) {{ s += in[i]; {WAIT} out[i] = s; }}", "clean",
                pointer="in"),
        _member("only_written", f"{HEAD} int x = p[i]; {MORE} out[i] = p[i];", "clean", pointer="out"),
        _member("written_twice", f"{HEAD} int x = p[i]; out[i] = x; {MORE} out[i] = p[i];", "clean", pointer="out"),
        _member("own_words", f"{HEAD} int x = out[i] + in[i]; {MORE} out[i] += x;", "clean", pointer="out"),
        _member("own_word_of_p", f"{HEAD} int x = p[i]; {WAIT} p[i] = x + 1; {WAIT} out[i] = p[i];", "clean"),
        _member("no_barrier", f"{HEAD} p[i] = p[i] + in[i]; out[i] = p[i];", "clean"),
        _member("read_once", f"{HEAD} int x = in[i]; {WAIT} out[i] = p[o] + x;", "clean"),
        _member("written_at_the_end", f"{HEAD} int x = in[o]; {WAIT} out[i] = x; {WAIT} p[i] = x;", "clean"),
        _member("through_a_register", f"{HEAD} int x = p[i]; out[i] = __shfl_xor_sync(~0u, x, 1); p[i] = x;", "clean"),
    ),
)  # fmt: skip
