// flat.c - a flat face of one core that the other meets inside of it: the normal is the face's, without GJK.
//
// Along the outward normal n of a face the cores are apart by the height of the other's lowest point y over
// it. The height of the other's centre bounds that from above, so mostly one or two faces need a support
// point. Where y lies over the face and outside, its foot and y are as far apart as n separates: that is the
// gap. Where it lies inside, the proof of prove.c says whether n is the best of all directions. Most contacts
// of a heap are of this kind: a vertex, rim, side or face on a face. Fails: false where y is beside the face
// (also one end of an edge that crosses it), or the proof does not show it; then the general way is gone.
#include "collide/support.h"

typedef struct Face {
    const crConvex *of, *other;
    int index;      // axis of a box, face of a hull, else 2: the axis
    double side;    // -1 or 1
    double height;  // of the other's lowest point
    crVec3 n, y;    // out of the face; that point
} Face;

// height of a point over a face, both in the core's own frame
static double height_of(const crConvex* c, int index, double side, crVec3 x) {
    if (c->core == CR__HULL) return cr_dot(c->hull->normals[index], x) - c->hull->offsets[index];
    return side * cr__axis(x, index) - cr__axis(c->size, index);
}

// faces of a core: boxes and cylinders have pairs of which one at most looks at a point
static int face_count(const crConvex* c) {
    switch (c->core) {
    case CR__HULL:
        return c->hull->face_count;
    case CR__BOX:
        return 3;
    case CR__CYLINDER:
    case CR__CONE:
        return 1;
    default:
        return 0;
    }
}

// best becomes the face that separates best, if one does better than it
static void try_faces_flat(const crConvex* c, const crConvex* other, Face* best) {
    crVec3 centre = cr_mat3_mul_t(c->R, cr_sub(cr__centre(other), c->p));
    for (int i = 0; i < face_count(c); i++) {
        int index = c->core == CR__CYLINDER || c->core == CR__CONE ? 2 : i;
        double side = c->core == CR__HULL ? 1.0 : cr__axis(centre, index) < 0.0 ? -1.0 : 1.0;
        if (c->core == CR__CONE) side = -1.0;
        if (!(height_of(c, index, side, centre) > best->height)) continue;
        crVec3 n = c->core == CR__HULL ? cr_mat3_mul(c->R, c->hull->normals[i])
                                       : cr_scale(side, cr_mat3_column(c->R, index));
        crVec3 y = cr__support_here(other, cr_neg(n));
        double height = height_of(c, index, side, cr_mat3_mul_t(c->R, cr_sub(y, c->p)));
        if (height > best->height) *best = (Face){c, other, index, side, height, n, y};
    }
}

// whether the foot of y lies in the face
static bool inside(const Face* f) {
    const crConvex* c = f->of;
    crVec3 x = cr_mat3_mul_t(c->R, cr_sub(cr_madd(f->y, -f->height, f->n), c->p)), s = c->size;
    if (c->core == CR__HULL) {
        for (int i = 0; i < c->hull->face_count; i++)
            if (i != f->index && !(cr_dot(c->hull->normals[i], x) <= c->hull->offsets[i])) return false;
        return true;
    }
    if (c->core != CR__BOX) return x.x * x.x + x.y * x.y <= s.x * s.x;
    return (f->index == 0 || fabs(x.x) <= s.x) && (f->index == 1 || fabs(x.y) <= s.y) &&
           (f->index == 2 || fabs(x.z) <= s.z);
}

bool cr__flat(const crConvex* a, const crConvex* b, double beyond, double error, crClosest* out) {
    Face best = {.height = -(double)INFINITY};
    try_faces_flat(a, b, &best);
    try_faces_flat(b, a, &best);
    if (best.of == NULL) return false;
    out->n = best.of == a ? best.n : cr_neg(best.n);
    out->gap = cr__separation_here(a, b, out->n);
    if (out->gap > beyond) {
        out->no_witness = true;
        return true;
    }
    if (!inside(&best)) return false;
    if (out->gap > 0.0) {
        out->a = best.of == a ? cr_madd(best.y, -out->gap, out->n) : best.y;
        out->b = best.of == a ? best.y : cr_madd(best.y, out->gap, out->n);
        out->error = 0.0;
        return true;
    }
    cr__prove(a, b, out);
    return out->error <= error * cr__pair_scale(a, b);
}
