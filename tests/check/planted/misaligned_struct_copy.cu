// finds: misaligned at DEFECT: a struct of doubles copied out of a packet whose header has four bytes
struct Sample {
    double time, value, error;
};

__global__ void unpack(const char *packet, Sample *samples)
{
    samples[threadIdx.x] = ((const Sample *)(packet + 4))[threadIdx.x]; // DEFECT
}

int main()
{
    char *packet;
    Sample *samples;
    cudaMalloc(&packet, 4 + 32 * sizeof(Sample));
    cudaMemset(packet, 0, 4 + 32 * sizeof(Sample));
    cudaMalloc(&samples, 32 * sizeof(Sample));
    unpack<<<1, 32>>>(packet, samples);
    cudaDeviceSynchronize();
    return 0;
}
