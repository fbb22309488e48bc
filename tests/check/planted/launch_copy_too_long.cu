// finds: launch at DEFECT: a copy of more bytes than the buffer has, whose error nobody looks at
int main()
{
    char values[200] = {}, *buffer;
    cudaMalloc(&buffer, 100);
    cudaMemcpy(buffer, values, 200, cudaMemcpyHostToDevice); // DEFECT
    return 0;
}
