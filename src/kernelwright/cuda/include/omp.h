/* OpenMP for host code that is compiled without its runtime: every region is run by the one thread that comes to it. With the runtime
 * (-fopenmp, openmp.py) the host side gets the header that belongs to it.
 *
 * OpenMP 5.0, section 1.3: a team may have one thread, so what a program gets here is one of the results it may get anywhere. Its
 * pragmas are ignored and `_OPENMP` is not defined; that -Xcompiler -fopenmp asked for more is said on standard error (compile_flags.py).
 */
#pragma once
#pragma GCC system_header
#if defined(_OPENMP) && !defined(__CUDA_ARCH__)
#include_next <omp.h>
#else
#include <stdlib.h>
#include <time.h>

typedef enum omp_sched_t {
    omp_sched_static = 1,
    omp_sched_dynamic = 2,
    omp_sched_guided = 3,
    omp_sched_auto = 4
} omp_sched_t;

typedef enum omp_proc_bind_t {
    omp_proc_bind_false = 0,
    omp_proc_bind_true = 1,
    omp_proc_bind_master = 2,
    omp_proc_bind_close = 3,
    omp_proc_bind_spread = 4
} omp_proc_bind_t;

/* How often the one thread holds it. */
typedef struct omp_lock_t {
    int held;
} omp_lock_t;
typedef omp_lock_t omp_nest_lock_t;

#if defined(__cplusplus)
extern "C" {
#endif

/* ---- threads and teams ---- */

static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_thread_limit(void) { return 1; }
static inline int omp_get_num_procs(void) { return 1; }
static inline int omp_in_parallel(void) { return 0; }
static inline int omp_in_final(void) { return 1; }
static inline int omp_get_level(void) { return 0; }
static inline int omp_get_active_level(void) { return 0; }
static inline int omp_get_ancestor_thread_num(int level) { return level ? -1 : 0; }
static inline int omp_get_team_size(int level) { return level ? -1 : 1; }
static inline int omp_get_num_teams(void) { return 1; }
static inline int omp_get_team_num(void) { return 0; }
static inline int omp_get_cancellation(void) { return 0; }
static inline omp_proc_bind_t omp_get_proc_bind(void) { return omp_proc_bind_false; }

/* ---- settings: one thread does not act on them ---- */

static inline void omp_set_num_threads(int threads) { (void)threads; }
static inline void omp_set_dynamic(int on) { (void)on; }
static inline int omp_get_dynamic(void) { return 0; }
static inline void omp_set_nested(int on) { (void)on; }
static inline int omp_get_nested(void) { return 0; }
static inline void omp_set_max_active_levels(int levels) { (void)levels; }
static inline int omp_get_max_active_levels(void) { return 0; }
static inline void omp_set_schedule(omp_sched_t kind, int chunk) { (void)kind, (void)chunk; }
static inline void omp_get_schedule(omp_sched_t *kind, int *chunk) { *kind = omp_sched_static, *chunk = 0; }

/* ---- devices: those of CUDA are not OpenMP's ---- */

static inline int omp_get_num_devices(void) { return 0; }
static inline int omp_get_initial_device(void) { return 0; }
static inline int omp_get_default_device(void) { return 0; }
static inline void omp_set_default_device(int device) { (void)device; }
static inline int omp_is_initial_device(void) { return 1; }

/* ---- locks ---- */

static inline void omp_init_lock(omp_lock_t *lock) { lock->held = 0; }
static inline void omp_destroy_lock(omp_lock_t *lock) { (void)lock; }
static inline void omp_unset_lock(omp_lock_t *lock) { lock->held = 0; }
static inline int omp_test_lock(omp_lock_t *lock) { return lock->held ? 0 : (lock->held = 1); }
/* No other thread could open it: waiting would not end. */
static inline void omp_set_lock(omp_lock_t *lock)
{
    if (!omp_test_lock(lock))
        abort();
}
static inline void omp_init_nest_lock(omp_nest_lock_t *lock) { lock->held = 0; }
static inline void omp_destroy_nest_lock(omp_nest_lock_t *lock) { (void)lock; }
static inline void omp_set_nest_lock(omp_nest_lock_t *lock) { lock->held++; }
static inline void omp_unset_nest_lock(omp_nest_lock_t *lock) { lock->held--; }
static inline int omp_test_nest_lock(omp_nest_lock_t *lock) { return ++lock->held; }

/* ---- seconds ---- */

static inline double omp_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline double omp_get_wtick(void) { return 1e-9; }

#if defined(__cplusplus)
}
#endif
#endif
