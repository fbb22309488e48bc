/*
 * What the host pass embeds where nvcc puts its fat binary. Written and read in full by src/kernelwright/cuda/blob.py;
 * the runtime reads only the two tables it needs to register kernels and pack their arguments.
 *
 *     kw_blob_header | kw_blob_section x section_count | sections, each at a multiple of 8
 *
 * Sections the runtime reads, stored without compression:
 *
 *     "source"      the source file's name
 *     "kernels"     u32 count, u32 parameters | kw_blob_kernel x count | kw_blob_parameter x parameters | names
 *     "variables"   u32 count, u32 0          | kw_blob_variable x count | names, initial bytes
 *
 * Names are NUL-terminated; their offsets count from the start of the section. Little-endian, no hidden padding.
 */
#ifndef KERNELWRIGHT_BLOB_H
#define KERNELWRIGHT_BLOB_H

#include <stddef.h>
#include <stdint.h>

#define KW_BLOB_MAGIC "\x89KWBLOB\n"
#define KW_BLOB_VERSION 1u

struct kw_blob_header {
    char magic[8];
    uint32_t version;
    uint32_t section_count;
    uint64_t size;      /* bytes of the whole blob */
    uint8_t digest[32]; /* SHA-256 of everything but the magic and this field */
    uint8_t module[16]; /* the module's id */
};

enum kw_blob_codec {
    KW_BLOB_PLAIN = 0,
    KW_BLOB_ZLIB = 1,
};

struct kw_blob_section {
    char name[32]; /* NUL-padded: "source", "ir", "ptx sm_80", "cubin sm_90a", "versions", "kernels", "variables" */
    uint32_t codec; /* enum kw_blob_codec */
    uint32_t reserved;
    uint64_t offset; /* from the start of the blob */
    uint64_t stored; /* bytes in the blob */
    uint64_t raw;    /* bytes when unpacked */
};

struct kw_blob_kernel {
    uint32_t name;
    uint32_t first_parameter;
    uint32_t parameter_count;
    uint32_t arguments_size;
    uint32_t max_threads; /* of a block, from __launch_bounds__; 0: as many as the device allows */
    uint32_t min_blocks;
    uint32_t static_shared_bytes;
    uint32_t reserved;
};

enum kw_blob_parameter_kind {
    KW_BLOB_VALUE = 0,     /* a number or a vector */
    KW_BLOB_POINTER = 1,
    KW_BLOB_STRUCTURE = 2, /* passed by value */
};

struct kw_blob_parameter {
    uint32_t offset;
    uint32_t size;
    uint32_t alignment;
    uint32_t kind; /* enum kw_blob_parameter_kind */
};

enum kw_blob_variable_flags {
    KW_BLOB_CONSTANT = 1,
    KW_BLOB_EXTERNAL = 2,
    KW_BLOB_MANAGED = 4,
};

struct kw_blob_variable {
    uint32_t name;
    uint32_t flags; /* enum kw_blob_variable_flags */
    uint64_t size;
    uint32_t alignment;
    uint32_t initial; /* of a managed variable: where its `size` initial bytes are; 0: they are all zero */
};

/* Bytes of the blob at `data`, or 0 when it is none of this version or its tables point outside it. */
size_t kw_blob_check(const void *data);

/* The name of the source file, not NUL-terminated; `size` is set to its bytes. */
const char *kw_blob_source(const void *data, size_t *size);

/* The kernel called `name`; NULL when there is none. `parameters` is set to its first parameter. */
const struct kw_blob_kernel *kw_blob_find_kernel(const void *data, const char *name,
                                                 const struct kw_blob_parameter **parameters);

/* All kernels, all variables; returns what their names' and initial bytes' offsets count from. */
const char *kw_blob_kernels(const void *data, uint32_t *count, const struct kw_blob_kernel **kernels);
const char *kw_blob_variables(const void *data, uint32_t *count, const struct kw_blob_variable **variables);

/* The initial bytes of the managed variable called `name`; NULL when it is none, or they are all zero. */
const void *kw_blob_initial_bytes(const void *data, const char *name);

#endif
