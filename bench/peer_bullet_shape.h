// peer_bullet_shape.h - a shape of carom as one of Bullet's, without its pose; nullptr where Bullet has none.
#ifndef CAROM_BENCH_PEER_BULLET_SHAPE_H
#define CAROM_BENCH_PEER_BULLET_SHAPE_H

#include <btBulletCollisionCommon.h>

#include "carom/collide.h"

btCollisionShape* peer_bullet_shape(const crShape* shape);

#endif
