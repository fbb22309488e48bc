"""``cuda::atomic`` and ``cuda::atomic_ref``: every operation, in kernels and on the host, with our headers as with NVIDIA's."""

from __future__ import annotations

from pathlib import Path

from tests.nvidia_extra import needs_nvidias_headers

from .conftest import Here

PROGRAM = r"""
#include <cuda/atomic>
#include <cstdio>
typedef long long Long;
typedef unsigned long long Word;
typedef signed char Byte;
typedef unsigned char Octet;
typedef unsigned short Half;
struct alignas(4) Pair { short first, second; bool operator==(const Pair &o) const { return first == o.first && second == o.second; } };
#define EACH(T, Scope)                                                                    \
    {                                                                                     \
        T word = T(40);                                                                   \
        cuda::atomic_ref<T, cuda::Scope> a(word);                                         \
        T seen = T(1);                                                                    \
        bool no = a.compare_exchange_strong(seen, T(2)), yes = a.compare_exchange_weak(seen, T(7), cuda::memory_order_acq_rel); \
        *out++ = no + 2 * yes; *out++ = double(seen);                                     \
        *out++ = double(a.fetch_add(T(9), cuda::std::memory_order_relaxed)); *out++ = double(a.fetch_sub(T(3), cuda::memory_order_release)); \
        *out++ = double(a.exchange(T(21), cuda::memory_order_acquire)); *out++ = double(a += T(4)); *out++ = double(a -= T(1));  \
        *out++ = double(a = T(30)); *out++ = double(a); *out++ = double(word);            \
    }
#define BITS(T, Scope)                                                                    \
    {                                                                                     \
        cuda::atomic<T, cuda::Scope> a(T(0x5c));                                          \
        *out++ = double(a.fetch_and(T(0x7a))); *out++ = double(a.fetch_or(T(3))); *out++ = double(a.fetch_xor(T(0x11))); \
        *out++ = double(a.fetch_max(T(100))); *out++ = double(a.fetch_min(T(-5))); *out++ = double(a.load());                \
        *out++ = double(a &= T(0x7b)); *out++ = double(a |= T(4)); *out++ = double(a ^= T(1));                               \
        *out++ = double(a++); *out++ = double(++a); *out++ = double(a--); *out++ = double(--a);                              \
    }
__host__ __device__ double *all(double *out)
{
    EACH(int, thread_scope_system) EACH(unsigned, thread_scope_device) EACH(Long, thread_scope_block) EACH(float, thread_scope_device)
    EACH(double, thread_scope_block) EACH(Word, thread_scope_thread) EACH(Byte, thread_scope_device)
    EACH(Half, thread_scope_system)
    BITS(int, thread_scope_device) BITS(unsigned, thread_scope_block) BITS(Long, thread_scope_system) BITS(short, thread_scope_device)
    BITS(Octet, thread_scope_block)
    cuda::std::atomic<Pair> pair(Pair{1, 2});
    Pair was{1, 2};
    *out++ = pair.compare_exchange_strong(was, Pair{3, 4}); *out++ = pair.load().second; *out++ = pair.is_lock_free();
    int three[3] = {1, 2, 3};
    cuda::atomic<int *> place(three);
    place.fetch_add(2);
    *out++ = three[0] + *place.load();
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    place.wait(nullptr);
    place.notify_all();
    volatile cuda::atomic<int, cuda::thread_scope_block> twice(4);
    twice = 5;
    *out++ = twice.fetch_add(1) + twice;
    return out;
}
__global__ void once(double *out, int *n) { *n = int(all(out) - out); }
__device__ cuda::atomic<int, cuda::thread_scope_device> turn(0);
__global__ void many(float *sum, int *largest, unsigned char *bytes, int *handed)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> waiting;
    if (threadIdx.x == 0) waiting.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
    cuda::atomic_ref<int>(*largest).fetch_max(int(blockIdx.x * blockDim.x + threadIdx.x));
    cuda::atomic_ref<unsigned char>(bytes[threadIdx.x % 3]).fetch_add(1);
    waiting++;
    __syncthreads();
    if (threadIdx.x == 0) {
        while (turn.load(cuda::memory_order_acquire) != int(blockIdx.x)) {}
        handed[blockIdx.x] = waiting + int(blockIdx.x);
        turn.fetch_add(1, cuda::memory_order_release);
    }
}
int main()
{
    double host[400], *out;
    int *n, *handed;
    cudaMallocManaged(&out, sizeof host);
    cudaMallocManaged(&n, 64);
    once<<<1, 1>>>(out, n);
    cudaDeviceSynchronize();
    int count = int(all(host) - host), differ = 0;
    for (int i = 0; i < count; i++) differ += host[i] != out[i];
    printf("%d %d\n", count - *n, differ);
    for (int i = 0; i < count; i++) printf("%g ", out[i]);
    cudaMallocManaged(&handed, 256);
    float *sum = (float *)(handed + 8);
    many<<<4, 96>>>(sum, handed + 9, (unsigned char *)(handed + 10), handed);
    cudaDeviceSynchronize();
    unsigned char *bytes = (unsigned char *)(handed + 10);
    printf("\n%g %d %d %d %d %d %d %d %d\n", *sum, handed[9], bytes[0], bytes[1], bytes[2], handed[0], handed[1], handed[2], handed[3]);
}
"""


def test_every_operation_in_kernels_and_on_the_host(tmp_path: Path, run: Here) -> None:
    (tmp_path / "app.cu").write_text(PROGRAM)
    ran, older = (run("app.cu", "-std=c++17", "--arch", arch) for arch in ("sm_80", "sm_60"))
    assert (ran.code, ran.err) == (0, "")
    assert older.out == ran.out, "before Volta fences stand for orders"
    first, numbers, together = ran.out.splitlines()
    assert first == "0 0", "the host's numbers are others"
    ints = "2 40 7 16 13 25 24 30 30 30"  # worked out by hand
    assert numbers.startswith(f"{ints} {ints} {ints} {ints} ")
    assert together == "192 383 128 128 128 96 97 98 99"


def test_with_nvidias_headers_the_numbers_are_the_same(tmp_path: Path, run: Here) -> None:
    needs_nvidias_headers()
    (tmp_path / "app.cu").write_text(PROGRAM)
    ours, theirs = run("app.cu", "-std=c++17"), run("app.cu", "-std=c++17", "--headers", "nvidia")
    assert theirs.code == 0 and theirs.out == ours.out, theirs.err
