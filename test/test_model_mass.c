// test_model_mass.c - poses, velocities, M, its factor, J and W against their definitions.
#include "linalg/dense.h"
#include "model_sample.h"

// pose coordinates of a body at one time, for differences
static void pose_numbers(const Bench* bench, int body, double out[12]) {
    crMat3 R = cr_quat_matrix(bench->d.pose[body].q);
    crVec3 c = bench->d.com[body];
    double x[12] = {c.x, c.y, c.z};
    memcpy(x + 3, R.m, sizeof R.m);
    memcpy(out, x, sizeof x);
}

// The velocity fields (and with them every axis and w_hat) are the rates of the poses.
TEST(velocities_are_rates_of_poses) {
    crRandom random = sample_seed(1);
    double worst = 0.0;
    for (int n = test_samples(30000); n > 0; n--) {
        Bench bench = sample_model(&random, 8, true, true);
        sample_state(&random, &bench);
        const crModel* model = bench.model;
        Bench moved = {.model = bench.model};
        bench_open(&moved);
        cr_model_kinematics(model, &bench.state, &bench.d);
        cr_model_velocity(model, bench.state.v, &bench.d);
        double e = 4e-3;
        static double numbers[9][7][12];
        for (int s = 0; s < 7; s++) {
            bench_move(&bench, (s - 3) * e, &moved);
            cr_model_kinematics(model, &moved.state, &moved.d);
            for (int b = 1; b < model->nb; b++) {
                pose_numbers(&moved, b, numbers[b][s]);
            }
        }
        for (int b = 1; b < model->nb; b++) {
            double rate[12];
            for (int i = 0; i < 12; i++) {
                double s[7];
                for (int j = 0; j < 7; j++) {
                    s[j] = numbers[b][j][i];
                }
                rate[i] = derivative6(s, e);
            }
            crVec3 v = cr_model_point_velocity(&bench.d, b, bench.d.com[b]);
            worst = fmax(worst, cr_norm(cr_sub(v, cr_vec3(rate[0], rate[1], rate[2]))));
            // dR/dt = omega x R, column by column
            crMat3 R = cr_quat_matrix(bench.d.pose[b].q);
            for (int j = 0; j < 3; j++) {
                crVec3 turn = cr_cross(bench.d.twist[b].omega, cr_mat3_column(R, j));
                worst = fmax(worst, cr_norm(cr_sub(turn, cr_vec3(rate[3 + j], rate[6 + j], rate[9 + j]))));
            }
        }
        cr_arena_destroy(&moved.arena);
        bench_close(&bench);
    }
    printf("  velocities against sixth-order differences: %.2g\n", worst);
    CHECK(worst < 1e-9);
}

// sum over bodies of J^T I J, J column by column from unit velocities
static void mass_by_definition(Bench* bench, double* M) {
    const crModel* model = bench->model;
    int nv = model->nv;
    crVec3* J = malloc((size_t)(2 * nv * model->nb) * sizeof(crVec3));
    double* unit = bench_array(bench, nv);
    memset(bench->d.given, 0, (size_t)model->nb * sizeof(crTwist));
    for (int i = 0; i < nv; i++) {
        unit[i] = 1.0;
        cr_model_velocity(model, unit, &bench->d);
        unit[i] = 0.0;
        for (int b = 1; b < model->nb; b++) {
            J[2 * (b * nv + i)] = cr_model_point_velocity(&bench->d, b, bench->d.com[b]);
            J[2 * (b * nv + i) + 1] = bench->d.twist[b].omega;
        }
    }
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) {
            double sum = 0.0;
            for (int b = 1; b < model->nb; b++) {
                const crVec3* Ji = J + 2 * (b * nv + i);
                const crVec3* Jj = J + 2 * (b * nv + j);
                sum += model->bodies[b].mass * cr_dot(Ji[0], Jj[0]);
                sum += cr_dot(Ji[1], cr_sym3_mul(bench->d.inertia[b], Jj[1]));
            }
            M[i * nv + j] = sum;
        }
    }
    free(J);
}

TEST(M_is_the_sum_over_bodies_and_its_factor_solves) {
    crRandom random = sample_seed(2);
    double worst = 0.0, worst_mul = 0.0, worst_solve = 0.0;
    for (int n = test_samples(100000); n > 0; n--) {
        Bench bench = sample_model(&random, 10, true, true);
        sample_state(&random, &bench);
        const crModel* model = bench.model;
        int nv = model->nv;
        cr_model_kinematics(model, &bench.state, &bench.d);
        CHECK_STATUS(cr_model_mass_factor(model, 0.0, &bench.d), CR_OK);
        double* M = bench_array(&bench, nv * nv);
        double* ref = bench_array(&bench, nv * nv);
        cr_model_mass_dense(model, &bench.d, M);
        mass_by_definition(&bench, ref);
        for (int i = 0; i < nv; i++) {
            for (int j = 0; j < nv; j++) {
                double scale = sqrt(ref[i * nv + i] * ref[j * nv + j]);
                worst = fmax(worst, fabs(M[i * nv + j] - ref[i * nv + j]) / scale);
            }
        }
        // M x by rows, and M^-1 (M x) = x, both in the size of what M does to x
        double* x = bench_array(&bench, nv);
        double* y = bench_array(&bench, nv);
        double* z = bench_array(&bench, nv);
        for (int i = 0; i < nv; i++) {
            x[i] = sample_uniform(&random, -1.0, 1.0);
        }
        cr_model_mass_mul(model, &bench.d, x, y);
        memcpy(z, y, (size_t)nv * sizeof(double));
        cr_model_mass_solve(model, &bench.d, z);
        CHECK(cr__cholesky(ref, nv));
        double* dense = bench_array(&bench, nv);
        for (int i = 0; i < nv; i++) {
            double sum = 0.0, size = 0.0;
            for (int j = 0; j < nv; j++) {
                sum += M[i * nv + j] * x[j];
                size += fabs(M[i * nv + j]);
            }
            worst_mul = fmax(worst_mul, fabs(sum - y[i]) / size);
            dense[i] = y[i];
        }
        cr__cholesky_solve(ref, nv, dense);
        for (int i = 0; i < nv; i++) {
            worst_solve = fmax(worst_solve, fmax(fabs(z[i] - x[i]), fabs(z[i] - dense[i])));
        }
        bench_close(&bench);
    }
    printf("  M against sum J^T I J %.2g, M x %.2g, M^-1 M x %.2g\n", worst, worst_mul, worst_solve);
    CHECK(worst < 1e-12);
    CHECK(worst_mul < 1e-14);
    // condition numbers up to some 1e4 times rounding
    CHECK(worst_solve < 1e-10);
}

typedef struct Strike {
    Bench* bench;
    int a, b;
    crVec3 point;
} Strike;

// velocity change of b's point relative to a's under an impulse: by forces and velocity fields, not by rows
static crStatus strike(void* ctx, crVec3 impulse, crVec3* velocity) {
    Strike* s = ctx;
    const crModel* model = s->bench->model;
    crDynamics* d = &s->bench->d;
    double dv[80] = {0};
    crVec3 none = cr_vec3(0, 0, 0);
    cr_model_add_force(model, d, s->b, s->point, impulse, none, dv);
    cr_model_add_force(model, d, s->a, s->point, cr_neg(impulse), none, dv);
    cr_model_mass_solve(model, d, dv);
    cr_model_velocity(model, dv, d);
    *velocity =
        cr_sub(cr_model_point_velocity(d, s->b, s->point), cr_model_point_velocity(d, s->a, s->point));
    return CR_OK;
}

// trace of W between the world and a point of a body: what the two sides of a contact may cancel from
static double mobility(Bench* bench, int body, crVec3 point) {
    crRows rows, H;
    double W[9];
    crMat3 axes = cr_frame(cr_vec3(0, 0, 1));
    if (body == 0) return 0.0;
    CHECK_STATUS(cr_rows_create(&bench->arena, 3, 6 * bench->model->nv, &rows), CR_OK);
    CHECK(cr_rows_add_point(bench->model, &bench->d, 0, body, point, &axes, 3, &rows) == 0);
    CHECK_STATUS(cr_rows_half(bench->model, &bench->d, &rows, &bench->arena, &H), CR_OK);
    cr_rows_W(&H, W);
    return W[0] + W[4] + W[8];
}

TEST(W_is_the_response_to_unit_impulses) {
    crRandom random = sample_seed(3);
    double worst = 0.0, worst_u = 0.0;
    for (int n = test_samples(100000); n > 0; n--) {
        Bench bench = sample_model(&random, 10, true, true);
        sample_state(&random, &bench);
        const crModel* model = bench.model;
        cr_model_kinematics(model, &bench.state, &bench.d);
        CHECK_STATUS(cr_model_mass_factor(model, 0.0, &bench.d), CR_OK);
        Strike s = {&bench, (int)(sample_bits(&random) % (uint64_t)model->nb),
                    (int)(sample_bits(&random) % (uint64_t)model->nb), sample_vec(&random, 1.0)};
        if (s.a == s.b) s.a = s.b == 0 ? 1 : 0;
        crMat3 frame = cr_frame(sample_direction(&random));
        crRows rows;
        CHECK_STATUS(cr_rows_create(&bench.arena, 6, 12 * model->nv, &rows), CR_OK);
        CHECK(cr_rows_add_point(model, &bench.d, s.a, s.b, s.point, &frame, 3, &rows) == 0);
        CHECK(cr_rows_add_spin(model, &bench.d, s.a, s.b, &frame, 3, &rows) == 3);
        // u = J v + w_hat is the relative velocity
        double u[6];
        cr_rows_velocity(&rows, bench.state.v, u);
        cr_model_velocity(model, bench.state.v, &bench.d);
        crVec3 V = cr_sub(cr_model_point_velocity(&bench.d, s.b, s.point),
                          cr_model_point_velocity(&bench.d, s.a, s.point));
        crVec3 spin = cr_sub(bench.d.twist[s.b].omega, bench.d.twist[s.a].omega);
        for (int r = 0; r < 3; r++) {
            worst_u = fmax(worst_u, fabs(u[r] - cr_dot(cr_mat3_column(frame, r), V)));
            worst_u = fmax(worst_u, fabs(u[3 + r] - cr_dot(cr_mat3_column(frame, r), spin)));
        }
        double W[36];
        crRows H;
        CHECK_STATUS(cr_rows_half(model, &bench.d, &rows, &bench.arena, &H), CR_OK);
        cr_rows_W(&H, W);
        // the motion of driven bodies would only add its rounding to the responses
        memset(bench.d.given, 0, (size_t)model->nb * sizeof(crTwist));
        crMat3 unit;
        CHECK_STATUS(cr_mechanism_W(strike, &s, &unit, NULL), CR_OK);
        double size = mobility(&bench, s.a, s.point) + mobility(&bench, s.b, s.point);
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) {
                crVec3 column = cr_mat3_mul(unit, cr_mat3_column(frame, c));
                double w = cr_dot(cr_mat3_column(frame, r), column);
                worst = fmax(worst, size > 0.0 ? fabs(W[6 * r + c] - w) / size : fabs(w));
            }
        }
        bench_close(&bench);
    }
    printf("  W against unit impulses %.2g, u against velocity fields %.2g\n", worst, worst_u);
    CHECK(worst < 1e-13);
    CHECK(worst_u < 1e-13);
}

// Two free bodies: the closed form of impulse/.
TEST(W_of_free_bodies_is_the_closed_form) {
    crRandom random = sample_seed(4);
    double worst = 0.0;
    for (int n = test_samples(100000); n > 0; n--) {
        Bench bench = {.model = cr_model_create(NULL)};
        for (int i = 0; i < 2; i++) {
            crBodyDef def = cr_body_def();
            def.joint = CR_JOINT_FREE;
            sample_mass(&random, &def);
            cr_model_add_body(bench.model, &def);
        }
        bench_open(&bench);
        sample_state(&random, &bench);
        const crModel* model = bench.model;
        cr_model_kinematics(model, &bench.state, &bench.d);
        CHECK_STATUS(cr_model_mass_factor(model, 0.0, &bench.d), CR_OK);
        CHECK(model->bodies[1].single && model->bodies[2].single);
        crRigid rigid[2];
        for (int i = 0; i < 2; i++) {
            const double* v = bench.state.v + 6 * i;
            rigid[i] = cr_rigid();
            rigid[i].mass = model->bodies[i + 1].mass;
            rigid[i].inertia = model->bodies[i + 1].inertia;
            rigid[i].position = bench.d.com[i + 1];
            rigid[i].orientation = bench.d.pose[i + 1].q;
            rigid[i].velocity = cr_vec3(v[0], v[1], v[2]);
            rigid[i].omega = cr_vec3(v[3], v[4], v[5]);
        }
        crVec3 point = sample_vec(&random, 1.0);
        crCollision c = cr_collision();
        CHECK_STATUS(cr_collision_bodies(&c, &rigid[0], &rigid[1], point, NULL), CR_OK);
        crRows rows;
        crMat3 axes = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
        CHECK_STATUS(cr_rows_create(&bench.arena, 3, 36, &rows), CR_OK);
        CHECK(cr_rows_add_point(model, &bench.d, 1, 2, point, &axes, 3, &rows) == 0);
        double W[9], u[3];
        crRows H;
        CHECK_STATUS(cr_rows_half(model, &bench.d, &rows, &bench.arena, &H), CR_OK);
        cr_rows_W(&H, W);
        cr_rows_velocity(&rows, bench.state.v, u);
        double size = W[0] + W[4] + W[8];
        for (int i = 0; i < 9; i++) {
            worst = fmax(worst, fabs(W[i] - c.W.m[i / 3][i % 3]) / size);
        }
        CHECK_VEC(cr_vec3(u[0], u[1], u[2]), c.V, 1e-13);
        bench_close(&bench);
    }
    printf("  W of two free bodies against the closed form %.2g\n", worst);
    CHECK(worst < 1e-13);
}

// A free body with a massless child takes the tree's way and must give the fast path's numbers.
TEST(the_fast_path_agrees_with_the_tree) {
    crRandom random = sample_seed(5);
    double worst = 0.0;
    for (int n = test_samples(100000); n > 0; n--) {
        Bench fast = {.model = cr_model_create(NULL)}, tree = {.model = cr_model_create(NULL)};
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.linear_drag = 0.3;
        def.angular_drag = 0.2;
        sample_mass(&random, &def);
        cr_model_add_body(fast.model, &def);
        cr_model_add_body(tree.model, &def);
        crBodyDef child = cr_body_def();
        child.parent = 1;
        cr_model_add_body(tree.model, &child);
        bench_open(&fast);
        bench_open(&tree);
        CHECK(fast.model->bodies[1].single && !tree.model->bodies[1].single);
        sample_state(&random, &fast);
        memcpy(tree.state.q, fast.state.q, 7 * sizeof(double));
        memcpy(tree.state.v, fast.state.v, 6 * sizeof(double));
        double x[2][13];
        double state[13];
        memcpy(state, tree.state.q, 7 * sizeof(double));
        memcpy(state + 7, tree.state.v, 6 * sizeof(double));
        bench_rate(&fast, 0.0, state, x[0]);
        bench_rate(&tree, 0.0, state, x[1]);
        for (int i = 0; i < 13; i++) {
            worst = fmax(worst, fabs(x[0][i] - x[1][i]) / (1.0 + fabs(x[0][i])));
        }
        bench_close(&fast);
        bench_close(&tree);
    }
    printf("  fast path against tree %.2g\n", worst);
    CHECK(worst < 1e-11);
}

// Far from the world's origin nothing is lost but the digits of the positions themselves.
TEST(far_away_is_like_here) {
    crRandom random = sample_seed(6);
    double worst = 0.0, worst_k = 0.0;
    for (int n = test_samples(30000); n > 0; n--) {
        Bench bench = sample_model(&random, 6, false, false);
        const crModel* model = bench.model;
        int nv = model->nv;
        sample_state(&random, &bench);
        double* M[2] = {bench_array(&bench, nv * nv), bench_array(&bench, nv * nv)};
        double* k[2] = {bench_array(&bench, nv), bench_array(&bench, nv)};
        for (int far = 0; far < 2; far++) {
            cr_model_kinematics(model, &bench.state, &bench.d);
            CHECK_STATUS(cr_model_mass_factor(model, 0.0, &bench.d), CR_OK);
            cr_model_mass_dense(model, &bench.d, M[far]);
            cr_model_forces(model, &bench.state, &bench.d, k[far]);
            for (int b = 1; b < model->nb; b++) {
                if (model->bodies[b].joint == CR_JOINT_FREE) bench.state.q[model->bodies[b].q] += 1e5;
            }
        }
        for (int i = 0; i < nv * nv; i++) {
            double scale = sqrt(M[0][i / nv * (nv + 1)] * M[0][i % nv * (nv + 1)]);
            worst = fmax(worst, fabs(M[0][i] - M[1][i]) / scale);
        }
        for (int i = 0; i < nv; i++) {
            worst_k = fmax(worst_k, fabs(k[0][i] - k[1][i]) / 1e3);
        }
        bench_close(&bench);
    }
    printf("  moved by 1e5 m: M %.2g, k %.2g\n", worst, worst_k);
    // positions there are multiples of 1.5e-11, over arms of some centimetres
    CHECK(worst < 1e-8);
    CHECK(worst_k < 1e-8);
}

// A hanging chain of 300 hinges: the factor of a deep tree.
TEST(deep_chains) {
    Bench bench = {.model = cr_model_create(NULL)};
    int n = 300;
    for (int i = 0; i < n; i++) {
        crBodyDef def = cr_body_def();
        def.parent = i;
        def.joint = CR_JOINT_HINGE;
        def.axis = i % 2 == 0 ? cr_vec3(1, 0, 0) : cr_vec3(0, 1, 0);
        def.pose.p = cr_vec3(0, 0, i == 0 ? 0.0 : -0.1);
        def.mass = 0.1;
        def.com = cr_vec3(0, 0, -0.05);
        def.inertia = (crSym3){.xx = 1e-4, .yy = 1e-4, .zz = 1e-5};
        cr_model_add_body(bench.model, &def);
    }
    bench_open(&bench);
    cr_model_kinematics(bench.model, &bench.state, &bench.d);
    CHECK_STATUS(cr_model_mass_factor(bench.model, 0.0, &bench.d), CR_OK);
    CHECK_VEC(bench.d.pose[n].p, cr_vec3(0, 0, -0.1 * (n - 1)), 1e-11);
    // at rest, straight down: nothing accelerates
    double* k = bench_array(&bench, n);
    double* x = bench_array(&bench, n);
    cr_model_forces(bench.model, &bench.state, &bench.d, k);
    for (int i = 0; i < n; i++) {
        CHECK_NEAR(k[i], 0.0, 1e-12);
    }
    // M is ill-conditioned (some 1e10); what a backward stable factor owes is a small residual
    double* y = bench_array(&bench, n);
    double* M = bench_array(&bench, n * n);
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        k[i] = x[i] = i % 3 - 1.0;
    }
    cr_model_mass_solve(bench.model, &bench.d, x);
    cr_model_mass_mul(bench.model, &bench.d, x, y);
    cr_model_mass_dense(bench.model, &bench.d, M);
    for (int i = 0; i < n; i++) {
        double size = 0.0;
        for (int j = 0; j < n; j++) {
            size += fabs(M[i * n + j] * x[j]);
        }
        worst = fmax(worst, fabs(y[i] - k[i]) / size);
    }
    printf("  300 hinges: residual of M x = y %.2g\n", worst);
    CHECK(worst < 1e-13);
    bench_close(&bench);
}

// H in a crProblem: J = H and Minv = 1 give u = u_free + W p.
TEST(H_serves_a_problem) {
    crRandom random = sample_seed(7);
    Bench bench = sample_model(&random, 6, true, true);
    sample_state(&random, &bench);
    const crModel* model = bench.model;
    int nv = model->nv;
    cr_model_kinematics(model, &bench.state, &bench.d);
    CHECK_STATUS(cr_model_mass_factor(model, 0.0, &bench.d), CR_OK);
    crRows rows, H;
    crMat3 frame = cr_frame(sample_direction(&random));
    CHECK_STATUS(cr_rows_create(&bench.arena, 6, 12 * nv, &rows), CR_OK);
    CHECK(cr_rows_add_point(model, &bench.d, 1, 4, sample_vec(&random, 1.0), &frame, 3, &rows) == 0);
    CHECK(cr_rows_add_point(model, &bench.d, 0, 6, sample_vec(&random, 1.0), &frame, 3, &rows) == 3);
    CHECK_STATUS(cr_rows_half(model, &bench.d, &rows, &bench.arena, &H), CR_OK);
    int start[64], col[64];
    double one[64], u_free[6], u[6], W[36];
    for (int i = 0; i < nv; i++) {
        start[i] = col[i] = i;
        one[i] = 1.0;
    }
    start[nv] = nv;
    cr_rows_velocity(&rows, bench.state.v, u_free);
    crBlock blocks[2] = {cr_block(CR_BLOCK_CONE, 0, 3), cr_block(CR_BLOCK_CONE, 3, 3)};
    crProblem problem = {.rows = 6, .block_count = 2, .blocks = blocks, .u_free = u_free, .nv = nv};
    problem.J = (crMatrix){6, nv, H.start, H.col, H.value};
    problem.Minv = (crMatrix){nv, nv, start, col, one};
    CHECK_STATUS(cr_problem_check(&problem, NULL), CR_OK);
    const double p[6] = {1.0, -0.5, 0.25, 2.0, 0.3, -0.7};
    CHECK_STATUS(cr_problem_velocity(&problem, &bench.arena, p, u), CR_OK);
    // the same by generalized momentum: v + M^-1 J^T p
    double* v = bench_array(&bench, nv);
    double after[6];
    cr_rows_add_impulse(&rows, p, v);
    cr_model_mass_solve(model, &bench.d, v);
    for (int i = 0; i < nv; i++) {
        v[i] += bench.state.v[i];
    }
    cr_rows_velocity(&rows, v, after);
    cr_rows_W(&H, W);
    for (int r = 0; r < 6; r++) {
        double sum = u_free[r];
        for (int c = 0; c < 6; c++) {
            sum += W[6 * r + c] * p[c];
        }
        CHECK_NEAR(u[r], after[r], 1e-12);
        CHECK_NEAR(sum, after[r], 1e-12);
    }
    bench_close(&bench);
}
