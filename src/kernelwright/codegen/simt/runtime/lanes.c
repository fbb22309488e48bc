/* Choices by lane masks, as calls: a processor without mask registers has no short way to say them. */
#include "simt.h"

/* The lanes of ``mask`` take their new value. */
#define KEEP(size, T)                                                        \
  void simt_keep##size(T *to, const T *from, u32 mask, u32 lanes) {          \
    if (lanes == WARP)                                                       \
      for (u32 l = 0; l < WARP; l++) to[l] = mask >> l & 1 ? from[l] : to[l]; \
    else                                                                     \
      for (u32 l = 0; l < lanes; l++) to[l] = mask >> l & 1 ? from[l] : to[l]; \
  }
KEEP(1, u8)
KEEP(2, u16)
KEEP(4, u32)
KEEP(8, u64)
KEEP(16, u128)

/* The lanes whose number is negative. */
#define SIGNS(size, T)                                           \
  u32 simt_signs##size(const T *row, u32 lanes) {                \
    u32 found = 0;                                               \
    for (u32 l = 0; l < lanes; l++) found |= (u32)(row[l] < 0) << l; \
    return found;                                                \
  }
SIGNS(4, i32)
SIGNS(8, i64)
