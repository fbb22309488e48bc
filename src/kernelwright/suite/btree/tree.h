/* A B+tree in arrays, as the host builds it and the kernels walk it. */
#ifndef BTREE_TREE_H
#define BTREE_TREE_H

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LEAST_ORDER = 4, MOST_ORDER = 256, NO_VALUE = -1 };

/* Keys are below KEY_END, with which the unused slots of a node are filled. */
#define KEY_END INT_MAX

typedef struct {
    int key, value;
} Record;

/* Node n owns slots n * order .. n * order + order - 1; node 0 is the root and every leaf has the depth `height`.
 *
 * Inner node: child[slot] is a node whose keys are at least key[slot] and below key[slot + 1]; the key of the first
 * slot on the left rim of the tree is INT_MIN, so that every key has a child to go to.
 * Leaf: child[slot] is the number of the record with key[slot]; in unused slots, of the record after the leaf. Records
 * are numbered in the order of their keys. */
typedef struct {
    int order;  /* slots per node */
    int height; /* inner levels above the leaves */
    int nodes;
    int *key;
    int *child;
} Tree;

/* Builds a tree over `count` records, sorted by key, keys distinct and below KEY_END. Nodes are filled to three
 * quarters, as a tree is after many insertions. The caller frees `key` and `child`. */
Tree tree_build(const Record *records, int count, int order);

/* Looks up `count` keys: values[i] becomes the value stored with queries[i], or NO_VALUE. Host pointers. */
void find_points(const Tree *tree, const Record *records, int record_count, const int *queries, int *values, int count);

/* For each of `count` ranges: first[i] becomes the number of the first record whose key is at least low[i], and
 * length[i] how many records have a key from low[i] up to, not including, high[i]. Host pointers. */
void find_ranges(const Tree *tree, const int *low, const int *high, int *first, int *length, int count);

#ifdef __cplusplus
}
#endif
#endif
