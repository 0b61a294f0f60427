// piles_structures.c - scenes that are built rather than heaped: stairs, towers, a mixer, dominoes, ragdolls, an arch.
//
// Sizes are such that the slop of game engines (5 to 20 mm) is small beside a body. Lengths in m.
#include <stdlib.h>

#include "piles_build.h"

static crVec3 jitter(crRandom* random, double size) {
    double x = sample_uniform(random, -size, size);
    return cr_vec3(x, sample_uniform(random, -size, size), 0.0);
}

// ten steps of 0.4 by 0.25 between two walls; cubes fall on the upper three and go on down
bool piles_build_stairs(PilesScene* scene, int count, crRandom* random) {
    int stairs = 10;
    piles_add_floor(scene);
    piles_add_plane(scene, cr_vec3(1, 0, 0), 0.0);
    piles_add_plane(scene, cr_vec3(0, 1, 0), -1.0);
    piles_add_plane(scene, cr_vec3(0, -1, 0), -1.0);
    if (!piles_take_bodies(scene, count)) return false;
    for (int i = 0; i < stairs; i++) {
        double half = 0.125 * (stairs - i);
        crVec3 at = cr_vec3(0.2 + 0.4 * i, 0.0, half);
        piles_set_body(&scene->bodies[i], cr_shape_box(0.2, 1.0, half), at, cr_quat_identity());
        scene->bodies[i].role = PILES_FIXED;
    }
    for (int i = stairs; i < count; i++) {
        int k = i - stairs;
        crVec3 at = cr_vec3(0.25 + 0.37 * (k % 3), -0.74 + 0.37 * (k / 3 % 5), 2.8 + 0.37 * (k / 15));
        piles_set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1),
                       cr_madd(at, 0.007, sample_direction(random)), sample_rotation(random));
        scene->bodies[i].v = cr_vec3(1.5, 0, 0);
    }
    return true;
}

// layers of three by three cubes; a ball of 113 kg comes in at half the height with 10 m/s
bool piles_build_tower(PilesScene* scene, int count, crRandom* random) {
    piles_add_floor(scene);
    if (!piles_take_bodies(scene, count)) return false;
    for (int i = 0; i < count - 1; i++) {
        crVec3 at = cr_vec3(0.201 * (i % 3 - 1), 0.201 * (i / 3 % 3 - 1), 0.1 + 0.2 * (i / 9));
        at = cr_add(at, jitter(random, 1e-4));
        piles_set_body(&scene->bodies[i], cr_shape_box(0.1, 0.1, 0.1), at, cr_quat_identity());
    }
    PilesBody* ball = &scene->bodies[count - 1];
    double height = 0.1 * ((count - 1) / 9);
    piles_set_body(ball, cr_shape_sphere(0.3), cr_add(cr_vec3(-5.0, 0.0, height + 1.2), jitter(random, 0.02)),
                   cr_quat_identity());
    ball->v = cr_vec3(10, 0, 0);
    return true;
}

// two crossed paddles turn at 2 rad/s; the balls fall on them. A paddle's end passes the wall at 0.3 m
bool piles_build_mixer(PilesScene* scene, int count, crRandom* random) {
    piles_add_box(scene, 1.0);
    if (!piles_take_bodies(scene, count)) return false;
    for (int i = 0; i < 2; i++) {
        crQuat turn = cr_quat_axis_angle(cr_vec3(0, 0, 1), 0.5 * CR_PI * i);
        piles_set_body(&scene->bodies[i], cr_shape_box(0.7, 0.05, 0.3), cr_vec3(0, 0, 0.35), turn);
        scene->bodies[i].role = PILES_DRIVEN;
        scene->bodies[i].omega = cr_vec3(0, 0, 2);
    }
    for (int i = 2; i < count; i++) {
        crVec3 at = piles_lattice(i - 2, 9, 0.22, random);
        at.z += 0.7;
        piles_set_body(&scene->bodies[i], cr_shape_sphere(0.1), at, sample_rotation(random));
    }
    return true;
}

// rows of fifty, 0.4 apart; the first of each row is pushed over at 1.5 rad/s about its lower edge
bool piles_build_dominoes(PilesScene* scene, int count, crRandom* random) {
    piles_add_floor(scene);
    if (!piles_take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        crVec3 at = cr_vec3(0.4 * (i % 50), 1.0 * (i / 50), 0.4);
        piles_set_body(&scene->bodies[i], cr_shape_box(0.05, 0.2, 0.4), cr_add(at, jitter(random, 5e-3)),
                       cr_quat_identity());
        if (i % 50 > 0) continue;
        scene->bodies[i].omega = cr_vec3(0, 1.5, 0);
        scene->bodies[i].v = cr_cross(scene->bodies[i].omega, cr_vec3(-0.05, 0, 0.4));
    }
    return true;
}

// wedges of a half ring, 1 m inside and 1.4 m outside, each standing on the one below; no mortar
bool piles_build_arch(PilesScene* scene, int count, crRandom* random) {
    (void)random;
    piles_add_floor(scene);
    double angle = 0.5 * CR_PI / count, r = 1.0, R = 1.4;
    crVec3 points[4];
    for (int i = 0; i < 4; i++) {
        // inner, outer, outer, inner: counterclockwise
        double radius = i == 0 || i == 3 ? r : R, side = i < 2 ? -1.0 : 1.0;
        points[i] = cr_vec3(radius * cr_cos(angle), side * radius * cr_sin(angle), 0.0);
    }
    if (cr_hull_create_prism(points, 4, 0.2, NULL, &scene->hulls[0], NULL) != CR_OK) return false;
    scene->hull_count = 1;
    if (!piles_take_bodies(scene, count)) return false;
    crShape wedge = cr_shape_hull(scene->hulls[0]);
    crVec3 com = cr_mass_of_shape(&wedge, 1.0).com;
    for (int i = 0; i < count; i++) {
        crQuat round = cr_quat_axis_angle(cr_vec3(0, 1, 0), -angle * (2 * i + 1));
        crQuat turn = cr_quat_mul(round, cr_quat_axis_angle(cr_vec3(1, 0, 0), 0.5 * CR_PI));
        piles_set_body(&scene->bodies[i], wedge, cr_quat_rotate(turn, com), turn);
    }
    scene->stands = true;
    return true;
}

// planks of 1.2 by 0.24 by 0.08, two a layer, layers crossing
bool piles_build_kapla(PilesScene* scene, int count, crRandom* random) {
    piles_add_floor(scene);
    if (!piles_take_bodies(scene, count)) return false;
    for (int i = 0; i < count; i++) {
        int layer = i / 2;
        double side = i % 2 ? 0.4 : -0.4, z = 0.04 + 0.08 * layer;
        bool along = layer % 2 == 0;
        crVec3 at = along ? cr_vec3(0, side, z) : cr_vec3(side, 0, z);
        crShape plank = along ? cr_shape_box(0.6, 0.12, 0.04) : cr_shape_box(0.12, 0.6, 0.04);
        piles_set_body(&scene->bodies[i], plank, cr_add(at, jitter(random, 1e-3)), cr_quat_identity());
    }
    scene->stands = true;
    return true;
}

// ragdolls: eleven bodies, ball joints at spine, neck, shoulders and hips, hinges at elbows and knees

#define PARTS 11

typedef struct Part {
    int on;  // part it hangs on, -1 for the root
    bool ball;
    crVec3 at, joint;  // centre and joint in the figure's frame: x forward, y to the left, z up
    crShapeKind kind;
    crVec3 size;
} Part;

static const Part parts[PARTS] = {
    {-1, false, {0, 0, 0.00}, {0, 0, 0}, CR_SHAPE_BOX, {0.08, 0.14, 0.08}},
    {0, true, {0, 0, 0.32}, {0, 0, 0.10}, CR_SHAPE_BOX, {0.09, 0.15, 0.20}},
    {1, true, {0, 0, 0.66}, {0, 0, 0.54}, CR_SHAPE_SPHERE, {0.11, 0, 0}},
    {1, true, {0, 0.23, 0.32}, {0, 0.23, 0.46}, CR_SHAPE_CAPSULE, {0.05, 0, 0.09}},
    {3, false, {0, 0.23, 0.02}, {0, 0.23, 0.18}, CR_SHAPE_CAPSULE, {0.05, 0, 0.10}},
    {1, true, {0, -0.23, 0.32}, {0, -0.23, 0.46}, CR_SHAPE_CAPSULE, {0.05, 0, 0.09}},
    {5, false, {0, -0.23, 0.02}, {0, -0.23, 0.18}, CR_SHAPE_CAPSULE, {0.05, 0, 0.10}},
    {0, true, {0, 0.09, -0.31}, {0, 0.09, -0.10}, CR_SHAPE_CAPSULE, {0.07, 0, 0.13}},
    {7, false, {0, 0.09, -0.73}, {0, 0.09, -0.52}, CR_SHAPE_CAPSULE, {0.06, 0, 0.14}},
    {0, true, {0, -0.09, -0.31}, {0, -0.09, -0.10}, CR_SHAPE_CAPSULE, {0.07, 0, 0.13}},
    {9, false, {0, -0.09, -0.73}, {0, -0.09, -0.52}, CR_SHAPE_CAPSULE, {0.06, 0, 0.14}},
};

static crShape part_shape(const Part* part) {
    crVec3 s = part->size;
    if (part->kind == CR_SHAPE_BOX) return cr_shape_box(s.x, s.y, s.z);
    return part->kind == CR_SHAPE_SPHERE ? cr_shape_sphere(s.x) : cr_shape_capsule(s.x, s.z);
}

static void add_figure(PilesScene* scene, int first, crPose pose) {
    for (int i = 0; i < PARTS; i++) {
        const Part* part = &parts[i];
        piles_set_body(&scene->bodies[first + i], part_shape(part), cr_pose_point(pose, part->at), pose.q);
        if (part->on < 0) continue;
        scene->joints[scene->joint_count++] =
            (PilesJoint){first + part->on, first + i, part->ball, cr_pose_point(pose, part->joint),
                         cr_quat_rotate(pose.q, cr_vec3(0, 1, 0))};
    }
}

// in layers of nine, each turned at random
bool piles_build_ragdolls(PilesScene* scene, int count, crRandom* random) {
    piles_add_box(scene, 3.0);
    scene->joints = calloc((size_t)count * PARTS, sizeof *scene->joints);
    if (scene->joints == NULL || !piles_take_bodies(scene, count * PARTS)) return false;
    for (int i = 0; i < count; i++) {
        crPose pose = {piles_lattice(i, 3, 1.95, random), sample_rotation(random)};
        add_figure(scene, i * PARTS, pose);
    }
    return true;
}
