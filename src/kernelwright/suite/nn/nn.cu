/* Nearest neighbours: which k of many recorded locations lie nearest to a given one.
 *
 * The GPU computes the distance of every record, in degrees on the plane of latitude and longitude; the host keeps the
 * k smallest in a sorted list while it walks over them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../common/cuda_check.h"
#include "../common/files.h"

#define BLOCK 256

typedef struct {
    float latitude, longitude; /* degrees */
} Location;

__global__ void measure_distances(const Location *locations, int count, Location target, float *distances)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float north = locations[i].latitude - target.latitude;
        float east = locations[i].longitude - target.longitude;
        distances[i] = sqrtf(north * north + east * east);
    }
}

/* Stores the numbers of the k smallest distances in `nearest`, nearest first; of equal ones the first counts. */
static void select_nearest(const float *distances, int count, int k, int *nearest)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (found == k && distances[i] >= distances[nearest[k - 1]])
            continue;
        int place = found < k ? found++ : k - 1;
        for (; place > 0 && distances[i] < distances[nearest[place - 1]]; place--)
            nearest[place] = nearest[place - 1];
        nearest[place] = i;
    }
}

int main(int argc, char **argv)
{
    Location target;
    int k;
    if (argc != 7 || !parse_float(argv[2], &target.latitude) || !parse_float(argv[3], &target.longitude) ||
        !parse_int(argv[4], 1, INT_MAX, &k)) {
        fprintf(stderr,
                "usage: %s LOCATIONS LATITUDE LONGITUDE K NEAREST DISTANCES\n"
                "  LOCATIONS  input: latitude and longitude of each record in degrees, float32 pairs\n"
                "  K          how many neighbours to find\n"
                "  NEAREST    output: K record numbers, nearest first, int32\n"
                "  DISTANCES  output: the distance of every record in degrees, float32\n",
                argv[0]);
        return EXIT_USAGE;
    }
    size_t records;
    Location *locations = (Location *)read_whole_array(argv[1], sizeof(Location), &records);
    if (records > INT_MAX || (size_t)k > records) {
        fprintf(stderr, "error: cannot find %d neighbours among the %zu records of %s\n", k, records, argv[1]);
        return EXIT_FAILED;
    }
    int count = (int)records;
    float *distances = (float *)allocate(count, sizeof(float));
    int *nearest = (int *)allocate(k, sizeof(int));

    Location *device_locations;
    float *device_distances;
    CUDA_CHECK(cudaMalloc((void **)&device_locations, count * sizeof(Location)));
    CUDA_CHECK(cudaMalloc((void **)&device_distances, count * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(device_locations, locations, count * sizeof(Location), cudaMemcpyHostToDevice));

    int blocks = (count - 1) / BLOCK + 1;
    measure_distances<<<blocks, BLOCK>>>(device_locations, count, target, device_distances);
    CUDA_CHECK_LAUNCH();

    CUDA_CHECK(cudaMemcpy(distances, device_distances, count * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device_locations));
    CUDA_CHECK(cudaFree(device_distances));

    select_nearest(distances, count, k, nearest);
    for (int i = 0; i < k; i++) {
        Location at = locations[nearest[i]];
        printf("%d: record %d at %g, %g, distance %g\n", i + 1, nearest[i], at.latitude, at.longitude,
               distances[nearest[i]]);
    }
    write_array(argv[5], nearest, k, sizeof(int));
    write_array(argv[6], distances, count, sizeof(float));
    free(locations);
    free(distances);
    free(nearest);
    return 0;
}
