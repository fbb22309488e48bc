/* Stream clustering: few centres that stand for a stream of points too long to keep (O'Callaghan, Mishra, Meyerson,
 * Guha and Motwani, "Streaming-data algorithms for high-quality clustering", ICDE 2002).
 *
 * The stream is read in chunks. Each chunk is replaced by a few of its points, weighted by how many points they stand
 * for; at the end the points that remain are clustered once more. A chunk is clustered by local search: with a price for
 * each centre, candidates are opened, and centres closed, as long as that makes the whole cheaper, and the price is
 * bisected until the number of centres is right.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/files.h"
#include "clustering.h"

#define GOOD_ENOUGH 0.1 /* a round of the local search that saves less than this share of the cost is the last */
#define BISECTIONS 20   /* of the price, at most */

typedef struct {
    float *coordinates; /* point after point */
    float *weights;
    int count, dims, capacity;
} Points;

typedef struct {
    int least, most; /* how many centres are wanted */
    uint32_t random;
} Wish;

static uint32_t next_random(Wish *wish)
{
    wish->random = wish->random * 1664525u + 1013904223u; /* Numerical Recipes, section 7.1 */
    return wish->random;
}

/* From 0 to limit - 1. */
static int random_below(Wish *wish, int limit)
{
    return (int)(((uint64_t)next_random(wish) * (uint32_t)limit) >> 32);
}

/* Puts the first `picked` places of `items` in random order, out of all `count`. */
static void shuffle(Wish *wish, int *items, int count, int picked)
{
    for (int i = 0; i < picked; i++) {
        int other = i + random_below(wish, count - i);
        int item = items[i];
        items[i] = items[other];
        items[other] = item;
    }
}

static void append_point(Points *points, const float *coordinates, float weight)
{
    size_t dims = (size_t)points->dims;
    if (points->count == points->capacity) {
        points->capacity = points->capacity ? 2 * points->capacity : 64;
        points->coordinates = realloc(points->coordinates, points->capacity * dims * sizeof(float));
        points->weights = realloc(points->weights, points->capacity * sizeof(float));
        if (!points->coordinates || !points->weights) {
            fprintf(stderr, "error: no memory for %d points\n", points->capacity);
            exit(EXIT_FAILED);
        }
    }
    memcpy(points->coordinates + points->count * dims, coordinates, dims * sizeof(float));
    points->weights[points->count++] = weight;
}

static void free_points(Points *points)
{
    free(points->coordinates);
    free(points->weights);
}

static double add_up(const double *values, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* A first solution: in random order, a point becomes a centre with the probability that its cost bears to the price.
 * The clustering holds the first point of `order` as its only centre. Returns the number of centres. */
static int open_by_chance(Wish *wish, const int *order, int count, double price, int *centres, double *costs)
{
    double savings[MAX_CENTRES + 1];
    int renumber[MAX_CENTRES];
    int open = 1;
    centres[0] = order[0];
    for (int k = 0; k < MAX_CENTRES; k++)
        renumber[k] = k;
    for (int i = 1; i < count && open < MAX_CENTRES; i++) {
        double chance = (next_random(wish) >> 8) / 16777216.0;
        if (chance * price < costs[order[i]]) {
            clustering_assess(order[i], open, savings);
            clustering_open(open, renumber, open);
            clustering_get(costs, NULL);
            centres[open++] = order[i];
        }
    }
    return open;
}

/* Makes `candidate` a centre, and closes those that are not worth their price any more, if that saves anything. Returns
 * how much it saves. */
static double try_candidate(int candidate, double price, int *centres, int *open)
{
    double savings[MAX_CENTRES + 1];
    int renumber[MAX_CENTRES];
    int kept = 0;
    for (int k = 0; k < *open; k++) {
        if (centres[k] == candidate)
            return 0.0;
    }
    clustering_assess(candidate, *open, savings);
    double gain = -savings[*open] - price;
    for (int k = 0; k < *open; k++) {
        renumber[k] = savings[k] < price ? -1 : kept++;
        if (renumber[k] < 0)
            gain += price - savings[k];
    }
    if (gain <= 0.0 || kept == MAX_CENTRES)
        return 0.0;

    clustering_open(*open, renumber, kept);
    for (int k = 0; k < *open; k++) {
        if (renumber[k] >= 0)
            centres[renumber[k]] = centres[k];
    }
    centres[kept] = candidate;
    *open = kept + 1;
    return gain;
}

/* Tries all candidates, again and again in random order, until it is no longer worth while. */
static void search_locally(Wish *wish, int *candidates, int candidate_count, double price, int *centres, int *open,
                           double *costs, int count)
{
    double cost, saved;
    do {
        saved = 0.0;
        shuffle(wish, candidates, candidate_count, candidate_count);
        for (int i = 0; i < candidate_count; i++)
            saved += try_candidate(candidates[i], price, centres, open);
        clustering_get(costs, NULL);
        cost = add_up(costs, count) + price * *open;
    } while (saved > GOOD_ENOUGH * cost);
}

/* Clusters `points` and appends the centres, each weighted with what it stands for. Returns the cost. */
static double cluster(const Points *points, Wish *wish, Points *result)
{
    int count = points->count;
    size_t dims = (size_t)points->dims;
    if (count <= wish->least) {
        for (int i = 0; i < count; i++)
            append_point(result, points->coordinates + i * dims, points->weights[i]);
        return 0.0;
    }
    int centres[MAX_CENTRES];
    float weights[MAX_CENTRES] = {0.0f};
    double *costs = allocate(count, sizeof(double));
    int *members = allocate(count, sizeof(int));
    int *order = allocate(count, sizeof(int));
    for (int i = 0; i < count; i++)
        order[i] = i;
    shuffle(wish, order, count, count);

    clustering_begin(points->coordinates, points->weights, count, points->dims, order[0]);
    clustering_get(costs, NULL);
    /* With this price a single centre is best. */
    double highest = add_up(costs, count), lowest = 0.0, price = highest / 2;
    int open = open_by_chance(wish, order, count, price, centres, costs);

    /* Each cluster that matters is likely to have a point among so many. */
    int candidate_count = 1 + (int)(3 * wish->most * log(wish->most));
    if (candidate_count > count)
        candidate_count = count;
    shuffle(wish, order, count, candidate_count);
    for (int bisection = 0; bisection < BISECTIONS; bisection++) {
        search_locally(wish, order, candidate_count, price, centres, &open, costs, count);
        if (open > wish->most)
            lowest = price;
        else if (open < wish->least)
            highest = price;
        else
            break;
        price = (lowest + highest) / 2;
    }

    clustering_get(costs, members);
    clustering_end();
    for (int i = 0; i < count; i++)
        weights[members[i]] += points->weights[i];
    for (int k = 0; k < open; k++)
        append_point(result, points->coordinates + centres[k] * dims, weights[k]);
    double cost = add_up(costs, count);
    free(costs);
    free(members);
    free(order);
    return cost;
}

/* Reads up to `most` points of weight 1; returns how many there were. */
static int read_chunk(FILE *stream, const char *path, Points *chunk, int most)
{
    size_t values = fread(chunk->coordinates, sizeof(float), (size_t)most * chunk->dims, stream);
    if (ferror(stream) || values % chunk->dims) {
        fprintf(stderr, "error: %s ends within a point or cannot be read\n", path);
        exit(EXIT_FAILED);
    }
    chunk->count = (int)(values / chunk->dims);
    for (int i = 0; i < chunk->count; i++)
        chunk->weights[i] = 1.0f;
    return chunk->count;
}

int main(int argc, char **argv)
{
    int dims, chunk_size, seed;
    Wish wish;
    if (argc != 10 || !parse_int(argv[2], 1, 65536, &dims) || !parse_int(argv[3], 1, 1 << 24, &chunk_size) ||
        !parse_int(argv[4], 1, MAX_CENTRES, &wish.least) || !parse_int(argv[5], wish.least, MAX_CENTRES, &wish.most) ||
        !parse_int(argv[6], 0, INT_MAX, &seed)) {
        fprintf(stderr,
                "usage: %s POINTS DIMS CHUNK LEAST MOST SEED CENTRES WEIGHTS COSTS\n"
                "  POINTS   input: the coordinates, point after point, float32\n"
                "  DIMS     coordinates of a point, 1 to 65536\n"
                "  CHUNK    points to keep at a time\n"
                "  LEAST    as many centres as this,\n"
                "  MOST     and no more than this, at most %d\n"
                "  SEED     of the random numbers\n"
                "  CENTRES  output: the coordinates of the centres, float32\n"
                "  WEIGHTS  output: how many points each centre stands for, float32\n"
                "  COSTS    output: the cost of each clustering, the last one over all chunks, float64\n",
                argv[0], MAX_CENTRES);
        return EXIT_USAGE;
    }
    wish.random = (uint32_t)seed;
    FILE *stream = fopen(argv[1], "rb");
    if (!stream) {
        fprintf(stderr, "error: cannot open %s: %s\n", argv[1], strerror(errno));
        return EXIT_FAILED;
    }
    Points chunk = {NULL, NULL, 0, dims, chunk_size};
    Points centres = {NULL, NULL, 0, dims, 0};
    double *costs = NULL;
    int runs = 0, points = 0;
    chunk.coordinates = allocate((size_t)chunk_size * dims, sizeof(float));
    chunk.weights = allocate(chunk_size, sizeof(float));
    while (read_chunk(stream, argv[1], &chunk, chunk_size) > 0) {
        costs = realloc(costs, (runs + 2) * sizeof(double));
        if (!costs) {
            fprintf(stderr, "error: no memory for %d costs\n", runs + 2);
            return EXIT_FAILED;
        }
        costs[runs] = cluster(&chunk, &wish, &centres);
        points += chunk.count;
        printf("chunk %d: %d points, %d centres so far, cost %g\n", runs, chunk.count, centres.count, costs[runs]);
        runs++;
    }
    fclose(stream);
    if (runs == 0) {
        fprintf(stderr, "error: %s holds no points\n", argv[1]);
        return EXIT_FAILED;
    }
    if (runs > 1) {
        Points all = centres;
        centres = (Points){NULL, NULL, 0, dims, 0};
        costs[runs] = cluster(&all, &wish, &centres);
        printf("%d centres of all %d points, cost %g\n", centres.count, points, costs[runs]);
        runs++;
        free_points(&all);
    }

    write_array(argv[7], centres.coordinates, (size_t)centres.count * dims, sizeof(float));
    write_array(argv[8], centres.weights, centres.count, sizeof(float));
    write_array(argv[9], costs, runs, sizeof(double));
    free_points(&chunk);
    free_points(&centres);
    free(costs);
    return 0;
}
