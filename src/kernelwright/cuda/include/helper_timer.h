// A stop watch under the names that CUDA's sample programs use. Our own code; milliseconds of the monotonic clock.
#pragma once
#pragma GCC system_header

#include <time.h>

class StopWatchInterface {
  public:
    void start() {
        begin_ = now();
        running_ = true;
    }
    void stop() {
        if (!running_) return;
        last_ = now() - begin_;
        total_ += last_;
        runs_++;
        running_ = false;
    }
    void reset() {
        last_ = total_ = 0;
        runs_ = 0;
        if (running_) begin_ = now();
    }
    // The total so far, the run under way included.
    float getTime() const { return (float)(total_ + (running_ ? now() - begin_ : 0)); }
    float getAverageTime() const { return runs_ ? (float)(total_ / runs_) : 0.0f; }

  private:
    double begin_ = 0, last_ = 0, total_ = 0;
    int runs_ = 0;
    bool running_ = false;

    static double now() {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
    }
};
typedef StopWatchInterface StopWatchLinux;

static inline bool sdkCreateTimer(StopWatchInterface **timer) {
    *timer = new StopWatchInterface();
    return true;
}
static inline bool sdkDeleteTimer(StopWatchInterface **timer) {
    delete *timer;
    *timer = 0;
    return true;
}
#define KW_TIMER_ACTION(name, method)                     \
    static inline bool name(StopWatchInterface **timer) { \
        if (*timer) (*timer)->method();                   \
        return true;                                      \
    }
KW_TIMER_ACTION(sdkStartTimer, start)
KW_TIMER_ACTION(sdkStopTimer, stop)
KW_TIMER_ACTION(sdkResetTimer, reset)
#undef KW_TIMER_ACTION
static inline float sdkGetTimerValue(StopWatchInterface **timer) { return *timer ? (*timer)->getTime() : 0.0f; }
static inline float sdkGetAverageTimerValue(StopWatchInterface **timer) {
    return *timer ? (*timer)->getAverageTime() : 0.0f;
}
