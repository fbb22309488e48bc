/* Point queries: one thread block per query and one thread per slot of a node, so that a whole node is searched at
 * once. */
#include "tree.h"

#include "../common/cuda_check.h"

__global__ void find_point(int order, int height, const int *key, const int *child, const Record *records,
                           const int *queries, int *values)
{
    __shared__ int node;

    const int slot = threadIdx.x;
    const int query = queries[blockIdx.x];
    if (slot == 0)
        node = 0;
    __syncthreads();

    for (int level = 0; level < height; ++level) {
        const int here = node * order + slot;
        const bool last = slot == order - 1;
        const bool found = key[here] <= query && (last || query < key[here + 1]);
        __syncthreads(); /* all have read `node` */
        if (found)
            node = child[here];
        __syncthreads();
    }

    const int here = node * order + slot;
    if (key[here] == query)
        values[blockIdx.x] = records[child[here]].value;
}

void find_points(const Tree *tree, const Record *records, int record_count, const int *queries, int *values, int count)
{
    const size_t slots = (size_t)tree->nodes * tree->order;
    int *d_key, *d_child, *d_queries, *d_values;
    Record *d_records;
    CUDA_CHECK(cudaMalloc((void **)&d_key, slots * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_child, slots * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_records, record_count * sizeof(Record)));
    CUDA_CHECK(cudaMalloc((void **)&d_queries, count * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_values, count * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_key, tree->key, slots * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_child, tree->child, slots * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_records, records, record_count * sizeof(Record), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_queries, queries, count * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_values, 0xff, count * sizeof(int))); /* NO_VALUE */

    find_point<<<count, tree->order>>>(tree->order, tree->height, d_key, d_child, d_records, d_queries, d_values);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(values, d_values, count * sizeof(int), cudaMemcpyDeviceToHost));

    CUDA_CHECK(cudaFree(d_key));
    CUDA_CHECK(cudaFree(d_child));
    CUDA_CHECK(cudaFree(d_records));
    CUDA_CHECK(cudaFree(d_queries));
    CUDA_CHECK(cudaFree(d_values));
}
