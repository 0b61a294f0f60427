// test_impulse.c - points, surfaces and energies of impulse space, bodies, mechanisms, frames and refusals.
#include "sample.h"
#include "test.h"

static crContact contact_of(const crCollision* collision, crMat3* frame) {
    crContact c = {0};
    CHECK_STATUS(cr_collision_contact(collision, &c, frame, NULL), CR_OK);
    return c;
}

static crContact sample_contact(crRandom* random, int i) {
    crMat3 frame;
    crCollision collision = sample_collision(random, (crSampleKind)(i % SAMPLE_KINDS));
    return contact_of(&collision, &frame);
}

// smallest eigenvalue above what rounding leaves of the largest
static bool is_regular(const crContact* c) {
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(c->W, values, &axes);
    return values[0] > 1e-13 * values[2];
}

// size of the terms in W P, for tolerances
static double load(const crContact* c, crVec3 P) { return cr_sym3_trace(c->W) * cr_norm(P) + cr_norm(c->V); }

TEST(P_I_stops_the_approach_without_friction) {
    crRandom random = sample_seed(501);
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = sample_contact(&random, i);
        crVec3 P;
        CHECK(cr_impulse_P_I(&c, &P));
        CHECK(P.x >= 0.0 && P.y == 0.0 && P.z == 0.0);
        CHECK_NEAR(cr_impulse_V_plus(&c, P).x, 0.0, 1e-15 * load(&c, P));
    }
    crVec3 P;
    crContact blocked = {.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 0, 0}};
    CHECK(!cr_impulse_P_I(&blocked, &P));
    blocked.V.x = 0.0;
    CHECK(cr_impulse_P_I(&blocked, &P) && cr_norm(P) == 0.0);
}

TEST(P_II_stops_everything) {
    crRandom random = sample_seed(502);
    double worst = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = sample_contact(&random, i);
        crVec3 P;
        if (!is_regular(&c)) continue;
        if (!CHECK(cr_impulse_P_II(&c, &P))) continue;
        double error = cr_norm(cr_impulse_V_plus(&c, P)) / load(&c, P);
        CHECK(error <= 1e-14);
        worst = fmax(worst, error);
        // twice P_II reverses the velocity and keeps the energy; P_II takes all there is to take
        double all = -cr_impulse_energy_change(&c, P);
        double size = cr_norm(P) * load(&c, P);
        CHECK_NEAR(cr_impulse_energy_change(&c, cr_scale(2.0, P)), 0.0, 1e-13 * size);
        double Ec;
        CHECK(cr_impulse_contact_energy(&c, cr_vec3(0, 0, 0), &Ec));
        CHECK_NEAR(Ec, all, 1e-13 * size);
    }
    printf("  P_II leaves at most %.2g of the velocities involved\n", worst);
}

TEST(P_II_of_a_singular_W) {
    crRandom random = sample_seed(503);
    for (int i = 0; i < test_samples(20000); i++) {
        // W = a a^T + b b^T, or a a^T alone; z is across both
        crVec3 a = sample_direction(&random), b = i % 2 ? sample_direction(&random) : cr_vec3(0, 0, 0);
        crVec3 z = i % 2 ? cr_cross(a, b) : cr_cross(a, sample_direction(&random));
        if (cr_norm(z) < 0.1) continue;
        z = cr_scale(1.0 / cr_norm(z), z);
        crContact c = {0};
        c.W = (crSym3){a.x * a.x + b.x * b.x, a.x * a.y + b.x * b.y, a.x * a.z + b.x * b.z,
                       a.y * a.y + b.y * b.y, a.y * a.z + b.y * b.z, a.z * a.z + b.z * b.z};
        c.V = cr_sym3_mul(c.W, sample_direction(&random));
        crVec3 P;
        double Ec;
        if (!CHECK(cr_impulse_P_II(&c, &P))) continue;
        // V is the image of a unit vector, and rounded as such
        CHECK(cr_norm(cr_impulse_V_plus(&c, P)) <= 1e-14 * cr_sym3_trace(c.W));
        // least norm: nothing along the blocked direction
        CHECK(fabs(cr_dot(P, z)) <= 1e-13);
        c.V = cr_madd(c.V, 0.1, z);
        CHECK(!cr_impulse_P_II(&c, &P));
        CHECK(!cr_impulse_contact_energy(&c, cr_vec3(1, 0, 0), &Ec));
        crEllipsoid ellipsoid;
        crLine line;
        CHECK(!cr_impulse_ellipsoid(&c, 1.0, &ellipsoid) && !cr_impulse_sticking_line(&c, &line));
    }
}

TEST(margins_from_their_definitions) {
    crRandom random = sample_seed(504);
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = sample_contact(&random, i);
        crVec3 P = cr_scale(sample_log(&random, 1e-3, 1e3), sample_direction(&random));
        if (i % 9 == 0) c.mu = (double)INFINITY;
        crMargins m = cr_impulse_margins(&c, P);
        crVec3 after = cr_add(c.V, cr_mat3_mul(cr_sym3_full(c.W), P));
        double size = cr_norm(P) * load(&c, P);
        // the energy change is the work of P against the mean velocity
        CHECK_NEAR(m.energy, -0.5 * cr_dot(P, cr_add(c.V, after)), 1e-15 * size);
        CHECK_NEAR(m.penetration, after.x, 1e-15 * load(&c, P));
        CHECK(m.tension == P.x);
        double tangential = hypot(P.y, P.z);
        if (!isinf(c.mu)) CHECK_NEAR(m.cone, c.mu * P.x - tangential, 1e-15 * (1.0 + c.mu) * cr_norm(P));
        if (isinf(c.mu)) CHECK(P.x >= 0.0 ? isinf(m.cone) && m.cone > 0.0 : m.cone < 0.0);
        bool inside = m.energy >= 0.0 && m.penetration >= 0.0 && m.tension >= 0.0 && m.cone >= 0.0;
        if (inside) CHECK(cr_impulse_permissible(&c, P, 0.0));
        bool clearly = m.energy < -1e-6 * size || m.penetration < -1e-6 * load(&c, P) ||
                       m.tension < -1e-6 * cr_norm(P) || (!isinf(c.mu) && m.cone < -1e-5 * cr_norm(P));
        if (clearly) CHECK(!cr_impulse_permissible(&c, P, CR_PERMISSIBLE_TOL));
    }
}

TEST(ellipsoid_axes) {
    crRandom random = sample_seed(505);
    double worst = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        // needles stretch the axes beyond what their ends can be evaluated at
        crSampleKind kind = i % 2 ? SAMPLE_BODIES : SAMPLE_HEAVY;
        crMat3 frame;
        crCollision collision = sample_collision(&random, kind);
        crContact c = contact_of(&collision, &frame);
        double Ec = sample_log(&random, 1e-3, 1e3);
        crEllipsoid ellipsoid;
        crSym3 m;
        if (!CHECK(cr_impulse_ellipsoid(&c, Ec, &ellipsoid)) || !CHECK(cr_sym3_invert(c.W, &m))) continue;
        double lambda[3];
        crMat3 axes;
        cr_sym3_eigen(m, lambda, &axes);
        for (int k = 0; k < 3; k++) {
            // both ends are on the surface
            for (int side = -1; side <= 1; side += 2) {
                crVec3 d = cr_scale(side * ellipsoid.radius[k], cr_mat3_column(ellipsoid.axes, k));
                double at_end = 0.5 * cr_dot(d, cr_mat3_mul(cr_sym3_full(c.W), d));
                double rounding = cr_sym3_trace(c.W) * cr_dot(d, d);
                CHECK_NEAR(at_end, Ec, 1e-14 * rounding);
                worst = fmax(worst, fabs(at_end - Ec) / rounding);
            }
            // directly proportional to the roots of the eigenvalues of m, longest first
            CHECK_NEAR(ellipsoid.radius[k] / sqrt(2.0 * Ec * lambda[2 - k]), 1.0, 1e-9);
        }
        CHECK(ellipsoid.radius[0] >= ellipsoid.radius[1] && ellipsoid.radius[1] >= ellipsoid.radius[2]);
        CHECK(!cr_impulse_ellipsoid(&c, -1.0, &ellipsoid));
    }
    crContact blocked = {.W = {1, 0, 0, 4, 0, 0}, .V = {-1, 0, 0}};
    crEllipsoid ellipsoid;
    CHECK(cr_impulse_ellipsoid(&blocked, 2.0, &ellipsoid));
    CHECK(isinf(ellipsoid.radius[0]));
    CHECK_NEAR(ellipsoid.radius[1], 2.0, 1e-15);
    CHECK_NEAR(ellipsoid.radius[2], 1.0, 1e-15);
    printf("  ellipsoid: ends off the surface by %.2g\n", worst);
}

TEST(planes_and_the_line_of_sticking) {
    crRandom random = sample_seed(506);
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = sample_contact(&random, i);
        double e = sample_uniform(&random, 0.0, 2.0);
        crPlane compression = cr_impulse_compression_plane(&c),
                restitution = cr_impulse_restitution_plane(&c, e);
        // any point of the plane: n.V+ = -e Vn
        crVec3 tangent = cr_cross(restitution.normal, sample_direction(&random));
        double square = cr_dot(restitution.normal, restitution.normal);
        crVec3 P = cr_add(cr_scale(restitution.offset / square, restitution.normal),
                          cr_scale(1.0 / square, tangent));
        CHECK_NEAR(cr_impulse_V_plus(&c, P).x, -e * c.V.x, 4e-15 * load(&c, P));
        // P_I and P_II are on the plane of maximum compression; larger n.V+ is on the side of its normal
        crVec3 P_I, P_II;
        if (!is_regular(&c)) continue;
        if (!CHECK(cr_impulse_P_I(&c, &P_I) && cr_impulse_P_II(&c, &P_II))) continue;
        double length = cr_norm(compression.normal);
        CHECK_NEAR(cr_dot(compression.normal, P_I), compression.offset, 1e-15 * length * cr_norm(P_I));
        CHECK_NEAR(cr_dot(compression.normal, P_II), compression.offset, 1e-14 * load(&c, P_II));
        CHECK(cr_impulse_V_plus(&c, cr_add(P_I, compression.normal)).x > 0.0);
        crLine line;
        if (!CHECK(cr_impulse_sticking_line(&c, &line))) continue;
        CHECK_NEAR(cr_norm(line.direction), 1.0, 1e-14);
        CHECK(line.direction.x >= 0.0);
        crVec3 Q = cr_madd(line.point, sample_uniform(&random, -1.0, 1.0) * cr_norm(P_I), line.direction);
        crVec3 after = cr_impulse_V_plus(&c, Q);
        CHECK(hypot(after.y, after.z) <= 1e-13 * load(&c, Q));
    }
}

// bodies

static crVec3 in_world(const crRigid* body, crVec3 local) { return cr_quat_rotate(body->orientation, local); }

static crVec3 angular_momentum(const crRigid* body) {
    crVec3 local = cr_quat_rotate(cr_quat_conj(body->orientation), body->omega);
    return in_world(body, cr_sym3_mul(body->inertia, local));
}

static double kinetic_energy(const crRigid* body) {
    return 0.5 * body->mass * cr_dot(body->velocity, body->velocity) +
           0.5 * cr_dot(body->omega, angular_momentum(body));
}

static crVec3 point_velocity(const crRigid* body, crVec3 point) {
    return cr_add(body->velocity, cr_cross(body->omega, cr_sub(point, body->position)));
}

static crRigid random_rigid(crRandom* random) {
    crRigid body = cr_rigid();
    body.mass = sample_log(random, 1e-2, 1e2);
    double size = body.mass * sample_log(random, 0.01, 1.0);
    double a = sample_uniform(random, 0.3, 1.0), b = sample_uniform(random, 0.3, 1.0);
    body.inertia =
        (crSym3){size * a, 0.1 * size * a * b, -0.05 * size * b, size * b, 0.02 * size, size * 0.9};
    body.orientation = sample_rotation(random);
    body.position = cr_scale(0.7, sample_direction(random));
    body.velocity = cr_scale(2.0, sample_direction(random));
    body.omega = cr_scale(3.0, sample_direction(random));
    return body;
}

TEST(W_and_energy_of_two_bodies) {
    crRandom random = sample_seed(507);
    double worst_velocity = 0.0, worst_energy = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        crRigid a = random_rigid(&random), b = random_rigid(&random);
        crVec3 point = cr_scale(0.3, sample_direction(&random));
        crVec3 P = cr_scale(sample_log(&random, 1e-2, 1e2), sample_direction(&random));
        a.fixed = i % 3 == 1;
        b.fixed = i % 3 == 2;
        crCollision c = cr_collision();
        CHECK_STATUS(cr_collision_bodies(&c, &a, &b, point, NULL), CR_OK);
        CHECK_VEC(c.V, cr_sub(point_velocity(&b, point), point_velocity(&a, point)), 1e-14);
        crRigid a_after = cr_rigid_after(&a, point, cr_neg(P)), b_after = cr_rigid_after(&b, point, P);
        // V+ = V + W P, and the change of contact energy is that of the system
        crVec3 after = cr_sub(point_velocity(&b_after, point), point_velocity(&a_after, point));
        crVec3 expected = cr_add(c.V, cr_mat3_mul(c.W, P));
        double scale = cr_norm(after) + cr_norm(c.V) + cr_norm(P) / fmin(a.mass, b.mass);
        CHECK_VEC(after, expected, 1e-13 * scale);
        worst_velocity = fmax(worst_velocity, cr_norm(cr_sub(after, expected)) / scale);
        if (a.fixed || b.fixed) {
            // the fixed body keeps its motion; without motion it takes no energy either
            const crRigid* kept = a.fixed ? &a_after : &b_after;
            CHECK(memcmp(kept, a.fixed ? &a : &b, sizeof a) == 0);
            continue;
        }
        double energies =
            kinetic_energy(&a_after) + kinetic_energy(&b_after) + kinetic_energy(&a) + kinetic_energy(&b);
        double change =
            kinetic_energy(&a_after) + kinetic_energy(&b_after) - kinetic_energy(&a) - kinetic_energy(&b);
        crMat3 frame;
        crContact contact = contact_of(&c, &frame);
        double contact_change = cr_impulse_energy_change(&contact, cr_mat3_mul_t(frame, P));
        CHECK_NEAR(contact_change, change, 1e-13 * energies);
        worst_energy = fmax(worst_energy, fabs(contact_change - change) / energies);
        // momentum and its moment about the origin
        crVec3 before_p = cr_add(cr_scale(a.mass, a.velocity), cr_scale(b.mass, b.velocity));
        crVec3 after_p = cr_add(cr_scale(a.mass, a_after.velocity), cr_scale(b.mass, b_after.velocity));
        CHECK_VEC(after_p, before_p, 1e-14 * (cr_norm(P) + a.mass + b.mass) * 4.0);
        crVec3 moment = cr_vec3(0, 0, 0);
        const crRigid* bodies[4] = {&a, &b, &a_after, &b_after};
        for (int k = 0; k < 4; k++) {
            crVec3 total =
                cr_add(angular_momentum(bodies[k]),
                       cr_scale(bodies[k]->mass, cr_cross(bodies[k]->position, bodies[k]->velocity)));
            moment = cr_madd(moment, k < 2 ? -1.0 : 1.0, total);
        }
        CHECK(cr_norm(moment) <= 1e-13 * (cr_norm(P) + a.mass + b.mass));
    }
    printf("  bodies: V+ off by %.2g, energy change by %.2g\n", worst_velocity, worst_energy);
}

TEST(driven_body_moves_the_contact) {
    // a wall that comes at 2 m/s against a ball at rest
    crRigid wall = cr_rigid(), ball = cr_rigid_sphere(3.0, 0.5);
    wall.fixed = true;
    wall.mass = 0.0;
    wall.velocity = cr_vec3(2, 0, 0);
    wall.omega = cr_vec3(0, 0, 1);
    ball.position = cr_vec3(0.5, 0, 0);
    crCollision c = cr_collision();
    CHECK_STATUS(cr_collision_bodies(&c, &wall, &ball, cr_vec3(0, 0, 0), NULL), CR_OK);
    CHECK_VEC(c.V, cr_vec3(-2, 0, 0), 0.0);
    CHECK_NEAR(c.W.m[0][0], 1.0 / 3.0, 1e-15);
    CHECK_NEAR(c.W.m[1][1], 3.5 / 3.0, 1e-15);
    CHECK_NEAR(c.W.m[2][2], 3.5 / 3.0, 1e-15);
}

// mechanisms

typedef struct Pair {
    crRigid a, b;
    crVec3 point;
    crVec3 drift;  // a velocity change that does not come from the impulse
} Pair;

static crStatus pair_respond(void* ctx, crVec3 impulse, crVec3* velocity) {
    const Pair* pair = ctx;
    crRigid a = cr_rigid_after(&pair->a, pair->point, cr_neg(impulse));
    crRigid b = cr_rigid_after(&pair->b, pair->point, impulse);
    crVec3 before = cr_sub(point_velocity(&pair->b, pair->point), point_velocity(&pair->a, pair->point));
    crVec3 after = cr_sub(point_velocity(&b, pair->point), point_velocity(&a, pair->point));
    *velocity = cr_add(cr_sub(after, before), pair->drift);
    return CR_OK;
}

TEST(mechanism_of_two_bodies) {
    crRandom random = sample_seed(508);
    for (int i = 0; i < test_samples(20000); i++) {
        Pair pair = {random_rigid(&random), random_rigid(&random), cr_scale(0.3, sample_direction(&random)),
                     sample_direction(&random)};
        crCollision c = cr_collision();
        crMat3 W;
        CHECK_STATUS(cr_collision_bodies(&c, &pair.a, &pair.b, pair.point, NULL), CR_OK);
        CHECK_STATUS(cr_mechanism_W(pair_respond, &pair, &W, NULL), CR_OK);
        double scale = c.W.m[0][0] + c.W.m[1][1] + c.W.m[2][2];
        for (int k = 0; k < 9; k++) {
            CHECK_NEAR(W.m[k / 3][k % 3], c.W.m[k / 3][k % 3], 1e-13 * (scale + 10.0));
        }
    }
}

// A rod of length 2 hinged at the origin about z, its end at angle theta: one freedom, so W has rank one.
typedef struct Pendulum {
    double theta, inertia;
    crStatus status;
} Pendulum;

static crStatus pendulum_respond(void* ctx, crVec3 impulse, crVec3* velocity) {
    const Pendulum* rod = ctx;
    crVec3 end = cr_vec3(2.0 * cos(rod->theta), 2.0 * sin(rod->theta), 0.0);
    double omega = cr_cross(end, impulse).z / rod->inertia;
    *velocity = cr_cross(cr_vec3(0, 0, omega), end);
    return rod->status;
}

TEST(mechanism_of_a_hinged_pendulum) {
    Pendulum rod = {0.7, 1.3, CR_OK};
    crMat3 W;
    CHECK_STATUS(cr_mechanism_W(pendulum_respond, &rod, &W, NULL), CR_OK);
    // W = 4/I t t^T with t across the rod
    crVec3 t = cr_vec3(-sin(rod.theta), cos(rod.theta), 0.0);
    double values[3] = {t.x, t.y, t.z};
    for (int k = 0; k < 9; k++) {
        CHECK_NEAR(W.m[k / 3][k % 3], 4.0 / rod.inertia * values[k / 3] * values[k % 3], 1e-15);
    }
    // it is accepted as a W, and its sticking impulse exists for velocities the hinge allows
    crCollision c = cr_collision();
    c.W = W;
    c.n = cr_vec3(0, 1, 0);
    c.V = cr_scale(-3.0, t);
    crMat3 frame;
    crContact contact = contact_of(&c, &frame);
    crVec3 P;
    CHECK(cr_impulse_P_II(&contact, &P));
    CHECK(cr_norm(cr_impulse_V_plus(&contact, P)) <= 1e-14);
}

// frames

TEST(default_frame_opposes_the_slip) {
    crRandom random = sample_seed(509);
    for (int i = 0; i < test_samples(20000); i++) {
        crCollision collision = sample_collision(&random, (crSampleKind)(i % SAMPLE_KINDS));
        crMat3 f;
        crContact c = contact_of(&collision, &f);
        CHECK_VEC(cr_mat3_column(f, 0), collision.n, 1e-15);
        CHECK_VEC(cr_cross(cr_mat3_column(f, 0), cr_mat3_column(f, 1)), cr_mat3_column(f, 2), 1e-15);
        CHECK(c.V.x <= 0.0 && c.V.y <= 0.0);
        CHECK_NEAR(c.V.z, 0.0, 1e-14 * cr_norm(c.V));
        CHECK_VEC(cr_mat3_mul(f, c.V), collision.V, 2e-15 * cr_norm(collision.V));
        // the same quadratic form
        crVec3 P = sample_direction(&random);
        double before = cr_dot(P, cr_mat3_mul(collision.W, P));
        double scale = cr_sym3_trace(c.W);
        CHECK_NEAR(cr_sym3_quad(c.W, cr_mat3_mul_t(f, P)), before, 1e-14 * scale);
    }
    // a slip that is all but lost in rounding still gives an orthonormal frame
    for (int i = 0; i < test_samples(20000); i++) {
        crCollision c = cr_collision();
        c.n = sample_direction(&random);
        c.V = cr_madd(cr_neg(c.n), sample_log(&random, 1e-16, 1e-8), sample_direction(&random));
        crMat3 f;
        contact_of(&c, &f);
        for (int k = 0; k < 9; k++) {
            double dot = cr_dot(cr_mat3_column(f, k / 3), cr_mat3_column(f, k % 3));
            CHECK_NEAR(dot, k / 3 == k % 3, 2e-15);
        }
    }
    // nothing slips: t1 = z x n
    crCollision head_on = cr_collision();
    head_on.V = cr_vec3(-1, 0, 0);
    crMat3 f;
    contact_of(&head_on, &f);
    CHECK_VEC(cr_mat3_column(f, 1), cr_vec3(0, 1, 0), 0.0);
}

TEST(user_frames) {
    crRandom random = sample_seed(510);
    for (int i = 0; i < test_samples(20000); i++) {
        crCollision c = sample_collision(&random, (crSampleKind)(i % SAMPLE_KINDS));
        crMat3 given = cr_frame(c.n), f;
        // every other one left-handed
        if (i % 2) {
            given = cr_mat3_columns(c.n, cr_mat3_column(given, 1), cr_neg(cr_mat3_column(given, 2)));
        }
        c.has_frame = true;
        c.frame = given;
        crContact contact = contact_of(&c, &f);
        CHECK(memcmp(&f, &given, sizeof f) == 0);
        CHECK_VEC(cr_mat3_mul(f, contact.V), c.V, 1e-14 * cr_norm(c.V));
        // energy does not depend on the frame
        c.has_frame = false;
        crMat3 own;
        crContact other = contact_of(&c, &own);
        crVec3 P = sample_direction(&random);
        double scale = cr_sym3_trace(other.W) + cr_norm(c.V);
        CHECK_NEAR(cr_impulse_energy_change(&contact, cr_mat3_mul_t(f, P)),
                   cr_impulse_energy_change(&other, cr_mat3_mul_t(own, P)), 1e-14 * scale);
    }
}

TEST(planar_contacts) {
    crRandom random = sample_seed(511);
    for (int i = 0; i < 1000; i++) {
        crMat3 f;
        crCollision c = sample_collision(&random, i % 2 ? SAMPLE_PLANAR : SAMPLE_SPHERES);
        crContact contact = contact_of(&c, &f);
        CHECK(cr_contact_is_planar(&contact));
        c = sample_collision(&random, SAMPLE_BODIES);
        contact = contact_of(&c, &f);
        CHECK(!cr_contact_is_planar(&contact));
    }
    crContact c = {.W = {1, 0.5, 0, 2, 0, 0}, .V = {-1, 1, 0}};
    CHECK(cr_contact_is_planar(&c));
    c.V.z = 1e-6;
    CHECK(!cr_contact_is_planar(&c));
}

TEST(normalize_accepts_any_length) {
    crCollision c = cr_collision();
    c.n = cr_vec3(0, 3, 4);
    c.V = cr_vec3(1, -1, -2);
    c.normalize = true;
    crMat3 f;
    crContact contact = contact_of(&c, &f);
    CHECK_VEC(cr_mat3_column(f, 0), cr_vec3(0, 0.6, 0.8), 1e-15);
    CHECK_NEAR(contact.V.x, -2.2, 1e-15);
}

// restitution

static double half_speed(void* ctx, double speed) { return *(double*)ctx * speed; }

TEST(restitution_tables_and_functions) {
    const double speed[3] = {0.5, 1.0, 3.0}, e[3] = {0.9, 0.5, 0.3};
    crRestitution table = {.count = 3, .speed = speed, .e = e};
    CHECK(cr_restitution_at(&table, 0.0) == 0.9 && cr_restitution_at(&table, 0.5) == 0.9);
    CHECK_NEAR(cr_restitution_at(&table, 0.75), 0.7, 1e-15);
    CHECK(cr_restitution_at(&table, 1.0) == 0.5);
    CHECK_NEAR(cr_restitution_at(&table, 2.0), 0.4, 1e-15);
    CHECK(cr_restitution_at(&table, 3.0) == 0.3 && cr_restitution_at(&table, 1e9) == 0.3);
    double slope = 0.25;
    crRestitution function = {.function = half_speed, .ctx = &slope};
    CHECK(cr_restitution_at(&function, 2.0) == 0.5);
    // taken at the approach speed
    crCollision c = cr_collision();
    c.V = cr_vec3(-2, 7, 0);
    c.e = -1.0;
    c.e_of_speed = &table;
    crMat3 f;
    CHECK_NEAR(contact_of(&c, &f).e, 0.4, 1e-15);
    c.e_of_speed = &function;
    CHECK_NEAR(contact_of(&c, &f).e, 0.5, 1e-15);
}
