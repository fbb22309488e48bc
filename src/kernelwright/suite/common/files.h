/* What every host program of the suite needs around its algorithm: arguments, and arrays in raw binary files
 * (little-endian, row-major, no header). Plain C, usable from C and CUDA. A failure prints one line and exits:
 * 2 for a wrong command line, 1 for anything else. */
#ifndef SUITE_FILES_H
#define SUITE_FILES_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Reads all of `text` as an integer from `lowest` to `highest`; returns 0 when it is none. */
static inline int parse_int(const char *text, int lowest, int highest, int *value)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < lowest || number > highest)
        return 0;
    *value = (int)number;
    return 1;
}

/* Reads all of `text` as a finite number; returns 0 when it is none. */
static inline int parse_float(const char *text, float *value)
{
    char *end;
    errno = 0;
    float number = strtof(text, &end);
    if (errno || end == text || *end || number - number != 0.0f)
        return 0;
    *value = number;
    return 1;
}

static inline void *allocate(size_t count, size_t item_bytes)
{
    void *memory = calloc(count ? count : 1, item_bytes);
    if (!memory) {
        fprintf(stderr, "error: no memory for %zu items of %zu bytes\n", count, item_bytes);
        exit(EXIT_FAILED);
    }
    return memory;
}

/* Returns the `count` items that `path` consists of, neither more nor fewer. The caller frees them. */
static inline void *read_array(const char *path, size_t count, size_t item_bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "error: cannot open %s: %s\n", path, strerror(errno));
        exit(EXIT_FAILED);
    }
    void *items = allocate(count, item_bytes);
    size_t found = fread(items, item_bytes, count, file);
    int more = fgetc(file) != EOF;
    fclose(file);
    if (found != count || more) {
        fprintf(stderr, "error: %s holds %s than %zu items of %zu bytes\n", path, more ? "more" : "fewer", count, item_bytes);
        exit(EXIT_FAILED);
    }
    return items;
}

/* Returns all items of `path` and stores how many they are; its size must be a multiple of an item's. */
static inline void *read_whole_array(const char *path, size_t item_bytes, size_t *count)
{
    FILE *file = fopen(path, "rb");
    long bytes = -1;
    if (file && fseek(file, 0, SEEK_END) == 0)
        bytes = ftell(file);
    if (file)
        fclose(file);
    if (bytes < 0) {
        fprintf(stderr, "error: cannot open %s: %s\n", path, strerror(errno));
        exit(EXIT_FAILED);
    }
    if ((size_t)bytes % item_bytes) {
        fprintf(stderr, "error: the size of %s, %ld bytes, is no multiple of %zu\n", path, bytes, item_bytes);
        exit(EXIT_FAILED);
    }
    *count = (size_t)bytes / item_bytes;
    return read_array(path, *count, item_bytes);
}

static inline void write_array(const char *path, const void *items, size_t count, size_t item_bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        fprintf(stderr, "error: cannot write %s: %s\n", path, strerror(errno));
        exit(EXIT_FAILED);
    }
    size_t written = fwrite(items, item_bytes, count, file);
    if (fclose(file) != 0 || written != count) {
        fprintf(stderr, "error: cannot write all of %s: %s\n", path, strerror(errno));
        exit(EXIT_FAILED);
    }
}

#endif
