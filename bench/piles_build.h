// piles_build.h - what the builders of scenes share. Each fills bodies, planes and joints from count and random and
// says false where memory is out.
#ifndef CAROM_BENCH_PILES_BUILD_H
#define CAROM_BENCH_PILES_BUILD_H

#include "carom/dynamics.h"
#include "piles.h"
#include "sample.h"

void piles_add_plane(PilesScene* scene, crVec3 normal, double offset);
void piles_add_floor(PilesScene* scene);
void piles_add_box(PilesScene* scene, double half);  // floor and four walls about the z axis
// Place i of a lattice that fills a square of n by n cells layer by layer, shifted a little.
crVec3 piles_lattice(int i, int n, double pitch, crRandom* random);

bool piles_build_stairs(PilesScene* scene, int count, crRandom* random);
bool piles_build_tower(PilesScene* scene, int count, crRandom* random);
bool piles_build_mixer(PilesScene* scene, int count, crRandom* random);
bool piles_build_dominoes(PilesScene* scene, int count, crRandom* random);
bool piles_build_arch(PilesScene* scene, int count, crRandom* random);
bool piles_build_kapla(PilesScene* scene, int count, crRandom* random);
bool piles_build_ragdolls(PilesScene* scene, int count, crRandom* random);

#endif
