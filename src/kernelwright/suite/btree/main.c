/* B+tree queries on the GPU: builds a tree over key-value records, then answers point and range queries, each query by
 * one thread block that compares all keys of a node at once. B+trees: Comer, "The ubiquitous B-tree" (ACM Computing
 * Surveys, 1979). */
#include "../common/files.h"
#include "tree.h"

static const char USAGE[] =
    "usage: btree ORDER RECORDS POINTS RANGES VALUES SPANS\n"
    "  ORDER    slots per node, which is threads per block: 4 to 256\n"
    "  RECORDS  int32 file of (key, value) pairs in any order, keys distinct\n"
    "  POINTS   int32 file of keys to look up\n"
    "  RANGES   int32 file of (low, high) pairs, low <= high\n"
    "  VALUES   int32 file to write: the value of each point, -1 where no record has its key\n"
    "  SPANS    int32 file to write: for each range a pair, the rank by key of its first record and the number of\n"
    "           records whose key is at least low and below high\n";

static int by_key(const void *left, const void *right)
{
    const int a = ((const Record *)left)->key, b = ((const Record *)right)->key;
    return (a > b) - (a < b);
}

/* Sorts the records and ends the program if they are not what the usage demands. */
static void sort_records(Record *records, size_t count)
{
    qsort(records, count, sizeof(Record), by_key);
    for (size_t i = 0; i < count; ++i) {
        if (records[i].key == KEY_END || (i && records[i].key == records[i - 1].key)) {
            fprintf(stderr, "error: key %d occurs twice, or is too large\n", records[i].key);
            exit(EXIT_FAILED);
        }
    }
}

static void check_queries(const int *points, size_t point_count, const int *ranges, size_t range_count)
{
    for (size_t i = 0; i < point_count; ++i) {
        if (points[i] == KEY_END) {
            fprintf(stderr, "error: point %zu is too large\n", i);
            exit(EXIT_FAILED);
        }
    }
    for (size_t i = 0; i < range_count; ++i) {
        if (ranges[2 * i] > ranges[2 * i + 1] || ranges[2 * i + 1] == KEY_END) {
            fprintf(stderr, "error: range %zu has its low end above its high end, or is too large\n", i);
            exit(EXIT_FAILED);
        }
    }
}

static void answer_points(const Tree *tree, const Record *records, int record_count, const int *points, int count,
                          const char *path)
{
    int *values = (int *)allocate(count, sizeof(int));
    if (count)
        find_points(tree, records, record_count, points, values, count);
    write_array(path, values, count, sizeof(int));
    free(values);
}

static void answer_ranges(const Tree *tree, const int *ranges, int count, const char *path)
{
    int *low = (int *)allocate(count, sizeof(int)), *high = (int *)allocate(count, sizeof(int));
    int *first = (int *)allocate(count, sizeof(int)), *length = (int *)allocate(count, sizeof(int));
    int *spans = (int *)allocate(count, 2 * sizeof(int));
    for (int i = 0; i < count; ++i) {
        low[i] = ranges[2 * i];
        high[i] = ranges[2 * i + 1];
    }
    if (count)
        find_ranges(tree, low, high, first, length, count);
    for (int i = 0; i < count; ++i) {
        spans[2 * i] = first[i];
        spans[2 * i + 1] = length[i];
    }
    write_array(path, spans, count, 2 * sizeof(int));
    free(low);
    free(high);
    free(first);
    free(length);
    free(spans);
}

int main(int argc, char **argv)
{
    int order;
    if (argc != 7 || !parse_int(argv[1], LEAST_ORDER, MOST_ORDER, &order)) {
        fputs(USAGE, stderr);
        return EXIT_USAGE;
    }
    size_t record_count, point_count, range_count;
    Record *records = (Record *)read_whole_array(argv[2], sizeof(Record), &record_count);
    int *points = (int *)read_whole_array(argv[3], sizeof(int), &point_count);
    int *ranges = (int *)read_whole_array(argv[4], 2 * sizeof(int), &range_count);
    if (record_count < 1 || record_count > INT_MAX / 2 || point_count > INT_MAX / 2 || range_count > INT_MAX / 2) {
        fprintf(stderr, "error: no record, or too many records or queries for int32\n");
        return EXIT_FAILED;
    }
    sort_records(records, record_count);
    check_queries(points, point_count, ranges, range_count);

    Tree tree = tree_build(records, (int)record_count, order);
    answer_points(&tree, records, (int)record_count, points, (int)point_count, argv[5]);
    answer_ranges(&tree, ranges, (int)range_count, argv[6]);
    printf("btree: %zu records in %d nodes, %d inner levels, %zu points, %zu ranges\n", record_count, tree.nodes,
           tree.height, point_count, range_count);

    free(tree.key);
    free(tree.child);
    free(records);
    free(points);
    free(ranges);
    return 0;
}
