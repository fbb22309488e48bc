/* What KERNELWRIGHT_REPORT=path asks for: the modules, kernels and variables of the program, as JSON, when it ends. */
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t owner;

/* The process the program started as: a child that it forks does not write the report over. */
__attribute__((constructor)) static void know_owner(void)
{
    owner = getpid();
}

static void write_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

static void write_kernel(FILE *to, const struct kw_kernel *kernel)
{
    fprintf(to, "{\"name\": ");
    write_string(to, kernel->name);
    fprintf(to, ", \"launches\": %llu", (unsigned long long)kernel->launches);
    if (kernel->has_layout) {
        fprintf(to, ", \"arguments_bytes\": %u, \"parameters\": [", kernel->arguments_size);
        for (uint32_t p = 0; p < kernel->parameter_count; p++)
            fprintf(to, "%s{\"offset\": %u, \"bytes\": %u}", p ? ", " : "", kernel->parameter[p].offset,
                    kernel->parameter[p].size);
        fprintf(to, "]");
    }
    fprintf(to, "}");
}

static void write_variable(FILE *to, const struct kw_variable *variable)
{
    fprintf(to, "{\"name\": ");
    write_string(to, variable->name);
    fprintf(to, ", \"bytes\": %llu, \"constant\": %s}", (unsigned long long)variable->size,
            variable->flags & KW_SYMBOL_CONSTANT ? "true" : "false");
}

static void write_module(FILE *to, const struct kw_module *module)
{
    static const char *const format[] = {"unknown", "kernelwright", "nvidia"};
    const char *between = "";
    fprintf(to, "    {\"id\": \"");
    for (size_t i = 0; i < sizeof module->id; i++)
        fprintf(to, "%02x", module->id[i]);
    fprintf(to, "\", \"source\": ");
    write_string(to, module->source);
    fprintf(to, ", \"format\": \"%s\", \"bytes\": %zu,\n     \"kernels\": [", format[module->format], module->size);
    for (size_t i = 0; i < kw_kernels.count; i++) {
        const struct kw_kernel *kernel = kw_kernels.item[i];
        if (kernel->module != module->number)
            continue;
        fputs(between, to);
        write_kernel(to, kernel);
        between = ",\n                 ";
    }
    between = "";
    fprintf(to, "],\n     \"variables\": [");
    for (size_t i = 0; i < kw_variables.count; i++) {
        const struct kw_variable *variable = kw_variables.item[i];
        if (variable->module != module->number)
            continue;
        fputs(between, to);
        write_variable(to, variable);
        between = ",\n                   ";
    }
    fprintf(to, "]}");
}

static void write_counters(FILE *to)
{
    struct kw_handle keep = {0};
    void *text = NULL;
    size_t size;
    if (kw_is_connected() && !kw_failure() &&
        !kw_request_tail(KW_COUNTERS, &keep, sizeof keep, NULL, 0, &text, &size) && size)
        fprintf(to, ",\n  \"counters\": %s", (char *)text);
    free(text);
}

static void write_all(FILE *to)
{
    char program[4096] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        *program = 0;
    fprintf(to, "{\n  \"program\": ");
    write_string(to, program);
    fprintf(to, ",\n  \"device\": ");
    write_string(to, kw_is_connected() ? kw_device_name() : "none");
    fprintf(to, ",\n  \"modules\": [");
    for (size_t i = 0; i < kw_modules.count; i++) {
        fputs(i ? ",\n" : "\n", to);
        write_module(to, kw_modules.item[i]);
    }
    fprintf(to, "\n  ]");
    write_counters(to);
    fprintf(to, "\n}\n");
}

void kw_write_report(void)
{
    const char *path = getenv("KERNELWRIGHT_REPORT");
    if (!path || !*path || getpid() != owner)
        return;
    if (!strcmp(path, "1")) {
        write_all(stderr);
        return;
    }
    FILE *to = fopen(path, "w");
    if (!to) {
        kw_say("cannot write the report to %s: %s", path, strerror(errno));
        return;
    }
    write_all(to);
    if (ferror(to) | fclose(to))
        kw_say("cannot write the report to %s: %s", path, strerror(errno));
}
