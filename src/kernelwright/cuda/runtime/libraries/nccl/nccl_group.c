/* Groups: the calls of a thread between ncclGroupStart and ncclGroupEnd, carried out by turns.
 *
 *     of each communicator, collectives go one after the other, and so do sends to one rank, and receives from one; these
 *     three go side by side
 *     a round takes each call that is at its turn a step further; when none could move, the thread waits a little
 */
#include "nccl_comm.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Thread_local struct kw_nccl_work *group, **end_of_group;
static _Thread_local int depth;
static _Thread_local ncclResult_t first_error;
static _Thread_local char first_sentence[KW_NCCL_SENTENCE];

/* ---- one round ---- */

/* Whether an earlier call of this round has to be over first; else the later ones have to wait for this one. */
static int has_to_wait(const struct kw_nccl_work *work)
{
    ncclComm_t comm = work->comm;
    uint64_t *busy = work->call.kind == KW_NCCL_SEND   ? &comm->sends_to
                     : work->call.kind == KW_NCCL_RECV ? &comm->receives_from
                                                       : NULL;
    if (!busy) {
        int waits = comm->is_busy;
        comm->is_busy = 1;
        comm->is_opening |= work->call.kind == KW_NCCL_INIT;
        return waits;
    }
    uint64_t peer = 1ull << work->call.root;
    int waits = comm->is_opening || *busy & peer;
    *busy |= peer;
    return waits;
}

static enum kw_nccl_step take_step(struct kw_nccl_work *work)
{
    if (work->comm->error) { /* another call of the group has failed */
        work->error = work->comm->error;
        return KW_NCCL_DONE;
    }
    if (work->comm->is_aborted)
        return kw_nccl_fail(work, ncclInvalidUsage, "another thread has aborted the communicator");
    switch (work->call.kind) {
    case KW_NCCL_SEND:
    case KW_NCCL_RECV:
        return kw_nccl_exchange_step(work);
    case KW_NCCL_INIT:
        return kw_nccl_init_step(work);
    case KW_NCCL_SPLIT:
        return kw_nccl_split_step(work);
    }
    return kw_nccl_collective_step(work);
}

static void note(ncclResult_t error)
{
    if (error && !first_error) {
        first_error = error;
        snprintf(first_sentence, sizeof first_sentence, "%s", kw_nccl_sentence());
    }
}

static int round_of(struct kw_nccl_work **over)
{
    int moved = 0, current = kw_device;
    for (struct kw_nccl_work *work = group; work; work = work->next)
        work->comm->is_busy = work->comm->is_opening = 0, work->comm->sends_to = work->comm->receives_from = 0;
    for (struct kw_nccl_work **link = &group; *link;) {
        struct kw_nccl_work *work = *link;
        kw_device = work->comm->device;
        enum kw_nccl_step step = has_to_wait(work) ? KW_NCCL_WAITS : take_step(work);
        moved |= step != KW_NCCL_WAITS;
        if (step != KW_NCCL_DONE) {
            link = &work->next;
            continue;
        }
        note(work->error);
        work->comm->running--;
        *link = work->next;
        work->next = *over;
        *over = work;
    }
    kw_device = current;
    return moved;
}

static void wait_a_little(int idle)
{
    enum { SPINS = 200, CLOSE = 16 };
    kw_nccl_looks_closely = idle > SPINS && idle % CLOSE == 0;
    if (idle <= SPINS) {
        sched_yield();
        return;
    }
    struct timespec pause = {0, idle < 2 * SPINS ? 50000 : 500000};
    nanosleep(&pause, NULL);
}

/* ---- the whole group ---- */

static void forget(struct kw_nccl_work *over)
{
    while (over) {
        struct kw_nccl_work *next = over->next;
        if (over->call.kind == KW_NCCL_INIT && over->error) {
            *over->made = NULL;
            kw_nccl_close(over->comm, KW_NCCL_FAILED);
        }
        free(over);
        over = next;
    }
}

static ncclResult_t carry_out(void)
{
    struct kw_nccl_work *over = NULL;
    for (struct kw_nccl_work *work = group; work; work = work->next) {
        work->comm->queued = 0;
        if (first_error) /* a call was refused: nothing of the group is done */
            work->error = first_error;
        else
            work->comm->running++;
    }
    if (first_error) {
        over = group;
        group = NULL;
    }
    for (int idle = 0; group;) {
        idle = round_of(&over) ? 0 : idle + 1;
        if (idle && group)
            wait_a_little(idle);
    }
    kw_nccl_looks_closely = 0;
    forget(over);
    ncclResult_t result = first_error;
    first_error = ncclSuccess;
    return result ? kw_nccl_error(result, "%s", first_sentence) : ncclSuccess;
}

ncclResult_t kw_nccl_refused(ncclResult_t result)
{
    if (depth)
        note(result);
    return result;
}

ncclResult_t kw_nccl_do(struct kw_nccl_work work)
{
    struct kw_nccl_work *kept = malloc(sizeof *kept);
    if (!kept)
        return kw_nccl_refused(kw_nccl_error(ncclSystemError, "there is no memory left"));
    *kept = work;
    kept->next = NULL;
    kept->comm->queued++;
    if (!group)
        end_of_group = &group;
    *end_of_group = kept;
    end_of_group = &kept->next;
    return depth ? ncclSuccess : carry_out();
}

KW_API ncclResult_t ncclGroupStart(void)
{
    depth++;
    return ncclSuccess;
}

KW_API ncclResult_t ncclGroupEnd(void)
{
    if (!depth)
        return kw_nccl_error(ncclInvalidUsage, "ncclGroupEnd: there is no ncclGroupStart before it");
    return --depth ? ncclSuccess : carry_out();
}

/* ---- what steps are made of ---- */

enum kw_nccl_step kw_nccl_fail(struct kw_nccl_work *work, ncclResult_t error, const char *format, ...)
{
    ncclComm_t comm = work->comm;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(comm->sentence, sizeof comm->sentence, format, arguments);
    va_end(arguments);
    comm->error = work->error = kw_nccl_error(error, "%s", comm->sentence);
    if (comm->meeting.header)
        atomic_store(&comm->meeting.header->seat[comm->meeting.rank].presence, KW_NCCL_FAILED);
    return KW_NCCL_DONE;
}

void kw_nccl_arrive(ncclComm_t comm)
{
    atomic_store(&comm->meeting.header->seat[comm->meeting.rank].steps, ++comm->steps);
}

int kw_nccl_all_arrived(struct kw_nccl_work *work)
{
    ncclComm_t comm = work->comm;
    for (int rank = 0; rank < comm->meeting.ranks; rank++) {
        _Atomic uint64_t *steps = &comm->meeting.header->seat[rank].steps;
        if (atomic_load(steps) >= comm->steps)
            continue;
        const char *gone = kw_nccl_is_gone(&comm->meeting, rank);
        if (gone && atomic_load(steps) < comm->steps) { /* it did not arrive before it went, either */
            char call[128];
            kw_nccl_fail(work, ncclRemoteError, "%s: rank %d %s", kw_nccl_describe(&work->call, call, sizeof call),
                         rank, gone);
        }
        return 0;
    }
    return 1;
}

int kw_nccl_copy(struct kw_nccl_work *work, void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
    int error = kw_copy(to, from, size, kind, work->stream, 1);
    if (error)
        kw_nccl_fail(work, ncclUnhandledCudaError, "a copy of the device's memory: %s",
                     cudaGetErrorName((cudaError_t)error));
    return !error;
}
