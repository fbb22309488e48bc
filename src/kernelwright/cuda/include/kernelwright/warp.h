// Shuffles, votes, matches and reductions within a warp. The mask names the lanes that take part.
#pragma once
#pragma GCC system_header

// The instruction's last operand: where a segment of `width` lanes begins (bits 8 to 12), and the last lane within it.
#define KW_SEGMENT(width, last) (((32 - (width)) << 8) | (last))

#define KW_SHUFFLE(name, mode, lane_type, last)                                                                      \
    KW_DEVICE int name(unsigned int mask, int value, lane_type lane, int width = 32) {                               \
        return __nvvm_shfl_sync_##mode##_i32(mask, value, (int)lane, KW_SEGMENT(width, last));                       \
    }                                                                                                                \
    KW_DEVICE float name(unsigned int mask, float value, lane_type lane, int width = 32) {                           \
        return __nvvm_shfl_sync_##mode##_f32(mask, value, (int)lane, KW_SEGMENT(width, last));                       \
    }                                                                                                                \
    KW_DEVICE unsigned int name(unsigned int mask, unsigned int value, lane_type lane, int width = 32) {             \
        return (unsigned int)name(mask, (int)value, lane, width);                                                    \
    }                                                                                                                \
    KW_DEVICE long long name(unsigned int mask, long long value, lane_type lane, int width = 32) {                   \
        int low = name(mask, (int)value, lane, width);                                                               \
        int high = name(mask, (int)(value >> 32), lane, width);                                                      \
        return (long long)((unsigned long long)(unsigned int)high << 32 | (unsigned int)low);                        \
    }                                                                                                                \
    KW_DEVICE unsigned long long name(unsigned int mask, unsigned long long value, lane_type lane, int width = 32) { \
        return (unsigned long long)name(mask, (long long)value, lane, width);                                        \
    }                                                                                                                \
    KW_DEVICE long name(unsigned int mask, long value, lane_type lane, int width = 32) {                             \
        return (long)name(mask, (long long)value, lane, width);                                                      \
    }                                                                                                                \
    KW_DEVICE unsigned long name(unsigned int mask, unsigned long value, lane_type lane, int width = 32) {           \
        return (unsigned long)name(mask, (long long)value, lane, width);                                             \
    }                                                                                                                \
    KW_DEVICE double name(unsigned int mask, double value, lane_type lane, int width = 32) {                         \
        return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(long long, value), lane, width));            \
    }
KW_SHUFFLE(__shfl_sync, idx, int, 0x1f)
KW_SHUFFLE(__shfl_up_sync, up, unsigned int, 0)
KW_SHUFFLE(__shfl_down_sync, down, unsigned int, 0x1f)
KW_SHUFFLE(__shfl_xor_sync, bfly, int, 0x1f)
#undef KW_SHUFFLE
#undef KW_SEGMENT

KW_DEVICE int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
KW_DEVICE int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
KW_DEVICE int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
KW_DEVICE unsigned int __ballot_sync(unsigned int mask, int predicate) {
    return __nvvm_vote_ballot_sync(mask, predicate);
}
KW_DEVICE unsigned int __activemask() { return __nvvm_activemask(); }

// any: the lanes that hold the same value as this one. all: the whole mask if all hold the same, else 0.
#define KW_MATCH(type, bits, bits_type, as_bits)                                            \
    KW_DEVICE unsigned int __match_any_sync(unsigned int mask, type value) {                \
        return __nvvm_match_any_sync_i##bits(mask, as_bits(bits_type, value));              \
    }                                                                                       \
    KW_DEVICE unsigned int __match_all_sync(unsigned int mask, type value, int *all_same) { \
        return __nvvm_match_all_sync_i##bits##p(mask, as_bits(bits_type, value), all_same); \
    }
KW_MATCH(int, 32, unsigned int, __builtin_bit_cast)
KW_MATCH(unsigned int, 32, unsigned int, __builtin_bit_cast)
KW_MATCH(float, 32, unsigned int, __builtin_bit_cast)
KW_MATCH(long, 64, unsigned long long, __builtin_bit_cast)
KW_MATCH(unsigned long, 64, unsigned long long, __builtin_bit_cast)
KW_MATCH(long long, 64, unsigned long long, __builtin_bit_cast)
KW_MATCH(unsigned long long, 64, unsigned long long, __builtin_bit_cast)
KW_MATCH(double, 64, unsigned long long, __builtin_bit_cast)
#undef KW_MATCH

// Reductions are one instruction from sm_80 on. Before, every lane of the mask shows its value in turn.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define KW_REDUCE(type, name, builtin, combined)                    \
    KW_DEVICE type name(unsigned int mask, type value) {            \
        unsigned int rest = mask & (mask - 1);                      \
        type a = __shfl_sync(mask, value, __builtin_ctz(mask));     \
        for (; rest; rest &= rest - 1) {                            \
            type b = __shfl_sync(mask, value, __builtin_ctz(rest)); \
            a = combined;                                           \
        }                                                           \
        return a;                                                   \
    }
#else
#define KW_REDUCE(type, name, builtin, combined) \
    KW_DEVICE type name(unsigned int mask, type value) { return (type)builtin((int)value, (int)mask); }
#endif
KW_REDUCE(int, __reduce_add_sync, __nvvm_redux_sync_add, a + b)
KW_REDUCE(unsigned int, __reduce_add_sync, __nvvm_redux_sync_add, a + b)
KW_REDUCE(int, __reduce_min_sync, __nvvm_redux_sync_min, (b < a ? b : a))
KW_REDUCE(unsigned int, __reduce_min_sync, __nvvm_redux_sync_umin, (b < a ? b : a))
KW_REDUCE(int, __reduce_max_sync, __nvvm_redux_sync_max, (a < b ? b : a))
KW_REDUCE(unsigned int, __reduce_max_sync, __nvvm_redux_sync_umax, (a < b ? b : a))
KW_REDUCE(unsigned int, __reduce_and_sync, __nvvm_redux_sync_and, a & b)
KW_REDUCE(unsigned int, __reduce_or_sync, __nvvm_redux_sync_or, a | b)
KW_REDUCE(unsigned int, __reduce_xor_sync, __nvvm_redux_sync_xor, a ^ b)
#undef KW_REDUCE
