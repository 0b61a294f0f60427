// cue.c - a ball struck by a cue, over cr_cue_strike.
#include "binding.h"
#include "carom/forms.h"

// _cue_strike(mass, end_mass, e, mu, ball_mass, ball_radius, speed, side, height): velocity, omega, squirt, impulse, miscue
PyObject* py_cue_strike(PyObject* module, PyObject* args) {
    (void)module;
    crCue cue;
    double ball_mass, ball_radius, speed, side, height;
    if (!PyArg_ParseTuple(args, "ddddddddd:cue_strike", &cue.mass, &cue.end_mass, &cue.e, &cue.mu, &ball_mass,
                          &ball_radius, &speed, &side, &height))
        return NULL;
    crStrike strike;
    crError error = {0};
    if (cr_cue_strike(&cue, ball_mass, ball_radius, speed, side, height, &strike, &error) != CR_OK)
        return py_raise(&error);
    return Py_BuildValue("NNddO", py_vector(strike.velocity), py_vector(strike.omega), strike.squirt,
                         strike.impulse, strike.miscue ? Py_True : Py_False);
}
