// fuzz_recording.c - any bytes as a trajectory in CSV: refused with a place, or a table that is what it says.
//
// What is accepted must be consistent: times that grow, finite numbers, bodies that lie within the rows.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io/recording.h"

static void demand(bool condition) {
    if (!condition) abort();
}

static void check_recording(const crRecording* r) {
    demand(r->count > 0 && r->energy == NULL && r->scene == NULL && !r->has_events);
    for (size_t i = 0; i < r->count; i++) {
        demand(isfinite(r->time[i]) && (i == 0 || r->time[i] > r->time[i - 1]));
    }
    for (size_t i = 0; i < r->count * (size_t)r->nq; i++) {
        demand(isfinite(r->q[i]));
    }
    for (size_t i = 0; i < r->count * (size_t)r->nv; i++) {
        demand(isfinite(r->v[i]));
    }
    for (int i = 0; i < r->body_count; i++) {
        const crRecordedBody* b = &r->bodies[i];
        demand(b->name[0] != '\0' && b->q >= 0 && b->q + b->nq <= r->nq && b->v >= 0 &&
               b->v + b->nv <= r->nv);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/carom-fuzz-%ld.csv", (long)getpid());
    FILE* file = fopen(path, "wb");
    demand(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    crRecording recording;
    crError error = {0};
    if (cr_recording_read(path, &recording, &error) != CR_OK) {
        demand(error.status != CR_OK && error.message[0] != '\0');
    } else {
        check_recording(&recording);
        cr_recording_free(&recording);
    }
    unlink(path);
    return 0;
}
