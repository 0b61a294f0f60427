// test_step_lcp.c - Stewart and Trinkle's stepping: their rod against a derivation of its own.
#include "step_scene.h"

#define ROD_MASS    1.0
#define ROD_INERTIA 0.002
#define ROD_HALF    0.25
#define ROD_RADIUS  0.05
#define ROD_MU      0.6
#define GRAVITY     9.81

// the rod

static Scene rod_scene(double y0, const crStepSettings* settings) {
    Scene scene = {.model = cr_model_create(NULL)};
    scene.model->gravity = cr_vec3(0, -GRAVITY, 0);
    int material = scene_material(scene.model, ROD_MU, 0.0);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_PLANAR;
    def.mass = ROD_MASS;
    def.inertia = (crSym3){.xx = 0.001, .yy = ROD_INERTIA, .zz = ROD_INERTIA};
    int body = cr_model_add_body(scene.model, &def);
    crShape capsule = cr_shape_capsule(ROD_RADIUS, ROD_HALF);
    capsule.pose.q = cr_quat_axis_angle(cr_vec3(0, 1, 0), 0.5 * CR_PI);
    crShape table = cr_shape_halfspace(cr_vec3(0, 1, 0), 0.0);
    cr_model_add_shape(scene.model, CR_WORLD, &table, material);
    cr_model_add_shape(scene.model, body, &capsule, material);
    scene_open(&scene, settings);
    scene.step.state.q[1] = y0;
    scene.step.state.q[2] = CR_PI / 6.0;
    scene.step.state.v[2] = 4.0;
    return scene;
}

// A rod by hand: q, v, which ends pressed. Ends: 0 at +l/2, 1 at -l/2.
typedef struct Rod {
    double q[3], v[3];
    bool pressed[2];
    double normal[2];  // impulses of the last step
    int contacts;
} Rod;

static bool gauss(int n, double A[8][8], double* x) {
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int r = i + 1; r < n; r++) {
            if (fabs(A[r][i]) > fabs(A[best][i])) best = r;
        }
        if (fabs(A[best][i]) < 1e-13) return false;
        for (int j = 0; j < n; j++) {
            double t = A[i][j];
            A[i][j] = A[best][j];
            A[best][j] = t;
        }
        double t = x[i];
        x[i] = x[best];
        x[best] = t;
        for (int r = 0; r < n; r++) {
            if (r == i) continue;
            double f = A[r][i] / A[i][i];
            for (int j = i; j < n; j++) {
                A[r][j] -= f * A[i][j];
            }
            x[r] -= f * x[i];
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] /= A[i][i];
    }
    return true;
}

// a solution of 0 <= M z + q _|_ z >= 0 by trying every support, the one of least violation
static double lcp_by_supports(int n, double M[8][8], const double* q, double* z) {
    double least = INFINITY;
    for (int set = 0; set < 1 << n; set++) {
        double A[8][8] = {{0}}, x[8] = {0}, full[8] = {0}, worst = 0.0;
        int index[8], m = 0;
        for (int i = 0; i < n; i++) {
            if (set >> i & 1) index[m++] = i;
        }
        for (int i = 0; i < m; i++) {
            x[i] = -q[index[i]];
            for (int j = 0; j < m; j++) {
                A[i][j] = M[index[i]][index[j]];
            }
        }
        if (!gauss(m, A, x)) continue;
        for (int i = 0; i < m; i++) {
            full[index[i]] = x[i];
        }
        for (int i = 0; i < n; i++) {
            double w = q[i];
            for (int j = 0; j < n; j++) {
                w += M[i][j] * full[j];
            }
            worst = fmax(worst, set >> i & 1 ? -full[i] : -w);
        }
        if (worst >= least) continue;
        least = worst;
        memcpy(z, full, (size_t)n * sizeof(double));
        if (worst <= 0.0) break;
    }
    return least;
}

static double rod_gap(const double q[3], int end) {
    return q[1] + (end == 0 ? ROD_HALF : -ROD_HALF) * sin(q[2]) - ROD_RADIUS;
}

// one LCP over the chosen ends with everything at q^: v+ and the normal impulses
static void rod_solve(Rod* rod, double h, const double hat[3], const bool active[2], double v_plus[3]) {
    const double inverse[3] = {1.0 / ROD_MASS, 1.0 / ROD_MASS, 1.0 / ROD_INERTIA};
    double rows[6][3], M[8][8] = {{0}}, q[8] = {0}, z[8] = {0};
    int ends[2], m = 0;
    for (int end = 0; end < 2; end++) {
        if (active[end]) ends[m++] = end;
    }
    for (int i = 0; i < 3; i++) {
        v_plus[i] = rod->v[i];
    }
    v_plus[1] -= h * GRAVITY;
    // order: c_n of all, then beta+ and beta- of each, then lambda
    for (int i = 0; i < m; i++) {
        double arm = ends[i] == 0 ? ROD_HALF : -ROD_HALF;
        double n[3] = {0.0, 1.0, arm * cos(hat[2])};
        double d[3] = {1.0, 0.0, -arm * sin(hat[2]) + ROD_RADIUS};
        for (int k = 0; k < 3; k++) {
            rows[i][k] = n[k];
            rows[m + 2 * i][k] = d[k];
            rows[m + 2 * i + 1][k] = -d[k];
        }
        q[i] = rod_gap(hat, ends[i]) / h;
        for (int k = 0; k < 3; k++) {
            q[i] += n[k] * (v_plus[k] - rod->v[k]);
            q[m + 2 * i] += d[k] * v_plus[k];
            q[m + 2 * i + 1] -= d[k] * v_plus[k];
        }
        M[3 * m + i][i] = ROD_MU;
        M[3 * m + i][m + 2 * i] = M[3 * m + i][m + 2 * i + 1] = -1.0;
        M[m + 2 * i][3 * m + i] = M[m + 2 * i + 1][3 * m + i] = 1.0;
    }
    for (int i = 0; i < 3 * m; i++) {
        for (int j = 0; j < 3 * m; j++) {
            for (int k = 0; k < 3; k++) {
                M[i][j] += rows[i][k] * inverse[k] * rows[j][k];
            }
        }
    }
    double violation = m > 0 ? lcp_by_supports(4 * m, M, q, z) : 0.0;
    CHECK(violation < 1e-9);
    rod->normal[0] = rod->normal[1] = 0.0;
    for (int i = 0; i < m; i++) {
        rod->normal[ends[i]] = z[i];
    }
    for (int i = 0; i < 3 * m; i++) {
        for (int k = 0; k < 3; k++) {
            v_plus[k] += inverse[k] * rows[i][k] * z[i];
        }
    }
}

static void rod_step(Rod* rod, double h) {
    double hat[3], v_plus[3], q_plus[3];
    bool active[2];
    for (int k = 0; k < 3; k++) {
        hat[k] = rod->q[k] + h * rod->v[k];
    }
    for (int end = 0; end < 2; end++) {
        active[end] = rod->pressed[end] || rod_gap(hat, end) <= 0.0;
    }
    for (bool again = true; again;) {
        rod_solve(rod, h, hat, active, v_plus);
        again = false;
        for (int k = 0; k < 3; k++) {
            q_plus[k] = rod->q[k] + h * v_plus[k];
        }
        for (int end = 0; end < 2; end++) {
            if (active[end] || rod_gap(q_plus, end) >= -3e-11) continue;
            active[end] = again = true;
        }
    }
    rod->contacts = 0;
    for (int end = 0; end < 2; end++) {
        rod->pressed[end] = rod->normal[end] > 0.0;
        rod->contacts += rod->pressed[end];
    }
    memcpy(rod->q, q_plus, sizeof q_plus);
    memcpy(rod->v, v_plus, sizeof v_plus);
}

TEST(rod_of_stewart_and_trinkle) {
    crStepSettings settings = scene_settings(CR_METHOD_LCP);
    const double h = 0.0025;
    Scene scene = rod_scene(1.0, &settings);
    Rod rod = {.q = {0.0, 1.0, CR_PI / 6.0}, .v = {0.0, 0.0, 4.0}};
    double worst = 0.0, worst_speed = 0.0, residual = 0.0, deepest = 0.0;
    double first = 0.0, both = 0.0, rest = 0.0;
    double stuck = 0.0;
    bool left = false;
    for (int i = 1; i <= 240; i++) {
        if (!scene_step(&scene, h)) break;
        rod_step(&rod, h);
        const crState* s = &scene.step.state;
        double speed = 0.0;
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(s->q[k] - rod.q[k]));
            worst_speed = fmax(worst_speed, fabs(s->v[k] - rod.v[k]));
            speed = fmax(speed, fabs(s->v[k]));
        }
        residual = fmax(residual, scene.step.certificate.residual);
        deepest = fmax(deepest, scene.step.certificate.penetration);
        CHECK(scene.step.certificate.outcome == CR_OUTCOME_SOLVED);
        if (first == 0.0 && scene.step.warm.count > 0) first = i * h;
        if (both == 0.0 && scene.step.warm.count == 2) both = i * h;
        if (speed > 1e-6) rest = i * h;
        if (both == 0.0 && scene.step.warm.count == 1) {
            // slip of the lower end
            double arm = rod_gap(s->q, 0) < rod_gap(s->q, 1) ? ROD_HALF : -ROD_HALF;
            double slip = s->v[0] + s->v[2] * (-arm * sin(s->q[2]) + ROD_RADIUS);
            if (!left) stuck = fmax(stuck, i * h < 0.42 ? fabs(slip) : 0.0);
            if (slip < -0.1) left = true;
        }
    }
    printf("rod: states %.2e, velocities %.2e apart; residual %.1e, overlap %.2e; contact %.4f, both %.4f, "
           "moving until %.4f\n",
           worst, worst_speed, residual, deepest, first, both, rest);
    CHECK(worst < 1e-6);
    CHECK(worst_speed < 1e-6);
    CHECK_NEAR(first, 0.385, 1e-9);
    CHECK_NEAR(both, 0.55, 1e-9);
    CHECK(rest <= 0.57 + 1e-9);
    // the tip rolls on its cap until .42 (the slip is zero at q^, here at q+), then slides left
    CHECK(stuck < 6e-3);
    CHECK(left);
    CHECK(residual <= 1e-9);
    uint64_t hash = cr_hash(CR_HASH_SEED, scene.step.state.q, 3 * sizeof(double));
    hash = cr_hash(hash, scene.step.state.v, 3 * sizeof(double));
    // the same on every compiler and optimisation level
    if (!CHECK(hash == UINT64_C(0x13fd0e9e3e20b49a))) printf("rod: 0x%016llx\n", (unsigned long long)hash);
    scene_close(&scene);
}

TEST(rod_converges) {
    const double reference[3] = {-0.160898, 0.142076, 2.764408};
    const double steps[] = {0.01, 0.0025, 0.001, 1e-4, 1e-5};
    double first = 0.0, last = 0.0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        crStepSettings settings = scene_settings(CR_METHOD_LCP);
        Scene scene = rod_scene(0.9907, &settings);
        int count = (int)floor(0.5 / steps[i] + 0.5);
        for (int k = 0; k < count && scene_step(&scene, steps[i]); k++) {}
        last = 0.0;
        for (int k = 0; k < 3; k++) {
            last = fmax(last, fabs(scene.step.state.q[k] - reference[k]));
        }
        printf("rod, h = %g: %.6f %.6f %.6f, error %.2e\n", steps[i], scene.step.state.q[0],
               scene.step.state.q[1], scene.step.state.q[2], last);
        if (i == 0) first = last;
        scene_close(&scene);
    }
    // first order over three decades; single steps are erratic around the impact; six digits of reference
    double order = log(first / last) / log(steps[0] / 1e-5);
    printf("rod: order %.2f\n", order);
    CHECK(order > 0.85 && order < 1.25);
    CHECK(last < 2e-5);
}

// the fixed point: complementarity at the end of the step itself, not at a guess of it
TEST(fixed_point_holds_at_the_end) {
    crStepSettings settings = scene_settings(CR_METHOD_LCP);
    settings.fixed_point = true;
    const double h = 0.0025;
    Scene scene = rod_scene(1.0, &settings);
    double gap_worst = 0.0, slip_worst = 0.0, balance = 0.0;
    int stuck = 0, failed = 0;
    for (int i = 1; i <= 240; i++) {
        double v[3];
        memcpy(v, scene.step.state.v, sizeof v);
        if (!scene_step(&scene, h)) break;
        const crState* s = &scene.step.state;
        if (scene.step.certificate.outcome != CR_OUTCOME_SOLVED) failed++;
        double sum[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < scene.step.contacts.count; k++) {
            const crStepContact* c = &scene.step.contacts.list[k];
            if (c->row < 0 || !(scene.step.posed.p[c->row] > 0.0)) continue;
            // the end nearest to where it touched
            double side = (c->point.point.x - s->q[0]) * cos(s->q[2]) > 0.0 ? ROD_HALF : -ROD_HALF;
            double arm_x = side * cos(s->q[2]), arm_y = side * sin(s->q[2]) - ROD_RADIUS;
            double slip = s->v[0] - s->v[2] * arm_y;
            crVec3 P = c->impulse;
            gap_worst = fmax(gap_worst, fabs(rod_gap(s->q, side > 0.0 ? 0 : 1)));
            // inside the cone no slip, on it against the slip
            bool inside = fabs(P.x) < ROD_MU * P.y - 1e-9;
            slip_worst = fmax(slip_worst, inside ? fabs(slip) : fmax(0.0, P.x * slip));
            stuck += inside;
            sum[0] += P.x;
            sum[1] += P.y;
            sum[2] += arm_x * P.y - arm_y * P.x;
        }
        double m[3] = {ROD_MASS, ROD_MASS, ROD_INERTIA}, g[3] = {0.0, -h * GRAVITY, 0.0};
        for (int k = 0; k < 3; k++) {
            balance = fmax(balance, fabs(m[k] * (s->v[k] - v[k] - g[k]) - sum[k]));
        }
    }
    printf("fixed point: gap %.1e, slip %.1e in %d sticking contacts, momentum %.1e, not converged %d\n",
           gap_worst, slip_worst, stuck, balance, failed);
    CHECK(failed == 0);
    CHECK(gap_worst < 1e-11);
    CHECK(slip_worst < 1e-7);
    CHECK(balance < 1e-8);
    CHECK(stuck > 10);
    scene_close(&scene);
}
