/* Guards of programs that have several versions of a kernel, for host code in C and C++:
 *
 *     if (KW_THRESHOLD("rows", rows)) outer<<<...>>>(...);
 *     else if (KW_THRESHOLD("elements", rows * columns)) block<<<...>>>(...);
 *     else flat<<<...>>>(...);
 *
 * KW_THRESHOLD(NAME, P) is true when the whole number P is at least the threshold called NAME. NAME has neither blanks nor
 * '='. Thresholds are read when the first guard is met, from the file that KW_THRESHOLDS names, else from PROGRAM.tuning beside
 * the program, as `kw tune app.cu` writes it: lines NAME=VALUE, and -- before a comment. A guard that is not in it is not taken.
 * KW_THRESHOLD_IF(NAME, P, LEGAL) is for a version that not every input allows (its block is too large, say): where LEGAL is
 * false, it is false whatever the threshold, and the tuner knows.
 * With KW_TUNING set, each comparison is printed on standard error. Needs nothing but the C library; may be copied, and compiled
 * by any compiler. Not for guards that several threads meet first.
 */
#ifndef KERNELWRIGHT_THRESHOLD_H
#define KERNELWRIGHT_THRESHOLD_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <unistd.h>
#endif

#define KW_THRESHOLD(name, value) kw_threshold_reached((name), (long long)(value), 1)
#define KW_THRESHOLD_IF(name, value, legal) kw_threshold_reached((name), (long long)(value), (legal))

typedef struct kw_threshold_list {
    struct kw_threshold_list *next;
    long long value;
    char name[1];
} kw_threshold_list;

static inline FILE *kw_threshold_file(void)
{
    const char *given = getenv("KW_THRESHOLDS");
    if (given && *given)
        return fopen(given, "r");
#ifdef __linux__
    {
        char path[4096 + 8];
        long length = (long)readlink("/proc/self/exe", path, 4096);
        if (length > 0 && length < 4096) {
            memcpy(path + length, ".tuning", sizeof ".tuning");
            return fopen(path, "r");
        }
    }
#endif
    return NULL;
}

static inline kw_threshold_list *kw_threshold_read(void)
{
    kw_threshold_list *all = NULL;
    char line[4096];
    FILE *file = kw_threshold_file();
    if (!file)
        return NULL;
    while (fgets(line, sizeof line, file)) {
        char *equals = strchr(line, '=');
        char *begin = line + strspn(line, " \t");
        char *end;
        kw_threshold_list *one;
        if (!equals || strncmp(begin, "--", 2) == 0)
            continue;
        for (end = equals; end > begin && (end[-1] == ' ' || end[-1] == '\t'); end--)
            ;
        one = (kw_threshold_list *)malloc(sizeof *one + (size_t)(end - begin));
        if (!one)
            break;
        memcpy(one->name, begin, (size_t)(end - begin));
        one->name[end - begin] = 0;
        one->value = strtoll(equals + 1, NULL, 10);
        one->next = all;
        all = one;
    }
    fclose(file);
    return all;
}

static inline int kw_threshold_reached(const char *name, long long value, int legal)
{
    static kw_threshold_list *all;
    static int is_read, tells;
    const kw_threshold_list *one;
    int taken = 0;
    if (!is_read) {
        all = kw_threshold_read();
        tells = getenv("KW_TUNING") != NULL;
        is_read = 1;
    }
    for (one = all; one; one = one->next)
        if (strcmp(one->name, name) == 0) {
            taken = legal && one->value != LLONG_MAX && value >= one->value;
            break;
        }
    if (tells)
        fprintf(stderr, "Compared %s <= %lld: %s.\n", name, value, taken ? "true" : "false");
    return taken;
}

#endif
