/* Breadth-first search on the GPU: the number of edges on a shortest path from one node to every other. Level by level
 * after Harish and Narayanan, "Accelerating large graph algorithms on the GPU using CUDA" (HiPC 2007): one thread per
 * node and two kernels per level, so that a level sees only what the level before it settled. The graph is given in
 * compressed rows: the edges of node v lead to neighbour[first[v]] .. neighbour[first[v + 1] - 1]. */

#include "../common/cuda_check.h"
#include "../common/files.h"
#include "../common/relaxed_store.h"

#define BLOCK 512

static const char USAGE[] =
    "usage: bfs FIRST NEIGHBOURS SOURCE DISTANCES\n"
    "  FIRST       int32 file, nodes + 1 items: where each node's edges begin\n"
    "  NEIGHBOURS  int32 file: the node each edge leads to\n"
    "  SOURCE      the node to start from\n"
    "  DISTANCES   int32 file to write: edges from SOURCE to each node, -1 where there is no path\n";

/* Marks every unvisited neighbour of the frontier as reached, and empties the frontier. */
__global__ void expand_frontier(int nodes, const int *first, const int *neighbour, unsigned char *in_frontier,
                                const unsigned char *visited, int *reached)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || !in_frontier[node])
        return;
    in_frontier[node] = 0;
    for (int edge = first[node]; edge < first[node + 1]; ++edge) {
        const int next = neighbour[edge];
        if (!visited[next])
            store_relaxed(&reached[next], 1); /* several frontier nodes may reach the same neighbour */
    }
}

/* Turns the reached nodes into the next frontier, `depth` edges away from the source. */
__global__ void settle_reached(int nodes, int depth, int *reached, unsigned char *in_frontier, unsigned char *visited,
                               int *distance, int *more)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || !reached[node])
        return;
    reached[node] = 0;
    in_frontier[node] = 1;
    visited[node] = 1;
    distance[node] = depth;
    store_relaxed(more, 1);
}

static void check_graph(const int *first, const int *neighbour, int nodes, int edges)
{
    int sound = first[0] == 0 && first[nodes] == edges;
    for (int node = 0; node < nodes; ++node)
        sound = sound && first[node] <= first[node + 1];
    for (int edge = 0; edge < edges; ++edge)
        sound = sound && neighbour[edge] >= 0 && neighbour[edge] < nodes;
    if (!sound) {
        fprintf(stderr, "error: the two files do not describe a graph of %d nodes and %d edges\n", nodes, edges);
        exit(EXIT_FAILED);
    }
}

int main(int argc, char **argv)
{
    int source;
    if (argc != 5 || !parse_int(argv[3], 0, INT_MAX, &source)) {
        fputs(USAGE, stderr);
        return EXIT_USAGE;
    }
    size_t first_items, edge_items;
    int *first = (int *)read_whole_array(argv[1], sizeof(int), &first_items);
    int *neighbour = (int *)read_whole_array(argv[2], sizeof(int), &edge_items);
    if (first_items < 2 || first_items > INT_MAX || edge_items > INT_MAX) {
        fprintf(stderr, "error: the graph has no node, or too many for int32\n");
        return EXIT_FAILED;
    }
    const int nodes = (int)first_items - 1;
    const int edges = (int)edge_items;
    check_graph(first, neighbour, nodes, edges);
    if (source >= nodes) {
        fprintf(stderr, "error: there is no node %d, the last is %d\n", source, nodes - 1);
        return EXIT_USAGE;
    }

    int *d_first, *d_neighbour, *d_reached, *d_distance, *d_more;
    unsigned char *d_in_frontier, *d_visited;
    CUDA_CHECK(cudaMalloc((void **)&d_first, (nodes + 1) * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_neighbour, (edges ? edges : 1) * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_reached, nodes * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_distance, nodes * sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_more, sizeof(int)));
    CUDA_CHECK(cudaMalloc((void **)&d_in_frontier, nodes));
    CUDA_CHECK(cudaMalloc((void **)&d_visited, nodes));

    CUDA_CHECK(cudaMemcpy(d_first, first, (nodes + 1) * sizeof(int), cudaMemcpyHostToDevice));
    if (edges)
        CUDA_CHECK(cudaMemcpy(d_neighbour, neighbour, edges * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_reached, 0, nodes * sizeof(int)));
    CUDA_CHECK(cudaMemset(d_distance, 0xff, nodes * sizeof(int))); /* -1: no path known */
    CUDA_CHECK(cudaMemset(d_in_frontier, 0, nodes));
    CUDA_CHECK(cudaMemset(d_visited, 0, nodes));
    CUDA_CHECK(cudaMemset(d_in_frontier + source, 1, 1));
    CUDA_CHECK(cudaMemset(d_visited + source, 1, 1));
    CUDA_CHECK(cudaMemset(d_distance + source, 0, sizeof(int)));

    const int blocks = (nodes + BLOCK - 1) / BLOCK;
    int depth = 0, more;
    do {
        ++depth;
        CUDA_CHECK(cudaMemset(d_more, 0, sizeof(int)));
        expand_frontier<<<blocks, BLOCK>>>(nodes, d_first, d_neighbour, d_in_frontier, d_visited, d_reached);
        CUDA_CHECK_LAUNCH();
        settle_reached<<<blocks, BLOCK>>>(nodes, depth, d_reached, d_in_frontier, d_visited, d_distance, d_more);
        CUDA_CHECK_LAUNCH();
        CUDA_CHECK(cudaMemcpy(&more, d_more, sizeof(int), cudaMemcpyDeviceToHost));
    } while (more);

    int *distance = (int *)allocate(nodes, sizeof(int));
    CUDA_CHECK(cudaMemcpy(distance, d_distance, nodes * sizeof(int), cudaMemcpyDeviceToHost));
    write_array(argv[4], distance, nodes, sizeof(int));
    printf("bfs: %d nodes, %d edges, farthest node %d edges away\n", nodes, edges, depth - 1);

    CUDA_CHECK(cudaFree(d_first));
    CUDA_CHECK(cudaFree(d_neighbour));
    CUDA_CHECK(cudaFree(d_reached));
    CUDA_CHECK(cudaFree(d_distance));
    CUDA_CHECK(cudaFree(d_more));
    CUDA_CHECK(cudaFree(d_in_frontier));
    CUDA_CHECK(cudaFree(d_visited));
    free(first);
    free(neighbour);
    free(distance);
    return 0;
}
