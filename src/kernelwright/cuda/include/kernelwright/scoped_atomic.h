// cuda::atomic and cuda::atomic_ref: those of the C++ library, for kernels and the host, with the threads that they order. CUDA C++
// programming guide, "Memory model"; the library's page on its extended API, "Synchronization primitives".
#pragma once
#pragma GCC system_header
#include <sched.h>

#include <atomic>
#include <type_traits>

#include "../kernelwright_cuda.h"
#include "cpp_library_names.h"
#include "thread_scope.h"

#define KW_METHOD __host__ __device__ __attribute__((always_inline, nodebug))

namespace cuda {

using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

namespace details {

constexpr int number_of(thread_scope scope) {
    return scope == thread_scope_system   ? __NV_THREAD_SCOPE_SYSTEM
           : scope == thread_scope_device ? __NV_THREAD_SCOPE_DEVICE
           : scope == thread_scope_block  ? __NV_THREAD_SCOPE_BLOCK
                                          : __NV_THREAD_SCOPE_THREAD;
}

// What a failed exchange may use of the order of one that succeeds.
KW_METHOD constexpr memory_order without_release(memory_order order) {
    return order == memory_order_acq_rel   ? memory_order_acquire
           : order == memory_order_release ? memory_order_relaxed
                                           : order;
}

// What is added to a pointer counts its targets.
template <class T> struct difference_of { typedef T type; };
template <class T> struct difference_of<T *> { typedef ptrdiff_t type; };

// Operations on a word in memory.
#if defined(__CUDA_ARCH__)
// Before Volta instructions have no order: fences before and behind them have.
#if __CUDA_ARCH__ < 700
#define KW_ORDER(order) __NV_ATOMIC_RELAXED
#define KW_FENCE(order, scope) \
    if (order != memory_order_relaxed) \
        __nv_atomic_thread_fence((int)order, scope)
#else
#define KW_ORDER(order) (int)order
#define KW_FENCE(order, scope) (void)scope
#endif
template <class T> KW_METHOD T load(T *at, memory_order order, int scope) {
    KW_FENCE(order, scope);
    T found = __nv_atomic_load_n(at, KW_ORDER(order), scope);
    KW_FENCE(order, scope);
    return found;
}
template <class T> KW_METHOD void store(T *at, T value, memory_order order, int scope) {
    KW_FENCE(order, scope);
    __nv_atomic_store_n(at, value, KW_ORDER(order), scope);
    KW_FENCE(order, scope);
}
template <class T> KW_METHOD T exchange(T *at, T value, memory_order order, int scope) {
    KW_FENCE(order, scope);
    T before = __nv_atomic_exchange_n(at, value, KW_ORDER(order), scope);
    KW_FENCE(order, scope);
    return before;
}
template <class T>
KW_METHOD bool compare_exchange(T *at, T &expected, T value, memory_order success, memory_order failure, int scope) {
    KW_FENCE(success, scope);
    bool is_exchanged =
        __nv_atomic_compare_exchange_n(at, &expected, value, false, KW_ORDER(success), KW_ORDER(failure), scope);
    KW_FENCE(success, scope);
    return is_exchanged;
}
#else
template <class T> KW_METHOD T load(T *at, memory_order order, int) {
    T found;
    __atomic_load(at, &found, (int)order);
    return found;
}
template <class T> KW_METHOD void store(T *at, T value, memory_order order, int) {
    __atomic_store(at, &value, (int)order);
}
template <class T> KW_METHOD T exchange(T *at, T value, memory_order order, int) {
    T before;
    __atomic_exchange(at, &value, &before, (int)order);
    return before;
}
template <class T>
KW_METHOD bool compare_exchange(T *at, T &expected, T value, memory_order success, memory_order failure, int) {
    return __atomic_compare_exchange(at, &expected, &value, false, (int)success, (int)failure);
}
#endif

// By exchanges, whatever the type: numbers that the device has no instruction for, and all of the host's.
#define KW_UPDATE(name, result)                                                                      \
    template <class T, class U> KW_METHOD T name##_by_exchange(T *at, U by, memory_order order, int scope) { \
        T was = load(at, memory_order_relaxed, scope);                                               \
        while (!compare_exchange(at, was, (T)(result), order, without_release(order), scope)) {      \
        }                                                                                            \
        return was;                                                                                  \
    }
KW_UPDATE(add, was + by)
KW_UPDATE(sub, was - by)
KW_UPDATE(and, was &by)
KW_UPDATE(or, was | by)
KW_UPDATE(xor, was ^ by)
KW_UPDATE(min, by < was ? by : was)
KW_UPDATE(max, was < by ? by : was)
#undef KW_UPDATE

#if defined(__CUDA_ARCH__)
#define KW_FETCH(name, has_instruction)                                                                \
    template <class T, class U> KW_METHOD T fetch_##name(T *at, U by, memory_order order, int scope) { \
        if constexpr (has_instruction) {                                                               \
            KW_FENCE(order, scope);                                                                    \
            T before = __nv_atomic_fetch_##name(at, (T)by, KW_ORDER(order), scope);                    \
            KW_FENCE(order, scope);                                                                    \
            return before;                                                                             \
        } else                                                                                         \
            return name##_by_exchange(at, by, order, scope);                                           \
    }
#else
#define KW_FETCH(name, has_instruction)                                                                \
    template <class T, class U> KW_METHOD T fetch_##name(T *at, U by, memory_order order, int scope) { \
        return name##_by_exchange(at, by, order, scope);                                               \
    }
#endif
#define KW_OF_WORDS(T) (::std::is_integral<T>::value && sizeof(T) >= 4)
KW_FETCH(add, KW_OF_WORDS(T) || ::std::is_floating_point<T>::value)
KW_FETCH(sub, KW_OF_WORDS(T) || ::std::is_floating_point<T>::value)
KW_FETCH(and, KW_OF_WORDS(T))
KW_FETCH(or, KW_OF_WORDS(T))
KW_FETCH(xor, KW_OF_WORDS(T))
KW_FETCH(min, KW_OF_WORDS(T))
KW_FETCH(max, KW_OF_WORDS(T))
#undef KW_OF_WORDS
#undef KW_FETCH
#undef KW_ORDER
#undef KW_FENCE

// The methods of both, for a class that says where its word is.
template <class Self, class T, thread_scope Scope> class atomic_methods {
    typedef typename difference_of<T>::type difference;
    static constexpr int scope = number_of(Scope);
    KW_METHOD T *at() const volatile {
        return const_cast<const Self *>(static_cast<const volatile Self *>(this))->address();
    }

public:
    typedef T value_type;
    static constexpr bool is_always_lock_free = sizeof(T) <= 8;

    KW_METHOD bool is_lock_free() const volatile { return is_always_lock_free; }
    KW_METHOD T load(memory_order order = memory_order_seq_cst) const volatile { return details::load(at(), order, scope); }
    KW_METHOD void store(T value, memory_order order = memory_order_seq_cst) const volatile {
        details::store(at(), value, order, scope);
    }
    KW_METHOD T exchange(T value, memory_order order = memory_order_seq_cst) const volatile {
        return details::exchange(at(), value, order, scope);
    }
    KW_METHOD bool compare_exchange_strong(T &expected, T value, memory_order success, memory_order failure) const volatile {
        return details::compare_exchange(at(), expected, value, success, failure, scope);
    }
    KW_METHOD bool compare_exchange_strong(T &expected, T value, memory_order order = memory_order_seq_cst) const volatile {
        return compare_exchange_strong(expected, value, order, without_release(order));
    }
    KW_METHOD bool compare_exchange_weak(T &expected, T value, memory_order success, memory_order failure) const volatile {
        return compare_exchange_strong(expected, value, success, failure);
    }
    KW_METHOD bool compare_exchange_weak(T &expected, T value, memory_order order = memory_order_seq_cst) const volatile {
        return compare_exchange_strong(expected, value, order);
    }
#define KW_FETCH(name, U)                                                              \
    KW_METHOD T fetch_##name(U by, memory_order order = memory_order_seq_cst) const volatile { \
        return details::fetch_##name(at(), by, order, scope);                          \
    }
    KW_FETCH(add, difference)
    KW_FETCH(sub, difference)
    KW_FETCH(and, T)
    KW_FETCH(or, T)
    KW_FETCH(xor, T)
    KW_FETCH(min, T)
    KW_FETCH(max, T)
#undef KW_FETCH
    // Until the word is another: by looking again.
    KW_METHOD void wait(T old, memory_order order = memory_order_seq_cst) const volatile {
        while (load(order) == old) {
#if defined(__CUDA_ARCH__)
            let_others_run();
#else
            sched_yield();
#endif
        }
    }
    KW_METHOD void notify_one() const volatile {}
    KW_METHOD void notify_all() const volatile {}

    KW_METHOD operator T() const volatile { return load(); }
    KW_METHOD T operator++(int) const volatile { return fetch_add(1); }
    KW_METHOD T operator--(int) const volatile { return fetch_sub(1); }
    KW_METHOD T operator++() const volatile { return fetch_add(1) + 1; }
    KW_METHOD T operator--() const volatile { return fetch_sub(1) - 1; }
    KW_METHOD T operator+=(difference by) const volatile { return fetch_add(by) + by; }
    KW_METHOD T operator-=(difference by) const volatile { return fetch_sub(by) - by; }
    KW_METHOD T operator&=(T by) const volatile { return fetch_and(by) & by; }
    KW_METHOD T operator|=(T by) const volatile { return fetch_or(by) | by; }
    KW_METHOD T operator^=(T by) const volatile { return fetch_xor(by) ^ by; }
};

}  // namespace details

// Of a word that lies elsewhere.
template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref : public details::atomic_methods<atomic_ref<T, Scope>, T, Scope> {
    friend class details::atomic_methods<atomic_ref<T, Scope>, T, Scope>;
    T *word;
    KW_METHOD T *address() const { return word; }

public:
    static constexpr size_t required_alignment = sizeof(T);
    KW_METHOD explicit atomic_ref(T &word) : word(&word) {}
    KW_METHOD atomic_ref(const atomic_ref &other) = default;
    atomic_ref &operator=(const atomic_ref &) = delete;
    KW_METHOD T operator=(T value) const {
        this->store(value);
        return value;
    }
};

// With its word. One in shared memory begins with what was there: construct it, or store.
template <class T, thread_scope Scope = thread_scope_system>
class atomic : public details::atomic_methods<atomic<T, Scope>, T, Scope> {
    friend class details::atomic_methods<atomic<T, Scope>, T, Scope>;
    alignas(sizeof(T) & (sizeof(T) - 1) ? alignof(T) : sizeof(T)) mutable T word;
    KW_METHOD T *address() const { return &word; }

public:
    atomic() = default;
    KW_METHOD constexpr atomic(T value) : word(value) {}
    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;
    KW_METHOD T operator=(T value) volatile {
        this->store(value);
        return value;
    }
};

// A fence orders memory of the whole block or more; its order does not make it weaker here.
KW_METHOD static inline void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
#if defined(__CUDA_ARCH__)
    __nv_atomic_thread_fence((int)order, details::number_of(scope));
#else
    (void)scope;
    ::std::atomic_thread_fence(order);
#endif
}

namespace std {
using ::cuda::atomic_thread_fence;
template <class T> using atomic = ::cuda::atomic<T, thread_scope_system>;
template <class T> using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
}  // namespace std

}  // namespace cuda

#undef KW_METHOD
