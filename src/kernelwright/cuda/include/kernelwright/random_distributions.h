// Uniform, normal and log-normal numbers from any generator that has curand(state). Part of curand_kernel.h.
//
// Normal numbers come in pairs (G. Box, M. Muller, 1958). Of a pair asked for one by one the second is kept in the state.
#pragma once
#pragma GCC system_header

// ---- uniform in (0, 1]: never zero, and one is possible in float ----

KW_DEVICE float __kw_uniform(unsigned int x) { return x * 0x1p-32f + 0x1p-33f; }
KW_DEVICE double __kw_uniform(unsigned int x, unsigned int y) {
    unsigned long long bits = x ^ (unsigned long long)y << 21;
    return bits * 0x1p-53 + 0x1p-54;
}

template <class State> KW_DEVICE float curand_uniform(State *state) { return __kw_uniform(curand(state)); }
KW_DEVICE double curand_uniform_double(curandStateXORWOW *state) {
    unsigned int x = curand(state), y = curand(state);
    return __kw_uniform(x, y);
}
// Of Philox a single double takes one number, so it has 32 random bits.
KW_DEVICE double curand_uniform_double(curandStatePhilox4_32_10 *state) { return curand(state) * 0x1p-32 + 0x1p-33; }
KW_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10 *state) {
    uint4 n = curand4(state);
    return make_float4(__kw_uniform(n.x), __kw_uniform(n.y), __kw_uniform(n.z), __kw_uniform(n.w));
}
KW_DEVICE double2 curand_uniform2_double(curandStatePhilox4_32_10 *state) {
    uint4 n = curand4(state);
    return make_double2(__kw_uniform(n.x, n.y), __kw_uniform(n.z, n.w));
}

// ---- normal: device code only ----

#if defined(__CUDA__)

KW_DEVICE float2 __kw_box_muller(unsigned int x, unsigned int y) {
    float radius = sqrtf(-2.0f * logf(__kw_uniform(x))), sine, cosine;
    __sincosf(y * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f, &sine, &cosine);
    return make_float2(radius * sine, radius * cosine);
}
KW_DEVICE double2 __kw_box_muller(uint4 n) {
    double radius = sqrt(-2.0 * log(__kw_uniform(n.x, n.y))), sine, cosine;
    sincospi(2.0 * __kw_uniform(n.z, n.w), &sine, &cosine);
    return make_double2(radius * sine, radius * cosine);
}

template <class State> KW_DEVICE float2 curand_normal2(State *state) {
    unsigned int x = curand(state), y = curand(state);
    return __kw_box_muller(x, y);
}
template <class State> KW_DEVICE double2 curand_normal2_double(State *state) {
    uint4 n;
    n.x = curand(state);
    n.y = curand(state);
    n.z = curand(state);
    n.w = curand(state);
    return __kw_box_muller(n);
}
KW_DEVICE float4 curand_normal4(curandStatePhilox4_32_10 *state) {
    float2 a = curand_normal2(state), b = curand_normal2(state);
    return make_float4(a.x, a.y, b.x, b.y);
}

template <class State> KW_DEVICE float2 curand_log_normal2(State *state, float mean, float deviation) {
    float2 n = curand_normal2(state);
    return make_float2(expf(mean + deviation * n.x), expf(mean + deviation * n.y));
}
template <class State> KW_DEVICE double2 curand_log_normal2_double(State *state, double mean, double deviation) {
    double2 n = curand_normal2_double(state);
    return make_double2(exp(mean + deviation * n.x), exp(mean + deviation * n.y));
}
KW_DEVICE float4 curand_log_normal4(curandStatePhilox4_32_10 *state, float mean, float deviation) {
    float2 a = curand_log_normal2(state, mean, deviation), b = curand_log_normal2(state, mean, deviation);
    return make_float4(a.x, a.y, b.x, b.y);
}

// ---- one by one: `flag` says which distribution the kept number is of ----

enum { __kw_kept_nothing, __kw_kept_normal, __kw_kept_log_normal };

#define KW_ONE_BY_ONE(name, real, pair, operands, of_pair, flag, extra, kind) \
    template <class State> KW_DEVICE real name operands {                     \
        if (state->flag == kind) {                                            \
            state->flag = __kw_kept_nothing;                                  \
            return state->extra;                                              \
        }                                                                     \
        pair two = of_pair;                                                   \
        state->flag = kind;                                                   \
        state->extra = two.y;                                                 \
        return two.x;                                                         \
    }
KW_ONE_BY_ONE(curand_normal, float, float2, (State * state), curand_normal2(state), boxmuller_flag, boxmuller_extra,
              __kw_kept_normal)
KW_ONE_BY_ONE(curand_normal_double, double, double2, (State * state), curand_normal2_double(state),
              boxmuller_flag_double, boxmuller_extra_double, __kw_kept_normal)
KW_ONE_BY_ONE(curand_log_normal, float, float2, (State * state, float mean, float deviation),
              curand_log_normal2(state, mean, deviation), boxmuller_flag, boxmuller_extra, __kw_kept_log_normal)
KW_ONE_BY_ONE(curand_log_normal_double, double, double2, (State * state, double mean, double deviation),
              curand_log_normal2_double(state, mean, deviation), boxmuller_flag_double, boxmuller_extra_double,
              __kw_kept_log_normal)
#undef KW_ONE_BY_ONE
#endif
