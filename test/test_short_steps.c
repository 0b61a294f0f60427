// Short steps against a second computation of them: two bodies at a time, velocities and turns in double precision, from the
// recipe alone (relax/packed_substeps.c). Lanes, units of mass, order of pairs; one golden number that builds with and without
// vector types must both reproduce.
#include <stdlib.h>
#include <string.h>

#include "relax/packed_substeps.h"
#include "sample.h"
#include "step/step.h"
#include "test.h"

#define MOST    256
#define PAIRS   40
#define STEPS   8
#define PRESSES 12

// pairs of free bodies, or of one and the ground, each with one to four contacts and nothing in common
typedef struct Field {
    crModel* model;
    crStep step;
    int count, pairs;
    crPackedContact contact[MOST];
    double gap[MOST], target[MOST], bounce[MOST];
    bool bounces;
    double v0[6 * (2 * PAIRS + 1)],
        v1[6 * (2 * PAIRS + 1)];  // velocities at the start, and what forces make of them
    int* island;
} Field;

static const double h = 1.0 / 240.0;
static double slender = 1.0;  // what inertias are multiplied by

static int add_body(Field* f, crRandom* random, crVec3 at, double mass, bool ball) {
    crBodyDef def = cr_body_def();
    double a = 0.004 * slender * mass * sample_uniform(random, 0.5, 1.5),
           b = 0.004 * slender * mass * sample_uniform(random, 0.5, 1.5);
    def.joint = CR_JOINT_FREE;
    def.pose.p = at;
    def.pose.q = sample_rotation(random);
    def.mass = mass;
    def.inertia = (crSym3){a, 0, 0, b, 0, sample_uniform(random, 0.6, 1.0) * (a + b)};
    if (ball) def.inertia = (crSym3){a, 0, 0, a, 0, a};
    return cr_model_add_body(f->model, &def);
}

// scale: of masses
static Field* field_create(uint64_t seed, int pairs, bool bounces, double scale) {
    Field* f = calloc(1, sizeof *f);
    crRandom random = sample_seed(seed);
    f->model = cr_model_create(NULL);
    f->pairs = pairs;
    f->bounces = bounces;
    for (int i = 0; i < pairs; i++) {
        crVec3 at = cr_vec3(3 * (i % 7), 3 * (i / 7), 1);
        double mass = scale * sample_log(&random, 0.1, 10.0);
        bool ball = i % 4 == 3;
        int b = add_body(f, &random, at, mass, ball), a = CR_WORLD;
        crVec3 n = sample_direction(&random);
        if (i % 3 != 0)
            a = add_body(f, &random, cr_madd(at, -0.2, n), scale * sample_log(&random, 0.1, 10.0), ball);
        int points = 1 + (int)(3.99 * sample_uniform(&random, 0, 1));
        if (ball) points = 1;
        double mu = sample_uniform(&random, 0.0, 1.0);
        for (int k = 0; k < points; k++) {
            crVec3 x = cr_madd(at, -0.1, n);
            if (!ball) x = cr_madd(x, 0.08, sample_direction(&random));
            crPackedContact c = {.body_a = a, .body_b = b, .mu = mu, .point = x, .normal = n};
            if (a == CR_WORLD && i % 2 == 0) {
                c.body_a = b;
                c.body_b = CR_WORLD;
                c.normal = cr_neg(n);
            }
            c.P = cr_scale(mass * sample_uniform(&random, 0.0, 0.01), c.normal);
            f->gap[f->count] = sample_uniform(&random, -1e-4, 1e-3);
            f->target[f->count] = -1e-6;
            f->bounce[f->count] = bounces ? -0.5 * sample_uniform(&random, 0.0, 1.0) : 0.0;
            f->contact[f->count++] = c;
        }
    }
    crStepSettings settings = cr_step_settings();
    CHECK_STATUS(cr_step_create(f->model, &settings, NULL, &f->step, NULL), CR_OK);
    for (int j = 0; j < f->model->nv; j++) {
        f->v0[j] = sample_uniform(&random, -1, 1);
        f->v1[j] = f->v0[j] + sample_uniform(&random, -0.05, 0.05);
    }
    CHECK_STATUS(cr_step_begin(&f->step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(&f->step, h, NULL), CR_OK);
    f->island = calloc((size_t)f->model->nb, sizeof *f->island);
    for (int b = 0; b < f->model->nb; b++) {
        f->island[b] = b;
    }
    return f;
}

static void field_destroy(Field* f) {
    cr_step_destroy(&f->step);
    cr_model_destroy(f->model);
    free(f->island);
    free(f);
}

// Contacts first to first + count - 1 by the library; v and way of every body (6*nb).
static void run_library(Field* f, int first, int count, double* v, double* way) {
    crStep* step = &f->step;
    size_t mark = cr_arena_mark(&step->scratch);
    const crInertias of = cr__step_inertias(step, &step->scratch);
    crPacked packed;
    CHECK_STATUS(cr__packed_group(&of, f->island, f->v0, count, f->contact + first, NULL, &packed), CR_OK);
    size_t numbers = CR_BODY_STRIDE * (size_t)(packed.bodies + 1);
    double* dz = cr_arena_alloc(&step->scratch, numbers * sizeof *dz);
    crSubsteps run = {.packed = &packed,
                      .h = h,
                      .scale = step->plan->mass_root,
                      .gap = f->gap + first,
                      .target = f->target + first,
                      .dz = dz};
    if (f->bounces) run.bounce = f->bounce + first;
    cr__packed_coordinates(&packed, &of, f->v1, dz);
    for (size_t i = 0; i < numbers; i++) {
        dz[i] -= packed.z_free[i];
    }
    CHECK_STATUS(cr__substeps_run(&of, &run), CR_OK);
    for (int i = 0; i < packed.bodies; i++) {
        int b = packed.body[i];
        const double *z = packed.z + CR_BODY_STRIDE * (i + 1), *D = run.D + CR_BODY_STRIDE * (i + 1);
        double share = 1.0 / sqrt(f->model->bodies[b].mass);
        crVec3 turn = cr_mat3_mul_t(step->dynamics.root[b], cr__load_vec(z + 3));
        crVec3 turned = cr_mat3_mul_t(step->dynamics.root[b], cr__load_vec(D + 3));
        for (int k = 0; k < 3; k++) {
            v[6 * b + k] = share * z[k];
            way[6 * b + k] = share * D[k];
        }
        cr__store_vec(turn, v + 6 * b + 3);
        cr__store_vec(turned, way + 6 * b + 3);
    }
    cr_arena_release(&step->scratch, mark);
}

// one body of a pair in the second computation
typedef struct Body {
    double lightness;  // 1/mass, 0 of the ground
    crMat3 inverse;    // of the inertia
    crVec3 com;
    crVec3 v, omega, began, began_omega, force, torque;  // forces: change of velocities in a short step
    crVec3 way, turn;
} Body;

static crVec3 solve3(crMat3 I, crVec3 L) {
    crVec3 x = cr_mat3_column(I, 0), y = cr_mat3_column(I, 1), z = cr_mat3_column(I, 2);
    double det = cr_dot(x, cr_cross(y, z));
    return cr_vec3(cr_dot(L, cr_cross(y, z)) / det, cr_dot(x, cr_cross(L, z)) / det,
                   cr_dot(x, cr_cross(y, L)) / det);
}

static Body body_of(const Field* f, int b) {
    Body body = {0};
    if (b == CR_WORLD) return body;
    crMat3 I = cr_sym3_full(f->step.dynamics.inertia[b]);
    crVec3 axis[3] = {cr_vec3(1, 0, 0), cr_vec3(0, 1, 0), cr_vec3(0, 0, 1)};
    for (int k = 0; k < 3; k++) {
        crVec3 column = solve3(I, axis[k]);
        body.inverse.m[0][k] = column.x;
        body.inverse.m[1][k] = column.y;
        body.inverse.m[2][k] = column.z;
    }
    const double *v0 = f->v0 + f->model->bodies[b].v, *v1 = f->v1 + f->model->bodies[b].v;
    body.lightness = 1.0 / f->model->bodies[b].mass;
    body.com = f->step.dynamics.com[b];
    body.v = cr__load_vec(v0);
    body.omega = cr__load_vec(v0 + 3);
    body.force = cr_scale(1.0 / STEPS, cr_sub(cr__load_vec(v1), body.v));
    body.torque = cr_scale(1.0 / STEPS, cr_sub(cr__load_vec(v1 + 3), body.omega));
    return body;
}

// an impulse on a body at x, which moves v or its way
static void hit(Body* body, bool way, crVec3 x, crVec3 P) {
    crVec3 dv = cr_scale(body->lightness, P);
    crVec3 turn = cr_mat3_mul(body->inverse, cr_cross(cr_sub(x, body->com), P));
    crVec3 *v = way ? &body->way : &body->v, *omega = way ? &body->turn : &body->omega;
    *v = cr_add(*v, dv);
    *omega = cr_add(*omega, turn);
}

static crVec3 point_velocity(const Body* body, bool way, crVec3 x) {
    crVec3 r = cr_sub(x, body->com);
    return way ? cr_add(body->way, cr_cross(body->turn, r)) : cr_add(body->v, cr_cross(body->omega, r));
}

static crVec3 meeting(const Body pair[2], bool way, crVec3 x) {
    return cr_sub(point_velocity(&pair[1], way, x), point_velocity(&pair[0], way, x));
}

static void push(Body pair[2], bool way, crVec3 x, crVec3 P) {
    hit(&pair[0], way, x, cr_neg(P));
    hit(&pair[1], way, x, P);
}

// a . W b of one contact
static double weight(const Body pair[2], crVec3 x, crVec3 a, crVec3 b) {
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        Body probe = pair[side];
        probe.v = probe.omega = cr_vec3(0, 0, 0);
        hit(&probe, false, x, b);
        sum += cr_dot(a, point_velocity(&probe, false, x));
    }
    return sum;
}

// friction of one visit: what stops both tangents where it is in the cone, else a step of projected gradients
static crVec3 friction(const Body pair[2], const crPackedContact* c, crVec3 pt, double limit) {
    crVec3 n = c->normal, other = fabs(n.x) < 0.5 ? cr_vec3(1, 0, 0) : cr_vec3(0, 1, 0);
    crVec3 t1 = cr_cross(n, other);
    t1 = cr_scale(1.0 / cr_norm(t1), t1);
    crVec3 t2 = cr_cross(n, t1), u = meeting(pair, false, c->point);
    double d11 = weight(pair, c->point, t1, t1), d12 = weight(pair, c->point, t1, t2);
    double d22 = weight(pair, c->point, t2, t2), det = d11 * d22 - d12 * d12;
    double u1 = cr_dot(t1, u), u2 = cr_dot(t2, u), p1 = cr_dot(t1, pt), p2 = cr_dot(t2, pt);
    double y1 = p1 - (d22 * u1 - d12 * u2) / det, y2 = p2 - (d11 * u2 - d12 * u1) / det;
    if (y1 * y1 + y2 * y2 > limit * limit) {
        double largest = 0.5 * (d11 + d22) + sqrt(0.25 * (d11 - d22) * (d11 - d22) + d12 * d12);
        y1 = p1 - u1 / largest;
        y2 = p2 - u2 / largest;
        double size = sqrt(y1 * y1 + y2 * y2);
        if (size > limit) {
            y1 *= limit / size;
            y2 *= limit / size;
        }
    }
    return cr_madd(cr_scale(y1, t1), y2, t2);
}

// A full visit. Balls have normal and friction found from the same velocity, which is the same: their W is diagonal.
static void visit(Body pair[2], const crPackedContact* c, double bias, crVec3* P) {
    crVec3 n = c->normal;
    double w = weight(pair, c->point, n, n), pn = cr_dot(n, *P);
    double next = fmax(0.0, pn - (cr_dot(n, meeting(pair, false, c->point)) + bias) / w);
    crVec3 pt = cr_madd(*P, -pn, n);
    push(pair, false, c->point, cr_scale(next - pn, n));
    crVec3 rubbed = friction(pair, c, pt, c->mu * next);
    push(pair, false, c->point, cr_sub(rubbed, pt));
    *P = cr_madd(rubbed, next, n);
}

static void press(Body pair[2], const crPackedContact* c, double gap, crVec3* P) {
    double rate = STEPS / h, w = weight(pair, c->point, c->normal, c->normal), pn = cr_dot(c->normal, *P);
    double u = cr_dot(c->normal, meeting(pair, false, c->point)) + (gap < 0.0 ? 0.05 : 1.0) * rate * gap;
    double next = fmax(0.0, pn - u / w);
    push(pair, false, c->point, cr_scale(next - pn, c->normal));
    *P = cr_madd(*P, next - pn, c->normal);
}

// Contacts first to first + count - 1, of one pair.
static void run_second(const Field* f, int first, int count, const crPackedContact* contact, Body pair[2],
                       crVec3* sum) {
    crVec3 P[4];
    double gap[4], Q[4] = {0};
    pair[0] = body_of(f, contact[0].body_a);
    pair[1] = body_of(f, contact[0].body_b);
    for (int k = 0; k < count; k++) {
        P[k] = contact[k].P;
        gap[k] = f->gap[first + k];
        sum[k] = cr_vec3(0, 0, 0);
    }
    for (int i = 0; i < STEPS; i++) {
        for (int side = 0; side < 2; side++) {
            pair[side].v = cr_add(pair[side].v, pair[side].force);
            pair[side].omega = cr_add(pair[side].omega, pair[side].torque);
        }
        for (int k = 0; k < count; k++) {
            push(pair, false, contact[k].point, P[k]);
        }
        for (int k = 0; k < count; k++) {
            press(pair, &contact[k], gap[k], &P[k]);
        }
        for (int side = 0; side < 2; side++) {
            pair[side].way = cr_madd(pair[side].way, h / STEPS, pair[side].v);
            pair[side].turn = cr_madd(pair[side].turn, h / STEPS, pair[side].omega);
        }
        for (int k = 0; k < count; k++) {
            gap[k] = f->gap[first + k] + cr_dot(contact[k].normal, meeting(pair, true, contact[k].point));
            visit(pair, &contact[k], STEPS / h * fmax(0.0, gap[k]), &P[k]);
            sum[k] = cr_add(sum[k], P[k]);
        }
    }
    for (int k = 0; k < count; k++) {
        P[k] = cr_vec3(0, 0, 0);
    }
    for (int i = 0; f->bounces && i < 4; i++) {
        for (int k = 0; k < count; k++) {
            bool pressed = cr_dot(contact[k].normal, sum[k]) > 0.0;
            visit(pair, &contact[k], pressed ? f->bounce[first + k] : STEPS / h * fmax(0.0, gap[k]), &P[k]);
            if (i == 3) sum[k] = cr_add(sum[k], P[k]);
        }
    }
    for (int i = 0; i < PRESSES; i++) {
        for (int k = 0; k < count; k++) {
            crVec3 n = contact[k].normal, x = contact[k].point;
            double over = f->gap[first + k] - f->target[first + k] + cr_dot(n, meeting(pair, true, x));
            double next = fmax(0.0, Q[k] - over / weight(pair, x, n, n));
            push(pair, true, x, cr_scale(next - Q[k], n));
            Q[k] = next;
        }
    }
}

static int pair_end(const Field* f, int first) {
    int end = first + 1;
    while (end < f->count && f->contact[end].body_a == f->contact[first].body_a &&
           f->contact[end].body_b == f->contact[first].body_b) {
        end++;
    }
    return end;
}

TEST(short_steps_follow_their_recipe) {
    double worst = 0.0, worst_way = 0.0, worst_sum = 0.0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        Field* f = field_create(seed, PAIRS, seed % 3 == 0, 1.0);
        crPackedContact start[MOST];
        double v[6 * (2 * PAIRS + 1)] = {0}, way[6 * (2 * PAIRS + 1)] = {0};
        memcpy(start, f->contact, sizeof start);
        run_library(f, 0, f->count, v, way);
        for (int i = 0, end; i < f->count; i = end) {
            Body pair[2];
            crVec3 sum[4];
            end = pair_end(f, i);
            run_second(f, i, end - i, start + i, pair, sum);
            for (int side = 0; side < 2; side++) {
                int b = side == 0 ? start[i].body_a : start[i].body_b;
                if (b == CR_WORLD) continue;
                worst = fmax(worst, cr_norm(cr_sub(cr__load_vec(v + 6 * b), pair[side].v)));
                worst = fmax(worst, 0.1 * cr_norm(cr_sub(cr__load_vec(v + 6 * b + 3), pair[side].omega)));
                worst_way = fmax(worst_way, cr_norm(cr_sub(cr__load_vec(way + 6 * b), pair[side].way)));
            }
            for (int k = i; k < end; k++) {
                double mass =
                    f->model->bodies[start[i].body_b != CR_WORLD ? start[i].body_b : start[i].body_a].mass;
                worst_sum = fmax(worst_sum, cr_norm(cr_sub(f->contact[k].P, sum[k - i])) / mass);
            }
        }
        field_destroy(f);
    }
    printf("  off by %.1e m/s, %.1e m, %.1e N s/kg\n", worst, worst_way, worst_sum);
    CHECK(worst < 5e-5 && worst_way < 5e-7 && worst_sum < 5e-5);
}

TEST(velocities_are_what_impulses_give) {
    double worst = 0.0, cone = 0.0;
    for (uint64_t seed = 100; seed < 160; seed++) {
        Field* f = field_create(seed, PAIRS, seed % 2 == 0, 1.0);
        double v[6 * (2 * PAIRS + 1)] = {0}, way[6 * (2 * PAIRS + 1)] = {0};
        run_library(f, 0, f->count, v, way);
        for (int i = 0, end; i < f->count; i = end) {
            end = pair_end(f, i);
            Body pair[2] = {body_of(f, f->contact[i].body_a), body_of(f, f->contact[i].body_b)};
            for (int side = 0; side < 2; side++) {
                pair[side].v = cr_madd(pair[side].v, STEPS, pair[side].force);
                pair[side].omega = cr_madd(pair[side].omega, STEPS, pair[side].torque);
            }
            for (int k = i; k < end; k++) {
                const crPackedContact* c = &f->contact[k];
                double pn = cr_dot(c->normal, c->P);
                push(pair, false, c->point, c->P);
                cone = fmax(cone,
                            (cr_norm(cr_madd(c->P, -pn, c->normal)) - c->mu * pn) / (1e-300 + cr_norm(c->P)));
            }
            for (int side = 0; side < 2; side++) {
                int b = side == 0 ? f->contact[i].body_a : f->contact[i].body_b;
                if (b == CR_WORLD) continue;
                worst = fmax(worst, cr_norm(cr_sub(cr__load_vec(v + 6 * b), pair[side].v)));
                worst = fmax(worst, cr_norm(cr_sub(cr__load_vec(v + 6 * b + 3), pair[side].omega)));
            }
        }
        field_destroy(f);
    }
    printf("  off by %.1e m/s, out of the cone by %.1e\n", worst, cone);
    CHECK(worst < 1e-12 && cone < 1e-12);
}

// bodies of other pairs, and lanes beside, do not matter
TEST(a_pair_has_the_bits_it_has_alone) {
    for (uint64_t seed = 200; seed < 220; seed++) {
        Field *all = field_create(seed, PAIRS, false, 1.0), *one = field_create(seed, PAIRS, false, 1.0);
        double v[6 * (2 * PAIRS + 1)] = {0}, way[6 * (2 * PAIRS + 1)] = {0};
        double alone[6 * (2 * PAIRS + 1)] = {0}, alone_way[6 * (2 * PAIRS + 1)] = {0};
        run_library(all, 0, all->count, v, way);
        for (int i = 0, end; i < one->count; i = end) {
            end = pair_end(one, i);
            run_library(one, i, end - i, alone, alone_way);
        }
        CHECK(memcmp(v, alone, sizeof v) == 0 && memcmp(way, alone_way, sizeof way) == 0);
        field_destroy(all);
        field_destroy(one);
    }
}

// masses in another unit: powers of two change no bit of velocities, others what rounding makes of them
TEST(the_unit_of_mass_does_not_matter) {
    static const double scales[] = {0x1p40, 0x1p-40, 1e12, 1e-12};
    for (uint64_t seed = 300; seed < 310; seed++) {
        Field* f = field_create(seed, PAIRS, true, 1.0);
        double v[6 * (2 * PAIRS + 1)] = {0}, way[6 * (2 * PAIRS + 1)] = {0};
        run_library(f, 0, f->count, v, way);
        for (int i = 0; i < 4; i++) {
            Field* other = field_create(seed, PAIRS, true, scales[i]);
            double u[6 * (2 * PAIRS + 1)] = {0}, path[6 * (2 * PAIRS + 1)] = {0}, off = 0.0;
            run_library(other, 0, other->count, u, path);
            for (int k = 0; k < 6 * other->model->nb; k++) {
                off = fmax(off, fabs(u[k] - v[k]));
            }
            if (!(off <= 2e-3)) printf("  scale %g: %.1e\n", scales[i], off);
            CHECK(off <= (i < 2 ? 1e-12 : 2e-3));
            field_destroy(other);
        }
        field_destroy(f);
    }
}

// W of a contact is singular to rounding where inertias are next to nothing
TEST(slender_bodies_get_finite_impulses_in_their_cones) {
    static const double shares[] = {1e-4, 1e-8, 1e-12};
    for (int i = 0; i < 3; i++) {
        slender = shares[i];
        Field* f = field_create(500 + (uint64_t)i, PAIRS, true, 1.0);
        double v[6 * (2 * PAIRS + 1)] = {0}, way[6 * (2 * PAIRS + 1)] = {0}, cone = 0.0;
        run_library(f, 0, f->count, v, way);
        for (int k = 0; k < f->count; k++) {
            const crPackedContact* c = &f->contact[k];
            double pn = cr_dot(c->normal, c->P), pt = cr_norm(cr_madd(c->P, -pn, c->normal));
            CHECK(isfinite(pn) && isfinite(pt));
            cone = fmax(cone, (pt - c->mu * pn) / (1e-300 + cr_norm(c->P)));
        }
        for (int k = 0; k < 6 * f->model->nb; k++) {
            CHECK(isfinite(v[k]) && isfinite(way[k]));
        }
        CHECK(cone < 1e-12);
        field_destroy(f);
    }
    slender = 1.0;
}

TEST(short_steps_have_the_same_bits_everywhere) {
    uint64_t hash = CR_HASH_SEED;
    for (uint64_t seed = 400; seed < 420; seed++) {
        Field* f = field_create(seed, PAIRS, seed % 2 == 0, 1.0);
        double v[6 * (2 * PAIRS + 1)] = {0}, way[6 * (2 * PAIRS + 1)] = {0};
        run_library(f, 0, f->count, v, way);
        hash = cr_hash(hash, v, sizeof v);
        hash = cr_hash(hash, way, sizeof way);
        field_destroy(f);
    }
    printf("  hash %016llx\n", (unsigned long long)hash);
    CHECK(hash == UINT64_C(0x9038f6c7b70bde00));
}
