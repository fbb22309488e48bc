/* Streams, events, and functions of the host that run in stream order. */
#include "graph.h"

#include <stdlib.h>

struct CUstream_st {
    uint64_t number;
    unsigned int flags;
    int priority;
    int device;
    struct CUstream_st *next;
    struct cudaAccessPolicyWindow window;
    enum cudaSynchronizationPolicy policy;
};

struct CUevent_st {
    uint64_t number;
    unsigned int flags;
    int device;
    int is_recorded;
    struct CUevent_st *next;
};

/* CUDA's range on today's GPUs: smaller is more urgent. */
enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
static struct CUstream_st *streams;
static struct CUevent_st *events;
static uint64_t last_number; /* 0 is the legacy default stream */
static int independent;      /* streams that do not wait for it */

/* The stream behind cudaStreamPerThread, on each device. */
static _Thread_local cudaStream_t own_stream[KW_DEVICES];

static int create_stream(cudaStream_t *stream, unsigned int flags, int priority)
{
    cudaStream_t created = calloc(1, sizeof *created);
    if (!created)
        return cudaErrorMemoryAllocation;
    pthread_mutex_lock(&list);
    *created = (struct CUstream_st){
        .number = ++last_number, .flags = flags, .priority = priority, .device = kw_device, .next = streams};
    struct kw_stream body = {.stream = created->number, .flags = flags & cudaStreamNonBlocking, .priority = priority};
    int result = kw_command(KW_STREAM_CREATE, &body, sizeof body, NULL, 0);
    if (!result) {
        streams = created;
        independent += (flags & cudaStreamNonBlocking) != 0;
        *stream = created;
    }
    pthread_mutex_unlock(&list);
    if (result)
        free(created);
    return result;
}

/* Copies a stream of the list, so that it may be destroyed meanwhile. */
static int copy_stream(cudaStream_t stream, struct CUstream_st *found)
{
    pthread_mutex_lock(&list);
    struct CUstream_st *each = streams;
    while (each && each != stream)
        each = each->next;
    if (each)
        *found = *each;
    pthread_mutex_unlock(&list);
    return each ? 0 : cudaErrorInvalidResourceHandle;
}

static int find_stream(cudaStream_t stream, struct CUstream_st *found)
{
    if (!stream || stream == cudaStreamLegacy) {
        *found = (struct CUstream_st){.device = kw_device};
        return 0;
    }
    if (stream != cudaStreamPerThread)
        return copy_stream(stream, found);
    /* Made when it is first needed, and again when another thread has reset the device. */
    cudaStream_t *own = &own_stream[kw_device];
    if (*own && !copy_stream(*own, found))
        return 0;
    int result = create_stream(own, cudaStreamDefault, LEAST_PRIORITY);
    return result ? result : copy_stream(*own, found);
}

static int find_event(cudaEvent_t event, struct CUevent_st *found)
{
    pthread_mutex_lock(&list);
    struct CUevent_st *each = events;
    while (each && each != event)
        each = each->next;
    if (each)
        *found = *each;
    pthread_mutex_unlock(&list);
    return each ? 0 : cudaErrorInvalidResourceHandle;
}

int kw_stream_number(cudaStream_t stream, uint64_t *number)
{
    struct CUstream_st found;
    int result = find_stream(stream, &found);
    if (!result && found.device != kw_device)
        result = cudaErrorInvalidResourceHandle;
    if (!result)
        *number = found.number;
    return result;
}

int kw_stream_anywhere(cudaStream_t stream, uint64_t *number, int *device)
{
    struct CUstream_st found;
    int result = find_stream(stream, &found);
    if (!result) {
        *number = found.number;
        *device = found.device;
    }
    return result;
}

/* A request about something that lives on a device other than this thread's, perhaps. */
static int ask_device(int device, uint16_t type, uint64_t handle)
{
    struct kw_handle body = {.handle = handle};
    int current = kw_device;
    kw_device = device;
    int result = kw_request(type, &body, sizeof body, NULL, 0);
    kw_device = current;
    return result;
}

int kw_stream_wait(cudaStream_t stream)
{
    struct CUstream_st found;
    int result = find_stream(stream, &found);
    if (!result)
        result = kw_not_while_captured(found.number);
    if (result)
        return result;
    /* Where every stream waits for stream 0, waiting for it is waiting for the device; and then we know it is idle. */
    if (!found.number && !independent)
        return kw_request(KW_DEVICE_SYNCHRONIZE, NULL, 0, NULL, 0);
    return ask_device(found.device, KW_STREAM_SYNCHRONIZE, found.number);
}

void kw_drop_all_streams(void)
{
    pthread_mutex_lock(&list);
    for (struct CUstream_st **link = &streams; *link;) {
        struct CUstream_st *each = *link;
        if (each->device != kw_device) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        independent -= (each->flags & cudaStreamNonBlocking) != 0;
        free(each);
    }
    for (struct CUevent_st **link = &events; *link;) {
        struct CUevent_st *each = *link;
        if (each->device != kw_device) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        free(each);
    }
    own_stream[kw_device] = NULL;
    pthread_mutex_unlock(&list);
}

/* ---- streams ---- */

KW_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    KW_ENTER();
    if (!stream || flags & ~(unsigned)cudaStreamNonBlocking)
        return kw_done(cudaErrorInvalidValue);
    if (priority > LEAST_PRIORITY)
        priority = LEAST_PRIORITY;
    if (priority < GREATEST_PRIORITY)
        priority = GREATEST_PRIORITY;
    return kw_done(create_stream(stream, flags, priority));
}

KW_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return cudaStreamCreateWithPriority(stream, flags, LEAST_PRIORITY);
}

KW_API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, LEAST_PRIORITY);
}

KW_API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    KW_ENTER();
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return kw_done(cudaErrorInvalidResourceHandle);
    struct CUstream_st *dropped = NULL;
    pthread_mutex_lock(&list);
    for (struct CUstream_st **link = &streams; *link && !dropped; link = &(*link)->next)
        if (*link == stream) {
            dropped = stream;
            *link = stream->next;
            independent -= (stream->flags & cudaStreamNonBlocking) != 0;
            break;
        }
    pthread_mutex_unlock(&list);
    if (!dropped)
        return kw_done(cudaErrorInvalidResourceHandle);
    struct kw_handle body = {.handle = dropped->number};
    int device = dropped->device;
    free(dropped);
    return kw_done(kw_command_to(device, KW_STREAM_DESTROY, &body, sizeof body));
}

KW_API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(kw_stream_wait(stream));
}

KW_API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    KW_ENTER();
    struct CUstream_st found;
    int result = find_stream(stream, &found);
    if (!result)
        result = kw_not_while_captured(found.number);
    return kw_done(result ? result : ask_device(found.device, KW_STREAM_QUERY, found.number));
}

KW_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    KW_ENTER();
    struct CUstream_st waiting;
    struct CUevent_st awaited;
    int result = flags & ~(unsigned)cudaEventWaitExternal ? cudaErrorInvalidValue : find_stream(stream, &waiting);
    if (!result)
        result = find_event(event, &awaited);
    if (!result && kw_capture_wait(waiting.number, waiting.device != awaited.device, event, &result))
        return kw_done(result);
    if (result || !awaited.is_recorded)
        return kw_done(result);
    struct kw_event body = {.event = awaited.number, .stream = waiting.number};
    return kw_done(kw_command_to(waiting.device, KW_STREAM_WAIT, &body, sizeof body));
}

KW_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    KW_ENTER();
    struct CUstream_st found;
    int result = flags ? find_stream(stream, &found) : cudaErrorInvalidValue;
    if (!result)
        *flags = found.flags;
    return kw_done(result);
}

KW_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    KW_ENTER();
    struct CUstream_st found;
    int result = priority ? find_stream(stream, &found) : cudaErrorInvalidValue;
    if (!result)
        *priority = found.priority;
    return kw_done(result);
}

/* Attributes are hints to the hardware and change nothing here: what was set is returned when asked for. */
static struct CUstream_st default_attributes = {.policy = cudaSyncPolicyAuto};

/* The stream whose attributes these are, with the list locked; NULL where there is no such stream. */
static struct CUstream_st *attributes_of(cudaStream_t stream)
{
    if (stream == cudaStreamPerThread)
        stream = own_stream[kw_device];
    if (stream == 0 || stream == cudaStreamLegacy)
        return &default_attributes;
    struct CUstream_st *each = streams;
    while (each && each != stream)
        each = each->next;
    return each;
}

KW_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue *value)
{
    KW_ENTER();
    pthread_mutex_lock(&list);
    struct CUstream_st *of = attributes_of(stream);
    int result = !value ? cudaErrorInvalidValue : of ? cudaSuccess : cudaErrorInvalidResourceHandle;
    if (result)
        ;
    else if (attribute == cudaStreamAttributeAccessPolicyWindow && value->accessPolicyWindow.hitRatio >= 0 &&
             value->accessPolicyWindow.hitRatio <= 1)
        of->window = value->accessPolicyWindow;
    else if (attribute == cudaStreamAttributeSynchronizationPolicy)
        of->policy = value->syncPolicy;
    else if (attribute == cudaStreamAttributePriority)
        of->priority = value->priority;
    else
        result = cudaErrorInvalidValue;
    pthread_mutex_unlock(&list);
    return kw_done(result);
}

KW_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue *value)
{
    KW_ENTER();
    pthread_mutex_lock(&list);
    struct CUstream_st *of = attributes_of(stream);
    int result = !value ? cudaErrorInvalidValue : of ? cudaSuccess : cudaErrorInvalidResourceHandle;
    if (result)
        ;
    else if (attribute == cudaStreamAttributeAccessPolicyWindow)
        value->accessPolicyWindow = of->window;
    else if (attribute == cudaStreamAttributeSynchronizationPolicy)
        value->syncPolicy = of->policy ? of->policy : cudaSyncPolicyAuto;
    else if (attribute == cudaStreamAttributePriority)
        value->priority = of->priority;
    else
        result = cudaErrorInvalidValue;
    pthread_mutex_unlock(&list);
    return kw_done(result);
}

KW_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    KW_ENTER();
    pthread_mutex_lock(&list);
    struct CUstream_st *target = attributes_of(to), *source = attributes_of(from);
    if (target && source)
        target->window = source->window, target->policy = source->policy, target->priority = source->priority;
    pthread_mutex_unlock(&list);
    return kw_done(target && source ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

KW_API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    KW_ENTER();
    return kw_done(cudaSuccess);
}

KW_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    KW_ENTER();
    if (least)
        *least = LEAST_PRIORITY;
    if (greatest)
        *greatest = GREATEST_PRIORITY;
    return kw_done(cudaSuccess);
}

/* The function runs in the calling thread once the stream has come to it: in stream order, though not at a time when
   the host does something else. */
KW_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    KW_ENTER();
    uint64_t number;
    struct kw_work work = {.type = cudaGraphNodeTypeHost, .host = {function, data}};
    int result = function ? kw_stream_number(stream, &number) : cudaErrorInvalidValue;
    if (!result && kw_captured(number, work, &result))
        return kw_done(result);
    if (!result)
        result = kw_stream_wait(stream);
    if (!result)
        function(data);
    return kw_done(result);
}

KW_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                                         unsigned int flags)
{
    KW_ENTER();
    if (!function || flags)
        return kw_done(cudaErrorInvalidValue);
    int result = kw_stream_wait(stream);
    /* Unlike the newer form, this one is called after a failure as well, and told of it. */
    if (result != cudaErrorInvalidResourceHandle)
        function(stream, (cudaError_t)result, data);
    return kw_done(result);
}

KW_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes, unsigned int flags)
{
    KW_ENTER();
    struct kw_block found;
    uint64_t number;
    const void *known = (const void *)kw_managed_address((uint64_t)pointer);
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
        return kw_done(cudaErrorInvalidValue);
    if (!kw_find_block(known, &found) || found.kind != KW_MEMORY_MANAGED || (bytes && bytes != found.size))
        return kw_done(cudaErrorInvalidValue);
    /* All streams see managed memory here, which allows what any attachment allows. */
    return kw_done(kw_stream_number(stream, &number));
}

/* ---- events ---- */

KW_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    KW_ENTER();
    if (!event || flags & ~(unsigned)(cudaEventBlockingSync | cudaEventDisableTiming))
        return kw_done(event && flags & cudaEventInterprocess ? cudaErrorNotSupported : cudaErrorInvalidValue);
    cudaEvent_t created = calloc(1, sizeof *created);
    if (!created)
        return kw_done(cudaErrorMemoryAllocation);
    pthread_mutex_lock(&list);
    *created = (struct CUevent_st){++last_number, flags, kw_device, 0, events};
    struct kw_event body = {.event = created->number, .flags = flags};
    int result = kw_command(KW_EVENT_CREATE, &body, sizeof body, NULL, 0);
    if (!result) {
        events = created;
        *event = created;
    }
    pthread_mutex_unlock(&list);
    if (result)
        free(created);
    return kw_done(result);
}

KW_API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

KW_API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    KW_ENTER();
    uint64_t number = 0;
    pthread_mutex_lock(&list);
    for (struct CUevent_st **link = &events; *link; link = &(*link)->next)
        if (*link == event) {
            number = event->number;
            *link = event->next;
            free(event);
            break;
        }
    pthread_mutex_unlock(&list);
    if (!number)
        return kw_done(cudaErrorInvalidResourceHandle);
    struct kw_handle body = {.handle = number};
    return kw_done(kw_command(KW_EVENT_DESTROY, &body, sizeof body, NULL, 0));
}

KW_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    KW_ENTER();
    struct CUstream_st in;
    struct CUevent_st found;
    int result = flags & ~(unsigned)cudaEventRecordExternal ? cudaErrorInvalidValue : find_stream(stream, &in);
    if (!result)
        result = find_event(event, &found);
    if (!result && found.device != in.device)
        result = cudaErrorInvalidResourceHandle;
    if (result || kw_capture_event(in.number, event, &result))
        return kw_done(result);
    struct kw_event body = {.event = found.number, .stream = in.number, .flags = found.flags};
    result = kw_command_to(in.device, KW_EVENT_RECORD, &body, sizeof body);
    if (!result)
        event->is_recorded = 1;
    return kw_done(result);
}

KW_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

/* An event that was never recorded counts as done. */
static cudaError_t ask_event(cudaEvent_t event, uint16_t type)
{
    KW_ENTER();
    struct CUevent_st found;
    int result = find_event(event, &found);
    if (!result && found.is_recorded)
        result = ask_device(found.device, type, found.number);
    return kw_done(result);
}

KW_API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return ask_event(event, KW_EVENT_SYNCHRONIZE);
}

KW_API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return ask_event(event, KW_EVENT_QUERY);
}

KW_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    KW_ENTER();
    struct CUevent_st first, last;
    struct kw_milliseconds elapsed;
    int result = milliseconds ? find_event(start, &first) : cudaErrorInvalidValue;
    if (!result)
        result = find_event(end, &last);
    if (!result && ((first.flags | last.flags) & cudaEventDisableTiming || !first.is_recorded || !last.is_recorded ||
                    first.device != last.device))
        result = cudaErrorInvalidResourceHandle;
    if (result)
        return kw_done(result);
    struct kw_elapsed body = {.start = first.number, .end = last.number};
    result = kw_request(KW_EVENT_ELAPSED, &body, sizeof body, &elapsed, sizeof elapsed);
    if (!result)
        *milliseconds = (float)elapsed.milliseconds;
    return kw_done(result);
}
