/* NVTX: marks and ranges for a profiler that is not there. Functions do nothing, and return what NVTX returns without a tool. */
#pragma once
#define NVTOOLSEXT_H_
#pragma GCC system_header
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_NO_PUSH_POP_TRACKING (-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3,
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6,
} nvtxPayloadType_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const void *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define KW_NVTX(type, name, parameters, result) \
    static inline __attribute__((unused)) type name parameters { return result; }
#define KW_NVTX_VOID(name, parameters) \
    static inline __attribute__((unused)) void name parameters {}

KW_NVTX(int, nvtxRangePushA, (const char *m), ((void)m, NVTX_NO_PUSH_POP_TRACKING))
KW_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t *a), ((void)a, NVTX_NO_PUSH_POP_TRACKING))
KW_NVTX(int, nvtxRangePop, (void), NVTX_NO_PUSH_POP_TRACKING)
KW_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char *m), ((void)m, (nvtxRangeId_t)0))
KW_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *a), ((void)a, (nvtxRangeId_t)0))
KW_NVTX_VOID(nvtxRangeEnd, (nvtxRangeId_t id __attribute__((unused))))
KW_NVTX_VOID(nvtxMarkA, (const char *m __attribute__((unused))))
KW_NVTX_VOID(nvtxMarkEx, (const nvtxEventAttributes_t *a __attribute__((unused))))
KW_NVTX_VOID(nvtxInitialize, (const void *r __attribute__((unused))))
KW_NVTX_VOID(nvtxNameCategoryA, (uint32_t c __attribute__((unused)), const char *m __attribute__((unused))))
KW_NVTX_VOID(nvtxNameOsThreadA, (uint32_t t __attribute__((unused)), const char *m __attribute__((unused))))
KW_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *m), ((void)m, (nvtxDomainHandle_t)0))
KW_NVTX_VOID(nvtxDomainDestroy, (nvtxDomainHandle_t d __attribute__((unused))))
KW_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t d, const char *m),
        ((void)d, (void)m, (nvtxStringHandle_t)0))
KW_NVTX(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a),
        ((void)d, (void)a, NVTX_NO_PUSH_POP_TRACKING))
KW_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t d), ((void)d, NVTX_NO_PUSH_POP_TRACKING))
KW_NVTX_VOID(nvtxDomainMarkEx, (nvtxDomainHandle_t d __attribute__((unused)),
                                const nvtxEventAttributes_t *a __attribute__((unused))))
#undef KW_NVTX
#undef KW_NVTX_VOID

#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
