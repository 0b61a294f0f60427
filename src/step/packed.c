// packed.c - sweeps over packed contacts until each island has what it was asked for.
//
// Nonsmooth nonlinear conjugate gradients on Gauss-Seidel sweeps: the displacement of a sweep serves as
// gradient, Fletcher and Reeves' ratio as memory, restarted where it would grow (Silcowitz, Niebe and
// Erleben 2010); z moves along since it is linear in the impulses. On towers of boxes plain or over-relaxed
// sweeps need ten times as many. Each island has its own ratio, tolerance and end, so its bits do not depend
// on what else is in the world. Impulses to start from that would create energy are scaled to the least of
// p.(u_free + b) + p.W p / 2 along them.
// Fails: an island that ran out of sweeps says so.
#include <string.h>

#include "step/units.h"

typedef struct Run {
    crPacked* packed;
    crPackedIsland* island;
    int count;
    double* beta;   // (count)
    double* fresh;  // 0: the direction starts again (count)
} Run;

// impulses . E of one lane, by itself: which lanes stand together depends on other islands
static double lane_work(const crPacked* p, const crGroup* g, int l) {
    double sum = 0.0;
    const double* slot = p->hot + g->hot + 2 * CR_LANES + l;
    for (int k = 0; k < g->slots; k++) {
        for (int m = 0; m < 3; m++) {
            sum += slot[(CR_AT_E + m) * CR_LANES] * slot[(CR_AT_P + m) * CR_LANES];
        }
        slot += CR_LANES * (g->two ? CR_SLOT_TWO : CR_SLOT_ONE);
    }
    return sum;
}

// by how much each island's impulses are to be scaled; false where all stay
static bool start_scales(Run* run) {
    crPacked* p = run->packed;
    double* linear = run->beta;
    double* square = run->fresh;
    memset(linear, 0, (size_t)run->count * sizeof(double));
    memset(square, 0, (size_t)run->count * sizeof(double));
    for (int i = 0; i < p->bodies; i++) {
        const double* z = p->z + CR_BODY_STRIDE * (i + 1);
        const double* z_free = p->z_free + CR_BODY_STRIDE * (i + 1);
        for (int k = 0; k < CR_BODY_STRIDE; k++) {
            double dz = z[k] - z_free[k];
            linear[p->body_island[i]] += z_free[k] * dz;
            square[p->body_island[i]] += dz * dz;
        }
    }
    for (int i = 0; i < p->group_count; i++) {
        const crGroup* g = &p->group[i];
        for (int l = 0; l < g->lanes; l++) {
            linear[g->island[l]] += lane_work(p, g, l);
        }
    }
    cr__units_add_work(p->units, linear);
    bool any = false;
    for (int i = 0; i < run->count; i++) {
        bool creates = run->island[i].live && linear[i] + 0.5 * square[i] > 0.0 && square[i] > 0.0;
        run->beta[i] = creates ? fmax(0.0, -linear[i] / square[i]) : 1.0;
        any = any || creates;
    }
    return any;
}

// impulses to start from that would create energy become those of least energy along them
static void check_start(Run* run) {
    crPacked* p = run->packed;
    if (!start_scales(run)) return;
    for (int i = 0; i < p->group_count; i++) {
        const crGroup* g = &p->group[i];
        double* slot = p->hot + g->hot + 2 * CR_LANES;
        for (int k = 0; k < g->slots; k++) {
            for (int m = 0; m < 3 * CR_LANES; m++) {
                slot[CR_AT_P * CR_LANES + m] *= run->beta[g->island[m % CR_LANES]];
            }
            slot += CR_LANES * (g->two ? CR_SLOT_TWO : CR_SLOT_ONE);
        }
    }
    cr__units_scale(p->units, run->beta);
    cr__packed_apply(p);
}

// largest change and size of the last sweep of each island; returns how many go on
static int judge(Run* run, bool* ended) {
    crPacked* p = run->packed;
    for (int i = 0; i < run->count; i++) {
        run->island[i].change = run->island[i].size = 0.0;
    }
    for (int i = 0; i < p->group_count; i++) {
        const crGroup* g = &p->group[i];
        if (!g->live) continue;
        for (int l = 0; l < g->lanes; l++) {
            crPackedIsland* island = &run->island[g->island[l]];
            double change = p->change[i * CR_LANES + l];
            // what is not a number must not pass for small
            if (!(change <= island->change)) island->change = change;
            island->size += p->size[i * CR_LANES + l];
        }
    }
    cr__units_judge(p->units, p->z);
    int live = 0;
    *ended = false;
    for (int i = 0; i < run->count; i++) {
        crPackedIsland* island = &run->island[i];
        if (!island->live) continue;
        island->sweeps++;
        island->solved = island->change <= island->tol * island->tol;
        island->live = !island->solved && island->sweeps < island->limit;
        *ended = *ended || !island->live;
        live += island->live;
    }
    return live;
}

static void mark_live(Run* run) {
    crPacked* p = run->packed;
    for (int i = 0; i < p->group_count; i++) {
        crGroup* g = &p->group[i];
        if (!g->live) continue;
        g->live = false;
        for (int l = 0; l < g->lanes; l++) {
            bool live = run->island[g->island[l]].live;
            p->live[i * CR_LANES + l] = live ? -1 : 0;
            g->live = g->live || live;
        }
    }
}

static void choose_ratios(Run* run) {
    for (int i = 0; i < run->count; i++) {
        crPackedIsland* island = &run->island[i];
        double beta = island->last > 0.0 ? island->size / island->last : 0.0;
        bool restart = !(beta <= 1.0);
        run->beta[i] = restart || !island->live ? 0.0 : beta;
        run->fresh[i] = restart || !island->live ? 0.0 : 1.0;
        island->last = island->size;
    }
}

// p += beta d, d = beta d + dp, for impulses and z
static void accelerate_groups(void* ctx, int begin, int end) {
    const Run* run = ctx;
    crPacked* p = run->packed;
    for (int i = begin; i < end; i++) {
        const crGroup* g = &p->group[i];
        if (!g->live) continue;
        double beta[CR_LANES], fresh[CR_LANES];
        for (int l = 0; l < CR_LANES; l++) {
            beta[l] = run->beta[g->island[l]];
            fresh[l] = run->fresh[g->island[l]];
        }
        double* slot = p->hot + g->hot + (2 + CR_AT_P) * CR_LANES;
        double* d = p->direction + g->step;
        const double* dP = p->dP + g->step;
        for (int k = 0; k < g->slots; k++) {
            for (int m = 0; m < 3; m++) {
                for (int l = 0; l < CR_LANES; l++) {
                    int at = m * CR_LANES + l;
                    slot[at] += beta[l] * d[at];
                    d[at] = beta[l] * d[at] + fresh[l] * dP[at];
                }
            }
            slot += CR_LANES * (g->two ? CR_SLOT_TWO : CR_SLOT_ONE);
            d += 3 * CR_LANES;
            dP += 3 * CR_LANES;
        }
    }
}

static void accelerate_bodies(const Run* run) {
    crPacked* p = run->packed;
    for (int i = 0; i < p->bodies; i++) {
        double beta = run->beta[p->body_island[i]], fresh = run->fresh[p->body_island[i]];
        for (int k = CR_BODY_STRIDE * (i + 1); k < CR_BODY_STRIDE * (i + 2); k++) {
            double dz = p->z[k] - p->z_before[k];
            p->z[k] += beta * p->z_direction[k];
            p->z_direction[k] = beta * p->z_direction[k] + fresh * dz;
        }
    }
}

crStatus cr__packed_solve(crPacked* p, crPackedIsland* island, int count, crArena* arena) {
    Run run = {.packed = p, .island = island, .count = count};
    run.beta = cr_arena_alloc(arena, (size_t)(count + 1) * sizeof(double));
    run.fresh = cr_arena_alloc(arena, (size_t)(count + 1) * sizeof(double));
    if (run.beta == NULL || run.fresh == NULL) return CR_ERR_MEMORY;
    if (p->group_count == 0 && p->units == NULL) return CR_OK;
    size_t bytes = CR_BODY_STRIDE * (size_t)(p->bodies + 1) * sizeof(double);
    check_start(&run);
    memset(p->z_direction, 0, bytes);
    memset(p->direction, 0, p->steps * sizeof(double));
    cr__units_begin(p->units);
    mark_live(&run);
    for (int live = 1; live > 0;) {
        bool ended = false;
        memcpy(p->z_before, p->z, bytes);
        cr__packed_sweep(p);
        live = judge(&run, &ended);
        if (ended) mark_live(&run);
        if (live == 0) break;
        choose_ratios(&run);
        cr__tasks_for(p->tasks, p->group_count, 64, accelerate_groups, &run);
        cr__units_accelerate(p->units, run.beta, run.fresh);
        accelerate_bodies(&run);
    }
    return CR_OK;
}
