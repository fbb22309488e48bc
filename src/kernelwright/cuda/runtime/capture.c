/* Capturing streams: what would be sent becomes nodes of a graph.
 *
 *     a captured stream has a graph and its last nodes ("tips"); what comes next follows all of them, and becomes the only tip
 *     an event recorded in it keeps the tips; a stream that waits for the event joins the capture, after them
 *     the capture ends in the stream where it began, when the tips of the others come before its own
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct tips {
    cudaGraphNode_t *node;
    size_t count;
};

struct captured {
    uint64_t stream;
    cudaGraph_t graph; /* of all streams of one capture */
    int began_here;
    int is_blocking; /* the legacy stream waits for it */
    int error; /* what has ended it */
    struct tips tips;
    struct captured *next;
};

struct event {
    cudaEvent_t event;
    cudaGraph_t graph;
    struct tips tips;
    struct event *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct captured *streams;
static struct event *events;
static int is_capturing; /* some stream is: read without the lock */

static struct captured *find(uint64_t stream)
{
    struct captured *each = streams;
    while (each && each->stream != stream)
        each = each->next;
    return each;
}

static int has(const struct tips *tips, cudaGraphNode_t node)
{
    for (size_t i = 0; i < tips->count; i++)
        if (tips->node[i] == node)
            return 1;
    return 0;
}

static int join(struct tips *tips, const struct tips *more)
{
    cudaGraphNode_t *grown = realloc(tips->node, (tips->count + more->count + 1) * sizeof *grown);
    if (!grown)
        return cudaErrorMemoryAllocation;
    tips->node = grown;
    for (size_t i = 0; i < more->count; i++)
        if (!has(tips, more->node[i]))
            tips->node[tips->count++] = more->node[i];
    return 0;
}

static int add_node(struct captured *in, struct kw_work work)
{
    cudaGraphNode_t node = kw_graph_add(in->graph, in->tips.node, in->tips.count, work);
    struct tips one = {&node, 1};
    if (!node)
        return cudaErrorMemoryAllocation;
    in->tips.count = 0;
    return join(&in->tips, &one);
}

/* The legacy stream waits for every blocking one, which a graph cannot express. */
static int legacy_error(uint64_t stream)
{
    if (stream)
        return 0;
    for (struct captured *each = streams; each; each = each->next)
        if (each->is_blocking) {
            each->error = cudaErrorStreamCaptureInvalidated;
            return cudaErrorStreamCaptureImplicit;
        }
    return 0;
}

int kw_is_capturing(void)
{
    return __atomic_load_n(&is_capturing, __ATOMIC_RELAXED);
}

int kw_captured(uint64_t stream, struct kw_work work, int *result)
{
    if (!__atomic_load_n(&is_capturing, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_lock(&lock);
    struct captured *in = find(stream);
    *result = in ? in->error ? in->error : add_node(in, work) : legacy_error(stream);
    pthread_mutex_unlock(&lock);
    return in || *result;
}

int kw_not_while_captured(uint64_t stream)
{
    if (!__atomic_load_n(&is_capturing, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_lock(&lock);
    struct captured *in = find(stream);
    int result = in ? cudaErrorStreamCaptureUnsupported : legacy_error(stream);
    if (in)
        in->error = cudaErrorStreamCaptureInvalidated;
    pthread_mutex_unlock(&lock);
    return result;
}

static struct event *find_event(cudaEvent_t event)
{
    struct event *each = events;
    while (each && each->event != event)
        each = each->next;
    return each;
}

int kw_capture_event(uint64_t stream, cudaEvent_t event, int *result)
{
    if (!__atomic_load_n(&is_capturing, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_lock(&lock);
    struct captured *in = find(stream);
    struct event *kept = find_event(event);
    *result = in ? in->error : legacy_error(stream);
    if (in && !kept) {
        kept = calloc(1, sizeof *kept);
        if (kept) {
            *kept = (struct event){.event = event, .next = events};
            events = kept;
        }
    }
    if (in && kept) {
        kept->graph = in->graph;
        kept->tips.count = 0;
        *result = *result ? *result : join(&kept->tips, &in->tips);
    } else if (kept) {
        kept->graph = NULL; /* recorded outside of a capture since */
    } else if (in) {
        *result = cudaErrorMemoryAllocation;
    }
    pthread_mutex_unlock(&lock);
    return in || *result;
}

int kw_capture_wait(uint64_t stream, int is_elsewhere, cudaEvent_t event, int *result)
{
    if (!__atomic_load_n(&is_capturing, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_lock(&lock);
    struct captured *in = find(stream);
    struct event *kept = find_event(event);
    int taken = in || (kept && kept->graph);
    *result = 0;
    if (in && !(kept && kept->graph)) {
        *result = in->error = cudaErrorStreamCaptureIsolation;
    } else if (in && kept->graph != in->graph) {
        *result = in->error = cudaErrorStreamCaptureMerge;
    } else if (taken && is_elsewhere) {
        *result = cudaErrorStreamCaptureUnsupported;
    } else if (taken && !in) {
        in = stream ? calloc(1, sizeof *in) : NULL;
        if (in) {
            *in = (struct captured){.stream = stream, .graph = kept->graph, .next = streams};
            streams = in;
        } else {
            *result = stream ? cudaErrorMemoryAllocation : cudaErrorStreamCaptureImplicit;
        }
    }
    if (taken && !*result)
        *result = join(&in->tips, &kept->tips);
    pthread_mutex_unlock(&lock);
    return taken;
}

/* ---- beginning and ending ---- */

KW_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    KW_ENTER();
    uint64_t number;
    unsigned int flags = 0;
    int result = (unsigned)mode > cudaStreamCaptureModeRelaxed ? cudaErrorInvalidValue : kw_stream_number(stream, &number);
    if (!result && !number)
        result = cudaErrorStreamCaptureUnsupported; /* the legacy stream cannot be captured */
    if (result)
        return kw_done(result);
    if (stream != cudaStreamPerThread)
        cudaStreamGetFlags(stream, &flags);
    struct captured *made = calloc(1, sizeof *made);
    cudaGraph_t graph = calloc(1, sizeof *graph);
    pthread_mutex_lock(&lock);
    if (find(number))
        result = cudaErrorIllegalState;
    else if (!made || !graph)
        result = cudaErrorMemoryAllocation;
    if (!result) {
        *made = (struct captured){.stream = number, .graph = graph, .began_here = 1, .next = streams,
                                  .is_blocking = !(flags & cudaStreamNonBlocking)};
        streams = made;
        __atomic_store_n(&is_capturing, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
    if (result) {
        free(made);
        free(graph);
    }
    return kw_done(result);
}

/* Whether what other streams of the capture have done comes before the tips of the one where it began. */
static int is_joined(const struct captured *origin, const struct captured *other)
{
    for (size_t i = 0; i < other->tips.count; i++) {
        int found = 0;
        for (size_t k = 0; k < origin->tips.count && !found; k++)
            found = kw_comes_before(other->tips.node[i], origin->tips.node[k]);
        if (!found)
            return 0;
    }
    return 1;
}

static int end_capture(struct captured *origin)
{
    cudaGraph_t graph = origin->graph;
    int result = origin->error;
    for (struct captured *each = streams; each; each = each->next)
        if (each->graph == graph && !result)
            result = each->error ? each->error : is_joined(origin, each) ? 0 : cudaErrorStreamCaptureUnjoined;
    for (struct captured **link = &streams; *link;) {
        struct captured *each = *link;
        if (each->graph != graph) {
            link = &each->next;
            continue;
        }
        *link = each->next;
        free(each->tips.node);
        free(each);
    }
    for (struct event *each = events; each; each = each->next)
        if (each->graph == graph)
            each->graph = NULL;
    if (!streams)
        __atomic_store_n(&is_capturing, 0, __ATOMIC_RELAXED);
    return result;
}

KW_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    KW_ENTER();
    uint64_t number;
    int result = graph ? kw_stream_number(stream, &number) : cudaErrorInvalidValue;
    if (result)
        return kw_done(result);
    *graph = NULL;
    pthread_mutex_lock(&lock);
    struct captured *in = find(number);
    cudaGraph_t made = in ? in->graph : NULL;
    result = !in ? cudaErrorIllegalState : in->began_here ? end_capture(in) : cudaErrorStreamCaptureUnmatched;
    pthread_mutex_unlock(&lock);
    if (!result)
        *graph = made;
    else if (made && result != cudaErrorStreamCaptureUnmatched)
        cudaGraphDestroy(made);
    return kw_done(result);
}

KW_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    KW_ENTER();
    uint64_t number;
    int result = status ? kw_stream_number(stream, &number) : cudaErrorInvalidValue;
    if (result)
        return kw_done(result);
    pthread_mutex_lock(&lock);
    struct captured *in = find(number);
    *status = !in         ? cudaStreamCaptureStatusNone
              : in->error ? cudaStreamCaptureStatusInvalidated
                          : cudaStreamCaptureStatusActive;
    pthread_mutex_unlock(&lock);
    return kw_done(0);
}

/* Which other calls a capture forbids: none here, in any mode. */
KW_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    static _Thread_local enum cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return kw_done(cudaErrorInvalidValue);
    enum cudaStreamCaptureMode before = current;
    current = *mode;
    *mode = before;
    return kw_done(0);
}
