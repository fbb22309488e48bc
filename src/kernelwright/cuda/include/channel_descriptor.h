// cudaCreateChannelDesc<T>(): the format of T as a texel.
#pragma once
#define __CHANNEL_DESCRIPTOR_H__
#pragma GCC system_header
#include "cuda_runtime_api.h"

// Declared, not defined, for a type that is no texel: using one fails to link with this name.
template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc();

#define KW_TEXEL(type, x, y, z, w, kind)                                       \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {   \
        return cudaChannelFormatDesc{x, y, z, w, cudaChannelFormatKind##kind}; \
    }
#define KW_TEXELS(element, vector, bits, kind)  \
    KW_TEXEL(element, bits, 0, 0, 0, kind)      \
    KW_TEXEL(vector##1, bits, 0, 0, 0, kind)    \
    KW_TEXEL(vector##2, bits, bits, 0, 0, kind) \
    KW_TEXEL(vector##4, bits, bits, bits, bits, kind)
KW_TEXEL(char, 8, 0, 0, 0, Signed)
KW_TEXELS(signed char, char, 8, Signed)
KW_TEXELS(unsigned char, uchar, 8, Unsigned)
KW_TEXELS(short, short, 16, Signed)
KW_TEXELS(unsigned short, ushort, 16, Unsigned)
KW_TEXELS(int, int, 32, Signed)
KW_TEXELS(unsigned int, uint, 32, Unsigned)
KW_TEXELS(float, float, 32, Float)
#undef KW_TEXEL
#undef KW_TEXELS
