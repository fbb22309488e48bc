/* Generators of cuRAND's host interface. The worker draws the numbers (device/libraries/random_numbers.py). */
#include "curand.h"
#include "library.h"

#include <stdlib.h>

enum { GENERATOR = 0x6b777267 };

struct curandGenerator_st {
    uint32_t magic; /* GENERATOR while it lives */
    curandRngType_t type;
    int is_host; /* its numbers go to memory of the program */
    cudaStream_t stream;
    uint64_t seed, offset;
    uint64_t calls; /* since seed or offset were set: each draws from a sequence of its own */
};

#define REQUIRE(condition, status)                     \
    do {                                               \
        if (!generator || generator->magic != GENERATOR) \
            return CURAND_STATUS_NOT_INITIALIZED;      \
        if (!(condition))                              \
            return CURAND_STATUS_##status;             \
    } while (0)

static curandStatus_t status_of(int error)
{
    return error == 0                           ? CURAND_STATUS_SUCCESS
           : error == cudaErrorMemoryAllocation ? CURAND_STATUS_ALLOCATION_FAILED
           : kw_failure()                       ? CURAND_STATUS_PREEXISTING_FAILURE
                                                : CURAND_STATUS_LAUNCH_FAILURE;
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, int is_host)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (kw_connect() || !kw_library_is_served("cuRAND"))
        return CURAND_STATUS_INITIALIZATION_FAILED;
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
        break;
    default:
        if (type >= CURAND_RNG_QUASI_DEFAULT && type <= CURAND_RNG_QUASI_SCRAMBLED_SOBOL64)
            kw_say("cuRAND's quasi-random generators are not implemented: take a pseudo-random one");
        return CURAND_STATUS_TYPE_ERROR;
    }
    struct curandGenerator_st *made = calloc(1, sizeof *made);
    if (!made)
        return CURAND_STATUS_ALLOCATION_FAILED;
    made->magic = GENERATOR;
    made->type = type;
    made->is_host = is_host;
    *generator = made;
    return CURAND_STATUS_SUCCESS;
}

KW_API curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, 0);
}

KW_API curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, 1);
}

KW_API curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    REQUIRE(1, SUCCESS);
    generator->magic = 0;
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

KW_API curandStatus_t curandGetVersion(int *version)
{
    if (!version)
        return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

KW_API curandStatus_t curandGetProperty(libraryPropertyType type, int *value)
{
    static const int parts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CURAND_STATUS_OUT_OF_RANGE;
    *value = parts[type];
    return CURAND_STATUS_SUCCESS;
}

KW_API curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    REQUIRE(1, SUCCESS);
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

KW_API curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed)
{
    REQUIRE(1, SUCCESS);
    generator->seed = seed;
    generator->calls = 0;
    return CURAND_STATUS_SUCCESS;
}

KW_API curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    REQUIRE(generator->type != CURAND_RNG_PSEUDO_MTGP32 && generator->type != CURAND_RNG_PSEUDO_MT19937, TYPE_ERROR);
    generator->offset = offset;
    generator->calls = 0;
    return CURAND_STATUS_SUCCESS;
}

KW_API curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order)
{
    REQUIRE(order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC, OUT_OF_RANGE);
    return CURAND_STATUS_SUCCESS;
}

KW_API curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    REQUIRE(1, SUCCESS);
    return CURAND_STATUS_SUCCESS;
}

static curandStatus_t draw(curandGenerator_t generator, const char *name, void *output, size_t n, size_t size,
                           double first, double second)
{
    if (!n)
        return CURAND_STATUS_SUCCESS;
    void *to = output;
    int result = generator->is_host ? kw_allocate(n * size, KW_MEMORY_DEVICE, 0, &to) : 0;
    if (result)
        return status_of(result);
    struct kw_argument argument[] = {
        KW_WORD(generator->type), KW_WORD(generator->seed & INT64_MAX), KW_WORD(generator->offset & INT64_MAX),
        KW_WORD(generator->calls++), KW_ADDRESS(to), KW_WORD(n), kw_number(&first, sizeof first, 0),
        kw_number(&second, sizeof second, 0),
    };
    result = kw_library(name, generator->stream, argument, sizeof argument / sizeof *argument);
    if (generator->is_host) {
        if (!result)
            result = kw_copy(output, to, n * size, cudaMemcpyDeviceToHost, generator->stream, 1);
        kw_release(to);
    }
    return status_of(result);
}

KW_API curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *output, size_t n)
{
    REQUIRE(1, SUCCESS);
    return draw(generator, __func__, output, n, sizeof *output, 0, 0);
}

KW_API curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *output, size_t n)
{
    REQUIRE(1, SUCCESS);
    return draw(generator, __func__, output, n, sizeof *output, 0, 0);
}

KW_API curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *output, size_t n)
{
    REQUIRE(1, SUCCESS);
    return draw(generator, __func__, output, n, sizeof *output, 0, 0);
}

KW_API curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *output, size_t n, double lambda)
{
    REQUIRE(lambda > 0 && lambda <= 400000, OUT_OF_RANGE);
    return draw(generator, __func__, output, n, sizeof *output, lambda, 0);
}

/* Normal numbers come in pairs. */
#define NORMAL(name, T)                                                                                               \
    KW_API curandStatus_t curandGenerate##name(curandGenerator_t generator, T *output, size_t n, T mean, T stddev)    \
    {                                                                                                                 \
        REQUIRE(n % 2 == 0, LENGTH_NOT_MULTIPLE);                                                                     \
        return draw(generator, __func__, output, n, sizeof *output, (double)mean, (double)stddev);                    \
    }
NORMAL(Normal, float)
NORMAL(NormalDouble, double)
NORMAL(LogNormal, float)
NORMAL(LogNormalDouble, double)
