// Trees in motion in quality fast: what `bounded` promises of them, found from states, impulses and the model's M and
// Jacobians. Figures of boxes and capsules on balls and hinges fall into a box, alone or among free bodies; some have
// limits, motors and dry friction, or actuators whose controls change.
#include <stdlib.h>

#include "carom/batch.h"
#include "deepest.h"
#include "same_bits.h"
#include "sample.h"
#include "test.h"

#define STEP   (1.0 / 240.0)
#define WALLS  5
#define MU     0.5
#define TORQUE 2.0
#define RUB    0.3
#define LOOSE  0.04
#define BENT   0.6  // rad, limits of hinges on either side

// what a heap is made of
typedef struct Kind {
    int figures, balls;
    bool ties;    // limits, motors, dry friction
    bool offset;  // free bodies have two shapes, neither at their origin
    int threads;
    bool driven;  // an actuator on every hinge
    bool damped;  // a damper in every hinge
} Kind;

typedef struct Heap {
    crModel* model;
    crWorld* world;
    double *q, *v, *free;  // before the step, and v + h M^-1 k
    crArena arena;
    crDynamics d;
    double *M, *y;
    double scale_sum;  // of v- over v+, by tree and step
    int scales;
} Heap;

static int add_part(crModel* model, int parent, crJoint joint, crPose pose, const crShape* shape,
                    crVec3 com) {
    crMass mass = cr_mass_of_shape(shape, 1000.0);
    crBodyDef def = cr_body_def();
    def.parent = parent;
    def.joint = joint;
    def.axis = cr_vec3(0, 1, 0);
    def.pose = pose;
    def.mass = mass.mass;
    def.inertia = mass.inertia;
    def.com = com;
    crShape own = *shape;
    own.pose.p = com;
    int body = cr_model_add_body(model, &def);
    cr_model_add_shape(model, body, &own, 0);
    return body;
}

static crPose at(double y, double z) { return (crPose){cr_vec3(0, y, z), cr_quat_identity()}; }

// a trunk, two arms of two links each and a head
static void add_figure(crModel* model, crPose pose, bool ties) {
    crShape trunk = cr_shape_box(0.08, 0.12, 0.16), arm = cr_shape_capsule(0.04, 0.08),
            head = cr_shape_sphere(0.08);
    int body = add_part(model, CR_WORLD, CR_JOINT_FREE, pose, &trunk, cr_vec3(0, 0, 0));
    add_part(model, body, CR_JOINT_BALL, at(0, 0.18), &head, cr_vec3(0, 0, 0.09));
    for (int side = -1; side < 2; side += 2) {
        int upper = add_part(model, body, CR_JOINT_BALL, at(0.18 * side, 0.14), &arm, cr_vec3(0, 0, -0.13));
        int lower = add_part(model, upper, CR_JOINT_HINGE, at(0, -0.27), &arm, cr_vec3(0, 0, -0.13));
        if (!ties) continue;
        crDof* dof = &model->velocity.dofs[model->velocity.dof[model->bodies[lower].v]];
        dof->lower = -BENT;
        dof->upper = BENT;
        if (side > 0) dof->motor_force = TORQUE;
        if (side < 0) dof->friction = RUB;
    }
}

static void add_ball(crModel* model, crVec3 at, crQuat turn, bool offset) {
    crShape ball = cr_shape_sphere(0.09), bar = cr_shape_capsule(0.05, 0.07);
    crBodyDef def = cr_body_def();
    crMass mass = cr_mass_of_shape(&ball, 1000.0);
    def.joint = CR_JOINT_FREE;
    def.pose = (crPose){at, turn};
    def.mass = mass.mass;
    def.inertia = mass.inertia;
    int body = cr_model_add_body(model, &def);
    if (!offset) {
        cr_model_add_shape(model, body, &ball, 0);
        return;
    }
    crShape box = cr_shape_box(0.05, 0.05, 0.08);
    bar.pose.p = cr_vec3(0.06, 0.02, 0.0);
    box.pose = (crPose){cr_vec3(-0.07, 0.0, 0.03), cr_quat_axis_angle(cr_vec3(1, 0, 0), 0.5)};
    cr_model_add_shape(model, body, &bar, 0);
    cr_model_add_shape(model, body, &box, 0);
}

static void add_actuators(crModel* model) {
    for (int b = 1; b < model->nb; b++) {
        crActuator motor = cr_actuator_motor(model->bodies[b].v);
        if (model->bodies[b].joint == CR_JOINT_HINGE) CHECK(cr_model_add_actuator(model, &motor) >= 0);
    }
}

static Heap heap_create(uint64_t seed, Kind kind) {
    const crVec3 normals[WALLS] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    crRandom random = sample_seed(seed);
    Heap heap = {.model = cr_model_create(NULL)};
    heap.model->gravity = cr_vec3(0, 0, -9.81);
    heap.model->materials[0].surface.mu = heap.model->materials[0].surface.mu2 = MU;
    for (int i = 0; i < kind.figures; i++) {
        crVec3 at = cr_vec3(1.0 * (i % 2) - 0.5, 1.0 * (i / 2 % 2) - 0.5, 0.6 + 1.0 * (i / 4));
        at = cr_madd(at, 0.02, sample_direction(&random));
        add_figure(heap.model, (crPose){at, sample_rotation(&random)}, kind.ties);
    }
    for (int i = 0; i < kind.balls; i++) {
        crVec3 at = cr_vec3(0.4 * (i % 3) - 0.4, 0.4 * (i / 3 % 3) - 0.4, 2.5 + 0.4 * (i / 9));
        at = cr_madd(at, 0.02, sample_direction(&random));
        add_ball(heap.model, at, sample_rotation(&random), kind.offset);
    }
    for (int i = 0; i < WALLS; i++) {
        crShape wall = cr_shape_halfspace(normals[i], i == 0 ? 0.0 : -1.05);
        cr_model_add_shape(heap.model, CR_WORLD, &wall, 0);
    }
    if (kind.driven) add_actuators(heap.model);
    for (int b = 1; b < heap.model->nb && kind.damped; b++) {
        if (heap.model->bodies[b].joint == CR_JOINT_HINGE)
            heap.model->velocity.dofs[heap.model->velocity.dof[heap.model->bodies[b].v]].damping = RUB;
    }
    crWorldDef def = cr_world_def();
    def.model = heap.model;
    def.step.dt = STEP;
    def.step.quality = CR_QUALITY_FAST;
    def.step.threads = kind.threads;
    crError error = {0};
    CHECK_STATUS(cr_world_create(&def, &heap.world, &error), CR_OK);
    size_t nv = (size_t)heap.model->nv;
    heap.q = malloc((size_t)heap.model->nq * sizeof(double));
    heap.v = malloc(nv * sizeof(double));
    heap.free = malloc(nv * sizeof(double));
    heap.M = malloc(nv * nv * sizeof(double));
    heap.y = malloc(nv * sizeof(double));
    CHECK_STATUS(cr_arena_create(&heap.arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_dynamics_create(heap.model, &heap.arena, &heap.d), CR_OK);
    for (int j = 0; kind.ties && j < heap.model->nv; j++) {
        if (cr_model_dof(heap.model, j)->motor_force > 0.0) cr_world_state(heap.world)->motor_speed[j] = 3.0;
    }
    return heap;
}

static void heap_destroy(Heap* heap) {
    cr_world_destroy(heap->world);
    cr_model_destroy(heap->model);
    cr_arena_destroy(&heap->arena);
    free(heap->q);
    free(heap->v);
    free(heap->free);
    free(heap->M);
    free(heap->y);
}

// T + U of every body, added to its root's with a sign, and their sizes
static void add_energies(Heap* heap, const double* q, const double* v, double sign, double* sum,
                         double* size) {
    crState state = *cr_world_state(heap->world);
    state.q = (double*)q;
    state.v = (double*)v;
    cr_model_kinematics(heap->model, &state, &heap->d);
    cr_model_velocity(heap->model, v, &heap->d);
    for (int b = 1; b < heap->model->nb; b++) {
        const crBody* body = &heap->model->bodies[b];
        crVec3 u = cr_model_point_velocity(&heap->d, b, heap->d.com[b]), omega = heap->d.twist[b].omega;
        double T =
            0.5 * body->mass * cr_dot(u, u) + 0.5 * cr_dot(omega, cr_sym3_mul(heap->d.inertia[b], omega));
        double U = body->mass * 9.81 * heap->d.com[b].z;
        sum[body->root] += sign * (T + U);
        size[body->root] += fabs(T) + fabs(U);
    }
}

static int leader(int* set, int b) {
    while (set[b] != b) {
        b = set[b];
    }
    return b;
}

// no set of bodies that pushed each other gained energy; those of few contacts are solved, not bounded
static void check_energy(Heap* heap) {
    const crStep* step = cr_world_stages(heap->world);
    const crModel* model = heap->model;
    const crState* s = cr_world_state(heap->world);
    int* set = malloc((size_t)model->nb * sizeof *set);
    double* gain = calloc((size_t)model->nb, sizeof *gain);
    double* size = calloc((size_t)model->nb, sizeof *size);
    int* contacts = calloc((size_t)model->nb, sizeof *contacts);
    bool* trees = calloc((size_t)model->nb, sizeof *trees);
    for (int b = 0; b < model->nb; b++) {
        set[b] = b;
    }
    add_energies(heap, s->q, s->v, 1.0, gain, size);
    add_energies(heap, heap->q, heap->v, -1.0, gain, size);
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        if (!(cr_dot(c->impulse, c->point.normal) > 0.0) || c->body_a == CR_WORLD || c->body_b == CR_WORLD)
            continue;
        int a = leader(set, model->bodies[c->body_a].root), b = leader(set, model->bodies[c->body_b].root);
        set[a > b ? a : b] = a > b ? b : a;
    }
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        int b = c->body_b == CR_WORLD ? c->body_a : c->body_b;
        contacts[leader(set, model->bodies[b].root)] += cr_dot(c->impulse, c->point.normal) > 0.0;
    }
    for (int b = model->nb - 1; b > 0; b--) {
        int to = leader(set, model->bodies[b].root);
        trees[to] = trees[to] || !model->bodies[b].single;
        if (to == b) continue;
        gain[to] += gain[b];
        size[to] += size[b];
        gain[b] = 0.0;
    }
    for (int b = 1; b < model->nb; b++) {
        CHECK(!trees[b] || contacts[b] <= 4 || gain[b] <= CR_ENERGY_TOL * size[b]);
    }
    free(set);
    free(gain);
    free(size);
    free(contacts);
    free(trees);
}

// state before the step: M, v + h a, and J^T of impulses goes by it
static void look(Heap* heap) {
    crState state = *cr_world_state(heap->world);
    memcpy(heap->q, state.q, (size_t)heap->model->nq * sizeof(double));
    memcpy(heap->v, state.v, (size_t)heap->model->nv * sizeof(double));
    state.q = heap->q;
    state.v = heap->v;
    CHECK_STATUS(cr_model_acceleration(heap->model, &state, &heap->d, heap->free), CR_OK);
    for (int j = 0; j < heap->model->nv; j++) {
        heap->free[j] = heap->v[j] + STEP * heap->free[j];
    }
    cr_model_kinematics(heap->model, &state, &heap->d);
    CHECK_STATUS(cr_model_mass_factor(heap->model, 0.0, &heap->d), CR_OK);
    cr_model_mass_dense(heap->model, &heap->d, heap->M);
}

// y = J^T P, and cones
static void sum_impulses(Heap* heap) {
    const crStep* step = cr_world_stages(heap->world);
    int nv = heap->model->nv;
    double* J = malloc(6 * (size_t)nv * sizeof *J);
    memset(heap->y, 0, (size_t)nv * sizeof *heap->y);
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        double pn = cr_dot(c->impulse, c->point.normal);
        double pt = cr_norm(cr_madd(c->impulse, -pn, c->point.normal));
        CHECK(pn >= 0.0 && pt <= MU * pn * (1.0 + 1e-9));
        for (int side = 0; side < 2; side++) {
            int b = side == 0 ? c->body_a : c->body_b;
            if (b == CR_WORLD) continue;
            crVec3 P = cr_scale(side == 0 ? -1.0 : 1.0, c->impulse);
            CHECK_STATUS(cr_model_jacobian(heap->model, &heap->d, b, c->point.point, J, NULL), CR_OK);
            for (int j = 0; j < nv; j++) {
                heap->y[j] += J[j] * P.x + J[nv + j] * P.y + J[2 * nv + j] * P.z;
            }
        }
    }
    free(J);
}

static double row_dot(const Heap* heap, int j, int from, int end, const double* x) {
    double sum = 0.0;
    for (int k = from; k < end; k++) {
        sum += heap->M[j * heap->model->nv + k] * x[k];
    }
    return sum;
}

// M (v+/s - v_free) = J^T P, but for what joints' own rows give; s is one number for the tree
static void check_tree(Heap* heap, const Kind* kind, int from, int end) {
    const crModel* model = heap->model;
    const double* v = cr_world_state(heap->world)->v;
    double own = 0.0, both = 0.0, size = 0.0, pushed = 0.0;
    for (int j = from; j < end; j++) {
        pushed += fabs(heap->y[j]);
    }
    // a tree in flight goes by another rule, and velocity terms of one that spins fast are limited
    double limited = 0.0;
    for (int j = from; j < end; j++) {
        limited = fmax(limited, fabs(cr_world_stages(heap->world)->free.v[j] - heap->free[j]));
    }
    // dampers are implicit, which v_free of M alone does not know
    if (kind->damped)
        memcpy(heap->free, cr_world_stages(heap->world)->free.v, (size_t)model->nv * sizeof(double));
    if (pushed <= 1e-12 || (limited > 1e-6 && !kind->damped)) return;
    for (int j = from; j < from + 6; j++) {
        double now = row_dot(heap, j, from, end, v),
               due = row_dot(heap, j, from, end, heap->free) + heap->y[j];
        own += now * now;
        both += now * due;
        size = fmax(size, fabs(due) + fabs(heap->y[j]) + fabs(now));
    }
    double x = own > 0.0 ? both / own : 1.0;  // 1/s
    CHECK(x > 0.9 && x < 2.0);
    heap->scale_sum += x;
    heap->scales++;
    if (kind->damped) return;
    for (int j = from; j < end; j++) {
        const crDof* dof = cr_model_dof(model, j);
        double tie =
            x * row_dot(heap, j, from, end, v) - row_dot(heap, j, from, end, heap->free) - heap->y[j];
        double rounding = 1e-9 * (size + 1.0);
        if (dof->upper < INFINITY) {
            // a limit may be reached only in the direction of the way to it
            double most = STEP * (dof->motor_force + dof->friction) + rounding,
                   q = heap->q[model->bodies[model->velocity.body[j]].q];
            bool near_lower = q<-BENT + 0.3, near_upper = q> BENT - 0.3;
            CHECK(near_lower || tie <= most);
            CHECK(near_upper || tie >= -most);
        } else {
            CHECK(fabs(tie) <= rounding);
        }
    }
}

// controls of the next step
static void drive(Heap* heap, crRandom* random) {
    for (int a = 0; a < heap->model->nu; a++) {
        cr_world_state(heap->world)->ctrl[a] = sample_uniform(random, -TORQUE, TORQUE);
    }
}

// work of the actuators: each control times the way of its hinge
static void check_work(const Heap* heap) {
    const crModel* model = heap->model;
    const crState* s = cr_world_state(heap->world);
    double work = 0.0, size = 0.0;
    for (int a = 0; a < model->nu; a++) {
        int q = model->bodies[model->velocity.body[model->actuators[a].dof[0]]].q;
        work += s->ctrl[a] * (s->q[q] - heap->q[q]);
        size += fabs(s->ctrl[a] * (s->q[q] - heap->q[q]));
    }
    CHECK_NEAR(cr_world_certificate(heap->world)->energy.work, work, 1e-9 * size + 1e-15);
}

static bool step_checked(Heap* heap, const Kind* kind) {
    crError error = {0};
    const crModel* model = heap->model;
    look(heap);
    CHECK_STATUS(cr_world_step(heap->world, &error), CR_OK);
    const crCertificate* c = cr_world_certificate(heap->world);
    double overlap = 0.0;
    CHECK_STATUS(cr_world_overlap(heap->world, &overlap, &error), CR_OK);
    CHECK(overlap <= c->penetration + 1e-12);
    // a bound that tells something: less than half of the thinnest body
    CHECK(c->penetration <= overlap + LOOSE);
    if (c->outcome != CR_OUTCOME_BOUNDED) return false;
    // only where all that touches was moved by short steps is every impulse one of theirs
    sum_impulses(heap);
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (body->parent != CR_WORLD || body->joint != CR_JOINT_FREE || body->single) continue;
        int end = body->v + 6;
        while (end < model->nv && model->bodies[model->velocity.body[end]].root == b) {
            end++;
        }
        check_tree(heap, kind, body->v, end);
    }
    if (!kind->ties && !kind->driven) check_energy(heap);
    if (kind->driven) check_work(heap);
    return true;
}

TEST(trees_that_move_keep_momentum_cones_and_energy) {
    const Kind kinds[] = {{8, 0, false, false, 1, false, false},
                          {6, 12, false, false, 1, false, false},
                          {8, 0, true, false, 1, false, false},
                          {4, 18, false, true, 1, false, false}};
    int heaps = test_samples(400) / 50, bounded = 0;
    for (int i = 0; i < heaps; i++) {
        Kind kind = kinds[i % 4];
        Heap heap = heap_create((uint64_t)i, kind);
        for (int k = 0; k < 200; k++) {
            bounded += step_checked(&heap, &kind);
        }
        heap_destroy(&heap);
    }
    CHECK(bounded > 60 * heaps);
}

// Figures whose limbs whip round, among themselves and among free bodies: no step ends with a pair deeper than 1 % of the
// narrower body's width, and what pushes them apart lifts nothing for free.
TEST(no_step_ends_with_deep_limbs) {
    const Kind kinds[] = {{12, 0, false, false, 1, false, false}, {6, 18, false, true, 1, false, false}};
    int heaps = test_samples(200) / 50, bounded = 0;
    double deepest = 0.0;
    for (int i = 0; i < heaps; i++) {
        Heap heap = heap_create((uint64_t)(40 + i), kinds[i % 2]);
        for (int k = 0; k < 250; k++) {
            bounded += step_checked(&heap, &kinds[i % 2]);
            deepest = fmax(deepest, deepest_share(heap.world, heap.model, heap.model->nb));
        }
        heap_destroy(&heap);
    }
    printf("  deepest %.2e of a body in %d bounded steps\n", deepest, bounded);
    CHECK(bounded > 60 * heaps);
    CHECK(deepest <= 0.01);
}

TEST(actuators_in_motion) {
    const Kind kinds[] = {{12, 24, false, false, 1, true, false}, {20, 0, false, false, 1, true, false}};
    int heaps = test_samples(1200) / 100 + 1, bounded = 0;
    for (int i = 0; i < heaps; i++) {
        Kind kind = kinds[i % 2];
        // in this first one contacts take more from a tree that whirls than it has, while another set gains energy
        uint64_t seed = 14 + (uint64_t)i;
        Heap heap = heap_create(seed, kind);
        crRandom random = sample_seed(seed);
        for (int k = 0; k < 400; k++) {
            drive(&heap, &random);
            bounded += step_checked(&heap, &kind);
        }
        heap_destroy(&heap);
    }
    printf("  %d bounded in %d heaps\n", bounded, heaps);
    CHECK(bounded > 30 * heaps);
}

// What dampers take is lost: trees with them are not made faster again, on the mean, than contacts left them.
TEST(dampers_in_motion) {
    Kind kind = {.figures = 8, .threads = 1, .damped = true};
    Heap heap = heap_create(3, kind);
    int bounded = 0;
    for (int k = 0; k < 200; k++) {
        bounded += step_checked(&heap, &kind);
    }
    test_check(bounded > 60 && heap.scale_sum > 0.9995 * heap.scales, __FILE__, __LINE__,
               "%d steps bounded, v scaled by %.5f", bounded, heap.scales / heap.scale_sum);
    heap_destroy(&heap);
}

TEST(threads_and_snapshots_give_the_same_bits) {
    for (uint64_t seed = 0; seed < 3; seed++) {
        Kind kind = {8, seed == 1 ? 9 : 0, seed == 2, false, 1, false, false}, other = kind;
        other.threads = 3;
        Heap one = heap_create(seed, kind), three = heap_create(seed, other), again = heap_create(seed, kind);
        same_bits(one.world, three.world, again.world, 200, 120);
        heap_destroy(&one);
        heap_destroy(&three);
        heap_destroy(&again);
    }
}

// a batch steps the same world, among others that stand elsewhere
TEST(a_batch_gives_the_same_bits) {
    Kind kind = {6, 0, false, false, 1, false, false};
    Heap heap = heap_create(5, kind);
    crBatchDef def = cr_batch_def();
    crBatch* batch = NULL;
    crError error = {0};
    def.model = heap.model;
    def.step = cr_step_settings();
    def.step.dt = STEP;
    def.step.quality = CR_QUALITY_FAST;
    def.count = 3;
    CHECK_STATUS(cr_batch_create(&def, &batch, &error), CR_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(cr_batch_put(batch, i, heap.world, &error), CR_OK);
        CHECK_STATUS(cr_world_step(heap.world, &error), CR_OK);
    }
    CHECK_STATUS(cr_batch_step(batch, STEP, 150, &error), CR_OK);
    int bounded = 0;
    for (int k = 3; k < 150; k++) {
        CHECK_STATUS(cr_world_step(heap.world, &error), CR_OK);
        bounded += cr_world_certificate(heap.world)->outcome == CR_OUTCOME_BOUNDED;
    }
    // world i of the batch began after i steps
    for (int i = 0; i < 3; i++) {
        uint64_t hash = 0;
        CHECK_STATUS(cr_batch_hash(batch, i, &hash, &error), CR_OK);
        CHECK(hash == cr_world_hash(heap.world));
        CHECK_STATUS(cr_world_step(heap.world, &error), CR_OK);
    }
    CHECK(bounded > 50);
    cr_batch_destroy(batch);
    heap_destroy(&heap);
}
