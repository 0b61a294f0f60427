// carom.h - all of carom.
#ifndef CAROM_H
#define CAROM_H

#include "carom/audit.h"
#include "carom/base.h"
#include "carom/collide.h"
#include "carom/impulse.h"
#include "carom/model.h"
#include "carom/problem.h"
#include "carom/resolve.h"
#include "carom/step.h"
#include "carom/vec.h"
#include "carom/world.h"
#include "carom/wrt.h"

#endif
