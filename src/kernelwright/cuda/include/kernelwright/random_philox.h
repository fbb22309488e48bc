// Philox 4x32-10: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. Part of curand_kernel.h.
#pragma once
#pragma GCC system_header

struct curandStatePhilox4_32_10 {
    uint4 ctr;           // the counter of the block in `output`
    uint4 output;
    uint2 key;
    unsigned int STATE;  // how many numbers of `output` are used
    // What the normal distributions keep from a pair; see random_distributions.h.
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

KW_DEVICE uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; round++) {
        unsigned long long x = 0xd2511f53ULL * counter.x, z = 0xcd9e8d57ULL * counter.z;
        counter = make_uint4((unsigned int)(z >> 32) ^ counter.y ^ key.x, (unsigned int)z,
                             (unsigned int)(x >> 32) ^ counter.w ^ key.y, (unsigned int)x);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return counter;
}

// Adds n to the lower or the upper half of the 128-bit counter; a carry leaves the lower half for the upper.
KW_DEVICE void __kw_philox_add(unsigned int &low, unsigned int &high, unsigned long long n, bool &carry) {
    unsigned long long half = (unsigned long long)high << 32 | low, sum = half + n;
    carry = sum < half;
    low = (unsigned int)sum;
    high = (unsigned int)(sum >> 32);
}
KW_DEVICE void __kw_philox_advance(curandStatePhilox4_32_10 *state, unsigned long long blocks) {
    bool carry;
    __kw_philox_add(state->ctr.x, state->ctr.y, blocks, carry);
    if (carry) __kw_philox_add(state->ctr.z, state->ctr.w, 1, carry);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

KW_DEVICE unsigned int curand(curandStatePhilox4_32_10 *state) {
    const uint4 &o = state->output;
    unsigned int number = state->STATE == 0 ? o.x : state->STATE == 1 ? o.y : state->STATE == 2 ? o.z : o.w;
    if (++state->STATE == 4) {
        __kw_philox_advance(state, 1);
        state->STATE = 0;
    }
    return number;
}
KW_DEVICE uint4 curand4(curandStatePhilox4_32_10 *state) {
    uint4 numbers;
    numbers.x = curand(state);
    numbers.y = curand(state);
    numbers.z = curand(state);
    numbers.w = curand(state);
    return numbers;
}

// n numbers ahead.
KW_DEVICE void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state) {
    unsigned int within = state->STATE + (unsigned int)(n & 3);
    state->STATE = within & 3;
    __kw_philox_advance(state, n / 4 + within / 4);
}
// n times 2^66 numbers ahead: the upper half of the counter is the number of the sequence.
KW_DEVICE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *state) {
    bool carry;
    __kw_philox_add(state->ctr.z, state->ctr.w, n, carry);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

KW_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                           curandStatePhilox4_32_10 *state) {
    state->ctr = make_uint4(0, 0, 0, 0);
    state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    state->STATE = 0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}
