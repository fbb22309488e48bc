#include "library.h"
#include "../graph.h"

#include <stdlib.h>
#include <string.h>

int kw_library_is_served(const char *title)
{
    const struct kw_device_properties *device = kw_properties();
    if (device && device->virtual_device)
        return 1;
    if (device)
        kw_say("%s is computed on a virtual GPU alone: run this with --device h200", title);
    return 0;
}

struct kw_argument kw_number(const void *pointer, size_t size, int on_device)
{
    struct kw_argument made = KW_ADDRESS(pointer);
    made.size = (uint32_t)size;
    made.kind = on_device ? KW_ARGUMENT_DEVICE : KW_ARGUMENT_VALUE;
    if (!on_device) {
        made.word = 0;
        memcpy(made.value, pointer, size);
    }
    return made;
}

/* `word` keeps where the host wants it; the worker does not look at it. */
struct kw_argument kw_answer(void *pointer, size_t size, int on_device)
{
    struct kw_argument made = kw_number(pointer, size, on_device);
    if (!on_device) {
        made.kind = KW_ARGUMENT_ANSWER;
        made.word = (uint64_t)pointer;
    }
    return made;
}

static int send_call(const struct kw_library_call *call, const char *tail, size_t size,
                     const struct kw_argument *argument)
{
    struct kw_library_answer answer;
    int waits = 0;
    for (uint32_t i = 0; i < call->count; i++)
        waits |= argument[i].kind == KW_ARGUMENT_ANSWER;
    if (!waits)
        return kw_command(KW_LIBRARY_CALL, call, sizeof *call, tail, size);
    int result = kw_request_with(KW_LIBRARY_QUESTION, call, sizeof *call, tail, size, &answer, sizeof answer);
    if (result)
        return result;
    const uint8_t *told = answer.value;
    for (uint32_t i = 0; i < call->count; i++)
        if (argument[i].kind == KW_ARGUMENT_ANSWER) {
            memcpy((void *)argument[i].word, told, argument[i].size);
            told += sizeof answer.value / KW_ANSWERS;
        }
    return 0;
}

int kw_library(const char *name, cudaStream_t stream, const struct kw_argument *argument, uint32_t count)
{
    uint64_t number;
    int result = kw_connect();
    if (!result)
        result = kw_stream_number(stream, &number);
    if (result)
        return result;
    if (kw_is_capturing()) {
        int waits = 0;
        for (uint32_t i = 0; i < count; i++)
            waits |= argument[i].kind == KW_ARGUMENT_ANSWER;
        if (waits && (result = kw_not_while_captured(number)))
            return result; /* a number for the host is not there before the graph runs */
        struct kw_work work = {.type = cudaGraphNodeTypeKernel, .is_library = 1};
        work.library.name = strdup(name);
        work.library.argument = malloc(count * sizeof *argument);
        work.library.count = count;
        work.library.send = kw_library;
        if (!work.library.name || !work.library.argument)
            return cudaErrorMemoryAllocation;
        memcpy(work.library.argument, argument, count * sizeof *argument);
        if (kw_captured(number, work, &result))
            return result;
        kw_free_work(&work);
    }
    struct kw_library_call call = {.stream = number, .name_size = (uint32_t)strlen(name) + 1, .count = count};
    size_t size = call.name_size + count * sizeof *argument;
    char *tail = malloc(size);
    if (!tail)
        return cudaErrorMemoryAllocation;
    memcpy(tail, name, call.name_size);
    memcpy(tail + call.name_size, argument, count * sizeof *argument);
    result = send_call(&call, tail, size, argument);
    free(tail);
    return result;
}
