// texture<T, dimensions, mode>: the older way to name a texture, a variable at file scope. On the host it is the
// description a program fills in and binds; in device code clang turns it into 8 bytes of global memory of the same
// name, where the runtime writes the address of the descriptor at bind time.
//
// clang also marks the variable as a texture in !nvvm.annotations, and a static one as internal with no initial value.
// The front end must drop the mark (PTX would declare the variable .texref, but ours is plain memory) and make the
// static one externally_initialized (LLVM would take its value for undefined).
#pragma once
#pragma GCC system_header

template <class T, int dimensions = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type, aligned(8))) texture : public textureReference {
    texture(int normalizedCoords = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
            cudaTextureAddressMode address = cudaAddressModeClamp)
        : texture(normalizedCoords, filter, address, cudaCreateChannelDesc<T>()) {}
    texture(int normalizedCoords, cudaTextureFilterMode filter, cudaTextureAddressMode address,
            cudaChannelFormatDesc format)
        : textureReference() {
        normalized = normalizedCoords;
        filterMode = filter;
        addressMode[0] = addressMode[1] = addressMode[2] = address;
        channelDesc = format;
    }
};

// ---- host: bind and unbind ----

template <class T, int d, cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, d, m> &reference, const void *pointer,
                                          const cudaChannelFormatDesc &format, size_t bytes = 0xffffffff) {
    return ::cudaBindTexture(offset, &reference, pointer, &format, bytes);
}
template <class T, int d, cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture(size_t *offset, const texture<T, d, m> &reference, const void *pointer,
                                          size_t bytes = 0xffffffff) {
    return ::cudaBindTexture(offset, &reference, pointer, &reference.channelDesc, bytes);
}
template <class T, int d, cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, d, m> &reference, const void *pointer,
                                            const cudaChannelFormatDesc &format, size_t width, size_t height,
                                            size_t pitch) {
    return ::cudaBindTexture2D(offset, &reference, pointer, &format, width, height, pitch);
}
template <class T, int d, cudaTextureReadMode m>
static inline cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, d, m> &reference, const void *pointer,
                                            size_t width, size_t height, size_t pitch) {
    return ::cudaBindTexture2D(offset, &reference, pointer, &reference.channelDesc, width, height, pitch);
}
template <class T, int d, cudaTextureReadMode m>
static inline cudaError_t cudaBindTextureToArray(const texture<T, d, m> &reference, cudaArray_const_t array,
                                                 const cudaChannelFormatDesc &format) {
    return ::cudaBindTextureToArray(&reference, array, &format);
}
template <class T, int d, cudaTextureReadMode m>
static inline cudaError_t cudaBindTextureToArray(const texture<T, d, m> &reference, cudaArray_const_t array) {
    cudaChannelFormatDesc format;
    cudaError_t error = ::cudaGetChannelDesc(&format, array);
    return error == cudaSuccess ? ::cudaBindTextureToArray(&reference, array, &format) : error;
}
template <class T, int d, cudaTextureReadMode m>
static inline cudaError_t cudaUnbindTexture(const texture<T, d, m> &reference) {
    return ::cudaUnbindTexture(&reference);
}
template <class T, int d, cudaTextureReadMode m>
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const texture<T, d, m> &reference) {
    return ::cudaGetTextureAlignmentOffset(offset, &reference);
}
