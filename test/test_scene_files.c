// test_scene_files.c - shipped scenes do what the things they show do.
#include <stdlib.h>

#include "io/input.h"
#include "io/json_set.h"
#include "io/scene.h"
#include "test.h"

typedef struct Show {
    crScene scene;
    crWorld* world;
    crState* state;
} Show;

// a shipped scene, with one value set where path is not NULL; false where it is skipped or bad
static bool show_open(Show* show, const char* name, const char* path, const char* value) {
    const char* source = getenv("CAROM_SOURCE");
    char file[1000];
    *show = (Show){0};
    if (source == NULL) {
        test_skip("CAROM_SOURCE is not set");
        return false;
    }
    snprintf(file, sizeof file, "%s/scenes/%s.json", source, name);
    crInput input;
    crError error = {0};
    crJsonDoc doc = {0};
    int line = 0;
    if (!CHECK_STATUS(cr_input_open(&input, file, &error), CR_OK)) return false;
    bool ok = cr_input_next(&input, &doc, &line, &error);
    cr_input_close(&input);
    if (ok && path != NULL) ok = cr_json_set(&doc, path, value, &error) == CR_OK;
    ok = ok && cr_scene_read(doc.root, &show->scene, &error) == CR_OK;
    cr_json_free(&doc);
    crWorldDef def = cr_world_def();
    def.model = show->scene.model;
    def.step = show->scene.step;
    ok = ok && cr_world_create(&def, &show->world, &error) == CR_OK;
    if (!test_check(ok, __FILE__, __LINE__, "%s: %s", name, error.message)) return false;
    show->state = cr_world_state(show->world);
    memcpy(show->state->q, show->scene.q, (size_t)show->scene.model->nq * sizeof(double));
    memcpy(show->state->v, show->scene.v, (size_t)show->scene.model->nv * sizeof(double));
    return true;
}

static void show_close(Show* show) {
    cr_world_destroy(show->world);
    cr_scene_free(&show->scene);
}

static bool show_step(Show* show) {
    crError error = {0};
    crStatus status = cr_world_step(show->world, &error);
    return test_check(status == CR_OK, __FILE__, __LINE__, "at %g: %s", show->state->time, error.message);
}

static bool show_goes_on(const Show* show) { return show->state->time < show->scene.duration - 1e-9; }

static double show_energy(Show* show) {
    crEnergy energy = cr_world_energy(show->world);
    return energy.kinetic + energy.potential;
}

// mu > tan 30: the tip jams in one impact and stays; at 80 degrees (t - mu)/(t + mu) of the speed is left
// each time by Poisson's rule, all of it by Newton's
TEST(impact_pendulum) {
    Show show;
    if (!show_open(&show, "impact-pendulum-30", NULL, NULL)) return;
    int impacts = 0;
    while (show_goes_on(&show) && show_step(&show)) {
        impacts += cr_world_certificate(show.world)->impacts;
    }
    CHECK(impacts == 1);
    CHECK_NEAR(show.state->q[0], CR_PI / 6.0, 1e-9);
    CHECK(fabs(show.state->v[0]) < 1e-9);
    show_close(&show);
    for (int newton = 0; newton < 2; newton++) {
        if (!show_open(&show, "impact-pendulum-80", "impact.rule", newton ? "newton" : "poisson")) return;
        // the tip is a ball of .01 m, which lengthens the arm of friction
        double t = sin(CR_PI * 80.0 / 180.0) / (cos(CR_PI * 80.0 / 180.0) + 0.01),
               expected = newton ? 1.0 : (t - 0.6) / (t + 0.6), worst = 0.0;
        impacts = 0;
        while (show_goes_on(&show) && show.state->time < 1.0 && show_step(&show)) {
            crEvents events = cr_world_events(show.world);
            for (int i = 0; i < events.count; i++) {
                const crEvent* e = &events.events[i];
                // v = approach / (l sin 80); the impact changes T by (ratio^2 - 1) of itself, Theta = 1/3
                double v = e->approach / sin(CR_PI * 80.0 / 180.0), T = v * v / 6.0;
                worst = fmax(worst, fabs(sqrt(1.0 + e->energy_change / T) - expected));
                impacts++;
            }
        }
        printf("pendulum at 80 by %s: %d impacts, share of the speed left to %.1e\n",
               newton ? "newton" : "poisson", impacts, worst);
        CHECK(impacts >= 3);
        CHECK(worst < 1e-9);
        show_close(&show);
    }
}

// cycles: the sleeve is stuck, is freed, the beak hits the pole once, the toy is lower
TEST(woodpecker) {
    Show show;
    if (!show_open(&show, "woodpecker", NULL, NULL)) return;
    double pecks[32], heights[32], stuck = 0.0;
    int count = 0;
    double start = show_energy(&show);
    while (show_goes_on(&show) && show_step(&show)) {
        crEvents events = cr_world_events(show.world);
        for (int i = 0; i < events.count; i++) {
            const crEvent* e = &events.events[i];
            // shape 3 is the beak; it bounces twice at most in a peck
            if (e->shape_b != 3 || e->approach < 0.1 || count == 32) continue;
            if (count > 0 && e->time < pecks[count - 1] + 0.05) continue;
            pecks[count] = e->time;
            heights[count++] = show.state->q[0];
        }
        if (fabs(show.state->v[0]) < 1e-6) stuck += show.scene.step.dt;
        CHECK(show_energy(&show) < start + 1e-6);
    }
    CHECK(count >= 5);
    if (count < 5) return;
    double period = pecks[count - 1] - pecks[count - 2], before = pecks[count - 2] - pecks[count - 3];
    printf("woodpecker: %d pecks, period %.4f s, %.1f mm each; stuck for %.2f s\n", count, period,
           1e3 * (heights[count - 2] - heights[count - 1]), stuck);
    CHECK_NEAR(period, before, 0.01 * period);
    CHECK_NEAR(heights[count - 2] - heights[count - 1], heights[count - 3] - heights[count - 2], 1e-3);
    CHECK(heights[count - 1] < heights[count - 2] - 0.01);
    CHECK(stuck > 0.1);
    show_close(&show);
}

// the slider stays between its guides and hits both in every turn
TEST(slider_with_play) {
    Show show;
    if (!show_open(&show, "slider-crank-clearance", NULL, NULL)) return;
    int turns = (int)floor(show.scene.duration * 150.0 / (2.0 * CR_PI)), hits[2][16] = {{0}};
    double off = 0.0;
    while (show_goes_on(&show) && show_step(&show)) {
        const double* q = show.state->q;
        double y = 0.153 * sin(q[0]) + 0.306 * sin(q[0] + q[1]);
        off = fmax(off, fabs(y));
        CHECK(cr_world_certificate(show.world)->penetration < 1e-7);
        crEvents events = cr_world_events(show.world);
        for (int i = 0; i < events.count; i++) {
            int turn = (int)floor(events.events[i].time * 150.0 / (2.0 * CR_PI));
            if (events.events[i].shape_a < 2 && turn < 16) hits[events.events[i].shape_a][turn]++;
        }
    }
    for (int i = 0; i < turns; i++) {
        CHECK(hits[0][i] > 0 && hits[1][i] > 0);
    }
    printf("slider: off its line by %.3f mm at most, %d turns\n", 1e3 * off, turns);
    CHECK(off <= 1e-3 + 1e-7);
    CHECK(off > 0.9e-3);
    CHECK_NEAR(show.state->v[0], 150.0, 1e-6);
    show_close(&show);
}

// 10 teeth push 15: after the start both have turned by a ratio of 3/2, up to a tooth's play
TEST(gears) {
    Show show;
    if (!show_open(&show, "gears", NULL, NULL)) return;
    while (show.state->time < 0.2 && show_step(&show)) {}
    double driver = show.state->q[0], driven = show.state->q[1];
    while (show_goes_on(&show) && show_step(&show)) {}
    double ratio = (show.state->q[0] - driver) / (driven - show.state->q[1]);
    printf("gears: ratio %.4f\n", ratio);
    // play of half a tooth of the driven wheel in seven radians
    CHECK_NEAR(ratio, 1.5, 1.5 * 0.5 * (2.0 * CR_PI / 15.0) / 7.0);
    show_close(&show);
}

// both fall alike; after the blow the rigid rod's centre comes up, that of the links does not
TEST(flexible_rod) {
    Show show;
    if (!show_open(&show, "flexible-rod", NULL, NULL)) return;
    double rigid = 0.0, flexible = 0.0;
    while (show_goes_on(&show) && show_step(&show)) {
        const double* q = show.state->q;
        double angle = q[5], y = q[4], end = y + 0.05 * sin(angle);
        for (int i = 1; i < 6; i++) {
            angle += q[5 + i];
            y += end + 0.05 * sin(angle);
            end += 0.1 * sin(angle);
        }
        if (show.state->time < 0.29) {
            CHECK_NEAR(q[1], y / 6.0, 1e-3);
        } else if (show.state->time > 0.35) {
            rigid = fmax(rigid, q[1]);
            flexible = fmax(flexible, y / 6.0);
        }
    }
    printf("rods: rigid up to %.3f m, flexible to %.3f m\n", rigid, flexible);
    CHECK(rigid > 0.2);
    CHECK(flexible < 0.05);
    show_close(&show);
}

// the heavy spot, below at first, ends above; energy only falls
TEST(tippe_disc) {
    Show show;
    if (!show_open(&show, "tippe-disc", NULL, NULL)) return;
    double energy = show_energy(&show), gained = 0.0, up = -1.0;
    while (show_goes_on(&show) && show_step(&show)) {
        const double* q = show.state->q + 3;
        crVec3 spot = cr_quat_rotate((crQuat){q[0], q[1], q[2], q[3]}, cr_vec3(0, -1, 0));
        up = spot.z;
        double now = show_energy(&show);
        gained = fmax(gained, now - energy);
        energy = now;
    }
    printf("disc: spot at %.3f, energy up by %.1e J at most in a step\n", up, gained);
    CHECK(up > 0.9);
    // flight of a tumbling body keeps energy to second order
    CHECK(gained < 1e-6 * energy);
    show_close(&show);
}

// the cue ball rolls without slip until it hits; the cushions and the cloth keep every ball on the table; nothing
// that happens there gives energy
TEST(pool_table) {
    const double r = 0.028575;
    static const char* const rules[] = {"poisson", "coupled", "sequence", "chain"};
    for (int k = 0; k < 4; k++) {
        Show show;
        if (!show_open(&show, "pool-table", "impact.rule", rules[k])) return;
        CHECK(show.scene.overlap_count == 0 && show.scene.model->nb == 17);
        double energy = show_energy(&show);
        double gained = 0.0;
        double out = 0.0;
        int impacts = 0;
        while (show_goes_on(&show) && show_step(&show)) {
            const crCertificate* c = cr_world_certificate(show.world);
            CHECK(c->outcome == CR_OUTCOME_SOLVED || c->outcome == CR_OUTCOME_NEAR);
            CHECK(c->impermissible == 0);
            const double* q = show.state->q;
            impacts += c->impacts;
            if (show.state->time < 1.14 / 6.0) CHECK_NEAR(q[0], -1.2 + 6.0 * show.state->time, 1e-12);
            for (int i = 0; i < 16; i++) {
                out = fmax(out, fabs(q[7 * i] + 0.635) - (1.27 - r));
                out = fmax(out, fabs(q[7 * i + 1]) - (0.635 - r));
                out = fmax(out, -q[7 * i + 2]);
                // top spin climbs a rough cushion: balls hop
                CHECK(q[7 * i + 2] < r);
            }
            double now = show_energy(&show);
            gained = fmax(gained, now - energy);
            energy = now;
        }
        printf("pool table, %s: %d impacts, out by %.1e m, energy up by %.1e J at most in a step\n", rules[k],
               impacts, out, gained);
        CHECK(impacts > 10 && out < 1e-8 && gained < 1e-9);
        show_close(&show);
    }
}

// a tenth of the thousand, read from the same lattice
TEST(many_balls) {
    Show show;
    if (!show_open(&show, "1000-ball-drop", "bodies[0].repeat[2].count", "1")) return;
    CHECK(show.scene.model->nb == 101);
    CHECK_TEXT(show.scene.model->bodies[1].name, "b1");
    CHECK_TEXT(show.scene.model->bodies[100].name, "b100");
    CHECK_NEAR(show.scene.q[7 * 11] - show.scene.q[7 * 1], 0.0, 1e-12);
    CHECK_NEAR(show.scene.q[7 * 11 + 1] - show.scene.q[7 * 1 + 1], 0.12, 1e-12);
    while (show.state->time < 0.3 && show_step(&show)) {
        CHECK(cr_world_certificate(show.world)->outcome == CR_OUTCOME_SOLVED);
    }
    for (int i = 0; i < 100; i++) {
        CHECK_NEAR(show.state->q[7 * i + 2], 0.05, 1e-4);
    }
    show_close(&show);
}
