// animation_parts.h - a moving picture that has been laid out, and its ways into a file.
#ifndef CAROM_PLOT_ANIMATION_PARTS_H
#define CAROM_PLOT_ANIMATION_PARTS_H

#include "plot/animation.h"
#include "plot/stage.h"
#include "plot/view_parts.h"

typedef struct crReel {
    const crAnimation* animation;
    crView* views[CR_ANIMATION_PANELS];  // with their panels set
    crSheet back;                        // what does not move: grounds, frames, labels, the bar
    double bar[3];                       // of the time: left, right and y, pixels
    double begin, end;                   // of what is shown, s
    double seconds, hold;                // of playing, with the hold on the last picture
    crCamera camera;                     // where one is given; cr_camera_fit is done panel by panel
    bool drawn;                          // true if lines and areas are kept (.svg), false if pixels
    crStatus status;                     // memory, where a picture in perspective could not be made
} crReel;

double cr__reel_time(const crReel* reel, double played);          // what time is shown then, s
void cr__reel_bodies(crReel* reel, crSheet* sheet, double time);  // of all panels
void cr__reel_frame(crReel* reel, crSheet* sheet, double time);   // bodies, and the bar up to the time
crPen cr__reel_pen(int body);
// One panel in perspective, at the record of its view's player; the sheet is the one that the view has.
void cr__reel_stage(crReel* reel, int panel, bool ground, bool pieces);

crStatus cr__reel_svg(crReel* reel, const char* path, crError* error);
crStatus cr__reel_gif(crReel* reel, const char* path, crError* error);
crStatus cr__reel_film(crReel* reel, const char* path, crError* error);  // through ffmpeg

#endif
