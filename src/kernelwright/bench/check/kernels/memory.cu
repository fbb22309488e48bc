// Accesses out of bounds, misaligned, or of unwritten memory; and sound ones that look like them.
#include <cuda_runtime.h>
#define KERNEL extern "C" __global__ void

struct Pair { int key, value; };
struct __align__(16) Quad { int x, y, z, w; };
struct Odd { char tag; short low; int high; };

// finds misaligned at HERE; <1, 32>
KERNEL float4_from_the_next(int *a, int *b, int n)
{
    const float4 *wide = (const float4 *)(a + 1);
    float4 v = wide[threadIdx.x]; // HERE
    ((float *)b)[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// finds misaligned at HERE; <1, 32>: only a part of it is used
KERNEL float4_of_which_one_is_used(int *a, int *b, int n)
{
    const float4 *wide = (const float4 *)(a + 1);
    ((float *)b)[threadIdx.x] = wide[threadIdx.x].x; // HERE
}

// finds misaligned at HERE; <1, 32>: stored
KERNEL float4_stored(int *a, int *b, int n)
{
    float *row = (float *)b + threadIdx.x * 5;
    *(float4 *)row = make_float4(1, 2, 3, 4); // HERE
}

// finds misaligned at HERE; <1, 32>
KERNEL int2_of_an_odd_row(int *a, int *b, int n)
{
    int2 v = *(int2 *)(a + threadIdx.x * 3); // HERE
    b[threadIdx.x] = v.x - v.y;
}

// finds misaligned at HERE; <1, 32>
KERNEL double_at_four(int *a, int *b, int n)
{
    ((double *)(b + 1))[threadIdx.x] = threadIdx.x; // HERE
}

// finds misaligned at HERE; <1, 32>: in shared memory
KERNEL int4_of_shared(int *a, int *b, int n)
{
    __shared__ __align__(16) int tile[132];
    for (int i = threadIdx.x; i < 132; i += 32)
        tile[i] = a[i];
    __syncthreads();
    const int *row = tile + threadIdx.x * 4 + 2;
    int4 v = *(const int4 *)row; // HERE
    b[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// finds misaligned at HERE; <1, 32>: a struct that says it is aligned
KERNEL aligned_struct(int *a, int *b, int n)
{
    Quad *quads = (Quad *)(a + 2);
    Quad q = quads[threadIdx.x]; // HERE
    b[threadIdx.x] = q.x + q.w;
}

// finds misaligned at HERE; <1, 32>: the word of a byte's address
KERNEL word_of_bytes(int *a, int *b, int n)
{
    const char *bytes = (const char *)a;
    b[threadIdx.x] = *(const int *)(bytes + threadIdx.x); // HERE
}

// finds misaligned at HERE; <1, 32>: an atomic
KERNEL atomic_askew(int *a, int *b, int n)
{
    atomicAdd((unsigned long long *)(b + 1 + 2 * (threadIdx.x % 2)), 1ull); // HERE
}

// sound; <1, 32>
KERNEL float4_in_place(int *a, int *b, int n)
{
    float4 v = ((const float4 *)a)[threadIdx.x];
    ((float4 *)b)[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
}

// sound; <1, 32>: two ints need no more than an int's alignment
KERNEL plain_struct(int *a, int *b, int n)
{
    Pair p = ((const Pair *)(a + 1))[threadIdx.x];
    b[threadIdx.x] = p.key + p.value;
}

// sound; <1, 32>: three floats
KERNEL float3_packed(int *a, int *b, int n)
{
    float3 v = ((const float3 *)(a + 1))[threadIdx.x];
    ((float3 *)(b + 1))[threadIdx.x] = make_float3(v.z, v.x, v.y);
}

// sound; <1, 32>: parts of a word
KERNEL odd_struct(int *a, int *b, int n)
{
    Odd *odd = (Odd *)b + threadIdx.x;
    odd->tag = 1, odd->low = 2, odd->high = a[threadIdx.x];
}

// finds out-of-bounds at HERE; <2, 64>, n 100
KERNEL no_check_of_the_end(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i + 4096 - 100] = a[i]; // HERE
}

// sound; <2, 64>, n 100
KERNEL check_of_the_end(int *a, int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i + 4096 - 100] = a[i];
}

// finds out-of-bounds at HERE; <1, 64>: the right neighbour of the last
KERNEL last_neighbour(int *a, int *b, int n)
{
    int i = 4096 - 64 + threadIdx.x;
    b[i] = a[i] + a[i + 1]; // HERE
}

// finds out-of-bounds at HERE; <1, 64>: one element before the first
KERNEL first_neighbour(int *a, int *b, int n)
{
    b[threadIdx.x] = a[(int)threadIdx.x - 1]; // HERE
}

// finds out-of-bounds at HERE; <1, 64>, shared 128: more than the launch gave
KERNEL dynamic_shared_too_small(int *a, int *b, int n)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = a[threadIdx.x]; // HERE
    __syncthreads();
    b[threadIdx.x] = tile[63 - threadIdx.x];
}

// finds out-of-bounds at HERE; <1, 64>: an index from the data
KERNEL gather_out_of_bounds(int *a, int *b, int n)
{
    b[threadIdx.x] = a[a[threadIdx.x] * 100]; // HERE
}

// finds out-of-bounds at HERE; <1, 32>: an atomic on an element that is not there
KERNEL atomic_out_of_bounds(int *a, int *b, int n)
{
    atomicAdd(&b[a[threadIdx.x + 2000] * 3], 1); // HERE
}

// finds out-of-bounds at HERE; <1, 32>, n 200000: int overflows
KERNEL product_overflows(int *a, int *b, int n)
{
    int i = n * 20000 + threadIdx.x;
    b[threadIdx.x] = a[i]; // HERE
}

// finds uninitialised at HERE; <1, 64>: the halo is not loaded
KERNEL halo_not_loaded(int *a, int *b, int n)
{
    __shared__ int tile[66];
    tile[threadIdx.x + 1] = a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 2]; // HERE
}

// sound; <1, 64>
KERNEL halo_loaded(int *a, int *b, int n)
{
    __shared__ int tile[66];
    tile[threadIdx.x + 1] = a[threadIdx.x + 1];
    if (threadIdx.x == 0) {
        tile[0] = a[0];
        tile[65] = a[65];
    }
    __syncthreads();
    b[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 2];
}

// finds uninitialised at HERE; <1, 64>: shared counters are not zero by themselves
KERNEL counters_not_cleared(int *a, int *b, int n)
{
    __shared__ int count[4];
    atomicAdd(&count[a[threadIdx.x] % 4], 1); // HERE
    __syncthreads();
    if (threadIdx.x < 4)
        b[threadIdx.x] = count[threadIdx.x];
}

// finds uninitialised at HERE; <1, 32>: a local array of which a part is set
KERNEL local_array_in_part(int *a, int *b, int n)
{
    int local[16];
    for (int i = 0; i < 8; i++)
        local[a[i] % 16] = i;
    b[threadIdx.x] = local[a[threadIdx.x] % 16]; // HERE
}

// sound; <1, 32>
KERNEL local_array(int *a, int *b, int n)
{
    int local[16];
    for (int i = 0; i < 16; i++)
        local[a[i] % 16] = i;
    b[threadIdx.x] = local[a[threadIdx.x] % 16];
}

// finds out-of-bounds at HERE; <1, 32>, n 40: through a null pointer
KERNEL through_null(int *a, int *b, int n)
{
    int *list = (int *)(long long)(n - 40);
    b[threadIdx.x] = list[threadIdx.x]; // HERE
}

// finds launch; <1, 32>: it stops itself
KERNEL traps(int *a, int *b, int n)
{
    if (a[threadIdx.x] == 20)
        __trap(); // HERE
    b[threadIdx.x] = 1;
}

// sound; <1, 64>: constants of the launch, read by all
KERNEL by_value(int *a, int *b, int n)
{
    const int weights[4] = {1, 2, 3, 4};
    b[threadIdx.x] = weights[a[threadIdx.x] % 4] * n;
}

struct Padded { char tag; double value; float weight; };

// sound; <1, 32>: a structure is copied as it is, and its padding was never written
KERNEL padding_is_copied(int *a, int *b, int n)
{
    __shared__ Padded rows[32];
    Padded *row = rows + threadIdx.x;
    row->tag = 1, row->value = a[threadIdx.x], row->weight = 3;
    __syncthreads();
    __shared__ Padded copies[32];
    copies[threadIdx.x] = rows[31 - threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = (int)copies[31 - threadIdx.x].value;
}

// finds misaligned at HERE; <1, 32>: copied as it is
KERNEL float4_copied(int *a, int *b, int n)
{
    float4 *from = (float4 *)(a + 1);
    ((float4 *)b)[threadIdx.x] = from[threadIdx.x]; // HERE
}

// finds uninitialised at HERE; <1, 32>: three of the four are written
KERNEL float4_copied_that_nobody_wrote(int *a, int *b, int n)
{
    __shared__ float4 tile[32];
    float4 *mine = tile + threadIdx.x;
    mine->x = a[threadIdx.x], mine->y = 2, mine->z = 3;
    __syncthreads();
    ((float4 *)b)[threadIdx.x] = tile[31 - threadIdx.x]; // HERE
}
