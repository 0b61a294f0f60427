// rows.c - rows of J: relative velocities of two bodies along given directions, and W through tree solves.
//
// Velocity of b's point minus a's: row_j = dir . (S_j at x_b, where j moves b) - dir . (S_j at x_a, where j
// moves a). What moves both points alike cancels and is left out. W is the product of the rows that half.c
// makes of these. Fails: CR_ERR_LIMIT where the rows given by the caller are full; nothing is added then.
#include "model/rows.h"

#include <string.h>

#include "model/spatial.h"

#define NOISE 1e-15  // of the terms an entry of J is made of
#define SMALL 1e-9   // m, rad: larger rows are not looked at

crStatus cr_rows_create(crArena* arena, int capacity, int entry_capacity, crRows* rows) {
    if (arena == NULL || rows == NULL || capacity < 0 || entry_capacity < 0) return CR_ERR_ARGUMENT;
    *rows = (crRows){0};
    size_t rows_size = (size_t)capacity * sizeof(double);
    crRows made = {.capacity = capacity, .entry_capacity = entry_capacity};
    made.start = cr_arena_alloc(arena, ((size_t)capacity + 1) * sizeof(int));
    made.col = cr_arena_alloc(arena, (size_t)entry_capacity * sizeof(int));
    made.value = cr_arena_alloc(arena, (size_t)entry_capacity * sizeof(double));
    made.w_hat = cr_arena_alloc(arena, rows_size);
    made.gap = cr_arena_alloc(arena, rows_size);
    bool ok = made.start != NULL && made.col != NULL && made.value != NULL && made.w_hat != NULL &&
              made.gap != NULL;
    if (!ok) return CR_ERR_MEMORY;
    made.start[0] = 0;
    *rows = made;
    return CR_OK;
}

int cr__rows_begin(crRows* rows, int count, int entries) {
    if (rows->count + count > rows->capacity) return CR_ERR_LIMIT;
    if (rows->entries + count * entries > rows->entry_capacity) return CR_ERR_LIMIT;
    int first = rows->count;
    for (int r = 0; r < count; r++) {
        rows->w_hat[first + r] = 0.0;
        rows->gap[first + r] = 0.0;
        rows->entries += entries;
        rows->start[first + r + 1] = rows->entries;
    }
    rows->count += count;
    return first;
}

// dof columns of both chains, descending; those that move both are left out where common is false
static int next_column(const crModel* model, int* ja, int* jb, bool common, bool* of_a, bool* of_b) {
    if (*ja == *jb && !common) return -1;
    int j = *ja > *jb ? *ja : *jb;
    if (j < 0) return -1;
    *of_a = *ja == j;
    *of_b = *jb == j;
    if (*of_a) *ja = model->velocity.parent[j];
    if (*of_b) *jb = model->velocity.parent[j];
    return j;
}

static int count_columns(const crModel* model, int a, int b, bool common) {
    int ja = model->bodies[a].last, jb = model->bodies[b].last, count = 0;
    bool of_a, of_b;
    while (next_column(model, &ja, &jb, common, &of_a, &of_b) >= 0) {
        count++;
    }
    return count;
}

static double size1(crVec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

// sizes of the terms that entries of a row are made of
static double reach(const crDynamics* d, const crEnds* ends, const crRows* rows, int r) {
    double far = size1(ends->xb) + size1(d->origin[ends->b]) + size1(d->origin[ends->a]), largest = 0.0;
    for (int i = rows->start[r]; i < rows->start[r + 1]; i++) {
        crTwist S = cr__dof_axis(d, rows->col[i]);
        largest = fmax(largest, ends->spin ? size1(S.omega) : size1(S.v) + size1(S.omega) * far);
    }
    return largest;
}

// rows that are nothing but rounding become zero: an impulse on them would be rounding divided by its square
static void drop_noise(const crDynamics* d, const crEnds* ends, int first, int count, const double* sum,
                       crRows* rows) {
    for (int r = 0; r < count; r++) {
        if (!(sum[r] > 0.0 && sum[r] < SMALL) || sum[r] > NOISE * reach(d, ends, rows, first + r)) continue;
        for (int i = rows->start[first + r]; i < rows->start[first + r + 1]; i++) {
            rows->value[i] = 0.0;
        }
    }
}

// entries of one velocity, which moves b's point by u against a's; count is a constant where it is called
static inline void add_entries(const crVec3* dir, int count, crVec3 u, int j, int at, int width, double* sum,
                               crRows* rows) {
    for (int r = 0; r < count; r++) {
        double value = cr_dot(dir[r], u);
        rows->col[at + r * width] = j;
        rows->value[at + r * width] = value;
        sum[r] += fabs(value);
    }
}

static inline crVec3 point_of(const crEnds* ends, crTwist S, crVec3 r) {
    return ends->spin ? S.omega : cr__twist_at(S, r);
}

// one body of a tree against what v does not move: the path to it
static inline void fill_path(const crDynamics* d, const crEnds* ends, crVec3 r, const crVec3* dir, int count,
                             const int* path, int width, int start, double* sum, crRows* rows) {
    for (int k = 0; k < width; k++) {
        add_entries(dir, count, point_of(ends, cr__dof_axis(d, path[k]), r), path[k], start + k, width, sum,
                    rows);
    }
}

static int add_path(const crModel* model, const crDynamics* d, const crEnds* ends, crVec3 r,
                    const crVec3* frame, int count, double* sum, crRows* rows) {
    bool of_b = cr__moves(model, ends->b);
    int last = model->bodies[of_b ? ends->b : ends->a].last;
    int width = model->velocity.depth[last] + 1, first = cr__rows_begin(rows, count, width);
    if (first < 0) return first;
    const int* path = d->mass.path + model->velocity.row[last];
    crVec3 dir[3];
    for (int k = 0; k < count; k++) {
        dir[k] = of_b ? frame[k] : cr_neg(frame[k]);
    }
    if (count == 3) {
        fill_path(d, ends, r, dir, 3, path, width, rows->start[first], sum, rows);
    } else {
        fill_path(d, ends, r, dir, count, path, width, rows->start[first], sum, rows);
    }
    return first;
}

static int add_both(const crModel* model, const crDynamics* d, const crEnds* ends, crVec3 ra, crVec3 rb,
                    const crVec3* dir, int count, double* sum, crRows* rows) {
    crVec3 apart = cr_sub(ends->xb, ends->xa);
    bool common = !ends->spin && cr_dot(apart, apart) > 0.0, of_a = false, of_b = false;
    int width = count_columns(model, ends->a, ends->b, common);
    int first = cr__rows_begin(rows, count, width);
    int ja = model->bodies[ends->a].last, jb = model->bodies[ends->b].last;
    for (int k = width - 1; k >= 0 && first >= 0; k--) {
        int j = next_column(model, &ja, &jb, common, &of_a, &of_b);
        crVec3 u = cr_vec3(0, 0, 0);
        if (of_b) u = point_of(ends, cr__dof_axis(d, j), rb);
        if (of_a) u = cr_sub(u, point_of(ends, cr__dof_axis(d, j), ra));
        add_entries(dir, count, u, j, rows->start[first] + k, width, sum, rows);
    }
    return first;
}

// a body of a tree that v moves, its path at hand
static bool has_row(const crModel* model, int body) {
    return cr__moves(model, body) && !model->bodies[body].single &&
           model->velocity.row[model->bodies[body].last] >= 0;
}

int cr__rows_add(const crModel* model, const crDynamics* d, const crEnds* ends, const crMat3* frame,
                 int count, crRows* rows) {
    int a = ends->a, b = ends->b;
    crVec3 ra = cr_sub(ends->xa, d->origin[a]), rb = cr_sub(ends->xb, d->origin[b]);
    crVec3 dir[3];
    for (int r = 0; r < count; r++) {
        dir[r] = cr_mat3_column(*frame, r);
    }
    double sum[3] = {0};
    int first;
    if (has_row(model, a) && !cr__moves(model, b)) {
        first = add_path(model, d, ends, ra, dir, count, sum, rows);
    } else if (has_row(model, b) && !cr__moves(model, a)) {
        first = add_path(model, d, ends, rb, dir, count, sum, rows);
    } else {
        first = add_both(model, d, ends, ra, rb, dir, count, sum, rows);
    }
    if (first < 0) return first;
    drop_noise(d, ends, first, count, sum, rows);
    crTwist ga = cr__given(d, a), gb = cr__given(d, b);
    crVec3 given = cr_sub(point_of(ends, gb, rb), point_of(ends, ga, ra));
    for (int r = 0; r < count; r++) {
        rows->w_hat[first + r] = cr_dot(dir[r], given);
    }
    return first;
}

static bool fits(const crModel* model, int a, int b, int count) {
    return a >= 0 && a < model->nb && b >= 0 && b < model->nb && count >= 1 && count <= 3;
}

int cr_rows_add_point(const crModel* model, const crDynamics* d, int a, int b, crVec3 point,
                      const crMat3* frame, int count, crRows* rows) {
    if (!cr__dynamics_fits(model, d) || frame == NULL || rows == NULL) return CR_ERR_ARGUMENT;
    if (!fits(model, a, b, count)) return CR_ERR_ARGUMENT;
    crEnds ends = {a, b, point, point, false};
    return cr__rows_add(model, d, &ends, frame, count, rows);
}

int cr_rows_add_spin(const crModel* model, const crDynamics* d, int a, int b, const crMat3* frame, int count,
                     crRows* rows) {
    if (!cr__dynamics_fits(model, d) || frame == NULL || rows == NULL) return CR_ERR_ARGUMENT;
    if (!fits(model, a, b, count)) return CR_ERR_ARGUMENT;
    crEnds ends = {a, b, d->origin[a], d->origin[b], true};
    return cr__rows_add(model, d, &ends, frame, count, rows);
}

void cr_rows_velocity(const crRows* rows, const double* v, double* u) {
    if (rows == NULL || v == NULL || u == NULL) return;
    for (int r = 0; r < rows->count; r++) {
        double sum = 0.0;
        for (int i = rows->start[r]; i < rows->start[r + 1]; i++) {
            sum += rows->value[i] * v[rows->col[i]];
        }
        u[r] = sum + rows->w_hat[r];
    }
}

void cr_rows_add_impulse(const crRows* rows, const double* p, double* momentum) {
    if (rows == NULL || p == NULL || momentum == NULL) return;
    for (int r = 0; r < rows->count; r++) {
        for (int i = rows->start[r]; i < rows->start[r + 1]; i++) {
            momentum[rows->col[i]] += rows->value[i] * p[r];
        }
    }
}

double cr__rows_worst_gap(const crRows* rows) {
    double worst = 0.0;
    for (int i = 0; i < rows->count; i++) {
        double gap = fabs(rows->gap[i]);
        worst = gap > worst || isnan(gap) ? gap : worst;
    }
    return worst;
}

double cr__rows_product(const crRows* rows, int r, int s) {
    double sum = 0.0;
    for (int i = rows->start[r], j = rows->start[s]; i < rows->start[r + 1] && j < rows->start[s + 1];) {
        int ci = rows->col[i], cj = rows->col[j];
        if (ci == cj) sum += rows->value[i] * rows->value[j];
        i += ci <= cj;
        j += cj <= ci;
    }
    return sum;
}

void cr_rows_W(const crRows* H, double* W) {
    if (H == NULL || W == NULL) return;
    int n = H->count;
    for (int r = 0; r < n; r++) {
        for (int s = r; s < n; s++) {
            W[r * n + s] = W[s * n + r] = cr__rows_product(H, r, s);
        }
    }
}
