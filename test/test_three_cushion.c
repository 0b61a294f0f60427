// test_three_cushion.c - two three-cushion shots that pooltool recorded, with every event and state.
//
// Ours: sliding to rolling on the table by a world; impacts at cushions by a law, contact at the cushion's
// nose, h above the table, so that the normal leans by asin(h/R - 1). Theirs, and written out here: balls stay on
// the table (vertical speeds are dropped after an impact), slow down in rolling and spinning at constant
// rates, and meet by Mathavan's process of 1000 increments, in which the table rubs the ball that friction
// presses down. With that process the events come in the recorded order; with a law of ours for the two balls
// alone they do so until a ball-ball impact has been magnified too far.
#include "data.h"
#include "resolve/kinds.h"
#include "step_scene.h"

#define BALLS       3
#define MOST_EVENTS 64
#define MASS        0.21
#define RADIUS      0.03075
#define INERTIA     (0.4 * MASS * RADIUS * RADIUS)
#define GRAVITY     9.81
#define SLIDING     0.15
#define ROLLING     0.005
#define SPIN_RATE   (2.5 * (4.0 / 9.0) * GRAVITY)  // rad/s^2
#define WIDTH       1.42
#define LENGTH      2.84
#define NOSE        0.037

static const char* const names[BALLS] = {"white", "yellow", "red"};

typedef enum Motion { AT_REST = 0, SLIDES = 2, ROLLS = 3 } Motion;

typedef struct Ball {
    crVec3 r, v, w;
    Motion motion;
} Ball;

typedef enum Kind { BALL_BALL, BALL_CUSHION, SLIDING_ROLLING, ROLLING_STATIONARY, OTHER } Kind;

typedef struct Event {
    double time;
    Kind kind;
    int ball;
    int other;  // ball, or number of the cushion
} Event;

typedef struct Shot {
    int count;
    Event events[MOST_EVENTS];
    Ball states[BALLS][MOST_EVENTS];  // after each event
} Shot;

static int ball_index(const char* name) {
    for (int i = 0; i < BALLS; i++) {
        if (strcmp(name, names[i]) == 0) return i;
    }
    return -1;
}

static void read_event(const char* line, Shot* shot) {
    static const char* const kinds[] = {"ball_ball", "ball_linear_cushion", "sliding_rolling",
                                        "rolling_stationary"};
    int index = 0;
    double time = 0.0;
    char type[40] = "", first[40] = "", second[40] = "";
    int found = sscanf(line, "event %d t %lf type %39s agents %39s %39s", &index, &time, type, first, second);
    if (!CHECK(found >= 3 && index >= 0 && index < MOST_EVENTS)) return;
    Event event = {.time = time, .kind = OTHER, .ball = -1, .other = -1};
    for (int k = 0; k < 4; k++) {
        if (strcmp(type, kinds[k]) == 0) event.kind = (Kind)k;
    }
    if (strncmp(first, "ball:", 5) == 0) event.ball = ball_index(first + 5);
    if (event.kind == BALL_BALL) event.other = ball_index(second + 5);
    if (event.kind == BALL_CUSHION) sscanf(second, "linear_cushion_segment:%d", &event.other);
    shot->events[index] = event;
    shot->count = index + 1;
}

static void read_state(const char* line, Shot* shot) {
    char name[16] = "";
    int index = 0, motion = 0;
    double t = 0.0;
    Ball b = {0};
    int found = sscanf(line, "hist %15s %d t %lf s %d rvw %lf %lf %lf %lf %lf %lf %lf %lf %lf", name, &index,
                       &t, &motion, &b.r.x, &b.r.y, &b.r.z, &b.v.x, &b.v.y, &b.v.z, &b.w.x, &b.w.y, &b.w.z);
    int ball = ball_index(name);
    if (!CHECK(found == 13 && ball >= 0 && index < MOST_EVENTS)) return;
    b.motion = (Motion)motion;
    shot->states[ball][index] = b;
}

static bool read_shot(const char* file_name, Shot* shot) {
    char path[512], line[1000];
    if (test_data(file_name, path, sizeof path) == NULL) {
        test_skip("no data");
        return false;
    }
    FILE* file = fopen(path, "r");
    *shot = (Shot){0};
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "event ", 6) == 0) read_event(line, shot);
        if (strncmp(line, "hist ", 5) == 0) read_state(line, shot);
    }
    fclose(file);
    return CHECK(shot->count > 20);
}

static const char* const shots[] = {"pooltool-carom-A/01_test_shot_no_point.txt",
                                    "pooltool-carom-A/02_test_shot_ispoint.txt"};

// motion on the table

static crVec3 slip_of(const Ball* b) {
    return cr_vec3(b->v.x - RADIUS * b->w.y, b->v.y + RADIUS * b->w.x, 0.0);
}

static Ball moved(Ball b, double t) {
    if (b.motion == AT_REST) return b;
    crVec3 along = b.motion == SLIDES ? slip_of(&b) : b.v;
    double mu = b.motion == SLIDES ? SLIDING : ROLLING;
    crVec3 a = cr_scale(-mu * GRAVITY / cr_norm(along), along);
    b.r = cr_madd(cr_madd(b.r, t, b.v), 0.5 * t * t, a);
    b.v = cr_madd(b.v, t, a);
    if (b.motion == ROLLS) {
        b.w.x = -b.v.y / RADIUS;
        b.w.y = b.v.x / RADIUS;
    } else {
        b.w.x += MASS * RADIUS * a.y / INERTIA * t;
        b.w.y -= MASS * RADIUS * a.x / INERTIA * t;
    }
    b.w.z = copysign(fmax(0.0, fabs(b.w.z) - SPIN_RATE * t), b.w.z);
    return b;
}

// until it rolls, or rests
static double lasts(const Ball* b) {
    if (b->motion == SLIDES) return 2.0 * cr_norm(slip_of(b)) / (7.0 * SLIDING * GRAVITY);
    return b->motion == ROLLS ? cr_norm(b->v) / (ROLLING * GRAVITY) : INFINITY;
}

// a world with the ball of the record on a table: the time from there until it rolls, found from the forces
// of the step in which the slip ends, and the velocity then
static double world_rolls_after(const Ball* b, crMethod method, crVec3* velocity) {
    crStepSettings settings = scene_settings(method);
    Scene scene = {.model = cr_model_create(NULL)};
    int material = scene_material(scene.model, SLIDING, 0.0);
    scene_ground(scene.model, cr_vec3(0, 0, 1), material);
    scene_free(scene.model, cr_shape_sphere(RADIUS), cr_vec3(0, 0, RADIUS), MASS, material);
    scene_open(&scene, &settings);
    double* v = scene.step.state.v;
    memcpy(v, (double[]){b->v.x, b->v.y, 0.0, b->w.x, b->w.y, b->w.z}, 6 * sizeof(double));
    double h = 1e-3, time = -1.0;
    for (int i = 0; i < 5000 && time < 0.0 && scene_step(&scene, h); i++) {
        if (!CHECK(scene.step.warm.count == 1)) break;
        crVec3 f = scene.step.warm.force[0].force;
        double friction = sqrt(f.x * f.x + f.y * f.y), most = SLIDING * f.z;
        if (friction < most * (1.0 - 1e-9)) time = h * (i + friction / most);
    }
    *velocity = cr_vec3(v[0], v[1], 0.0);
    scene_close(&scene);
    return time;
}

TEST(slide_to_roll_times) {
    double worst = 0.0, speed = 0.0;
    int count = 0;
    for (int s = 0; s < 2; s++) {
        Shot shot;
        if (!read_shot(shots[s], &shot)) return;
        for (int i = 1; i < shot.count; i++) {
            const Event* e = &shot.events[i];
            if (e->kind != SLIDING_ROLLING) continue;
            // the ball's event before it
            int from = i - 1;
            while (from > 1 && shot.events[from].ball != e->ball &&
                   !(shot.events[from].kind == BALL_BALL && shot.events[from].other == e->ball)) {
                from--;
            }
            const Ball* b = &shot.states[e->ball][from];
            const Ball* after = &shot.states[e->ball][i];
            double recorded = e->time - shot.events[from].time;
            crVec3 v;
            double time = world_rolls_after(b, count % 2 ? CR_METHOD_EVENT : CR_METHOD_CONE, &v);
            worst = fmax(worst, fabs(time - recorded));
            speed = fmax(speed, cr_norm(cr_sub(v, after->v)));
            count++;
        }
    }
    printf("%d times from sliding to rolling: to %.1e s, velocities to %.1e m/s\n", count, worst, speed);
    CHECK(count == 24);
    CHECK(worst < 1e-9);
    CHECK(speed < 1e-9);
}

// impacts

static crRigid rigid_of(const Ball* b) {
    crRigid body = cr_rigid_sphere(MASS, RADIUS);
    body.position = b->r;
    body.velocity = b->v;
    body.omega = b->w;
    return body;
}

static void take(const crRigid* body, Ball* b) {
    b->v = cr_vec3(body->velocity.x, body->velocity.y, 0.0);
    b->w = body->omega;
    double slip = cr_norm(slip_of(b));
    b->motion = slip > 1e-9 ? SLIDES : cr_norm(b->v) > 1e-9 ? ROLLS : AT_REST;
}

static crVec3 cushion_normal(int number) {
    return number == 3    ? cr_vec3(1, 0, 0)
           : number == 12 ? cr_vec3(-1, 0, 0)
           : number == 18 ? cr_vec3(0, 1, 0)
                          : cr_vec3(0, -1, 0);
}

// the record's cushions hold whatever friction needs up to the normal impulse
static void meet_cushion(const crLaw* law, int number, Ball* b) {
    double up = NOSE / RADIUS - 1.0;
    crCollision c = cr_collision();
    c.n = cr_scale(sqrt(1.0 - up * up), cushion_normal(number));
    c.n.z = -up;
    c.mu = 1.0;
    c.e = 0.9;
    crRigid ball = rigid_of(b), cushion = cr_rigid();
    cushion.fixed = true;
    crVec3 point = cr_madd(b->r, -RADIUS, c.n);
    crError error = {0};
    crHit hit = {0};
    CHECK_STATUS(cr_collision_bodies(&c, &cushion, &ball, point, &error), CR_OK);
    CHECK_STATUS(cr_law_apply(law, &c, &hit, &error), CR_OK);
    crRigid after = cr_rigid_after(&ball, point, hit.P);
    take(&after, b);
}

static void meet_by_law(const crLaw* law, Ball* a, Ball* b) {
    crCollision c = cr_collision();
    crVec3 d = cr_sub(b->r, a->r);
    c.n = cr_scale(1.0 / cr_norm(d), d);
    c.mu = 0.05;
    c.e = 0.95;
    crRigid x = rigid_of(a), y = rigid_of(b);
    crVec3 point = cr_madd(a->r, 0.5, d);
    crError error = {0};
    crHit hit = {0};
    CHECK_STATUS(cr_collision_bodies(&c, &x, &y, point, &error), CR_OK);
    CHECK_STATUS(cr_law_apply(law, &c, &hit, &error), CR_OK);
    crRigid xa = cr_rigid_after(&x, point, cr_neg(hit.P)), ya = cr_rigid_after(&y, point, hit.P);
    take(&xa, a);
    take(&ya, b);
}

// impulse of the table on a ball that friction presses on it by `press`
static crVec3 table_rub(const crRigid* ball, double press) {
    crVec3 u =
        cr_vec3(ball->velocity.x - RADIUS * ball->omega.y, ball->velocity.y + RADIUS * ball->omega.x, 0.0);
    double s = cr_norm(u);
    return s > 1e-16 && press > 0.0 ? cr_scale(-SLIDING * press / s, u) : cr_vec3(0, 0, 0);
}

static crRigid pushed(crRigid ball, crVec3 arm, crVec3 P, crVec3 rub) {
    crVec3 foot = {0.0, 0.0, -RADIUS};
    crVec3 moment = cr_add(cr_cross(arm, P), cr_cross(foot, rub));
    ball.velocity = cr_madd(ball.velocity, 1.0 / MASS, cr_add(P, rub));
    ball.velocity.z = 0.0;
    ball.omega = cr_madd(ball.omega, 1.0 / INERTIA, moment);
    return ball;
}

// Mathavan's process: increments of normal impulse, friction against the slip of the balls and of the one
// that is pressed down against the table, until the work of restitution is e^2 that of compression
static void meet_by_process(const crLaw* law, Ball* a, Ball* b) {
    (void)law;
    crVec3 d = cr_sub(b->r, a->r), n = cr_scale(1.0 / cr_norm(d), d), arm = cr_scale(RADIUS, n);
    crRigid x = rigid_of(a), y = rigid_of(b);
    double speed = cr_dot(cr_sub(y.velocity, x.velocity), n), work = 0.0, needed = INFINITY;
    double dP = 0.5 * 1.95 * MASS * fabs(speed) / 1000.0;
    for (int i = 0; i < 100000 && (speed < 0.0 || work < needed); i++) {
        crVec3 u = cr_sub(cr_add(x.velocity, cr_cross(x.omega, arm)),
                          cr_add(y.velocity, cr_cross(y.omega, cr_neg(arm))));
        u = cr_madd(u, -cr_dot(u, n), n);
        double slip = cr_norm(u);
        crVec3 friction = slip > 1e-16 ? cr_scale(-0.05 * dP / slip, u) : cr_vec3(0, 0, 0);
        crVec3 on_a = cr_madd(friction, -dP, n);
        crVec3 rub_a = table_rub(&x, -friction.z), rub_b = table_rub(&y, friction.z);
        x = pushed(x, arm, on_a, rub_a);
        y = pushed(y, cr_neg(arm), cr_neg(on_a), rub_b);
        double now = cr_dot(cr_sub(y.velocity, x.velocity), n);
        work += 0.5 * dP * fabs(speed + now);
        speed = now;
        if (isinf(needed) && now > 0.0) needed = (1.0 + 0.95 * 0.95) * work;
    }
    take(&x, a);
    take(&y, b);
}

// recorded states just before an impact, by the closed forms of motion on the table
static Ball before(const Shot* shot, int ball, int event) {
    return moved(shot->states[ball][event - 1], shot->events[event].time - shot->events[event - 1].time);
}

static double apart(const Ball* a, const Ball* b) {
    return fmax(cr_norm(cr_sub(a->v, b->v)), RADIUS * cr_norm(cr_sub(a->w, b->w)));
}

TEST(cushions_are_a_law_at_their_nose) {
    double worst[2] = {0.0, 0.0}, balls = 0.0;
    int count = 0, meetings = 0;
    crLaw laws[2] = {cr__law(&cr__law_bilinear, NULL), cr__law(&cr__law_chatterjee_ruina, NULL)};
    for (int s = 0; s < 2; s++) {
        Shot shot;
        if (!read_shot(shots[s], &shot)) return;
        for (int i = 2; i < shot.count; i++) {
            const Event* e = &shot.events[i];
            for (int k = 0; k < 2 && e->kind == BALL_CUSHION; k++) {
                Ball b = before(&shot, e->ball, i);
                meet_cushion(&laws[k], e->other, &b);
                worst[k] = fmax(worst[k], apart(&b, &shot.states[e->ball][i]));
                count++;
            }
            if (e->kind != BALL_BALL) continue;
            Ball a = before(&shot, e->ball, i), b = before(&shot, e->other, i);
            double size = cr_norm(cr_sub(a.v, b.v));
            meet_by_law(&laws[1], &a, &b);
            balls = fmax(balls, fmax(cr_norm(cr_sub(a.v, shot.states[e->ball][i].v)),
                                     cr_norm(cr_sub(b.v, shot.states[e->other][i].v))) /
                                    size);
            meetings++;
        }
    }
    printf("%d cushions: to %.1e m/s by bilinear, %.1e by Chatterjee and Ruina; %d balls: to %.1e of the "
           "speed\n",
           count / 2, worst[0], worst[1], meetings, balls);
    CHECK(count == 2 * 16);
    CHECK(worst[0] < 1e-9 && worst[1] < 1e-9);
    // their table rubs during the impact, our law knows two balls
    CHECK(meetings == 4);
    CHECK(balls < 5e-3);
}

// the whole shot

// the impact that states have run into, closing; OTHER where none
static Event struck(const Ball* b) {
    for (int i = 0; i < BALLS; i++) {
        const double gaps[4] = {b[i].r.x - RADIUS, WIDTH - RADIUS - b[i].r.x, b[i].r.y - RADIUS,
                                LENGTH - RADIUS - b[i].r.y};
        const int numbers[4] = {3, 12, 18, 9};
        for (int k = 0; k < 4; k++) {
            if (gaps[k] < 0.0 && cr_dot(b[i].v, cushion_normal(numbers[k])) < 0.0)
                return (Event){.kind = BALL_CUSHION, .ball = i, .other = numbers[k]};
        }
        for (int j = i + 1; j < BALLS; j++) {
            crVec3 d = cr_sub(b[j].r, b[i].r);
            if (cr_norm(d) < 2.0 * RADIUS && cr_dot(d, cr_sub(b[j].v, b[i].v)) < 0.0)
                return (Event){.kind = BALL_BALL, .ball = i, .other = j};
        }
    }
    return (Event){.kind = OTHER};
}

static Event struck_after(const Ball* balls, double t, Ball* then) {
    for (int i = 0; i < BALLS; i++) {
        then[i] = moved(balls[i], t);
    }
    return struck(then);
}

// time of the next impact within `left` by steps of 1 ms and halving
static Event next_impact(const Ball* balls, double left, double* time) {
    Ball then[BALLS];
    for (double lo = 0.0; lo < left; lo += 1e-3) {
        double at = lo, hi = fmin(left, lo + 1e-3);
        if (struck_after(balls, hi, then).kind == OTHER) continue;
        for (int i = 0; i < 60; i++) {
            double mid = 0.5 * (at + hi);
            bool hit = struck_after(balls, mid, then).kind != OTHER;
            *(hit ? &hi : &at) = mid;
        }
        *time = at;
        return struck_after(balls, hi, then);
    }
    *time = left;
    return (Event){.kind = OTHER};
}

typedef void (*Meeting)(const crLaw* law, Ball* a, Ball* b);

// the shot from the recorded stroke: events in order
static int play(const Shot* shot, Meeting meet, Event* events) {
    Ball balls[BALLS];
    crLaw law = cr__law(&cr__law_chatterjee_ruina, NULL);
    double time = 0.0;
    int count = 0;
    for (int i = 0; i < BALLS; i++) {
        balls[i] = shot->states[i][1];
    }
    while (count < MOST_EVENTS) {
        double left = INFINITY, t = 0.0;
        int first = 0;
        for (int i = 0; i < BALLS; i++) {
            double own = lasts(&balls[i]);
            if (own < left) first = i;
            left = fmin(left, own);
        }
        if (isinf(left)) break;
        Event e = next_impact(balls, left, &t);
        for (int i = 0; i < BALLS; i++) {
            balls[i] = moved(balls[i], t);
        }
        time += t;
        Ball* b = &balls[e.kind == OTHER ? first : e.ball];
        if (e.kind == BALL_CUSHION) {
            meet_cushion(&law, e.other, b);
        } else if (e.kind == BALL_BALL) {
            meet(&law, b, &balls[e.other]);
        } else {
            e = (Event){.kind = b->motion == SLIDES ? SLIDING_ROLLING : ROLLING_STATIONARY,
                        .ball = first,
                        .other = -1};
            b->motion = b->motion == SLIDES ? ROLLS : AT_REST;
            if (b->motion == AT_REST) b->v = cr_vec3(0, 0, 0);
        }
        e.time = time;
        events[count++] = e;
    }
    return count;
}

// how many events from the beginning are the recorded ones; the worst difference of their times
static int agreeing(const Shot* shot, const Event* events, int count, double* worst) {
    int agreed = 0;
    *worst = 0.0;
    for (int i = 2; i < shot->count - 1; i++, agreed++) {
        const Event* e = &shot->events[i];
        if (agreed >= count) break;
        const Event* own = &events[agreed];
        bool same = own->kind == e->kind && own->ball == e->ball && own->other == e->other;
        bool turned =
            e->kind == BALL_BALL && own->kind == BALL_BALL && own->ball == e->other && own->other == e->ball;
        if (!same && !turned) break;
        *worst = fmax(*worst, fabs(own->time - e->time));
    }
    return agreed;
}

TEST(events_come_in_the_recorded_order) {
    const int by_law[2] = {17, 24};
    for (int s = 0; s < 2; s++) {
        Shot shot;
        if (!read_shot(shots[s], &shot)) return;
        Event events[MOST_EVENTS];
        double worst, own_worst;
        int count = play(&shot, meet_by_process, events), recorded = shot.count - 3;
        int agreed = agreeing(&shot, events, count, &worst);
        int own_count = play(&shot, meet_by_law, events);
        int own = agreeing(&shot, events, own_count, &own_worst);
        printf("shot %d: %d events, %d in order, times to %.1e s; with the law for two balls %d, to %.1e s\n",
               s + 1, recorded, agreed, worst, own, own_worst);
        CHECK(count == recorded);
        CHECK(agreed == recorded);
        CHECK(worst < 0.05);
        CHECK(own >= by_law[s]);
    }
}
