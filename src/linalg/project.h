// project.h - nearest points of the convex sets that friction lives in.
#ifndef CAROM_LINALG_PROJECT_H
#define CAROM_LINALG_PROJECT_H

// Onto the cone |p_t| <= mu p_n; p = (p_n, p_t1, p_t2), mu finite.
void cr__project_cone(double mu, double p[3]);
// Onto the disc of this radius (may be infinite); t has `count` components (1 or 2).
void cr__project_disc(double radius, int count, double* t);
// Onto the ellipse with half-axes a and b along the coordinates.
void cr__project_ellipse(double a, double b, double t[2]);
// Onto the convex polygon scale * vertices (counter-clockwise, origin inside).
void cr__project_polygon(const double (*vertices)[2], int count, double scale, double t[2]);

#endif
