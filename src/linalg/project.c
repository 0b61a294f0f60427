// project.c - nearest points of cone, disc, ellipse and polygon.
//
// Cone: the three cases of Moreau's decomposition (in the polar cone: 0; inside: p; else on the surface).
// Ellipse: the root of (a x/(a^2+s))^2 + (b y/(b^2+s))^2 = 1 in s >= 0 by bisection of a convex decreasing
// function, to the last bit. Polygon: the edge whose strip holds the point, or else the nearest vertex;
// comparing distances to edges instead would lose the edge when the point is far away and the polygon small.
#include "project.h"

#include <math.h>

void cr__project_cone(double mu, double p[3]) {
    double t = sqrt(p[1] * p[1] + p[2] * p[2]);
    // without friction p may be below the cone although t = 0
    if (p[0] >= 0.0 && t <= mu * p[0]) return;
    if (mu * t <= -p[0]) {
        p[0] = p[1] = p[2] = 0.0;
        return;
    }
    double n = (p[0] + mu * t) / (1.0 + mu * mu);
    double shrink = mu * n / t;
    p[0] = n;
    p[1] *= shrink;
    p[2] *= shrink;
}

void cr__project_disc(double radius, int count, double* t) {
    double size = count == 1 ? fabs(t[0]) : sqrt(t[0] * t[0] + t[1] * t[1]);
    if (size <= radius) return;
    for (int i = 0; i < count; i++) {
        t[i] *= radius / size;
    }
}

void cr__project_ellipse(double a, double b, double t[2]) {
    if (a == b) {
        cr__project_disc(a, 2, t);
        return;
    }
    // a flat or unbounded ellipse is a segment, a strip or everything
    if (!(a > 0.0 && b > 0.0) || isinf(a) || isinf(b)) {
        cr__project_disc(a, 1, &t[0]);
        cr__project_disc(b, 1, &t[1]);
        return;
    }
    double x = fabs(t[0]), y = fabs(t[1]);
    if ((x / a) * (x / a) + (y / b) * (y / b) <= 1.0) return;
    double lo = 0.0;
    double hi = fmax(a, b) * (x + y);  // there the sum is below one
    for (int i = 0; i < 200; i++) {
        double s = 0.5 * (lo + hi);
        if (s <= lo || s >= hi) break;
        double fx = a * x / (a * a + s), fy = b * y / (b * b + s);
        if (fx * fx + fy * fy > 1.0) {
            lo = s;
        } else {
            hi = s;
        }
    }
    t[0] = copysign(a * a * x / (a * a + hi), t[0]);
    t[1] = copysign(b * b * y / (b * b + hi), t[1]);
}

void cr__project_polygon(const double (*vertices)[2], int count, double scale, double t[2]) {
    double best = INFINITY;
    int nearest = 0;
    int edges = 0;
    int inside = 1;
    for (int i = 0; i < count; i++) {
        const double* v = vertices[i];
        const double* w = vertices[(i + 1) % count];
        double ex = scale * (w[0] - v[0]), ey = scale * (w[1] - v[1]);
        double dx = t[0] - scale * v[0], dy = t[1] - scale * v[1];
        double distance = dx * dx + dy * dy;
        if (distance < best) {
            best = distance;
            nearest = i;
        }
        double length = ex * ex + ey * ey;
        if (!(length > 0.0)) continue;
        edges++;
        if (ex * dy - ey * dx >= 0.0) continue;
        inside = 0;
        double s = (ex * dx + ey * dy) / length;
        if (s >= 0.0 && s <= 1.0) {
            t[0] = scale * v[0] + s * ex;
            t[1] = scale * v[1] + s * ey;
            return;
        }
    }
    // a polygon that has shrunk to a point has no edges to be inside of
    if (inside && edges > 0) return;
    t[0] = scale * vertices[nearest][0];
    t[1] = scale * vertices[nearest][1];
}
