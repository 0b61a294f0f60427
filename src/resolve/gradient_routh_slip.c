// gradient_routh_slip.c - Routh's curved slip in numbers that carry their derivatives.
//
// The equations of routh_slip.c, V_t' = r w - mu A V_t and so on, as Taylor series of duals: their derivative part is
// the variational equation of the path, solved to the same order. Lengths of steps come from the law and do not
// depend on the inputs; an event moves by dt = -dg/g', which is added at the end of its step.
#include "gradient_routh.h"

#define ORDER 20
#define PART  2.0  // longest part of a step: 2^21/21! is rounding

typedef struct Series {
    cr__Dual vy[ORDER + 1], vz[ORDER + 1], r[ORDER + 1], Pn[ORDER + 1], Vn[ORDER + 1], work[ORDER + 1];
} Series;

cr__Dual cr__routh_waited(const cr__RouthPath* p) {
    return p->d->ending == CR_ENDING_POISSON ? p->P[0] : p->d->ending == CR_ENDING_NEWTON ? p->V[0] : p->work;
}

void cr__routh_gauge(cr__RouthPath* p, crSwitch which, int other, cr__Dual g) {
    if (p->out->gauges >= CR__MAX_GAUGES - 3) return;
    cr__piece_gauge(p->out, which, other, &g, NULL);
}

void cr__routh_jam_gauge(cr__RouthPath* p, cr__Dual Vn) {
    cr__routh_gauge(p, CR_SWITCH_JAM, JAMS, cr__scaled(Vn.v < 0.0 ? -1.0 : 1.0, Vn));
}

static cr__Dual convolve(const cr__Dual* a, const cr__Dual* b, int first, int last) {
    cr__Dual sum = cr__dual(0.0);
    for (int j = first; j <= last; j++) {
        sum = cr__plus(sum, cr__times(a[j], b[last + first - j]));
    }
    return sum;
}

// Coefficients i + 1 from those up to i, in the time t = Q tau.
static void expand(const cr__RouthPath* p, double Q, Series* s) {
    const cr__DualContact* d = p->d;
    cr__Dual ayy = cr__times(d->mu, d->yy), ayz = cr__times(d->mu, d->yz), azz = cr__times(d->mu, d->zz);
    cr__Dual wy = cr__times(d->mu, d->xy), wz = cr__times(d->mu, d->xz);
    s->vy[0] = p->V[1];
    s->vz[0] = p->V[2];
    s->r[0] = cr__length(p->V[1], p->V[2]);
    s->Pn[0] = p->P[0];
    s->Vn[0] = p->V[0];
    s->work[0] = p->work;
    cr__Dual half = cr__over(cr__dual(0.5), s->r[0]);
    for (int i = 0; i < ORDER; i++) {
        double by = 1.0 / ((i + 1) * Q);
        const cr__Dual *vy = &s->vy[i], *vz = &s->vz[i], *r = &s->r[i];
        cr__Dual fy = cr__plus(cr__times(ayy, *vy), cr__times(ayz, *vz));
        cr__Dual fz = cr__plus(cr__times(ayz, *vy), cr__times(azz, *vz));
        cr__Dual fn = cr__plus(cr__times(wy, *vy), cr__times(wz, *vz));
        s->vy[i + 1] = cr__blend(cr__times(d->xy, *r), by, fy, -by);
        s->vz[i + 1] = cr__blend(cr__times(d->xz, *r), by, fz, -by);
        s->Vn[i + 1] = cr__blend(cr__times(d->xx, *r), by, fn, -by);
        s->Pn[i + 1] = cr__scaled(by, *r);
        s->work[i + 1] = cr__scaled(by, convolve(s->Vn, s->r, 0, i));
        // 2 r0 r_{i+1} = sum of v_j.v_l over j + l = i + 1, less the inner part of the same sum for r
        cr__Dual sum = cr__plus(convolve(s->vy, s->vy, 0, i + 1), convolve(s->vz, s->vz, 0, i + 1));
        s->r[i + 1] = cr__times(cr__minus(sum, convolve(s->r, s->r, 1, i)), half);
    }
}

static cr__Dual value(const cr__Dual* series, double t) {
    cr__Dual sum = series[ORDER];
    for (int i = ORDER - 1; i >= 0; i--) {
        sum = cr__more(series[i], t, sum);
    }
    return sum;
}

static cr__Dual integral(const cr__Dual* series, double t) {
    cr__Dual sum = cr__scaled(1.0 / (ORDER + 1), series[ORDER]);
    for (int i = ORDER - 1; i >= 0; i--) {
        sum = cr__blend(series[i], 1.0 / (i + 1), sum, t);
    }
    return cr__scaled(t, sum);
}

static double slope(const cr__Dual* series, double t) {
    double sum = ORDER * series[ORDER].v;
    for (int i = ORDER - 1; i >= 1; i--) {
        sum = sum * t + i * series[i].v;
    }
    return sum;
}

// Where Vn is largest or smallest within the step it must not be zero: the last crossing of zero counts.
static void watch_extremum(cr__RouthPath* p, const Series* s, double t) {
    double a = 0.0, b = t;
    double first = slope(s->Vn, a);
    if (!(first * slope(s->Vn, b) < 0.0)) return;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (a + b);
        if (first * slope(s->Vn, middle) > 0.0) {
            a = middle;
        } else {
            b = middle;
        }
    }
    cr__routh_jam_gauge(p, value(s->Vn, a));
}

static void slip_part(cr__RouthPath* p, double Q, double t, crRouthEvent event) {
    Series s;
    expand(p, Q, &s);
    watch_extremum(p, &s, t);
    cr__Dual vy = value(s.vy, t), vz = value(s.vz, t), r = value(s.r, t);
    double q = 1.0 / Q;
    p->P[1] = cr__more(p->P[1], -q, cr__times(p->d->mu, integral(s.vy, t)));
    p->P[2] = cr__more(p->P[2], -q, cr__times(p->d->mu, integral(s.vz, t)));
    p->P[0] = value(s.Pn, t);
    p->V[0] = value(s.Vn, t);
    p->work = value(s.work, t);
    if (event != CR_ROUTH_NONE) {
        // the change of t: its value is zero
        cr__Dual g = event == CR_ROUTH_TURN ? p->V[0] : cr__minus(cr__routh_waited(p), p->goal);
        const cr__Dual* series = event == CR_ROUTH_TURN              ? s.Vn
                                 : p->d->ending == CR_ENDING_POISSON ? s.Pn
                                 : p->d->ending == CR_ENDING_NEWTON  ? s.Vn
                                                                     : s.work;
        cr__Dual dt = cr__scaled(-1.0 / slope(series, t), g);
        dt.v = 0.0;
        p->P[0] = cr__more(p->P[0], slope(s.Pn, t), dt);
        p->V[0] = cr__more(p->V[0], slope(s.Vn, t), dt);
        p->work = cr__more(p->work, slope(s.work, t), dt);
        p->P[1] = cr__more(p->P[1], -q * p->d->mu.v * vy.v, dt);
        p->P[2] = cr__more(p->P[2], -q * p->d->mu.v * vz.v, dt);
        vy = cr__more(vy, slope(s.vy, t), dt);
        vz = cr__more(vz, slope(s.vz, t), dt);
        r = cr__more(r, slope(s.r, t), dt);
    }
    p->V[1] = vy;
    p->V[2] = vz;
    p->speed = r;
}

void cr__routh_slip_step(cr__RouthPath* p, double Q, double t, crRouthEvent event) {
    // the law's steps are as long as V_t allows; its derivative across may decay faster
    int parts = 1;
    while (t > PART * parts) {
        parts++;
    }
    for (int i = 1; i <= parts; i++) {
        slip_part(p, Q, t / parts, i < parts ? CR_ROUTH_NONE : event);
    }
}
