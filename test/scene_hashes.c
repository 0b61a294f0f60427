// scene_hashes.c - the hash of the state of every bundled scene after some steps: the same text on every machine.
//
//     scene_hashes [STEPS [MOST_BODIES]]
//
// Each line is a scene, the steps made, and the hash; scenes that a part left out of this build cannot read have the status instead.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/carom.h"
#include "carom/io/scene.h"

int main(int count, char** arguments) {
    int steps = count > 1 ? atoi(arguments[1]) : 100, most = count > 2 ? atoi(arguments[2]) : 50;
    int failures = 0;
    for (int i = 0; cr_scene_bundled(i) != NULL; i++) {
        crScene scene;
        crWorld* world = NULL;
        crError error = {0};
        crStatus status = cr_scene_open(cr_scene_bundled(i), NULL, &scene, &world, &error);
        int made = 0;
        bool small = status == CR_OK && scene.model->nb - 1 <= most;
        while (small && status == CR_OK && made < steps) {
            status = cr_world_step(world, &error);
            made += status == CR_OK;
        }
        if (small)
            printf("%-24s %4d %016llx\n", cr_scene_bundled(i), made,
                   (unsigned long long)cr_world_hash(world));
        // hulls of points need Qhull, which other targets do not have
        failures += status != CR_OK && strstr(error.message, "Qhull") == NULL;
        if (status != CR_OK) fprintf(stderr, "%s: %s\n", cr_scene_bundled(i), error.message);
        cr_world_destroy(world);
        cr_scene_free(&scene);
    }
    return failures > 0;
}
