/* The accesses that come often: one number per lane, all in one buffer, inside it and aligned. Whatever else there is
   returns 0 here and goes the long way of memory.c. */
#include "different.h"
#include "few_lanes.h"

typedef u32 v16 __attribute__((vector_size(64)));

/* Numbers of up to four equal segments of a warp, each in the lanes of its segment. */
INLINED v16 beside(v8 a, v8 b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
INLINED void put_segments(u32 n, const i64 *each, u32 *to) {
  v8 none = {0}, a = none + (u32)each[0], b = none + (u32)each[1], c = none + (u32)each[2], d = none + (u32)each[3];
  v16 low = beside(a, n == 4 ? b : a), high = n == 4 ? beside(c, d) : n == 2 ? beside(b, b) : beside(a, a);
  memcpy(to, &low, sizeof low), memcpy(to + 16, &high, sizeof high);
}

/* How often ``k``, or ``1 << shift`` where it is that, goes into ``d``, rounded down. */
INLINED i64 times(i64 d, i64 k, u32 shift, u32 even) { return even ? d >> shift : d / k - (d % k < 0); }

/* Index form: base + coefficient * index of the lane. An index is checked before it is scaled: index + first must lie in
   0 .. places, where first and places are small enough that their sum cannot wrap around into the allowed range. */
INLINED u32 index_offsets(const simt_access *a, const u64 *rem, const i32 *root, u64 start, u64 bytes, u32 size, u32 mask, u32 *offset) {
  i64 k = a->coefficient;
  u32 n = a->segments;
  if (k <= 0 || k > 1 << 20 || a->stride || n > 4) return 0;
  u32 add[WARP], shift = (u32)__builtin_ctzll((u64)k), even = (k & (k - 1)) == 0, rest = 0;
  i64 whole[4] = {0};
  for (u32 g = 0; g < n; g++) {
    i64 d = (i64)(rem[g] - start);
    if (d > 1 << 30 || d < -(1 << 30)) return 0;
    whole[g] = times(d, k, shift, even);
    if (g && rest != (u32)(d - whole[g] * k)) return 0;
    rest = (u32)(d - whole[g] * k);
  }
  if (((start + rest) | (u64)k) & (a->align - 1u) || rest + size > bytes) return 0;
  u64 room = bytes - rest - size;
  u32 places = (u32)(even ? room >> shift : room / (u64)k) + 1, bad = 0, top = 0, scale = (u32)k;
  put_segments(n, whole, add);
  ALL_LANES(l) {
    u32 on = -(mask >> l & 1), index = (u32)root[l] + add[l];
    bad |= on & -(u32)(index >= places);
    top |= on & (u32)root[l];
    offset[l] = on & (index * scale + rest);
  }
  return !bad && !(a->zero_extend && top >> 31);
}

INLINED u32 address_offsets(const simt_access *a, const u64 *address, u64 start, u64 bytes, u32 size, u32 mask, u32 *offset) {
  u64 room = bytes - size + 1, bad = 0, low_bits = a->align - 1u;
  ALL_LANES(l) {
    u64 on = -(u64)(mask >> l & 1), o = (address[l] - start) & on;
    bad |= (u64)(o >= room) | ((address[l] & on) & low_bits);
    offset[l] = (u32)o;
  }
  return !bad;
}

/* Offsets of all lanes from ``start`` as 32-bit numbers; lanes that are not active get 0. Returns 0 when an active lane
   lies outside the ``bytes`` bytes there or off its alignment, or when 32 bits cannot say. */
INLINED u32 offsets(const simt_access *a, const u64 *rem, const i32 *root, u64 start, u64 bytes, u32 form, u32 size, u32 mask, u32 *offset) {
  if (bytes < size || bytes > 1u << 30) return 0;
  if (form == FORM_INDEXED) return index_offsets(a, rem, root, start, bytes, size, mask, offset);
  if (form == FORM_ADDRESSES) return address_offsets(a, rem, start, bytes, size, mask, offset);
  u64 address[WARP];
  simt_addresses(a, rem, root, address);
  return address_offsets(a, address, start, bytes, size, mask, offset);
}

/* Where the access goes, and what that costs; turns of shared memory are counted where it is done. */
INLINED u32 place(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 form, u32 space, u32 size, u32 write, u32 *offset, u8 **base) {
  const simt_access *a = s->access;
  if (c->attention || !mask) return 0;
  if (space == GENERIC) {
    if (write && !s->writable) return 0;
    if (!offsets(a, rem, root, s->start, s->end - s->start, form, size, mask, offset)) return 0;
    *base = (u8 *)s->start;
    if (c->counting && a->is_constant) s->serial += (i64)words_of(offset, mask) - 1;
    else if (c->counting) s->sectors += (i64)sectors_of(offset, (u32)s->start & 31, mask) - 1;
  } else if (space == SHARED) {
    if (!offsets(a, rem, root, 0, c->shared_size, form, size, mask, offset)) return 0;
    *base = (u8 *)c->shared_host;
  } else {
    if (size != 4 || !offsets(a, rem, root, 0, c->local_size, form, size, mask, offset)) return 0;
    ALL_LANES(l) offset[l] = offset[l] * 32 + l * 4;
    *base = (u8 *)c->local_host;
    if (c->counting) s->sectors += (i64)sectors_of(offset, 0, mask) - 1;
  }
  return 1;
}

/* Under a mask with many lanes, the others write to a place that nothing reads: that is faster than to branch. */
#define MANY 10
#define MOVE(T)                                                                                        \
  if (store) {                                                                                         \
    const T *from = data;                                                                              \
    if (mask == ~0u) ALL_LANES(l) *(T *)(base + offset[l]) = from[l];                                  \
    else if (__builtin_popcount(mask) < MANY) EACH_LANE(l, mask) *(T *)(base + offset[l]) = from[l];   \
    else {                                                                                             \
      u64 nowhere, to[WARP];                                                                           \
      ALL_LANES(l) to[l] = mask >> l & 1 ? (u64)base + offset[l] : (u64)&nowhere;                      \
      ALL_LANES(l) *(T *)to[l] = from[l];                                                              \
    }                                                                                                  \
  } else {                                                                                             \
    T *to = data;                                                                                      \
    ALL_LANES(l) to[l] = *(const T *)(base + offset[l]);                                               \
  }

/* What a vector register holds: the lanes of a warp that are worked on together. */
#ifdef __AVX512CD__
#define PART 16
#else
#define PART 8
#endif
typedef u32 part __attribute__((vector_size(4 * PART)));

#if defined(__AVX2__) && !defined(__AVX512F__)
/* All bits of the lanes of the lowest eight bits of ``mask``. */
INLINED __m256i eight_lanes(u32 mask) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)mask), bit), bit);
}

/* From so many lanes on that is faster for global memory than lane by lane. */
#define GATHERED 24
/* Reads the words of the lanes of ``mask``, eight lanes at a time; the others get 0. */
INLINED void gather(const u8 *base, const u32 *offset, u32 mask, u32 *to) {
  for (u32 p = 0; p < WARP; p += 8) {
    __m256i at = _mm256_loadu_si256((const __m256i *)(offset + p));
    __m256i row = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)base, at, eight_lanes(mask >> p), 1);
    _mm256_storeu_si256((__m256i *)(to + p), row);
  }
}
#else
#define GATHERED MANY
#endif

/* Sectors of local memory whose words, of at most 16, lanes ask for. Eight neighbouring lanes share one: a word has four. */
#ifdef __AVX512CD__
INLINED u32 sectors_of_words(const part *word, const part *active) {
  const __m512i one = _mm512_set1_epi32(1), word_8 = _mm512_set1_epi32(32);
  __m512i seen[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
  for (u32 h = 0; h < 2; h++) {
    __m512i at = (__m512i)word[h];
    at = _mm512_add_epi32(_mm512_slli_epi32(at, 2), _mm512_add_epi32(_mm512_srli_epi32(LANES_OF_HALF, 3), _mm512_set1_epi32((int)(2 * h))));
    __mmask16 lanes = _mm512_test_epi32_mask((__m512i)active[h], (__m512i)active[h]);
    /* Shifted by 32 or more, nothing is left. */
    seen[0] = _mm512_or_epi32(seen[0], _mm512_maskz_sllv_epi32(lanes, one, at));
    seen[1] = _mm512_or_epi32(seen[1], _mm512_maskz_sllv_epi32(lanes, one, _mm512_sub_epi32(at, word_8)));
  }
  return (u32)__builtin_popcount((u32)_mm512_reduce_or_epi32(seen[0])) + (u32)__builtin_popcount((u32)_mm512_reduce_or_epi32(seen[1]));
}
#else
INLINED u32 sectors_of_words(const part *word, const part *active) {
  u32 found = 0;
  for (u32 p = 0; p < WARP / PART; p += 2) {
    part low = ((part){0} + 1 << (word[p] & 15)) & active[p], high = ((part){0} + 1 << (word[p + 1] & 15)) & active[p + 1];
    found += (u32)__builtin_popcount(__builtin_reduce_or(low | high << 16));
  }
  return found;
}
#endif

/* Keeps the compiler from a store under a mask, for which an AMD processor without mask registers takes some twenty cycles. */
#if defined(__AVX2__) && !defined(__AVX512F__)
#define WHOLE(row) __asm__("" : "+x"(row))
#else
#define WHOLE(row) (void)0
#endif

/* Local arrays of a few words: word after word, for all lanes that want it. The index of a lane is that of a word, as in
   most of such arrays; returns 0 for others. */
#define FEW_WORDS 16
INLINED u32 few_words(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 *data, u32 store) {
  const simt_access *a = s->access;
  i64 first = (i64)rem[0];
  u32 words = (u32)(c->local_size / 4);
  if (c->attention || !mask || a->coefficient != 4 || a->stride || a->segments != 1 || first & 3 || first >> 30 != first >> 63) return 0;
  part word[WARP / PART], active[WARP / PART], bad = {0};
  v32 lanes = lanes_of(mask);
  memcpy(active, &lanes, sizeof active), memcpy(word, root, sizeof word);
  for (u32 p = 0; p < WARP / PART; p++) {
    if (a->zero_extend) bad |= (part)(word[p] >> 31 != 0) & active[p];
    word[p] += (u32)(first >> 2);
    bad |= (part)(word[p] >= words) & active[p];
    word[p] |= ~active[p];
  }
  if (__builtin_reduce_or(bad)) return 0;
  part value[WARP / PART] = {0}, now = {0};
  if (store) memcpy(value, data, sizeof value);
  u8 *place = (u8 *)c->local_host;
  for (u32 w = 0; w < words; w++, now += 1) {
    for (u32 p = 0; p < WARP / PART; p++, place += sizeof now) {
      part hit = (part)(word[p] == now), row;
      memcpy(&row, place, sizeof row);
      if (store) {
        row = (value[p] & hit) | (row & ~hit);
        WHOLE(row);
        memcpy(place, &row, sizeof row);
      } else {
        value[p] = (row & hit) | (value[p] & ~hit);
      }
    }
  }
  if (!store) memcpy(data, value, sizeof value);
  if (c->counting) s->sectors += (i64)sectors_of_words(word, active) - 1;
  return 1;
}

#ifdef __AVX2__
/* Words of lanes that lie side by side, in each half of a warp by itself. */
typedef struct {
  u32 at[2];    /* the offset of lane 0, and of lane 16 */
  u32 lanes[2]; /* the active ones of each half */
} side_by_side;

INLINED u32 are_side_by_side(const u32 *offset, u32 mask, side_by_side *found) {
  for (u32 h = 0; h < 2; h++) {
    u32 lanes = found->lanes[h] = mask >> 16 * h & 0xFFFF, first = (u32)__builtin_ctz(lanes | 1u << 15);
    found->at[h] = offset[16 * h + first] - 4 * first;
  }
#ifdef __AVX512CD__
  const __m512i steps = _mm512_slli_epi32(LANES_OF_HALF, 2);
  for (u32 h = 0; h < 2; h++) {
    __m512i all, straight = _mm512_add_epi32(_mm512_set1_epi32((int)found->at[h]), steps);
    memcpy(&all, offset + 16 * h, sizeof all);
    if (_mm512_mask_cmpneq_epi32_mask((__mmask16)found->lanes[h], all, straight)) return 0;
  }
  return 1;
#else
#define STEP(l) 4 * ((l) & 15)
#define HALF(l) -(u32)((l) >= 16)
  const v32 steps = FOR_LANES(STEP), high = FOR_LANES(HALF);
#undef STEP
#undef HALF
  v32 all, straight = steps + found->at[0] + (high & (found->at[1] - found->at[0]));
  memcpy(&all, offset, sizeof all);
  return !__builtin_reduce_or((all ^ straight) & lanes_of(mask));
#endif
}

INLINED void load_side_by_side(const u8 *base, const side_by_side *found, u32 *data) {
  for (u32 h = 0; h < 2; h++) {
    const u8 *row = base + (i64)(i32)found->at[h];
#ifdef __AVX512CD__
    __m512i words = _mm512_maskz_loadu_epi32((__mmask16)found->lanes[h], row);
    memcpy(data + 16 * h, &words, sizeof words);
#else
    for (u32 p = 0; p < 16; p += 8) {
      __m256i words = _mm256_maskload_epi32((const int *)(row + 4 * p), eight_lanes(found->lanes[h] >> p));
      memcpy(data + 16 * h + p, &words, sizeof words);
    }
#endif
  }
}

/* Where no two words can meet in a bank, or those that do are the same. */
INLINED u32 is_one_wave(const side_by_side *found) {
  u32 between = found->at[1] - found->at[0];
  return !found->lanes[0] || !found->lanes[1] || between == 0 || (between & 127) == 64;
}
#endif

INLINED void count_waves(simt_context *c, simt_site *s, const u32 *offset, u32 mask, u32 size) {
  if (!c->counting) return;
  /* Narrower numbers share words, which depends on where they lie. */
  if (size < 4) {
    s->waves += (i64)simt_waves(offset, mask, size) - 1;
    return;
  }
  simt_pattern *known = c->patterns + s->index;
  v32 apart, before;
  memcpy(&apart, offset, sizeof apart), memcpy(&before, known->apart, sizeof before);
  apart = (apart - offset[__builtin_ctz(mask)]) & lanes_of(mask);
  if (known->mask != mask || __builtin_reduce_or(apart ^ before)) {
    known->mask = mask, known->waves = simt_waves(offset, mask, size);
    memcpy(known->apart, &apart, sizeof apart);
  }
  s->waves += (i64)known->waves - 1;
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/* Inactive lanes are written back: before and behind shared memory there is more than a row for that. */
INLINED void store_side_by_side(u8 *base, const side_by_side *found, const u32 *data) {
  for (u32 l = 0; l < WARP; l += 8) {
    u32 lanes = found->lanes[l / 16] >> (l & 15) & 0xFF;
    if (!lanes) continue;
    __m256i *row = (__m256i *)(base + (i64)(i32)found->at[l / 16] + 4 * (l & 15));
    __m256i value = _mm256_blendv_epi8(_mm256_loadu_si256(row), _mm256_loadu_si256((const __m256i *)(data + l)), eight_lanes(lanes));
    WHOLE(value);
    _mm256_storeu_si256(row, value);
  }
}

/* Where the indices of each half of a warp rise by one from lane to lane, as along a row of a tile: told by the ends and without the
   offsets of all lanes. */
INLINED u32 rows_of_tile(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 *data, u32 store) {
  const simt_access *a = s->access;
  const __m256i steps = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  u64 room = (u64)c->shared_size - 4;
  if (c->attention || !mask || a->coefficient != 4 || a->stride || a->segments > 2 || c->shared_size < 4) return 0;
  side_by_side rows = {{0, 0}, {mask & 0xFFFF, mask >> 16}};
  __m256i other = _mm256_setzero_si256();
  for (u32 h = 0; h < 2; h++) {
    const i32 *index = root + 16 * h;
    u32 lanes = rows.lanes[h];
    if (!lanes) continue;
    u32 first = (u32)__builtin_ctz(lanes), last = 31 - (u32)__builtin_clz(lanes);
    u64 base = rem[a->segments == 2 ? h : 0], begin = base + 4 * (u64)(i64)index[first], end = base + 4 * (u64)(i64)index[last];
    if (begin > room || end > room || (begin & 3) || end - begin != 4 * (last - first) || (a->zero_extend && (index[first] | index[last]) < 0)) return 0;
    rows.at[h] = (u32)begin - 4 * first;
    __m256i zero = _mm256_set1_epi32((i32)((u32)index[first] - first));
    for (u32 p = 0; p < 16; p += 8, zero = _mm256_add_epi32(zero, _mm256_set1_epi32(8))) {
      __m256i off = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(index + p)), _mm256_add_epi32(zero, steps));
      other = _mm256_or_si256(other, _mm256_and_si256(off, eight_lanes(lanes >> p)));
    }
  }
  if (!_mm256_testz_si256(other, other)) return 0;
  if (!is_one_wave(&rows)) {
    u32 offset[WARP];
    ALL_LANES(l) offset[l] = -(mask >> l & 1) & (rows.at[l / 16] + 4 * (l & 15));
    count_waves(c, s, offset, mask, 4);
  }
  if (store) store_side_by_side((u8 *)c->shared_host, &rows, data);
  else load_side_by_side((const u8 *)c->shared_host, &rows, data);
  return 1;
}
#endif

/* Words of global memory that few lanes read or write. */
INLINED u32 few_words_of(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 *data, u32 form, u32 store) {
  simt_few few;
  if (c->attention || !mask || __builtin_popcount(mask) > FEW || (store && !s->writable)) return 0;
  if (!simt_few_lanes(s, rem, root, mask, form, 4, &few)) return 0;
  if (!store) memset(data, 0, 4 * WARP);
  for (u32 i = 0; i < few.n; i++) {
    u32 *place = (u32 *)few.address[i];
    if (store) *place = data[few.lane[i]];
    else data[few.lane[i]] = *place;
  }
  if (!c->counting) return 1;
  if (s->access->is_constant) s->serial += (i64)simt_few_pieces(&few, 2) - 1;
  else s->sectors += (i64)simt_few_pieces(&few, 5) - 1;
  return 1;
}

INLINED u32 quick(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data, u32 form, u32 space, u32 size, u32 store) {
  u32 offset[WARP];
  u8 *base;
  u32 is_small = space == LOCAL && form == FORM_INDEXED && size == 4 && c->local_size <= 4 * FEW_WORDS;
  if (is_small && few_words(c, s, rem, root, mask, data, store)) return 1;
#ifndef __AVX512CD__
  u32 is_scattered = space == GENERIC && size == 4 && (form == FORM_INDEXED || form == FORM_ADDRESSES);
  if (is_scattered && few_words_of(c, s, rem, root, mask, data, form, store)) return 1;
#endif
#if defined(__AVX2__) && !defined(__AVX512F__)
  if (space == SHARED && size == 4 && form == FORM_INDEXED && rows_of_tile(c, s, rem, root, mask, data, store)) return 1;
#endif
  if (!place(c, s, rem, root, mask, form, space, size, store, offset, &base)) return 0;
  if (size == 4 && !store) {
    u32 *to = data;
    if (__builtin_popcount(mask) < (space == GENERIC ? GATHERED : MANY)) {
      memset(to, 0, 4 * WARP);
      EACH_LANE(l, mask) to[l] = *(const u32 *)(base + offset[l]);
      if (space == SHARED) count_waves(c, s, offset, mask, size);
      return 1;
    }
#ifdef __AVX2__
    side_by_side rows;
    if (space == SHARED && are_side_by_side(offset, mask, &rows)) {
      load_side_by_side(base, &rows, to);
      if (!is_one_wave(&rows)) count_waves(c, s, offset, mask, size);
      return 1;
    }
#endif
    if (space == SHARED) count_waves(c, s, offset, mask, size);
#if defined(__AVX2__) && !defined(__AVX512F__)
    gather(base, offset, mask, to);
#else
    /* Put together in registers: generated code reads whole rows, which would wait for many small writes. */
#define AT(l) *(const u32 *)(base + offset[l])
#define FOUR(l) AT(l), AT(l + 1), AT(l + 2), AT(l + 3)
    for (u32 l = 0; l < WARP; l += 16) {
      v16 row = {FOUR(l), FOUR(l + 4), FOUR(l + 8), FOUR(l + 12)};
      memcpy(to + l, &row, sizeof row);
    }
#endif
    return 1;
  }
  if (space == SHARED) count_waves(c, s, offset, mask, size);
  switch (size) {
    case 1: MOVE(u8) break;
    case 2: MOVE(u16) break;
    case 4: MOVE(u32) break;
    case 8: MOVE(u64) break;
  }
  return 1;
}

/* Any access whose lanes have one component of at most 8 bytes. */
u32 simt_usual(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data) {
  const simt_access *a = s->access;
  if (a->components != 1 || a->align < a->size) return 0;
  switch (a->size) {
    case 1: return quick(c, s, rem, root, mask, data, a->form, a->space, 1, a->kind == STORE);
    case 2: return quick(c, s, rem, root, mask, data, a->form, a->space, 2, a->kind == STORE);
    case 4: return quick(c, s, rem, root, mask, data, a->form, a->space, 4, a->kind == STORE);
    case 8: return quick(c, s, rem, root, mask, data, a->form, a->space, 8, a->kind == STORE);
  }
  return 0;
}

/* The same for an atomic: offsets from ``*base``; counts sectors, and turns of lanes at one place. */
u32 simt_quick_offsets(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, u32 *offset, u8 **base) {
  const simt_access *a = s->access;
  if (a->space == LOCAL || a->align < a->size || (a->size != 4 && a->size != 8)) return 0;
#ifndef __AVX512CD__
  simt_few few;
  if (a->space == GENERIC && s->end - s->start <= 1u << 30 && a->form >= FORM_INDEXED && mask && __builtin_popcount(mask) <= FEW && !c->attention && s->writable &&
      simt_few_lanes(s, rem, root, mask, a->form, a->size, &few)) {
    for (u32 i = 0; i < few.n; i++) offset[few.lane[i]] = (u32)(few.address[i] - s->start);
    *base = (u8 *)s->start;
    if (c->counting) s->sectors += (i64)simt_few_pieces(&few, 5) - 1, s->serial += simt_few_alike(&few) - 1;
    return 1;
  }
#endif
  if (!place(c, s, rem, root, mask, a->form, a->space, a->size, 1, offset, base)) return 0;
  if (a->space == SHARED) count_waves(c, s, offset, mask, a->size);
  if (c->counting) s->serial += simt_turns(offset, mask);
  return 1;
}

/* One function per kind of access, which generated code calls where it knows the kind: rows.py lists them. */
#define QUICK(kind, write, form_name, form, space_name, space, size)                                                          \
  void simt_##kind##_##form_name##_##space_name##size(simt_context *c, simt_site *s, const u64 *rem, const i32 *root, u32 mask, void *data) { \
    if (!quick(c, c->true_sites + s->index, rem, root, mask, data, form, space, size, write))                                 \
      simt_##kind(c, s, rem, root, mask, data);                                                                               \
  }
#define FORMS(kind, write, space_name, space, size)                                \
  QUICK(kind, write, index, FORM_INDEXED, space_name, space, size)                 \
  QUICK(kind, write, address, FORM_ADDRESSES, space_name, space, size)
#define SIZES(kind, write)               \
  FORMS(kind, write, global, GENERIC, 1) \
  FORMS(kind, write, global, GENERIC, 2) \
  FORMS(kind, write, global, GENERIC, 4) \
  FORMS(kind, write, global, GENERIC, 8) \
  FORMS(kind, write, shared, SHARED, 4)  \
  FORMS(kind, write, local, LOCAL, 4)
SIZES(load, 0)
SIZES(store, 1)
