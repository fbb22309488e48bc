// Loads and stores that say which cache lines to keep and never change a value: plain accesses. Part of kernelwright_cuda.h; and of
// what NVIDIA's headers lack where clang reads them, whose wrapper has __ldcg, __ldcs, __ldcv and __stwt alone.
#pragma once
#pragma GCC system_header

template <class T> struct __kw_same { typedef T type; };
#define KW_HINTED_LOAD(name) template <class T> KW_DEVICE T name(const T *p) { return *p; }
#define KW_HINTED_STORE(name) \
    template <class T> KW_DEVICE void name(T *p, typename __kw_same<T>::type value) { *p = value; }
KW_HINTED_LOAD(__ldca)
KW_HINTED_LOAD(__ldcg)
KW_HINTED_LOAD(__ldcs)
KW_HINTED_LOAD(__ldlu)
KW_HINTED_STORE(__stcg)
KW_HINTED_STORE(__stcs)
KW_HINTED_STORE(__stwb)
#undef KW_HINTED_LOAD
#undef KW_HINTED_STORE
