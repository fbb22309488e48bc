// Arithmetic, comparison, math, conversion, shuffle and atomic functions of a 16-bit float. Included once for __half
// and once for __nv_bfloat16, which have the same functions. No include guard. The includer defines
//
//   KW_N, KW_N2                     the type and the pair of it
//   KW_N_NAME                       what conversion functions call it: half, bfloat16
//   KW_N_VALUE(h), KW_N_RESULT(v)   to a number the operators work on, and back with one rounding
//   KW_N2_BINARY(a, op, b), KW_N_FMA(a, b, c), KW_N2_FMA(a, b, c)
//   KW_N_FROM_BITS(bits), KW_N_ONE, KW_N_INFINITY, KW_N_NAN    the bits of three values
//   KW_N_FROM_FLOAT(mode)           the name of the conversion from float with that rounding
#define KW_N_CONSTANT(bits) KW_N_FROM_BITS((unsigned short)(bits))

#define KW_N_ARITHMETIC(name, name2, op)                                                                 \
    KW_NARROW_FUNCTION KW_N name(KW_N a, KW_N b) { return KW_N_RESULT(KW_N_VALUE(a) op KW_N_VALUE(b)); } \
    KW_NARROW_FUNCTION KW_N2 name2(KW_N2 a, KW_N2 b) { return KW_N2_BINARY(a, op, b); }                  \
    KW_NARROW_FUNCTION KW_N operator op(const KW_N &a, const KW_N &b) { return name(a, b); }             \
    KW_NARROW_FUNCTION KW_N2 operator op(const KW_N2 &a, const KW_N2 &b) { return name2(a, b); }         \
    KW_NARROW_FUNCTION KW_N &operator op##=(KW_N &a, const KW_N &b) { return a = name(a, b); }           \
    KW_NARROW_FUNCTION KW_N2 &operator op##=(KW_N2 &a, const KW_N2 &b) { return a = name2(a, b); }
KW_N_ARITHMETIC(__hadd, __hadd2, +)
KW_N_ARITHMETIC(__hsub, __hsub2, -)
KW_N_ARITHMETIC(__hmul, __hmul2, *)
KW_N_ARITHMETIC(__hdiv, __h2div, /)
#undef KW_N_ARITHMETIC

// The _rn forms never fuse with a neighbour into a multiply-add.
#if defined(__CUDA__)
#define KW_N_UNFUSED(name, name2, op)                                                         \
    KW_NARROW_FUNCTION KW_N name(KW_N a, KW_N b) {                                            \
        _Pragma("clang fp contract(off)") return KW_N_RESULT(KW_N_VALUE(a) op KW_N_VALUE(b)); \
    }                                                                                         \
    KW_NARROW_FUNCTION KW_N2 name2(KW_N2 a, KW_N2 b) {                                        \
        _Pragma("clang fp contract(off)") return KW_N2_BINARY(a, op, b);                      \
    }
KW_N_UNFUSED(__hadd_rn, __hadd2_rn, +)
KW_N_UNFUSED(__hsub_rn, __hsub2_rn, -)
KW_N_UNFUSED(__hmul_rn, __hmul2_rn, *)
#undef KW_N_UNFUSED
#endif

// Signs are bits: NaN keeps its payload.
KW_NARROW_FUNCTION KW_N __hneg(KW_N h) { return KW_N_FROM_BITS(h.__x ^ 0x8000); }
KW_NARROW_FUNCTION KW_N __habs(KW_N h) { return KW_N_FROM_BITS(h.__x & 0x7fff); }
KW_NARROW_FUNCTION KW_N2 __hneg2(KW_N2 h) { return KW_N2(__hneg(h.x), __hneg(h.y)); }
KW_NARROW_FUNCTION KW_N2 __habs2(KW_N2 h) { return KW_N2(__habs(h.x), __habs(h.y)); }
KW_NARROW_FUNCTION KW_N operator+(const KW_N &h) { return h; }
KW_NARROW_FUNCTION KW_N operator-(const KW_N &h) { return __hneg(h); }
KW_NARROW_FUNCTION KW_N2 operator+(const KW_N2 &h) { return h; }
KW_NARROW_FUNCTION KW_N2 operator-(const KW_N2 &h) { return __hneg2(h); }
KW_NARROW_FUNCTION KW_N &operator++(KW_N &h) { return h = __hadd(h, KW_N_CONSTANT(KW_N_ONE)); }
KW_NARROW_FUNCTION KW_N &operator--(KW_N &h) { return h = __hsub(h, KW_N_CONSTANT(KW_N_ONE)); }
KW_NARROW_FUNCTION KW_N operator++(KW_N &h, int) { KW_N old = h; ++h; return old; }
KW_NARROW_FUNCTION KW_N operator--(KW_N &h, int) { KW_N old = h; --h; return old; }

KW_NARROW_FUNCTION KW_N __hfma(KW_N a, KW_N b, KW_N c) { return KW_N_FMA(a, b, c); }
KW_NARROW_FUNCTION KW_N2 __hfma2(KW_N2 a, KW_N2 b, KW_N2 c) { return KW_N2_FMA(a, b, c); }

// Saturated: clamped to [0, 1], NaN to 0. Rectified: not below 0.
KW_NARROW_FUNCTION KW_N __kw_saturate(KW_N h) {
    float f = (float)h;
    return f > 0 ? (f < 1 ? h : KW_N_CONSTANT(KW_N_ONE)) : KW_N_CONSTANT(0);
}
KW_NARROW_FUNCTION KW_N __kw_rectify(KW_N h) { return (float)h < 0 ? KW_N_CONSTANT(0) : h; }
#define KW_N_SATURATED(name, name2, of, of2)                                         \
    KW_NARROW_FUNCTION KW_N name(KW_N a, KW_N b) { return __kw_saturate(of(a, b)); } \
    KW_NARROW_FUNCTION KW_N2 name2(KW_N2 a, KW_N2 b) {                               \
        KW_N2 r = of2(a, b);                                                         \
        return KW_N2(__kw_saturate(r.x), __kw_saturate(r.y));                        \
    }
KW_N_SATURATED(__hadd_sat, __hadd2_sat, __hadd, __hadd2)
KW_N_SATURATED(__hsub_sat, __hsub2_sat, __hsub, __hsub2)
KW_N_SATURATED(__hmul_sat, __hmul2_sat, __hmul, __hmul2)
#undef KW_N_SATURATED
KW_NARROW_FUNCTION KW_N __hfma_sat(KW_N a, KW_N b, KW_N c) { return __kw_saturate(__hfma(a, b, c)); }
KW_NARROW_FUNCTION KW_N __hfma_relu(KW_N a, KW_N b, KW_N c) { return __kw_rectify(__hfma(a, b, c)); }
KW_NARROW_FUNCTION KW_N2 __hfma2_sat(KW_N2 a, KW_N2 b, KW_N2 c) {
    return KW_N2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}
KW_NARROW_FUNCTION KW_N2 __hfma2_relu(KW_N2 a, KW_N2 b, KW_N2 c) {
    return KW_N2(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y));
}

// ---- comparisons: the u forms are true where an operand is NaN ----

#define KW_N_COMPARE(name, condition)                                                           \
    KW_NARROW_FUNCTION bool __h##name(KW_N x, KW_N y) {                                         \
        float a = (float)x, b = (float)y;                                                       \
        return condition;                                                                       \
    }                                                                                           \
    KW_NARROW_FUNCTION KW_N2 __h##name##2(KW_N2 x, KW_N2 y) {                                   \
        return KW_N2(__h##name(x.x, y.x) ? KW_N_CONSTANT(KW_N_ONE) : KW_N_CONSTANT(0),          \
                       __h##name(x.y, y.y) ? KW_N_CONSTANT(KW_N_ONE) : KW_N_CONSTANT(0));       \
    }                                                                                           \
    KW_NARROW_FUNCTION unsigned int __h##name##2_mask(KW_N2 x, KW_N2 y) {                       \
        return (__h##name(x.x, y.x) ? 0xffffu : 0u) | (__h##name(x.y, y.y) ? 0xffff0000u : 0u); \
    }                                                                                           \
    KW_NARROW_FUNCTION bool __hb##name##2(KW_N2 x, KW_N2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); }
KW_N_COMPARE(eq, a == b)
KW_N_COMPARE(ne, a < b || a > b)
KW_N_COMPARE(le, a <= b)
KW_N_COMPARE(ge, a >= b)
KW_N_COMPARE(lt, a < b)
KW_N_COMPARE(gt, a > b)
KW_N_COMPARE(equ, !(a < b || a > b))
KW_N_COMPARE(neu, a != b)
KW_N_COMPARE(leu, !(a > b))
KW_N_COMPARE(geu, !(a < b))
KW_N_COMPARE(ltu, !(a >= b))
KW_N_COMPARE(gtu, !(a <= b))
#undef KW_N_COMPARE

#define KW_N_OPERATOR(op, name)                                                                   \
    KW_NARROW_FUNCTION bool operator op(const KW_N &a, const KW_N &b) { return __h##name(a, b); } \
    KW_NARROW_FUNCTION bool operator op(const KW_N2 &a, const KW_N2 &b) { return __hb##name##2(a, b); }
KW_N_OPERATOR(==, eq)
KW_N_OPERATOR(!=, neu)
KW_N_OPERATOR(<, lt)
KW_N_OPERATOR(<=, le)
KW_N_OPERATOR(>, gt)
KW_N_OPERATOR(>=, ge)
#undef KW_N_OPERATOR

KW_NARROW_FUNCTION bool __hisnan(KW_N h) { return (h.__x & 0x7fff) > KW_N_INFINITY; }
KW_NARROW_FUNCTION int __hisinf(KW_N h) {
    return (h.__x & 0x7fff) != KW_N_INFINITY ? 0 : h.__x & 0x8000 ? -1 : 1;
}
KW_NARROW_FUNCTION KW_N2 __hisnan2(KW_N2 h) {
    return KW_N2(KW_N_CONSTANT(__hisnan(h.x) ? KW_N_ONE : 0), KW_N_CONSTANT(__hisnan(h.y) ? KW_N_ONE : 0));
}

// min and max take the number where one operand is NaN; the _nan forms take the NaN. -0 is below +0.
#define KW_N_EXTREME(name, name_nan, op, sign)                                    \
    KW_NARROW_FUNCTION KW_N name(KW_N a, KW_N b) {                                \
        if (__hisnan(a)) return __hisnan(b) ? KW_N_CONSTANT(KW_N_NAN) : b;        \
        if (__hisnan(b)) return a;                                                \
        float x = (float)a, y = (float)b;                                         \
        return x op y || (x == y && (a.__x & 0x8000) == sign) ? a : b;            \
    }                                                                             \
    KW_NARROW_FUNCTION KW_N name_nan(KW_N a, KW_N b) {                            \
        return __hisnan(a) || __hisnan(b) ? KW_N_CONSTANT(KW_N_NAN) : name(a, b); \
    }
KW_N_EXTREME(__hmin, __hmin_nan, <, 0x8000)
KW_N_EXTREME(__hmax, __hmax_nan, >, 0)
#undef KW_N_EXTREME
#define KW_N_PAIRWISE(name2, name) \
    KW_NARROW_FUNCTION KW_N2 name2(KW_N2 a, KW_N2 b) { return KW_N2(name(a.x, b.x), name(a.y, b.y)); }
KW_N_PAIRWISE(__hmin2, __hmin)
KW_N_PAIRWISE(__hmax2, __hmax)
KW_N_PAIRWISE(__hmin2_nan, __hmin_nan)
KW_N_PAIRWISE(__hmax2_nan, __hmax_nan)
#undef KW_N_PAIRWISE

#if defined(__CUDA__)

// ---- math functions, by way of float ----

#define KW_N_MATH(name, value)                                                 \
    KW_DEVICE KW_N h##name(KW_N h) { float x = (float)h; return KW_N(value); } \
    KW_DEVICE KW_N2 h2##name(KW_N2 h) { return KW_N2(h##name(h.x), h##name(h.y)); }
KW_N_MATH(ceil, ceilf(x))
KW_N_MATH(cos, cosf(x))
KW_N_MATH(exp, expf(x))
KW_N_MATH(exp10, exp10f(x))
KW_N_MATH(exp2, exp2f(x))
KW_N_MATH(floor, floorf(x))
KW_N_MATH(log, logf(x))
KW_N_MATH(log10, log10f(x))
KW_N_MATH(log2, log2f(x))
KW_N_MATH(rcp, 1.0f / x)
KW_N_MATH(rint, rintf(x))
KW_N_MATH(rsqrt, rsqrtf(x))
KW_N_MATH(sin, sinf(x))
KW_N_MATH(sqrt, sqrtf(x))
KW_N_MATH(tanh, tanhf(x))
KW_N_MATH(trunc, truncf(x))
#undef KW_N_MATH

// ---- to and from integers ----

#define KW_N_PASTE_(a, b, c) a##b##c
#define KW_N_PASTE(a, b, c) KW_N_PASTE_(a, b, c)
#define KW_N_TO(type, suffix) KW_DEVICE type KW_N_PASTE(__, KW_N_NAME, 2##suffix)(KW_N h)
#define KW_N_FROM(type, name, mode) KW_DEVICE KW_N KW_N_PASTE(__##name##2, KW_N_NAME, _##mode)(type i)

#define KW_N_TO_INTEGER(type, name, conversion)                    \
    KW_N_TO(type, name##_rn) { return conversion##_rn((float)h); } \
    KW_N_TO(type, name##_rz) { return conversion##_rz((float)h); } \
    KW_N_TO(type, name##_rd) { return conversion##_rd((float)h); } \
    KW_N_TO(type, name##_ru) { return conversion##_ru((float)h); }
KW_N_TO_INTEGER(int, int, __float2int)
KW_N_TO_INTEGER(unsigned int, uint, __float2uint)
KW_N_TO_INTEGER(long long, ll, __float2ll)
KW_N_TO_INTEGER(unsigned long long, ull, __float2ull)
#undef KW_N_TO_INTEGER

// The 16-bit conversions saturate, as the instruction does; NaN becomes 0.
#define KW_N_TO_SHORT(mode)                                                                               \
    KW_N_TO(short, short_##mode) { return (short)max(-32768, min(32767, __float2int_##mode((float)h))); } \
    KW_N_TO(unsigned short, ushort_##mode) { return (unsigned short)min(65535u, __float2uint_##mode((float)h)); }
KW_N_TO_SHORT(rn)
KW_N_TO_SHORT(rz)
KW_N_TO_SHORT(rd)
KW_N_TO_SHORT(ru)
#undef KW_N_TO_SHORT

// Rounding twice in one direction is rounding once. To nearest, the float in between is rounded to odd.
#define KW_N_FROM_INTEGER(type, name, to_float)                                 \
    KW_N_FROM(type, name, rn) { return KW_N(i); }                               \
    KW_N_FROM(type, name, rz) { return KW_N_FROM_FLOAT(rz)(to_float##_rz(i)); } \
    KW_N_FROM(type, name, rd) { return KW_N_FROM_FLOAT(rd)(to_float##_rd(i)); } \
    KW_N_FROM(type, name, ru) { return KW_N_FROM_FLOAT(ru)(to_float##_ru(i)); }
KW_N_FROM_INTEGER(int, int, __int2float)
KW_N_FROM_INTEGER(unsigned int, uint, __uint2float)
KW_N_FROM_INTEGER(long long, ll, __ll2float)
KW_N_FROM_INTEGER(unsigned long long, ull, __ull2float)
KW_N_FROM_INTEGER(short, short, __int2float)
KW_N_FROM_INTEGER(unsigned short, ushort, __uint2float)
#undef KW_N_FROM_INTEGER
#undef KW_N_PASTE_
#undef KW_N_PASTE
#undef KW_N_TO
#undef KW_N_FROM

// ---- shuffles, read-only loads, atomics ----

#define KW_N_SHUFFLE(name, lane_type)                                                              \
    KW_DEVICE KW_N2 name(unsigned int mask, KW_N2 value, lane_type lane, int width = 32) {         \
        return __builtin_bit_cast(KW_N2, name(mask, __builtin_bit_cast(int, value), lane, width)); \
    }                                                                                              \
    KW_DEVICE KW_N name(unsigned int mask, KW_N value, lane_type lane, int width = 32) {           \
        return KW_N_CONSTANT(name(mask, (int)value.__x, lane, width));                             \
    }
KW_N_SHUFFLE(__shfl_sync, int)
KW_N_SHUFFLE(__shfl_up_sync, unsigned int)
KW_N_SHUFFLE(__shfl_down_sync, unsigned int)
KW_N_SHUFFLE(__shfl_xor_sync, int)
#undef KW_N_SHUFFLE

KW_DEVICE KW_N __ldg(const KW_N *p) { return KW_N_CONSTANT(__ldg((const unsigned short *)p)); }
KW_DEVICE KW_N2 __ldg(const KW_N2 *p) { return __builtin_bit_cast(KW_N2, __ldg((const unsigned int *)p)); }

// Both halves of a pair change at once, which CUDA does not promise.
#define KW_N_ATOMIC_ADD(type, bits)                                                          \
    KW_DEVICE type atomicAdd(type *address, type value) {                                    \
        bits seen = *(const volatile bits *)address, expected;                               \
        do {                                                                                 \
            expected = seen;                                                                 \
            bits sum = __builtin_bit_cast(bits, __builtin_bit_cast(type, expected) + value); \
            seen = atomicCAS((bits *)address, expected, sum);                                \
        } while (seen != expected);                                                          \
        return __builtin_bit_cast(type, expected);                                           \
    }
KW_N_ATOMIC_ADD(KW_N2, unsigned int)
#if defined(KW_N_NATIVE_ATOMIC_ADD)
KW_DEVICE KW_N atomicAdd(KW_N *address, KW_N value) { return KW_N_NATIVE_ATOMIC_ADD(address, value); }
#else
KW_N_ATOMIC_ADD(KW_N, unsigned short)
#endif
#undef KW_N_ATOMIC_ADD

#endif

#undef KW_N_CONSTANT
#undef KW_N
#undef KW_N2
#undef KW_N_NAME
#undef KW_N_VALUE
#undef KW_N_RESULT
#undef KW_N2_BINARY
#undef KW_N_FMA
#undef KW_N2_FMA
#undef KW_N_FROM_BITS
#undef KW_N_ONE
#undef KW_N_INFINITY
#undef KW_N_NAN
#undef KW_N_FROM_FLOAT
#undef KW_N_NATIVE_ATOMIC_ADD
