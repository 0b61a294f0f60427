// Points of one face are posed from one plane. A face is rigid, and the gaps of its points are an affine function of where
// they are: biases are so too where all follow the gaps or none does. Re-derived from what a step shows of its problems.
#include "test.h"

#include "carom/stages.h"
#include "sample.h"

#define BOXES 14
#define STEPS 240
#define MOST  8  // points of one face

typedef struct Seen {
    crWorld* world;
    int faces, narrow;  // of four points and more; of these with gaps of up to 1000 deadbands
    double worst;       // difference of a bias over deadband/h
} Seen;

typedef struct Face {
    const crStepContact* first;
    int count;
    double b[MOST], gap[MOST];
} Face;

static const crStepContact* find(const crStep* step, crVec3 point) {
    for (int i = 0; i < step->contacts.count; i++) {
        crVec3 x = step->contacts.list[i].point.point;
        if (x.x == point.x && x.y == point.y && x.z == point.z) return &step->contacts.list[i];
    }
    return NULL;
}

static bool same(const crStepContact* c, const crStepContact* d) {
    return c->shape_a == d->shape_a && c->shape_b == d->shape_b &&
           cr_norm(cr_sub(c->point.normal, d->point.normal)) == 0.0;
}

// Held as a whole, where it is, or not at all: then every point may close down to its deadband.
static void judge(const Face* f, double h, Seen* seen) {
    double delta = f->first->delta;
    bool held = true, narrow = false;
    for (int i = 0; i < f->count; i++) {
        held = held && f->b[i] == 0.0;
        narrow = narrow || (f->gap[i] > delta && f->gap[i] < 1000.0 * delta);
    }
    if (f->count < 4) return;
    seen->faces++;
    seen->narrow += !held && narrow;
    for (int i = 0; i < f->count; i++) {
        double b = held ? 0.0 : fmax(0.0, f->gap[i] - delta) / h;
        seen->worst = fmax(seen->worst, fabs(f->b[i] - b) * h / delta);
    }
}

static crStatus look(void* ctx, const crPosed* posed, crError* error) {
    (void)error;
    Seen* seen = ctx;
    const crStep* step = cr_world_stages(seen->world);
    if (posed->impact) return CR_OK;
    Face face = {0};
    for (int i = 0; i <= posed->problem->block_count; i++) {
        const crStepContact* c = i < posed->problem->block_count ? find(step, posed->points[i]) : NULL;
        if (face.count > 0 && (c == NULL || !same(face.first, c))) {
            judge(&face, posed->h, seen);
            face.count = 0;
        }
        if (c == NULL || face.count == MOST) continue;
        if (face.count == 0) face.first = c;
        face.gap[face.count] = c->point.gap;
        face.b[face.count++] = posed->problem->b[posed->problem->blocks[i].row];
    }
    return CR_OK;
}

static void add_box(crModel* model, crVec3 at, crQuat turn) {
    crShape box = cr_shape_box(0.1, 0.1, 0.1);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = 8.0;
    def.inertia = (crSym3){.xx = 0.053, .yy = 0.053, .zz = 0.053};
    def.pose = (crPose){at, turn};
    cr_model_add_shape(model, cr_model_add_body(model, &def), &box, 0);
}

// two columns of boxes fall over each other and come to lie
static void tumble(crQuality quality, Seen* seen) {
    crRandom random = sample_seed(77);
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -9.81);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    for (int i = 0; i < BOXES; i++) {
        crVec3 off = cr_scale(0.03, sample_direction(&random));
        crVec3 at = cr_add(cr_vec3(0.15 * (i % 2), 0.0, 0.13 + 0.22 * (i / 2)), off);
        add_box(model, at, cr_quat_axis_angle(cr_vec3(0, 0, 1), 0.3 * i));
    }
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.dt = 1.0 / 240.0;
    def.step.quality = quality;
    def.step.measure = 0;
    CHECK_STATUS(cr_world_create(&def, &seen->world, NULL), CR_OK);
    cr_world_stages(seen->world)->calls.posed = look;
    cr_world_stages(seen->world)->calls.posed_ctx = seen;
    for (int i = 0; i < STEPS; i++) {
        CHECK_STATUS(cr_world_step(seen->world, NULL), CR_OK);
    }
    cr_world_destroy(seen->world);
    cr_model_destroy(model);
}

TEST(faces_are_held_as_a_whole) {
    const crQuality qualities[] = {CR_QUALITY_ACCURATE, CR_QUALITY_CERTIFIED};
    for (int i = 0; i < 2; i++) {
        Seen seen = {0};
        tumble(qualities[i], &seen);
        CHECK(seen.faces > 500);
        CHECK(seen.narrow > 50);
        CHECK(seen.worst <= 1e-9);
    }
}
