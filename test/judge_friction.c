// judge_friction.c - discs, ellipses, strips, segments and polygons of friction, in quadruple precision.
#include "judge_friction.h"

static void unit(Quad x, Quad y, Quad* out) {
    Quad v[2] = {x, y}, size = quad_norm(v, 2);
    out[0] = size > 0 ? x / size : 0;
    out[1] = size > 0 ? y / size : 0;
}

// nearest point to t on the ellipse with half-axes a, b > 0: halving the angle's interval in its quadrant
static void ellipse_point(Quad a, Quad b, const Quad* t, Quad* x) {
    Quad tx = quad_abs(t[0]), ty = quad_abs(t[1]);
    // x = (a^2 tx / (a^2 + s), b^2 ty / (b^2 + s)); f(s) = |(x/a, y/b)|^2 - 1 falls with s
    Quad lo = -smaller(a, b) * smaller(a, b), hi = a * tx + b * ty + larger(a, b) * larger(a, b);
    for (int k = 0; k < 220; k++) {
        Quad s = (lo + hi) / 2, u = a * tx / (a * a + s), v = b * ty / (b * b + s);
        if (u * u + v * v > 1) {
            lo = s;
        } else {
            hi = s;
        }
    }
    Quad u = a * tx / (a * a + hi), v = b * ty / (b * b + hi), size = quad_sqrt(u * u + v * v);
    if (!(size > 0)) {
        u = a <= b ? 1 : 0;
        v = 1 - u;
        size = 1;
    }
    x[0] = a * u / size * (t[0] < 0 ? -1 : 1);
    x[1] = b * v / size * (t[1] < 0 ? -1 : 1);
}

// limits of a friction part at normal impulse pn: the point in mode `mode` and what goes with it.
// mode 0: held; 1: at the limit nearest to p; 2: at the limit nearest to z; polygons: edges and corners
static Choice round_part(const Seat* s, int mode, Quad pn, const Quad* p, const Quad* z, Quad* out) {
    Choice c = {.allow = ALLOW_ZERO};
    const Quad* from = mode == 2 ? z : p;
    Quad a = isinf(s->a) ? 0 : (Quad)s->a * pn, b = isinf(s->b) ? 0 : (Quad)s->b * pn;
    bool free_a = isinf(s->a), free_b = s->count == 2 && isinf(s->b);
    if (s->count == 1 || free_a || free_b) {
        // every row on its own: an interval, or no limit
        c.allow = s->count == 1 ? ALLOW_ZERO : ALLOW_CONE;
        for (int k = 0; k < s->count; k++) {
            bool endless = k == 0 ? free_a : free_b;
            Quad limit = k == 0 ? a : b;
            out[k] = p[k];
            if (endless) continue;
            out[k] = p[k] > limit ? limit : p[k] < -limit ? -limit : p[k];
            if (limit == 0 && (k == 0 ? s->a : s->b) == 0.0) {
                c.allow = s->count == 1 ? ALLOW_ALL : c.allow;
                c.n0[k] = 1;
                c.n1[k] = -1;
            } else if (mode > 0) {
                out[k] = from[k] < 0 ? -limit : limit;
                c.n0[k] = from[k] < 0 ? -1 : 1;
                if (s->count == 1) c.allow = from[k] < 0 ? ALLOW_UP : ALLOW_DOWN;
            }
        }
        return c;
    }
    if (s->a == 0.0 && s->b == 0.0) {
        out[0] = out[1] = 0;
        c.allow = ALLOW_ALL;
        return c;
    }
    if (s->a == 0.0 || s->b == 0.0) {
        // a segment: its normals are the line across, and at its ends the half-plane beyond
        int along = s->a == 0.0 ? 1 : 0;
        Quad limit = along == 0 ? a : b;
        out[1 - along] = 0;
        out[along] = p[along] > limit ? limit : p[along] < -limit ? -limit : p[along];
        c.allow = ALLOW_CONE;
        c.n0[1 - along] = 1;
        c.n1[1 - along] = -1;
        if (mode > 0) {
            out[along] = from[along] < 0 ? -limit : limit;
            c.n0[along] = c.n1[along] = 0;
            c.allow = from[along] < 0 ? ALLOW_UP : ALLOW_DOWN;  // of row `along`; the other is free
            c.n0[0] = along;
        }
        return c;
    }
    Quad inside = (p[0] / a) * (p[0] / a) + (p[1] / b) * (p[1] / b);
    out[0] = p[0];
    out[1] = p[1];
    if (mode == 0 && (pn == 0 || inside > 1)) {
        if (pn == 0) {
            out[0] = out[1] = 0;
        } else {
            ellipse_point(a, b, p, out);
        }
    }
    if (mode == 0) return c;
    if (!(quad_norm(from, 2) > 0) || !(pn > 0)) {
        out[0] = out[1] = 0;
        return c;
    }
    if (s->a == s->b) {
        unit(from[0], from[1], c.n0);
        out[0] = a * c.n0[0];
        out[1] = a * c.n0[1];
    } else {
        ellipse_point(a, b, from, out);
        unit(out[0] / (a * a), out[1] / (b * b), c.n0);
    }
    c.n1[0] = c.n0[0];
    c.n1[1] = c.n0[1];
    c.allow = ALLOW_CONE;
    return c;
}

static void edge_normal(const crProblem* problem, const crBlock* b, int k, Quad* n) {
    const double(*v)[2] = problem->vertices + b->vertex;
    const double *from = v[k % b->vertex_count], *to = v[(k + 1) % b->vertex_count];
    unit((Quad)to[1] - (Quad)from[1], (Quad)from[0] - (Quad)to[0], n);
}

static Choice polygon_part(const crProblem* problem, const Seat* s, int mode, Quad pn, const Quad* p,
                           const Quad* z, Quad* out) {
    const crBlock* b = &problem->blocks[s->block];
    const double(*v)[2] = problem->vertices + b->vertex;
    int count = b->vertex_count;
    Choice c = {.allow = ALLOW_ZERO};
    out[0] = p[0];
    out[1] = p[1];
    if (mode == 0) {
        // nearest point: inside, or on the edge that is nearest
        Quad best = -1;
        bool inside = pn > 0;
        for (int k = 0; k < count; k++) {
            Quad x = (Quad)v[k][0] * pn, y = (Quad)v[k][1] * pn;
            Quad ex = (Quad)v[(k + 1) % count][0] * pn - x, ey = (Quad)v[(k + 1) % count][1] * pn - y;
            if (ey * (p[0] - x) - ex * (p[1] - y) > 0) inside = false;
            Quad length = ex * ex + ey * ey;
            Quad t = length > 0 ? (ex * (p[0] - x) + ey * (p[1] - y)) / length : 0;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            Quad off[2] = {x + t * ex - p[0], y + t * ey - p[1]}, far = quad_norm(off, 2);
            if (best < 0 || far < best) {
                best = far;
                out[0] = p[0] + off[0];
                out[1] = p[1] + off[1];
            }
        }
        if (inside) {
            out[0] = p[0];
            out[1] = p[1];
        }
        return c;
    }
    // edges nearest to p, corners, edges nearest to z
    int k = (mode - 1) % count;
    Quad x = (Quad)v[k][0] * pn, y = (Quad)v[k][1] * pn;
    c.allow = ALLOW_CONE;
    edge_normal(problem, b, k, c.n0);
    if (mode <= count || mode > 2 * count) {
        if (mode > count) p = z;
        Quad ex = (Quad)v[(k + 1) % count][0] * pn - x, ey = (Quad)v[(k + 1) % count][1] * pn - y;
        Quad length = ex * ex + ey * ey;
        Quad t = length > 0 ? (ex * (p[0] - x) + ey * (p[1] - y)) / length : 0;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        out[0] = x + t * ex;
        out[1] = y + t * ey;
        c.n1[0] = c.n0[0];
        c.n1[1] = c.n0[1];
        return c;
    }
    out[0] = x;
    out[1] = y;
    edge_normal(problem, b, k + count - 1, c.n1);
    return c;
}

bool judge_endless(const Seat* s) { return !s->polygon && (isinf(s->a) || (s->count == 2 && isinf(s->b))); }

// without a limit a contact that barely presses may hold all friction; directions with a limit have none left
Choice judge_barely_pressed(const Seat* s, const Quad* p, Quad* out) {
    Choice c = {.allow = ALLOW_ZERO};
    for (int k = 0; k < s->count; k++) {
        bool held = isinf(k == 0 ? s->a : s->b);
        out[k] = held ? p[k] : 0;
        if (held) continue;
        c.allow = ALLOW_CONE;
        c.n0[k] = 1;
        c.n1[k] = -1;
    }
    return c;
}

// distance of w from the cone -(alpha n0 + beta n1), or the other allowed sets
Quad judge_miss(const Choice* c, int count, const Quad* w) {
    switch (c->allow) {
    case ALLOW_ALL:
        return 0;
    case ALLOW_ZERO:
        return quad_norm(w, count);
    case ALLOW_UP:
    case ALLOW_DOWN: {
        // of a segment's end, n0[0] says which row is bound
        Quad value = count == 2 && c->n0[0] == 1 ? w[1] : w[0];
        return larger(0, c->allow == ALLOW_UP ? -value : value);
    }
    default:
        break;
    }
    const Quad v[2] = {-w[0], -w[1]};
    Quad best = quad_norm(v, 2);
    const Quad* rays[2] = {c->n0, c->n1};
    for (int k = 0; k < 2; k++) {
        Quad along = v[0] * rays[k][0] + v[1] * rays[k][1];
        if (!(along > 0)) continue;
        Quad off[2] = {v[0] - along * rays[k][0], v[1] - along * rays[k][1]};
        best = smaller(best, quad_norm(off, 2));
    }
    Quad turn = c->n1[0] * c->n0[1] - c->n1[1] * c->n0[0];
    if (turn > 0) {
        // inside the cone from n1 to n0, counter-clockwise
        Quad after = c->n1[0] * v[1] - c->n1[1] * v[0], before = v[0] * c->n0[1] - v[1] * c->n0[0];
        if (after >= 0 && before >= 0) best = 0;
    }
    return best;
}

Choice judge_friction(const crProblem* problem, const Seat* s, int mode, Quad pn, const Quad* p,
                      const Quad* z, Quad* out) {
    return s->polygon ? polygon_part(problem, s, mode, pn, p, z, out) : round_part(s, mode, pn, p, z, out);
}
