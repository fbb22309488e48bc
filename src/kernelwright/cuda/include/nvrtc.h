/* NVRTC: CUDA C++ compiled while a program runs. The device's worker does it with our compiler; what comes out is loaded by
   cuModuleLoadData and its like. */
#pragma once
#define __NVRTC_H__
#include <stdlib.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    NVRTC_ERROR_INTERNAL_ERROR = 11,
    NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12
} nvrtcResult;

typedef struct _nvrtcProgram *nvrtcProgram;

const char *nvrtcGetErrorString(nvrtcResult result);
nvrtcResult nvrtcVersion(int *major, int *minor);
nvrtcResult nvrtcGetNumSupportedArchs(int *count);
nvrtcResult nvrtcGetSupportedArchs(int *architectures);
nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int headerCount,
                               const char *const *headers, const char *const *includeNames);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program);
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int optionCount, const char *const *options);
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log);
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression);
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name);

#if defined(__cplusplus)
}

#include <string>
#include <typeinfo>

#if __has_include(<cxxabi.h>) && defined(__GXX_RTTI)
#include <cxxabi.h>

/* How a type is written in an expression that names a kernel: nvrtcGetTypeName<float>(&text) is "float". */
template <typename T> struct kw_nvrtc_type {};

template <typename T> inline nvrtcResult nvrtcGetTypeName(std::string *result)
{
    /* The type is a template's argument, for typeid leaves out qualifiers and references. */
    int status = 0;
    char *readable = abi::__cxa_demangle(typeid(kw_nvrtc_type<T>).name(), nullptr, nullptr, &status);
    if (!readable)
        return status == -1 ? NVRTC_ERROR_OUT_OF_MEMORY : NVRTC_ERROR_INTERNAL_ERROR;
    std::string text(readable);
    std::free(readable);
    std::size_t begin = text.find('<') + 1;
    *result = text.substr(begin, text.rfind('>') - begin);
    while (!result->empty() && result->back() == ' ')
        result->pop_back();
    return NVRTC_SUCCESS;
}
#endif
#endif
