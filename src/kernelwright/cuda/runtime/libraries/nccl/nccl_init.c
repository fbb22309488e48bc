/* How communicators begin: unique ids, ranks that come, parts of a communicator. */
#define _GNU_SOURCE
#include "nccl_comm.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- unique ids ---- */

static const char MARK[] = "kw-nccl";

struct id {
    char mark[sizeof MARK];
    struct kw_nccl_name name;
    char machine[36]; /* how Linux calls this run of the machine */
};

_Static_assert(sizeof(struct id) <= NCCL_UNIQUE_ID_BYTES, "an id has room");

static void name_machine(char machine[36])
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    memset(machine, 0, 36);
    if (file < 0)
        return;
    if (read(file, machine, 36) < 0)
        memset(machine, 0, 36);
    close(file);
}

/* Asks no device: programs fork after it. */
KW_API ncclResult_t ncclGetUniqueId(ncclUniqueId *uniqueId)
{
    struct id made;
    if (!uniqueId)
        return kw_nccl_error(ncclInvalidArgument, "ncclGetUniqueId: uniqueId is null");
    memcpy(made.mark, MARK, sizeof MARK);
    name_machine(made.machine);
    ncclResult_t result = kw_nccl_new_name(&made.name);
    memset(uniqueId, 0, sizeof *uniqueId);
    memcpy(uniqueId, &made, sizeof made);
    return result;
}

static ncclResult_t read_id(const char *function, const ncclUniqueId *from, struct kw_nccl_name *name)
{
    struct id id;
    char here[36];
    memcpy(&id, from, sizeof id);
    if (memcmp(id.mark, MARK, sizeof MARK))
        return kw_nccl_error(ncclInvalidArgument, "%s: commId is not what ncclGetUniqueId made", function);
    name_machine(here);
    if (memcmp(id.machine, here, sizeof here))
        return kw_nccl_error(ncclInvalidUsage, "%s: commId is another machine's, and ranks are of one machine here",
                             function);
    *name = id.name;
    return ncclSuccess;
}

/* ---- ranks that come ---- */

static ncclResult_t check_config(const char *function, const ncclConfig_t *config)
{
    const ncclConfig_t made = NCCL_CONFIG_INITIALIZER;
    if (!config)
        return ncclSuccess;
    if (config->magic != made.magic || config->size != made.size)
        return kw_nccl_error(ncclInvalidArgument, "%s: config was not begun with NCCL_CONFIG_INITIALIZER", function);
    if (config->blocking != NCCL_CONFIG_UNDEF_INT && config->blocking != 1)
        return kw_nccl_error(ncclInvalidUsage,
                             "%s: communicators that do not block (config.blocking) are not implemented", function);
    return ncclSuccess;
}

static ncclResult_t begin(ncclComm_t *comm, int ranks, const struct kw_nccl_name *name, int rank,
                          int device)
{
    struct kw_nccl_work work = {.call.kind = KW_NCCL_INIT, .made = comm};
    ncclResult_t result = kw_nccl_open(comm, *name, ranks, rank, device);
    work.comm = *comm;
    return result ? kw_nccl_refused(result) : kw_nccl_do(work);
}

static ncclResult_t init(const char *function, ncclComm_t *comm, int ranks, const ncclUniqueId *id, int rank,
                         const ncclConfig_t *config)
{
    struct kw_nccl_name name;
    if (!comm)
        return kw_nccl_error(ncclInvalidArgument, "%s: comm is null", function);
    *comm = NULL;
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return kw_nccl_error(ncclInvalidArgument, "%s: there is no rank %d of %d", function, rank, ranks);
    if (ranks > KW_NCCL_RANKS)
        return kw_nccl_error(ncclInvalidUsage, "%s: %d ranks, and at most %d are implemented", function, ranks,
                             KW_NCCL_RANKS);
    ncclResult_t result = check_config(function, config);
    if (!result)
        result = read_id(function, id, &name);
    if (result)
        return result;
    int error = kw_connect();
    if (error)
        return kw_nccl_error(ncclUnhandledCudaError, "%s: %s", function, cudaGetErrorName((cudaError_t)error));
    return begin(comm, ranks, &name, rank, kw_device);
}

KW_API ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank)
{
    return kw_nccl_refused(init(__func__, comm, nranks, &commId, rank, NULL));
}

KW_API ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank,
                                           ncclConfig_t *config)
{
    return kw_nccl_refused(init(__func__, comm, nranks, &commId, rank, config));
}

KW_API ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist)
{
    struct kw_nccl_name name;
    if (!comm || ndev < 1 || ndev > KW_NCCL_RANKS)
        return kw_nccl_error(ncclInvalidArgument, "%s: %s", __func__,
                             comm ? "no such number of devices" : "comm is null");
    int error = kw_connect();
    if (error)
        return kw_nccl_error(ncclUnhandledCudaError, "%s: %s", __func__, cudaGetErrorName((cudaError_t)error));
    for (int i = 0; i < ndev; i++)
        if (kw_check_device(devlist ? devlist[i] : i))
            return kw_nccl_error(ncclInvalidArgument, "%s: there is no device %d", __func__, devlist ? devlist[i] : i);
    ncclResult_t result = kw_nccl_new_name(&name);
    if (result)
        return result;
    ncclGroupStart();
    for (int i = 0; i < ndev && !result; i++)
        result = begin(&comm[i], ndev, &name, i, devlist ? devlist[i] : i);
    ncclResult_t ended = ncclGroupEnd();
    return result ? result : ended;
}

enum kw_nccl_step kw_nccl_init_step(struct kw_nccl_work *work)
{
    int came = kw_nccl_all_came(&work->comm->meeting);
    if (came < 0)
        return kw_nccl_fail(work, (ncclResult_t)-came, "%s", kw_nccl_sentence());
    return came ? KW_NCCL_DONE : KW_NCCL_WAITS;
}

/* ---- parts of a communicator ---- */

enum { POST, PART, JOIN };

/* SplitMix64 (Steele, Lea, Flood 2014): all ranks of a part come to the same name. */
static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Ranks of a part are in the order of their keys, and of their ranks in the whole. */
static enum kw_nccl_step part(struct kw_nccl_work *work)
{
    ncclComm_t comm = work->comm;
    const struct kw_nccl_seat *seat = comm->meeting.header->seat;
    int ranks = 0, rank = 0, which = comm->calls & 1;
    for (int i = 0; i < comm->meeting.ranks; i++) {
        const struct kw_nccl_call *other = &seat[i].call[which];
        char call[96];
        if (other->kind != KW_NCCL_SPLIT)
            return kw_nccl_fail(work, ncclInvalidUsage, "rank %d calls ncclCommSplit, rank %d %s",
                                comm->meeting.rank, i, kw_nccl_describe(other, call, sizeof call));
        if (other->type != work->call.type)
            continue;
        ranks++;
        rank += other->root < work->call.root || (other->root == work->call.root && i < comm->meeting.rank);
    }
    comm->calls++;
    comm->splits++;
    if ((int)work->call.type == NCCL_SPLIT_NOCOLOR) {
        *work->made = NULL;
        return KW_NCCL_DONE;
    }
    struct kw_nccl_name name = comm->meeting.name;
    for (int i = 0; i < 2; i++)
        name.token[i] = mixed(name.token[i] ^ mixed(comm->splits << 32 | work->call.type));
    if (kw_nccl_open(&work->part, name, ranks, rank, comm->device))
        return kw_nccl_fail(work, ncclSystemError, "%s", kw_nccl_sentence());
    work->state = JOIN;
    return KW_NCCL_MOVED;
}

enum kw_nccl_step kw_nccl_split_step(struct kw_nccl_work *work)
{
    ncclComm_t comm = work->comm;
    switch (work->state) {
    case POST:
        comm->meeting.header->seat[comm->meeting.rank].call[comm->calls & 1] = work->call;
        kw_nccl_arrive(comm);
        work->state = PART;
        return KW_NCCL_MOVED;
    case PART:
        if (!kw_nccl_all_arrived(work))
            return work->error ? KW_NCCL_DONE : KW_NCCL_WAITS;
        return part(work);
    }
    int came = kw_nccl_all_came(&work->part->meeting);
    if (came < 0) {
        kw_nccl_close(work->part, KW_NCCL_FAILED);
        return kw_nccl_fail(work, (ncclResult_t)-came, "%s", kw_nccl_sentence());
    }
    if (came)
        *work->made = work->part;
    return came ? KW_NCCL_DONE : KW_NCCL_WAITS;
}

KW_API ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *newcomm, ncclConfig_t *config)
{
    ncclResult_t result = kw_nccl_check_comm(__func__, comm);
    if (!result)
        result = check_config(__func__, config);
    if (!result && !newcomm)
        result = kw_nccl_error(ncclInvalidArgument, "%s: newcomm is null", __func__);
    if (!result && color < 0 && color != NCCL_SPLIT_NOCOLOR)
        result = kw_nccl_error(ncclInvalidArgument, "%s: a colour is 0 or more, or NCCL_SPLIT_NOCOLOR", __func__);
    if (result)
        return kw_nccl_refused(result);
    *newcomm = NULL;
    struct kw_nccl_call call = {.kind = KW_NCCL_SPLIT, .type = (uint32_t)color, .root = key};
    return kw_nccl_do((struct kw_nccl_work){.comm = comm, .call = call, .made = newcomm});
}
