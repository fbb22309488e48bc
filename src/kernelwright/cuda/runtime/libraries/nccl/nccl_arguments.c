/* What a call is tested for before anything is done, and calls in words. */
#include "graph.h"
#include "nccl_comm.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[ncclNumTypes] = {
    [ncclInt8] = {"ncclInt8", 1},
    [ncclUint8] = {"ncclUint8", 1},
    [ncclInt32] = {"ncclInt32", 4},
    [ncclUint32] = {"ncclUint32", 4},
    [ncclInt64] = {"ncclInt64", 8},
    [ncclUint64] = {"ncclUint64", 8},
    [ncclFloat16] = {"ncclFloat16", 2},
    [ncclFloat32] = {"ncclFloat32", 4},
    [ncclFloat64] = {"ncclFloat64", 8},
    [ncclBfloat16] = {"ncclBfloat16", 2},
    [ncclFloat8e4m3] = {"ncclFloat8e4m3", 1},
    [ncclFloat8e5m2] = {"ncclFloat8e5m2", 1},
};

static const struct {
    const char *name;
    int reduces, has_root;
} kinds[] = {
    [KW_NCCL_ALL_REDUCE] = {"ncclAllReduce", 1, 0},   [KW_NCCL_REDUCE] = {"ncclReduce", 1, 1},
    [KW_NCCL_BROADCAST] = {"ncclBroadcast", 0, 1},    [KW_NCCL_ALL_GATHER] = {"ncclAllGather", 0, 0},
    [KW_NCCL_REDUCE_SCATTER] = {"ncclReduceScatter", 1, 0}, [KW_NCCL_SEND] = {"ncclSend", 0, 1},
    [KW_NCCL_RECV] = {"ncclRecv", 0, 1},              [KW_NCCL_INIT] = {"ncclCommInitRank", 0, 0},
    [KW_NCCL_SPLIT] = {"ncclCommSplit", 0, 0},
};

size_t kw_nccl_size(uint32_t type)
{
    return type < ncclNumTypes ? types[type].size : 0;
}

const char *kw_nccl_describe(const struct kw_nccl_call *call, char *to, size_t room)
{
    static const char *const ops[] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg"};
    if (call->kind >= sizeof kinds / sizeof *kinds || !kinds[call->kind].name)
        snprintf(to, room, "no call");
    else if (call->kind == KW_NCCL_SPLIT)
        snprintf(to, room, "ncclCommSplit");
    else {
        int at = snprintf(to, room, "%s of %llu %s", kinds[call->kind].name, (unsigned long long)call->count,
                          call->type < ncclNumTypes ? types[call->type].name : "of no type");
        if (kinds[call->kind].reduces)
            at += snprintf(to + at, room - (size_t)at, " with %s",
                           call->op < ncclNumOps ? ops[call->op] : "an operator of its own");
        if (kinds[call->kind].has_root)
            snprintf(to + at, room - (size_t)at, "%s %d",
                     call->kind == KW_NCCL_SEND   ? " to rank"
                     : call->kind == KW_NCCL_RECV ? " from rank"
                                                  : ", root",
                     call->root);
    }
    return to;
}

ncclResult_t kw_nccl_check_comm(const char *function, ncclComm_t comm)
{
    if (!comm)
        return kw_nccl_error(ncclInvalidArgument, "%s: comm is null", function);
    if (!kw_nccl_is_comm(comm))
        return kw_nccl_error(ncclInvalidArgument, "%s: comm is no communicator, or has been destroyed", function);
    if (comm->error)
        return kw_nccl_error(comm->error, "%s", comm->sentence);
    if (comm->is_final)
        return kw_nccl_error(ncclInvalidUsage, "%s: the communicator has been finalized", function);
    return ncclSuccess;
}

static ncclResult_t check_operator(const char *function, const struct kw_nccl_work *work)
{
    if (work->call.type >= ncclFloat8e4m3)
        return kw_nccl_error(ncclInvalidUsage, "%s: reductions of 8-bit floating point are not implemented", function);
    if (work->call.op < ncclNumOps)
        return ncclSuccess;
    if (work->operator < 0 || work->operator >= KW_NCCL_OPERATORS || !work->comm->operator[work->operator].is_used)
        return kw_nccl_error(ncclInvalidArgument, "%s: op %d is no operator of this communicator", function,
                             (int)work->call.op);
    if (work->comm->operator[work->operator].type != work->call.type)
        return kw_nccl_error(ncclInvalidArgument, "%s: the operator was made for another type", function);
    return ncclSuccess;
}

static ncclResult_t check_stream(const char *function, const struct kw_nccl_work *work)
{
    uint64_t number;
    int error = kw_stream_number(work->stream, &number);
    if (error)
        return kw_nccl_error(ncclInvalidArgument, "%s: the stream is not one of device %d", function,
                             work->comm->device);
    if (kw_is_capturing() && kw_not_while_captured(number))
        return kw_nccl_error(ncclInvalidUsage, "%s: NCCL's calls cannot be captured into a graph here", function);
    return ncclSuccess;
}

ncclResult_t kw_nccl_check_call(const char *function, const struct kw_nccl_work *work)
{
    const struct kw_nccl_call *call = &work->call;
    ncclResult_t result = kw_nccl_check_comm(function, work->comm);
    if (result)
        return result;
    if (!kw_nccl_size(call->type))
        return kw_nccl_error(ncclInvalidArgument, "%s: %d is no data type", function, (int)call->type);
    int ranks = work->comm->meeting.ranks;
    if (kinds[call->kind].has_root && (call->root < 0 || call->root >= ranks))
        return kw_nccl_error(ncclInvalidArgument, "%s: %d is no rank, there are %d", function, call->root, ranks);
    if (kinds[call->kind].reduces && (result = check_operator(function, work)))
        return result;
    uint64_t bytes;
    if (__builtin_mul_overflow(call->count, (uint64_t)ranks * kw_nccl_size(call->type), &bytes) || bytes > INT64_MAX)
        return kw_nccl_error(ncclInvalidArgument, "%s: a count of %llu is more than any memory has, or negative",
                             function, (unsigned long long)call->count);
    int current = kw_device;
    kw_device = work->comm->device;
    result = check_stream(function, work);
    kw_device = current;
    return result;
}

/* A buffer that is too small is found here, where the argument's name is known, before others are waited for. */
ncclResult_t kw_nccl_check_buffer(const char *function, const struct kw_nccl_work *work, const char *name,
                                  const void *buffer, uint64_t parts)
{
    struct kw_block found;
    uint64_t bytes = work->call.count * parts * kw_nccl_size(work->call.type);
    uint64_t at = kw_managed_address((uint64_t)buffer);
    if (!bytes)
        return ncclSuccess;
    if (!buffer)
        return kw_nccl_error(ncclInvalidArgument, "%s: %s is null", function, name);
    if (!kw_find_block((const void *)at, &found))
        return kw_nccl_error(ncclInvalidArgument, "%s: %s, %p, is no memory that the device knows", function, name,
                             buffer);
    if (found.kind == KW_MEMORY_DEVICE && found.device != work->comm->device)
        return kw_nccl_error(ncclInvalidArgument, "%s: %s is memory of device %d, the communicator's is device %d",
                             function, name, found.device, work->comm->device);
    uint64_t left = found.address + found.size - at;
    if (bytes > left)
        return kw_nccl_error(ncclInvalidArgument, "%s: %s takes %llu bytes, and %llu are left of the %llu allocated",
                             function, name, (unsigned long long)bytes, (unsigned long long)left,
                             (unsigned long long)found.size);
    return ncclSuccess;
}
