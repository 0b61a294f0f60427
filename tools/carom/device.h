// device.h - --device of verbs that run many worlds.
#ifndef CAROM_DEVICE_H
#define CAROM_DEVICE_H

#include "fit/ranks.h"
#include "fit/worlds.h"

// --device NAME: -1 to go on, else the exit status.
int device_option(const char* verb, const char* name, crWorldsDevice* device);
// The device program and the number of the device of this rank, where the device is a GPU; text is to be freed. The program is
// $CAROM_PTX, or carom.ptx beside the command, in ../lib/carom or in ../../out. Fails: file where it cannot be read.
crStatus device_open(crWorldsDevice* device, char** text, crError* error);
// True if an error is about the device.
bool device_blamed(const crError* error);

#endif
