// piles_scene.c - the catalogue of bench piles, and its heaps, walls, stacks, chains and cubes, from a seed.
//
// All: friction 0.5, e 0, dt 1/240 s, density 1000 kg/m^3 unless said, nothing sleeps. Bodies of a heap start
// on a loose lattice, each shifted a little and turned at random by the seed, and fall. Walls are half-spaces,
// so a body cannot get round them. Fails where memory is out or the name is not known.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "piles_build.h"

#define DENSITY 1000.0

typedef bool (*Build)(PilesScene* scene, int count, crRandom* random);

void piles_set_body(PilesBody* body, crShape shape, crVec3 at, crQuat turn) {
    crMass mass = cr_mass_of_shape(&shape, DENSITY);
    // the body's origin is the centre of mass
    shape.pose.p = cr_sub(shape.pose.p, mass.com);
    *body = (PilesBody){.shape = shape, .mass = mass.mass, .pose = {at, turn}};
    body->inertia = cr_vec3(mass.inertia.xx, mass.inertia.yy, mass.inertia.zz);
}

bool piles_take_bodies(PilesScene* scene, int count) {
    scene->body_count = count;
    scene->bodies = calloc((size_t)count, sizeof *scene->bodies);
    return scene->bodies != NULL;
}

void piles_add_plane(PilesScene* scene, crVec3 normal, double offset) {
    scene->planes[scene->plane_count++] = (PilesPlane){normal, offset};
}

void piles_add_floor(PilesScene* scene) { piles_add_plane(scene, cr_vec3(0, 0, 1), 0.0); }

// floor and four walls of a square box about the z axis
void piles_add_box(PilesScene* scene, double half) {
    piles_add_floor(scene);
    piles_add_plane(scene, cr_vec3(1, 0, 0), -half);
    piles_add_plane(scene, cr_vec3(-1, 0, 0), -half);
    piles_add_plane(scene, cr_vec3(0, 1, 0), -half);
    piles_add_plane(scene, cr_vec3(0, -1, 0), -half);
}

// place i of a lattice that fills a square of n by n cells layer by layer
crVec3 piles_lattice(int i, int n, double pitch, crRandom* random) {
    crVec3 at = cr_vec3((i % n + 0.5 * (1 - n)) * pitch, (i / n % n + 0.5 * (1 - n)) * pitch,
                        (i / (n * n) + 0.5) * pitch);
    return cr_madd(at, 0.02 * pitch, sample_direction(random));
}

static bool build_spheres(PilesScene* scene, int count, crRandom* random) {
    // a box of 2 m by 2 m for 1000, as deep for any number
    double half = sqrt(count / 1000.0), pitch = 0.22;
    int n = (int)(2.0 * half / pitch);
    piles_add_box(scene, half);
    if (!piles_take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        crVec3 at = piles_lattice(i, n, pitch, random);
        piles_set_body(&scene->bodies[i], cr_shape_sphere(0.1), at, sample_rotation(random));
    }
    return true;
}

static bool build_boxes(PilesScene* scene, int count, crRandom* random) {
    piles_add_box(scene, 1.5);
    if (!piles_take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        crVec3 at = piles_lattice(i, 8, 0.37, random);
        piles_set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), at, sample_rotation(random));
    }
    return true;
}

static bool hexagon(PilesScene* scene) {
    crVec3 points[6];
    for (int i = 0; i < 6; i++) {
        points[i] = cr_vec3(0.1 * cr_cos(i * CR_PI / 3.0), 0.1 * cr_sin(i * CR_PI / 3.0), 0.0);
    }
    return cr_hull_create_prism(points, 6, 0.1, NULL, &scene->hulls[scene->hull_count++], NULL) == CR_OK;
}

static bool build_mixed(PilesScene* scene, int count, crRandom* random) {
    piles_add_box(scene, 1.5);
    if (!hexagon(scene) || !piles_take_bodies(scene, count)) return false;
    const crShape shapes[] = {cr_shape_sphere(0.1),          cr_shape_box(0.1, 0.1, 0.1),
                              cr_shape_capsule(0.07, 0.08),  cr_shape_cylinder(0.1, 0.1),
                              cr_shape_cone(0.1, 0.12),      cr_shape_ellipsoid(0.12, 0.1, 0.08),
                              cr_shape_hull(scene->hulls[0])};
    int kinds = (int)(sizeof shapes / sizeof *shapes);
    for (int i = 0; i < count; i++) {
        crVec3 at = piles_lattice(i, 8, 0.37, random);
        piles_set_body(&scene->bodies[i], shapes[i % kinds], at, sample_rotation(random));
    }
    return true;
}

// rows of 20, 19, ... boxes, each on two; the seed shifts them by up to 0.1 mm sideways
static bool build_pyramid(PilesScene* scene, int count, crRandom* random) {
    piles_add_floor(scene);
    if (!piles_take_bodies(scene, count)) return false;
    int width = 20;
    for (int i = 0, row = 0, column = 0; i < count; i++) {
        crVec3 at = cr_vec3((column - 0.5 * (width - 1)) * 0.21, 0.0, 0.1 + 0.2 * row);
        at.x += sample_uniform(random, -1e-4, 1e-4);
        at.y += sample_uniform(random, -1e-4, 1e-4);
        piles_set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), at, cr_quat_identity());
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
    piles_add_floor(scene);
    if (!piles_take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        crVec3 at =
            cr_vec3(sample_uniform(random, -1e-3, 1e-3), sample_uniform(random, -1e-3, 1e-3), 0.1 + 0.2 * i);
        piles_set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), at, cr_quat_identity());
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
    piles_add_plane(scene, n, 0.0);
    scene->joints = calloc((size_t)count, sizeof *scene->joints);
    if (scene->joints == NULL || !piles_take_bodies(scene, count)) return false;
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
        piles_set_body(&scene->bodies[i], cr_shape_box(0.02, 0.04, 0.09), at, turn);
        scene->joints[i] = (PilesJoint){above != NULL ? i - 1 : -1, i, false, point, cr_vec3(0, 1, 0)};
    }
    scene->joint_count = count;
    return true;
}

static bool build_cubes(PilesScene* scene, int count, crRandom* random) {
    piles_add_floor(scene);
    if (!piles_take_bodies(scene, count)) return false;
    int n = (int)ceil(sqrt(count));
    for (int i = 0; i < count; i++) {
        crVec3 at = cr_vec3(0.6 * (i % n), 0.6 * (i / n), sample_uniform(random, 0.2, 0.4));
        piles_set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), at, sample_rotation(random));
    }
    return true;
}

static bool build_bouncing(PilesScene* scene, int count, crRandom* random) {
    scene->e = 0.5;
    return build_spheres(scene, count, random);
}

static bool build_alone(PilesScene* scene, int count, crRandom* random) {
    scene->alone = true;
    return build_cubes(scene, count, random);
}

static const struct {
    const char* name;
    int count;
    Build build;
    double seconds;
    bool optional;
    const char* about;
} catalogue[] = {
    {"spheres-1000", 1000, build_spheres, 5.0, false, "spheres of radius 0.1 m dropped into a box"},
    {"boxes-1000", 1000, build_boxes, 5.0, false, "cubes of 0.2 m, turned at random, dropped into a box"},
    {"mixed-1000", 1000, build_mixed, 5.0, false, "seven kinds of shapes dropped into a box"},
    {"bouncing-1000", 1000, build_bouncing, 5.0, false, "spheres-1000 with e = 0.5"},
    {"pyramid-210", 210, build_pyramid, 5.0, false, "a wall of 20 rows of cubes, each on two others"},
    {"stack-10", 10, build_stack, 5.0, false, "ten cubes on top of each other"},
    {"heavy-on-light", 2, build_heavy, 5.0, false, "a cube of 1000 kg on one of 1 kg"},
    {"cubes-together", 4096, build_cubes, 5.0, false, "4096 cubes fall on a plane"},
    {"stairs", 310, piles_build_stairs, 5.0, false, "300 cubes tumble down ten steps"},
    {"tower-hit", 181, piles_build_tower, 5.0, false, "180 cubes as a tower, hit by a ball"},
    {"mixer", 1002, piles_build_mixer, 5.0, false, "two driven paddles turn in 1000 balls"},
    {"dominoes-1000", 1000, piles_build_dominoes, 5.0, false, "twenty rows of fifty fall"},
    {"ragdolls-50", 50, piles_build_ragdolls, 5.0, false,
     "50 figures of 11 bodies on joints fall into a box"},
    {"arch", 15, piles_build_arch, 5.0, false, "15 wedges stand by friction alone"},
    {"kapla-tower", 120, piles_build_kapla, 5.0, false, "planks crosswise, 60 layers"},
    {"boxes-20", 20, build_boxes, 5.0, true, "boxes-1000, but twenty"},
    {"chains", 200, build_chains, 5.0, true, "20 chains of 10 links fall on a steep plane"},
    {"cubes-alone", 4096, build_alone, 2.0, true, "4096 cubes, each in a world of its own"},
    {"spheres-10000", 10000, build_spheres, 5.0, false, "spheres-1000, a larger box as deep"},
    {"bouncing-10000", 10000, build_bouncing, 5.0, false, "spheres-10000 with e = 0.5"},
    {"spheres-100000", 100000, build_spheres, 2.0, true, "likewise"},
};
#define SCENES ((int)(sizeof catalogue / sizeof *catalogue))

const char* piles_scene_name(int index) {
    return index >= 0 && index < SCENES ? catalogue[index].name : NULL;
}

const char* piles_scene_about(int index) {
    return index >= 0 && index < SCENES ? catalogue[index].about : NULL;
}

bool piles_scene_optional(int index) { return catalogue[index].optional; }

bool piles_scene_create(const char* name, uint64_t seed, PilesScene* scene) {
    *scene = (PilesScene){.mu = 0.5, .e = 0.0, .gravity = 9.81, .dt = 1.0 / 240.0};
    for (int i = 0; i < SCENES; i++) {
        if (strcmp(catalogue[i].name, name) != 0) continue;
        crRandom random = sample_seed(seed);
        scene->name = catalogue[i].name;
        scene->seconds = catalogue[i].seconds;
        if (catalogue[i].build(scene, catalogue[i].count, &random)) return true;
        piles_scene_destroy(scene);
        return false;
    }
    return false;
}

void piles_scene_destroy(PilesScene* scene) {
    free(scene->bodies);
    free(scene->joints);
    for (int i = 0; i < scene->hull_count; i++) {
        cr_hull_destroy(scene->hulls[i]);
    }
    *scene = (PilesScene){0};
}

const PilesJoint* piles_joint_of(const PilesScene* scene, int b) {
    for (int i = 0; i < scene->joint_count; i++) {
        if (scene->joints[i].b == b) return &scene->joints[i];
    }
    return NULL;
}

crQuat piles_upright(crVec3 n) {
    crVec3 axis = cr_cross(cr_vec3(0, 0, 1), n);
    crQuat q = {1.0 + n.z, axis.x, axis.y, axis.z};
    return n.z > -1.0 ? cr_quat_normalize(q) : (crQuat){0, 1, 0, 0};
}

crQuat piles_turned(const PilesBody* body, double time) {
    double rate = cr_norm(body->omega);
    crVec3 axis = cr_scale(1.0 / rate, body->omega);
    return cr_quat_mul(cr_quat_axis_angle(axis, rate * time), body->pose.q);
}
