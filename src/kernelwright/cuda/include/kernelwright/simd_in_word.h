// Four bytes or two half words in one 32-bit word: __vadd4, __vmaxs2, __vcmpgtu4 and so on. Each is an operation on
// LLVM vectors, which the code generator splits where the machine has no such instruction.
#pragma once
#pragma GCC system_header

typedef signed char __kw_s4 __attribute__((ext_vector_type(4)));
typedef unsigned char __kw_u4 __attribute__((ext_vector_type(4)));
typedef short __kw_s2 __attribute__((ext_vector_type(2)));
typedef unsigned short __kw_u2 __attribute__((ext_vector_type(2)));

// `value` is an expression of x and y, both vectors of type V.
#define KW_SIMD(name, V, value)                                       \
    KW_DEVICE unsigned int name(unsigned int a, unsigned int b) {     \
        V x = __builtin_bit_cast(V, a), y = __builtin_bit_cast(V, b); \
        return __builtin_bit_cast(unsigned int, (V)(value));          \
    }
#define KW_SIMD_UNSIGNED(name, value) \
    KW_SIMD(name##2, __kw_u2, value)  \
    KW_SIMD(name##4, __kw_u4, value)
#define KW_SIMD_SIGNED(name, value)  \
    KW_SIMD(name##2, __kw_s2, value) \
    KW_SIMD(name##4, __kw_s4, value)
KW_SIMD_UNSIGNED(__vadd, x + y)
KW_SIMD_UNSIGNED(__vsub, x - y)
KW_SIMD_UNSIGNED(__vaddus, __builtin_elementwise_add_sat(x, y))
KW_SIMD_UNSIGNED(__vsubus, __builtin_elementwise_sub_sat(x, y))
KW_SIMD_SIGNED(__vaddss, __builtin_elementwise_add_sat(x, y))
KW_SIMD_SIGNED(__vsubss, __builtin_elementwise_sub_sat(x, y))
KW_SIMD_UNSIGNED(__vmaxu, __builtin_elementwise_max(x, y))
KW_SIMD_UNSIGNED(__vminu, __builtin_elementwise_min(x, y))
KW_SIMD_SIGNED(__vmaxs, __builtin_elementwise_max(x, y))
KW_SIMD_SIGNED(__vmins, __builtin_elementwise_min(x, y))
KW_SIMD_UNSIGNED(__vhaddu, (x & y) + ((x ^ y) >> 1))
KW_SIMD_UNSIGNED(__vavgu, (x | y) - ((x ^ y) >> 1))
KW_SIMD_SIGNED(__vavgs, (x | y) - ((x ^ y) >> 1))
KW_SIMD_UNSIGNED(__vabsdiffu, __builtin_elementwise_max(x, y) - __builtin_elementwise_min(x, y))
KW_SIMD_SIGNED(__vabsdiffs, __builtin_elementwise_max(x, y) - __builtin_elementwise_min(x, y))

// A comparison gives all ones (cmp) or one (set) per element.
#define KW_SIMD_COMPARE(sign, V2, V4, name, op)              \
    KW_SIMD(__vcmp##name##sign##2, V2, x op y)               \
    KW_SIMD(__vcmp##name##sign##4, V4, x op y)               \
    KW_SIMD(__vset##name##sign##2, V2, (V2)(x op y) & (V2)1) \
    KW_SIMD(__vset##name##sign##4, V4, (V4)(x op y) & (V4)1)
KW_SIMD_COMPARE(, __kw_u2, __kw_u4, eq, ==)
KW_SIMD_COMPARE(, __kw_u2, __kw_u4, ne, !=)
KW_SIMD_COMPARE(u, __kw_u2, __kw_u4, lt, <)
KW_SIMD_COMPARE(u, __kw_u2, __kw_u4, le, <=)
KW_SIMD_COMPARE(u, __kw_u2, __kw_u4, gt, >)
KW_SIMD_COMPARE(u, __kw_u2, __kw_u4, ge, >=)
KW_SIMD_COMPARE(s, __kw_s2, __kw_s4, lt, <)
KW_SIMD_COMPARE(s, __kw_s2, __kw_s4, le, <=)
KW_SIMD_COMPARE(s, __kw_s2, __kw_s4, gt, >)
KW_SIMD_COMPARE(s, __kw_s2, __kw_s4, ge, >=)
#undef KW_SIMD_COMPARE
#undef KW_SIMD_UNSIGNED
#undef KW_SIMD_SIGNED
#undef KW_SIMD

KW_DEVICE unsigned int __vneg2(unsigned int a) { return __vsub2(0, a); }
KW_DEVICE unsigned int __vneg4(unsigned int a) { return __vsub4(0, a); }
KW_DEVICE unsigned int __vnegss2(unsigned int a) { return __vsubss2(0, a); }
KW_DEVICE unsigned int __vnegss4(unsigned int a) { return __vsubss4(0, a); }
KW_DEVICE unsigned int __vabs2(unsigned int a) { return __vmaxs2(a, __vneg2(a)); }
KW_DEVICE unsigned int __vabs4(unsigned int a) { return __vmaxs4(a, __vneg4(a)); }
KW_DEVICE unsigned int __vabsss2(unsigned int a) { return __vmaxs2(a, __vnegss2(a)); }
KW_DEVICE unsigned int __vabsss4(unsigned int a) { return __vmaxs4(a, __vnegss4(a)); }

// Sums of absolute differences over the elements.
#define KW_SIMD_SUM(name, difference, n)                               \
    KW_DEVICE unsigned int name(unsigned int a, unsigned int b) {      \
        __kw_u##n d = __builtin_bit_cast(__kw_u##n, difference(a, b)); \
        unsigned int sum = 0;                                          \
        for (int i = 0; i < n; i++) sum += d[i];                       \
        return sum;                                                    \
    }
KW_SIMD_SUM(__vsadu2, __vabsdiffu2, 2)
KW_SIMD_SUM(__vsadu4, __vabsdiffu4, 4)
KW_SIMD_SUM(__vsads2, __vabsdiffs2, 2)
KW_SIMD_SUM(__vsads4, __vabsdiffs4, 4)
#undef KW_SIMD_SUM
