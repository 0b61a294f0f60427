// test_step_touch.c - the event method where vertices and edges meet: mirror images head on, and vertices aimed at
// vertices.
//
// Expectations: two bodies that are mirror images in the plane x = 0 stay so, hence the impulse is along x and
// follows from e and one scalar mass in closed form; vertices aimed at each other have the normal of least separation
// just before they touch, found here by going through all pairs of features.
#include <stdlib.h>

#include "sample.h"
#include "sample_shape.h"
#include "step_scene.h"

#define MOST 64

static crVec3 mirror(crVec3 x) { return cr_vec3(-x.x, x.y, x.z); }

static crStepSettings event_settings(int i) {
    crStepSettings settings = scene_settings(CR_METHOD_EVENT);
    settings.dt = 0.01;
    settings.toi = i % 2 == 0 ? CR_TOI_BISECT : CR_TOI_ADVANCE;
    return settings;
}

// the hull with its vertices turned, and mirrored where asked
static crHull* turned_hull(const crHull* hull, crQuat q, bool mirrored) {
    int count, sizes[256], loops[1024], used = 0, faces = 0, corners;
    const crVec3* from = cr_hull_vertices(hull, &count);
    crVec3 p[MOST];
    for (int i = 0; i < count; i++) {
        p[i] = cr_quat_rotate(q, from[i]);
        if (mirrored) p[i] = mirror(p[i]);
    }
    for (const int* face; (face = cr_hull_face(hull, faces, &corners)) != NULL; faces++) {
        sizes[faces] = corners;
        for (int k = 0; k < corners; k++) {
            loops[used++] = face[mirrored ? corners - 1 - k : k];
        }
    }
    crHullDef def = {count, p, faces, sizes, loops};
    crHull* made = NULL;
    CHECK_STATUS(cr_hull_create(&def, NULL, &made, NULL), CR_OK);
    return made;
}

// the corner farthest along d, and how much farther it is than the next one
static crVec3 farthest(const crVec3* p, int count, crVec3 d, double* lead) {
    int best = 0;
    *lead = INFINITY;
    for (int i = 1; i < count; i++) {
        if (cr_dot(p[i], d) > cr_dot(p[best], d)) best = i;
    }
    for (int i = 0; i < count; i++) {
        if (i != best) *lead = fmin(*lead, cr_dot(cr_sub(p[best], p[i]), d));
    }
    return p[best];
}

static int add_body(crModel* model, crJoint joint, crShape shape, crPose pose, int material) {
    crBodyDef def = cr_body_def();
    crMass mass = cr_mass_of_shape(&shape, 1000.0);
    def.joint = joint;
    def.pose = pose;
    def.mass = mass.mass;
    def.com = mass.com;
    def.inertia = mass.inertia;
    int body = cr_model_add_body(model, &def);
    cr_model_add_shape(model, body, &shape, material);
    return body;
}

// steps until an impact, at most over `time`; its event, or NULL
static const crEvent* run_to_impact(Scene* scene, double time) {
    while (scene->step.state.time < time && scene_step(scene, scene->step.settings.dt)) {
        for (int i = 0; i < scene->step.events.count; i++) {
            if (scene->step.events.list[i].impact >= 0) return &scene->step.events.list[i];
        }
    }
    return NULL;
}

// a polygon about its centre of mass, turned at random, whose rightmost corner leads; false where it does not
static bool sample_polygon(crRandom* random, crVec3* p, int* count, crVec3* corner) {
    double turn = sample_uniform(random, 0, 2 * CR_PI), lead;
    *count = 3 + (int)(sample_bits(random) % 6);
    for (int i = 0; i < *count; i++) {
        double angle = turn + 2 * CR_PI * (i + sample_uniform(random, 0, 0.6)) / *count;
        p[i] = cr_vec3(0.5 * cr_cos(angle), 0.3 * cr_sin(angle), 0);
    }
    crHull* hull = NULL;
    if (cr_hull_create_prism(p, *count, 0.5, NULL, &hull, NULL) != CR_OK) return false;
    crShape shape = cr_shape_hull(hull);
    crVec3 com = cr_mass_of_shape(&shape, 1.0).com;
    cr_hull_destroy(hull);
    for (int i = 0; i < *count; i++) {
        p[i] = cr_sub(p[i], cr_vec3(com.x, com.y, 0));
    }
    *corner = farthest(p, *count, cr_vec3(1, 0, 0), &lead);
    return lead > 0.05;
}

static double worst_of(const double* got, const double* expected, int count) {
    double worst = 0.0;
    for (int i = 0; i < count; i++) {
        worst = fmax(worst, fabs(got[i] - expected[i]));
    }
    return worst;
}

// planar mirror images that turn and fall together; after the impact each has its closed form
static bool mirrored_polygons(crRandom* random, int i, double* worst) {
    crVec3 p[MOST], other[MOST], r;
    int count;
    if (!sample_polygon(random, p, &count, &r)) return false;
    for (int k = 0; k < count; k++) {
        other[k] = mirror(p[count - 1 - k]);
    }
    double T = sample_uniform(random, 0.02, 0.09), e = sample_uniform(random, 0, 1), g = 9.81;
    double v[3] = {sample_uniform(random, 0.5, 2), sample_uniform(random, -1, 1),
                   sample_uniform(random, -0.5, 0.5)};
    crHull *a = NULL, *b = NULL;
    CHECK_STATUS(cr_hull_create_prism(p, count, 0.5, NULL, &a, NULL), CR_OK);
    CHECK_STATUS(cr_hull_create_prism(other, count, 0.5, NULL, &b, NULL), CR_OK);
    Scene scene = {.model = cr_model_create(NULL)};
    scene.model->gravity = cr_vec3(0, -g, 0);
    int material = scene_material(scene.model, sample_uniform(random, 0, 1), e);
    crPose at = cr_pose_identity();
    add_body(scene.model, CR_JOINT_PLANAR, cr_shape_hull(a), at, material);
    add_body(scene.model, CR_JOINT_PLANAR, cr_shape_hull(b), at, material);
    crStepSettings settings = event_settings(i);
    scene_open(&scene, &settings);
    // at T the corners are at the origin with velocities v
    double start[3] = {-r.x - v[0] * T, -r.y - v[1] * T - 0.5 * g * T * T, -v[2] * T};
    double* q = scene.step.state.q;
    double* w = scene.step.state.v;
    for (int k = 0; k < 3; k++) {
        double sign = k == 1 ? 1.0 : -1.0;
        q[k] = start[k];
        q[3 + k] = sign * start[k];
        w[k] = v[k] + (k == 1 ? g * T : 0.0);
        w[3 + k] = sign * w[k];
    }
    double m = scene.model->bodies[1].mass, I = scene.model->bodies[1].inertia.zz;
    double u = v[0] - v[2] * r.y, P = (1 + e) * u / (1 / m + r.y * r.y / I);
    const crEvent* event = run_to_impact(&scene, 0.1);
    bool hit = test_check(event != NULL, __FILE__, __LINE__, "polygons %d: no impact", i);
    if (hit) {
        double after = scene.step.state.time - event->time;
        double expected[3] = {v[0] - P / m, v[1] - g * after, v[2] + r.y * P / I}, mirrored[3];
        for (int k = 0; k < 3; k++) {
            mirrored[k] = (k == 1 ? 1 : -1) * expected[k];
        }
        CHECK_NEAR(event->time, T, 1e-8);
        CHECK_VEC(event->normal, cr_vec3(1, 0, 0), 1e-9);
        *worst = fmax(*worst, fmax(worst_of(w, expected, 3), worst_of(w + 3, mirrored, 3)));
    }
    scene_close(&scene);
    cr_hull_destroy(a);
    cr_hull_destroy(b);
    return hit;
}

TEST(mirrored_polygons_stay_mirrored) {
    crRandom random = sample_seed(11);
    double worst = 0.0;
    int hits = 0, count = test_samples(12000);
    for (int i = 0; i < count; i++) {
        hits += mirrored_polygons(&random, i, &worst);
    }
    printf("polygons: %d corner on corner, velocities to %.1e\n", hits, worst);
    CHECK(hits > count / 4);
    CHECK(worst < 1e-9);
}

// the two bodies of a pair in space, not turning, and what is known of the first
typedef struct Twins {
    Scene scene;
    crHull *a, *b;
    crVec3 r;  // the corner of the first that leads, in its frame
} Twins;

static bool open_twins(Twins* t, crRandom* random, const crHullPool* pool, double e, int i) {
    crQuat q = sample_rotation(random);
    crShape a, b;
    crPose pose_a = cr_pose_identity(), pose_b = cr_pose_identity();
    crVec3 corners[MOST];
    int count = 8;
    double lead;
    *t = (Twins){.a = NULL};
    if (i % 3 == 0) {
        crVec3 s = cr_vec3(sample_uniform(random, 0.1, 0.5), sample_uniform(random, 0.1, 0.5), 0.3);
        a = b = cr_shape_box(s.x, s.y, s.z);
        pose_a.q = q;
        pose_b.q = (crQuat){q.w, q.x, -q.y, -q.z};
        for (int k = 0; k < count; k++) {
            corners[k] =
                cr_quat_rotate(q, cr_vec3(k & 1 ? s.x : -s.x, k & 2 ? s.y : -s.y, k & 4 ? s.z : -s.z));
        }
    } else {
        const crHull* hull = pool->hulls[sample_bits(random) % (uint64_t)pool->count];
        t->a = turned_hull(hull, q, false);
        t->b = turned_hull(hull, q, true);
        a = cr_shape_hull(t->a);
        b = cr_shape_hull(t->b);
        const crVec3* p = cr_hull_vertices(t->a, &count);
        memcpy(corners, p, (size_t)count * sizeof *corners);
    }
    t->r = farthest(corners, count, cr_vec3(1, 0, 0), &lead);
    if (!(lead > 0.02)) return false;
    t->scene.model = cr_model_create(NULL);
    t->scene.model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(t->scene.model, sample_uniform(random, 0, 1), e);
    add_body(t->scene.model, CR_JOINT_FREE, a, pose_a, material);
    add_body(t->scene.model, CR_JOINT_FREE, b, pose_b, material);
    crStepSettings settings = event_settings(i);
    scene_open(&t->scene, &settings);
    return true;
}

static void close_twins(Twins* t) {
    if (t->scene.model != NULL) scene_close(&t->scene);
    cr_hull_destroy(t->a);
    cr_hull_destroy(t->b);
}

// position level of free bodies in the state: frames
static void put(crState* state, int body, const crModel* model, crVec3 p, crVec3 v) {
    double* q = state->q + model->bodies[body].q;
    double* w = state->v + model->bodies[body].v;
    q[0] = p.x;
    q[1] = p.y;
    q[2] = p.z;
    w[0] = v.x;
    w[1] = v.y;
    w[2] = v.z;
    w[3] = w[4] = w[5] = 0.0;
}

static crVec3 linear_of(const crState* state, int body, const crModel* model) {
    const double* w = state->v + model->bodies[body].v;
    return cr_vec3(w[0], w[1], w[2]);
}

// angular momentum about the centre of mass
static crVec3 spin_of(const crState* state, int body, const crModel* model) {
    const double* q = state->q + model->bodies[body].q + 3;
    const double* w = state->v + model->bodies[body].v + 3;
    crQuat turn = {q[0], q[1], q[2], q[3]};
    crVec3 local = cr_quat_rotate(cr_quat_conj(turn), cr_vec3(w[0], w[1], w[2]));
    return cr_quat_rotate(turn, cr_sym3_mul(model->bodies[body].inertia, local));
}

static bool mirrored_hulls(crRandom* random, const crHullPool* pool, int i, double* worst) {
    double T = sample_uniform(random, 0.02, 0.09), e = sample_uniform(random, 0, 1);
    Twins t;
    if (!open_twins(&t, random, pool, e, i)) {
        close_twins(&t);
        return false;
    }
    crVec3 v =
        cr_vec3(sample_uniform(random, 0.5, 2), sample_uniform(random, -1, 1), sample_uniform(random, -1, 1));
    const crModel* model = t.scene.model;
    crState* state = &t.scene.step.state;
    crVec3 p = cr_neg(cr_madd(t.r, T, v));
    put(state, 1, model, p, v);
    put(state, 2, model, mirror(p), mirror(v));
    const crBody* body = &model->bodies[1];
    // x up to the frame of the body, where its inertia is
    crQuat q = {state->q[3], state->q[4], state->q[5], state->q[6]};
    crVec3 x = cr_vec3(1, 0, 0), arm = cr_sub(t.r, cr_quat_rotate(q, body->com));
    crSym3 I = cr_sym3_in_frame(body->inertia, cr_quat_matrix(cr_quat_conj(q)));
    crVec3 turn = cr_cross(arm, x), dw;
    bool ok = cr_sym3_solve(I, turn, &dw);
    double P = (1 + e) * v.x / (1 / body->mass + cr_dot(turn, dw));
    crVec3 after = cr_madd(v, -P / body->mass, x);
    const crEvent* event = run_to_impact(&t.scene, 0.1);
    bool hit = test_check(ok && event != NULL, __FILE__, __LINE__, "hulls %d: no impact", i);
    if (hit) {
        // in flight v and the angular momentum stay
        crVec3 L = cr_scale(-P, turn), axial = cr_vec3(L.x, -L.y, -L.z);
        double scale = P * cr_norm(arm);
        CHECK_NEAR(event->time, T, 1e-8);
        CHECK_VEC(event->normal, x, 1e-9);
        *worst = fmax(*worst, cr_norm(cr_sub(linear_of(state, 1, model), after)));
        *worst = fmax(*worst, cr_norm(cr_sub(linear_of(state, 2, model), mirror(after))));
        *worst = fmax(*worst, cr_norm(cr_sub(spin_of(state, 1, model), L)) / scale);
        *worst = fmax(*worst, cr_norm(cr_sub(spin_of(state, 2, model), axial)) / scale);
    }
    close_twins(&t);
    return hit;
}

TEST(mirrored_hulls_and_boxes_stay_mirrored) {
    crRandom random = sample_seed(12);
    crHullPool pool = sample_hulls(&random);
    double worst = 0.0;
    int hits = 0, count = test_samples(12000);
    for (int i = 0; i < count; i++) {
        hits += mirrored_hulls(&random, &pool, i, &worst);
    }
    sample_hulls_destroy(&pool);
    printf("hulls and boxes: %d corner on corner, velocities to %.1e\n", hits, worst);
    CHECK(hits > count / 4);
    CHECK(worst < 1e-9);
}

// nearest points of two segments, by the closed form with clamping
static void between_segments(crVec3 p, crVec3 pe, crVec3 q, crVec3 qe, double* best, crVec3* apart) {
    crVec3 u = cr_sub(pe, p), v = cr_sub(qe, q), w = cr_sub(p, q);
    double a = cr_dot(u, u), b = cr_dot(u, v), c = cr_dot(v, v), d = cr_dot(u, w), e = cr_dot(v, w);
    double D = a * c - b * b, s = D > 1e-14 * a * c ? fmin(fmax((b * e - c * d) / D, 0.0), 1.0) : 0.0;
    double t = fmin(fmax((b * s + e) / c, 0.0), 1.0);
    s = fmin(fmax((b * t - d) / a, 0.0), 1.0);
    t = fmin(fmax((b * s + e) / c, 0.0), 1.0);
    crVec3 r = cr_sub(cr_madd(q, t, v), cr_madd(p, s, u));
    if (cr_norm(r) < *best) {
        *best = cr_norm(r);
        *apart = r;
    }
}

// from a face to a point over it
static void face_to_point(const crVec3* p, const int* face, int corners, crVec3 x, double sign, double* best,
                          crVec3* apart) {
    crVec3 n = cr_cross(cr_sub(p[face[1]], p[face[0]]), cr_sub(p[face[2]], p[face[0]]));
    n = cr_scale(1.0 / cr_norm(n), n);
    double height = cr_dot(n, cr_sub(x, p[face[0]]));
    for (int k = 0; k < corners; k++) {
        crVec3 at = p[face[k]], next = p[face[(k + 1) % corners]];
        if (cr_dot(cr_cross(n, cr_sub(next, at)), cr_sub(x, at)) < 0.0) return;
    }
    if (!(fabs(height) < *best)) return;
    *best = fabs(height);
    *apart = cr_scale(sign * height, n);
}

// from hull a to hull b, apart, over all pairs of edges and of faces and vertices
static crVec3 brute_separation(const crHull* a, crVec3 at_a, const crHull* b, crVec3 at_b) {
    crVec3 p[2][MOST], apart = cr_vec3(0, 0, 0);
    int count[2], na, nb;
    const crHull* h[2] = {a, b};
    double best = INFINITY;
    for (int k = 0; k < 2; k++) {
        const crVec3* from = cr_hull_vertices(h[k], &count[k]);
        for (int i = 0; i < count[k]; i++) {
            p[k][i] = cr_add(from[i], k == 0 ? at_a : at_b);
        }
    }
    for (int k = 0; k < 2; k++) {
        const int* face;
        for (int f = 0; (face = cr_hull_face(h[k], f, &na)) != NULL; f++) {
            for (int i = 0; i < count[1 - k]; i++) {
                face_to_point(p[k], face, na, p[1 - k][i], k == 0 ? 1.0 : -1.0, &best, &apart);
            }
        }
    }
    const int *fa, *fb;
    for (int f = 0; (fa = cr_hull_face(a, f, &na)) != NULL; f++) {
        for (int g = 0; (fb = cr_hull_face(b, g, &nb)) != NULL; g++) {
            for (int i = 0; i < na; i++) {
                for (int j = 0; j < nb; j++) {
                    between_segments(p[0][fa[i]], p[0][fa[(i + 1) % na]], p[1][fb[j]], p[1][fb[(j + 1) % nb]],
                                     &best, &apart);
                }
            }
        }
    }
    return apart;
}

// a vertex of one hull aimed at a vertex of another, without friction: the impulse is along the least separation
// just before, and e is that of the velocities along it
static bool aimed_hulls(crRandom* random, const crHullPool* pool, int i, double* worst, int* skew) {
    const crHull* from[2];
    crHull* hull[2];
    crVec3 r[2], d = sample_direction(random);
    double lead[2], T = sample_uniform(random, 0.02, 0.09), e = sample_uniform(random, 0.1, 1);
    for (int k = 0; k < 2; k++) {
        int count;
        from[k] = pool->hulls[sample_bits(random) % (uint64_t)pool->count];
        hull[k] = turned_hull(from[k], sample_rotation(random), false);
        const crVec3* p = cr_hull_vertices(hull[k], &count);
        r[k] = farthest(p, count, k == 0 ? d : cr_neg(d), &lead[k]);
    }
    Scene scene = {.model = cr_model_create(NULL)};
    scene.model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(scene.model, 0.0, e);
    for (int k = 0; k < 2; k++) {
        add_body(scene.model, CR_JOINT_FREE, cr_shape_hull(hull[k]), cr_pose_identity(), material);
    }
    crStepSettings settings = event_settings(i);
    scene_open(&scene, &settings);
    // b's velocity against a's: against d, and across it
    crVec3 v = sample_direction(random), u = cr_madd(sample_direction(random), -1.5, d);
    const crModel* model = scene.model;
    crState* state = &scene.step.state;
    put(state, 1, model, cr_madd(cr_neg(r[0]), -T, v), v);
    put(state, 2, model, cr_madd(cr_neg(r[1]), -T, cr_add(v, u)), cr_add(v, u));
    const crEvent* event =
        fmin(lead[0], lead[1]) > 0.02 && cr_dot(u, d) < -0.3 ? run_to_impact(&scene, 0.1) : NULL;
    bool hit = event != NULL && fabs(event->time - T) < 1e-8;
    if (hit) {
        double back = 1e-4 / cr_norm(u);
        crVec3 apart = brute_separation(hull[0], cr_neg(r[0]), hull[1], cr_madd(cr_neg(r[1]), -back, u));
        crVec3 n = cr_scale(1.0 / cr_norm(apart), apart), lost = cr_vec3(0, 0, 0);
        *skew += cr_norm(cr_madd(n, 1.0 / cr_norm(u), u)) > 1e-3;
        *worst = fmax(*worst, cr_norm(cr_sub(event->normal, n)));
        *worst = fmax(*worst, cr_norm(cr_cross(event->impulse, n)) / cr_norm(event->impulse));
        // scalar mass along n, and momentum of both
        double inverse = 0.0;
        for (int k = 0; k < 2; k++) {
            const crBody* body = &model->bodies[1 + k];
            crVec3 turn = cr_cross(cr_sub(r[k], body->com), n), dw;
            CHECK(cr_sym3_solve(body->inertia, turn, &dw));
            inverse += 1.0 / body->mass + cr_dot(turn, dw);
            crVec3 start = k == 0 ? v : cr_add(v, u);
            lost = cr_madd(lost, body->mass, cr_sub(linear_of(state, 1 + k, model), start));
        }
        double P = -(1 + e) * cr_dot(u, n) / inverse;
        *worst = fmax(*worst, fabs(cr_norm(event->impulse) / P - 1.0));
        *worst = fmax(*worst, cr_norm(lost) / P);
    }
    scene_close(&scene);
    cr_hull_destroy(hull[0]);
    cr_hull_destroy(hull[1]);
    return hit;
}

TEST(aimed_vertices_part_along_their_separation) {
    crRandom random = sample_seed(13);
    crHullPool pool = sample_hulls(&random);
    double worst = 0.0;
    int hits = 0, skew = 0, count = test_samples(12000);
    for (int i = 0; i < count; i++) {
        hits += aimed_hulls(&random, &pool, i, &worst, &skew);
    }
    sample_hulls_destroy(&pool);
    printf("aimed vertices: %d met, %d of them off their velocity, to %.1e\n", hits, skew, worst);
    CHECK(hits > count / 8);
    CHECK(skew > hits / 20);
    CHECK(worst < 1e-8);
}
