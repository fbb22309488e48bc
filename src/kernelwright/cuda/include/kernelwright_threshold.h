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
 * What is wrong with the file is said on standard error, and the program goes on: a version is a matter of time alone. A line that is
 * no threshold leaves its guard untaken; so does a guard that a file with thresholds does not name, which is how a wrong name shows.
 * With KW_TUNING set, each comparison is printed on standard error, and with KW_TUNING=dispatch what the guards took.
 * Needs nothing but the C library; may be copied, and compiled by any compiler. Not for guards that several threads meet first.
 */
#ifndef KERNELWRIGHT_THRESHOLD_H
#define KERNELWRIGHT_THRESHOLD_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <unistd.h>
#ifndef __cplusplus
ssize_t readlink(const char *, char *, size_t); /* which strict modes leave out */
#endif
#endif

#define KW_THRESHOLD(name, value) kw_threshold_reached((name), (long long)(value), 1)
#define KW_THRESHOLD_IF(name, value, legal) kw_threshold_reached((name), (long long)(value), (legal))

typedef struct kw_threshold_list {
    struct kw_threshold_list *next;
    long long value;
    int is_given, is_timed; /* in the file; its cost was printed */
    char name[1];
} kw_threshold_list;

/* The path of the file into `path`; 0 where there is none. One that does not fit is cut, and so cannot be opened. */
static inline int kw_threshold_path(char *path, size_t size)
{
    const char *given = getenv("KW_THRESHOLDS");
    if (given && *given) {
        path[size - 1] = 0;
        strncpy(path, given, size - 1);
        return 1;
    }
#ifdef __linux__
    {
        long length = (long)readlink("/proc/self/exe", path, size - sizeof ".tuning");
        if (length > 0 && length < (long)(size - sizeof ".tuning")) {
            memcpy(path + length, ".tuning", sizeof ".tuning");
            return 1;
        }
    }
#endif
    return 0;
}

static inline kw_threshold_list *kw_threshold_find(kw_threshold_list *all, const char *name)
{
    while (all && strcmp(all->name, name) != 0)
        all = all->next;
    return all;
}

static inline kw_threshold_list *kw_threshold_add(kw_threshold_list **all, const char *name, size_t length, long long value)
{
    kw_threshold_list *one = (kw_threshold_list *)calloc(1, sizeof *one + length);
    if (!one)
        return NULL;
    memcpy(one->name, name, length);
    one->value = value;
    one->next = *all;
    return *all = one;
}

/* What is wrong with a line, that of one threshold taken up to its number; NULL for a comment and a threshold. */
static inline const char *kw_threshold_line(kw_threshold_list **all, char *line)
{
    char *begin = line + strspn(line, " \t\r\n");
    char *equals = strchr(begin, '='), *end = equals, *after;
    kw_threshold_list *one;
    long long value;
    if (!*begin || strncmp(begin, "--", 2) == 0)
        return NULL;
    if (!equals || equals == begin)
        return "this is no threshold, which is NAME=NUMBER";
    errno = 0;
    value = strtoll(equals + 1, &after, 10);
    if (after == equals + 1 || after[strspn(after, " \t\r\n")])
        return "this is no whole number, and its guard is not taken";
    if (errno == ERANGE)
        return "this is no number of 64 bits, and its guard is not taken";
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = 0;
    if (kw_threshold_find(*all, begin))
        return "this threshold stands here twice, and the first one counts";
    one = kw_threshold_add(all, begin, (size_t)(end - begin), value);
    if (!one)
        return "there is no memory for it, and its guard is not taken";
    one->is_given = 1;
    return NULL;
}

static inline kw_threshold_list *kw_threshold_read(const char *path)
{
    kw_threshold_list *all = NULL;
    char line[4096];
    const char *wrong;
    int number = 0, next;
    FILE *file = fopen(path, "r");
    if (!file) {
        const char *given = getenv("KW_THRESHOLDS");
        if (given && *given)
            fprintf(stderr, "kernelwright: KW_THRESHOLDS names %s, which cannot be read (%s): no guard is taken\n", path, strerror(errno));
        return NULL;
    }
    while (fgets(line, sizeof line, file)) {
        number++;
        if (!strchr(line, '\n')) /* what does not fit belongs to no other line */
            while ((next = fgetc(file)) != EOF && next != '\n')
                ;
        wrong = kw_threshold_line(&all, number == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0 ? line + 3 : line);
        if (wrong)
            fprintf(stderr, "kernelwright: %s, line %d: %s: %.*s\n", path, number, wrong, (int)strcspn(line, "\r\n"), line);
    }
    if (ferror(file))
        fprintf(stderr, "kernelwright: %s cannot be read (%s)%s\n", path, strerror(errno), all ? "" : ": no guard is taken");
    fclose(file);
    return all;
}

/* A guard that no line names: said once, where there are lines. */
static inline void kw_threshold_missed(const kw_threshold_list *all, const char *name, const char *path)
{
    const char *between = "";
    while (all && !all->is_given)
        all = all->next;
    if (!all)
        return;
    fprintf(stderr, "kernelwright: %s has no threshold for guard %s, which is not taken; it has ", path, name);
    for (; all; all = all->next)
        if (all->is_given) {
            fprintf(stderr, "%s%s", between, all->name);
            between = ", ";
        }
    fprintf(stderr, "\n");
}

static inline int kw_threshold_decided(kw_threshold_list *all, const char *name, long long value, int legal)
{
    const kw_threshold_list *one = kw_threshold_find(all, name);
    return one && legal && one->value != LLONG_MAX && value >= one->value;
}

/* What a guard costs, in microseconds: the best of three times many. */
static inline double kw_threshold_cost(kw_threshold_list *all, const char *name, long long value, int legal)
{
    const char *volatile which = name;
    volatile int taken = 0;
    double best = 0, took;
    int time, n;
    for (time = 0; time < 3; time++) {
        clock_t begin = clock();
        for (n = 0; n < 5000; n++)
            taken = kw_threshold_decided(all, which, value, legal);
        took = (double)(clock() - begin) / CLOCKS_PER_SEC * 1e6 / 5000;
        if (time == 0 || took < best)
            best = took;
    }
    (void)taken;
    return best;
}

static inline int kw_threshold_reached(const char *name, long long value, int legal)
{
    static kw_threshold_list *all;
    static const char *tells;
    static char path[4096];
    static int is_read;
    kw_threshold_list *one;
    int taken;
    if (!is_read) {
        if (kw_threshold_path(path, sizeof path))
            all = kw_threshold_read(path);
        tells = getenv("KW_TUNING");
        is_read = 1;
    }
    one = kw_threshold_find(all, name);
    if (!one) {
        if (!tells)
            kw_threshold_missed(all, name, path);
        one = kw_threshold_add(&all, name, strlen(name), LLONG_MAX);
    }
    taken = kw_threshold_decided(one, name, value, legal);
    if (tells) {
        fprintf(stderr, "Compared %s <= %lld: %s.\n", name, value, taken ? "true" : legal ? "false" : "never");
        if (one && !one->is_timed && strcmp(tells, "dispatch") == 0) {
            fprintf(stderr, "Dispatch %s %.6f us.\n", name, kw_threshold_cost(all, name, value, legal));
            one->is_timed = 1;
        }
    }
    return taken;
}

#endif
