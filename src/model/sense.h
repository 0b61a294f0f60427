// sense.h - the parts of sensing that a model and a world share.
#ifndef CAROM_MODEL_SENSE_H
#define CAROM_MODEL_SENSE_H

#include "model/spatial.h"

// All sensors without noise, from kinematics and velocities in d and accelerations of v.
void cr__sense(const crModel* model, const crState* state, const crDynamics* d, const double* acceleration,
               double* out);
void cr__sense_noise(const crModel* model, double time, double* out);  // adds the noise of all sensors

static inline crPose cr__site_pose(const crModel* model, const crDynamics* d, int site) {
    const crSite* s = &model->sites[site];
    return cr_pose_mul(d->pose[s->body], s->volume.pose);
}
// A force and a moment in world axes as a site's force or torque sensor gives them; the moment is about the site.
void cr__sense_wrench(const crSensor* sensor, crPose site, crVec3 force, crVec3 moment, double* out);
// Whether `body` is `top` or hangs on it.
bool cr__carried_by(const crModel* model, int body, int top);

#endif
