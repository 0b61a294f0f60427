// jitter.h - what is not known exactly of a scene: classes of values, or single fields, with a size.
//
//     position=1e-4               normal, standard deviation 0.1 mm, of every body's place
//     velocity=uniform:0.01       uniform within 0.01 m/s either side
//     materials.ball.e=2%         normal, two percent of the value that stands there
//     bodies.cue.vel[1]=0.05      one field of the file, by its path as in --set
#ifndef CAROM_FIT_JITTER_H
#define CAROM_FIT_JITTER_H

#include "io/scene.h"

#define CR_JITTER_NAME 64

typedef enum crJitterKind {
    CR_JITTER_POSITION,  // of free, planar and sliding bodies, m
    CR_JITTER_VELOCITY,  // of these, m/s
    CR_JITTER_ANGLE,     // of free, planar, hinged and ball-jointed bodies, rad
    CR_JITTER_SPIN,      // of these, rad/s
    CR_JITTER_GAP,       // shapes of bodies that move are smaller all around by this, never larger, m
    CR_JITTER_MU,        // of every material and pair; never below 0
    CR_JITTER_E,         // likewise; from 0 to 1
    CR_JITTER_FIELD      // a number of the file, or each number of a list
} crJitterKind;

typedef struct crJitter {
    crJitterKind kind;
    char name[CR_JITTER_NAME];  // of the class, or the path
    double size;                // standard deviation, or half width
    bool uniform;
    bool relative;  // size is a share of the value
} crJitter;

// NAME=SIZE. Fails: syntax, not-finite, out-of-range (negative, or a share where there is no value).
crStatus cr_jitter_parse(const char* text, crJitter* jitter, crError* error);
// Whether a scene has what is to be jittered. Fails: unknown-field, missing-field, wrong-type, argument.
crStatus cr_jitter_check(const crJitter* jitter, const crJson* root, const crScene* scene, crError* error);

// A scene of a tree whose values are drawn from the stream. root is not changed; text is the same tree as
// JSON, read again where a field is jittered. Fails: what the reader of scenes refuses; out-of-range.
crStatus cr_jitter_scene(const crJitter* jitters, int count, const crJson* root, const char* text,
                         uint64_t* random, crScene* scene, crError* error);

#endif
