// The helpers that CUDA's sample programs include together: strings, timers and comparisons. Our own code.
#pragma once
#pragma GCC system_header

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "helper_string.h"
#include "helper_timer.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

// True where |reference - data| stays within epsilon, relative to the norm of the reference.
static inline bool sdkCompareL2fe(const float *reference, const float *data, unsigned int count, float epsilon) {
    double error = 0, norm = 0;
    for (unsigned int i = 0; i < count; i++) {
        double difference = (double)reference[i] - data[i];
        error += difference * difference;
        norm += (double)reference[i] * reference[i];
    }
    return norm > 0 && sqrt(error / norm) < epsilon;
}

// True where no more than `threshold` of the elements (a share between 0 and 1) differ by more than epsilon.
template <class T, class S>
static inline bool compareData(const T *reference, const T *data, unsigned int count, S epsilon, float threshold) {
    unsigned int different = 0;
    for (unsigned int i = 0; i < count; i++) {
        double difference = (double)reference[i] - (double)data[i];
        if (!(difference <= (double)epsilon && difference >= -(double)epsilon)) different++;
    }
    return different <= threshold * count;
}
