// What random kernels are written with, on a GPU and, thread by thread, on the host. No operation here is undefined.
#ifdef __CUDACC__
#define FN static __device__ __forceinline__
#define CALLED static __device__ __noinline__
#define KERNEL extern "C" __global__ void
#else
#define FN static inline
#define CALLED static
#define KERNEL static void
#define __shared__ static
#define __restrict__ __restrict
#include "host_threads.h"
#endif

template <class T> struct wide { typedef T type; };
template <> struct wide<int> { typedef unsigned type; };
template <> struct wide<long> { typedef unsigned long type; };
template <> struct wide<long long> { typedef unsigned long long type; };

#define WRAPPED(name, op)                                          \
    template <class A, class B> FN auto name(A a, B b) -> decltype(a op b) { \
        typedef decltype(a op b) T;                                \
        typedef typename wide<T>::type U;                          \
        return (T)((U)a op(U) b);                                  \
    }
WRAPPED(ADD, +)
WRAPPED(SUB, -)
WRAPPED(MUL, *)
template <class A, class B> FN auto DIV(A a, B b) -> decltype(a / b) {
    typedef decltype(a / b) T;
    return (T)b == 0 ? (T)7 : (T)b == (T)-1 ? SUB((T)0, (T)a) : (T)a / (T)b;
}
template <class A, class B> FN auto MOD(A a, B b) -> decltype(a % b) {
    typedef decltype(a % b) T;
    return (T)b == 0 ? (T)5 : (T)b == (T)-1 ? (T)((T)a & 1) : (T)a % (T)b;
}
template <class A, class B> FN auto SHL(A a, B b) -> decltype(a + 0) {
    typedef decltype(a + 0) T;
    typedef typename wide<T>::type U;
    return (T)((U)a << ((unsigned)b & (sizeof(T) * 8 - 1)));
}
template <class A, class B> FN auto SHR(A a, B b) -> decltype(a + 0) {
    typedef decltype(a + 0) T;
    return (T)a >> ((unsigned)b & (sizeof(T) * 8 - 1));
}
struct Mixed {
    signed char c;
    unsigned short s;
    int i;
    long long l;
    unsigned b : 5;
    int e : 9;
};

// Conversions that are undefined beyond the range.
FN int INT_OF(double x) { return x > -1e9 && x < 1e9 ? (int)x : 3; }
