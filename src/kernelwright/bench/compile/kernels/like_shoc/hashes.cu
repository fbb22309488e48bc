// MD5 of short texts, 64 steps unrolled by templates, and a radix count of keys.
__device__ constexpr unsigned sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1,
    0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453,
    0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
    0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05,
    0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d,
    0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
__device__ constexpr int turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

template <int step> __device__ void steps(unsigned a, unsigned b, unsigned c, unsigned d, const unsigned *words, unsigned *out) {
    constexpr int round = step / 16;
    unsigned f = round == 0 ? (b & c) | (~b & d) : round == 1 ? (d & b) | (~d & c) : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
    constexpr int word = round == 0 ? step : round == 1 ? (5 * step + 1) % 16 : round == 2 ? (3 * step + 5) % 16 : 7 * step % 16;
    unsigned sum = a + f + sines[step] + words[word];
    unsigned next = b + (sum << turns[round][step % 4] | sum >> (32 - turns[round][step % 4]));
    if constexpr (step + 1 < 64)
        steps<step + 1>(d, next, b, c, words, out);
    else
        out[0] = d + 0x67452301, out[1] = next + 0xefcdab89, out[2] = b + 0x98badcfe, out[3] = c + 0x10325476;
}
__global__ void find(unsigned long long first, int letters, unsigned long long keys, const unsigned *wanted, unsigned long long *found) {
    unsigned long long key = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (key >= keys) return;
    unsigned words[16] = {}, hash[4];
    unsigned long long rest = key;
    for (int i = 0; i < letters; i++, rest /= 26) words[i / 4] |= (unsigned)('a' + rest % 26) << 8 * (i % 4);
    words[letters / 4] |= 0x80u << 8 * (letters % 4);
    words[14] = 8 * letters;
    steps<0>(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, words, hash);
    if (hash[0] == wanted[0] && hash[1] == wanted[1] && hash[2] == wanted[2] && hash[3] == wanted[3]) *found = key;
}
template <int bits> __global__ void count_digits(const unsigned *keys, unsigned *counts, int n, int shift) {
    __shared__ unsigned own[1 << bits];
    for (int i = threadIdx.x; i < 1 << bits; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[keys[i] >> shift & ((1 << bits) - 1)], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << bits; i += blockDim.x) counts[i * gridDim.x + blockIdx.x] = own[i];
}
template __global__ void count_digits<4>(const unsigned *, unsigned *, int, int);
template __global__ void count_digits<8>(const unsigned *, unsigned *, int, int);
