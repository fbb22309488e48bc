// XORWOW: G. Marsaglia, "Xorshift RNGs", 2003, section 3.1; seeds and jumps as in the cuRAND guide. Part of
// curand_kernel.h.
#pragma once
#pragma GCC system_header

struct curandStateXORWOW {
    unsigned int d, v[5];
    // What the normal distributions keep from a pair; see random_distributions.h.
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;

KW_DEVICE void __kw_xorwow_step(unsigned int *v) {
    unsigned int t = v[0] ^ v[0] >> 2;
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
}

KW_DEVICE unsigned int curand(curandStateXORWOW *state) {
    __kw_xorwow_step(state->v);
    state->d += 362437;
    return state->v[4] + state->d;
}

// ---- jumps ----
//
// A step is a linear map A of the 160 bits of v over GF(2), so n steps are A^n = p(A) with p = x^n modulo the
// characteristic polynomial of A. Bit i of word i / 32 is the coefficient of x^i.

// v = p(A) v
__device__ static __attribute__((noinline)) void __kw_xorwow_apply(const unsigned int *p, unsigned int *v) {
    unsigned int sum[5] = {0, 0, 0, 0, 0};
    for (int i = 0; i < 160; i++) {
        unsigned int take = -(p[i / 32] >> i % 32 & 1);
        for (int k = 0; k < 5; k++) sum[k] ^= v[k] & take;
        __kw_xorwow_step(v);
    }
    for (int k = 0; k < 5; k++) v[k] = sum[k];
}

// p = p * p: spread the bits, then take the characteristic polynomial away from the top down.
__device__ static __attribute__((noinline)) void __kw_xorwow_square(unsigned int *p) {
    static constexpr unsigned int low[5] = {0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e};  // less x^160
    unsigned int wide[10] = {0};
    for (int i = 0; i < 160; i++) wide[i / 16] |= (p[i / 32] >> i % 32 & 1) << i % 16 * 2;
    for (int i = 319; i >= 160; i--) {
        unsigned int take = -(wide[i / 32] >> i % 32 & 1);
        int word = (i - 160) / 32, shift = (i - 160) % 32;
        for (int k = 0; k < 5; k++) {
            unsigned long long moved = (unsigned long long)(low[k] & take) << shift;
            wide[word + k] ^= (unsigned int)moved;
            wide[word + k + 1] ^= (unsigned int)(moved >> 32);
        }
    }
    for (int k = 0; k < 5; k++) p[k] = wide[k];
}

// n numbers ahead.
KW_DEVICE void skipahead(unsigned long long n, curandStateXORWOW *state) {
    state->d += 362437 * (unsigned int)n;
    if (n < 160) {
        for (; n; n--) __kw_xorwow_step(state->v);
        return;
    }
    unsigned int p[5] = {2, 0, 0, 0, 0};
    for (; n; n >>= 1) {
        if (n & 1) __kw_xorwow_apply(p, state->v);
        __kw_xorwow_square(p);
    }
}

// n times 2^67 numbers ahead; that leaves d as it is.
KW_DEVICE void skipahead_sequence(unsigned long long n, curandStateXORWOW *state) {
    // x^(2^67), x^(2^68) ... x^(2^98)
    static constexpr unsigned int powers[32][5] = {
        {0x26294934, 0x77bbc248, 0x1a87dad0, 0x930052d4, 0x947e6dd2},
        {0x5f39c379, 0x95e20ba6, 0x20e9ff72, 0x1244ce5e, 0xe8fd228f},
        {0xa7474d19, 0x37c549e0, 0x140877d2, 0x24c43924, 0xcd52ebec},
        {0xe0360ec5, 0xb1c96c24, 0xdbb91766, 0x666ff5dc, 0xf19a7e52},
        {0xfcc8f692, 0x35aa698a, 0x04ebbf85, 0x448304b0, 0x082f3fd5},
        {0x48c289bd, 0xe851cf98, 0x845ad581, 0xfd70752a, 0x2c3e63f6},
        {0xe502f5b3, 0x77859d31, 0x97e1cbb3, 0xea09047a, 0x61d5f37e},
        {0xb89326d0, 0x5a8655a9, 0xfb6e98f5, 0x02102162, 0x7e6fcf6f},
        {0xb3a15db4, 0xc6df3330, 0x1a8be751, 0xf1e4b221, 0x6bb61c05},
        {0x133de1d0, 0x361e4422, 0xc6131fcf, 0xd9719f45, 0x9658a164},
        {0x19e2bee8, 0xf8974218, 0x4e65536a, 0xa2570336, 0xe9b88082},
        {0x7863644b, 0x2a21ce84, 0x112e86f1, 0xed01ce0e, 0xba143e84},
        {0x0e2cae2e, 0xd1011279, 0x58923768, 0x2bf650ba, 0xc985bcda},
        {0x213a286a, 0x6596b510, 0x6fc10eae, 0x38a13547, 0x11c7749e},
        {0x146281e7, 0xa45b4452, 0xafa8c695, 0x74a0ac94, 0x4b250e0a},
        {0x2306bc52, 0x790f3b4c, 0x2fe473b9, 0xbc81d7c0, 0x093efe98},
        {0x89658c8b, 0xf3914315, 0xa73fe84b, 0x3c5fadb6, 0xadba8dd6},
        {0x09e49814, 0x09caf5ed, 0x6b2460d9, 0x1b9981c1, 0x2d1fefc3},
        {0x82161afc, 0x9bb13c55, 0xfd20d7fb, 0x306d90b9, 0x92bf386f},
        {0x96d32350, 0x0e081864, 0x69faa798, 0xe7faecf5, 0xf1f951be},
        {0x3e9058c1, 0x71da9705, 0xe2cb1f2b, 0x73456536, 0xbd6501b6},
        {0x990ffc6e, 0xbfdd1b5d, 0xc83e520b, 0xe972936a, 0xac79abb9},
        {0xb1321eb5, 0xb06d01a2, 0x51532012, 0x8fb59962, 0x141d3b0b},
        {0x3257dfe1, 0xd8a3d601, 0x3a58c735, 0x845f36e4, 0x0112c611},
        {0xa0ffe9a4, 0xf57be00e, 0xe706880c, 0x191211ef, 0xee5664fb},
        {0x9a3385b8, 0xc540c30a, 0xb241d1e0, 0x00626569, 0x6b355fe9},
        {0xe129d45d, 0xac3e698b, 0xd61f79fd, 0x7a72a28b, 0x7f4942be},
        {0x612501bb, 0xae7b767d, 0xaa66c165, 0x09bfaf8e, 0x3e55c16d},
        {0x874e26a7, 0x33bc5a47, 0xad95cba5, 0x67651c39, 0xf1f07dca},
        {0xb5ed0732, 0x30e7a573, 0x5c056714, 0x2304f8fa, 0xebc584e1},
        {0x4b324c2e, 0x2bdcc5a0, 0x53eb4240, 0xcac4fbc1, 0x13e529e7},
        {0xe1683e38, 0xa2339994, 0x7308a647, 0xc7c3f0b1, 0x4a3dcd33},
    };
    for (int bit = 0; bit < 32 && n >> bit; bit++)
        if (n >> bit & 1) __kw_xorwow_apply(powers[bit], state->v);
    unsigned int p[5];
    for (int k = 0; k < 5; k++) p[k] = powers[31][k];
    for (n >>= 32; n; n >>= 1) {
        __kw_xorwow_square(p);
        if (n & 1) __kw_xorwow_apply(p, state->v);
    }
}

KW_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                           curandStateXORWOW *state) {
    unsigned int low = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u);
    unsigned int high = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
    state->d = 6615241u + low + high;
    state->v[0] = 123456789u + low;
    state->v[1] = 362436069u ^ low;
    state->v[2] = 521288629u + high;
    state->v[3] = 88675123u ^ high;
    state->v[4] = 5783321u + low;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}
