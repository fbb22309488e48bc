/* Graphs: what a node does, and how nodes follow each other. */
#ifndef KERNELWRIGHT_GRAPH_H
#define KERNELWRIGHT_GRAPH_H

#include "client.h"

/* What is done when the graph is launched, with the launch's stream in the place of its own. */
struct kw_work {
    enum cudaGraphNodeType type;
    int is_library; /* of type Kernel: a routine of a library */
    union {
        struct {
            const void *host;
            dim3 grid, block;
            size_t shared_bytes;
            void *packed; /* owned: the arguments at their offsets */
            size_t size;
            int cooperative;
        } kernel;
        struct {
            struct kw_box box;
            enum cudaMemcpyKind kind;
        } copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        cudaGraph_t child; /* owned: a clone */
        struct {
            char *name;                   /* owned, with what follows */
            struct kw_argument *argument; /* owned */
            uint32_t count;
            int (*send)(const char *name, cudaStream_t stream, const struct kw_argument *argument, uint32_t count);
        } library;
    };
};

struct CUgraphNode_st {
    cudaGraph_t graph;
    struct kw_work work;
    cudaGraphNode_t *before; /* owned */
    size_t count;            /* of those that come before it */
    size_t index;            /* in its graph */
    cudaGraphNode_t original; /* in the graph that this one's was cloned from */
    void **pointers;          /* owned: what cudaGraphKernelNodeGetParams hands out */
};

struct CUgraph_st {
    cudaGraphNode_t *node; /* in the order of their making */
    size_t count, room;
};

/* Adds a node that owns `work`, also when it fails, NULL for want of memory. */
cudaGraphNode_t kw_graph_add(cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, struct kw_work work);

void kw_free_work(struct kw_work *work);

/* Whether `node` comes before `later`, or is it. */
int kw_comes_before(cudaGraphNode_t node, cudaGraphNode_t later);

/* Rows of a pattern of 1, 2 or 4 bytes. Returns 0 or an error. */
int kw_fill_pattern(const struct cudaMemsetParams *p, cudaStream_t stream);

/* ---- capture.c ---- */

/* While the stream is captured, puts the work into its graph, which then owns it. Returns 1 when it did, or when that
   failed; `*result` is then what the call returns. 0: the stream is not captured, and the call goes on. */
int kw_captured(uint64_t stream, struct kw_work work, int *result);

/* Whether any stream is captured: a cheap question before the work is made. */
int kw_is_capturing(void);

/* Nonzero, the error to return, for a call that must not be made while the stream is captured; the capture is over then. */
int kw_not_while_captured(uint64_t stream);
int kw_capture_event(uint64_t stream, cudaEvent_t event, int *result);
int kw_capture_wait(uint64_t stream, int is_elsewhere, cudaEvent_t event, int *result); /* elsewhere: the event is of another device */

/* ---- launch.c, copy.c ---- */

int kw_make_kernel_work(const void *host, dim3 grid, dim3 block, void *const *arguments, size_t shared_bytes,
                        struct kw_work *work);
int kw_launch_work(const struct kw_work *work, cudaStream_t stream);
int kw_box_of_3d(const struct cudaMemcpy3DParms *copy, struct kw_box *box);
int kw_fill(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream, int wait);

#endif
