// piles_carom.c - a scene in carom, through the public world alone; an allocator that counts.
//
// Bodies on joints make a kinematic tree: a body's frame is its joint's, so its centre of mass is off the
// origin. Everything else about a step (deadband, tolerance, rule) is what the quality gives. Fails: NULL, or
// a step that returns a status.
#include <stdlib.h>
#include <string.h>

#include "carom/stages.h"
#include "piles.h"

typedef struct Heap {
    long calls;
    size_t bytes;
} Heap;

// scratch memory of all worlds that hold one body each: the bench steps them one after another
typedef struct Lent {
    crArena arena;
    int users;
} Lent;

static Lent lent;

typedef struct Carom {
    Heap heap;
    bool borrows;
    crModel* model;
    crWorld* world;
    int count;
} Carom;

static void* heap_alloc(void* ctx, size_t size) {
    Heap* heap = ctx;
    heap->calls++;
    heap->bytes += size;
    return malloc(size);
}

static void heap_free(void* ctx, void* memory, size_t size) {
    Heap* heap = ctx;
    heap->calls++;
    if (memory != NULL) heap->bytes -= size;
    free(memory);
}

// a driven body turns about its origin with a constant omega
static void turn(void* ctx, double time, crDriven* out) {
    const PilesBody* body = ctx;
    out->pose.q = piles_turned(body, time);
    out->omega = body->omega;
}

static crJoint joint_of_role(PilesRole role) {
    if (role == PILES_FREE) return CR_JOINT_FREE;
    return role == PILES_FIXED ? CR_JOINT_FIXED : CR_JOINT_DRIVEN;
}

static void add_body(crModel* model, const PilesScene* scene, int i) {
    const PilesBody* body = &scene->bodies[i];
    const PilesJoint* joint = piles_joint_of(scene, i);
    crBodyDef def = cr_body_def();
    def.joint = joint_of_role(body->role);
    def.drive = turn;
    def.drive_ctx = (void*)body;
    def.pose = body->pose;
    def.mass = body->mass;
    def.inertia = (crSym3){.xx = body->inertia.x, .yy = body->inertia.y, .zz = body->inertia.z};
    crShape shape = body->shape;
    if (joint != NULL) {
        crQuat back = cr_quat_conj(body->pose.q);
        def.joint = joint->ball ? CR_JOINT_BALL : CR_JOINT_HINGE;
        if (!joint->ball) def.axis = cr_quat_rotate(back, joint->axis);
        def.com = cr_quat_rotate(back, cr_sub(body->pose.p, joint->point));
        def.pose.p = joint->point;
        if (joint->a >= 0) {
            // in the frame of the parent, whose origin is its own joint
            def.parent = joint->a + 1;
            crPose parent = scene->bodies[joint->a].pose;
            parent.p = cr_pose_point(parent, cr_neg(model->bodies[def.parent].com));
            def.pose = cr_pose_mul(cr_pose_inverse(parent), def.pose);
        }
        shape.pose.p = cr_add(shape.pose.p, def.com);
    }
    cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 0);
}

static void destroy(void* self) {
    Carom* c = self;
    cr_world_destroy(c->world);
    cr_model_destroy(c->model);
    if (c->borrows && --lent.users == 0) cr_arena_destroy(&lent.arena);
    free(c);
}

// of a free body; bodies on joints start at rest
static void set_velocity(Carom* c, const PilesScene* scene, int i) {
    const PilesBody* body = &scene->bodies[i];
    const crBody* b = &c->model->bodies[i + 1];
    if (b->joint != CR_JOINT_FREE) return;
    double* v = cr_world_state(c->world)->v + b->v;
    const crVec3 given[] = {body->v, body->omega};
    memcpy(v, given, sizeof given);
}

static void* create(const PilesEngine* engine, const PilesScene* scene, int threads) {
    Carom* c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    crAllocator allocator = {heap_alloc, heap_free, &c->heap};
    c->count = scene->body_count;
    c->model = cr_model_create(&allocator);
    if (c->model == NULL) {
        free(c);
        return NULL;
    }
    c->model->gravity = cr_vec3(0, 0, -scene->gravity);
    c->model->materials[0].surface.mu = c->model->materials[0].surface.mu2 = scene->mu;
    c->model->materials[0].surface.e = scene->e;
    for (int i = 0; i < scene->body_count; i++) {
        add_body(c->model, scene, i);
    }
    for (int i = 0; i < scene->plane_count; i++) {
        crShape plane = cr_shape_halfspace(scene->planes[i].normal, scene->planes[i].offset);
        cr_model_add_shape(c->model, CR_WORLD, &plane, 0);
    }
    crWorldDef def = cr_world_def();
    def.model = c->model;
    def.allocator = &allocator;
    def.step.dt = scene->dt;
    def.step.quality = (crQuality)engine->variant;
    def.step.threads = threads;
    c->borrows = scene->alone;
    if (c->borrows) {
        if (lent.users++ == 0) cr_arena_create(&lent.arena, NULL, 0);
        def.scratch = &lent.arena;
    }
    if (cr_world_create(&def, &c->world, NULL) != CR_OK) {
        destroy(c);
        return NULL;
    }
    for (int i = 0; i < scene->body_count; i++) {
        set_velocity(c, scene, i);
    }
    return c;
}

static bool step(void* self) { return cr_world_step(((Carom*)self)->world, NULL) == CR_OK; }

static void read_motion(void* self, PilesMotion* motion) {
    Carom* c = self;
    // kinematics of the present state, then the velocities that go with it
    cr_world_pose(c->world, CR_WORLD);
    crDynamics* d = &cr_world_stages(c->world)->dynamics;
    cr_model_velocity(c->model, cr_world_state(c->world)->v, d);
    for (int i = 0; i < c->count; i++) {
        int body = i + 1;
        motion[i].pose = (crPose){d->com[body], d->pose[body].q};
        motion[i].v = cr_model_point_velocity(d, body, d->com[body]);
        motion[i].omega = d->twist[body].omega;
    }
}

static void report(void* self, PilesReport* out) {
    Carom* c = self;
    const crCertificate* certificate = cr_world_certificate(c->world);
    *out = (PilesReport){certificate->outcome, certificate->eta, certificate->contacts, c->heap.calls,
                         c->heap.bytes};
}

#define ALL_SHAPES ((1U << PILES_SHAPES) - 1)
#define THREADS    64

const PilesEngine piles_carom_fast = {"carom fast", "this tree, quality fast",
                                      17,           ALL_SHAPES,
                                      THREADS,      CR_QUALITY_FAST,
                                      create,       step,
                                      read_motion,  report,
                                      destroy};
const PilesEngine piles_carom_accurate = {"carom accurate",
                                          "this tree, quality accurate",
                                          17,
                                          ALL_SHAPES,
                                          THREADS,
                                          CR_QUALITY_ACCURATE,
                                          create,
                                          step,
                                          read_motion,
                                          report,
                                          destroy};
const PilesEngine piles_carom_certified = {"carom certified",
                                           "this tree, quality certified",
                                           17,
                                           ALL_SHAPES,
                                           THREADS,
                                           CR_QUALITY_CERTIFIED,
                                           create,
                                           step,
                                           read_motion,
                                           report,
                                           destroy};
