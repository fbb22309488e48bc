#pragma once

/* Stores to a word that other threads may store the same value to at the same time. Relaxed (PTX: st.relaxed), so that it is one
 * instruction and no data race; a volatile store is that for nvcc. */
static inline __device__ void store_relaxed(int *word, int value)
{
#ifdef __clang__
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
#else
    *(volatile int *)word = value;
#endif
}
