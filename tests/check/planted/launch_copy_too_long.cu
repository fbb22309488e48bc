// finds: launch: a copy of more bytes than the buffer has, whose error nobody looks at
int main()
{
    char values[200] = {}, *buffer;
    cudaMalloc(&buffer, 100);
    cudaMemcpy(buffer, values, 200, cudaMemcpyHostToDevice);
    return 0;
}
