// peer_bullet.h - Bullet's narrow phase as plain functions; built only where the library is found.
#ifndef CAROM_BENCH_PEER_BULLET_H
#define CAROM_BENCH_PEER_BULLET_H

#include "carom/collide.h"

typedef struct PeerBullet PeerBullet;

// Two shapes at their poses; NULL for a kind that Bullet has no shape for (ellipsoid).
PeerBullet* peer_bullet_create(const crShape* a, crPose pa, const crShape* b, crPose pb);
void peer_bullet_destroy(PeerBullet* pair);  // accepts NULL
// Contacts of the pair through Bullet's own choice of algorithm; returns the least distance.
double peer_bullet_run(PeerBullet* pair);

#endif
