// scene_ready.h - materials that scenes may name instead of writing their coefficients down, each with its source.
#ifndef CAROM_IO_SCENE_READY_H
#define CAROM_IO_SCENE_READY_H

typedef struct crReady {
    const char* name;    // of a material: "pool-ball"
    const char* other;   // of a pair: the other material; NULL for a material
    const char* fields;  // as a scene has them, JSON
    const char* source;  // author, year, place; "estimate" where none was found
} crReady;

const crReady* cr_ready_at(int index);  // materials first, then pairs; NULL beyond the last

#endif
