// batch_image.h - a model as one block of bytes for a device.
#ifndef CAROM_WORLD_BATCH_IMAGE_H
#define CAROM_WORLD_BATCH_IMAGE_H

#include "world/batch.h"

// Why a device cannot hold the model, NULL where it can.
const char* cr__image_refuses(const crModel* model);
// Bytes of the image; written to `out` with pointers for the address `base` where out is not NULL. The image begins
// with the crModel.
size_t cr__image_model(const crModel* model, unsigned char* out, uint64_t base);

#endif
