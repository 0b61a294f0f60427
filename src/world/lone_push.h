// lone_push.h - the position pass of a lone body, as position.c has it for one pair of shapes.
#ifndef CAROM_WORLD_LONE_PUSH_H
#define CAROM_WORLD_LONE_PUSH_H

#include "model/joint.h"
#include "world/lone_step.h"

// as in position.c
#define CR_LONE_DEADBANDS 2.0
#define CR_LONE_REACH     2.0
#define CR_LONE_KEEP      8
#define CR_LONE_PUSHES    400

// of an earlier round, on the plane and in the axes of the body
typedef struct crLoneKept {
    crVec3 on_a, on_b;
} crLoneKept;

// Contacts at the present pose are those of the step, their gaps in E.x at first.
typedef struct crLonePass {
    crLonePose now;
    double reach, overlap, beyond;
    bool far, lists;
    int count;  // of contacts
    int kept_count, capacity, room, blocks;
    crLoneKept kept[CR_LONE_LISTED];
} crLonePass;

CR_FEW double cr__lone_larger(double a, double b) { return a > b ? a : b; }

CR_FEW void cr__lone_measure(const crLoneStep* x, crLonePass* pass, double gap, double error) {
    pass->overlap = cr__lone_larger(error - gap, pass->overlap);
    double beyond = -gap - (1.0 + x->lone->position_tol) * x->lone->delta;
    pass->beyond = cr__lone_larger(beyond, pass->beyond);
    pass->far = pass->far || CR_LONE_REACH * beyond > CR_LONE_DEADBANDS * x->lone->delta;
}

CR_FEW void cr__lone_near(crLoneStep* x, bool ball, crLonePass* pass, crVec3 point, crVec3 normal, double gap,
                          double error) {
    cr__lone_measure(x, pass, gap, error);
    if (!pass->lists || gap > cr__lone_larger(CR_LONE_DEADBANDS * x->lone->delta, pass->reach)) return;
    x->contact[ball ? 0 : pass->count] =
        (crPackedContact){.body_b = 1, .point = point, .normal = normal, .E = {gap, 0.0, 0.0}};
    pass->count++;
}

// contacts where they are now: to first order where that is enough, else found again
CR_FEW bool cr__lone_nears(crLoneStep* x, bool ball, crLonePass* pass, crVec3 moved, crVec3 turn,
                           double swing, bool still) {
    const crLone* lone = x->lone;
    double near = cr__lone_larger(CR_LONE_DEADBANDS * lone->delta, pass->reach), error = 0.0,
           least = INFINITY;
    pass->overlap = pass->beyond = 0.0;
    pass->far = false;
    pass->count = 0;
    CR_LONE_EACH(i, x->count, ball) {
        const crLonePoint* p = &x->spot[i].at;
        double gap = p->gap;
        if (!still) {
            crVec3 u = cr_add(moved, cr_cross(turn, cr_sub(p->point, x->start.body.origin)));
            double far = cr_norm(u) + swing, wrong = ball ? far * far / lone->size : 2.0 * far;
            gap = p->gap + cr_dot(u, p->normal);
            if (p->gap - far - wrong <= near) error = cr__lone_larger(wrong, error);
        }
        if (gap < least) least = gap;
    }
    if (x->count == 0) return true;
    if (error > lone->position_tol * lone->delta) {
        crContactPoint own, *points = ball ? &own : x->work.points;
        int count = cr__lone_collide(x, ball, &pass->now.pose, near, points);
        if (count < 0 || count > (ball ? 1 : CR_LONE_CONTACTS)) return false;
        CR_LONE_EACH(i, count, ball) {
            cr__lone_near(x, ball, pass, points[i].point, points[i].normal, points[i].gap, 0.0);
        }
        return true;
    }
    if (!pass->lists) {
        cr__lone_measure(x, pass, least, error);
        return true;
    }
    CR_LONE_EACH(i, x->count, ball) {
        const crLonePoint* p = &x->spot[i].at;
        crVec3 a = cr_vec3(0, 0, 0);
        crVec3 b = cr_add(moved, cr_cross(turn, cr_sub(p->point, x->start.body.origin)));
        double gap = p->gap + cr_dot(cr_sub(b, a), p->normal);
        cr__lone_near(x, ball, pass, cr_madd(p->point, 0.5, cr_add(a, b)), p->normal, gap, error);
    }
    return true;
}

// how deep contacts are at the present pose; where one is deep, also what pushing it out may turn into others
CR_FEW bool cr__lone_overlaps(crLoneStep* x, bool ball, crLonePass* pass) {
    const crLonePose *from = &x->start, *to = &pass->now;
    cr__lone_pose(&x->model->bodies[1], x->q, &pass->now);
    crVec3 x0 = from->body.origin, x1 = to->body.origin;
    crQuat q0 = from->pose.q, q1 = to->pose.q;
    bool still = cr__lone_equal((double[]){x1.x, x1.y, x1.z}, (double[]){x0.x, x0.y, x0.z}, 3) &&
                 cr__lone_equal((double[]){q1.w, q1.x, q1.y, q1.z}, (double[]){q0.w, q0.x, q0.y, q0.z}, 4);
    crVec3 moved = cr_vec3(0, 0, 0), turn = moved;
    double swing = 0.0;
    if (!still) {
        crQuat q = cr_quat_mul(to->pose.q, cr_quat_conj(from->pose.q));
        double sign = q.w < 0.0 ? -2.0 : 2.0;
        moved = cr_sub(to->body.origin, from->body.origin);
        turn = cr_vec3(sign * q.x, sign * q.y, sign * q.z);
        swing = cr_norm(turn) * x->lone->size;
    }
    for (;;) {
        // what went farther than its margin may have met anything
        if (!(cr_norm(moved) + swing + 0.5 * pass->reach <= x->margin)) return false;
        pass->lists = false;
        if (!cr__lone_nears(x, ball, pass, moved, turn, swing, still)) return false;
        if (!(pass->beyond > 0.0)) return true;
        if (!pass->far || !(pass->beyond > pass->reach)) {
            pass->lists = true;
            return cr__lone_nears(x, ball, pass, moved, turn, swing, still);
        }
        pass->reach = CR_LONE_REACH * pass->beyond;
    }
}

// room for one more round of contacts that are remembered
CR_FEW void cr__lone_grow(crLonePass* pass) {
    bool enough = pass->blocks * pass->room - pass->kept_count >= pass->room;
    if (enough || pass->capacity == 0 || pass->blocks == CR_LONE_KEEP) return;
    pass->blocks++;
}

// contacts of earlier rounds where they are now, behind those found; then these are remembered; false: too many, or none deep
CR_FEW bool cr__lone_remember(crLoneStep* x, bool ball, crLonePass* pass) {
    double slack = 1.0 + x->lone->position_tol;
    bool deep = false;
    int found = pass->count, most = pass->blocks * pass->room;
    if (pass->capacity < most) most = pass->capacity;
    // one plane has one normal
    crVec3 n = x->contact[0].normal;
    if (found + pass->kept_count > CR_LONE_LISTED) return false;
    for (int i = 0; i < pass->kept_count && !ball; i++) {
        const crLoneKept* k = &pass->kept[i];
        crVec3 a = cr_pose_point(cr_pose_identity(), k->on_a), b = cr_pose_point(pass->now.pose, k->on_b);
        x->contact[pass->count++] = (crPackedContact){.body_b = 1,
                                                      .point = cr_scale(0.5, cr_add(a, b)),
                                                      .normal = n,
                                                      .E = {cr_dot(n, cr_sub(b, a)), 0.0, 0.0}};
    }
    CR_LONE_EACH(i, found, ball) {
        crVec3 point = x->contact[i].point;
        double gap = x->contact[i].E.x;
        deep = deep || -gap > slack * x->lone->delta;
        if (ball || pass->kept_count >= most) continue;
        if (pass->kept_count == CR_LONE_LISTED) return false;
        crLoneKept* kept = &pass->kept[pass->kept_count++];
        kept->on_a = cr_pose_point_inverse(cr_pose_identity(), cr_madd(point, -0.5 * gap, n));
        kept->on_b = cr_pose_point_inverse(pass->now.pose, cr_madd(point, 0.5 * gap, n));
    }
    return deep;
}

CR_FEW bool cr__lone_push_out(crLoneStep* x, bool ball, crLonePass* pass) {
    const crBody* body = &x->model->bodies[1];
    double dq[6] = {0.0};
    crFewBody* at = &pass->now.body;
    if (cr__single_factor(body, pass->now.pose.q, &at->root, &at->inverse) != CR_OK) return false;
    int count = ball ? 1 : pass->count;
    for (int i = 0; i < count; i++) {
        crPackedContact* c = &x->contact[i];
        c->E = cr_scale(c->E.x + 0.5 * x->lone->delta, c->normal);
    }
    double tol = 0.1 * x->lone->position_tol * x->lone->delta;
    if (!cr__few_solve(at, ball, count, x->contact, dq, tol, CR_LONE_PUSHES, x->work.slot)) return false;
    cr__few_velocity(body, at, ball, count, x->contact, dq);
    cr__joint_fly(body, 1.0, dq, cr__joint_turn(1.0, dq + 3, cr__load_quat(x->q + 3)), x->q);
    return true;
}

// overlap deeper than the deadband is removed from q; false: left to the stages
CR_FEW bool cr__lone_push(crLoneStep* x, bool ball) {
    crLonePass pass;
    pass.reach = 0.0;
    pass.kept_count = pass.capacity = pass.room = pass.blocks = 0;
    for (int round = 0;; round++) {
        if (!cr__lone_overlaps(x, ball, &pass)) return false;
        x->overlap = pass.overlap;
        if (!(pass.beyond > 0.0)) return true;
        if (pass.count == 0) return false;
        if (round == 0) {
            int count = ball ? 0 : pass.count;
            pass.capacity = CR_LONE_KEEP * count;
            pass.room = count + count / 4 + 1;
            cr__lone_grow(&pass);
        }
        if (!cr__lone_remember(x, ball, &pass) || !cr__lone_push_out(x, ball, &pass)) return false;
        cr__lone_grow(&pass);
        if (round == (ball ? 2 : CR_LONE_KEEP)) return false;
    }
}

#endif
