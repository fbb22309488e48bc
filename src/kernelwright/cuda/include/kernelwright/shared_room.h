// Room for an object in shared memory whose type has a constructor: clang refuses the declaration, nvcc calls no constructor.
#pragma once
#pragma GCC system_header

#include "qualifiers.h"

template <class T> struct __kw_shared_room {
    alignas(T) unsigned char bytes[sizeof(T)];
    __attribute__((always_inline, nodebug, host, device)) T &object() { return *reinterpret_cast<T *>(bytes); }
};
