/* Communicators: those that live, what they are asked, operators of one's own, and their end. */
#include "nccl_comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct ncclComm *comms;
static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;

int kw_nccl_is_comm(ncclComm_t comm)
{
    pthread_mutex_lock(&list);
    struct ncclComm *each = comms;
    while (each && each != comm)
        each = each->next;
    pthread_mutex_unlock(&list);
    return each != NULL;
}

ncclResult_t kw_nccl_open(ncclComm_t *comm, struct kw_nccl_name name, int ranks, int rank, int device)
{
    ncclComm_t made = calloc(1, sizeof *made);
    if (!made)
        return kw_nccl_error(ncclSystemError, "there is no memory left");
    int current = kw_device;
    kw_device = made->device = device;
    ncclResult_t result = kw_nccl_join(&made->meeting, name, ranks, rank);
    kw_device = current;
    if (result) {
        free(made);
        return result;
    }
    pthread_mutex_lock(&list);
    made->next = comms;
    comms = made;
    pthread_mutex_unlock(&list);
    *comm = made;
    return ncclSuccess;
}

void kw_nccl_close(ncclComm_t comm, enum kw_nccl_presence as)
{
    pthread_mutex_lock(&list);
    for (struct ncclComm **link = &comms; *link; link = &(*link)->next)
        if (*link == comm) {
            *link = comm->next;
            break;
        }
    pthread_mutex_unlock(&list);
    kw_nccl_leave(&comm->meeting, as);
    free(comm);
}

/* ---- their end. Calls are over when they return, so that nothing is left to wait for. ---- */

static ncclResult_t end(const char *function, ncclComm_t comm, int aborts)
{
    if (!comm) /* as with NCCL, no error */
        return ncclSuccess;
    if (!kw_nccl_is_comm(comm))
        return kw_nccl_error(ncclInvalidArgument, "%s: comm is no communicator, or has been destroyed", function);
    if (comm->queued)
        return kw_nccl_refused(
            kw_nccl_error(ncclInvalidUsage, "%s: the group that has begun has calls of this communicator", function));
    /* A thread may wait for a peer that never calls: another one ends that. */
    if (comm->running && !aborts)
        return kw_nccl_error(ncclInvalidUsage, "%s: another thread is in a call of this communicator", function);
    comm->is_aborted = 1;
    while (comm->running)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    kw_nccl_close(comm, comm->error ? KW_NCCL_FAILED : KW_NCCL_LEFT);
    return ncclSuccess;
}

KW_API ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    return end(__func__, comm, 0);
}

KW_API ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return end(__func__, comm, 1);
}

KW_API ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    ncclResult_t result = kw_nccl_check_comm(__func__, comm);
    if (!result)
        comm->is_final = 1;
    return result;
}

/* ---- what they are asked ---- */

static ncclResult_t tell(const char *function, ncclComm_t comm, int *where, const int *value)
{
    if (!kw_nccl_is_comm(comm))
        return kw_nccl_error(ncclInvalidArgument, "%s: comm is no communicator, or has been destroyed", function);
    if (!where)
        return kw_nccl_error(ncclInvalidArgument, "%s: the place for the answer is null", function);
    *where = *value;
    return ncclSuccess;
}

KW_API ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
    return tell(__func__, comm, count, &comm->meeting.ranks);
}

KW_API ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
    return tell(__func__, comm, device, &comm->device);
}

KW_API ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    return tell(__func__, comm, rank, &comm->meeting.rank);
}

/* Also that of a peer whose process has ended, before a call would wait for it. */
KW_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError)
{
    if (!kw_nccl_is_comm(comm) || !asyncError)
        return kw_nccl_error(ncclInvalidArgument, "ncclCommGetAsyncError: %s",
                             asyncError ? "comm is no communicator, or has been destroyed" : "asyncError is null");
    kw_nccl_looks_closely = 1;
    for (int rank = 0; rank < comm->meeting.ranks && !comm->error; rank++) {
        const char *gone = kw_nccl_is_gone(&comm->meeting, rank);
        if (!gone || atomic_load(&comm->meeting.header->seat[rank].presence) == KW_NCCL_LEFT)
            continue;
        snprintf(comm->sentence, sizeof comm->sentence, "rank %d %s", rank, gone);
        comm->error = kw_nccl_error(ncclRemoteError, "%s", comm->sentence);
    }
    kw_nccl_looks_closely = 0;
    *asyncError = comm->error;
    return ncclSuccess;
}

/* ---- operators ---- */

KW_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t datatype,
                                             ncclScalarResidence_t residence, ncclComm_t comm)
{
    ncclResult_t result = kw_nccl_check_comm(__func__, comm);
    if (result)
        return result;
    size_t size = kw_nccl_size((uint32_t)datatype);
    if (!op || !scalar || !size || (residence != ncclScalarDevice && residence != ncclScalarHostImmediate))
        return kw_nccl_error(ncclInvalidArgument, "%s: %s", __func__,
                             !op       ? "op is null"
                             : !scalar ? "scalar is null"
                             : !size   ? "there is no such data type"
                                       : "there is no such residence");
    for (int i = 0; i < KW_NCCL_OPERATORS; i++) {
        struct kw_nccl_operator *made = &comm->operator[i];
        if (made->is_used)
            continue;
        *made = (struct kw_nccl_operator){.is_used = 1, .type = datatype};
        if (residence == ncclScalarDevice)
            made->device_scalar = scalar;
        else
            memcpy(made->scalar, scalar, size);
        *op = (ncclRedOp_t)(ncclNumOps + i);
        return ncclSuccess;
    }
    return kw_nccl_error(ncclInvalidUsage, "%s: a communicator has at most %d operators", __func__, KW_NCCL_OPERATORS);
}

KW_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
    int i = (int)op - ncclNumOps;
    if (!kw_nccl_is_comm(comm) || i < 0 || i >= KW_NCCL_OPERATORS || !comm->operator[i].is_used)
        return kw_nccl_error(ncclInvalidArgument, "%s: %d is no operator of this communicator", __func__, (int)op);
    comm->operator[i].is_used = 0;
    return ncclSuccess;
}
