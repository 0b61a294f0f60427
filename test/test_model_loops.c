// test_model_loops.c - loop closures: rows are rates of the gaps, closing to 1e-9 and better, motion that
// keeps them closed, redundant and unreachable loops; rows of limits, motors and friction.
#include "model_sample.h"

// Planar four-bar linkage of hinges about z closed by a connect in space: 2 of its 3 rows do something.
static Bench four_bar(crLoopKind kind) {
    Bench bench = {.model = cr_model_create(NULL)};
    bench.model->gravity = cr_vec3(0, -9.81, 0);
    const double length[3] = {0.4, 0.9, 0.7};
    for (int i = 0; i < 3; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.parent = i == 2 ? 0 : i;
        if (i == 1) def.pose.p = cr_vec3(length[0], 0, 0);
        if (i == 2) def.pose.p = cr_vec3(1.0, 0, 0);
        def.mass = length[i];
        def.com = cr_vec3(0.5 * length[i], 0, 0);
        double I = length[i] * length[i] * length[i] / 12.0;
        def.inertia = (crSym3){.xx = 1e-4 * I, .yy = I, .zz = I};
        cr_model_add_body(bench.model, &def);
    }
    crLoop loop = cr_loop(kind, 2, 3);
    loop.pose_a.p = cr_vec3(length[1], 0, 0);
    loop.pose_b.p = cr_vec3(length[2], 0, 0);
    loop.length = 0.05;
    cr_model_add_loop(bench.model, &loop);
    bench_open(&bench);
    const double q[3] = {1.0, -0.4, 1.9};
    memcpy(bench.state.q, q, sizeof q);
    return bench;
}

// distance between the loop's points, from poses alone
static double opening(const Bench* bench) {
    const crLoop* loop = &bench->model->loops[0];
    crVec3 a = cr_pose_point(bench->d.pose[loop->a], loop->pose_a.p);
    crVec3 b = cr_pose_point(bench->d.pose[loop->b], loop->pose_b.p);
    return cr_norm(cr_sub(a, b));
}

TEST(a_four_bar_closes_and_stays_closed) {
    Bench bench = four_bar(CR_LOOP_CONNECT);
    crModel* model = bench.model;
    CHECK_STATUS(cr_model_close_loops(model, 1e-12, &bench.arena, &bench.d, &bench.state, NULL), CR_OK);
    CHECK(opening(&bench) <= 2e-12);
    // the crank turns; each step's velocity satisfies the loop, each step's end is brought back to it
    bench.state.v[0] = 3.0;
    CHECK_STATUS(cr_model_close_loops(model, 1e-12, &bench.arena, &bench.d, &bench.state, NULL), CR_OK);
    cr_model_velocity(model, bench.state.v, &bench.d);
    crEnergy start = cr_model_energy(model, &bench.state, &bench.d);
    double worst = 0.0, worst_u = 0.0, worst_E = 0.0, h = 1e-4;
    for (int s = 0; s < 10000; s++) {
        double k[3], v_free[3];
        cr_model_forces(model, &bench.state, &bench.d, k);
        cr_model_smooth_velocity(model, &bench.state, k, h, &bench.d, v_free);
        memcpy(bench.state.v, v_free, sizeof v_free);
        // least change of v that keeps the loop, here; then move, then close
        CHECK_STATUS(cr_model_close_loops(model, 1e-10, &bench.arena, &bench.d, &bench.state, NULL), CR_OK);
        cr_model_integrate(model, h, &bench.state);
        CHECK_STATUS(cr_model_close_loops(model, 1e-10, &bench.arena, &bench.d, &bench.state, NULL), CR_OK);
        worst = fmax(worst, opening(&bench));
        crRows rows;
        double u[3];
        size_t mark = cr_arena_mark(&bench.arena);
        CHECK_STATUS(cr_rows_create(&bench.arena, 3, 9, &rows), CR_OK);
        CHECK(cr_rows_add_loop(model, &bench.d, 0, &rows) == 0);
        cr_rows_velocity(&rows, bench.state.v, u);
        cr_arena_release(&bench.arena, mark);
        worst_u = fmax(worst_u, fabs(u[0]) + fabs(u[1]) + fabs(u[2]));
        cr_model_velocity(model, bench.state.v, &bench.d);
        crEnergy now = cr_model_energy(model, &bench.state, &bench.d);
        worst_E = fmax(worst_E, fabs(now.kinetic + now.potential - start.kinetic - start.potential));
    }
    printf("  1 s of a four-bar: opening %.2g m, rate %.2g m/s, energy within %.2g J of %.2g J\n", worst,
           worst_u, worst_E, start.kinetic + start.potential);
    CHECK(worst < 1e-9);
    CHECK(worst_u < 1e-11);
    CHECK(worst_E < 0.02);
    bench_close(&bench);
}

TEST(a_distance_closes) {
    Bench bench = four_bar(CR_LOOP_DISTANCE);
    CHECK_STATUS(cr_model_close_loops(bench.model, 1e-12, &bench.arena, &bench.d, &bench.state, NULL), CR_OK);
    CHECK_NEAR(opening(&bench), 0.05, 2e-12);
    bench_close(&bench);
}

// Random trees tied by a weld, a connect or a distance between two bodies of different trees: gap rows are
// rates.
TEST(loop_rows_are_rates_of_gaps) {
    crRandom random = sample_seed(31);
    double worst = 0.0;
    for (int n = test_samples(60000); n > 0; n--) {
        Bench bench = sample_model(&random, 8, true, false);
        crModel* model = bench.model;
        crLoopKind kind = (crLoopKind)(n % 3);
        int a = 1 + (int)(sample_bits(&random) % 8), b = (int)(sample_bits(&random) % 9);
        if (b == a || (model->bodies[a].last < 0 && model->bodies[b].last < 0)) {
            bench_close(&bench);
            continue;
        }
        crLoop loop = cr_loop(kind, a, b);
        loop.pose_a = sample_place(&random, 0.3);
        loop.pose_b = sample_place(&random, 0.3);
        CHECK(cr_model_add_loop(model, &loop) == 0);
        sample_state(&random, &bench);
        // a weld's frames must agree for the rotation rows to be rates: choose b's from a's
        cr_model_kinematics(model, &bench.state, &bench.d);
        if (kind == CR_LOOP_WELD) {
            crQuat qa = cr_quat_mul(bench.d.pose[a].q, loop.pose_a.q);
            model->loops[0].pose_b.q = cr_quat_mul(cr_quat_conj(bench.d.pose[b].q), qa);
        }
        int count, entries;
        cr_model_loop_sizes(model, &count, &entries);
        Bench moved = {.model = model};
        bench_open(&moved);
        double gaps[6][7], u[6];
        double e = 5e-4;
        for (int s = 0; s < 7; s++) {
            bench_move(&bench, (s - 3) * e, &moved);
            cr_model_kinematics(model, &moved.state, &moved.d);
            crRows rows;
            size_t mark = cr_arena_mark(&moved.arena);
            CHECK_STATUS(cr_rows_create(&moved.arena, count, entries, &rows), CR_OK);
            CHECK(cr_rows_add_loop(model, &moved.d, 0, &rows) == 0);
            CHECK(rows.count == count && rows.entries <= entries);
            for (int i = 0; i < count; i++) {
                gaps[i][s] = rows.gap[i];
            }
            if (s == 3) cr_rows_velocity(&rows, bench.state.v, u);
            cr_arena_release(&moved.arena, mark);
        }
        for (int i = 0; i < count; i++) {
            worst = fmax(worst, fabs(derivative6(gaps[i], e) - u[i]));
        }
        cr_arena_destroy(&moved.arena);
        bench_close(&bench);
    }
    printf("  loop rows against differenced gaps %.2g\n", worst);
    CHECK(worst < 1e-9);
}

// Two chains of ball joints whose ends are welded, started apart: Newton finds a closed position.
TEST(a_weld_in_space_closes) {
    crRandom random = sample_seed(32);
    int closed = 0, tried = test_samples(60000) / 4;
    double worst = 0.0;
    for (int n = 0; n < tried; n++) {
        Bench bench = {.model = cr_model_create(NULL)};
        for (int i = 1; i <= 6; i++) {
            crBodyDef def = cr_body_def();
            def.joint = CR_JOINT_BALL;
            def.parent = i == 1 || i == 4 ? 0 : i - 1;
            def.pose.p = i == 1 ? cr_vec3(-0.5, 0, 0) : (i == 4 ? cr_vec3(0.5, 0, 0) : cr_vec3(0, 0, 0.5));
            sample_mass(&random, &def);
            cr_model_add_body(bench.model, &def);
        }
        crLoop loop = cr_loop(CR_LOOP_WELD, 3, 6);
        loop.pose_a.p = loop.pose_b.p = cr_vec3(0, 0, 0.5);
        cr_model_add_loop(bench.model, &loop);
        bench_open(&bench);
        // a small disturbance of straight chains, and any velocity
        for (int i = 0; i < 6; i++) {
            crQuat q = cr_quat_axis_angle(sample_direction(&random), sample_uniform(&random, 0.0, 0.6));
            memcpy(bench.state.q + 4 * i, &q, sizeof q);
        }
        for (int i = 0; i < 18; i++) {
            bench.state.v[i] = sample_uniform(&random, -1, 1);
        }
        crStatus status =
            cr_model_close_loops(bench.model, 1e-12, &bench.arena, &bench.d, &bench.state, NULL);
        if (status == CR_OK) {
            closed++;
            cr_model_velocity(bench.model, bench.state.v, &bench.d);
            crVec3 spin = cr_sub(bench.d.twist[3].omega, bench.d.twist[6].omega);
            crMat3 Ra = cr_quat_matrix(bench.d.pose[3].q), Rb = cr_quat_matrix(bench.d.pose[6].q);
            crVec3 x = cr_pose_point(bench.d.pose[3], loop.pose_a.p);
            crVec3 V =
                cr_sub(cr_model_point_velocity(&bench.d, 3, x), cr_model_point_velocity(&bench.d, 6, x));
            worst = fmax(worst, opening(&bench) + cr_norm(spin) + cr_norm(V));
            for (int i = 0; i < 9; i++) {
                worst = fmax(worst, fabs(Ra.m[i / 3][i % 3] - Rb.m[i / 3][i % 3]));
            }
        }
        bench_close(&bench);
    }
    printf("  %d of %d welds closed, worst of position, rotation and rates %.2g\n", closed, tried, worst);
    CHECK(closed == tried);
    CHECK(worst < 1e-10);
}

TEST(unreachable_loops_say_so_and_change_nothing) {
    Bench bench = four_bar(CR_LOOP_CONNECT);
    bench.model->loops[0].pose_b.p.x = 50.0;
    double q[3];
    memcpy(q, bench.state.q, sizeof q);
    crError error = {0};
    CHECK_STATUS(cr_model_close_loops(bench.model, 1e-9, &bench.arena, &bench.d, &bench.state, &error),
                 CR_ERR_REGION);
    CHECK_TEXT(error.field, "loops");
    CHECK(memcmp(q, bench.state.q, sizeof q) == 0);
    CHECK_STATUS(cr_model_close_loops(bench.model, 0.0, &bench.arena, &bench.d, &bench.state, &error),
                 CR_ERR_ARGUMENT);
    CHECK_TEXT(error.field, "tol");
    bench_close(&bench);
}

TEST(full_rows_are_refused_and_left_alone) {
    Bench bench = four_bar(CR_LOOP_CONNECT);
    bench.model->loops[0].kind = CR_LOOP_WELD;
    cr_model_kinematics(bench.model, &bench.state, &bench.d);
    crRows rows;
    CHECK_STATUS(cr_rows_create(&bench.arena, 5, 100, &rows), CR_OK);
    CHECK(cr_rows_add_loop(bench.model, &bench.d, 0, &rows) == CR_ERR_LIMIT && rows.count == 0);
    CHECK_STATUS(cr_rows_create(&bench.arena, 6, 10, &rows), CR_OK);
    CHECK(cr_rows_add_loop(bench.model, &bench.d, 0, &rows) == CR_ERR_LIMIT);
    CHECK(rows.count == 0 && rows.entries == 0);
    CHECK(cr_rows_add_loop(bench.model, &bench.d, 7, &rows) == CR_ERR_ARGUMENT);
    crMat3 frame = cr_frame(cr_vec3(0, 0, 1));
    CHECK(cr_rows_add_point(bench.model, &bench.d, 0, 9, cr_vec3(0, 0, 0), &frame, 3, &rows) ==
          CR_ERR_ARGUMENT);
    CHECK(cr_rows_add_spin(bench.model, &bench.d, 0, 1, &frame, 4, &rows) == CR_ERR_ARGUMENT);
    CHECK_STATUS(cr_rows_create(&bench.arena, 1, 10, &rows), CR_OK);
    CHECK(cr_rows_add_point(bench.model, &bench.d, 0, 1, cr_vec3(0, 0, 0), &frame, 3, &rows) == CR_ERR_LIMIT);
    CHECK_STATUS(cr_rows_create(&bench.arena, -1, 0, &rows), CR_ERR_ARGUMENT);
    bench_close(&bench);
}

TEST(joint_rows) {
    Bench bench = {.model = cr_model_create(NULL)};
    crBodyDef hinge = cr_body_def();
    hinge.joint = CR_JOINT_HINGE;
    hinge.mass = 1.0;
    hinge.inertia = (crSym3){.xx = 1, .yy = 1, .zz = 1};
    hinge.dof[0] =
        (crDof){.lower = -1.0, .upper = 2.0, .friction = 0.5, .motor_force = 3.0, .motor_speed = 4.0};
    cr_model_add_body(bench.model, &hinge);
    crBodyDef ball = hinge;
    ball.joint = CR_JOINT_BALL;
    for (int i = 0; i < 3; i++) {
        ball.dof[i] = cr_body_def().dof[0];
    }
    ball.dof[0].upper = 0.8;
    cr_model_add_body(bench.model, &ball);
    bench_open(&bench);
    CHECK_NEAR(bench.state.motor_speed[0], 4.0, 0.0);
    int count, entries;
    cr_model_joint_sizes(bench.model, &count, &entries);
    CHECK(count == 5 && entries == 7);
    bench.state.q[0] = 1.9;
    crVec3 axis = cr_scale(1.0 / sqrt(14.0), cr_vec3(1, 2, -3));
    crQuat q = cr_quat_axis_angle(axis, 0.75);
    memcpy(bench.state.q + 1, &q, sizeof q);
    const double v[4] = {0.5, 0.1, -0.2, 0.4};
    memcpy(bench.state.v, v, sizeof v);
    crRows rows;
    crJointRow info[5];
    CHECK_STATUS(cr_rows_create(&bench.arena, count, entries, &rows), CR_OK);
    // within 0.2 lie the hinge's upper limit and the ball's
    CHECK(cr_rows_add_joints(bench.model, &bench.state, 0.2, 5, info, &rows) == 4);
    double u[5];
    cr_rows_velocity(&rows, bench.state.v, u);
    CHECK(info[0].kind == CR_ROW_LIMIT && info[1].kind == CR_ROW_MOTOR && info[2].kind == CR_ROW_FRICTION);
    CHECK(info[3].kind == CR_ROW_LIMIT && info[3].dof == 1 && info[3].row == 3);
    CHECK_NEAR(rows.gap[0], 0.1, 1e-15);
    CHECK_NEAR(u[0], -0.5, 0.0);
    CHECK_NEAR(u[1], 0.5 - 4.0, 0.0);
    CHECK_NEAR(info[1].limit, 3.0, 0.0);
    CHECK_NEAR(u[2], 0.5, 0.0);
    CHECK_NEAR(info[2].limit, 0.5, 0.0);
    CHECK_NEAR(rows.gap[3], 0.05, 1e-15);
    // the ball's gap shrinks by the rate of its angle
    double gap[7], e = 1e-3;
    for (int s = 0; s < 7; s++) {
        double keep[5];
        memcpy(keep, bench.state.q, sizeof keep);
        cr_model_integrate(bench.model, (s - 3) * e, &bench.state);
        crRows there;
        CHECK_STATUS(cr_rows_create(&bench.arena, count, entries, &there), CR_OK);
        CHECK(cr_rows_add_joints(bench.model, &bench.state, 10.0, 5, info, &there) == 5);
        gap[s] = there.gap[4];
        memcpy(bench.state.q, keep, sizeof keep);
    }
    CHECK_NEAR(derivative6(gap, e), u[3], 1e-11);
    rows.count = rows.entries = 0;
    CHECK(cr_rows_add_joints(bench.model, &bench.state, 10.0, 4, info, &rows) == CR_ERR_LIMIT);
    bench_close(&bench);
}
