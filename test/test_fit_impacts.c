// test_fit_impacts.c - measurements into impulse space: the best impulse, the nearest permissible one,
// floors, and every refusal with its place.
#include "fit_sample.h"

// the mass-weighted error of an impulse, from the velocities themselves
static double error_of(const crImpactRow* r, crVec3 P) {
    crVec3 J = cr_mat3_mul(r->frame, P);
    crRigid after = cr_rigid_after(&r->body, r->point, J);
    crVec3 dv = cr_sub(after.velocity, r->v_after), dw = cr_sub(after.omega, r->w_after);
    return sqrt(cr_dot(dv, dv) + cr_sym3_quad(r->body.inertia, dw) / r->mass);
}

static crImpacts random_impacts(double noise, uint64_t seed, int count) {
    FitFile file = fit_sample_open();
    crRandom random = sample_seed(seed);
    fputs(FIT_SAMPLE_HEADER, file.file);
    for (int i = 0; i < count;) {
        FitBody b = fit_sample_body(&random);
        crMat3 frame;
        crContact c = fit_sample_contact(&b, &frame);
        crVec3 P_I;
        if (c.V.x > -0.1 || !cr_impulse_P_I(&c, &P_I)) continue;
        // any impulse about there, permissible or not
        crVec3 P =
            cr_vec3(P_I.x * sample_uniform(&random, 0.6, 2.4), P_I.x * sample_uniform(&random, -1.0, 1.0), 0);
        fit_sample_row(file.file, &random, &b, frame, P, noise);
        i++;
    }
    fclose(file.file);
    crImpacts impacts;
    crError error = {0};
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, &error), CR_OK);
    return impacts;
}

TEST(measured_impulse_is_the_best) {
    crImpacts impacts = random_impacts(0.3, 1, 300);
    crRandom random = sample_seed(8);
    for (int i = 0; i < impacts.count; i++) {
        const crImpactRow* r = &impacts.rows[i];
        double least = error_of(r, r->P);
        CHECK_NEAR(least, sqrt(r->unexplained), 1e-9 * sqrt(r->change) + 1e-7);
        for (int k = 0; k < 10; k++) {
            double size = cr_norm(r->P) * sample_log(&random, 1e-3, 1.0);
            crVec3 other = cr_madd(r->P, size, sample_direction(&random));
            CHECK(error_of(r, other) >= least - 1e-12);
            CHECK_NEAR(error_of(r, other), cr_impact_error(r, other), 1e-9 * sqrt(r->change));
        }
    }
    cr_impacts_destroy(&impacts);
}

// P* is nearest in a convex set iff it is in it and (P - P*).W (Q - P*) <= 0 for all Q of the set
TEST(nearest_permissible_impulse) {
    crRandom random = sample_seed(21);
    int samples = test_samples(30000), moved = 0;
    for (int i = 0; i < samples; i++) {
        crCollision collision = sample_collision(&random, SAMPLE_BODIES);
        collision.mu = INFINITY;
        crContact c;
        crMat3 frame;
        if (cr_collision_contact(&collision, &c, &frame, NULL) != CR_OK || !(c.V.x < 0.0)) continue;
        crVec3 P_I;
        CHECK(cr_impulse_P_I(&c, &P_I));
        crVec3 P = cr_madd(P_I, 3.0 * P_I.x, sample_direction(&random));
        crVec3 best = cr_impact_nearest(&c, P);
        CHECK(cr_impulse_permissible(&c, best, 1e-6));
        crVec3 off = cr_sub(P, best);
        double size = sqrt(cr_sym3_quad(c.W, off));
        moved += size > 0.0;
        for (int k = 0; k < 20; k++) {
            crVec3 Q = cr_madd(P_I, sample_uniform(&random, 0.0, 3.0) * P_I.x, sample_direction(&random));
            if (!cr_impulse_permissible(&c, Q, 0.0)) continue;
            crVec3 to = cr_sub(Q, best);
            double product = cr_dot(off, cr_sym3_mul(c.W, to));
            CHECK(product <= 1e-5 * size * sqrt(cr_sym3_quad(c.W, to)) + 1e-12);
        }
    }
    CHECK(moved > samples / 10);
}

TEST(summary_counts) {
    crImpacts impacts = random_impacts(0.0, 2, 400);
    crImpactsSummary s;
    CHECK_STATUS(cr_impacts_summary(&impacts, &s, NULL), CR_OK);
    int impossible = 0, gain = 0, penetrate = 0;
    double e[400];
    for (int i = 0; i < impacts.count; i++) {
        const crImpactRow* r = &impacts.rows[i];
        crVec3 V = cr_impulse_V_plus(&r->contact, r->P);
        bool gains = r->energy_ratio > 1.0 + 1e-9, through = V.x < -1e-9, pulls = r->P.x < 0.0;
        gain += gains;
        penetrate += through;
        impossible += gains || through || pulls;
        e[i] = -V.x / r->contact.V.x;
    }
    CHECK(s.impossible == impossible && s.creates_energy == gain && s.penetrates == penetrate &&
          s.pulls == 0);
    CHECK(impossible > 20 && gain > 5 && penetrate > 5);
    CHECK(s.floor < 1e-6 && s.permissible_floor > s.floor);
    int below = 0;
    for (int i = 0; i < impacts.count; i++) {
        below += e[i] <= s.e[1];
    }
    CHECK(below >= 200 && below <= 201);
    cr_impacts_destroy(&impacts);
}

// impulses of the Chatterjee-Ruina law without friction's limit lie at (1+e, 1+et)
TEST(normalized_impulses) {
    crImpacts impacts = random_impacts(0.1, 3, 100);
    crFitTheta theta = cr_fit_theta();
    theta.value[CR_FIT_MU] = 4.0;
    theta.value[CR_FIT_E] = 0.4;
    theta.value[CR_FIT_ET] = -0.3;
    int checked = 0;
    for (int i = 0; i < impacts.count; i++) {
        const crImpactRow* r = &impacts.rows[i];
        crHit hit;
        bool answered;
        double u, s;
        cr_fit_answer(cr_fit_law_find("chatterjee-ruina"), &theta, &r->contact, &hit, &answered, NULL);
        if (fabs(hit.P.y) > 3.9 * hit.P.x || !cr_impact_normalized(r, hit.P, &u, &s)) continue;
        CHECK_NEAR(u, 1.4, 1e-9);
        CHECK_NEAR(s, 0.7, 1e-9);
        checked++;
    }
    CHECK(checked > 80);
    cr_impacts_destroy(&impacts);
}

// w counted the other way: the floor says so
TEST(turned_rotation_is_seen) {
    crFitTheta theta = cr_fit_theta();
    FitFile file = fit_sample_law("routh", &theta, 50, 0.01, 4);
    crImpactOptions options = {0};
    CHECK_STATUS(cr_impact_source(&options, "w=-w", NULL), CR_OK);
    CHECK_STATUS(cr_impact_source(&options, "w_after=-w_after", NULL), CR_OK);
    CHECK_STATUS(cr_impact_source(&options, "rx=-rx", NULL), CR_OK);
    crImpacts impacts;
    options.skip = true;
    CHECK_STATUS(fit_sample_read(&file, &options, &impacts, NULL), CR_OK);
    crImpactsSummary s;
    CHECK_STATUS(cr_impacts_summary(&impacts, &s, NULL), CR_OK);
    CHECK(s.floor > 0.1 && impacts.mirror < 0.02);
    cr_impacts_destroy(&impacts);
}

// a sphere in space, and the same collision as W, V and P
TEST(forms_agree) {
    FitFile file;
    fit_sample_text(
        &file,
        "m,Ixx,Iyy,Izz,rx,ry,rz,vx,vy,vz,wx,wy,wz,vx_after,vy_after,vz_after,wx_after,wy_after,wz_after\n"
        "2,.02,.03,.02,.05,.02,-.1,1,.5,-2,0,1,0,.8,.4,1.5,.2,-.4,.1\n");
    crImpacts spatial, impulse;
    CHECK_STATUS(fit_sample_read(&file, NULL, &spatial, NULL), CR_OK);
    CHECK(spatial.form == CR_FORM_SPATIAL && !spatial.planar && spatial.count == 1);
    const crImpactRow* a = &spatial.rows[0];
    crSym3 W = a->contact.W;
    crVec3 V = a->contact.V;
    char text[600];
    snprintf(
        text, sizeof text,
        "Wnn,Wn1,W11,Vn,V1,Pn,P1,Wn2,W12,W22,V2,P2,m\n%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
        "%.17g,%.17g,%.17g,2\n",
        W.xx, W.xy, W.yy, V.x, V.y, a->P.x, a->P.y, W.xz, W.yz, W.zz, V.z, a->P.z);
    fit_sample_text(&file, text);
    CHECK_STATUS(fit_sample_read(&file, NULL, &impulse, NULL), CR_OK);
    const crImpactRow* b = &impulse.rows[0];
    CHECK(impulse.form == CR_FORM_IMPULSE);
    CHECK_VEC(b->P, a->P, 1e-12);
    crVec3 Q = cr_vec3(5.0, 0.3, 0.2);
    double da = cr_impact_error(a, Q) * cr_impact_error(a, Q) - a->unexplained;
    CHECK_NEAR(cr_impact_error(b, Q) * cr_impact_error(b, Q), da, 1e-12);
    cr_impacts_destroy(&spatial);
    cr_impacts_destroy(&impulse);
}

typedef struct Refusal {
    const char* text;
    const char* source;  // NULL: none
    const char* where;
    crStatus status;
    int line, column;
    const char* field;
} Refusal;

#define GOOD "1,.01,0,-.1,.5,-2,1,.4,1,2\n"

static const Refusal refusals[] = {
    {"", NULL, NULL, CR_ERR_SYNTAX, 0, 0, "header"},
    {"# nothing\n\n", NULL, NULL, CR_ERR_SYNTAX, 0, 0, "header"},
    {"m,,I\n", NULL, NULL, CR_ERR_SYNTAX, 1, 3, "header"},
    {"m,I,m\n", NULL, NULL, CR_ERR_SYNTAX, 1, 5, "header"},
    {FIT_SAMPLE_HEADER GOOD "1,2,3\n", NULL, NULL, CR_ERR_SIZE, 3, 1, "row"},
    {"m,I,rx,ry,vx,vy,w,vx_after,vy_after\n1,1,1,1,1,1,1,1,1\n", NULL, NULL, CR_ERR_MISSING, 1, 1, "w_after"},
    {FIT_SAMPLE_HEADER GOOD, "w=omega", NULL, CR_ERR_FIELD, 1, 1, "w"},
    {FIT_SAMPLE_HEADER GOOD, "wobble=w", NULL, CR_ERR_FIELD, 0, 0, "wobble"},
    {FIT_SAMPLE_HEADER GOOD, NULL, "flag=0", CR_ERR_FIELD, 0, 0, "where"},
    {FIT_SAMPLE_HEADER GOOD, NULL, "m=7", CR_ERR_SIZE, 0, 0, "rows"},
    {FIT_SAMPLE_HEADER, NULL, NULL, CR_ERR_SIZE, 0, 0, "rows"},
    {FIT_SAMPLE_HEADER GOOD "\n# a note\n1,.01,0,-.1,.5,nan,1,.4,1,2\n", NULL, NULL, CR_ERR_FINITE, 5, 16,
     "vy"},
    {FIT_SAMPLE_HEADER "1,.01,0,-.1,fast,-2,1,.4,1,2\n", NULL, NULL, CR_ERR_FINITE, 2, 13, "vx"},
    {FIT_SAMPLE_HEADER "1,.01,0,-.1,,-2,1,.4,1,2\n", NULL, NULL, CR_ERR_FINITE, 2, 13, "vx"},
    {FIT_SAMPLE_HEADER "0,.01,0,-.1,.5,-2,1,.4,1,2\n", NULL, NULL, CR_ERR_RANGE, 2, 1, "m"},
    {FIT_SAMPLE_HEADER "1,-1,0,-.1,.5,-2,1,.4,1,2\n", NULL, NULL, CR_ERR_RANGE, 2, 3, "I"},
    // g mm^2 for kg m^2, and velocities after in mm/s
    {FIT_SAMPLE_HEADER "1,1e7,0,-.1,.5,-2,1,.4,1,2\n", NULL, NULL, CR_ERR_RANGE, 2, 3, "I"},
    {FIT_SAMPLE_HEADER "1,.01,0,-.1,.5,-2,1,400,1000,2\n", NULL, NULL, CR_ERR_RANGE, 2, 21, "vx_after"},
    {FIT_SAMPLE_HEADER "1,.01,0,-.1,.5,2,1,.4,1,2\n", NULL, NULL, CR_ERR_RANGE, 2, 13, "vx"},
    {FIT_SAMPLE_HEADER GOOD, "ny=0", NULL, CR_ERR_UNIT, 2, 3, "n"},
    {"Wnn,Wn1,W11,Vn,V1,Pn,P1\n1,0,-1,-1,0,1,0\n", NULL, NULL, CR_ERR_DEFINITE, 2, 1, "W"},
    {"Wnn,Wn1,W11,Vn,V1,Pn,P1\n1,1,1,-1,0,1,0\n", NULL, NULL, CR_ERR_DEFINITE, 2, 1, "Wnn"},
    {"Wnn,Wn1,W11,Vn,V1,Pn,P1\n1,0,1,-1,0,100,0\n", NULL, NULL, CR_ERR_RANGE, 2, 12, "Pn"},
    {"Wnn,Wn1,W11,Vn,V1,Pn,P1\n1,0,1,1,0,1,0\n", NULL, NULL, CR_ERR_RANGE, 2, 7, "Vn"},
};

TEST(refusals_have_places) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const Refusal* r = &refusals[i];
        FitFile file;
        crImpacts impacts;
        crError error = {0};
        crImpactOptions options = {0};
        if (r->source != NULL) CHECK_STATUS(cr_impact_source(&options, r->source, NULL), CR_OK);
        if (r->where != NULL) CHECK_STATUS(cr_impact_where(&options, r->where, NULL), CR_OK);
        fit_sample_text(&file, r->text);
        crStatus status = fit_sample_read(&file, &options, &impacts, &error);
        bool same = status == r->status && error.line == r->line && error.column == r->column &&
                    strcmp(error.field, r->field) == 0;
        test_check(same, __FILE__, __LINE__, "case %zu: %s %d:%d '%s': %s", i, cr_status_name(status),
                   error.line, error.column, error.field, error.message);
    }
    crTable table;
    CHECK_STATUS(cr_table_read("/nowhere/at/all.csv", &table, NULL), CR_ERR_FILE);
}

TEST(bad_rows_can_be_skipped) {
    FitFile file;
    fit_sample_text(&file, FIT_SAMPLE_HEADER GOOD "1,.01,0,-.1,.5,nan,1,.4,1,2\n" GOOD);
    crImpactOptions options = {.skip = true};
    crImpacts impacts;
    CHECK_STATUS(fit_sample_read(&file, &options, &impacts, NULL), CR_OK);
    CHECK(impacts.count == 2 && impacts.skipped == 1 && impacts.skip_first.line == 3);
    CHECK(impacts.rows[1].line == 4);
    cr_impacts_destroy(&impacts);
}

TEST(sources_are_checked) {
    crImpactOptions options = {0};
    CHECK_STATUS(cr_impact_source(&options, "w", NULL), CR_ERR_SYNTAX);
    CHECK_STATUS(cr_impact_source(&options, "=w", NULL), CR_ERR_SYNTAX);
    CHECK_STATUS(cr_impact_source(&options, "w=", NULL), CR_ERR_SYNTAX);
    CHECK_STATUS(cr_impact_source(&options, "w=-", NULL), CR_ERR_SYNTAX);
    CHECK_STATUS(cr_impact_source(&options, "a-name-that-is-too-long=w", NULL), CR_ERR_LIMIT);
    CHECK_STATUS(cr_impact_where(&options, "flag=no", NULL), CR_ERR_TYPE);
    CHECK_STATUS(cr_impact_where(&options, "flag", NULL), CR_ERR_SYNTAX);
    for (int i = 0; i < CR_SOURCES_MOST; i++) {
        CHECK_STATUS(cr_impact_source(&options, "w=-2.5", NULL), CR_OK);
        CHECK_STATUS(cr_impact_where(&options, "flag=0", NULL), CR_OK);
    }
    CHECK(options.sources[0].factor == -2.5 && options.sources[0].column[0] == '\0');
    CHECK_STATUS(cr_impact_source(&options, "w=1", NULL), CR_ERR_LIMIT);
    CHECK_STATUS(cr_impact_where(&options, "flag=0", NULL), CR_ERR_LIMIT);
}
