// recording_parts.h - what the formats of recordings share.
#ifndef CAROM_IO_RECORDING_PARTS_H
#define CAROM_IO_RECORDING_PARTS_H

#include "io/recording.h"

// Fills a zeroed recording; the caller frees it, failed or not.
crStatus cr__recording_hdf5(const char* path, crRecording* recording, crError* error);

#endif
