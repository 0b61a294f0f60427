// animation.h - trajectories as moving pictures: .svg that plays by itself, .gif, .mp4 and .webm by ffmpeg.
#ifndef CAROM_PLOT_ANIMATION_H
#define CAROM_PLOT_ANIMATION_H

#include "plot/view.h"

typedef struct crAnimation {
    int count;                       // of logs, 1 to CR_ANIMATION_PANELS, each in its panel
    const crMotionLog* const* logs;  // with their models
    const char* const* labels;
    crViewChoice choice;  // kind CR_VIEW_MOTION; bodies
    double speed;         // of playing: 1 is as fast as it was, 0.1 ten times slower
    crCameraChoice camera;
    bool dark;  // true if pixels are drawn on dark paper; an .svg follows the reader's screen
} crAnimation;
#define CR_ANIMATION_PANELS 16

// true where the path ends as a moving picture's: .svg, .gif, .mp4 or .webm.
bool cr_animation_is_format(const char* path);

// Panels side by side in one scale, a bar that shows the time below. A picture that is not whole is not left behind.
// Fails: missing-field (a log without a model), argument (speed), file, memory; unsupported where ffmpeg is needed
// and not installed.
crStatus cr_animation_save(const crAnimation* animation, const char* path, crError* error);

#endif
