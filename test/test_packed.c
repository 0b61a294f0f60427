// The packed contact solver: its answers against Coulomb's law from definitions, energy, momentum, order of
// contacts,
// threads; one golden number that builds with and without vector types must both reproduce.
#include <stdlib.h>

#include "relax/packed_solve.h"
#include "sample.h"
#include "step/step.h"
#include "test.h"

#define MOST 400

// free balls and blocks with random contacts between neighbours and with the ground
typedef struct Heap {
    crModel* model;
    crStep step;
    crPackedContact contact[MOST];
    int count;
    int* island;
    crKind kind;  // of the first group
} Heap;

// balls: the least kind that all of it should be packed as, CR_KIND_ANY: anything
static Heap* heap_create(crRandom* random, int bodies, double mu, double ratio, crKind balls) {
    Heap* heap = calloc(1, sizeof *heap);
    heap->model = cr_model_create(NULL);
    for (int i = 0; i < bodies; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(i % 4 + 0.1 * sample_uniform(random, -1, 1), i / 4 % 4, 0.5 + i / 16);
        def.pose.q = sample_rotation(random);
        def.mass = sample_log(random, 1.0, ratio);
        double a = def.mass * sample_uniform(random, 0.05, 0.2),
               b = def.mass * sample_uniform(random, 0.05, 0.2);
        def.inertia = (crSym3){a, 0, 0, b, 0, sample_uniform(random, 0.6, 1.0) * (a + b)};
        // three equal moments are packed in a form of their own
        if (i % 3 == 0 || balls != CR_KIND_ANY) def.inertia = (crSym3){a, 0, 0, a, 0, a};
        def.com = cr_vec3(0, 0, 0);
        cr_model_add_body(heap->model, &def);
    }
    crStepSettings settings = cr_step_settings();
    CHECK_STATUS(cr_step_create(heap->model, &settings, NULL, &heap->step, NULL), CR_OK);
    crStep* step = &heap->step;
    for (int j = 0; j < heap->model->nv; j++) {
        step->state.v[j] = sample_uniform(random, -1, 1);
    }
    CHECK_STATUS(cr_step_begin(step, NULL), CR_OK);
    CHECK_STATUS(cr_step_forces(step, 1e-3, NULL), CR_OK);
    heap->island = calloc((size_t)heap->model->nb, sizeof *heap->island);
    for (int b = 1; b <= bodies; b++) {
        for (int a = b - 17; a < b && heap->count + 5 < MOST; a++) {
            if (a < 0 && b > 16) continue;
            int other = a < 1 ? CR_WORLD : a;
            if (other != CR_WORLD && sample_uniform(random, 0, 1) < 0.7) continue;
            if (other == CR_WORLD && (b > 16 || a != b - 17)) continue;
            int points = 1 + (int)(4.99 * sample_uniform(random, 0, 1));
            crVec3 at = step->dynamics.com[b];
            crVec3 n = other == CR_WORLD ? cr_vec3(0, 0, 1) : cr_sub(at, step->dynamics.com[other]);
            n = cr_scale(1.0 / cr_norm(n), n);
            for (int k = 0; k < points; k++) {
                crVec3 x = cr_madd(at, -0.5, n), off = sample_direction(random);
                if (balls != CR_KIND_BALL) x = cr_madd(x, 0.3, off);
                crPackedContact c = {.body_a = other, .body_b = b, .mu = mu, .point = x, .normal = n};
                // the ground as a or as b
                if (other == CR_WORLD && b % 2 == 0) {
                    c.body_a = b;
                    c.body_b = CR_WORLD;
                    c.normal = cr_neg(n);
                }
                heap->contact[heap->count++] = c;
            }
        }
    }
    return heap;
}

static void heap_destroy(Heap* heap) {
    cr_step_destroy(&heap->step);
    cr_model_destroy(heap->model);
    free(heap->island);
    free(heap);
}

static crPackedIsland heap_solve(Heap* heap, double tol, int limit) {
    crPacked packed;
    crPackedIsland island = {.live = true, .tol = tol, .limit = limit};
    crStep* step = &heap->step;
    const crInertias of = cr__step_inertias(step, &step->scratch);
    CHECK_STATUS(
        cr__packed_create(&of, heap->island, step->free.v, heap->count, heap->contact, NULL, &packed), CR_OK);
    if (packed.group_count > 0) heap->kind = packed.group[0].kind;
    CHECK_STATUS(cr__packed_solve(&packed, &island, 1, &step->scratch), CR_OK);
    cr__packed_results(&packed, &island);
    return island;
}

// v from impulses, by Newton and Euler
static void velocities(const Heap* heap, crVec3* v, crVec3* omega) {
    const crStep* step = &heap->step;
    for (int i = 1; i < heap->model->nb; i++) {
        const double* at = step->free.v + heap->model->bodies[i].v;
        v[i] = cr_vec3(at[0], at[1], at[2]);
        omega[i] = cr_vec3(at[3], at[4], at[5]);
    }
    v[0] = omega[0] = cr_vec3(0, 0, 0);
    for (int i = 0; i < heap->count; i++) {
        const crPackedContact* c = &heap->contact[i];
        for (int side = 0; side < 2; side++) {
            int b = side == 0 ? c->body_a : c->body_b;
            if (b == CR_WORLD) continue;
            crVec3 P = cr_scale(side == 0 ? -1.0 : 1.0, c->P);
            crVec3 L = cr_cross(cr_sub(c->point, step->dynamics.com[b]), P);
            crMat3 I = cr_sym3_full(step->dynamics.inertia[b]);
            // I^-1 L by Cramer's rule
            crVec3 x = cr_mat3_column(I, 0), y = cr_mat3_column(I, 1), z = cr_mat3_column(I, 2);
            double det = cr_dot(x, cr_cross(y, z));
            crVec3 turn = cr_vec3(cr_dot(L, cr_cross(y, z)) / det, cr_dot(x, cr_cross(L, z)) / det,
                                  cr_dot(x, cr_cross(y, L)) / det);
            v[b] = cr_madd(v[b], 1.0 / heap->model->bodies[b].mass, P);
            omega[b] = cr_add(omega[b], turn);
        }
    }
}

static double kinetic(const Heap* heap, const crVec3* v, const crVec3* omega) {
    double sum = 0.0;
    for (int i = 1; i < heap->model->nb; i++) {
        sum += 0.5 * heap->model->bodies[i].mass * cr_dot(v[i], v[i]) +
               0.5 * cr_sym3_quad(heap->step.dynamics.inertia[i], omega[i]);
    }
    return sum;
}

// worst failure of Signorini's and Coulomb's conditions, m/s; the cone relative to |P|
static double failure(const Heap* heap, const crVec3* v, const crVec3* omega, double* cone) {
    double worst = 0.0;
    for (int i = 0; i < heap->count; i++) {
        const crPackedContact* c = &heap->contact[i];
        const crVec3* com = heap->step.dynamics.com;
        crVec3 ua = cr_add(v[c->body_a], cr_cross(omega[c->body_a], cr_sub(c->point, com[c->body_a])));
        crVec3 ub = cr_add(v[c->body_b], cr_cross(omega[c->body_b], cr_sub(c->point, com[c->body_b])));
        crVec3 u = cr_sub(ub, ua), n = c->normal;
        double un = cr_dot(u, n), pn = cr_dot(c->P, n);
        crVec3 ut = cr_madd(u, -un, n), pt = cr_madd(c->P, -pn, n);
        double size = cr_norm(c->P);
        if (size > 0.0) *cone = fmax(*cone, fmax(cr_norm(pt) - c->mu * pn, -pn) / size);
        // natural maps, impulses as velocities of 1 kg: zero exactly where the conditions hold
        crVec3 moved = cr_sub(pt, ut);
        double limit = c->mu * fmax(pn, 0.0), length = cr_norm(moved);
        if (length > limit) moved = cr_scale(limit / length, moved);
        worst = fmax(worst, fmax(fabs(fmin(un, pn)), cr_norm(cr_sub(pt, moved))));
    }
    return worst;
}

TEST(answers_obey_coulomb) {
    crRandom random = sample_seed(11);
    int rounds = test_samples(1000) / 2, solved = 0;
    double worst = 0.0, cone = 0.0, gained = 0.0;
    for (int i = 0; i < rounds; i++) {
        double mu = i % 5 == 0 ? 0.0 : sample_uniform(&random, 0.1, 1.0);
        Heap* heap = heap_create(&random, 1 + i % 16, mu, i % 3 == 0 ? 10.0 : 1.0, (crKind)(i % 3));
        crVec3 v[64], omega[64];
        velocities(heap, v, omega);
        double before = kinetic(heap, v, omega);
        crPackedIsland island = heap_solve(heap, 1e-13, 1500);
        velocities(heap, v, omega);
        double failed = failure(heap, v, omega, &cone);
        gained = fmax(gained, kinetic(heap, v, omega) / before - 1.0);
        if (island.solved) {
            solved++;
            worst = fmax(worst, failed);
        }
        heap_destroy(heap);
    }
    printf("  %d of %d solved: conditions to %.1e m/s, cone to %.1e, energy grew by %.1e\n", solved, rounds,
           worst, cone, gained);
    // friction on random normals need not have a solution that sweeps find
    CHECK(solved > rounds * 3 / 4);
    CHECK(worst <= 1e-9);
    CHECK(cone <= 1e-15);
    CHECK(gained <= 1e-12);
}

// stopped early it is still in the cone and creates no energy
TEST(early_answers_create_no_energy) {
    crRandom random = sample_seed(12);
    double cone = 0.0, gained = -1.0;
    for (int i = 0; i < test_samples(1000) / 2; i++) {
        Heap* heap =
            heap_create(&random, 2 + i % 20, sample_uniform(&random, 0.0, 1.0), 3.0, (crKind)(i % 3));
        crVec3 v[64], omega[64];
        velocities(heap, v, omega);
        double before = kinetic(heap, v, omega);
        // a start that is far too large
        for (int k = 0; k < heap->count; k++) {
            heap->contact[k].P = cr_scale(i % 2 == 0 ? 3.0 : 0.0, heap->contact[k].normal);
        }
        heap_solve(heap, 1e-13, 3 + i % 5);
        velocities(heap, v, omega);
        failure(heap, v, omega, &cone);
        gained = fmax(gained, kinetic(heap, v, omega) / before - 1.0);
        heap_destroy(heap);
    }
    printf("  cone to %.1e, energy grew by %.1e at most\n", cone, gained);
    CHECK(cone <= 1e-15);
    CHECK(gained <= 1e-12);
}

// without friction velocities are unique: contacts in another order, started from anything
TEST(order_does_not_matter_where_velocities_are_unique) {
    crRandom random = sample_seed(13);
    double apart = 0.0;
    for (int i = 0; i < test_samples(600) / 4; i++) {
        Heap* heap = heap_create(&random, 2 + i % 16, 0.0, 3.0, (crKind)(i % 3));
        crVec3 v[2][64], omega[2][64];
        crPackedIsland first = heap_solve(heap, 1e-13, 5000);
        velocities(heap, v[0], omega[0]);
        for (int k = 0; k < heap->count / 2; k++) {
            crPackedContact c = heap->contact[k];
            heap->contact[k] = heap->contact[heap->count - 1 - k];
            heap->contact[heap->count - 1 - k] = c;
        }
        crPackedIsland second = heap_solve(heap, 1e-13, 5000);
        velocities(heap, v[1], omega[1]);
        for (int b = 1; b < heap->model->nb && first.solved && second.solved; b++) {
            apart = fmax(apart, cr_norm(cr_sub(v[0][b], v[1][b])));
        }
        heap_destroy(heap);
    }
    printf("  velocities %.1e m/s apart\n", apart);
    CHECK(apart <= 1e-9);
}

// Solves bodies 1 to 4 and the others as two islands with these limits of sweeps.
static void solve_halves(crRandom* random, int first, int second, crPackedIsland island[2]) {
    Heap* heap = heap_create(random, 12, 0.5, 3.0, CR_KIND_ANY);
    int count = 0;
    for (int i = 0; i < heap->count; i++) {
        const crPackedContact* c = &heap->contact[i];
        bool joins = c->body_a != CR_WORLD && c->body_b != CR_WORLD && (c->body_a <= 4) != (c->body_b <= 4);
        if (!joins) heap->contact[count++] = *c;
    }
    for (int b = 5; b < heap->model->nb; b++) {
        heap->island[b] = 1;
    }
    crPacked packed;
    crStep* step = &heap->step;
    const crInertias of = cr__step_inertias(step, &step->scratch);
    island[0] = (crPackedIsland){.live = true, .tol = 1e-300, .limit = first};
    island[1] = (crPackedIsland){.live = true, .tol = 1e-300, .limit = second};
    CHECK_STATUS(cr__packed_create(&of, heap->island, step->free.v, count, heap->contact, NULL, &packed),
                 CR_OK);
    CHECK_STATUS(cr__packed_solve(&packed, island, 2, &step->scratch), CR_OK);
    heap_destroy(heap);
}

// the change of an island's last sweep does not depend on how long other islands go on
TEST(islands_that_end_early_keep_their_change) {
    for (int k = 0; k < 20; k++) {
        crPackedIsland alike[2], longer[2];
        crRandom random = sample_seed((uint64_t)(90 + k)), same = random;
        solve_halves(&random, 3, 3, alike);
        solve_halves(&same, 3, 12, longer);
        CHECK(longer[0].sweeps == 3 && longer[1].sweeps == 12);
        CHECK(alike[0].change > 0.0 && longer[0].change == alike[0].change);
    }
}

// balls in their own form, by the cross products of round bodies and by whole matrices: a shift of points and
// a difference of moments too small to matter choose the form
TEST(kinds_of_contacts_agree) {
    double apart = 0.0;
    for (int i = 0; i < test_samples(600) / 4; i++) {
        double mu = i % 4 == 0 ? 0.0 : 0.2 * (i % 4);
        Heap* heap[3];
        for (int kind = CR_KIND_ANY; kind <= CR_KIND_BALL; kind++) {
            crRandom random = sample_seed(1000 + (uint64_t)i);
            Heap* at = heap_create(&random, 2 + i % 16, mu, 3.0, CR_KIND_BALL);
            for (int k = 0; k < at->count && kind < CR_KIND_BALL; k++) {
                crVec3 t = cr_cross(at->contact[k].normal, cr_vec3(0.6, 0.64, 0.48));
                at->contact[k].point = cr_madd(at->contact[k].point, 1e-11, t);
            }
            for (int b = 1; b < at->model->nb && kind == CR_KIND_ANY; b++) {
                at->model->bodies[b].principal[2] *= 1.0 + 1e-15;
            }
            heap_solve(at, 1e-6, 8);
            CHECK(at->kind == (crKind)kind);
            heap[kind] = at;
        }
        for (int k = 0; k < heap[0]->count; k++) {
            crVec3 P = heap[CR_KIND_BALL]->contact[k].P;
            for (int kind = CR_KIND_ANY; kind < CR_KIND_BALL; kind++) {
                apart = fmax(apart, cr_norm(cr_sub(P, heap[kind]->contact[k].P)) / (1.0 + cr_norm(P)));
            }
            CHECK_NEAR(heap[0]->contact[k].w, heap[CR_KIND_BALL]->contact[k].w, 1e-13);
        }
        for (int kind = CR_KIND_ANY; kind <= CR_KIND_BALL; kind++) {
            heap_destroy(heap[kind]);
        }
    }
    printf("  impulses after eight sweeps %.1e apart\n", apart);
    CHECK(apart <= 1e-9);
}

// One contact is solved by one visit from any impulse in its cone: to the step that is taken to first order, and
// the next visits, which start from that answer, to rounding.
TEST(a_visit_solves_a_contact_from_any_impulse) {
    crRandom random = sample_seed(16);
    double first = 0.0, third = 0.0;
    int slips = 0;
    for (int i = 0; i < test_samples(2000); i++) {
        double cone = 0.0, mu = sample_uniform(&random, 0.05, 1.0);
        Heap* heap = heap_create(&random, 1, mu, 10.0, i % 2 == 0 ? CR_KIND_ANY : CR_KIND_ROUND);
        crPackedContact* c = &heap->contact[0];
        crVec3 v[64], omega[64], start = sample_direction(&random);
        heap->count = 1;
        c->P = cr__in_cone(c, cr_scale(sample_log(&random, 1e-3, 1e3), start));
        heap_solve(heap, 0.0, 1);
        velocities(heap, v, omega);
        first = fmax(first, failure(heap, v, omega, &cone));
        double pressed = cr_dot(c->P, c->normal);
        slips += pressed > 0.0 && cr_norm(cr_madd(c->P, -pressed, c->normal)) >= (1.0 - 1e-12) * mu * pressed;
        heap_solve(heap, 0.0, 2);
        velocities(heap, v, omega);
        third = fmax(third, failure(heap, v, omega, &cone));
        CHECK(cone <= 1e-15);
        heap_destroy(heap);
    }
    printf("  %d slip; conditions to %.1e m/s after one visit, %.1e after three\n", slips, first, third);
    CHECK(slips > test_samples(2000) / 10);
    CHECK(first <= 1e-7);
    CHECK(third <= 1e-12);
}

// one number that every compiler, with and without vector types, must reproduce
TEST(packed_answers_have_the_same_bits_everywhere) {
    crRandom random = sample_seed(14);
    uint64_t hash = CR_HASH_SEED;
    for (int i = 0; i < 60; i++) {
        Heap* heap = heap_create(&random, 1 + i % 24, 0.05 * (i % 10), 10.0, (crKind)(i % 3));
        heap_solve(heap, 1e-12, 60);
        for (int k = 0; k < heap->count; k++) {
            hash = cr_hash(hash, &heap->contact[k].P, sizeof(crVec3));
        }
        heap_destroy(heap);
    }
    printf("  hash %016llx\n", (unsigned long long)hash);
    CHECK(hash == UINT64_C(0xbcb2236a5e4fa9ac));
}

// balls and boxes in a heap, whole steps
static uint64_t run_world(int threads, crQuality quality, crCertificate* worst) {
    crModel* model = cr_model_create(NULL);
    crRandom random = sample_seed(15);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    for (int i = 0; i < 60; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(0.21 * (i % 4) + 0.02 * sample_uniform(&random, -1, 1), 0.21 * (i / 4 % 4),
                             0.11 + 0.21 * (i / 16));
        int body = cr_model_add_body(model, &def);
        crShape shape = i % 2 == 0 ? cr_shape_sphere(0.1) : cr_shape_box(0.1, 0.1, 0.1);
        cr_model_add_shape(model, body, &shape, 0);
    }
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.threads = threads;
    def.step.quality = quality;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    *worst = (crCertificate){0};
    // fewer where islands are solved exactly, which takes minutes under a thread sanitizer
    int steps = quality == CR_QUALITY_FAST ? 40 : 20;
    for (int i = 0; i < steps && world != NULL; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        const crCertificate* c = cr_world_certificate(world);
        worst->eta = fmax(worst->eta, c->eta);
        worst->laws.cone = fmax(worst->laws.cone, c->laws.cone);
        worst->penetration = fmax(worst->penetration, c->penetration);
    }
    uint64_t hash = world != NULL ? cr_world_hash(world) : 0;
    cr_world_destroy(world);
    cr_model_destroy(model);
    return hash;
}

TEST(any_number_of_threads_gives_the_same_bits) {
    static const int threads[] = {2, 3, 8};
    for (int q = CR_QUALITY_FAST; q <= CR_QUALITY_ACCURATE; q++) {
        crCertificate worst;
        uint64_t alone = run_world(1, (crQuality)q, &worst);
        printf("  %s: residual %.1e m/s, cone %.1e N s, overlap %.1e m\n", cr_quality_name((crQuality)q),
               worst.eta, worst.laws.cone, worst.penetration);
        // small islands are solved to 1e-9, not onto the cone
        CHECK(worst.laws.cone <= 1e-9);
        // in motion fast leaves up to a hundredth of a body's size
        CHECK(worst.penetration <= (q == CR_QUALITY_FAST ? 1e-2 : 1.2e-5) * 0.18);
        for (int k = 0; k < 3; k++) {
            CHECK(run_world(threads[k], (crQuality)q, &worst) == alone);
        }
    }
}

// hinged pairs and more single bodies than one thread takes at a time: balls, cubes and bricks, two on each
// other; the pairs stand before the others, or one of them behind
static uint64_t run_many(int threads, bool behind) {
    crModel* model = cr_model_create(NULL);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    const crShape shapes[] = {cr_shape_sphere(0.1), cr_shape_box(0.1, 0.1, 0.1),
                              cr_shape_box(0.1, 0.06, 0.1)};
    for (int i = 0; i < 600; i++) {
        bool hinged = i < 6 || (behind && i >= 598);
        crBodyDef def = cr_body_def();
        def.joint = hinged && i % 2 == 1 ? CR_JOINT_HINGE : CR_JOINT_FREE;
        def.pose.p = cr_vec3(0.3 * (i / 2 % 20), 0.3 * (i / 40), i % 2 == 0 ? 0.101 : 0.303);
        if (def.joint == CR_JOINT_HINGE) {
            def.parent = i;
            def.pose.p = cr_vec3(0, 0, 0.202);
        }
        int body = cr_model_add_body(model, &def);
        cr_model_add_shape(model, body, &shapes[i % 3], 0);
    }
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.threads = threads;
    def.step.quality = CR_QUALITY_FAST;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    for (int i = 0; i < 12 && world != NULL; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    }
    uint64_t hash = world != NULL ? cr_world_hash(world) : 0;
    cr_world_destroy(world);
    cr_model_destroy(model);
    return hash;
}

TEST(trees_among_many_bodies_have_the_same_bits_with_any_threads) {
    for (int behind = 0; behind < 2; behind++) {
        uint64_t alone = run_many(1, behind == 1);
        CHECK(alone != 0);
        CHECK(run_many(2, behind == 1) == alone);
        CHECK(run_many(5, behind == 1) == alone);
    }
}

// A body touches two shapes of the ground. Whether the contacts of both stand side by side depends on what else touches the
// first shape, so they are units of their own in any case.
TEST(contacts_of_two_shapes_are_two_units) {
    crRandom random = sample_seed(77);
    Heap* heap = heap_create(&random, 1, 0.5, 2.0, CR_KIND_ANY);
    crPackedContact one = {.body_b = 1, .shape_b = 2, .mu = 0.5, .normal = cr_vec3(0, 0, 1)};
    one.point = cr_vec3(0.1, 0.2, 0.0);
    for (int i = 0; i < 3; i++) {
        heap->contact[i] = one;
        heap->contact[i].point.x += i;
        heap->contact[i].shape_a = i / 2;
    }
    heap->count = 3;
    crPacked packed;
    const crInertias of = cr__step_inertias(&heap->step, &heap->step.scratch);
    CHECK_STATUS(
        cr__packed_create(&of, heap->island, heap->step.free.v, heap->count, heap->contact, NULL, &packed),
        CR_OK);
    int units = 0, slots = 0;
    for (int i = 0; i < packed.group_count; i++) {
        units += packed.group[i].lanes;
        slots += packed.group[i].lanes * packed.group[i].slots;
    }
    CHECK(units == 2);
    CHECK(slots == 3);
    heap_destroy(heap);
}
