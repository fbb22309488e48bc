// What NCCL refuses, each with its sentence; `nccl_misuse` alone, with two devices.
#include <cstdio>
#include <cstring>
#include <nccl.h>
#include <thread>
#include <unistd.h>

#define TELL(call) tell(#call, call)
static void tell(const char *what, ncclResult_t result)
{
    static const char *const names[] = {"success", "CUDA error", "system error", "internal error", "argument", "usage", "remote"};
    printf("%s: %s%s%s\n", what, names[result], result ? ": " : "", result ? ncclGetLastError(NULL) : "");
}

static ncclComm_t comm[2];
static float *a[2], *b[2];
static cudaStream_t stream[2];

static void begin()
{
    for (int i = 0; i < 2; i++)
        if (comm[i]) ncclCommDestroy(comm[i]);
    ncclCommInitAll(comm, 2, NULL);
}

// A call of each rank, in one group; then whether the communicator lives.
#define BOTH(first, second)                                                                \
    do {                                                                                   \
        ncclResult_t state[2];                                                             \
        begin();                                                                           \
        ncclGroupStart();                                                                  \
        first;                                                                             \
        second;                                                                            \
        tell(#first "; " #second, ncclGroupEnd());                                         \
        for (int i = 0; i < 2; i++) ncclCommGetAsyncError(comm[i], &state[i]);             \
        printf("    %d %d %s\n", state[0], state[1], ncclGetLastError(comm[0]));           \
    } while (0)
#define SUM(i, count, type) ncclAllReduce(a[i], b[i], count, type, ncclSum, comm[i], stream[i])

static void ids()
{
    ncclUniqueId id, other;
    ncclComm_t c = NULL, d = NULL;
    TELL(ncclGetUniqueId(NULL));
    TELL(ncclGetVersion(NULL));
    ncclGetUniqueId(&id);
    TELL(ncclCommInitRank(NULL, 1, id, 0));
    TELL(ncclCommInitRank(&c, 0, id, 0));
    TELL(ncclCommInitRank(&c, 2, id, 2));
    TELL(ncclCommInitRank(&c, 2, id, -1));
    TELL(ncclCommInitRank(&c, 65, id, 0));
    memset(&other, 0, sizeof other);
    TELL(ncclCommInitRank(&c, 1, other, 0));
    other = id;
    other.internal[24] ^= 1;
    TELL(ncclCommInitRank(&c, 1, other, 0));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    TELL(ncclCommInitRankConfig(&c, 1, id, 0, &config));
    config.magic = 0;
    TELL(ncclCommInitRankConfig(&c, 1, id, 0, &config));
    ncclGroupStart();
    TELL(ncclCommInitRank(&c, 2, id, 0));
    TELL(ncclCommInitRank(&d, 2, id, 0));
    tell("the same number twice", ncclGroupEnd());
    printf("    %d %d\n", c == NULL, d == NULL);
    ncclGetUniqueId(&id);
    ncclGroupStart();
    TELL(ncclCommInitRank(&c, 2, id, 0));
    TELL(ncclCommInitRank(&d, 3, id, 1));
    tell("two numbers of ranks", ncclGroupEnd());
    int same[] = {0, 0}, none[] = {0, 5};
    TELL(ncclCommInitAll(comm, 2, same));
    TELL(ncclCommInitAll(comm, 2, none));
    TELL(ncclCommInitAll(comm, 0, NULL));
    TELL(ncclCommInitAll(NULL, 1, NULL));
    comm[0] = comm[1] = NULL;
    config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    ncclGetUniqueId(&id);
    TELL(ncclCommInitRankConfig(&c, 1, id, 0, &config));
    TELL(ncclCommDestroy(c));
}

static void arguments()
{
    float host[4];
    ncclComm_t part;
    ncclRedOp_t op;
    begin();
    TELL(ncclAllReduce(NULL, b[0], 4, ncclFloat, ncclSum, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0], NULL, 4, ncclFloat, ncclSum, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0], b[0], 4, ncclFloat, ncclSum, NULL, stream[0]));
    TELL(ncclAllReduce(a[0], b[0], 4, ncclFloat, ncclSum, (ncclComm_t)host, stream[0]));
    TELL(ncclAllReduce(a[0], b[0], 4, (ncclDataType_t)99, ncclSum, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0], b[0], 4, (ncclDataType_t)-1, ncclSum, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0], b[0], 4, ncclFloat, (ncclRedOp_t)77, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0], b[0], 4, ncclFloat, (ncclRedOp_t)-1, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0], b[0], -1, ncclFloat, ncclSum, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0], b[0], 1ull << 61, ncclFloat, ncclSum, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0] + 1, b[0], 4, ncclFloat, ncclSum, comm[0], stream[0]));
    TELL(ncclAllGather(a[0], b[0], 3, ncclFloat, comm[0], stream[0]));
    TELL(ncclReduceScatter(a[0], b[0], 3, ncclFloat, ncclSum, comm[0], stream[0]));
    host[0] = 0;
    ncclResult_t result = ncclAllReduce(host, b[0], 4, ncclFloat, ncclSum, comm[0], stream[0]);
    printf("memory of the host: %d %d\n", result, strstr(ncclGetLastError(NULL), "is no memory that the device knows") != NULL);
    TELL(ncclAllReduce(a[1], b[0], 4, ncclFloat, ncclSum, comm[0], stream[0]));
    TELL(ncclAllReduce(a[0], b[0], 4, ncclFloat, ncclSum, comm[0], stream[1]));
    TELL(ncclAllReduce(a[0], b[0], 4, ncclFloat8e4m3, ncclSum, comm[0], stream[0]));
    TELL(ncclReduce(a[0], b[0], 4, ncclFloat, ncclSum, 2, comm[0], stream[0]));
    TELL(ncclBroadcast(a[0], b[0], 4, ncclFloat, -1, comm[0], stream[0]));
    TELL(ncclSend(a[0], 4, ncclFloat, 2, comm[0], stream[0]));
    TELL(ncclRecv(NULL, 4, ncclFloat, 1, comm[0], stream[0]));
    TELL(ncclCommSplit(comm[0], -5, 0, &part, NULL));
    TELL(ncclCommSplit(comm[0], 0, 0, NULL, NULL));
    TELL(ncclCommCount(comm[0], NULL));
    TELL(ncclCommUserRank(NULL, NULL));
    TELL(ncclMemAlloc(NULL, 4));
    TELL(ncclRedOpCreatePreMulSum(&op, NULL, ncclFloat, ncclScalarDevice, comm[0]));
    TELL(ncclRedOpCreatePreMulSum(&op, host, ncclFloat, ncclScalarHostImmediate, comm[0]));
    TELL(ncclAllReduce(a[0], b[0], 2, ncclDouble, op, comm[0], stream[0]));
    TELL(ncclRedOpDestroy(op, comm[0]));
    TELL(ncclRedOpDestroy(op, comm[0]));
    TELL(ncclRedOpDestroy(ncclSum, comm[0]));
    TELL(ncclGroupEnd());
    cudaGraph_t graph;
    cudaSetDevice(0);
    cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal);
    TELL(ncclAllReduce(a[0], b[0], 4, ncclFloat, ncclSum, comm[0], stream[0]));
    printf("    capture: %s\n", cudaGetErrorName(cudaStreamEndCapture(stream[0], &graph)));
    cudaGetLastError();
    // Nothing of a group is done when a call of it was refused; and all of this has harmed no one.
    ncclGroupStart();
    SUM(0, 4, ncclFloat);
    SUM(1, 99, ncclFloat);
    TELL(ncclCommDestroy(comm[0]));
    tell("a group with a wrong call", ncclGroupEnd());
    ncclGroupStart();
    SUM(0, 4, ncclFloat);
    SUM(1, 4, ncclFloat);
    TELL(ncclGroupEnd());
    ncclGroupStart();
    ncclBroadcast(a[0], b[0], 16, ncclFloat8e5m2, 1, comm[0], stream[0]);
    ncclBroadcast(a[1], b[1], 16, ncclFloat8e5m2, 1, comm[1], stream[1]);
    tell("8 bits moved", ncclGroupEnd());
    ncclGroupStart();
    SUM(0, 0, ncclFloat);
    SUM(1, 0, ncclFloat);
    tell("nothing to add", ncclGroupEnd());
    void *memory;
    TELL(ncclMemAlloc(&memory, 1000));
    TELL(ncclMemFree(memory));
    TELL(ncclMemFree(memory));
}

static void mismatches()
{
    BOTH(SUM(0, 4, ncclFloat), SUM(1, 3, ncclFloat));
    BOTH(SUM(0, 4, ncclFloat), SUM(1, 4, ncclInt));
    BOTH(SUM(0, 0, ncclFloat), SUM(1, 4, ncclFloat));
    BOTH(SUM(0, 4, ncclFloat), ncclAllReduce(a[1], b[1], 4, ncclFloat, ncclMax, comm[1], stream[1]));
    BOTH(ncclBcast(a[0], 4, ncclFloat, 0, comm[0], stream[0]), ncclBcast(a[1], 4, ncclFloat, 1, comm[1], stream[1]));
    BOTH(SUM(0, 4, ncclFloat), ncclBcast(a[1], 4, ncclFloat, 1, comm[1], stream[1]));
    BOTH(SUM(0, 4, ncclFloat), ncclCommSplit(comm[1], 0, 0, new ncclComm_t, NULL));
    BOTH(ncclSend(a[0], 4, ncclFloat, 1, comm[0], stream[0]), ncclRecv(a[1], 3, ncclFloat, 0, comm[1], stream[1]));
    TELL(SUM(0, 4, ncclFloat));
    BOTH(ncclSend(a[0], 4, ncclFloat, 1, comm[0], stream[0]), ncclRecv(a[1], 4, ncclInt, 0, comm[1], stream[1]));
}

static void ends()
{
    begin();
    TELL(ncclCommFinalize(comm[0]));
    TELL(SUM(0, 4, ncclFloat));
    TELL(ncclCommFinalize(comm[0]));
    TELL(ncclCommDestroy(comm[0]));
    TELL(ncclCommDestroy(comm[0]));
    TELL(SUM(0, 4, ncclFloat));
    TELL(ncclCommDestroy(NULL));
    TELL(SUM(1, 4, ncclFloat));
    TELL(SUM(1, 4, ncclFloat));
    TELL(ncclCommAbort(comm[1]));
    TELL(ncclCommAbort(comm[1]));
    comm[0] = comm[1] = NULL;
    begin();
    ncclCommAbort(comm[1]);
    comm[1] = NULL;
    TELL(ncclRecv(a[0], 4, ncclFloat, 1, comm[0], stream[0]));
    begin();
    // A thread that waits for ever, until another one aborts.
    std::thread waits([] { tell("the sum of one rank", SUM(0, 4, ncclFloat)); });
    usleep(100000);
    TELL(ncclCommDestroy(comm[0]));
    ncclResult_t aborted = ncclCommAbort(comm[0]);
    waits.join();
    tell("the abort", aborted);
    comm[0] = NULL;
    TELL(SUM(1, 4, ncclFloat));
}

int main()
{
    for (int i = 0; i < 2; i++) {
        cudaSetDevice(i);
        cudaMalloc(&a[i], 16);
        cudaMalloc(&b[i], 16);
        cudaStreamCreate(&stream[i]);
    }
    ids();
    arguments();
    mismatches();
    ends();
    for (int result = -1; result < 9; result++) printf("%s\n", ncclGetErrorString((ncclResult_t)result));
}
