// piles_scene.c - the scenes of bench piles: heaps in a box, walls, stacks, chains, cubes, from a seed.
//
// All: friction 0.5, e 0, dt 1/240 s, density 1000 kg/m^3 unless said, nothing sleeps. Bodies of a heap start
// on a loose lattice, each shifted a little and turned at random by the seed, and fall. Walls are half-spaces,
// so a body cannot get round them. Fails where memory is out or the name is not known.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dynamics.h"
#include "piles.h"
#include "sample.h"

#define DENSITY 1000.0

typedef bool (*Build)(PilesScene* scene, int count, crRandom* random);

static void set_body(PilesBody* body, crShape shape, double density, crVec3 at, crQuat turn) {
    crMass mass = cr_mass_of_shape(&shape, density);
    // the body's origin is the centre of mass
    shape.pose.p = cr_sub(shape.pose.p, mass.com);
    *body = (PilesBody){.shape = shape, .mass = mass.mass, .pose = {at, turn}};
    body->inertia = cr_vec3(mass.inertia.xx, mass.inertia.yy, mass.inertia.zz);
}

static bool take_bodies(PilesScene* scene, int count) {
    scene->body_count = count;
    scene->bodies = calloc((size_t)count, sizeof *scene->bodies);
    return scene->bodies != NULL;
}

static void add_plane(PilesScene* scene, crVec3 normal, double offset) {
    scene->planes[scene->plane_count++] = (PilesPlane){normal, offset};
}

static void add_floor(PilesScene* scene) { add_plane(scene, cr_vec3(0, 0, 1), 0.0); }

// floor and four walls of a square box about the z axis
static void add_box(PilesScene* scene, double half) {
    add_floor(scene);
    add_plane(scene, cr_vec3(1, 0, 0), -half);
    add_plane(scene, cr_vec3(-1, 0, 0), -half);
    add_plane(scene, cr_vec3(0, 1, 0), -half);
    add_plane(scene, cr_vec3(0, -1, 0), -half);
}

// place i of a lattice that fills a square of n by n cells layer by layer
static crVec3 lattice(int i, int n, double pitch, crRandom* random) {
    crVec3 at = cr_vec3((i % n + 0.5 * (1 - n)) * pitch, (i / n % n + 0.5 * (1 - n)) * pitch,
                        (i / (n * n) + 0.5) * pitch);
    return cr_madd(at, 0.02 * pitch, sample_direction(random));
}

static bool build_spheres(PilesScene* scene, int count, crRandom* random) {
    // a box of 2 m by 2 m for 1000, as deep for any number
    double half = sqrt(count / 1000.0), pitch = 0.22;
    int n = (int)(2.0 * half / pitch);
    add_box(scene, half);
    if (!take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        crVec3 at = lattice(i, n, pitch, random);
        set_body(&scene->bodies[i], cr_shape_sphere(0.1), DENSITY, at, sample_rotation(random));
    }
    scene->large = count > 1000;
    return true;
}

static bool build_boxes(PilesScene* scene, int count, crRandom* random) {
    add_box(scene, 1.5);
    if (!take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        crVec3 at = lattice(i, 8, 0.37, random);
        set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), DENSITY, at, sample_rotation(random));
    }
    return true;
}

static bool hexagon(PilesScene* scene) {
    crVec3 points[6];
    for (int i = 0; i < 6; i++) {
        points[i] = cr_vec3(0.1 * cr_cos(i * CR_PI / 3.0), 0.1 * cr_sin(i * CR_PI / 3.0), 0.0);
    }
    return cr_hull_create_prism(points, 6, 0.1, NULL, &scene->hull, NULL) == CR_OK;
}

static bool build_mixed(PilesScene* scene, int count, crRandom* random) {
    add_box(scene, 1.5);
    if (!hexagon(scene) || !take_bodies(scene, count)) return false;
    const crShape shapes[] = {cr_shape_sphere(0.1),         cr_shape_box(0.1, 0.1, 0.1),
                              cr_shape_capsule(0.07, 0.08), cr_shape_cylinder(0.1, 0.1),
                              cr_shape_cone(0.1, 0.12),     cr_shape_ellipsoid(0.12, 0.1, 0.08),
                              cr_shape_hull(scene->hull)};
    int kinds = (int)(sizeof shapes / sizeof *shapes);
    for (int i = 0; i < count; i++) {
        crVec3 at = lattice(i, 8, 0.37, random);
        set_body(&scene->bodies[i], shapes[i % kinds], DENSITY, at, sample_rotation(random));
    }
    return true;
}

// rows of 20, 19, ... boxes, each on two; the seed shifts them by up to 0.1 mm sideways
static bool build_pyramid(PilesScene* scene, int count, crRandom* random) {
    add_floor(scene);
    if (!take_bodies(scene, count)) return false;
    int width = 20;
    for (int i = 0, row = 0, column = 0; i < count; i++) {
        crVec3 at = cr_vec3((column - 0.5 * (width - 1)) * 0.21, 0.0, 0.1 + 0.2 * row);
        at.x += sample_uniform(random, -1e-4, 1e-4);
        at.y += sample_uniform(random, -1e-4, 1e-4);
        set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), DENSITY, at, cr_quat_identity());
        if (++column == width) {
            column = 0;
            width--;
            row++;
        }
    }
    scene->stands = true;
    return true;
}

static bool build_stack(PilesScene* scene, int count, crRandom* random) {
    add_floor(scene);
    if (!take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        crVec3 at =
            cr_vec3(sample_uniform(random, -1e-3, 1e-3), sample_uniform(random, -1e-3, 1e-3), 0.1 + 0.2 * i);
        set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), DENSITY, at, cr_quat_identity());
    }
    scene->stands = true;
    return true;
}

// boxes of 0.2 m: 1 kg below, 1000 kg on it
static bool build_heavy(PilesScene* scene, int count, crRandom* random) {
    if (!build_stack(scene, count, random)) return false;
    for (int i = 0; i < count; i++) {
        double factor = (i == 0 ? 1.0 : 1000.0) / scene->bodies[i].mass;
        scene->bodies[i].mass *= factor;
        scene->bodies[i].inertia = cr_scale(factor, scene->bodies[i].inertia);
    }
    return true;
}

// chains of ten links beside each other, hung above a steep plane on which they fall and lie
static bool build_chains(PilesScene* scene, int count, crRandom* random) {
    double steep = 10.0 * CR_PI / 180.0;
    crVec3 n = cr_vec3(cr_cos(steep), 0.0, cr_sin(steep));
    add_plane(scene, n, 0.0);
    scene->hinges = calloc((size_t)count, sizeof *scene->hinges);
    if (scene->hinges == NULL || !take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        // the first link hangs at half its thickness over the plane and leans away; the others go on straight
        crVec3 point = cr_vec3(0.0, 0.1 * (i / 10), 2.2);
        point = cr_madd(point, 0.02 - cr_dot(n, point), n);
        double lean = steep + sample_uniform(random, 0.1, 0.4);
        crQuat turn = cr_quat_axis_angle(cr_vec3(0, 1, 0), -lean);
        const PilesBody* above = i % 10 > 0 ? &scene->bodies[i - 1] : NULL;
        if (above != NULL) {
            turn = above->pose.q;
            point = cr_pose_point(above->pose, cr_vec3(0, 0, -0.1));
        }
        crVec3 at = cr_add(point, cr_quat_rotate(turn, cr_vec3(0, 0, -0.1)));
        set_body(&scene->bodies[i], cr_shape_box(0.02, 0.04, 0.09), DENSITY, at, turn);
        scene->hinges[i] = (PilesHinge){above != NULL ? i - 1 : -1, i, point, cr_vec3(0, 1, 0)};
    }
    scene->hinge_count = count;
    return true;
}

static bool build_cubes(PilesScene* scene, int count, crRandom* random) {
    add_floor(scene);
    if (!take_bodies(scene, count)) return false;
    int n = (int)ceil(sqrt(count));
    for (int i = 0; i < count; i++) {
        crVec3 at = cr_vec3(0.6 * (i % n), 0.6 * (i / n), sample_uniform(random, 0.2, 0.4));
        set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), DENSITY, at, sample_rotation(random));
    }
    return true;
}

static bool build_alone(PilesScene* scene, int count, crRandom* random) {
    scene->alone = true;
    return build_cubes(scene, count, random);
}

static const struct {
    const char* name;
    int count;
    Build build;
    double settle;
} catalogue[] = {
    {"spheres-1000", 1000, build_spheres, 4.0},   {"boxes-1000", 1000, build_boxes, 4.0},
    {"mixed-1000", 1000, build_mixed, 4.0},       {"pyramid-210", 210, build_pyramid, 4.0},
    {"boxes-20", 20, build_boxes, 4.0},           {"stack-10", 10, build_stack, 4.0},
    {"heavy-on-light", 2, build_heavy, 4.0},      {"chains", 200, build_chains, 4.0},
    {"cubes-alone", 4096, build_alone, 2.0},      {"cubes-together", 4096, build_cubes, 2.0},
    {"spheres-10000", 10000, build_spheres, 4.0}, {"spheres-100000", 100000, build_spheres, 4.0},
};
#define SCENES ((int)(sizeof catalogue / sizeof *catalogue))

const char* piles_scene_name(int index) {
    return index >= 0 && index < SCENES ? catalogue[index].name : NULL;
}

bool piles_scene_create(const char* name, uint64_t seed, PilesScene* scene) {
    *scene = (PilesScene){.mu = 0.5, .e = 0.0, .gravity = 9.81, .dt = 1.0 / 240.0};
    for (int i = 0; i < SCENES; i++) {
        if (strcmp(catalogue[i].name, name) != 0) continue;
        crRandom random = sample_seed(seed);
        scene->name = catalogue[i].name;
        scene->settle = catalogue[i].settle;
        if (catalogue[i].build(scene, catalogue[i].count, &random)) return true;
        piles_scene_destroy(scene);
        return false;
    }
    return false;
}

void piles_scene_destroy(PilesScene* scene) {
    free(scene->bodies);
    free(scene->hinges);
    cr_hull_destroy(scene->hull);
    *scene = (PilesScene){0};
}

bool piles_scene_replace(const PilesScene* scene, unsigned has, PilesScene* copy, char* note, size_t size) {
    *copy = *scene;
    copy->hull = NULL;
    copy->hinges = calloc((size_t)scene->hinge_count + 1, sizeof *copy->hinges);
    note[0] = '\0';
    if (copy->hinges == NULL || !take_bodies(copy, scene->body_count)) {
        piles_scene_destroy(copy);
        return false;
    }
    if (scene->hinge_count > 0) {
        memcpy(copy->hinges, scene->hinges, (size_t)scene->hinge_count * sizeof *copy->hinges);
    }
    unsigned noted = 0;
    for (int i = 0; i < scene->body_count; i++) {
        const PilesBody* body = &scene->bodies[i];
        unsigned bit = 1U << body->shape.kind;
        copy->bodies[i] = *body;
        if (has & bit) continue;
        double radius = cbrt(body->mass / DENSITY * 0.75 / CR_PI);
        set_body(&copy->bodies[i], cr_shape_sphere(radius), DENSITY, body->pose.p, body->pose.q);
        if (noted & bit) continue;
        noted |= bit;
        size_t used = strlen(note);
        snprintf(note + used, size - used, "%s%s", used > 0 ? ", " : "",
                 cr_shape_info(body->shape.kind)->name);
    }
    return true;
}
