// test_fit_tosses.c - measured motions from tables: what is read, and every refusal with its place.
#include "toss_sample.h"

static const char header[] = "toss,t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wbx,wby,wbz\n";

static crStatus read_text(const char* text, const crImpactOptions* options, crTosses* tosses,
                          crError* error) {
    static const crImpactOptions none;
    FitFile file;
    crTable table;
    fit_sample_text(&file, text);
    *tosses = (crTosses){0};
    crStatus status = cr_table_read(file.path, &table, error);
    remove(file.path);
    if (status != CR_OK) return status;
    status = cr_tosses_create(&table, options != NULL ? options : &none, tosses, error);
    cr_table_free(&table);
    return status;
}

// a quarter turn about z and omega about the body's x: about the world's y
TEST(body_axes_are_turned) {
    char text[1000];
    double half = sqrt(0.5);
    snprintf(text, sizeof text,
             "%s7,1,0,0,1,%.17g,0,0,%.17g,0,0,-1,1,0,0\n7,1.5,0,0,.5,%.17g,%.17g,%.17g,%.17g,0,0,-1,1,0,0\n",
             header, half, half, half * cos(0.25), half * sin(0.25), half * sin(0.25), half * cos(0.25));
    crTosses t;
    crError error = {0};
    CHECK_STATUS(read_text(text, NULL, &t, &error), CR_OK);
    CHECK(t.count == 1 && t.sample_count == 2 && !t.planar && t.tosses[0].id == 7.0 && t.tosses[0].line == 2);
    CHECK_NEAR(t.samples[1].time, 0.5, 1e-15);
    CHECK_VEC(t.samples[0].w, cr_vec3(0, 1, 0), 1e-15);
    CHECK_NEAR(t.interval, 0.5, 1e-15);
    // the poses say the same as the velocities
    CHECK_NEAR(t.speed_ratio, 1.0, 1e-12);
    CHECK_NEAR(t.spin_ratio, 1.0, 1e-12);
    CHECK_NEAR(t.spin_error, 0.0, 1e-12);
    CHECK(t.other_frame > 1.0);
    cr_tosses_destroy(&t);
}

TEST(columns_may_be_scaled) {
    crImpactOptions options = {0};
    CHECK_STATUS(cr_impact_source(&options, "t=k/50", NULL), CR_OK);
    CHECK_STATUS(cr_impact_source(&options, "w=-spin*2", NULL), CR_OK);
    crTosses t;
    CHECK_STATUS(
        read_text("k,px,py,angle,vx,vy,spin\n0,0,1,0,1,0,-.5\n2,.04,1,.04,1,0,-.5\n", &options, &t, NULL),
        CR_OK);
    CHECK(t.planar && t.count == 1);
    CHECK_NEAR(t.samples[1].time, 0.04, 1e-17);
    CHECK_NEAR(t.samples[1].w.z, 1.0, 1e-15);
    cr_tosses_destroy(&t);
}

typedef struct Refusal {
    const char* rows;
    crStatus status;
    int line, column;
    const char* words;
} Refusal;

static const char good[] = "1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n1,.1,0,0,.9,1,0,0,0,0,0,-1,0,0,0\n";

TEST(refusals_have_a_place) {
    static const Refusal cases[] = {
        {"1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n1,.1,0,nan,.9,1,0,0,0,0,0,-1,0,0,0\n", CR_ERR_FINITE, 3, 8,
         "'nan'"},
        {"1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n1,.1,x,0,.9,1,0,0,0,0,0,-1,0,0,0\n", CR_ERR_FINITE, 3, 6, "'x'"},
        {"1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n1,0,0,0,.9,1,0,0,0,0,0,-1,0,0,0\n", CR_ERR_RANGE, 3, 3,
         "must ascend"},
        {"1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n1,.1,0,0,.9,1.01,0,0,0,0,0,-1,0,0,0\n", CR_ERR_UNIT, 3, 13, "1.01"},
        {"1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n2,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n", CR_ERR_SIZE, 2, 1, "one sample"},
        {"1,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n1,.1,0,0,.9,1,0,0,0,0,0,-1,0,0,0\n2,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n"
         "2,.1,0,0,.9,1,0,0,0,0,0,-1,0,0,0\n1,.2,0,0,.8,1,0,0,0,0,0,-1,0,0,0\n",
         CR_ERR_SIZE, 6, 1, "comes again"},
        // millimetres for metres, degrees for radians
        {"1,0,0,0,1000,1,0,0,0,0,0,-1,0,0,0\n1,.1,0,0,900,1,0,0,0,0,0,-1,0,0,0\n", CR_ERR_RANGE, 2, 1,
         "0.001 times"},
        {"1,0,0,0,1,1,0,0,0,0,0,-1,0,0,57\n1,.1,0,0,.9,.99875,0,0,.04998,0,0,-1,0,0,57\n", CR_ERR_RANGE, 2, 1,
         "angular velocities are 57"},
        {"", CR_ERR_SIZE, 0, 0, "none is left"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s", header, cases[i].rows);
        crTosses t;
        crError error = {0};
        CHECK_STATUS(read_text(text, NULL, &t, &error), cases[i].status);
        test_check(error.line == cases[i].line && error.column == cases[i].column &&
                       strstr(error.message, cases[i].words) != NULL,
                   __FILE__, __LINE__, "case %d: %d:%d %s", (int)i, error.line, error.column, error.message);
        CHECK(t.tosses == NULL && t.samples == NULL);
    }
}

TEST(columns_that_are_not_there) {
    crTosses t;
    crError error = {0};
    CHECK_STATUS(read_text("toss,t,px,py,pz,qw,qx,qy,vx,vy,vz,wx,wy,wz\n", NULL, &t, &error), CR_ERR_MISSING);
    CHECK_TEXT(error.field, "qz");
    CHECK(error.line == 1 && error.column == 1);
    crImpactOptions options = {0};
    CHECK_STATUS(cr_impact_source(&options, "qz=Z", NULL), CR_OK);
    CHECK_STATUS(read_text(header, &options, &t, &error), CR_ERR_FIELD);
    options.source_count = 0;
    CHECK_STATUS(cr_impact_source(&options, "mass=1", NULL), CR_OK);
    CHECK_STATUS(read_text(header, &options, &t, &error), CR_ERR_FIELD);
    CHECK(strstr(error.message, "motions") != NULL);
    options.source_count = 0;
    CHECK_STATUS(cr_impact_where(&options, "flag=0", NULL), CR_OK);
    char text[1000];
    snprintf(text, sizeof text, "%s%s", header, good);
    CHECK_STATUS(read_text(text, &options, &t, &error), CR_ERR_FIELD);
}

TEST(bad_tosses_can_be_skipped) {
    char text[3000];
    snprintf(
        text, sizeof text,
        "%s3,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n3,.1,0,0,.9,1,0,nan,0,0,0,-1,0,0,0\n3,.2,0,0,.8,1,0,0,0,0,0,-1,0,"
        "0,0\n"
        "%s4,0,0,0,1,1,0,0,0,0,0,-1,0,0,0\n5,0,0,0,1,2,0,0,0,0,0,-1,0,0,0\n5,1,0,0,1,1,0,0,0,0,0,-1,0,0,0\n",
        header, good);
    crImpactOptions options = {.skip = true};
    crTosses t;
    CHECK_STATUS(read_text(text, &options, &t, NULL), CR_OK);
    CHECK(t.count == 1 && t.tosses[0].id == 1.0 && t.sample_count == 2 && t.skipped == 3);
    CHECK(t.skip_first.line == 3 && t.skip_first.status == CR_ERR_FINITE);
    cr_tosses_destroy(&t);
    CHECK_STATUS(cr_impact_where(&options, "toss=1", NULL), CR_OK);
    CHECK_STATUS(read_text(text, &options, &t, NULL), CR_OK);
    CHECK(t.count == 1 && t.left_out == 6 && t.skipped == 0);
    cr_tosses_destroy(&t);
}
