// first_scene.c - a scene or model in one call: it runs, and its trajectory and first contact problem become files.
//
//     first_scene [SCENE [TRAJECTORY.csv|.h5 [PROBLEM.json]]]
#include <stdio.h>

#include "carom/carom.h"
#include "carom/io/problem.h"
#include "carom/io/scene.h"
#include "carom/io/trajectory.h"
#include "carom/stages.h"

static void show(void* ctx, crLogLevel level, const char* message) {
    (void)ctx;
    if (level != CR_LOG_INFO) fprintf(stderr, "warning: %s\n", message);
}

typedef struct Keep {
    const char* path;
    bool written;
} Keep;

// Called after each contact solve and each impact: the first contact solve becomes a file, with its impulses.
static crStatus keep_problem(void* ctx, const crPosed* posed, crError* error) {
    Keep* keep = ctx;
    if (posed->impact || keep->written) return CR_OK;
    keep->written = true;
    crProblemFile file = {.problem = *posed->problem, .name = "first", .p = posed->p, .h = posed->h};
    return cr_problem_write(keep->path, "json", &file, error);
}

// Steps up to the duration of the scene, with a record of each step and of the start.
static crStatus run(const crScene* scene, crWorld* world, crTrajectory* trajectory, crTally* tally,
                    crError* error) {
    crRecord record = {.energy = cr_world_energy(world)};
    crStatus status = trajectory != NULL ? cr_trajectory_write(trajectory, &record, error) : CR_OK;
    while (status == CR_OK && cr_world_state(world)->time < scene->duration - 0.5 * scene->step.dt) {
        status = cr_world_step(world, error);
        if (status != CR_OK) break;
        const crCertificate* certificate = cr_world_certificate(world);
        cr_tally_add(tally, certificate);
        record.energy = cr_world_energy(world);
        record.residual = certificate->residual;
        record.penetration = certificate->penetration;
        record.contacts = certificate->contacts;
        if (trajectory != NULL) status = cr_trajectory_write(trajectory, &record, error);
    }
    return status;
}

int main(int count, char** arguments) {
    const char* name = count > 1 ? arguments[1] : "bouncing-ball";
    crLog log = {show, NULL};
    crScene scene;
    crWorld* world = NULL;
    crTrajectory* trajectory = NULL;
    crTally tally = {0};
    Keep keep = {count > 3 ? arguments[3] : NULL, false};
    crError error = {0};
    crStatus status = cr_scene_open(name, &log, &scene, &world, &error);
    if (status == CR_OK && count > 2)
        status = cr_trajectory_create(arguments[2], world, 0, &trajectory, &error);
    if (status == CR_OK && keep.path != NULL) {
        cr_world_stages(world)->calls.posed = keep_problem;
        cr_world_stages(world)->calls.posed_ctx = &keep;
    }
    if (status == CR_OK) status = run(&scene, world, trajectory, &tally, &error);
    if (status == CR_OK) {
        printf("%s: %d bodies, %.3g s, energy %.6g J\n", name, cr_world_model(world)->nb - 1,
               cr_world_state(world)->time,
               cr_world_energy(world).kinetic + cr_world_energy(world).potential);
        printf("%s\n", tally.worst.impermissible == 0 ? "every impact permissible" : "some not permissible");
    }
    crStatus closed = cr_trajectory_close(trajectory, status == CR_OK ? &error : NULL);
    if (status == CR_OK) status = closed;
    if (status != CR_OK) fprintf(stderr, "first_scene: %s\n", error.message);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    return status != CR_OK;
}
