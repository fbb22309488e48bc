/* Reading an embedded blob: the header, and the kernel table that says how arguments are packed. */
#include "blob.h"

#include <string.h>

static const struct kw_blob_section *find_section(const void *data, const char *name)
{
    const struct kw_blob_header *header = data;
    const struct kw_blob_section *section = (const void *)(header + 1);
    for (uint32_t i = 0; i < header->section_count; i++)
        if (!strncmp(section[i].name, name, sizeof section[i].name))
            return &section[i];
    return NULL;
}

/* A table's name offsets must lead to a NUL inside the section. */
static int is_name(const char *start, uint64_t size, uint32_t offset)
{
    return offset < size && memchr(start + offset, 0, size - offset) != NULL;
}

static int check_kernels(const char *start, uint64_t size)
{
    const uint32_t *counts = (const void *)start;
    if (size < 8 || counts[0] > size / sizeof(struct kw_blob_kernel) ||
        counts[1] > size / sizeof(struct kw_blob_parameter))
        return 0;
    const struct kw_blob_kernel *kernel = (const void *)(counts + 2);
    const struct kw_blob_parameter *parameter = (const void *)(kernel + counts[0]);
    if ((const char *)(parameter + counts[1]) > start + size)
        return 0;
    for (uint32_t i = 0; i < counts[0]; i++) {
        const struct kw_blob_kernel *k = &kernel[i];
        if (!is_name(start, size, k->name) || (uint64_t)k->first_parameter + k->parameter_count > counts[1])
            return 0;
        for (uint32_t p = k->first_parameter; p < k->first_parameter + k->parameter_count; p++)
            if ((uint64_t)parameter[p].offset + parameter[p].size > k->arguments_size)
                return 0;
    }
    return 1;
}

static int check_variables(const char *start, uint64_t size)
{
    const uint32_t *counts = (const void *)start;
    if (size < 8 || counts[0] > (size - 8) / sizeof(struct kw_blob_variable))
        return 0;
    const struct kw_blob_variable *variable = (const void *)(counts + 2);
    for (uint32_t i = 0; i < counts[0]; i++)
        if (!is_name(start, size, variable[i].name) || variable[i].initial > size ||
            (variable[i].initial && variable[i].size > size - variable[i].initial))
            return 0;
    return 1;
}

static int check_table(const void *data, const char *name, int (*check)(const char *, uint64_t))
{
    const struct kw_blob_section *section = find_section(data, name);
    if (!section)
        return 1;
    return section->codec == KW_BLOB_PLAIN && check((const char *)data + section->offset, section->stored);
}

size_t kw_blob_check(const void *data)
{
    const struct kw_blob_header *header = data;
    if (memcmp(header->magic, KW_BLOB_MAGIC, sizeof header->magic) || header->version != KW_BLOB_VERSION)
        return 0;
    uint64_t size = header->size;
    if (size < sizeof *header || header->section_count > (size - sizeof *header) / sizeof(struct kw_blob_section))
        return 0;
    const struct kw_blob_section *section = (const void *)(header + 1);
    uint64_t end = 0;
    for (uint32_t i = 0; i < header->section_count; i++) {
        if (section[i].offset > size || section[i].stored > size - section[i].offset || section[i].offset % 8)
            return 0;
        if (section[i].offset + section[i].stored > end)
            end = section[i].offset + section[i].stored;
    }
    /* The last section ends the blob; the size itself can be checked in no other way from inside a program. */
    if (end != size)
        return 0;
    return check_table(data, "kernels", check_kernels) && check_table(data, "variables", check_variables) ? size : 0;
}

const char *kw_blob_source(const void *data, size_t *size)
{
    const struct kw_blob_section *section = find_section(data, "source");
    if (!section || section->codec != KW_BLOB_PLAIN) {
        *size = 0;
        return "";
    }
    *size = section->stored;
    return (const char *)data + section->offset;
}

/* The start of a table, with how many entries follow its two counts; NULL and none where there is no such table. */
static const char *find_table(const void *data, const char *name, uint32_t *count)
{
    const struct kw_blob_section *section = find_section(data, name);
    const char *start = section ? (const char *)data + section->offset : NULL;
    *count = start ? *(const uint32_t *)(const void *)start : 0;
    return start;
}

const char *kw_blob_kernels(const void *data, uint32_t *count, const struct kw_blob_kernel **kernels)
{
    const char *start = find_table(data, "kernels", count);
    *kernels = start ? (const void *)(start + 2 * sizeof(uint32_t)) : NULL;
    return start;
}

const char *kw_blob_variables(const void *data, uint32_t *count, const struct kw_blob_variable **variables)
{
    const char *start = find_table(data, "variables", count);
    *variables = start ? (const void *)(start + 2 * sizeof(uint32_t)) : NULL;
    return start;
}

const struct kw_blob_kernel *kw_blob_find_kernel(const void *data, const char *name,
                                                 const struct kw_blob_parameter **parameters)
{
    uint32_t count;
    const struct kw_blob_kernel *kernel;
    const char *start = kw_blob_kernels(data, &count, &kernel);
    const struct kw_blob_parameter *first = (const void *)(kernel + count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(start + kernel[i].name, name))
            continue;
        *parameters = first + kernel[i].first_parameter;
        return &kernel[i];
    }
    return NULL;
}

const void *kw_blob_initial_bytes(const void *data, const char *name)
{
    uint32_t count;
    const struct kw_blob_variable *variable;
    const char *start = kw_blob_variables(data, &count, &variable);
    for (uint32_t i = 0; i < count; i++)
        if (variable[i].initial && !strcmp(start + variable[i].name, name))
            return start + variable[i].initial;
    return NULL;
}
