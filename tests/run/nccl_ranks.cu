// Every collective of NCCL in every type, between ranks that are devices of one thread, threads, or processes:
//
//     nccl_ranks WHO RANKS BIG      WHO: group, all (ncclCommInitAll), threads, fork; RANKS: up to 3, so that sums fit into a byte;
//                                   BIG: elements, as many as need several pieces
//
// The same calls are made each time, and compared with loops. It prints what differs, and "N comparisons".
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <nccl.h>
#include <cuda_bf16.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define CUDA(x) do { cudaError_t e = x; if (e) { printf("%s: %s\n", #x, cudaGetErrorString(e)); exit(1); } } while (0)
#define NCCL(x) do { ncclResult_t e = x; if (e) { printf("%s: %s\n", #x, ncclGetLastError(NULL)); exit(1); } } while (0)

int RANKS;
size_t BIG;
thread_local int compared, differing;

struct Rank {
    int number;
    ncclComm_t comm;
    cudaStream_t stream;
};
typedef std::vector<Rank> Ranks;

template <typename T> __global__ void put(T *to, const double *from, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) to[i] = T(from[i]);
}
template <typename T> __global__ void get(double *to, const T *from, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) to[i] = double(from[i]);
}
template <> __global__ void put(half *to, const double *from, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = __float2half((float)from[i]);
}
template <> __global__ void get(double *to, const half *from, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = __half2float(from[i]);
}
template <> __global__ void put(__nv_bfloat16 *to, const double *from, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = __float2bfloat16((float)from[i]);
}
template <> __global__ void get(double *to, const __nv_bfloat16 *from, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) to[i] = __bfloat162float(from[i]);
}

// What rank `r` has at `i`: exact in every type, 1 or 2 for products.
double value(int r, size_t i, bool small) { return small ? 1 + (r + i) % 2 : (r * 7 + i * 3 + i / 1000) % 23; }

template <typename T> struct Buffer {
    T *at;
    double *wide;
    size_t n;
    Rank rank;
    Buffer(const Rank &rank, size_t n, std::function<double(size_t)> f) : n(n), rank(rank)
    {
        std::vector<double> h(n);
        for (size_t i = 0; i < n; i++) h[i] = f(i);
        int device;
        NCCL(ncclCommCuDevice(rank.comm, &device));
        CUDA(cudaSetDevice(device));
        CUDA(cudaMalloc(&at, n * sizeof(T)));
        CUDA(cudaMalloc(&wide, n * sizeof(double)));
        CUDA(cudaMemcpy(wide, h.data(), n * sizeof(double), cudaMemcpyHostToDevice));
        put<<<1, 64, 0, rank.stream>>>(at, wide, n);  // not waited for: NCCL's call comes behind it in the stream
    }
    void compare(const std::string &what, double tolerance, std::function<double(size_t)> expected)
    {
        std::vector<double> h(n);
        int device;
        NCCL(ncclCommCuDevice(rank.comm, &device));
        CUDA(cudaSetDevice(device));
        get<<<1, 64, 0, rank.stream>>>(wide, at, n);
        CUDA(cudaMemcpyAsync(h.data(), wide, n * sizeof(double), cudaMemcpyDeviceToHost, rank.stream));
        CUDA(cudaStreamSynchronize(rank.stream));
        compared++;
        for (size_t i = 0; i < n; i++)
            if (!(std::fabs(h[i] - expected(i)) <= tolerance * (1 + std::fabs(expected(i))))) {
                printf("rank %d, %s: element %zu of %zu is %g, not %g\n", rank.number, what.c_str(), i, n, h[i], expected(i));
                differing++;
                break;
            }
        cudaFree(at);
        cudaFree(wide);
    }
};

double reduced(ncclRedOp_t op, size_t i, bool whole)
{
    double a = value(0, i, op == ncclProd);
    for (int r = 1; r < RANKS; r++) {
        double b = value(r, i, op == ncclProd);
        a = op == ncclProd ? a * b : op == ncclMax ? std::fmax(a, b) : op == ncclMin ? std::fmin(a, b) : a + b;
    }
    return op != ncclAvg ? a : whole ? std::floor(a / RANKS) : a / RANKS;
}

const char *const OPS[] = {"sum", "prod", "max", "min", "avg"};

// Calls `call(rank, its first buffer, its second)` of all ranks of this thread as one group.
template <typename T>
void together(const Ranks &ranks, std::vector<Buffer<T>> &a, std::vector<Buffer<T>> &b,
              std::function<ncclResult_t(const Rank &, T *, T *)> call)
{
    NCCL(ncclGroupStart());
    for (size_t k = 0; k < ranks.size(); k++) NCCL(call(ranks[k], a[k].at, b[k].at));
    NCCL(ncclGroupEnd());
}

template <typename T> void collectives(const Ranks &ranks, const char *name, ncclDataType_t type, double tolerance, bool whole, size_t n)
{
    typedef std::vector<Buffer<T>> Buffers;
    auto fresh = [&](size_t m, std::function<double(int, size_t)> f) {
        Buffers made;
        for (const Rank &r : ranks) made.emplace_back(r, m, [&](size_t i) { return f(r.number, i); });
        return made;
    };
    auto nothing = [](int, size_t) { return 99.0; };
    auto compare = [&](Buffers &of, const std::string &what, std::function<double(int, size_t)> f) {
        for (auto &b : of) b.compare(std::string(name) + " " + what, tolerance, [&](size_t i) { return f(b.rank.number, i); });
    };
    auto leave = [&](Buffers &of) { for (auto &b : of) cudaFree(b.at), cudaFree(b.wide); };
    for (int in_place = 0; in_place < 2; in_place++) {
        std::string how = in_place ? " in place" : "";
        for (int o = 0; o < 5; o++) {
            ncclRedOp_t op = (ncclRedOp_t)o;
            auto a = fresh(n, [&](int r, size_t i) { return value(r, i, op == ncclProd); }), b = fresh(n, nothing);
            together<T>(ranks, a, b, [&](const Rank &r, T *x, T *y) {
                return ncclAllReduce(x, in_place ? x : y, n, type, op, r.comm, r.stream);
            });
            compare(in_place ? a : b, std::string("all-reduce ") + OPS[o] + how, [&](int, size_t i) { return reduced(op, i, whole); });
            leave(in_place ? b : a);
        }
        int root = RANKS - 1;
        auto of_rank = [](int r, size_t i) { return value(r, i, false); };
        {
            auto a = fresh(n, of_rank), b = fresh(n, nothing);
            together<T>(ranks, a, b, [&](const Rank &r, T *x, T *y) {
                return ncclReduce(x, r.number != root ? NULL : in_place ? x : y, n, type, ncclSum, root, r.comm, r.stream);
            });
            compare(in_place ? a : b, "reduce" + how, [&](int r, size_t i) {
                return r == root ? reduced(ncclSum, i, whole) : in_place ? of_rank(r, i) : 99.0;
            });
            leave(in_place ? b : a);
        }
        {
            auto a = fresh(n, of_rank), b = fresh(n, nothing);
            together<T>(ranks, a, b, [&](const Rank &r, T *x, T *y) {
                return in_place ? ncclBcast(x, n, type, root, r.comm, r.stream)
                                : ncclBroadcast(r.number == root ? x : NULL, y, n, type, root, r.comm, r.stream);
            });
            compare(in_place ? a : b, "broadcast" + how, [&](int, size_t i) { return of_rank(root, i); });
            leave(in_place ? b : a);
        }
        {
            auto a = fresh(in_place ? 1 : n, of_rank);
            auto b = fresh(n * RANKS, [&](int r, size_t i) { return i / n == (size_t)r ? of_rank(r, i % n) : 99.0; });
            together<T>(ranks, a, b, [&](const Rank &r, T *x, T *y) {
                return ncclAllGather(in_place ? y + r.number * n : x, y, n, type, r.comm, r.stream);
            });
            compare(b, "all-gather" + how, [&](int, size_t i) { return of_rank(i / n, i % n); });
            leave(a);
        }
        {
            auto a = fresh(n * RANKS, of_rank), b = fresh(n, nothing);
            together<T>(ranks, a, b, [&](const Rank &r, T *x, T *y) {
                return ncclReduceScatter(x, in_place ? x + r.number * n : y, n, type, ncclSum, r.comm, r.stream);
            });
            if (in_place)
                compare(a, "reduce-scatter in place", [&](int r, size_t i) { return i / n == (size_t)r ? reduced(ncclSum, i, whole) : of_rank(r, i); });
            else
                compare(b, "reduce-scatter", [&](int r, size_t i) { return reduced(ncclSum, r * n + i, whole); });
            leave(in_place ? b : a);
        }
    }
    // To the next rank and from the one before, which is the rank itself where it is alone; of all types at once.
    {
        auto a = fresh(n, [](int r, size_t i) { return value(r, i, false); }), b = fresh(n, nothing);
        together<T>(ranks, a, b, [&](const Rank &r, T *x, T *y) {
            ncclResult_t e = ncclSend(x, n, type, (r.number + 1) % RANKS, r.comm, r.stream);
            return e ? e : ncclRecv(y, n, type, (r.number + RANKS - 1) % RANKS, r.comm, r.stream);
        });
        compare(b, "send and receive", [&](int r, size_t i) { return value((r + RANKS - 1) % RANKS, i, false); });
        leave(a);
    }
    // Each rank multiplies by a number of its own, of the host or of the device, where it is read when the sum is formed.
    {
        auto a = fresh(n, [](int r, size_t i) { return value(r, i, false); }), b = fresh(n, nothing);
        auto by = fresh(1, [](int r, size_t) { return r + 1.0; }), later = fresh(1, nothing);
        std::vector<ncclRedOp_t> ops(ranks.size());
        for (size_t k = 0; k < ranks.size(); k++) {
            T number;
            CUDA(cudaMemcpy(&number, by[k].at, sizeof number, cudaMemcpyDeviceToHost));
            bool host = ranks[k].number % 2;
            NCCL(ncclRedOpCreatePreMulSum(&ops[k], host ? &number : later[k].at, type, host ? ncclScalarHostImmediate : ncclScalarDevice,
                                          ranks[k].comm));
            CUDA(cudaMemcpy(later[k].at, by[k].at, sizeof number, cudaMemcpyDeviceToDevice));
        }
        together<T>(ranks, a, b, [&](const Rank &r, T *x, T *y) {
            return ncclAllReduce(x, y, n, type, ops[&r - ranks.data()], r.comm, r.stream);
        });
        for (size_t k = 0; k < ranks.size(); k++) NCCL(ncclRedOpDestroy(ops[k], ranks[k].comm));
        compare(b, "pre-multiplied sum", [&](int, size_t i) {
            double sum = 0;
            for (int r = 0; r < RANKS; r++) sum += (r + 1) * value(r, i, false);
            return sum;
        });
        leave(a), leave(by), leave(later);
    }
}

// All to all, of different lengths, between collectives of the same group; nothing is sent where the length is 0.
void mixed(const Ranks &ranks)
{
    typedef std::vector<Buffer<int>> Buffers;
    const size_t most = 1000;
    auto length = [](int from, int to) { return (size_t)(from + to) % 3 * 100 + from; };
    auto fresh = [&](std::function<double(int, size_t)> f) {
        Buffers made;
        for (const Rank &r : ranks) made.emplace_back(r, most * RANKS, [&](size_t i) { return f(r.number, i); });
        return made;
    };
    auto a = fresh([](int r, size_t i) { return r * 100000.0 + i; }), b = fresh([](int, size_t) { return -1.0; }),
         c = fresh([](int r, size_t) { return r + 1.0; });
    NCCL(ncclGroupStart());
    for (size_t k = 0; k < ranks.size(); k++) {
        const Rank &r = ranks[k];
        NCCL(ncclAllReduce(c[k].at, c[k].at, 10, ncclInt, ncclSum, r.comm, r.stream));
        NCCL(ncclGroupStart());
        for (int other = 0; other < RANKS; other++) {
            NCCL(ncclSend(a[k].at + other * most, length(r.number, other), ncclInt, other, r.comm, r.stream));
            NCCL(ncclRecv(b[k].at + other * most, length(other, r.number), ncclInt, other, r.comm, r.stream));
        }
        NCCL(ncclGroupEnd());
        NCCL(ncclBroadcast(c[k].at, c[k].at + 10, 5, ncclInt, 0, r.comm, r.stream));
    }
    NCCL(ncclGroupEnd());
    for (auto &each : b)
        each.compare("all to all", 0, [&](size_t i) {
            int from = i / most, to = each.rank.number;
            return i % most < length(from, to) ? from * 100000.0 + to * most + i % most : -1.0;
        });
    int sum = RANKS * (RANKS + 1) / 2;
    for (auto &each : c)
        each.compare("collectives of the group", 0, [&](size_t i) { return i < 15 ? sum : each.rank.number + 1; });
    for (auto &each : a) cudaFree(each.at), cudaFree(each.wide);
}

// Two messages of several pieces from one rank to the next, in one group: they keep their order.
void in_order(const Ranks &ranks)
{
    std::vector<Buffer<int>> a, b;
    for (const Rank &r : ranks) {
        a.emplace_back(r, 2 * BIG, [&](size_t i) { return r.number * 1000.0 + i / BIG * 500 + i % 499; });
        b.emplace_back(r, 2 * BIG, [](size_t) { return -1.0; });
    }
    NCCL(ncclGroupStart());
    for (size_t k = 0; k < ranks.size(); k++)
        for (int half = 0; half < 2; half++) {
            const Rank &r = ranks[k];
            NCCL(ncclSend(a[k].at + half * BIG, BIG, ncclInt, (r.number + 1) % RANKS, r.comm, r.stream));
            NCCL(ncclRecv(b[k].at + (1 - half) * BIG, BIG, ncclInt, (r.number + RANKS - 1) % RANKS, r.comm, r.stream));
        }
    NCCL(ncclGroupEnd());
    for (auto &each : b)
        each.compare("messages in order", 0, [&](size_t i) {
            size_t from = (i + BIG) % (2 * BIG);
            return (each.rank.number + RANKS - 1) % RANKS * 1000.0 + from / BIG * 500 + from % 499;
        });
    for (auto &each : a) cudaFree(each.at), cudaFree(each.wide);
}

// Even and odd ranks, in the opposite order; and one part that rank 0 stays away from.
void split(const Ranks &ranks)
{
    Ranks parts = ranks, rest = ranks;
    NCCL(ncclGroupStart());
    for (size_t k = 0; k < ranks.size(); k++) NCCL(ncclCommSplit(ranks[k].comm, ranks[k].number % 2, -ranks[k].number, &parts[k].comm, NULL));
    NCCL(ncclGroupEnd());
    NCCL(ncclGroupStart());
    for (size_t k = 0; k < ranks.size(); k++) {
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.splitShare = 1;
        NCCL(ncclCommSplit(ranks[k].comm, ranks[k].number ? 7 : NCCL_SPLIT_NOCOLOR, 0, &rest[k].comm, &config));
    }
    NCCL(ncclGroupEnd());
    for (size_t k = 0; k < ranks.size(); k++) {
        int r = ranks[k].number, count = 0, number = 0, rest_count = 0, rest_number = 0;
        NCCL(ncclCommCount(parts[k].comm, &count));
        NCCL(ncclCommUserRank(parts[k].comm, &number));
        if (r) {
            NCCL(ncclCommCount(rest[k].comm, &rest_count));
            NCCL(ncclCommUserRank(rest[k].comm, &rest_number));
        }
        int size = (RANKS + 1 - r % 2) / 2;
        compared++;
        if (count != size || number != size - 1 - r / 2 || (r ? rest_count != RANKS - 1 || rest_number != r - 1 : rest[k].comm != NULL))
            printf("rank %d: part %d of %d, %d of %d\n", r, number, count, rest_number, rest_count), differing++;
    }
    std::vector<Buffer<int>> sums;
    for (size_t k = 0; k < ranks.size(); k++) sums.emplace_back(ranks[k], 3, [&](size_t) { return 1 + ranks[k].number; });
    NCCL(ncclGroupStart());
    for (size_t k = 0; k < ranks.size(); k++) NCCL(ncclAllReduce(sums[k].at, sums[k].at, 3, ncclInt, ncclSum, parts[k].comm, parts[k].stream));
    NCCL(ncclGroupEnd());
    for (size_t k = 0; k < ranks.size(); k++)
        sums[k].compare("sum of a part", 0, [&](size_t) {
            int sum = 0;
            for (int r = ranks[k].number % 2; r < RANKS; r += 2) sum += 1 + r;
            return sum;
        });
    for (size_t k = 0; k < ranks.size(); k++) {
        NCCL(ncclCommDestroy(parts[k].comm));
        if (rest[k].comm) NCCL(ncclCommDestroy(rest[k].comm));
    }
}

void work(const Ranks &ranks)
{
    collectives<char>(ranks, "int8", ncclInt8, 0, true, 37);
    collectives<unsigned char>(ranks, "uint8", ncclUint8, 0, true, 1);
    collectives<int>(ranks, "int32", ncclInt32, 0, true, 1001);
    collectives<unsigned>(ranks, "uint32", ncclUint32, 0, true, 37);
    collectives<long long>(ranks, "int64", ncclInt64, 0, true, 37);
    collectives<unsigned long long>(ranks, "uint64", ncclUint64, 0, true, 37);
    collectives<half>(ranks, "half", ncclHalf, 1e-3, false, 777);
    collectives<__nv_bfloat16>(ranks, "bfloat16", ncclBfloat16, 8e-3, false, 777);
    collectives<double>(ranks, "double", ncclDouble, 1e-15, false, 37);
    collectives<float>(ranks, "float", ncclFloat, 1e-6, false, BIG);
    mixed(ranks);
    in_order(ranks);
    split(ranks);
    for (const Rank &r : ranks) {
        int count, number;
        ncclResult_t state;
        NCCL(ncclCommCount(r.comm, &count));
        NCCL(ncclCommUserRank(r.comm, &number));
        NCCL(ncclCommGetAsyncError(r.comm, &state));
        if (count != RANKS || number != r.number || state) printf("rank %d says it is %d of %d, state %d\n", r.number, number, count, state), differing++;
        NCCL(ncclCommFinalize(r.comm));
    }
    for (const Rank &r : ranks) NCCL(ncclCommDestroy(r.comm));
}

Rank begin(int number, int device, const ncclUniqueId &id)
{
    Rank r = {number};
    CUDA(cudaSetDevice(device));
    CUDA(cudaStreamCreate(&r.stream));
    NCCL(ncclCommInitRank(&r.comm, RANKS, id, number));
    return r;
}

int main(int argc, char **argv)
{
    std::string who = argv[1];
    RANKS = atoi(argv[2]);
    BIG = atol(argv[3]);
    ncclUniqueId id;
    NCCL(ncclGetUniqueId(&id));
    int total = 0, different = 0, version;
    if (who == "fork") {
        std::vector<pid_t> children;
        for (int r = 0; r < RANKS; r++) {
            pid_t child = fork();
            if (!child) {
                work({begin(r, 0, id)});
                printf("rank %d: %d comparisons, %d differ\n", r, compared, differing);
                exit(differing != 0);
            }
            children.push_back(child);
        }
        for (pid_t child : children) {
            int status;
            waitpid(child, &status, 0);
            different += status != 0;
        }
        printf("%d processes failed\n", different);
        return different;
    }
    if (who == "threads") {
        std::vector<std::thread> threads;
        std::vector<int> counts(RANKS), differences(RANKS);
        for (int r = 0; r < RANKS; r++)
            threads.emplace_back([&, r] {
                work({begin(r, r, id)});
                counts[r] = compared, differences[r] = differing;
            });
        for (auto &t : threads) t.join();
        for (int r = 0; r < RANKS; r++) total += counts[r], different += differences[r];
    } else {
        Ranks ranks(RANKS);
        std::vector<ncclComm_t> comms(RANKS);
        if (who == "all") NCCL(ncclCommInitAll(comms.data(), RANKS, NULL));
        NCCL(ncclGroupStart());
        for (int r = 0; r < RANKS && who == "group"; r++) {
            CUDA(cudaSetDevice(r));
            NCCL(ncclCommInitRank(&comms[r], RANKS, id, r));
        }
        NCCL(ncclGroupEnd());
        for (int r = 0; r < RANKS; r++) {
            ranks[r] = {r, comms[r]};
            CUDA(cudaSetDevice(r));
            CUDA(cudaStreamCreate(&ranks[r].stream));
        }
        work(ranks);
        total = compared, different = differing;
    }
    NCCL(ncclGetVersion(&version));
    printf("%d comparisons, %d differ, version %d\n", total, different, version == NCCL_VERSION_CODE);
    return different != 0;
}
