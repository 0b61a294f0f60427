// change.c - changes of a state along the velocities of a model.
//
// q' = R(q) v joint by joint. A change d moves q by t R d, with quaternions made unit again. The change between two
// positions is the least-squares answer of R d = q1 - q0 in the middle of them, joint by joint (R has at most 7 rows and
// 6 columns of full rank). Error: third order of the change.
#include "wrt/change.h"
#include "carom/dynamics.h"

#include <string.h>

#include "linalg/dense.h"

static bool turns(const crBody* body) { return body->joint == CR_JOINT_FREE || body->joint == CR_JOINT_BALL; }

// the four numbers of a joint's quaternion are the last of its coordinates
static void make_unit(const crModel* model, double* q) {
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!turns(body)) continue;
        double* x = q + body->q + body->nq - 4;
        double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        for (int i = 0; i < 4; i++) {
            x[i] /= length;
        }
    }
}

void cr__change_move(const crModel* model, double t, const double* d, double* q, double* rate) {
    cr_state_rate(model, q, d, rate);
    for (int i = 0; i < model->nq; i++) {
        q[i] += t * rate[i];
    }
    make_unit(model, q);
}

size_t cr__change_work(const crModel* model) { return 8 * (size_t)model->nq + (size_t)model->nv; }

void cr__change_between(const crModel* model, const double* q0, const double* q1, double* d, double* work) {
    size_t nq = (size_t)model->nq;
    double *middle = work, *columns = work + nq, *v = work + 7 * nq, *dq = work + 7 * nq + (size_t)model->nv;
    for (size_t i = 0; i < nq; i++) {
        middle[i] = 0.5 * (q0[i] + q1[i]);
        dq[i] = q1[i] - q0[i];
    }
    make_unit(model, middle);
    for (int k = 0; k < 6; k++) {
        memset(v, 0, (size_t)model->nv * sizeof *v);
        for (int b = 1; b < model->nb; b++) {
            const crBody* body = &model->bodies[b];
            if (k < body->nv) v[body->v + k] = 1.0;
        }
        cr_state_rate(model, middle, v, columns + (size_t)k * nq);
    }
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        double A[36] = {0}, x[6] = {0};
        int n = body->nv;
        for (int i = 0; i < n; i++) {
            const double* row = columns + (size_t)i * nq + body->q;
            for (int c = 0; c < body->nq; c++) {
                x[i] += row[c] * dq[body->q + c];
            }
            for (int j = 0; j < n; j++) {
                const double* other = columns + (size_t)j * nq + body->q;
                for (int c = 0; c < body->nq; c++) {
                    A[i * n + j] += row[c] * other[c];
                }
            }
        }
        if (n > 0 && cr__cholesky(A, n)) cr__cholesky_solve(A, n, x);
        for (int i = 0; i < n; i++) {
            d[body->v + i] = x[i];
        }
    }
}

void cr__change_copy(const crModel* model, const crState* from, crState* to) {
    size_t nq = (size_t)model->nq * sizeof(double), nv = (size_t)model->nv * sizeof(double);
    to->time = from->time;
    if (to == from) return;
    memcpy(to->q, from->q, nq);
    memcpy(to->v, from->v, nv);
    memcpy(to->force, from->force, nv);
    memcpy(to->motor_speed, from->motor_speed, nv);
    if (model->nu > 0) memcpy(to->ctrl, from->ctrl, (size_t)model->nu * sizeof(double));
    if (model->na > 0) memcpy(to->act, from->act, (size_t)model->na * sizeof(double));
}
