// piles_replace.c - a scene as an engine with fewer shapes can run it.
//
// Cylinders and cones become polyhedra of 16 sides inside them, which is how engines of hulls are used; what is
// left becomes spheres of the same volume. Mass, inertia and place of the original are kept where a polyhedron stands in.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dynamics.h"
#include "piles.h"

#define SIDES 16

static bool make_prism(const crShape* cylinder, crHull** hull) {
    crVec3 points[SIDES];
    for (int i = 0; i < SIDES; i++) {
        double angle = 2.0 * CR_PI * i / SIDES;
        points[i] = cr_scale(cylinder->size.x, cr_vec3(cr_cos(angle), cr_sin(angle), 0.0));
    }
    return cr_hull_create_prism(points, SIDES, cylinder->size.z, NULL, hull, NULL) == CR_OK;
}

static bool make_pyramid(const crShape* cone, crHull** hull) {
    crVec3 vertices[SIDES + 1];
    int sizes[SIDES + 1], loops[4 * SIDES], *side = loops, *base = loops + 3 * SIDES;
    for (int i = 0; i < SIDES; i++) {
        double angle = 2.0 * CR_PI * i / SIDES, r = cone->size.x;
        vertices[i] = cr_vec3(r * cr_cos(angle), r * cr_sin(angle), -cone->size.z);
        sizes[i] = 3;
        *side++ = i;
        *side++ = (i + 1) % SIDES;
        *side++ = SIDES;
        base[i] = SIDES - 1 - i;
    }
    vertices[SIDES] = cr_vec3(0, 0, cone->size.z);
    sizes[SIDES] = SIDES;
    crHullDef def = {SIDES + 1, vertices, SIDES + 1, sizes, loops};
    return cr_hull_create(&def, NULL, hull, NULL) == CR_OK;
}

// the polyhedron of the first body of a kind serves all: a scene has one size of each
static crHull* polyhedron(const crShape* shape, PilesScene* copy, crHull** made) {
    crHull** hull = &made[shape->kind];
    if (*hull != NULL) return *hull;
    bool fine = copy->hull_count < PILES_HULLS;
    if (fine && shape->kind == CR_SHAPE_CYLINDER) {
        fine = make_prism(shape, hull);
    } else if (fine) {
        fine = make_pyramid(shape, hull);
    }
    if (fine) copy->hulls[copy->hull_count++] = *hull;
    return *hull;
}

static void add_note(const char* name, const char* stand_in, char* note, size_t size) {
    size_t used = strlen(note);
    snprintf(note + used, size - used, "%s%s for %s", used > 0 ? "; " : "", stand_in, name);
}

bool piles_scene_replace(const PilesScene* scene, unsigned has, PilesScene* copy, char* note, size_t size) {
    *copy = *scene;
    copy->hull_count = 0;
    copy->joints = calloc((size_t)scene->joint_count + 1, sizeof *copy->joints);
    note[0] = '\0';
    if (!piles_take_bodies(copy, scene->body_count) || copy->joints == NULL) {
        piles_scene_destroy(copy);
        return false;
    }
    if (scene->joint_count > 0) {
        memcpy(copy->joints, scene->joints, (size_t)scene->joint_count * sizeof *copy->joints);
    }
    crHull* made[PILES_SHAPES] = {NULL};
    unsigned noted = 0;
    for (int i = 0; i < scene->body_count; i++) {
        const PilesBody* body = &scene->bodies[i];
        crShapeKind kind = body->shape.kind;
        copy->bodies[i] = *body;
        if (has & 1U << kind) continue;
        bool round = kind == CR_SHAPE_CYLINDER || kind == CR_SHAPE_CONE;
        bool hull = round && (has & 1U << CR_SHAPE_HULL) != 0;
        if (hull) {
            crHull* shape = polyhedron(&body->shape, copy, made);
            if (shape == NULL) {
                piles_scene_destroy(copy);
                return false;
            }
            copy->bodies[i].shape = cr_shape_hull(shape);
            copy->bodies[i].shape.pose = body->shape.pose;
        } else {
            double radius = cbrt(cr_mass_of_shape(&body->shape, 1.0).mass * 0.75 / CR_PI);
            piles_set_body(&copy->bodies[i], cr_shape_sphere(radius), body->pose.p, body->pose.q);
        }
        if (!(noted & 1U << kind)) {
            add_note(cr_shape_info(kind)->name, hull ? "hull" : "sphere", note, size);
        }
        noted |= 1U << kind;
    }
    return true;
}
