// test_impulse_refusals.c - every error of cr_collision_contact, cr_collision_bodies and cr_mechanism_W.
#include "test.h"

static const double nan_value = (double)NAN;
static const double infinite = (double)INFINITY;

// status, field, and a message that names the field
static void expect(crStatus got, const crError* error, crStatus status, const char* field) {
    CHECK_STATUS(got, status);
    CHECK(error->status == status);
    CHECK_TEXT(error->field, field);
    CHECK(strstr(error->message, field) != NULL);
    CHECK(error->line == 0 && error->column == 0);
}

static void refuse(const crCollision* c, crStatus status, const char* field) {
    crContact contact;
    crMat3 frame;
    crError error = {0};
    expect(cr_collision_contact(c, &contact, &frame, &error), &error, status, field);
    CHECK_STATUS(cr_collision_contact(c, &contact, &frame, NULL), status);
}

static crCollision good(void) {
    crCollision c = cr_collision();
    c.V = cr_vec3(-1, 0.5, 0);
    crContact contact;
    crMat3 frame;
    CHECK_STATUS(cr_collision_contact(&c, &contact, &frame, NULL), CR_OK);
    return c;
}

TEST(numbers_are_refused_by_name) {
    crCollision c = good();
    c.V.y = nan_value;
    refuse(&c, CR_ERR_FINITE, "V");
    c = good();
    c.V.z = infinite;
    refuse(&c, CR_ERR_FINITE, "V");
    c = good();
    c.mu = -0.1;
    refuse(&c, CR_ERR_RANGE, "mu");
    c.mu = nan_value;
    refuse(&c, CR_ERR_FINITE, "mu");
    c = good();
    c.e = -0.1;
    refuse(&c, CR_ERR_RANGE, "e");
    c.e = nan_value;
    refuse(&c, CR_ERR_FINITE, "e");
    c.e = infinite;
    refuse(&c, CR_ERR_FINITE, "e");
    c = good();
    c.et = 1.01;
    refuse(&c, CR_ERR_RANGE, "et");
    c.et = -1.01;
    refuse(&c, CR_ERR_RANGE, "et");
    c.et = nan_value;
    refuse(&c, CR_ERR_FINITE, "et");
}

TEST(W_is_refused_by_name) {
    crCollision c = good();
    c.W.m[1][2] = nan_value;
    refuse(&c, CR_ERR_FINITE, "W");
    c = good();
    c.W.m[0][0] = infinite;
    refuse(&c, CR_ERR_FINITE, "W");
    c = good();
    c.W.m[0][1] = 1e-6;
    refuse(&c, CR_ERR_SYMMETRY, "W");
    c = good();
    c.W.m[2][2] = -1.0;
    refuse(&c, CR_ERR_DEFINITE, "W");
    c = good();
    c.W.m[0][1] = c.W.m[1][0] = 1.1;
    refuse(&c, CR_ERR_DEFINITE, "W");
}

TEST(normal_and_frame_are_refused_by_name) {
    crCollision c = good();
    c.n = cr_vec3(0.5, 0, 0);
    refuse(&c, CR_ERR_UNIT, "n");
    c.n = cr_vec3(0, 0, 0);
    refuse(&c, CR_ERR_UNIT, "n");
    c.normalize = true;
    refuse(&c, CR_ERR_UNIT, "n");
    c.n = cr_vec3(1, nan_value, 0);
    refuse(&c, CR_ERR_FINITE, "n");
    c = good();
    c.has_frame = true;
    c.frame = (crMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 2}}};
    refuse(&c, CR_ERR_UNIT, "frame");
    c.frame = (crMat3){{{1, 0, 0}, {0, 1, 0.1}, {0, 0, 1}}};
    refuse(&c, CR_ERR_UNIT, "frame");
    c.frame = (crMat3){{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}};
    refuse(&c, CR_ERR_UNIT, "frame");
    c.frame = (crMat3){{{1, 0, 0}, {0, nan_value, 0}, {0, 0, 1}}};
    refuse(&c, CR_ERR_UNIT, "frame");
}

static double constant(void* ctx, double speed) {
    (void)speed;
    return *(double*)ctx;
}

TEST(restitution_is_refused_by_name) {
    double speed[2] = {0.0, 1.0}, e[2] = {0.9, 0.5};
    crRestitution table = {.count = 2, .speed = speed, .e = e};
    crCollision c = good();
    c.e_of_speed = &table;
    table.count = 0;
    refuse(&c, CR_ERR_SIZE, "e");
    table.count = 2;
    table.speed = NULL;
    refuse(&c, CR_ERR_SIZE, "e");
    table.speed = speed;
    table.e = NULL;
    refuse(&c, CR_ERR_SIZE, "e");
    table.e = e;
    const double bad_speeds[][2] = {{-1, 1}, {1, 1}, {1, 0}, {nan_value, 1}, {0, infinite}};
    for (int i = 0; i < 5; i++) {
        table.speed = bad_speeds[i];
        refuse(&c, CR_ERR_RANGE, "e");
    }
    table.speed = speed;
    const double bad_e[][2] = {{-0.1, 1}, {0.1, nan_value}, {infinite, 1}};
    for (int i = 0; i < 3; i++) {
        table.e = bad_e[i];
        refuse(&c, CR_ERR_RANGE, "e");
    }
    double value = -0.5;
    crRestitution function = {.function = constant, .ctx = &value};
    c.e_of_speed = &function;
    refuse(&c, CR_ERR_RANGE, "e");
    value = nan_value;
    refuse(&c, CR_ERR_RANGE, "e");
}

// bodies

static void refuse_bodies(const crRigid* a, const crRigid* b, crVec3 point, crStatus status,
                          const char* field) {
    crCollision c = cr_collision();
    crError error = {0};
    expect(cr_collision_bodies(&c, a, b, point, &error), &error, status, field);
    CHECK_STATUS(cr_collision_bodies(&c, a, b, point, NULL), status);
}

TEST(bodies_are_refused_by_name) {
    crVec3 origin = cr_vec3(0, 0, 0);
    const crRigid fine = cr_rigid();
    crRigid bad = fine;
    bad.position.y = nan_value;
    refuse_bodies(&bad, &fine, origin, CR_ERR_FINITE, "a.position");
    refuse_bodies(&fine, &bad, origin, CR_ERR_FINITE, "b.position");
    bad = fine;
    bad.velocity.z = infinite;
    refuse_bodies(&fine, &bad, origin, CR_ERR_FINITE, "b.velocity");
    bad = fine;
    bad.omega.x = -infinite;
    refuse_bodies(&bad, &fine, origin, CR_ERR_FINITE, "a.omega");
    // of a fixed body too: its motion is prescribed
    bad.fixed = true;
    refuse_bodies(&bad, &fine, origin, CR_ERR_FINITE, "a.omega");
    bad = fine;
    bad.orientation.w = 1.1;
    refuse_bodies(&fine, &bad, origin, CR_ERR_UNIT, "b.orientation");
    bad.orientation.w = nan_value;
    refuse_bodies(&fine, &bad, origin, CR_ERR_UNIT, "b.orientation");
    const double masses[] = {0.0, -1.0, nan_value, infinite};
    for (int i = 0; i < 4; i++) {
        bad = fine;
        bad.mass = masses[i];
        refuse_bodies(&bad, &fine, origin, CR_ERR_RANGE, "a.mass");
    }
    bad = fine;
    bad.inertia.yy = 0.0;
    refuse_bodies(&bad, &fine, origin, CR_ERR_DEFINITE, "a.inertia");
    bad.inertia.yy = nan_value;
    refuse_bodies(&bad, &fine, origin, CR_ERR_DEFINITE, "a.inertia");
    bad = fine;
    bad.inertia.xy = 2.0;
    refuse_bodies(&fine, &bad, origin, CR_ERR_DEFINITE, "b.inertia");
    refuse_bodies(&fine, &fine, cr_vec3(0, nan_value, 0), CR_ERR_FINITE, "point");
    bad = fine;
    bad.fixed = true;
    refuse_bodies(&bad, &bad, origin, CR_ERR_ARGUMENT, "fixed");
}

// mechanisms

typedef struct Answer {
    int calls;
    int wrong_at;  // call that misbehaves
    bool refuse;   // returns an error there, instead of a NaN
} Answer;

static crStatus answer(void* ctx, crVec3 impulse, crVec3* velocity) {
    Answer* a = ctx;
    bool wrong = a->calls++ == a->wrong_at;
    *velocity = impulse;
    if (wrong && !a->refuse) velocity->y = nan_value;
    return wrong && a->refuse ? CR_ERR_LIMIT : CR_OK;
}

TEST(mechanisms_are_refused) {
    crMat3 W;
    crError error = {0};
    Answer a = {0, -1, false};
    expect(cr_mechanism_W(NULL, NULL, &W, &error), &error, CR_ERR_ARGUMENT, "respond");
    CHECK_STATUS(cr_mechanism_W(answer, &a, NULL, NULL), CR_ERR_ARGUMENT);
    CHECK_STATUS(cr_mechanism_W(answer, &a, &W, NULL), CR_OK);
    CHECK(a.calls == 4 && W.m[0][0] == 1.0 && W.m[1][0] == 0.0);
    for (int call = 0; call < 4; call++) {
        a = (Answer){0, call, false};
        expect(cr_mechanism_W(answer, &a, &W, &error), &error, CR_ERR_FINITE, "respond");
        // its own refusal is handed on
        a = (Answer){0, call, true};
        CHECK_STATUS(cr_mechanism_W(answer, &a, &W, &error), CR_ERR_LIMIT);
    }
}
