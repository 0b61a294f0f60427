// bundled.h - the scenes that come with carom: the files of scenes/ as text, made by cmake/embed_scenes.cmake.
#ifndef CAROM_IO_BUNDLED_H
#define CAROM_IO_BUNDLED_H

typedef struct crBundled {
    const char* name;  // NULL after the last
    const char* text;  // JSON
} crBundled;

extern const crBundled cr__bundled[];

#endif
