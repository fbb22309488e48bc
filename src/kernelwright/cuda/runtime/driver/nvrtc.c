/* NVRTC: a program is kept here as its texts, compiled by the worker, and its results are kept for the caller. */
#include "../client.h"

#include <stdlib.h>
#include <string.h>

#include "nvrtc.h"

/* Texts one behind the other, each with its NUL. */
struct texts {
    char *bytes;
    size_t size, room;
    uint32_t count;
};

struct _nvrtcProgram {
    struct texts head; /* the name and the source */
    struct texts headers;
    struct texts expressions;
    struct kw_compiled compiled;
    int is_compiled; /* there has been an attempt, and there is a log */
    char *made;      /* owned: log, PTX, names, image */
};

static int put(struct texts *to, const char *text)
{
    size_t size = strlen(text) + 1;
    if (to->size + size > to->room) {
        size_t room = 2 * to->room + size;
        char *larger = realloc(to->bytes, room);
        if (!larger)
            return 0;
        to->bytes = larger;
        to->room = room;
    }
    memcpy(to->bytes + to->size, text, size);
    to->size += size;
    to->count++;
    return 1;
}

static int put_all(struct texts *to, const struct texts *from)
{
    int all = 1;
    const char *text = from->bytes;
    for (uint32_t i = 0; i < from->count && all; i++, text += strlen(text) + 1)
        all = put(to, text);
    return all;
}

KW_API const char *nvrtcGetErrorString(nvrtcResult result)
{
    static const char *const names[] = {
        "NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR", "NVRTC_ERROR_TIME_FILE_WRITE_FAILED"};
    return (unsigned)result < sizeof names / sizeof *names ? names[result] : "NVRTC_ERROR unknown";
}

KW_API nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return NVRTC_ERROR_INVALID_INPUT;
    *major = CUDART_VERSION / 1000;
    *minor = CUDART_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

static const int architectures[] = {75, 80, 86, 87, 89, 90, 100, 103, 120, 121};

KW_API nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    if (!count)
        return NVRTC_ERROR_INVALID_INPUT;
    *count = sizeof architectures / sizeof *architectures;
    return NVRTC_SUCCESS;
}

KW_API nvrtcResult nvrtcGetSupportedArchs(int *to)
{
    if (!to)
        return NVRTC_ERROR_INVALID_INPUT;
    memcpy(to, architectures, sizeof architectures);
    return NVRTC_SUCCESS;
}

static void destroy(nvrtcProgram program)
{
    free(program->head.bytes);
    free(program->headers.bytes);
    free(program->expressions.bytes);
    free(program->made);
    free(program);
}

KW_API nvrtcResult nvrtcCreateProgram(nvrtcProgram *result, const char *source, const char *name, int count,
                                      const char *const *headers, const char *const *names)
{
    if (!result || !source || count < 0 || (count && (!headers || !names)))
        return NVRTC_ERROR_INVALID_INPUT;
    nvrtcProgram made = calloc(1, sizeof *made);
    int all = made && put(&made->head, name && *name ? name : "default_program") && put(&made->head, source);
    for (int i = 0; i < count && all; i++)
        all = put(&made->headers, names[i]) && put(&made->headers, headers[i]);
    if (!all) {
        if (made)
            destroy(made);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    *result = made;
    return NVRTC_SUCCESS;
}

KW_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    if (!program || !*program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    destroy(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

static nvrtcResult compile(nvrtcProgram program, int count, const char *const *options)
{
    struct texts sent = {0};
    struct kw_compile body = {
        .headers = program->headers.count / 2,
        .options = (uint32_t)count,
        .expressions = program->expressions.count,
    };
    int all = put_all(&sent, &program->head) && put_all(&sent, &program->headers);
    for (int i = 0; i < count && all; i++)
        all = put(&sent, options[i]);
    all = all && put_all(&sent, &program->expressions);
    void *made = NULL;
    size_t size;
    int result = cudaErrorMemoryAllocation;
    if (all)
        result = kw_request_exchange(KW_COMPILE, &body, sizeof body, sent.bytes, sent.size, &program->compiled,
                                     sizeof program->compiled, &made, &size);
    free(sent.bytes);
    if (result)
        return result == cudaErrorMemoryAllocation ? NVRTC_ERROR_OUT_OF_MEMORY : NVRTC_ERROR_INTERNAL_ERROR;
    free(program->made);
    program->made = made;
    program->is_compiled = 1;
    return (nvrtcResult)program->compiled.result;
}

KW_API nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (count < 0 || (count && !options))
        return NVRTC_ERROR_INVALID_INPUT;
    /* A failure of the device does not matter: the compiler is there as long as the worker is. */
    kw_connect();
    if (!kw_is_connected()) {
        kw_say("NVRTC needs a device's worker, which has the compiler: run the program with kw run, or with "
               "KERNELWRIGHT_DEVICE=auto");
        return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    }
    return compile(program, count, options);
}

/* ---- results ---- */

static int is_made(nvrtcProgram program)
{
    return program && program->is_compiled && !program->compiled.result;
}

static nvrtcResult give(nvrtcProgram program, char *to, size_t offset, size_t size)
{
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!to || !is_made(program))
        return NVRTC_ERROR_INVALID_INPUT;
    memcpy(to, program->made + offset, size);
    return NVRTC_SUCCESS;
}

static nvrtcResult give_size(nvrtcProgram program, size_t *to, size_t size)
{
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!to || !is_made(program))
        return NVRTC_ERROR_INVALID_INPUT;
    *to = size;
    return NVRTC_SUCCESS;
}

KW_API nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *size)
{
    return give_size(program, size, program ? program->compiled.ptx_size : 0);
}

KW_API nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx)
{
    return give(program, ptx, program ? program->compiled.log_size : 0, program ? program->compiled.ptx_size : 0);
}

KW_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
    return give_size(program, size, program ? program->compiled.image_size : 0);
}

KW_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
    const struct kw_compiled *made = program ? &program->compiled : NULL;
    return give(program, cubin, made ? made->log_size + made->ptx_size + made->names_size : 0, made ? made->image_size : 0);
}

KW_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size)
{
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!size)
        return NVRTC_ERROR_INVALID_INPUT;
    *size = program->is_compiled ? program->compiled.log_size : 1;
    return NVRTC_SUCCESS;
}

KW_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!log)
        return NVRTC_ERROR_INVALID_INPUT;
    if (program->is_compiled)
        memcpy(log, program->made, program->compiled.log_size);
    else
        *log = 0;
    return NVRTC_SUCCESS;
}

/* ---- names ---- */

KW_API nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression)
{
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression)
        return NVRTC_ERROR_INVALID_INPUT;
    if (program->is_compiled)
        return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    return put(&program->expressions, expression) ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

KW_API nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name)
{
    if (!program)
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression || !name)
        return NVRTC_ERROR_INVALID_INPUT;
    if (!is_made(program))
        return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    const char *asked = program->expressions.bytes;
    const char *found = program->made + program->compiled.log_size + program->compiled.ptx_size;
    for (uint32_t i = 0; i < program->expressions.count; i++) {
        if (!strcmp(asked, expression) && *found) {
            *name = found;
            return NVRTC_SUCCESS;
        }
        asked += strlen(asked) + 1;
        found += strlen(found) + 1;
    }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
