/* What the files of NCCL share.
 *
 *     ncclUniqueId ──names──► meeting: shared memory of all ranks of a communicator, of one process or several
 *     ncclComm_t                one rank's view of it
 *     kw_nccl_work              one call of one rank; a group is a list of them, which one thread carries out by turns
 *
 * A call is carried out in steps that never block: a thread that has several ranks goes on with those that can. All of a
 * group is done when ncclGroupEnd, or a call outside of groups, returns.
 */
#ifndef KERNELWRIGHT_NCCL_COMM_H
#define KERNELWRIGHT_NCCL_COMM_H

#include <stdatomic.h>

#include "client.h"
#include "nccl.h"

enum {
    KW_NCCL_RANKS = 64,        /* at most, so that a set of ranks is a word */
    KW_NCCL_OPERATORS = 64,    /* of one's own, at most, in a communicator */
    KW_NCCL_PRE_MUL_SUM = 100, /* what another rank is told of such an operator, whose number is a rank's own */
    KW_NCCL_SENTENCE = 240,
};

enum kw_nccl_kind {
    KW_NCCL_NONE,
    KW_NCCL_ALL_REDUCE,
    KW_NCCL_REDUCE,
    KW_NCCL_BROADCAST,
    KW_NCCL_ALL_GATHER,
    KW_NCCL_REDUCE_SCATTER,
    KW_NCCL_SEND,
    KW_NCCL_RECV,
    KW_NCCL_INIT,
    KW_NCCL_SPLIT,
};

/* What all ranks have to agree on; of a split, `root` is the key and `type` the colour, and they may differ. */
struct kw_nccl_call {
    uint32_t kind;
    uint32_t type;
    uint32_t op;
    int32_t root;
    uint64_t count;
};

/* How the unique id and a split name a meeting. */
struct kw_nccl_name {
    uint64_t token[2];
};

/* ---- shared memory. Zeros are its state before anyone has come. ---- */

enum kw_nccl_presence { KW_NCCL_ABSENT, KW_NCCL_COMING, KW_NCCL_HERE, KW_NCCL_LEFT, KW_NCCL_FAILED };

struct kw_nccl_seat {
    _Atomic uint32_t presence; /* enum kw_nccl_presence */
    int32_t pid, device;
    uint64_t started; /* when the process did: a pid may be used again */
    /* How many steps of collectives the rank has been through. What others wait for. */
    _Atomic uint64_t steps;
    /* The call under way, and the next: nobody is further ahead while another still compares. */
    struct kw_nccl_call call[2];
};

enum kw_nccl_box_state { KW_NCCL_EMPTY, KW_NCCL_FULL, KW_NCCL_REFUSED };

/* From one rank to another, a piece at a time. */
struct kw_nccl_box {
    _Atomic uint32_t state; /* enum kw_nccl_box_state */
    uint32_t type;          /* the sender's; where it is refused, the receiver's */
    uint64_t count;
};

struct kw_nccl_header {
    _Atomic uint32_t ranks;
    _Atomic uint32_t spoiled; /* the ranks contradict each other: no one can come any more */
    char sentence[KW_NCCL_SENTENCE];
    struct kw_nccl_seat seat[KW_NCCL_RANKS];
};

struct kw_nccl_meeting {
    struct kw_nccl_header *header; /* the beginning of the shared memory */
    size_t size;
    struct kw_nccl_name name;
    int ranks, rank;
    size_t slot_size, box_size; /* bytes of data */
    struct kw_nccl_box *box;    /* [from * ranks + to] */
    char *slots, *boxes;
};

/* ---- nccl_meeting.c ---- */

/* Joins, and creates what is not there yet; waits for no one. The rank's device is this thread's. */
ncclResult_t kw_nccl_join(struct kw_nccl_meeting *meeting, struct kw_nccl_name name, int ranks, int rank);

/* Whether all have come: 1, 0, or a negative ncclResult_t when they never will. */
int kw_nccl_all_came(struct kw_nccl_meeting *meeting);

void kw_nccl_leave(struct kw_nccl_meeting *meeting, enum kw_nccl_presence as);

/* Why the rank will not come any further; NULL as long as it may. */
const char *kw_nccl_is_gone(const struct kw_nccl_meeting *meeting, int rank);

ncclResult_t kw_nccl_new_name(struct kw_nccl_name *name);

/* While it is set, this thread looks whether processes live: that takes longer than a look at shared memory. */
extern _Thread_local int kw_nccl_looks_closely;

/* ---- nccl_comm.c ---- */

struct kw_nccl_operator {
    int is_used;
    ncclDataType_t type;
    const void *device_scalar; /* NULL: the number is here */
    char scalar[8];
};

struct ncclComm {
    struct kw_nccl_meeting meeting;
    int device;
    uint64_t steps; /* as the seat's */
    uint64_t calls; /* of collectives */
    uint64_t splits;
    int is_final;       /* after ncclCommFinalize */
    int queued;         /* calls in a group that has not ended */
    _Atomic int running; /* calls that a thread carries out */
    _Atomic int is_aborted;
    /* Of this round of the group: calls that later ones have to wait for; sets of ranks. */
    int is_busy, is_opening;
    uint64_t sends_to, receives_from;
    ncclResult_t error; /* what ended it */
    char sentence[KW_NCCL_SENTENCE];
    struct kw_nccl_operator operator[KW_NCCL_OPERATORS];
    struct ncclComm *next;
};

/* Whether it lives. */
int kw_nccl_is_comm(ncclComm_t comm);

/* The communicator may be used: success, or what the call returns. */
ncclResult_t kw_nccl_check_comm(const char *function, ncclComm_t comm);

/* Makes a communicator of a rank, and joins. Waiting for the others is another step. */
ncclResult_t kw_nccl_open(ncclComm_t *comm, struct kw_nccl_name name, int ranks, int rank, int device);
void kw_nccl_close(ncclComm_t comm, enum kw_nccl_presence as);

/* ---- nccl_group.c ---- */

enum kw_nccl_step { KW_NCCL_WAITS, KW_NCCL_MOVED, KW_NCCL_DONE };

struct kw_nccl_work {
    ncclComm_t comm;
    struct kw_nccl_call call;
    int operator; /* the rank's own, as an index; -1: none */
    const char *send;
    char *recv;
    cudaStream_t stream;
    int state;
    uint64_t done;      /* elements */
    ncclResult_t error; /* when the step has failed */
    ncclComm_t *made;   /* of an init and a split: where the communicator goes */
    ncclComm_t part;    /* of a split */
    struct kw_nccl_work *next;
};

/* Adds a call to the group that is open, or carries it out. The group's first error is what it returns in the end. */
ncclResult_t kw_nccl_do(struct kw_nccl_work work);

/* Remembers that a call within a group was refused. Returns its argument. */
ncclResult_t kw_nccl_refused(ncclResult_t result);

/* ---- steps. They set `error` when they fail, and return KW_NCCL_DONE then. ---- */

enum kw_nccl_step kw_nccl_collective_step(struct kw_nccl_work *work); /* nccl_collectives.c */
enum kw_nccl_step kw_nccl_exchange_step(struct kw_nccl_work *work);   /* nccl_exchange.c */
enum kw_nccl_step kw_nccl_init_step(struct kw_nccl_work *work);       /* nccl_init.c */
enum kw_nccl_step kw_nccl_split_step(struct kw_nccl_work *work);

/* Ends the rank's part in the communicator: others that wait for it are told. */
enum kw_nccl_step kw_nccl_fail(struct kw_nccl_work *work, ncclResult_t error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Tells the others that this rank has done its step. */
void kw_nccl_arrive(ncclComm_t comm);

/* Whether all others have; where one never will, the work has failed (`error`). */
int kw_nccl_all_arrived(struct kw_nccl_work *work);

/* Copies between the device and shared memory, in the order of the stream. Returns whether it could; if not, the work has
   failed. */
int kw_nccl_copy(struct kw_nccl_work *work, void *to, const void *from, size_t size, enum cudaMemcpyKind kind);

/* ---- nccl_arguments.c ---- */

/* Tests what all calls have, and that `bytes` of device memory are there. */
ncclResult_t kw_nccl_check_call(const char *function, const struct kw_nccl_work *work);
ncclResult_t kw_nccl_check_buffer(const char *function, const struct kw_nccl_work *work, const char *name,
                                  const void *buffer, uint64_t parts);

/* The size of an element; 0 for what is no type. */
size_t kw_nccl_size(uint32_t type);

/* "ncclAllReduce of 5 ncclFloat32 with ncclSum" */
const char *kw_nccl_describe(const struct kw_nccl_call *call, char *to, size_t room);

/* ---- nccl_error.c ---- */

/* Remembers a sentence for ncclGetLastError, and returns `result`. */
ncclResult_t kw_nccl_error(ncclResult_t result, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What was remembered last in this thread. */
const char *kw_nccl_sentence(void);

/* ---- nccl_reduce.c ---- */

/* to[i] = to[i] op from[0][i] op from[1][i] ..., `count` elements; ncclAvg divides by the number of vectors. Behind `to` come
   `others` vectors, `stride` bytes apart. */
void kw_nccl_combine(uint32_t type, uint32_t op, char *to, size_t stride, size_t others, size_t count);

/* to[i] *= scalar */
void kw_nccl_scale(uint32_t type, char *to, const char *scalar, size_t count);

#endif
