/* The descriptor of a texture that device code reads: what a cudaTextureObject_t is the address of. */
#pragma once
#pragma GCC system_header

/* Written by the runtime, read by device code; the same layout on both sides. Extents in texels, strides in bytes.
   An extent of 0 in height or depth means the texture has no such dimension. */
struct kwTextureDescriptor {
    unsigned long long data;        /* device address of texel (0, 0, 0) */
    unsigned long long row_bytes;   /* from one row to the next */
    unsigned long long slice_bytes; /* from one slice to the next */
    unsigned int width, height, depth;
    int channels;                   /* 1, 2 or 4 */
    int channel_bits;               /* 8, 16 or 32, the same for all channels */
    int channel_kind;               /* enum cudaChannelFormatKind */
    int address_mode[3];            /* enum cudaTextureAddressMode of x, y, z */
    int filter_mode;                /* enum cudaTextureFilterMode */
    int read_mode;                  /* enum cudaTextureReadMode */
    int normalized_coords;
    float border[4];
};
typedef struct kwTextureDescriptor kwTextureDescriptor;
