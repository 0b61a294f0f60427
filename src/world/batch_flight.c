// batch_flight.c - steps of a world whose one body is in the air, far from everything: what the stages come to for it.
//
// v+ = v + h M^-1 k, q by v+ - h a/2 with a the acceleration by gravity, and the certificate of a step without contacts:
// the same operations in the same order as smooth.c, integrate.c and audit_step.c have for such a body, on a dozen numbers
// in place of the arrays of a world. Whatever is not plain (numbers that are not finite, forces kept from a contact, a body that
// comes near something within twice its margin, that moves far or that escaped, a step whose overlap is measured) is
// left to the stages.
#include <string.h>

#include "model/single.h"
#include "step/audit_single.h"
#include "world/batch.h"

#define EPS   CR_AUDIT_SINGLE_EPS
#define PUSH  0.02  // as in margins.c
#define MOST  1e40  // as in finite.c
#define UNIT  1e-6  // as in state.c
#define CLEAR 2.0   // margins that must be free: twice what stages look at

void cr__flight_prepare(const crWorld* world, crFlight* flight) {
    const crStep* step = &world->step;
    const crModel* model = step->model;
    *flight = (crFlight){.can = false};
    bool plain = step->settings.method == CR_METHOD_CONE && step->settings.sleep_time <= 0.0 &&
                 step->settings.quality != CR_QUALITY_CERTIFIED && step->calls.force == NULL &&
                 step->calls.posed == NULL && model->load_count == 0;
    bool one = model->nb == 2 && model->bodies[1].single && model->bodies[1].last >= 0 &&
               model->loop_count == 0 && model->nu == 0 && step->plan->moderate &&
               step->plan->given_count == 0;
    if (!plain || !one) return;
    for (int i = 0; i < model->shape_count; i++) {
        const crShape* shape = &model->shapes[i].shape;
        if (model->shapes[i].body != CR_WORLD) continue;
        if (flight->count == CR_FLIGHT_SHAPES) return;
        bool plane = shape->kind == CR_SHAPE_HALFSPACE;
        crVec3 n = plane ? cr_quat_rotate(shape->pose.q, shape->size) : cr_vec3(0, 0, 0);
        flight->still[flight->count].n = n;
        flight->still[flight->count].offset = shape->offset + cr_dot(n, shape->pose.p);
        flight->still[flight->count++].box = cr_shape_bounds(shape, cr_pose_identity());
    }
    flight->can = true;
}

static bool finite(const double* x, int count) {
    bool all = true;
    for (int i = 0; i < count; i++) {
        all = all & (fabs(x[i]) <= MOST);
    }
    return all;
}

// how far a point is outside an interval
static double outside(double x, double lo, double hi) { return fmax(0.0, fmax(lo - x, x - hi)); }

// true if nothing that stands is within `reach` of a point
static bool is_clear(const crFlight* flight, crVec3 x, double reach) {
    bool clear = true;
    for (int i = 0; i < flight->count && clear; i++) {
        crVec3 n = flight->still[i].n;
        const crBounds* b = &flight->still[i].box;
        crVec3 off = cr_vec3(outside(x.x, b->lo.x, b->hi.x), outside(x.y, b->lo.y, b->hi.y),
                             outside(x.z, b->lo.z, b->hi.z));
        bool plane = cr_dot(n, n) > 0.0;
        clear = (plane ? cr_dot(n, x) - flight->still[i].offset : cr_norm(off)) > reach;
    }
    return clear;
}

static double speed_of(const double* v, double size) {
    return cr_norm(cr__load_vec(v)) + cr_norm(cr__load_vec(v + 3)) * size;
}

bool cr__flight_measured(const crStep* step, double end) {
    const crStepSettings* s = &step->settings;
    if (s->method == CR_METHOD_CONE && s->quality == CR_QUALITY_CERTIFIED) return true;
    if (s->measure <= 0) return false;
    double period = s->measure * s->dt, from = step->state.time / period, to = end / period;
    return floor(to + 1e-9) > floor(from + 1e-9);
}

// v+ of a flight from q and v; false where a number is not plain
static bool free_velocity(const crStep* step, double h, const double* q, const double* v, double* after) {
    const crBody* body = &step->model->bodies[1];
    crMat3 R;
    crSym3 inverse;
    double k[6];
    if (cr__single_factor(body, cr_quat_normalize(cr__load_quat(q + 3)), &R, &inverse) != CR_OK) return false;
    cr__single_forces(body, step->model->gravity, v, k);
    for (int j = 0; j < 6; j++) {
        k[j] += step->state.force[j];
    }
    if (!finite(k, 6)) return false;
    for (int j = 0; j < 6; j++) {
        k[j] = h * k[j];
    }
    cr__single_solve(body, &inverse, k);
    for (int j = 0; j < 6; j++) {
        after[j] = v[j] + k[j];
    }
    return true;
}

// q over h by the velocities of the flight; omega goes on with its angular momentum
static void advance(const crStep* step, double h, double* q, double* v) {
    const double* fall = step->plan->fall;
    double kept[6];
    memcpy(kept, v, sizeof kept);
    for (int j = 0; j < 6; j++) {
        v[j] -= 0.5 * h * fall[j];
    }
    crState state = {.q = q, .v = v};
    int body = 1;
    cr__part_integrate(step->model, (crPart){&body, 1}, h, &state);
    for (int j = 0; j < 6; j++) {
        if (fall[j] != 0.0) v[j] = kept[j];
    }
}

static crCertificate certify(const crStep* step, double h, const double* q0, const double* v0,
                             const double* q1, const double* v1) {
    double gain, floor, work = 0.0;
    cr__audit_single_energy(&step->model->bodies[1], step->model->gravity, q0, v0, q1, v1, &gain, &floor);
    for (int j = 0; j < 6; j++) {
        double force = step->state.force[j];
        if (force != 0.0) work += force * (0.5 * h * (v0[j] + v1[j]));
    }
    crCertificate c = {.outcome = CR_OUTCOME_SOLVED,
                       .solves = 1,
                       .overlap = (double)NAN,
                       .energy_change = 0.0 + gain,
                       .energy_size = floor / (16.0 * EPS),
                       .work = 0.0 + work};
    gain -= work + 0.0;
    floor += 16.0 * EPS * fabs(work);
    if (gain > floor) c.energy_gain = gain;
    return c;
}

bool cr__flight_step(const crFlight* flight, crWorld* world, double h) {
    crStep* step = &world->step;
    crState* s = &step->state;
    const crModel* model = step->model;
    const crBody* body = &model->bodies[1];
    double q0[7], v0[6], q[7], v[6], size = step->plan->size[1], end = s->time + h;
    if (!flight->can || step->warm.count > 0 || cr__flight_measured(step, end)) return false;
    memcpy(q0, s->q, sizeof q0);
    memcpy(v0, s->v, sizeof v0);
    if (!(finite(q0, 7) && finite(v0, 6) && finite(s->force, 6) && finite(s->motor_speed, 6) &&
          finite(&end, 1)))
        return false;
    // as the check of a state leaves it
    crQuat x = cr__load_quat(q0 + 3);
    if (!(fabs(sqrt(x.w * x.w + x.x * x.x + x.y * x.y + x.z * x.z) - 1.0) <= UNIT)) return false;
    cr__store_quat(cr_quat_normalize(x), q0 + 3);
    memcpy(q, q0, sizeof q);
    if (!free_velocity(step, h, q0, v0, v)) return false;
    double far = h * fmax(speed_of(v0, size), speed_of(v, size));
    double margin = far + (step->settings.deadband + PUSH) * size + step->settings.cluster;
    crVec3 com = cr_pose_point((crPose){cr__load_vec(q0), cr__load_quat(q0 + 3)}, body->com);
    if (!(far <= step->settings.bound) || !is_clear(flight, com, size + CLEAR * margin)) return false;
    advance(step, h, q, v);
    bool plain = finite(q, 7) && finite(v, 6) && cr_norm(cr__load_vec(q)) <= step->settings.bound &&
                 !cr__audit_single_fast(body, size, CR_AUDIT_FAST * step->plan->thin[1], q0, q);
    if (!plain) return false;
    step->certificate = certify(step, h, q0, v0, q, v);
    memcpy(s->q, q, sizeof q);
    memcpy(s->v, v, sizeof v);
    s->time = end;
    step->event_count = 0;
    return true;
}
