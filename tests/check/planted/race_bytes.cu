// finds: race at DEFECT, with OTHER: neighbouring threads write a short over the other's byte
__global__ void pack(unsigned char *out)
{
    out[threadIdx.x] = (unsigned char)threadIdx.x; // OTHER DEFECT
    if (threadIdx.x % 2 == 0)
        *(unsigned short *)(out + threadIdx.x) = (unsigned short)(0x4100 + threadIdx.x); // DEFECT OTHER
}

int main()
{
    unsigned char *out;
    cudaMalloc(&out, 64);
    pack<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
