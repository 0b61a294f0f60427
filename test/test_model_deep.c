// test_model_deep.c - trees with paths of more than 128 velocities: M, its inverse, W and z against full
// matrices made from the definition of kinetic energy; many loops closed by the sparse system; loops said
// twice.
#include "linalg/dense.h"
#include "model_sample.h"

#include "model/spatial.h"

// A trunk of `trunk` joints of all kinds on a free or hinged root, and two branches of `branch` joints at its
// end, with bodies fixed to others in between.
static Bench forked(crRandom* random, int trunk, int branch, bool floats) {
    static const crJoint joints[] = {CR_JOINT_HINGE, CR_JOINT_SLIDER, CR_JOINT_BALL, CR_JOINT_FIXED,
                                     CR_JOINT_HINGE};
    Bench bench = {.model = cr_model_create(NULL)};
    int parent = 0, fork = 0;
    for (int i = 0; i < trunk + 2 * branch; i++) {
        crBodyDef def = cr_body_def();
        sample_mass(random, &def);
        def.joint = i == 0 && floats ? CR_JOINT_FREE : joints[sample_bits(random) % 5];
        if (i == 0 && !floats) def.joint = CR_JOINT_HINGE;
        def.parent = i == trunk + branch ? fork : parent;
        def.pose = sample_place(random, 0.2);
        def.axis = sample_direction(random);
        for (int j = 0; j < 3 && def.joint != CR_JOINT_FREE && def.joint != CR_JOINT_FIXED; j++) {
            def.dof[j].armature = sample_uniform(random, 0.0, 0.1);
        }
        parent = cr_model_add_body(bench.model, &def);
        CHECK(parent == i + 1);
        if (i == trunk - 1) fork = parent;
    }
    bench_open(&bench);
    return bench;
}

// M from T = v.Mv/2 of every body by itself: velocities of unit v, masses and inertias at the centres
static void M_by_definition(Bench* bench, double* M) {
    const crModel* model = bench->model;
    int nv = model->nv;
    double* unit = bench_array(bench, nv);
    crVec3* v = cr_arena_alloc(&bench->arena, (size_t)(nv * model->nb) * sizeof *v);
    crVec3* w = cr_arena_alloc(&bench->arena, (size_t)(nv * model->nb) * sizeof *w);
    for (int i = 0; i < nv; i++) {
        unit[i] = 1.0;
        cr_model_velocity(model, unit, &bench->d);
        for (int b = 1; b < model->nb; b++) {
            v[i * model->nb + b] = cr_model_point_velocity(&bench->d, b, bench->d.com[b]);
            w[i * model->nb + b] = bench->d.twist[b].omega;
        }
        unit[i] = 0.0;
    }
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) {
            double sum = i == j ? cr_model_dof(model, i)->armature : 0.0;
            for (int b = 1; b < model->nb; b++) {
                int x = i * model->nb + b, y = j * model->nb + b;
                sum += model->bodies[b].mass * cr_dot(v[x], v[y]) +
                       cr_dot(w[x], cr_sym3_mul(bench->d.inertia[b], w[y]));
            }
            M[i * nv + j] = sum;
        }
    }
}

static double largest(const double* x, int count) {
    double size = 0.0;
    for (int i = 0; i < count; i++) {
        size = fmax(size, fabs(x[i]));
    }
    return size;
}

// rows between two bodies and the world: W = J M^-1 J^T by Cholesky of M, and |z|^2 = v.Mv
static void check_rows(crRandom* random, Bench* bench, const double* M, double* worst) {
    const crModel* model = bench->model;
    int nv = model->nv;
    enum { ROWS = 12 };
    crRows rows, H;
    CHECK_STATUS(cr_rows_create(&bench->arena, ROWS, 2 * ROWS * nv, &rows), CR_OK);
    for (int k = 0; k < ROWS; k += 3) {
        int a = k == 0 ? 0 : (int)(sample_bits(random) % (uint64_t)model->nb), b = model->nb - 1 - k;
        crMat3 frame = cr_frame(sample_direction(random));
        CHECK(cr_rows_add_point(model, &bench->d, a, b == a ? b - 1 : b, sample_vec(random, 1.0), &frame, 3,
                                &rows) == k);
    }
    CHECK_STATUS(cr_rows_half(model, &bench->d, &rows, &bench->arena, &H), CR_OK);
    double W[ROWS * ROWS];
    cr_rows_W(&H, W);
    double* U = bench_array(bench, nv * nv);
    memcpy(U, M, (size_t)(nv * nv) * sizeof *U);
    CHECK(cr__cholesky(U, nv));
    double* x = bench_array(bench, nv);
    for (int r = 0; r < ROWS; r++) {
        memset(x, 0, (size_t)nv * sizeof *x);
        for (int i = rows.start[r]; i < rows.start[r + 1]; i++) {
            x[rows.col[i]] = rows.value[i];
        }
        cr__cholesky_solve(U, nv, x);
        for (int s = 0; s < ROWS; s++) {
            double sum = 0.0;
            for (int i = rows.start[s]; i < rows.start[s + 1]; i++) {
                sum += rows.value[i] * x[rows.col[i]];
            }
            *worst = fmax(*worst, fabs(sum - W[r * ROWS + s]) / sqrt(W[r * (ROWS + 1)] * W[s * (ROWS + 1)]));
        }
    }
}

TEST(deep_trees_have_the_M_of_their_energy) {
    crRandom random = sample_seed(77);
    double worst_M = 0.0, worst_mul = 0.0, worst_solve = 0.0, worst_z = 0.0, worst_W = 0.0;
    for (int n = 0; n < 6; n++) {
        Bench bench = forked(&random, 60, 60, n % 2 == 0);
        const crModel* model = bench.model;
        int nv = model->nv;
        CHECK(model->bodies[1].deep && model->velocity.depth[nv - 1] > 128);
        for (int b = 1; b < model->nb; b++) {
            const crBody* body = &model->bodies[b];
            bool angle = body->joint == CR_JOINT_HINGE || body->joint == CR_JOINT_SLIDER;
            for (int j = body->q; j < body->q + body->nq && angle; j++) {
                bench.state.q[j] = sample_uniform(&random, -1, 1);
            }
        }
        cr_model_kinematics(model, &bench.state, &bench.d);
        CHECK_STATUS(cr_model_mass_factor(model, 0.0, &bench.d), CR_OK);
        double *M = bench_array(&bench, nv * nv), *dense = bench_array(&bench, nv * nv);
        M_by_definition(&bench, M);
        cr_model_mass_dense(model, &bench.d, dense);
        for (int i = 0; i < nv * nv; i++) {
            worst_M =
                fmax(worst_M, fabs(M[i] - dense[i]) / sqrt(M[i / nv * (nv + 1)] * M[i % nv * (nv + 1)]));
        }
        double *x = bench_array(&bench, nv), *y = bench_array(&bench, nv), *back = bench_array(&bench, nv);
        for (int i = 0; i < nv; i++) {
            x[i] = back[i] = sample_uniform(&random, -1, 1);
        }
        cr_model_mass_mul(model, &bench.d, x, y);
        double energy = 0.0, z = 0.0;
        for (int i = 0; i < nv; i++) {
            double sum = 0.0, size = 0.0;
            for (int j = 0; j < nv; j++) {
                sum += M[i * nv + j] * x[j];
                size += fabs(M[i * nv + j] * x[j]);
            }
            worst_mul = fmax(worst_mul, fabs(sum - y[i]) / size);
            energy += x[i] * sum;
        }
        for (int b = 1; b < model->nb; b++) {
            double part[6];
            cr__half_velocities(model, &bench.d, b, x, part);
            for (int i = 0; i < model->bodies[b].nv; i++) {
                z += part[i] * part[i];
            }
        }
        worst_z = fmax(worst_z, fabs(energy - z) / energy);
        // M M^-1 x = x, to the size of the terms
        cr_model_mass_solve(model, &bench.d, back);
        for (int i = 0; i < nv; i++) {
            double sum = 0.0, size = 0.0;
            for (int j = 0; j < nv; j++) {
                sum += M[i * nv + j] * back[j];
                size += fabs(M[i * nv + j] * back[j]);
            }
            worst_solve = fmax(worst_solve, fabs(sum - x[i]) / size);
        }
        check_rows(&random, &bench, M, &worst_W);
        bench_close(&bench);
    }
    printf("  deep trees: M %.1e, M x %.1e, M^-1 x %.1e, z %.1e, W %.1e\n", worst_M, worst_mul, worst_solve,
           worst_z, worst_W);
    CHECK(worst_M < 1e-12 && worst_mul < 1e-13 && worst_solve < 1e-13 && worst_z < 1e-13 && worst_W < 1e-10);
}

// a joint with nothing to move at the end of a long chain is refused, as in a short one
TEST(deep_tree_without_inertia_is_refused) {
    Bench bench = {.model = cr_model_create(NULL)};
    for (int i = 0; i < 200; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.parent = i;
        def.pose.p = cr_vec3(0.1, 0, 0);
        def.mass = 1.0;
        def.com = i == 199 ? cr_vec3(0, 0, 0.2) : cr_vec3(0.05, 0, 0);  // the last on its own axis, a point
        if (i < 199) def.inertia = (crSym3){.xx = 1e-3, .yy = 1e-3, .zz = 1e-3};
        cr_model_add_body(bench.model, &def);
    }
    bench_open(&bench);
    cr_model_kinematics(bench.model, &bench.state, &bench.d);
    CHECK_STATUS(cr_model_mass_factor(bench.model, 0.0, &bench.d), CR_ERR_DEFINITE);
    bench_close(&bench);
}

// free bodies in a row, each tied to the next at `ties` points of a common line
static Bench rope(crRandom* random, int bodies, int ties) {
    Bench bench = {.model = cr_model_create(NULL)};
    for (int i = 0; i < bodies; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(i, 0, 0);
        def.mass = sample_log(random, 0.3, 3.0);
        def.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.1};
        cr_model_add_body(bench.model, &def);
    }
    for (int i = 1; i < bodies; i++) {
        for (int k = 0; k < ties; k++) {
            crLoop loop = cr_loop(CR_LOOP_CONNECT, i, i + 1);
            loop.pose_a.p = cr_vec3(0.5, 0, 0.1 * k);
            loop.pose_b.p = cr_vec3(-0.5, 0, 0.1 * k);
            CHECK(cr_model_add_loop(bench.model, &loop) == (i - 1) * ties + k);
        }
    }
    bench_open(&bench);
    for (int i = 0; i < bodies; i++) {
        double* q = bench.state.q + 7 * i;
        for (int k = 0; k < 3; k++) {
            q[k] += sample_uniform(random, -0.02, 0.02);
        }
        q[4 + i % 3] = sample_uniform(random, -0.02, 0.02);
        for (int k = 0; k < 6; k++) {
            bench.state.v[6 * i + k] = sample_uniform(random, -1, 1);
        }
    }
    return bench;
}

// more rows than are solved in full, independent and redundant: gaps and their rates, from poses and twists
// alone
TEST(many_loops_close) {
    crRandom random = sample_seed(5);
    for (int ties = 1; ties <= 4; ties++) {
        Bench bench = rope(&random, 120, ties);
        const crModel* model = bench.model;
        CHECK_STATUS(cr_model_close_loops(model, 1e-11, &bench.arena, &bench.d, &bench.state, NULL), CR_OK);
        cr_model_kinematics(model, &bench.state, &bench.d);
        cr_model_velocity(model, bench.state.v, &bench.d);
        double gap = 0.0, rate = 0.0;
        for (int i = 0; i < model->loop_count; i++) {
            const crLoop* loop = &model->loops[i];
            crVec3 a = cr_pose_point(bench.d.pose[loop->a], loop->pose_a.p);
            crVec3 b = cr_pose_point(bench.d.pose[loop->b], loop->pose_b.p);
            gap = fmax(gap, cr_norm(cr_sub(a, b)));
            rate = fmax(rate, cr_norm(cr_sub(cr_model_point_velocity(&bench.d, loop->a, a),
                                             cr_model_point_velocity(&bench.d, loop->b, b))));
        }
        printf("  %d loops: gap %.1e m, rate %.1e m/s\n", model->loop_count, gap, rate);
        CHECK(gap < 3e-11 && rate < 1e-9 && largest(bench.state.v, model->nv) < 10.0);
        bench_close(&bench);
    }
}

TEST(a_loop_said_twice_is_one) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 1, .yy = 1, .zz = 1};
    for (int i = 0; i < 3; i++) {
        cr_model_add_body(model, &def);
    }
    crLoop loop = cr_loop(CR_LOOP_WELD, 1, 2);
    CHECK(cr_model_add_loop(model, &loop) == 0);
    CHECK(cr_model_add_loop(model, &loop) == 0);
    crLoop other = loop;
    other.b = 3;
    CHECK(cr_model_add_loop(model, &other) == 1);
    other = loop;
    other.pose_a.p.x = 1e-300;
    CHECK(cr_model_add_loop(model, &other) == 2);
    CHECK(cr_model_add_loop(model, &loop) == 0);
    CHECK(model->loop_count == 3);
    cr_model_destroy(model);
}
