// Shuffles of any trivially copyable type, four bytes at a time. Part of cooperative_groups.h.
#pragma once
#pragma GCC system_header

namespace cooperative_groups {
namespace details {

#define KW_SHUFFLE_ANY(name, function, lane_type)                                                            \
    template <class T> KW_DEVICE T name(unsigned int mask, const T &value, lane_type lane, int width = 32) { \
        static_assert(__is_trivially_copyable(T), "only trivially copyable types can be shuffled");          \
        union { T value; int words[(sizeof(T) + 3) / 4]; } from, to;                                         \
        __builtin_memcpy(from.words, &value, sizeof(T));                                                     \
        for (unsigned int i = 0; i < sizeof(from.words) / 4; i++)                                            \
            to.words[i] = function(mask, from.words[i], lane, width);                                        \
        return to.value;                                                                                     \
    }
KW_SHUFFLE_ANY(shuffle, __shfl_sync, int)
KW_SHUFFLE_ANY(shuffle_up, __shfl_up_sync, unsigned int)
KW_SHUFFLE_ANY(shuffle_down, __shfl_down_sync, unsigned int)
KW_SHUFFLE_ANY(shuffle_xor, __shfl_xor_sync, int)
#undef KW_SHUFFLE_ANY

}  // namespace details
}  // namespace cooperative_groups
