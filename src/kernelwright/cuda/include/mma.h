// nvcuda::wmma: matrices in the registers of a warp. CUDA programming guide, "Warp Matrix Functions". Which lane holds what is not said
// there; here element number lane + 32 i of a matrix, row by row, is x[i]. Products are made of shuffles and multiply-adds, on every
// GPU: the tensor cores are for NVIDIA's headers.
#pragma once
#define __CUDA_MMA_H__
#pragma GCC system_header
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

namespace details {

// What a fragment of T holds, what it is multiplied as, and the shapes there are.
template <class T> struct element;
#define KW_ELEMENT(T, held_, real_, big)                                                                        \
    template <> struct element<T> {                                                                             \
        typedef held_ held;                                                                                     \
        typedef real_ real;                                                                                     \
        static constexpr bool has(int m, int n, int k) { return big; }                                          \
    };
#define KW_K16 k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32))
KW_ELEMENT(__half, __half, float, KW_K16)
KW_ELEMENT(__nv_bfloat16, __nv_bfloat16, float, KW_K16)
KW_ELEMENT(signed char, signed char, int, KW_K16)
KW_ELEMENT(unsigned char, unsigned char, int, KW_K16)
KW_ELEMENT(char, signed char, int, KW_K16)
KW_ELEMENT(precision::tf32, float, float, m == 16 && n == 16 && k == 8)
KW_ELEMENT(double, double, double, m == 8 && n == 8 && k == 4)
KW_ELEMENT(float, float, float, (KW_K16) || (m == 16 && n == 16 && k == 8))
KW_ELEMENT(int, int, int, KW_K16)
#undef KW_ELEMENT
#undef KW_K16

KW_DEVICE float real_of(__half x) { return __half2float(x); }
KW_DEVICE float real_of(__nv_bfloat16 x) { return __bfloat162float(x); }
KW_DEVICE int real_of(int x) { return x; }
KW_DEVICE double real_of(double x) { return x; }
// A float counts with the bits that a tf32 has.
KW_DEVICE float real_of(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000u); }

KW_DEVICE float widened(__half x) { return __half2float(x); }
KW_DEVICE float widened(float x) { return x; }
KW_DEVICE double widened(double x) { return x; }
KW_DEVICE int widened(int x) { return x; }
KW_DEVICE void narrow(__half &to, float x) { to = __float2half_rn(x); }
template <class T> KW_DEVICE void narrow(T &to, T x) { to = x; }

KW_DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
KW_DEVICE double multiply_add(double a, double b, double c) { return fma(a, b, c); }
KW_DEVICE int multiply_add(int a, int b, int c) { return (int)((unsigned int)a * (unsigned int)b + (unsigned int)c); }

KW_DEVICE float total(float sum, float, bool) { return sum; }
KW_DEVICE double total(double sum, double, bool) { return sum; }
KW_DEVICE int total(int sum, int c, bool saturate) {
    long long exact = (long long)sum + c;
    if (!saturate) return (int)exact;
    return (int)(exact > 0x7fffffffll ? 0x7fffffffll : exact < -0x80000000ll ? -0x80000000ll : exact);
}

template <int Rows, int Columns, class T> struct elements {
    static constexpr int num_elements = Rows * Columns / 32, num_storage_elements = num_elements;
    typedef typename element<T>::held element_type;
    element_type x[num_elements];

    // Where element i of this lane lies in memory.
    static __device__ __attribute__((always_inline, nodebug)) long place(int i, unsigned int ldm, bool by_rows) {
        int number = (int)(__nvvm_read_ptx_sreg_laneid() + 32 * i), row = number / Columns, column = number % Columns;
        return by_rows ? (long)row * ldm + column : (long)column * ldm + row;
    }
};
}  // namespace details

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment {
    static_assert(m < 0, "a fragment is of matrix_a, matrix_b or accumulator, and matrices have a layout");
};
#define KW_SHAPE static_assert(details::element<T>::has(m, n, k), "wmma has no fragment of this type in this shape")
template <int m, int n, int k, class T, class Layout>
class fragment<matrix_a, m, n, k, T, Layout> : public details::elements<m, k, T> {
    KW_SHAPE;
};
template <int m, int n, int k, class T, class Layout>
class fragment<matrix_b, m, n, k, T, Layout> : public details::elements<k, n, T> {
    KW_SHAPE;
};
template <int m, int n, int k, class T> class fragment<accumulator, m, n, k, T, void> : public details::elements<m, n, T> {
    KW_SHAPE;
};
#undef KW_SHAPE

template <class Use, int m, int n, int k, class T, class Layout, class Value>
KW_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const Value &value) {
    for (int i = 0; i < f.num_elements; i++) f.x[i] = value;
}

template <class Use, int m, int n, int k, class T, class Layout>
KW_DEVICE void load_matrix_sync(fragment<Use, m, n, k, T, Layout> &f,
                                const typename fragment<Use, m, n, k, T, Layout>::element_type *from, unsigned int ldm) {
    __syncwarp();
    for (int i = 0; i < f.num_elements; i++) f.x[i] = from[f.place(i, ldm, __is_same(Layout, row_major))];
}
template <int m, int n, int k, class T>
KW_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *from, unsigned int ldm, layout_t layout) {
    __syncwarp();
    for (int i = 0; i < f.num_elements; i++) f.x[i] = from[f.place(i, ldm, layout == mem_row_major)];
}
template <int m, int n, int k, class T>
KW_DEVICE void store_matrix_sync(T *to, const fragment<accumulator, m, n, k, T> &f, unsigned int ldm, layout_t layout) {
    for (int i = 0; i < f.num_elements; i++) to[f.place(i, ldm, layout == mem_row_major)] = f.x[i];
    __syncwarp();
}

// d = a b + c. The elements of d that a lane holds are of one column; those of a row of a are all with its half, or quarter, of the warp
// or beside it.
template <int m, int n, int k, class A, class LayoutA, class LayoutB, class D, class C>
KW_DEVICE void mma_sync(fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, A, LayoutA> &a,
                        const fragment<matrix_b, m, n, k, A, LayoutB> &b, const fragment<accumulator, m, n, k, C> &c,
                        bool satf = false) {
    typedef typename details::element<A>::real real;
    const int lane = (int)__nvvm_read_ptx_sreg_laneid(), column = lane % n, first = lane / n;
    constexpr int rows = m * n / 32, step = 32 / n;  // of d: row first + step * i is element i
    real down[k];
    for (int j = 0; j < k; j++) {
        const int number = j * n;
        down[j] = __shfl_sync(0xffffffffu, details::real_of(b.x[number / 32]), number % 32 + column);
    }
    real across[m * k / 32];
    for (int i = 0; i < m * k / 32; i++) across[i] = details::real_of(a.x[i]);
    for (int i = 0; i < rows; i++) {
        const auto start = details::widened(c.x[i]);
        constexpr bool is_integer = real(0.5f) == real();  // they add c at the end, where it may saturate
        auto sum = is_integer ? start * 0 : start;
        for (int j = 0; j < k; j++) {
            real value = real();
            // Rows of this element are neighbours: they lie in one element of a, or in a few.
            for (int e = step * i * k / 32; e <= ((step * i + step - 1) * k + j) / 32 && e < m * k / 32; e++) {
                const int number = (first + step * i) * k + j;
                real found = __shfl_sync(0xffffffffu, across[e], number & 31);
                if (number / 32 == e) value = found;
            }
            sum = details::multiply_add(value, down[j], sum);
        }
        details::narrow(d.x[i], details::total(sum, is_integer ? start : start * 0, satf));
    }
}

// The nearest that a tf32 can be, halves away from zero.
KW_DEVICE float __float_to_tf32(float x) {
    unsigned int bits = __float_as_uint(x);
    return (bits & 0x7f800000u) == 0x7f800000u ? x : __uint_as_float((bits + 0x1000u) & 0xffffe000u);
}

}  // namespace wmma
}  // namespace nvcuda
