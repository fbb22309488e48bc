// finds: misaligned at DEFECT: structs copied in a loop to an odd offset of shared memory
struct Node {
    int key, left, right, parent, weight;
};

__global__ void stage(const Node *nodes, int *keys, int skip)
{
    extern __shared__ char bytes[];
    Node *staged = (Node *)(bytes + skip);
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        staged[i] = nodes[i]; // DEFECT
    __syncthreads();
    keys[threadIdx.x] = staged[63 - threadIdx.x].key;
}

int main()
{
    Node *nodes;
    int *keys;
    cudaMalloc(&nodes, 64 * sizeof(Node));
    cudaMemset(nodes, 0, 64 * sizeof(Node));
    cudaMalloc(&keys, 32 * sizeof(int));
    stage<<<1, 32, 65 * sizeof(Node)>>>(nodes, keys, 2);
    cudaDeviceSynchronize();
    return 0;
}
