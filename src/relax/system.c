// system.c - cuts a problem into units and scales it so that every friction limit is one.
//
// W is read by rows exactly as given, even if it is slightly unsymmetric, and kept beside E W E, because
// rows with mu = 0 cannot be scaled back. Residuals are the audit's own, of p = E x.
// Fails: CR_ERR_MEMORY.
#include "system.h"
#include "base/room.h"
#include "linalg/project.h"

#include <string.h>

// Returns the number of rows of the block's units.
static int rows_at_once(const crBlock* block) {
    if (block->kind == CR_BLOCK_CONE) return block->count;
    return block->kind == CR_BLOCK_EQUALITY && block->count <= CR_UNIT_ROWS ? block->count : 1;
}

// Cuts the blocks into units; fills unit, unit_of and E.
static void cut_blocks(crSystem* system) {
    const crProblem* problem = system->problem;
    int at = 0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int step = rows_at_once(block);
        for (int row = block->row; row < block->row + block->count; row += step) {
            for (int k = 0; k < step; k++) {
                system->unit_of[row + k] = at;
            }
            cr__unit_cut(problem, block, row, step, &system->unit[at], system->E + row);
            at++;
        }
    }
}

// Returns the number of units; diagonal receives the numbers in their diagonal blocks.
static int count_units(const crProblem* problem, size_t* diagonal) {
    int units = 0;
    *diagonal = 0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int step = rows_at_once(block);
        units += block->count / step;
        *diagonal += (size_t)block->count * (size_t)step;
    }
    return units;
}

// Fills E W E and, in D, the diagonal block of each unit.
static void scale_rows(crSystem* system, double* D) {
    const crMatrix* W = &system->W;
    for (int i = 0; i < system->units; i++) {
        crUnit* unit = &system->unit[i];
        size_t size = (size_t)unit->count * (size_t)unit->count;
        memset(D, 0, size * sizeof *D);
        double largest = 0.0;
        for (int a = 0; a < unit->count; a++) {
            int row = unit->row + a;
            for (int k = W->start[row]; k < W->start[row + 1]; k++) {
                int b = W->col[k] - unit->row;
                system->scaled[k] = system->E[row] * W->value[k] * system->E[W->col[k]];
                if (b >= 0 && b < unit->count) D[a * unit->count + b] = system->scaled[k];
            }
            largest = fmax(largest, D[a * unit->count + a]);
        }
        unit->D = D;
        unit->rho = largest > 0.0 ? 1.0 / largest : 1.0;
        D += size;
    }
}

crStatus cr__system_create(crSystem* system, const crProblem* problem, crArena* arena) {
    *system = (crSystem){.problem = problem, .n = problem->rows};
    size_t n = (size_t)problem->rows;
    size_t diagonal = 0;
    system->units = count_units(problem, &diagonal);
    double* D;
    if (!CR_ROOMS(arena, CR_ROOM(system->unit, system->units), CR_ROOM(system->unit_of, n),
                  CR_ROOM(system->E, n), CR_ROOM(system->q, n), CR_ROOM(system->p, n),
                  CR_ROOM(system->auditor, 1), CR_ROOM(D, diagonal)))
        return CR_ERR_MEMORY;
    crStatus status = cr_problem_sparse(problem, arena, &system->W);
    if (status != CR_OK) return status;
    if (!CR_ROOMS(arena, CR_ROOM(system->scaled, (size_t)system->W.start[n]))) return CR_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        system->q[i] = problem->u_free[i] + (problem->b != NULL ? problem->b[i] : 0.0);
    }
    cut_blocks(system);
    scale_rows(system, D);
    // a full matrix is read faster as it is
    bool full = (size_t)system->W.start[n] == n * n && problem->W.value != NULL && problem->W.start == NULL;
    return cr__auditor_create(problem, full ? &problem->W : &system->W, arena, system->auditor);
}

void cr__system_from_p(const crSystem* system, const double* p, double* x) {
    for (int i = 0; i < system->n; i++) {
        x[i] = system->E[i] > 0.0 ? p[i] / system->E[i] : 0.0;
        if (!isfinite(x[i])) x[i] = 0.0;
    }
}

void cr__system_to_p(const crSystem* system, const double* x, double* p) {
    for (int i = 0; i < system->n; i++) {
        p[i] = system->E[i] * x[i];
    }
}

void cr__system_add_product(const crSystem* system, const crUnit* unit, const double* x, double* w) {
    const crMatrix* W = &system->W;
    const double* row = system->scaled + W->start[unit->row];
    size_t n = (size_t)system->n, entries = (size_t)(W->start[unit->row + unit->count] - W->start[unit->row]);
    if (unit->count == 3 && entries == 3 * n) {
        // the sums of three full rows are independent and overlap; each adds its terms in order
        double s0 = w[0], s1 = w[1], s2 = w[2];
        for (size_t j = 0; j < n; j++) {
            s0 += row[j] * x[j];
            s1 += row[n + j] * x[j];
            s2 += row[2 * n + j] * x[j];
        }
        w[0] = s0;
        w[1] = s1;
        w[2] = s2;
        return;
    }
    for (int a = 0; a < unit->count; a++) {
        double sum = w[a];
        for (int k = W->start[unit->row + a]; k < W->start[unit->row + a + 1]; k++) {
            sum += system->scaled[k] * x[W->col[k]];
        }
        w[a] = sum;
    }
}

void cr__system_unit_velocity(const crSystem* system, const crUnit* unit, const double* x, double* w) {
    for (int a = 0; a < unit->count; a++) {
        w[a] = system->E[unit->row + a] * system->q[unit->row + a];
    }
    cr__system_add_product(system, unit, x, w);
}

void cr__system_velocity(const crSystem* system, const double* x, double* w) {
    for (int i = 0; i < system->units; i++) {
        cr__system_unit_velocity(system, &system->unit[i], x, w + system->unit[i].row);
    }
}

double cr__system_residual(const crSystem* system, const double* x) {
    cr__system_to_p(system, x, system->p);
    return cr__auditor_residual(system->auditor, system->p);
}

void cr__unit_clamp(const crUnit* unit, double* x) {
    if (unit->kind == CR_BLOCK_EQUALITY) return;
    if (unit->kind == CR_BLOCK_BOX) {
        x[0] = fmin(unit->hi, fmax(unit->lo, x[0]));
        return;
    }
    x[0] = fmax(0.0, x[0]);
    for (int k = 0; k < unit->part_count; k++) {
        const crUnitPart* part = &unit->part[k];
        if (part->polygon) {
            cr__project_polygon(unit->vertices, unit->vertex_count, x[0], x + part->at);
        } else if (!part->free || x[0] == 0.0) {
            cr__project_disc(x[0], part->count, x + part->at);
        }
    }
}
