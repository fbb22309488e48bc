/* Range queries: like point queries, one thread block per query and one thread per slot of a node, but two paths down
 * the tree, one for each end of the range. */
#include "tree.h"

#include "../common/cuda_check.h"

/* Whether the search for `bound` in an inner node goes to the child of slot `here`. */
__device__ bool leads_to(const int *key, int here, bool last, int bound)
{
    return key[here] <= bound && (last || bound < key[here + 1]);
}

__global__ void find_range(int order, int height, const int *key, const int *child, const int *low, const int *high,
                           int *first, int *length)
{
    __shared__ int low_node, high_node;
    __shared__ int low_record, high_record;

    const int slot = threadIdx.x;
    const bool last = slot == order - 1;
    const int low_key = low[blockIdx.x];
    const int high_key = high[blockIdx.x];
    if (slot == 0) {
        low_node = 0;
        high_node = 0;
    }
    __syncthreads();

    for (int level = 0; level < height; ++level) {
        const int low_here = low_node * order + slot;
        const int high_here = high_node * order + slot;
        __syncthreads(); /* all have read both nodes */
        if (leads_to(key, low_here, last, low_key))
            low_node = child[low_here];
        if (leads_to(key, high_here, last, high_key))
            high_node = child[high_here];
        __syncthreads();
    }

    /* The first slot of the leaf whose key is not below the bound; leaves are not full, so there is one. */
    const int low_here = low_node * order + slot;
    if (key[low_here] >= low_key && (slot == 0 || key[low_here - 1] < low_key))
        low_record = child[low_here];
    const int high_here = high_node * order + slot;
    if (key[high_here] >= high_key && (slot == 0 || key[high_here - 1] < high_key))
        high_record = child[high_here];
    __syncthreads();

    if (slot == 0) {
        first[blockIdx.x] = low_record;
        length[blockIdx.x] = high_record - low_record;
    }
}

void find_ranges(const Tree *tree, const int *low, const int *high, int *first, int *length, int count)
{
    const size_t slots = (size_t)tree->nodes * tree->order;
    int *d_key, *d_child, *d_low, *d_high, *d_first, *d_length;
    CUDA_CHECK(cudaMalloc((void **)&d_key, slots * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_child, slots * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_low, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_high, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_first, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_length, count * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_key, tree->key, slots * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_child, tree->child, slots * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_low, low, count * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_high, high, count * sizeof(int), cudaMemcpyHostToDevice));

    find_range<<<count, tree->order>>>(tree->order, tree->height, d_key, d_child, d_low, d_high, d_first, d_length);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(first, d_first, count * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(length, d_length, count * sizeof(int), cudaMemcpyDeviceToHost));

    CUDA_CHECK(cudaFree(d_key));
    CUDA_CHECK(cudaFree(d_child));
    CUDA_CHECK(cudaFree(d_low));
    CUDA_CHECK(cudaFree(d_high));
    CUDA_CHECK(cudaFree(d_first));
    CUDA_CHECK(cudaFree(d_length));
}
