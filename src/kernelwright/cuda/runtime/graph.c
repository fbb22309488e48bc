/* Graphs built node by node, and launching them: each node is sent in an order that its dependencies allow. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct CUgraphExec_st {
    cudaGraph_t graph; /* a clone, whose nodes know their originals */
    cudaGraphNode_t *order;
};

/* ---- nodes ---- */

void kw_free_work(struct kw_work *work)
{
    if (work->is_library) {
        free(work->library.name);
        free(work->library.argument);
    } else if (work->type == cudaGraphNodeTypeKernel) {
        free(work->kernel.packed);
    } else if (work->type == cudaGraphNodeTypeGraph) {
        cudaGraphDestroy(work->child);
    }
}

static void *copied(const void *bytes, size_t size)
{
    void *made = malloc(size + 1);
    if (made)
        memcpy(made, bytes, size);
    return made;
}

/* A copy that owns what it needs. Returns 0 or an error. */
static int copy_work(const struct kw_work *from, struct kw_work *to)
{
    *to = *from;
    if (from->is_library) {
        to->library.name = copied(from->library.name, strlen(from->library.name) + 1);
        to->library.argument = copied(from->library.argument, from->library.count * sizeof *from->library.argument);
        return to->library.name && to->library.argument ? 0 : cudaErrorMemoryAllocation;
    }
    if (from->type == cudaGraphNodeTypeKernel) {
        to->kernel.packed = copied(from->kernel.packed, from->kernel.size);
        return to->kernel.packed ? 0 : cudaErrorMemoryAllocation;
    }
    return from->type == cudaGraphNodeTypeGraph ? (int)cudaGraphClone(&to->child, from->child) : 0;
}

static void free_node(cudaGraphNode_t node)
{
    kw_free_work(&node->work);
    free(node->before);
    free(node->pointers);
    free(node);
}

cudaGraphNode_t kw_graph_add(cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, struct kw_work work)
{
    cudaGraphNode_t made = calloc(1, sizeof *made);
    cudaGraphNode_t *copy = copied(before ? (const void *)before : "", count * sizeof *copy);
    if (made && copy && graph->count == graph->room) {
        size_t room = graph->room ? 2 * graph->room : 16;
        cudaGraphNode_t *grown = realloc(graph->node, room * sizeof *grown);
        if (grown) {
            graph->node = grown;
            graph->room = room;
        }
    }
    if (!made || !copy || graph->count == graph->room) {
        kw_free_work(&work);
        free(made);
        free(copy);
        return NULL;
    }
    *made = (struct CUgraphNode_st){.graph = graph, .work = work, .before = copy, .count = count, .index = graph->count};
    graph->node[graph->count++] = made;
    return made;
}

int kw_comes_before(cudaGraphNode_t node, cudaGraphNode_t later)
{
    if (node == later)
        return 1;
    for (size_t i = 0; i < later->count; i++)
        if (kw_comes_before(node, later->before[i]))
            return 1;
    return 0;
}

static int are_in(cudaGraph_t graph, const cudaGraphNode_t *nodes, size_t count)
{
    if (count && !nodes)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!nodes[i] || nodes[i]->graph != graph)
            return 0;
    return 1;
}

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                       int result, struct kw_work work)
{
    if (!result && (!node || !graph || !are_in(graph, before, count))) {
        kw_free_work(&work);
        result = cudaErrorInvalidValue;
    }
    if (!result) {
        *node = kw_graph_add(graph, before, count, work);
        result = *node ? 0 : cudaErrorMemoryAllocation;
    }
    return kw_done(result);
}

/* ---- what nodes do, from the structures that programs give ---- */

static int kernel_work(const struct cudaKernelNodeParams *p, struct kw_work *work)
{
    if (!p || p->extra)
        return cudaErrorInvalidValue;
    return kw_make_kernel_work(p->func, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, work);
}

static int copy_3d_work(const struct cudaMemcpy3DParms *p, struct kw_work *work)
{
    *work = (struct kw_work){.type = cudaGraphNodeTypeMemcpy};
    int result = p ? kw_box_of_3d(p, &work->copy.box) : cudaErrorInvalidValue;
    if (!result)
        work->copy.kind = p->kind;
    return result;
}

static int fill_work(const struct cudaMemsetParams *p, struct kw_work *work)
{
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return cudaErrorInvalidValue;
    *work = (struct kw_work){.type = cudaGraphNodeTypeMemset, .fill = *p};
    return 0;
}

static int host_work(const struct cudaHostNodeParams *p, struct kw_work *work)
{
    if (!p || !p->fn)
        return cudaErrorInvalidValue;
    *work = (struct kw_work){.type = cudaGraphNodeTypeHost, .host = *p};
    return 0;
}

#define ADD_AND_SET(Name, Params, make)                                                                             \
    KW_API cudaError_t cudaGraphAdd##Name##Node(cudaGraphNode_t *node, cudaGraph_t graph,                           \
                                                const cudaGraphNode_t *before, size_t count,                        \
                                                const struct Params *params)                                        \
    {                                                                                                               \
        KW_ENTER();                                                                                                 \
        struct kw_work work;                                                                                        \
        int result = make(params, &work);                                                                           \
        return add(node, graph, before, count, result, work);                                                       \
    }                                                                                                               \
    KW_API cudaError_t cudaGraph##Name##NodeSetParams(cudaGraphNode_t node, const struct Params *params)            \
    {                                                                                                               \
        KW_ENTER();                                                                                                 \
        struct kw_work work;                                                                                        \
        int result = node ? make(params, &work) : cudaErrorInvalidValue;                                            \
        return kw_done(result ? result : replace(node, work));                                                      \
    }                                                                                                               \
    KW_API cudaError_t cudaGraphExec##Name##NodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,               \
                                                          const struct Params *params)                              \
    {                                                                                                               \
        KW_ENTER();                                                                                                 \
        struct kw_work work;                                                                                        \
        cudaGraphNode_t own = exec ? clone_of(exec->graph, node) : NULL;                                            \
        int result = own ? make(params, &work) : cudaErrorInvalidValue;                                             \
        return kw_done(result ? result : replace(own, work));                                                       \
    }

static int replace(cudaGraphNode_t node, struct kw_work work)
{
    if (node->work.type != work.type || node->work.is_library) {
        kw_free_work(&work);
        return cudaErrorInvalidValue;
    }
    kw_free_work(&node->work);
    node->work = work;
    return 0;
}

static cudaGraphNode_t clone_of(cudaGraph_t graph, cudaGraphNode_t original)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->node[i]->original == original)
            return graph->node[i];
    return NULL;
}

ADD_AND_SET(Kernel, cudaKernelNodeParams, kernel_work)
ADD_AND_SET(Memcpy, cudaMemcpy3DParms, copy_3d_work)
ADD_AND_SET(Memset, cudaMemsetParams, fill_work)
ADD_AND_SET(Host, cudaHostNodeParams, host_work)

KW_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                            size_t count, void *to, const void *from, size_t bytes,
                                            enum cudaMemcpyKind kind)
{
    KW_ENTER();
    struct kw_work work = {.type = cudaGraphNodeTypeMemcpy};
    work.copy.box = (struct kw_box){to, from, bytes, bytes, bytes, bytes, bytes, 1, 1};
    work.copy.kind = kind;
    return add(node, graph, before, count, to && from ? 0 : cudaErrorInvalidValue, work);
}

KW_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                         size_t count)
{
    KW_ENTER();
    return add(node, graph, before, count, 0, (struct kw_work){.type = cudaGraphNodeTypeEmpty});
}

KW_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                                              size_t count, cudaGraph_t child)
{
    KW_ENTER();
    struct kw_work work = {.type = cudaGraphNodeTypeGraph};
    int result = child ? (int)cudaGraphClone(&work.child, child) : cudaErrorInvalidValue;
    return add(node, graph, before, count, result, work);
}

KW_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    KW_ENTER();
    if (!node || !params || node->work.type != cudaGraphNodeTypeKernel || node->work.is_library)
        return kw_done(cudaErrorInvalidValue);
    struct kw_kernel *kernel = kw_find_kernel(node->work.kernel.host);
    if (!kernel)
        return kw_done(cudaErrorInvalidDeviceFunction);
    void **pointers = calloc(kernel->parameter_count + 1, sizeof *pointers);
    if (!pointers)
        return kw_done(cudaErrorMemoryAllocation);
    for (uint32_t p = 0; p < kernel->parameter_count; p++)
        pointers[p] = (char *)node->work.kernel.packed + kernel->parameter[p].offset;
    free(node->pointers);
    node->pointers = pointers;
    *params = (struct cudaKernelNodeParams){.func = (void *)node->work.kernel.host,
                                            .gridDim = node->work.kernel.grid,
                                            .blockDim = node->work.kernel.block,
                                            .sharedMemBytes = (unsigned)node->work.kernel.shared_bytes,
                                            .kernelParams = pointers};
    return kw_done(0);
}

/* ---- graphs ---- */

KW_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
    KW_ENTER();
    if (!graph || flags)
        return kw_done(cudaErrorInvalidValue);
    *graph = calloc(1, sizeof **graph);
    return kw_done(*graph ? 0 : cudaErrorMemoryAllocation);
}

KW_API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph)
        return kw_done(cudaErrorInvalidValue);
    for (size_t i = 0; i < graph->count; i++)
        free_node(graph->node[i]);
    free(graph->node);
    free(graph);
    return kw_done(0);
}

KW_API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    if (!clone || !graph)
        return kw_done(cudaErrorInvalidValue);
    cudaGraph_t made = calloc(1, sizeof *made);
    int result = made ? 0 : cudaErrorMemoryAllocation;
    for (size_t i = 0; i < graph->count && !result; i++) {
        struct kw_work work;
        result = copy_work(&graph->node[i]->work, &work);
        cudaGraphNode_t node = result ? NULL : kw_graph_add(made, graph->node[i]->before, graph->node[i]->count, work);
        if (!result && !node)
            result = cudaErrorMemoryAllocation;
        if (node)
            node->original = graph->node[i];
    }
    if (result) {
        if (made)
            cudaGraphDestroy(made);
        return kw_done(result);
    }
    for (size_t i = 0; i < made->count; i++)
        for (size_t k = 0; k < made->node[i]->count; k++)
            made->node[i]->before[k] = made->node[made->node[i]->before[k]->index];
    *clone = made;
    return kw_done(0);
}

#if defined(KW_NVCC) && KW_NVCC >= 13
/* CUDA 13 gives the function one parameter more; our header declares it as CUDA 12 does, so it has its name in the object file alone. */
KW_API cudaError_t kw_add_dependencies_13(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                          const void *edges, size_t count) __asm__("cudaGraphAddDependencies");
KW_API cudaError_t kw_add_dependencies_13(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                          const void *edges, size_t count)
{
    (void)edges;
#else
KW_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            size_t count)
{
#endif
    KW_ENTER();
    if (!graph || !are_in(graph, from, count) || !are_in(graph, to, count))
        return kw_done(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        if (kw_comes_before(to[i], from[i]))
            return kw_done(cudaErrorInvalidValue); /* a circle */
        cudaGraphNode_t *grown = realloc(to[i]->before, (to[i]->count + 1) * sizeof *grown);
        if (!grown)
            return kw_done(cudaErrorMemoryAllocation);
        to[i]->before = grown;
        grown[to[i]->count++] = from[i];
    }
    return kw_done(0);
}

static cudaError_t tell_nodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count, int only_roots)
{
    if (!graph || !count)
        return kw_done(cudaErrorInvalidValue);
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++)
        if (!only_roots || !graph->node[i]->count) {
            if (nodes && found < *count)
                nodes[found] = graph->node[i];
            found++;
        }
    for (size_t i = found; nodes && i < *count; i++)
        nodes[i] = NULL;
    if (!nodes || found < *count)
        *count = found;
    return kw_done(0);
}

KW_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return tell_nodes(graph, nodes, count, 0);
}

KW_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return tell_nodes(graph, nodes, count, 1);
}

KW_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    if (!node || !type)
        return kw_done(cudaErrorInvalidValue);
    *type = node->work.type;
    return kw_done(0);
}

/* ---- launching ---- */

/* Each node after those that come before it; among several, the one that was made first. NULL for want of memory. */
static cudaGraphNode_t *ordered(cudaGraph_t graph)
{
    cudaGraphNode_t *order = calloc(graph->count + 1, sizeof *order);
    char *is_done = calloc(graph->count + 1, 1);
    size_t placed = 0;
    while (order && is_done && placed < graph->count)
        for (size_t i = 0; i < graph->count; i++) {
            cudaGraphNode_t node = graph->node[i];
            int is_ready = !is_done[i];
            for (size_t k = 0; k < node->count && is_ready; k++)
                is_ready = is_done[node->before[k]->index];
            if (is_ready) {
                is_done[i] = 1;
                order[placed++] = node;
            }
        }
    if (!is_done) {
        free(order);
        order = NULL;
    }
    free(is_done);
    return order;
}

static int instantiate(cudaGraphExec_t *exec, cudaGraph_t graph)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    cudaGraphExec_t made = calloc(1, sizeof *made);
    int result = made ? (int)cudaGraphClone(&made->graph, graph) : cudaErrorMemoryAllocation;
    if (!result) {
        made->order = ordered(made->graph);
        if (!made->order) {
            cudaGraphDestroy(made->graph);
            result = cudaErrorMemoryAllocation;
        }
    }
    if (result) {
        free(made);
        return result;
    }
    *exec = made;
    return 0;
}

/* CUDA 11 has further parameters behind these, for messages, which nothing needs here. */
KW_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    KW_ENTER();
    (void)flags;
    return kw_done(instantiate(exec, graph));
}

KW_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiate(exec, graph, flags);
}

KW_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    if (!exec)
        return kw_done(cudaErrorInvalidValue);
    cudaGraphDestroy(exec->graph);
    free(exec->order);
    free(exec);
    return kw_done(0);
}

/* Rows of a pattern of several bytes are copies of one row of the host's. */
int kw_fill_pattern(const struct cudaMemsetParams *p, cudaStream_t stream)
{
    size_t height = p->height ? p->height : 1, width = p->width * p->elementSize;
    uint32_t bytes = p->elementSize == 1 ? (p->value & 0xff) * 0x01010101u
                     : p->elementSize == 2 ? (p->value & 0xffff) * 0x00010001u
                                           : p->value;
    if ((bytes & 0xff) * 0x01010101u == bytes)
        return kw_fill(p->dst, height > 1 ? p->pitch : width, (int)(bytes & 0xff), width, height, stream, 0);
    char *row = malloc(width + sizeof bytes);
    if (!row)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < width; i += sizeof bytes)
        memcpy(row + i, &bytes, sizeof bytes);
    struct kw_box box = {p->dst, row, height > 1 ? p->pitch : width, 0, 0, 0, width, height, 1};
    int result = kw_copy_box(&box, cudaMemcpyHostToDevice, stream, 1);
    free(row);
    return result;
}

static int launch_all(const cudaGraphNode_t *order, size_t count, cudaStream_t stream);

static int launch_child(cudaGraph_t child, cudaStream_t stream)
{
    cudaGraphNode_t *order = ordered(child);
    int result = order ? launch_all(order, child->count, stream) : cudaErrorMemoryAllocation;
    free(order);
    return result;
}

static int run_host(const struct cudaHostNodeParams *host, cudaStream_t stream)
{
    int result = kw_stream_wait(stream);
    if (!result)
        host->fn(host->userData);
    return result;
}

static int do_work(const struct kw_work *work, cudaStream_t stream)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel:
        return work->is_library ? work->library.send(work->library.name, stream, work->library.argument, work->library.count)
                                : kw_launch_work(work, stream);
    case cudaGraphNodeTypeMemcpy:
        return kw_copy_box(&work->copy.box, work->copy.kind, stream, 0);
    case cudaGraphNodeTypeMemset:
        return kw_fill_pattern(&work->fill, stream);
    case cudaGraphNodeTypeHost:
        return run_host(&work->host, stream);
    case cudaGraphNodeTypeGraph:
        return launch_child(work->child, stream);
    default:
        return 0;
    }
}

static int launch_all(const cudaGraphNode_t *order, size_t count, cudaStream_t stream)
{
    int result = 0;
    for (size_t i = 0; i < count && !result; i++)
        result = do_work(&order[i]->work, stream);
    return result;
}

KW_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    KW_ENTER();
    return kw_done(exec ? launch_all(exec->order, exec->graph->count, stream) : cudaErrorInvalidValue);
}

KW_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    KW_ENTER();
    uint64_t number;
    return kw_done(exec ? kw_stream_number(stream, &number) : cudaErrorInvalidValue);
}

/* ---- updating ---- */

static enum cudaGraphExecUpdateResult difference(const struct CUgraph_st *own, const struct CUgraph_st *other,
                                                 cudaGraphNode_t *where)
{
    *where = NULL;
    if (own->count != other->count)
        return cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < own->count; i++) {
        cudaGraphNode_t a = own->node[i], b = other->node[i];
        *where = b;
        if (a->work.type != b->work.type || a->work.is_library != b->work.is_library)
            return cudaGraphExecUpdateErrorNodeTypeChanged;
        if (a->count != b->count)
            return cudaGraphExecUpdateErrorTopologyChanged;
        for (size_t k = 0; k < a->count; k++)
            if (a->before[k]->index != b->before[k]->index)
                return cudaGraphExecUpdateErrorTopologyChanged;
    }
    *where = NULL;
    return cudaGraphExecUpdateSuccess;
}

static int update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *told)
{
    if (!exec || !graph)
        return cudaErrorInvalidValue;
    *told = (cudaGraphExecUpdateResultInfo){0};
    told->result = difference(exec->graph, graph, &told->errorNode);
    if (told->result != cudaGraphExecUpdateSuccess)
        return cudaErrorGraphExecUpdateFailure;
    for (size_t i = 0; i < graph->count; i++) {
        struct kw_work work;
        int result = copy_work(&graph->node[i]->work, &work);
        if (result)
            return result;
        kw_free_work(&exec->graph->node[i]->work);
        exec->graph->node[i]->work = work;
        exec->graph->node[i]->original = graph->node[i];
    }
    return 0;
}

#if defined(KW_NVCC) && KW_NVCC < 12
KW_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *where,
                                       enum cudaGraphExecUpdateResult *told)
{
    KW_ENTER();
    cudaGraphExecUpdateResultInfo info;
    int result = where && told ? update(exec, graph, &info) : cudaErrorInvalidValue;
    if (where && told) {
        *where = info.errorNode;
        *told = info.result;
    }
    return kw_done(result);
}
#else
KW_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *told)
{
    KW_ENTER();
    cudaGraphExecUpdateResultInfo unseen;
    return kw_done(update(exec, graph, told ? told : &unseen));
}
#endif
