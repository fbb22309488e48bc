// The lower bound of a partial candidate: rules.py in C, term by term. Names are those of rules.py.
#include <math.h>
#include <stdint.h>

enum { MOST_DIMS = 512, MOST_INSTRUCTIONS = 128, MOST_ARRAYS = 32, MOST_LOOPS = 64, VALUES = 16 };
enum { LOAD, STORE, PUT, GET, OTHER };
enum { LANES = 32, WIDEST = 4, THREADS = 1024, SECTOR_ELEMENTS = 8, REAL_LOOP = 3 };
enum { OWN_NORM = 4 };  // of the parts of a multiprocessor, as the timing model has it
enum { ISSUE, FMA, XU, L1, L2, MEMORY, LATENCY, TERMS };

typedef struct {
    int32_t first, last;          // its own dims
    int32_t own_first, own_last;  // in `own`: those, and the rests around a temporary
    int32_t step_first, step_last;
    int32_t operation, array, unit_stride, exists, yes, space;  // of a temporary: the variables of whether it exists, and where
    double executions, fma, special, issue, chain, per_sector, bytes;
} Instruction;

typedef struct {
    int32_t dim, begins_loop;  // dims of an access, innermost first, loop by loop
    double stride;
} Step;

typedef struct {
    int32_t put, get, exists, yes;
} Temporary;

typedef struct {
    int32_t reduction, producer, is_load, temporary;  // of `Reuse`; temporary -1: none
    int32_t dim_first, dim_last, rest_first, rest_last;
} Reuse;

typedef struct {
    double multiprocessors, blocks, warps, issue, fma, xu, request, l1_sector, wavefront, l2_sector, l2_sector_of_one,
        memory_byte, add_latency, load_latency, shared_latency, barrier, joined;
} Machine;

typedef struct {
    int32_t dims, instructions, temporaries, arrays, store, loop_bit, unroll_bit, vector_bit, block_bit, thread_bit,
        outer_bit, inner_bit, merged_bit, mapped_bit, not_bit, shared_bit, global_bit, reuses;
    const int32_t *kind, *size, *of;       // per dim: its variables (size -1: a rest), its instruction
    const double *value, *extent;          // candidate sizes, 16 for each dim; the loop's extent
    const int32_t *tile_first, *tile;      // of a rest: the tiles it is left by
    const int32_t *partial, *reduced;      // per dim: its loop's number from 1 where iterations may be only partly there; whether it is reduced
    int64_t partial_loops;
    const int32_t *pair, *inside;          // orders: dim to dim, dim to instruction; variable * 2 + (the other way round)
    const int32_t *axes;                   // whether two tiles are one axis of threads; -1: a rest
    const int32_t *own, *loop_first;       // dims of the store by loop: loop_first[l] to loop_first[l + 1] in `loop`
    const int32_t *loop;
    int64_t loops;
    const Instruction *instruction;
    const Step *step;
    const Temporary *temporary;
    const Reuse *reuse;
    const int32_t *reuse_dim;
    Machine machine;
} Bound;

// How often an instruction runs beyond its own iterations, and what one request of it can be.
typedef struct {
    double blocks, again, warps, sequential, looped, joined;
} Repetition;

static inline int surely_outer(const Bound *b, const uint16_t *state, int32_t order) {
    return state[order >> 1] == (order & 1 ? b->inner_bit : b->outer_bit);
}

static inline int may_merge(const Bound *b, const uint16_t *state, int32_t order) {
    return order >= 0 && (state[order >> 1] & b->merged_bit);
}

// Iterations that one request may cover at most; not those of kinds that are apart, nor of a loop that stays one.
static inline double at_once(int kind, int apart, int LOOP, double low, double high) {
    if (kind & ~(apart | LOOP)) return high;
    return (kind & LOOP) && low < REAL_LOOP ? fmin(high, REAL_LOOP - 1) : 1;
}

// A LOOP whose every iteration runs one of `loops`.
static inline int is_around(const Bound *b, const uint16_t *state, int d, const int *loops, int count) {
    for (int n = 0; n < count; n++)
        if (d != loops[n] && surely_outer(b, state, b->pair[d * b->dims + loops[n]])) return 1;
    return 0;
}

static inline int stays_a_loop(const Bound *b, const Reuse *reuse, const double *low) {
    for (int t = reuse->rest_first; t < reuse->rest_last; t++)
        if (low[b->reuse_dim[t]] >= REAL_LOOP) return 1;
    return 0;
}

// Every array is written before it is read: no initialisation of kilobytes for a bound of microseconds.
// The norm of some times, by squares and square roots alone; the largest where it is 0.
static double joined(const double *times, int count, double norm) {
    double most = 0, total = 0;
    for (int n = 0; n < count; n++) most = fmax(most, times[n]);
    if (norm <= 0 || most <= 0) return most;
    for (int n = 0; n < count; n++) {
        double x = times[n] / most;
        for (int p = 1; p < norm; p *= 2) x *= x;
        total += x;
    }
    for (int p = 1; p < norm; p *= 2) total = sqrt(total);
    return most * total;
}

double bound_terms(const Bound *b, const uint16_t *state, double norm, double wait_norm, double *cycles, double *work) {
    const Machine *m = &b->machine;
    uint16_t kind[MOST_DIMS];
    uint8_t present[MOST_DIMS];
    double low[MOST_DIMS], high[MOST_DIMS];
    int fixed[MOST_DIMS], fixed_count = 0;
    const int LOOP = b->loop_bit, UNROLL = b->unroll_bit, BLOCK = b->block_bit, THREAD = b->thread_bit;

    for (int i = 0; i < b->instructions; i++) {
        const Instruction *x = b->instruction + i;
        int here = x->exists < 0 || state[x->exists] == x->yes;
        for (int d = x->first; d < x->last; d++) present[d] = (uint8_t)here;
    }
    for (int d = 0; d < b->dims; d++) {
        if (!present[d]) continue;
        kind[d] = state[b->kind[d]];
        if (b->size[d] >= 0) {
            unsigned mask = state[b->size[d]];
            low[d] = b->value[d * VALUES + __builtin_ctz(mask)];
            high[d] = b->value[d * VALUES + 31 - __builtin_clz(mask)];
        }
    }
    // Of loops with iterations that may be only partly there: the share of all that is there, at least. 0 is every other loop.
    double there[MOST_LOOPS + 1], all_there = 1;
    for (int l = 0; l <= b->partial_loops; l++) there[l] = 1;
    for (int d = 0; d < b->dims; d++) {
        if (!present[d]) continue;
        if (b->size[d] < 0) {
            double most = 1, least = 1;
            for (int t = b->tile_first[d]; t < b->tile_first[d + 1]; t++) most *= high[b->tile[t]], least *= low[b->tile[t]];
            low[d] = fmax(1, b->extent[d] / most);
            high[d] = fmax(1, b->extent[d] / least);
            int l = b->partial[d];
            if (l) {
                low[d] = ceil(low[d]), high[d] = ceil(high[d]);
                there[l] = fmin(there[l], b->extent[d] / (most == least ? low[d] * most : b->extent[d] + most - 1));
            }
        }
        if (kind[d] == BLOCK || kind[d] == THREAD || kind[d] == LOOP) fixed[fixed_count++] = d;
    }

    for (int l = 1; l <= b->partial_loops; l++) all_there *= there[l];

    double threads = 0;
    int axes[MOST_DIMS], axis_count = 0, widest = -1;
    for (int i = 0; i < b->instructions; i++) {
        const Instruction *x = b->instruction + i;
        if (x->exists >= 0 && state[x->exists] != x->yes) continue;
        double n = 1;
        for (int d = x->first; d < x->last; d++)
            if (kind[d] == THREAD) n *= low[d];
        if (n > threads) threads = n, widest = i;
    }
    for (int d = b->instruction[widest].first; d < b->instruction[widest].last; d++)
        if (kind[d] == THREAD) axes[axis_count++] = d;
    for (int f = 0; f < fixed_count; f++) {
        int d = fixed[f], apart = kind[d] == THREAD;
        for (int n = 0; n < axis_count && apart; n++)
            apart = d != axes[n] && !(state[b->axes[d * b->dims + axes[n]]] & (b->mapped_bit | b->not_bit));
        if (apart) axes[axis_count++] = d, threads *= low[d];
    }
    threads = fmin(threads, THREADS);

    double fewest_blocks = 1, most_blocks = 1;
    const Instruction *store = b->instruction + b->store;
    for (int d = store->first; d < store->last; d++)
        if (kind[d] == BLOCK) fewest_blocks *= low[d];
    for (int l = 0; l < b->loops; l++) {
        double others = 1, tiles = 0;
        int first = b->loop_first[l], last = b->loop_first[l + 1];
        for (int n = first; n < last; n++) {
            int d = b->loop[n];
            if (!(kind[d] & BLOCK)) others *= low[d];
            else if (b->size[d] >= 0) tiles = fmax(1, tiles) * high[d];
        }
        double spread = fmax(1, b->extent[b->loop[first]] / others);
        if (b->partial[b->loop[first]]) spread = tiles > 0 ? spread + tiles : ceil(spread);
        most_blocks *= spread;
    }

    // Nothing moves a reduction out of a loop that stays one.
    uint8_t in_all_threads[MOST_INSTRUCTIONS];
    for (int i = 0; i < b->instructions; i++) in_all_threads[i] = 0;
    for (int n = 0; n < b->reuses; n++) in_all_threads[b->reuse[n].reduction] |= stays_a_loop(b, b->reuse + n, low);

    double per_array[MOST_ARRAYS][4], either[MOST_ARRAYS], again_read[MOST_INSTRUCTIONS];
    Repetition of[MOST_INSTRUCTIONS];
    for (int a = 0; a < b->arrays; a++) per_array[a][0] = per_array[a][1] = per_array[a][2] = per_array[a][3] = either[a] = 0;
    double issued = 0, fma_ = 0, special = 0, inner = 0, shared_requests = 0, chain = 0, waits = 0, steps = 0;
    double requests = 0, l1_sectors = 0, l2_sectors = 0, bytes = 0, near = 0, others = 0;
    for (int i = 0; i < b->instructions; i++) {
        const Instruction *x = b->instruction + i;
        if (x->exists >= 0 && state[x->exists] != x->yes) continue;
        double around = 1, sequential = 1, looped = 1, joined = 1, spread = 1, blocks = 1, again = 1, share = 1;
        uint8_t seen[MOST_LOOPS + 1];
        for (int l = 0; l <= b->partial_loops; l++) seen[l] = 0;
        int own_loops[MOST_DIMS], own_loop_count = 0;
        for (int n = x->own_first; n < x->own_last; n++) {
            int d = b->own[n];
            if (!(kind[d] & ~(LOOP | UNROLL))) sequential *= low[d];
            if (kind[d] == LOOP && low[d] >= REAL_LOOP) {
                looped *= low[d];
                own_loops[own_loop_count++] = d;
            }
        }
        for (int n = x->own_first; n < x->own_last; n++) {
            int d = b->own[n];
            if (kind[d] == LOOP && low[d] < REAL_LOOP && is_around(b, state, d, own_loops, own_loop_count)) looped *= low[d];
        }
        for (int d = x->first; d < x->last; d++) {
            if (kind[d] & THREAD) spread *= high[d];
            joined *= at_once(kind[d], THREAD | BLOCK, LOOP, low[d], high[d]);
        }
        int counted[MOST_DIMS], count = 0;
        for (int f = 0; f < fixed_count; f++) {
            int d = fixed[f];
            if (b->of[d] == i || !surely_outer(b, state, b->inside[d * b->instructions + i])) continue;
            if (kind[d] == LOOP && !is_around(b, state, d, own_loops, own_loop_count)) continue;
            int other = 1;
            for (int n = x->own_first; n < x->own_last && other; n++)
                other = d != b->own[n] && !may_merge(b, state, b->pair[d * b->dims + b->own[n]]);
            for (int n = 0; n < count && other; n++) other = !may_merge(b, state, b->pair[d * b->dims + counted[n]]);
            if (!other) continue;
            counted[count++] = d;
            if (!seen[b->partial[d]]) seen[b->partial[d]] = 1, share *= there[b->partial[d]];
            if (kind[d] == BLOCK) blocks *= low[d];
            else if (kind[d] == THREAD) around *= low[d];
            else again *= low[d];
        }
        if (share < 1) blocks = fmax(1, blocks * share), around = fmax(1, around * share), again = fmax(1, again * share);
        // Of the iterations that a thread runs, those that are there on average.
        double own_share = again;
        for (int l = 0; l <= b->partial_loops; l++) seen[l] = 0;
        for (int n = x->own_first; n < x->own_last; n++) {
            int l = b->partial[b->own[n]];
            if (!seen[l]) seen[l] = 1, own_share *= there[l];
        }
        Repetition *r = of + i;
        r->blocks = blocks, r->again = again, r->warps = 1 / fmin(LANES, spread);
        if (x->operation != STORE && x->operation != PUT) r->warps = fmax(r->warps, around / LANES);
        // Warps without an iteration that is there read nothing.
        double all_warps = b->partial_loops ? threads / LANES : ceil(threads / LANES);
        if (in_all_threads[i]) r->warps = fmax(r->warps, all_warps / fmin(spread, THREADS));
        r->sequential = sequential * own_share, r->looped = looped * own_share;
        r->joined = x->unit_stride ? fmin(WIDEST, joined) : 1;
        again_read[i] = 0;
    }

    for (int n = 0; n < b->reuses; n++) {
        const Reuse *u = b->reuse + n;
        if (!stays_a_loop(b, u, low)) continue;
        const Repetition *r = of + u->reduction;
        double runs = b->instruction[u->reduction].executions * r->blocks, served = 1;
        for (int t = u->dim_first; t < u->dim_last; t++)
            if (kind[b->reuse_dim[t]] & UNROLL) served *= high[b->reuse_dim[t]];
        double asked = runs * r->warps / served;
        const Temporary *t = u->temporary >= 0 ? b->temporary + u->temporary : 0;
        int array = b->instruction[u->producer].array;
        if (t && state[t->exists] == t->yes) again_read[t->get] = asked / of[t->get].joined;
        else if (u->is_load && (!t || !(state[t->exists] & t->yes)))
            again_read[u->producer] = fmax(again_read[u->producer], asked / of[u->producer].joined);
        else if (u->is_load) either[array] = fmax(either[array], asked / WIDEST);
    }

    for (int i = 0; i < b->instructions; i++) {
        const Instruction *x = b->instruction + i;
        if (x->exists >= 0 && state[x->exists] != x->yes) continue;
        const Repetition *r = of + i;
        double blocks = r->blocks, again = r->again, sequential = r->sequential, looped = r->looped, joined = r->joined;
        double runs = x->executions * blocks * again, warps = runs * r->warps;
        fma_ += warps * x->fma;
        special += warps * x->special;
        double asked = fmax(warps / joined, again_read[i]);
        if (x->operation == LOAD || x->operation == STORE) {
            double held = 1, step = 1;
            for (int n = x->step_first; n < x->step_last; n++) {
                const Step *s = b->step + n;
                if (s->begins_loop) step = s->stride;
                if (step < SECTOR_ELEMENTS)
                    held *= fmin(at_once(kind[s->dim], BLOCK, LOOP, low[s->dim], high[s->dim]),
                                 floor((SECTOR_ELEMENTS - 1) / step) + 1);
                step *= floor(low[s->dim]);
            }
            double *row = per_array[x->array];
            row[0] = fmax(row[0], asked);
            row[1] = fmax(row[1], fmax(runs / fmin(held, x->per_sector), asked));
            row[2] = fmax(row[2], x->executions * blocks / x->per_sector);
            row[3] = fmax(row[3], x->bytes);
            if (x->operation == STORE) steps += sequential / joined;
            else waits = fmax(waits, looped * m->load_latency);
        } else if (x->operation == PUT || x->operation == GET) {
            if (threads < 2) continue;
            int space = state[x->space];
            double latency = fmin(m->shared_latency, m->load_latency);
            if (space == b->shared_bit) {
                latency = m->shared_latency;
                issued += asked;
                shared_requests += asked;
                inner += fmax(asked * m->request, fmax(asked, runs / LANES) * m->wavefront);
            } else if (space == b->global_bit) {
                // What a block wrote it may read from L1; what it writes goes to L2, and need not go on to memory.
                double sectors = fmax(runs / SECTOR_ELEMENTS, asked);
                latency = m->load_latency;
                requests += asked, l1_sectors += sectors;
                if (x->operation == PUT) l2_sectors += x->executions * blocks / SECTOR_ELEMENTS;
                near += fmax(asked, sectors * m->l1_sector);
            } else {
                others += asked;
            }
            if (x->operation == GET) waits = fmax(waits, looped * latency);
        } else {
            issued += warps * x->issue;
            steps += sequential * x->issue;
            double parts = 1;
            for (int n = x->own_first; n < x->own_last; n++)
                if (b->reduced[b->own[n]] && kind[b->own[n]] & THREAD) parts *= high[b->own[n]];
            chain = fmax(chain, x->chain / parts * again * m->add_latency);
        }
    }

    for (int a = 0; a < b->arrays; a++) {
        requests += per_array[a][0], l1_sectors += per_array[a][1], l2_sectors += per_array[a][2], bytes += per_array[a][3];
        near += fmax(per_array[a][0], per_array[a][1] * m->l1_sector);
        others += fmax(0, either[a] - per_array[a][0]);
    }
    issued += requests + others;
    if (m->joined) near += fmin(1, m->wavefront) * others;  // else it is not known which of the two is kept busy

    double most_barriers = 0;
    for (int t = 0; t < b->temporaries && threads >= 2; t++) {
        const Temporary *x = b->temporary + t;
        if (state[x->exists] != x->yes) continue;
        double barriers = 1;
        int counted[MOST_DIMS], count = 0;
        for (int f = 0; f < fixed_count; f++) {
            int d = fixed[f];
            if (kind[d] != LOOP || b->of[d] == x->put || b->of[d] == x->get) continue;
            if (!surely_outer(b, state, b->inside[d * b->instructions + x->put])) continue;
            if (!surely_outer(b, state, b->inside[d * b->instructions + x->get])) continue;
            int other = 1;
            for (int n = 0; n < count && other; n++) other = !may_merge(b, state, b->pair[d * b->dims + counted[n]]);
            if (other) counted[count++] = d, barriers *= low[d];
        }
        most_barriers = fmax(most_barriers, barriers);
    }

    double l1 = fmax((requests + shared_requests + others) * m->request, m->joined ? near + inner : fmax(near, inner));
    double busy = fmin(most_blocks, m->multiprocessors);
    if (fewest_blocks == most_blocks) busy = most_blocks / ceil(most_blocks / m->multiprocessors);
    double resident = fmin(m->blocks, floor(m->warps / ceil(threads / LANES)));
    double rounds = ceil(ceil(fewest_blocks * all_there / m->multiprocessors) / resident);
    cycles[ISSUE] = issued * m->issue / busy;
    cycles[FMA] = fma_ * m->fma / busy;
    cycles[XU] = special * m->xu / busy;
    cycles[L1] = l1 / busy;
    cycles[L2] = fmax(l2_sectors * m->l2_sector, l2_sectors * m->l2_sector_of_one / busy);
    cycles[MEMORY] = bytes * m->memory_byte;
    cycles[LATENCY] = rounds * (fmax(chain, fmax(waits, steps)) + most_barriers * m->barrier);
    if (work) {
        double found[] = {issued, requests, l1_sectors, shared_requests, l2_sectors, fewest_blocks, most_blocks};
        for (int n = 0; n < 7; n++) work[n] = found[n];
    }

    // Parts overlap as the timing model says. Of the chip's the largest alone: there they overlap almost perfectly, and no more is sure.
    double own[] = {cycles[ISSUE], cycles[FMA], cycles[XU], cycles[L1]};
    double beyond[] = {fmax(cycles[L2], cycles[MEMORY]), cycles[LATENCY]};
    if (norm <= 0) return fmax(joined(own, 4, 0), joined(beyond, 2, 0));
    double both[] = {joined(own, 4, OWN_NORM), joined(beyond, 2, wait_norm)};
    return joined(both, 2, norm);
}

// Of `count` states, each `width` variables long.
void bound_many(const Bound *b, const uint16_t *states, int64_t count, int64_t width, double norm, double wait_norm,
                double *found) {
    double cycles[TERMS];
    for (int64_t n = 0; n < count; n++) found[n] = bound_terms(b, states + n * width, norm, wait_norm, cycles, 0);
}

int64_t bound_struct_bytes(void) { return sizeof(Bound); }
