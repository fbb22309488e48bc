/* Collectives, a piece at a time, through a slot of shared memory for each rank:
 *
 *     post       what is called                                    ── all wait ──
 *     compare    with the calls of the others
 *     publish    a piece of the rank's data to its slot            ── all wait ──
 *     combine    a share of all slots, into that of rank 0         ── all wait ──      (reductions)
 *     take       the result, or what others published              ── all wait ──  publish
 *
 * Buffers may be one and the same in the places that NCCL documents: a piece is read before it is written.
 */
#include "nccl_comm.h"

#include <stdio.h>
#include <string.h>

enum { POST, COMPARE, PUBLISH, COMBINE, TAKE };

static char *slot(const struct kw_nccl_meeting *meeting, int rank)
{
    return meeting->slots + (size_t)rank * meeting->slot_size;
}

static int reduces(const struct kw_nccl_work *work)
{
    return work->call.kind == KW_NCCL_ALL_REDUCE || work->call.kind == KW_NCCL_REDUCE ||
           work->call.kind == KW_NCCL_REDUCE_SCATTER;
}

/* Elements of the part of a slot that is for one rank, when all have a part. */
static size_t part_of(const struct kw_nccl_work *work)
{
    const struct kw_nccl_meeting *meeting = &work->comm->meeting;
    return meeting->slot_size / kw_nccl_size(work->call.type) / (size_t)meeting->ranks;
}

/* Elements of the piece under way. */
static size_t piece_of(const struct kw_nccl_work *work)
{
    size_t most = work->call.kind == KW_NCCL_REDUCE_SCATTER
                      ? part_of(work)
                      : work->comm->meeting.slot_size / kw_nccl_size(work->call.type);
    uint64_t left = work->call.count - work->done;
    return left < most ? (size_t)left : most;
}

static enum kw_nccl_step compare(struct kw_nccl_work *work)
{
    ncclComm_t comm = work->comm;
    const struct kw_nccl_seat *seat = comm->meeting.header->seat;
    const struct kw_nccl_call *first = &seat[0].call[comm->calls & 1];
    for (int rank = 1; rank < comm->meeting.ranks; rank++) {
        const struct kw_nccl_call *other = &seat[rank].call[comm->calls & 1];
        char one[96], two[96];
        if (memcmp(first, other, sizeof *first))
            return kw_nccl_fail(work, ncclInvalidUsage, "rank 0 calls %s, rank %d %s",
                                kw_nccl_describe(first, one, sizeof one), rank,
                                kw_nccl_describe(other, two, sizeof two));
    }
    comm->calls++;
    work->state = PUBLISH;
    return work->call.count ? KW_NCCL_MOVED : KW_NCCL_DONE;
}

/* Multiplies what the rank has published by its operator's number. */
static int scale(struct kw_nccl_work *work, char *at, size_t count)
{
    struct kw_nccl_operator *operator = &work->comm->operator[work->operator];
    if (operator->device_scalar && !kw_nccl_copy(work, operator->scalar, operator->device_scalar,
                                                 kw_nccl_size(work->call.type), cudaMemcpyDeviceToHost))
        return 0;
    kw_nccl_scale(work->call.type, at, operator->scalar, count);
    return 1;
}

static int publish(struct kw_nccl_work *work)
{
    const struct kw_nccl_meeting *meeting = &work->comm->meeting;
    size_t size = kw_nccl_size(work->call.type), piece = piece_of(work);
    int is_scattered = work->call.kind == KW_NCCL_REDUCE_SCATTER;
    if (work->call.kind == KW_NCCL_BROADCAST && work->call.root != meeting->rank)
        return 1;
    for (int part = 0; part < (is_scattered ? meeting->ranks : 1); part++) {
        char *to = slot(meeting, meeting->rank) + (size_t)part * part_of(work) * size;
        const char *from = work->send + ((uint64_t)part * work->call.count + work->done) * size;
        if (!kw_nccl_copy(work, to, from, piece * size, cudaMemcpyDeviceToHost))
            return 0;
        if (work->operator >= 0 && !scale(work, to, piece))
            return 0;
    }
    return 1;
}

/* Each rank a share: of a scattered result its own part, else as many elements as the others. */
static void combine(const struct kw_nccl_work *work)
{
    const struct kw_nccl_meeting *meeting = &work->comm->meeting;
    size_t rank = (size_t)meeting->rank, ranks = (size_t)meeting->ranks, piece = piece_of(work);
    int is_scattered = work->call.kind == KW_NCCL_REDUCE_SCATTER;
    size_t first = is_scattered ? rank * part_of(work) : piece * rank / ranks;
    size_t count = is_scattered ? piece : piece * (rank + 1) / ranks - first;
    uint32_t op = work->call.op == KW_NCCL_PRE_MUL_SUM ? ncclSum : work->call.op;
    kw_nccl_combine(work->call.type, op, slot(meeting, 0) + first * kw_nccl_size(work->call.type), meeting->slot_size,
                    ranks - 1, count);
}

static int take(struct kw_nccl_work *work)
{
    const struct kw_nccl_meeting *meeting = &work->comm->meeting;
    size_t size = kw_nccl_size(work->call.type), bytes = piece_of(work) * size;
    char *to = work->recv + work->done * size;
    switch (work->call.kind) {
    case KW_NCCL_REDUCE:
        if (work->call.root != meeting->rank)
            return 1;
        return kw_nccl_copy(work, to, slot(meeting, 0), bytes, cudaMemcpyHostToDevice);
    case KW_NCCL_BROADCAST:
        return kw_nccl_copy(work, to, slot(meeting, work->call.root), bytes, cudaMemcpyHostToDevice);
    case KW_NCCL_REDUCE_SCATTER:
        return kw_nccl_copy(work, to, slot(meeting, 0) + (size_t)meeting->rank * part_of(work) * size, bytes,
                            cudaMemcpyHostToDevice);
    case KW_NCCL_ALL_GATHER:
        for (int rank = 0; rank < meeting->ranks; rank++)
            if (!kw_nccl_copy(work, to + (uint64_t)rank * work->call.count * size, slot(meeting, rank), bytes,
                              cudaMemcpyHostToDevice))
                return 0;
        return 1;
    }
    return kw_nccl_copy(work, to, slot(meeting, 0), bytes, cudaMemcpyHostToDevice);
}

enum kw_nccl_step kw_nccl_collective_step(struct kw_nccl_work *work)
{
    ncclComm_t comm = work->comm;
    if (work->state == POST) {
        comm->meeting.header->seat[comm->meeting.rank].call[comm->calls & 1] = work->call;
        kw_nccl_arrive(comm);
        work->state = COMPARE;
        return KW_NCCL_MOVED;
    }
    /* What has just been compared is published without waiting again. */
    if (!kw_nccl_all_arrived(work))
        return work->error ? KW_NCCL_DONE : KW_NCCL_WAITS;
    switch (work->state) {
    case COMPARE:
        return compare(work);
    case PUBLISH:
        if (!publish(work))
            return KW_NCCL_DONE;
        work->state = reduces(work) ? COMBINE : TAKE;
        break;
    case COMBINE:
        combine(work);
        work->state = TAKE;
        break;
    case TAKE:
        if (!take(work))
            return KW_NCCL_DONE;
        work->done += piece_of(work);
        work->state = PUBLISH;
        break;
    }
    kw_nccl_arrive(comm);
    return work->done == work->call.count ? KW_NCCL_DONE : KW_NCCL_MOVED;
}

/* ---- the calls ---- */

/* What each rank reads and writes, in parts of `count` elements. */
static ncclResult_t check(const char *function, const struct kw_nccl_work *work)
{
    ncclResult_t result = kw_nccl_check_call(function, work);
    if (result)
        return result;
    uint64_t ranks = (uint64_t)work->comm->meeting.ranks;
    uint32_t kind = work->call.kind;
    int is_root = work->call.root == work->comm->meeting.rank;
    if (kind != KW_NCCL_BROADCAST || is_root)
        result = kw_nccl_check_buffer(function, work, "sendbuff", work->send,
                                      kind == KW_NCCL_REDUCE_SCATTER ? ranks : 1);
    if (!result && (kind != KW_NCCL_REDUCE || is_root))
        result = kw_nccl_check_buffer(function, work, "recvbuff", work->recv, kind == KW_NCCL_ALL_GATHER ? ranks : 1);
    return result;
}

static ncclResult_t collective(const char *function, enum kw_nccl_kind kind, const void *send, void *recv, size_t count,
                               ncclDataType_t type, int op, int root, ncclComm_t comm, cudaStream_t stream)
{
    struct kw_nccl_work work = {
        .comm = comm,
        .call = {.kind = kind, .type = (uint32_t)type, .op = (uint32_t)op, .root = root, .count = count},
        .operator = op >= ncclNumOps ? op - ncclNumOps : -1,
        .send = send,
        .recv = recv,
        .stream = stream,
    };
    ncclResult_t result = check(function, &work);
    if (result)
        return kw_nccl_refused(result);
    if (work.operator >= 0)
        work.call.op = KW_NCCL_PRE_MUL_SUM;
    return kw_nccl_do(work);
}

KW_API ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
                                  ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return collective(__func__, KW_NCCL_ALL_REDUCE, sendbuff, recvbuff, count, datatype, (int)op, 0, comm, stream);
}

KW_API ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
                               ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    return collective(__func__, KW_NCCL_REDUCE, sendbuff, recvbuff, count, datatype, (int)op, root, comm, stream);
}

KW_API ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
                                  int root, ncclComm_t comm, cudaStream_t stream)
{
    return collective(__func__, KW_NCCL_BROADCAST, sendbuff, recvbuff, count, datatype, 0, root, comm, stream);
}

KW_API ncclResult_t ncclBcast(void *buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                              cudaStream_t stream)
{
    return collective(__func__, KW_NCCL_BROADCAST, buff, buff, count, datatype, 0, root, comm, stream);
}

KW_API ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount, ncclDataType_t datatype,
                                  ncclComm_t comm, cudaStream_t stream)
{
    return collective(__func__, KW_NCCL_ALL_GATHER, sendbuff, recvbuff, sendcount, datatype, 0, 0, comm, stream);
}

KW_API ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount, ncclDataType_t datatype,
                                      ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return collective(__func__, KW_NCCL_REDUCE_SCATTER, sendbuff, recvbuff, recvcount, datatype, (int)op, 0, comm,
                      stream);
}
