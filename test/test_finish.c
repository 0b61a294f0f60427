// test_finish.c - islands that sweeps leave unsolved are finished, whatever their size: towers, chains in flight,
// heaps.
//
// Expectations: a leaning tower whose parts all rest over their supports stays up, each contact plane carries the
// weight above it at the place where that weight acts (statics); bodies that fall together without touching fall as
// one does alone; what a step claims to have solved is the certificate's word, which other tests judge.
#include "test.h"
#include "world_scene.h"

#define BOXES  13
#define BALLS  24
#define HALF   0.1
#define STEP   (1.0 / 240.0)
#define G      9.81
#define LEAN_X 0.007
#define LEAN_Y 0.004

static crModel* ground_model(double mu) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -G);
    model->materials[0].surface.mu = model->materials[0].surface.mu2 = mu;
    model->materials[0].surface.e = 0.0;
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    return model;
}

static void add_free(crModel* model, crShape shape, crVec3 at) {
    crMass mass = cr_mass_of_shape(&shape, 1000.0);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = mass.mass;
    def.inertia = mass.inertia;
    def.pose.p = at;
    cr_model_add_shape(model, cr_model_add_body(model, &def), &shape, 0);
}

static crWorld* open_world(crModel* model, crQuality quality) {
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.dt = STEP;
    def.step.quality = quality;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    return world;
}

// each plane of the tower: the force of its contacts is the weight above, and acts below that weight's centre
static void check_planes(const crStep* step) {
    for (int k = 1; k <= BOXES; k++) {
        crVec3 force = cr_vec3(0, 0, 0), moment = cr_vec3(0, 0, 0), centre = cr_vec3(0, 0, 0);
        double weight = 0.0;
        for (int b = k; b <= BOXES; b++) {
            const double* q = step->state.q + step->model->bodies[b].q;
            double w = G * step->model->bodies[b].mass;
            weight += w;
            centre = cr_madd(centre, w, cr_vec3(q[0], q[1], q[2]));
        }
        centre = cr_scale(1.0 / weight, centre);
        for (int i = 0; i < step->contacts.count; i++) {
            const crStepContact* c = &step->contacts.list[i];
            if (c->body_b != k || c->body_a != k - 1) continue;
            crVec3 f = cr_scale(1.0 / STEP, c->impulse);
            force = cr_add(force, f);
            moment = cr_add(moment, cr_cross(cr_sub(c->point.point, centre), f));
        }
        // unsolved sweeps leave errors of some percent here
        CHECK(cr_norm(cr_sub(force, cr_vec3(0, 0, weight))) <= 1e-4 * weight);
        CHECK(cr_norm(moment) <= 1e-4 * HALF * weight);
    }
}

static void tower_rests(crQuality quality) {
    crModel* model = ground_model(0.5);
    for (int i = 0; i < BOXES; i++) {
        add_free(model, cr_shape_box(HALF, HALF, HALF), cr_vec3(LEAN_X * i, LEAN_Y * i, 0.15 + 0.24 * i));
    }
    crWorld* world = open_world(model, quality);
    const crStep* step = cr_world_stages(world);
    int unsolved = 0;
    double energy = 0.0;
    for (int i = 0; i < 480; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        if (i < 360) continue;
        energy = fmax(energy, cr_world_energy(world).kinetic);
        unsolved += cr_world_certificate(world)->outcome != CR_OUTCOME_SOLVED;
    }
    printf("  tower, quality %d: kinetic energy %.1e J, %d of 120 steps unsolved\n", (int)quality, energy,
           unsolved);
    CHECK(energy <= 1e-9);
    CHECK(unsolved == 0);
    check_planes(step);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(a_tower_rests_in_fast) { tower_rests(CR_QUALITY_FAST); }
TEST(a_tower_rests_in_accurate) { tower_rests(CR_QUALITY_ACCURATE); }
TEST(a_tower_rests_in_certified) { tower_rests(CR_QUALITY_CERTIFIED); }

// Balls fall one above the other, gaps of some deadbands; those that nothing stops yet are where one alone would
// be. From below they land one after another on the ones before, which rest at multiples of the diameter.
TEST(a_column_falls_and_lands) {
    crModel* model = ground_model(0.5);
    double gap = 1e-5, r = 0.1, drop = 0.2;
    for (int i = 0; i < BALLS; i++) {
        add_free(model, cr_shape_sphere(r), cr_vec3(0, 0, drop + r + (2.0 * r + gap) * i));
    }
    crWorld* world = open_world(model, CR_QUALITY_ACCURATE);
    const crStep* step = cr_world_stages(world);
    double worst = 0.0, sunk = 0.0;
    int unsolved = 0;
    for (int i = 1; i <= 120; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        double t = i * STEP, way = 0.5 * G * t * t;
        unsolved += cr_world_certificate(world)->outcome != CR_OUTCOME_SOLVED;
        for (int b = 1; b <= BALLS; b++) {
            double z = step->state.q[step->model->bodies[b].q + 2], rest = r * (2 * b - 1);
            double free = drop + r + (2.0 * r + gap) * (b - 1) - way;
            if (way < drop - 1e-3) worst = fmax(worst, fabs(z - free));
            sunk = fmax(sunk, rest - z);
        }
    }
    printf("  column: flight off by %.1e m, below rest by %.1e m, %d of 120 steps unsolved\n", worst, sunk,
           unsolved);
    CHECK(unsolved == 0);
    // half of g h^2 is what a body loses that is counted as carried
    CHECK(worst <= 0.01 * 0.5 * G * STEP * STEP);
    CHECK(sunk <= BALLS * 1e-6);
    cr_world_destroy(world);
    cr_model_destroy(model);
}
