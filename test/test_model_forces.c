// test_model_forces.c - k against d'Alembert's principle with differenced accelerations, conservation laws of
// free trees, a double pendulum against its textbook equations, springs, dampers, drag and contact drag.
#include "model_sample.h"

typedef struct Motion {
    crVec3 v, omega;
} Motion;

// accelerations of all bodies at constant v, by sixth-order differences of their velocities
static void difference_accelerations(const Bench* bench, Bench* moved, Motion* a) {
    const crModel* model = bench->model;
    double e = 4e-3;
    static double numbers[16][7][6];
    for (int s = 0; s < 7; s++) {
        bench_move(bench, (s - 3) * e, moved);
        cr_model_kinematics(model, &moved->state, &moved->d);
        cr_model_velocity(model, moved->state.v, &moved->d);
        for (int b = 1; b < model->nb; b++) {
            crVec3 v = cr_model_point_velocity(&moved->d, b, moved->d.com[b]);
            crVec3 w = moved->d.twist[b].omega;
            double x[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
            memcpy(numbers[b][s], x, sizeof x);
        }
    }
    for (int b = 1; b < model->nb; b++) {
        double rate[6];
        for (int i = 0; i < 6; i++) {
            double s[7];
            for (int j = 0; j < 7; j++) {
                s[j] = numbers[b][j][i];
            }
            rate[i] = derivative6(s, e);
        }
        a[b] = (Motion){cr_vec3(rate[0], rate[1], rate[2]), cr_vec3(rate[3], rate[4], rate[5])};
    }
}

// k_j = sum over bodies of J_j . (m g - m a, -(I alpha + omega x I omega)), driven bases included
TEST(k_is_dAlemberts) {
    crRandom random = sample_seed(11);
    double worst = 0.0;
    for (int n = test_samples(30000); n > 0; n--) {
        Bench bench = sample_model(&random, 8, true, true);
        sample_state(&random, &bench);
        const crModel* model = bench.model;
        Bench moved = {.model = bench.model};
        bench_open(&moved);
        Motion a[16] = {0};
        difference_accelerations(&bench, &moved, a);
        cr_model_kinematics(model, &bench.state, &bench.d);
        double* k = bench_array(&bench, model->nv);
        double* ref = bench_array(&bench, model->nv);
        cr_model_forces(model, &bench.state, &bench.d, k);
        double size = 1.0;
        for (int b = 1; b < model->nb; b++) {
            const crBody* body = &model->bodies[b];
            crVec3 w = bench.d.twist[b].omega;
            crSym3 I = bench.d.inertia[b];
            crVec3 force = cr_scale(body->mass * body->gravity_scale, model->gravity);
            force = cr_madd(force, -body->mass, a[b].v);
            crVec3 moment = cr_neg(cr_add(cr_sym3_mul(I, a[b].omega), cr_cross(w, cr_sym3_mul(I, w))));
            // single free bodies turn by themselves
            if (body->single) moment = cr_vec3(0, 0, 0);
            size = fmax(size, cr_norm(force) + cr_norm(moment));
            cr_model_add_force(model, &bench.d, b, bench.d.com[b], force, moment, ref);
        }
        for (int i = 0; i < model->nv; i++) {
            worst = fmax(worst, fabs(k[i] - ref[i]) / size);
        }
        cr_arena_destroy(&moved.arena);
        bench_close(&bench);
    }
    printf("  k against differenced accelerations %.2g\n", worst);
    CHECK(worst < 1e-9);
}

// A free tree without gravity keeps its momentum and its energy; springs of all joints included.
TEST(free_trees_conserve_energy_and_momentum) {
    crRandom random = sample_seed(12);
    double worst_p = 0.0, worst_L = 0.0, worst_E = 0.0;
    for (int n = test_samples(600) / 20; n > 0; n--) {
        Bench bench = sample_model(&random, 5, false, false);
        crModel* model = bench.model;
        model->gravity = cr_vec3(0, 0, 0);
        for (int b = 1; b < model->nb; b++) {
            for (int j = 0; j < model->bodies[b].nv && model->bodies[b].joint != CR_JOINT_FREE; j++) {
                model->velocity.dofs[model->velocity.dof[model->bodies[b].v + j]].stiffness =
                    sample_uniform(&random, 0.0, 3.0);
            }
        }
        sample_state(&random, &bench);
        // start ball springs well away from their half turn, where they jump
        for (int b = 1; b < model->nb; b++) {
            if (model->bodies[b].joint != CR_JOINT_BALL) continue;
            crQuat q = cr_quat_axis_angle(sample_direction(&random), 0.5);
            memcpy(bench.state.q + model->bodies[b].q, &q, sizeof q);
        }
        int nx = model->nq + model->nv;
        double x[64];
        CHECK(nx <= 64);
        memcpy(x, bench.state.q, (size_t)model->nq * sizeof(double));
        memcpy(x + model->nq, bench.state.v, (size_t)model->nv * sizeof(double));
        crVec3 p0, L0, p, L;
        cr_model_kinematics(model, &bench.state, &bench.d);
        cr_model_velocity(model, bench.state.v, &bench.d);
        cr_model_momentum(model, &bench.d, cr_vec3(0, 0, 0), &p0, &L0);
        crEnergy E0 = cr_model_energy(model, &bench.state, &bench.d);
        for (int s = 0; s < 25; s++) {
            gbs_step(bench_rate, &bench, nx, s * 0.02, 0.02, x);
        }
        double rate[64];
        bench_rate(&bench, 0.5, x, rate);
        cr_model_momentum(model, &bench.d, cr_vec3(0, 0, 0), &p, &L);
        crEnergy E = cr_model_energy(model, &bench.state, &bench.d);
        double total = E0.kinetic + E0.potential;
        worst_p = fmax(worst_p, cr_norm(cr_sub(p, p0)) / (1.0 + cr_norm(p0)));
        worst_L = fmax(worst_L, cr_norm(cr_sub(L, L0)) / (1.0 + cr_norm(L0)));
        worst_E = fmax(worst_E, fabs(E.kinetic + E.potential - total) / total);
        bench_close(&bench);
    }
    printf("  after 0.5 s: linear momentum %.2g, angular %.2g, energy %.2g\n", worst_p, worst_L, worst_E);
    CHECK(worst_p < 1e-11);
    CHECK(worst_L < 1e-11);
    CHECK(worst_E < 1e-11);
}

// Point masses m1, m2 on massless rods l1, l2; angles from the vertical, the second relative to the world.
typedef struct Pendulum {
    double m1, m2, l1, l2, g;
} Pendulum;

static void textbook_rate(void* ctx, double t, const double* x, double* rate) {
    (void)t;
    const Pendulum* p = ctx;
    double s, c;
    cr_sincos(x[0] - x[1], &s, &c);
    double m = p->m1 + p->m2;
    double a11 = m * p->l1 * p->l1, a12 = p->m2 * p->l1 * p->l2 * c, a22 = p->m2 * p->l2 * p->l2;
    double b1 = -p->m2 * p->l1 * p->l2 * s * x[3] * x[3] - m * p->g * p->l1 * cr_sin(x[0]);
    double b2 = p->m2 * p->l1 * p->l2 * s * x[2] * x[2] - p->m2 * p->g * p->l2 * cr_sin(x[1]);
    double det = a11 * a22 - a12 * a12;
    rate[0] = x[2];
    rate[1] = x[3];
    rate[2] = (a22 * b1 - a12 * b2) / det;
    rate[3] = (a11 * b2 - a12 * b1) / det;
}

static Bench double_pendulum(const Pendulum* p) {
    Bench bench = {.model = cr_model_create(NULL)};
    bench.model->gravity = cr_vec3(0, -p->g, 0);
    double m[2] = {p->m1, p->m2}, l[2] = {p->l1, p->l2};
    for (int i = 0; i < 2; i++) {
        crBodyDef def = cr_body_def();
        def.parent = i;
        def.joint = CR_JOINT_HINGE;
        def.mass = m[i];
        def.com = cr_vec3(0, -l[i], 0);
        if (i == 1) def.pose.p = cr_vec3(0, -l[0], 0);
        cr_model_add_body(bench.model, &def);
    }
    bench_open(&bench);
    return bench;
}

TEST(double_pendulum_follows_the_textbook) {
    Pendulum p = {1.3, 0.7, 0.9, 1.1, 9.81};
    Bench bench = double_pendulum(&p);
    double x[4] = {1.2, -0.4, 0.3, 2.0};
    double y[4] = {x[0], x[1] - x[0], x[2], x[3] - x[2]};
    for (int s = 0; s < 300; s++) {
        gbs_step(textbook_rate, &p, 4, 0.0, 0.01, x);
        gbs_step(bench_rate, &bench, 4, 0.0, 0.01, y);
    }
    double worst = fmax(fmax(fabs(y[0] - x[0]), fabs(y[0] + y[1] - x[1])),
                        fmax(fabs(y[2] - x[2]), fabs(y[2] + y[3] - x[3])));
    printf("  after 3 s: %.2g\n", worst);
    CHECK(worst < 1e-9);
    // the stages of a step, run as they are, are of first order
    double error[2];
    for (int k = 0; k < 2; k++) {
        double start[4] = {1.2, -1.6, 0.3, 1.7};
        double z[4] = {1.2, -0.4, 0.3, 2.0};
        int steps = k == 0 ? 1000 : 2000;
        memcpy(bench.state.q, start, 2 * sizeof(double));
        memcpy(bench.state.v, start + 2, 2 * sizeof(double));
        bench_steps(&bench, 0.5 / steps, steps);
        for (int s = 0; s < 50; s++) {
            gbs_step(textbook_rate, &p, 4, 0.0, 0.01, z);
        }
        error[k] = fabs(bench.state.q[0] - z[0]) + fabs(bench.state.q[0] + bench.state.q[1] - z[1]);
    }
    printf("  stages at h = 5e-4: %.2g, at half of it %.2g, ratio %.3f\n", error[0], error[1],
           error[0] / error[1]);
    CHECK(error[0] / error[1] > 1.9 && error[0] / error[1] < 2.1);
    bench_close(&bench);
}

// One slider: every force has a closed form.
static Bench slider(double stiffness, double damping, double drag) {
    Bench bench = {.model = cr_model_create(NULL)};
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_SLIDER;
    def.mass = 2.0;
    def.gravity_scale = 0.5;
    def.linear_drag = drag;
    def.dof[0].stiffness = stiffness;
    def.dof[0].rest = 0.25;
    def.dof[0].damping = damping;
    cr_model_add_body(bench.model, &def);
    bench_open(&bench);
    return bench;
}

TEST(slider_forces_in_closed_form) {
    Bench bench = slider(30.0, 4.0, 0.5);
    bench.state.q[0] = 1.0;
    bench.state.v[0] = 3.0;
    bench.state.force[0] = 7.0;
    double k, v_free, h = 0.1;
    cr_model_kinematics(bench.model, &bench.state, &bench.d);
    cr_model_forces(bench.model, &bench.state, &bench.d, &k);
    CHECK_NEAR(k, -2.0 * 0.5 * 9.81 - 30.0 * 0.75 - 4.0 * 3.0 - 0.5 * 3.0 + 7.0, 1e-13);
    CHECK_STATUS(cr_model_mass_factor(bench.model, 0.0, &bench.d), CR_OK);
    cr_model_smooth_velocity(bench.model, &bench.state, &k, h, &bench.d, &v_free);
    CHECK_NEAR(v_free, 3.0 + h * k / 2.0, 1e-13);
    // implicit: damper and spring act at the end of the step, m (v+ - v) = h (rest - b v+ - K (q + h v+ -
    // rest))
    CHECK_STATUS(cr_model_mass_factor(bench.model, h, &bench.d), CR_OK);
    cr_model_smooth_velocity(bench.model, &bench.state, &k, h, &bench.d, &v_free);
    double others = -2.0 * 0.5 * 9.81 - 0.5 * 3.0 + 7.0;
    CHECK_NEAR(2.0 * (v_free - 3.0), h * (others - 4.0 * v_free - 30.0 * (1.0 + h * v_free - 0.25)), 1e-12);
    // M itself is not changed by h
    double one = 1.0, y;
    cr_model_mass_mul(bench.model, &bench.d, &one, &y);
    CHECK_NEAR(y, 2.0, 1e-15);
    bench_close(&bench);
}

// A stiff damper that explicit steps could not survive.
TEST(stiff_dampers_are_stable) {
    Bench bench = slider(1e6, 1e5, 0.0);
    bench.state.v[0] = 10.0;
    double h = 0.01;
    for (int s = 0; s < 1000; s++) {
        double k, v_free;
        cr_model_kinematics(bench.model, &bench.state, &bench.d);
        CHECK_STATUS(cr_model_mass_factor(bench.model, h, &bench.d), CR_OK);
        cr_model_forces(bench.model, &bench.state, &bench.d, &k);
        cr_model_smooth_velocity(bench.model, &bench.state, &k, h, &bench.d, &v_free);
        bench.state.v[0] = v_free;
        cr_model_integrate(bench.model, h, &bench.state);
    }
    CHECK_NEAR(bench.state.q[0], 0.25 - 9.81 / 1e6, 1e-12);
    CHECK_NEAR(bench.state.time, 10.0, 1e-9);
    bench_close(&bench);
}

// Drag on a body that carries nothing and on one that does.
TEST(drag_opposes_the_centre_of_mass) {
    crRandom random = sample_seed(14);
    for (int n = test_samples(60000); n > 0; n--) {
        Bench bench = sample_model(&random, 4, false, true);
        crModel* model = bench.model;
        sample_state(&random, &bench);
        cr_model_kinematics(model, &bench.state, &bench.d);
        double* k0 = bench_array(&bench, model->nv);
        double* k1 = bench_array(&bench, model->nv);
        cr_model_forces(model, &bench.state, &bench.d, k0);
        double power = 0.0, expected = 0.0;
        for (int b = 1; b < model->nb; b++) {
            model->bodies[b].linear_drag = 0.7 * b;
            model->bodies[b].angular_drag = 0.4 * b;
            crVec3 v = cr_model_point_velocity(&bench.d, b, bench.d.com[b]), w = bench.d.twist[b].omega;
            expected -= 0.7 * b * cr_dot(v, v) + 0.4 * b * cr_dot(w, w);
        }
        cr_model_forces(model, &bench.state, &bench.d, k1);
        for (int i = 0; i < model->nv; i++) {
            power += (k1[i] - k0[i]) * bench.state.v[i];
        }
        // fixed bodies lose nothing: their velocity is zero
        CHECK_NEAR(power, expected, 1e-11 * (1.0 - expected));
        bench_close(&bench);
    }
}

TEST(contact_drag_is_smooth_and_opposes_slip) {
    crRandom random = sample_seed(15);
    crSurface s = cr_material().surface;
    s.viscous = 0.6;
    s.mu_stribeck = 0.2;
    s.speed_stribeck = 0.1;
    for (int n = test_samples(60000); n > 0; n--) {
        Bench bench = sample_model(&random, 4, true, true);
        sample_state(&random, &bench);
        const crModel* model = bench.model;
        cr_model_kinematics(model, &bench.state, &bench.d);
        cr_model_velocity(model, bench.state.v, &bench.d);
        crVec3 x = sample_vec(&random, 1.0), normal = sample_direction(&random);
        double N = sample_uniform(&random, 0.0, 5.0);
        double* k = bench_array(&bench, model->nv);
        cr_model_add_contact_drag(model, &bench.d, &s, 1, 2, x, normal, N, k);
        crVec3 u = cr_sub(cr_model_point_velocity(&bench.d, 2, x), cr_model_point_velocity(&bench.d, 1, x));
        double slip = cr_norm(cr_cross(normal, u));
        double force = s.viscous * slip + N * 0.2 * 2.0 * (slip / 0.1) / (1.0 + (slip / 0.1) * (slip / 0.1));
        // its power over all of v, driven parts taken out, is -force slip
        crMat3 frame = cr_surface_frame(normal, u);
        crRows rows;
        CHECK_STATUS(cr_rows_create(&bench.arena, 3, 6 * model->nv, &rows), CR_OK);
        CHECK(cr_rows_add_point(model, &bench.d, 1, 2, x, &frame, 3, &rows) == 0);
        double* ref = bench_array(&bench, model->nv);
        double p[3] = {0.0, -force, 0.0};
        cr_rows_add_impulse(&rows, p, ref);
        for (int i = 0; i < model->nv; i++) {
            CHECK_NEAR(k[i], ref[i], 1e-12 * (1.0 + force));
        }
        bench_close(&bench);
    }
    // the hump's top is mu_stribeck at its speed
    Bench one = {.model = cr_model_create(NULL)};
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_SLIDER;
    def.axis = cr_vec3(1, 0, 0);
    def.mass = 1.0;
    cr_model_add_body(one.model, &def);
    bench_open(&one);
    s.viscous = 0.0;
    one.state.v[0] = 0.1;
    cr_model_kinematics(one.model, &one.state, &one.d);
    cr_model_velocity(one.model, one.state.v, &one.d);
    double k = 0.0;
    cr_model_add_contact_drag(one.model, &one.d, &s, 0, 1, cr_vec3(0, 0, 0), cr_vec3(0, 0, 1), 5.0, &k);
    CHECK_NEAR(k, -5.0 * 0.2, 1e-15);
    bench_close(&one);
}
