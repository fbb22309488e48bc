// Barriers, fences, clocks and traps. __syncthreads is clang's own builtin.
#pragma once
#pragma GCC system_header

KW_DEVICE int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
KW_DEVICE int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
KW_DEVICE int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
KW_DEVICE void __syncwarp(unsigned int mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
// A barrier of the block by number, for all its threads or for a count that is a multiple of the warp size.
KW_DEVICE void __barrier_sync(unsigned int number) { __nvvm_barrier_sync(number); }
KW_DEVICE void __barrier_sync_count(unsigned int number, unsigned int threads) {
    __nvvm_barrier_sync_cnt(number, threads);
}

KW_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
KW_DEVICE void __threadfence() { __nvvm_membar_gl(); }
KW_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

// <time.h> declares clock() for the host; the device's counts cycles of the multiprocessor.
KW_DEVICE clock_t clock() { return (clock_t)(int)__nvvm_read_ptx_sreg_clock(); }
KW_DEVICE long long clock64() { return (long long)__nvvm_read_ptx_sreg_clock64(); }
KW_DEVICE unsigned long long globaltimer() { return (unsigned long long)__nvvm_read_ptx_sreg_globaltimer(); }  // ns
KW_DEVICE void __nanosleep(unsigned int nanoseconds) { __nvvm_nanosleep(nanoseconds); }

KW_DEVICE void __trap() { __builtin_trap(); }
KW_DEVICE void __brkpt() { __builtin_debugtrap(); }
