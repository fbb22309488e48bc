// cuda::pipeline: copies in stages, first in, first out. CUDA programming guide, "Asynchronous Data Copies using cuda::pipeline".
// That of one thread is made of the hardware's groups of asynchronous copies, that of a block of two barriers for each stage.
#pragma once
#pragma GCC system_header
#include "../cuda_pipeline_primitives.h"
#include "arrive_wait_barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

#define KW_METHOD __device__ __attribute__((always_inline, nodebug))

template <thread_scope Scope, unsigned char Stages> class pipeline_shared_state {
    static_assert(Scope != thread_scope_thread, "a thread's own pipeline has no shared state: make_pipeline()");
    static_assert(Stages > 0, "a pipeline has stages");

  public:
    pipeline_shared_state() = default;
    // Of each stage: whether it was filled, and whether it may be filled again.
    barrier<Scope> details_filled[Stages], details_freed[Stages];
};

template <thread_scope Scope> class pipeline {
  public:
    KW_METHOD pipeline(barrier<Scope> *filled, barrier<Scope> *freed, unsigned int stages)
        : filled_(filled), freed_(freed), stages_(stages) {}

    // Counted from 0, stage n lies in place n % stages, which n / stages others had before.
    KW_METHOD void producer_acquire() { reach(freed_, produced_, 0); }
    KW_METHOD void producer_commit() { (void)filled_[produced_++ % stages_].arrive(); }
    KW_METHOD void consumer_wait() { reach(filled_, consumed_, 1); }
    KW_METHOD void consumer_release() { (void)freed_[consumed_++ % stages_].arrive(); }
    KW_METHOD void quit() {}

  private:
    barrier<Scope> *filled_, *freed_;
    unsigned int stages_, produced_ = 0, consumed_ = 0;

    KW_METHOD void reach(barrier<Scope> *of, unsigned int number, unsigned int more) {
        while ((int)(of[number % stages_].details_phase() - number / stages_ - more) < 0) details::let_others_run();
        details::fence<Scope>();
    }
};

template <> class pipeline<thread_scope_thread> {
  public:
    KW_METHOD void producer_acquire() {}
    KW_METHOD void producer_commit() {
        __pipeline_commit();
        open_++;
    }
    KW_METHOD void consumer_wait() { details_wait(open_ ? open_ - 1 : 0); }
    KW_METHOD void consumer_release() { open_ -= open_ != 0; }
    KW_METHOD void quit() {}
    // Waits until so many stages at most are on their way.
    KW_METHOD void details_wait(unsigned int left) {
        if (left == 0)
            __pipeline_wait_prior(0);
        else if (left == 1)
            __pipeline_wait_prior(1);
        else if (left == 2)
            __pipeline_wait_prior(2);
        else
            __pipeline_wait_prior(3);
    }

  private:
    unsigned int open_ = 0;
};

KW_DEVICE pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }

namespace details {
template <class Group, thread_scope Scope, unsigned char Stages>
KW_DEVICE pipeline<Scope> begin(const Group &group, pipeline_shared_state<Scope, Stages> *state, unsigned int producers,
                                unsigned int consumers) {
    if (group.thread_rank() == 0)
        for (unsigned int i = 0; i < Stages; i++) {
            init(&state->details_filled[i], producers);
            init(&state->details_freed[i], consumers);
        }
    group.sync();
    return pipeline<Scope>(state->details_filled, state->details_freed, Stages);
}
}  // namespace details

// Every thread of the group fills stages and uses them.
template <class Group, thread_scope Scope, unsigned char Stages>
KW_DEVICE pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state) {
    return details::begin(group, state, group.size(), group.size());
}
// Each thread either fills stages or uses them; how many fill is given, or counted in the block.
template <class Group, thread_scope Scope, unsigned char Stages>
KW_DEVICE pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state,
                                        size_t producers) {
    return details::begin(group, state, (unsigned int)producers, group.size() - (unsigned int)producers);
}
template <class Group, thread_scope Scope, unsigned char Stages>
KW_DEVICE pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *state,
                                        pipeline_role role) {
    unsigned int producers = (unsigned int)__syncthreads_count(role == pipeline_role::producer);
    return details::begin(group, state, producers, group.size() - producers);
}

template <unsigned char Prior> KW_DEVICE void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &) {
    __pipeline_wait_prior(Prior);
}

template <class T, class Size>
KW_DEVICE void memcpy_async(T *to, const T *from, Size size, pipeline<thread_scope_thread> &) {
    const size_t bytes = size;
    if (__isShared(to) && (bytes == 4 || bytes == 8 || bytes == 16) &&
        (details::alignment_of_size(size) >= bytes || sizeof(typename std::conditional<__is_void(T), char, T>::type) == bytes))
        __pipeline_memcpy_async((void *)to, (const void *)from, bytes);
    else
        details::copy_of(to, from, size, 0, 1);
}
template <class T, class Size, thread_scope Scope>
KW_DEVICE void memcpy_async(T *to, const T *from, Size size, pipeline<Scope> &) {
    details::copy_of(to, from, size, 0, 1);
}
template <class Group, class T, class Size, thread_scope Scope>
KW_DEVICE void memcpy_async(const Group &group, T *to, const T *from, Size size, pipeline<Scope> &) {
    details::copy_of(to, from, size, group.thread_rank(), group.size());
}

#undef KW_METHOD

}  // namespace cuda
