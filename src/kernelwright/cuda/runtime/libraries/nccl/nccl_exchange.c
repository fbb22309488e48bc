/* Sends and receives, a piece at a time, through a box of shared memory for each pair of ranks. The sender waits until the
   last piece has been taken, so that it learns when the receiver expects something else. */
#include "nccl_comm.h"

#include <stdio.h>

enum { PIECES, LAST_IS_TAKEN };

static int pair_of(const struct kw_nccl_work *work)
{
    const struct kw_nccl_meeting *meeting = &work->comm->meeting;
    return work->call.kind == KW_NCCL_SEND ? meeting->rank * meeting->ranks + work->call.root
                                           : work->call.root * meeting->ranks + meeting->rank;
}

static size_t piece_of(const struct kw_nccl_work *work)
{
    size_t most = work->comm->meeting.box_size / kw_nccl_size(work->call.type);
    uint64_t left = work->call.count - work->done;
    return left < most ? (size_t)left : most;
}

/* Waits for the box to be in another state than it is; not for a peer that is gone. */
static enum kw_nccl_step wait_for_peer(struct kw_nccl_work *work, const struct kw_nccl_box *box, uint32_t state)
{
    const char *gone = kw_nccl_is_gone(&work->comm->meeting, work->call.root);
    char call[96];
    if (!gone || atomic_load(&box->state) != state)
        return KW_NCCL_WAITS;
    return kw_nccl_fail(work, ncclRemoteError, "%s: rank %d %s",
                        kw_nccl_describe(&work->call, call, sizeof call), work->call.root, gone);
}

static enum kw_nccl_step differs(struct kw_nccl_work *work, uint32_t type, uint64_t count)
{
    struct kw_nccl_call other = work->call;
    char one[96], two[96];
    other.kind = work->call.kind == KW_NCCL_SEND ? KW_NCCL_RECV : KW_NCCL_SEND;
    other.type = type;
    other.count = count;
    other.root = work->comm->meeting.rank;
    return kw_nccl_fail(work, ncclInvalidUsage, "rank %d calls %s, rank %d %s", work->comm->meeting.rank,
                        kw_nccl_describe(&work->call, one, sizeof one), work->call.root,
                        kw_nccl_describe(&other, two, sizeof two));
}

static enum kw_nccl_step send(struct kw_nccl_work *work, struct kw_nccl_box *box, char *data)
{
    uint32_t state = atomic_load(&box->state);
    size_t size = kw_nccl_size(work->call.type), piece = piece_of(work);
    if (state == KW_NCCL_REFUSED) {
        uint32_t type = box->type;
        uint64_t count = box->count;
        atomic_store(&box->state, KW_NCCL_EMPTY);
        return differs(work, type, count);
    }
    if (state == KW_NCCL_FULL)
        return wait_for_peer(work, box, state);
    if (work->state == LAST_IS_TAKEN)
        return KW_NCCL_DONE;
    if (piece && !kw_nccl_copy(work, data, work->send + work->done * size, piece * size, cudaMemcpyDeviceToHost))
        return KW_NCCL_DONE;
    box->type = work->call.type;
    box->count = work->call.count;
    atomic_store(&box->state, KW_NCCL_FULL);
    work->done += piece;
    if (work->done == work->call.count)
        work->state = LAST_IS_TAKEN;
    return KW_NCCL_MOVED;
}

static enum kw_nccl_step receive(struct kw_nccl_work *work, struct kw_nccl_box *box, const char *data)
{
    uint32_t state = atomic_load(&box->state);
    size_t size = kw_nccl_size(work->call.type), piece = piece_of(work);
    if (state != KW_NCCL_FULL)
        return wait_for_peer(work, box, state);
    if (box->type != work->call.type || box->count != work->call.count) {
        uint32_t type = box->type;
        uint64_t count = box->count;
        box->type = work->call.type;
        box->count = work->call.count;
        atomic_store(&box->state, KW_NCCL_REFUSED);
        return differs(work, type, count);
    }
    if (piece && !kw_nccl_copy(work, work->recv + work->done * size, data, piece * size, cudaMemcpyHostToDevice))
        return KW_NCCL_DONE;
    atomic_store(&box->state, KW_NCCL_EMPTY);
    work->done += piece;
    return work->done == work->call.count ? KW_NCCL_DONE : KW_NCCL_MOVED;
}

enum kw_nccl_step kw_nccl_exchange_step(struct kw_nccl_work *work)
{
    const struct kw_nccl_meeting *meeting = &work->comm->meeting;
    int pair = pair_of(work);
    char *data = meeting->boxes + (size_t)pair * meeting->box_size;
    return work->call.kind == KW_NCCL_SEND ? send(work, &meeting->box[pair], data)
                                           : receive(work, &meeting->box[pair], data);
}

static ncclResult_t exchange(const char *function, struct kw_nccl_work work, const char *name, const void *buffer)
{
    ncclResult_t result = kw_nccl_check_call(function, &work);
    if (!result)
        result = kw_nccl_check_buffer(function, &work, name, buffer, 1);
    return result ? kw_nccl_refused(result) : kw_nccl_do(work);
}

KW_API ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                             cudaStream_t stream)
{
    struct kw_nccl_call call = {.kind = KW_NCCL_SEND, .type = (uint32_t)datatype, .root = peer, .count = count};
    return exchange(__func__, (struct kw_nccl_work){.comm = comm, .call = call, .send = sendbuff, .stream = stream},
                    "sendbuff", sendbuff);
}

KW_API ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                             cudaStream_t stream)
{
    struct kw_nccl_call call = {.kind = KW_NCCL_RECV, .type = (uint32_t)datatype, .root = peer, .count = count};
    return exchange(__func__, (struct kw_nccl_work){.comm = comm, .call = call, .recv = recvbuff, .stream = stream},
                    "recvbuff", recvbuff);
}
