#include "simt.h"
void simt_check_access(simt_context *c, simt_site *s, const u64 *address, u8 *const *host, u32 mask, u32 space) {}
void simt_cache_access(simt_context *c, simt_site *s, const u64 *address, u32 mask, u32 bytes, u32 write) {}
void simt_check_bytes(simt_context *c, u32 note, u32 lane, u64 address, u64 bytes, u32 write) {}
void simt_check_block(simt_context *c) {}
void simt_check_barrier(simt_context *c) {}
void simt_check_warp(simt_context *c, u32 lanes) {}
