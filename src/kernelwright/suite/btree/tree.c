/* Bulk loading of a B+tree: leaves first, then level upon level of inner nodes, the root in front of all. */
#include "tree.h"

#include "../common/files.h"

enum { MOST_LEVELS = 32 };

/* How many nodes hold `entries` entries when each takes at most `fill`. */
static int nodes_for(int entries, int fill)
{
    return entries ? (entries - 1) / fill + 1 : 1;
}

static void clear_node(Tree *tree, int node, int filler)
{
    for (int slot = 0; slot < tree->order; ++slot) {
        tree->key[node * tree->order + slot] = KEY_END;
        tree->child[node * tree->order + slot] = filler;
    }
}

Tree tree_build(const Record *records, int count, int order)
{
    const int fill = order * 3 / 4;
    int level_nodes[MOST_LEVELS]; /* leaves first */
    int levels = 0;
    long long nodes = 0;
    level_nodes[levels++] = nodes_for(count, fill);
    while (level_nodes[levels - 1] > 1) {
        level_nodes[levels] = nodes_for(level_nodes[levels - 1], fill);
        ++levels;
    }
    for (int level = 0; level < levels; ++level)
        nodes += level_nodes[level];
    if (nodes * order > INT_MAX) {
        fprintf(stderr, "error: a tree of order %d over %d records has too many slots for int32\n", order, count);
        exit(EXIT_FAILED);
    }

    Tree tree;
    tree.order = order;
    tree.height = levels - 1;
    tree.nodes = (int)nodes;
    tree.key = (int *)allocate((size_t)nodes * order, sizeof(int));
    tree.child = (int *)allocate((size_t)nodes * order, sizeof(int));

    /* Levels lie in the arrays from the root down; `least` keeps the smallest key under each node of the level below. */
    int *least = (int *)allocate(level_nodes[0], sizeof(int));
    int begin = (int)nodes - level_nodes[0];
    for (int leaf = 0; leaf < level_nodes[0]; ++leaf) {
        const int from = leaf * fill;
        const int to = count - from < fill ? count : from + fill;
        clear_node(&tree, begin + leaf, to);
        for (int record = from; record < to; ++record) {
            tree.key[(begin + leaf) * order + record - from] = records[record].key;
            tree.child[(begin + leaf) * order + record - from] = record;
        }
        least[leaf] = leaf ? records[from].key : INT_MIN;
    }
    for (int level = 1; level < levels; ++level) {
        const int below = begin;
        begin -= level_nodes[level];
        for (int node = 0; node < level_nodes[level]; ++node) {
            const int from = node * fill;
            const int to = level_nodes[level - 1] - from < fill ? level_nodes[level - 1] : from + fill;
            clear_node(&tree, begin + node, below);
            for (int child = from; child < to; ++child) {
                tree.key[(begin + node) * order + child - from] = least[child];
                tree.child[(begin + node) * order + child - from] = below + child;
            }
            least[node] = least[from];
        }
    }
    free(least);
    return tree;
}
