/* A clustering of weighted points, held on the GPU: each point belongs to its centre, which is one of the points, and
 * costs its weight times the squared distance to it. */
#ifndef CLUSTERING_H
#define CLUSTERING_H

#define MAX_CENTRES 1024

#ifdef __cplusplus
extern "C" {
#endif

/* Takes over `count` points of `dims` coordinates, point after point, and assigns all to the point `first`, as centre
 * number 0. One clustering exists at a time. */
void clustering_begin(const float *points, const float *weights, int count, int dims, int first);

/* Computes what it would change to make `point` a centre beside the `centres` present ones. savings[k] takes what it
 * would add to the cost if centre k closed and all its points went to the new centre; savings[centres], never positive,
 * what the points would save that the new centre is nearer to. */
void clustering_assess(int point, int centres, double *savings);

/* Opens the point assessed last as centre number `opened`. The points of centre k go there if renumber[k] is negative,
 * else centre k becomes number renumber[k] and keeps the points that it is nearer to. */
void clustering_open(int centres, const int *renumber, int opened);

/* Copies out the cost of each point and, unless `members` is NULL, the number of its centre. */
void clustering_get(double *costs, int *members);

void clustering_end(void);

#ifdef __cplusplus
}
#endif

#endif
