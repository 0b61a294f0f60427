// scene_ready.c - ready materials: billiards, tennis, table tennis.
//
// Moments of the cloth are arms, which hold for the ball's radius R: a ball rolls with the deceleration mu_r g where
// mu_roll = 7/5 mu_r R, and its spin about the vertical falls by alpha where mu_spin = 2/5 R^2 alpha/g. Sources are primary
// where it says so; "as used by" names the program in which the figure was read.
#include "io/scene_ready.h"

#include <stddef.h>

#define ALCIATORE                                                                                           \
    "Alciatore, Physical properties of pool balls and tables (billiards.colostate.edu), typical value, as " \
    "used by pooltool"

static const crReady all[] = {
    {"pool-ball", NULL, "{\"density\": 1740, \"mu\": 0.06, \"e\": 0.95, \"color\": \"#f4f1e4\"}",
     "57.15 mm and 0.170 kg: World Pool-Billiard Association, equipment specifications; e, mu: see pool-ball "
     "with pool-ball"},
    {"pool-cloth", NULL, "{\"mu\": 0.2, \"e\": 0.5, \"color\": \"#1f7a4d\"}", ALCIATORE},
    {"snooker-cushion", NULL, "{\"mu\": 0.14, \"e\": 0.98, \"color\": \"#14532d\"}",
     "see pool-ball with snooker-cushion"},
    {"carom-cushion", NULL, "{\"mu\": 0.3, \"e\": 0.7, \"color\": \"#14532d\"}",
     "see pool-ball with carom-cushion"},
    {"tennis-ball", NULL, "{\"density\": 368, \"mu\": 0.6, \"e\": 0.745, \"color\": \"#c6ed2c\"}",
     "67 mm and 0.058 kg, a hollow ball: give its inertia; e: International Tennis Federation, Rules of "
     "Tennis, appendix I"},
    {"tennis-court", NULL, "{\"mu\": 0.6, \"e\": 0.745, \"color\": \"#3b6ea5\"}",
     "see tennis-ball with tennis-court"},
    {"table-tennis-ball", NULL, "{\"density\": 80.6, \"mu\": 0.25, \"e\": 0.93, \"color\": \"#fdf6e3\"}",
     "40 mm and 0.0027 kg, a hollow ball: give its inertia, 2/3 m r^2; International Table Tennis "
     "Federation, laws 2.3"},
    {"table-tennis-table", NULL, "{\"mu\": 0.25, \"e\": 0.93, \"color\": \"#1e4d8c\"}",
     "see table-tennis-ball with table-tennis-table"},
    {"table-tennis-rubber", NULL, "{\"mu\": 1, \"e\": 0.8, \"color\": \"#b3261e\"}", "estimate"},
    {"pool-ball", "pool-ball",
     "{\"e\": 0.95, \"mu\": {\"form\": \"decay\", \"by\": \"slip\", \"near\": 0.117951, \"far\": 0.009951, "
     "\"scale\": "
     "0.919117647}}",
     "mu = 0.009951 + 0.108 exp(-1.088 v) over the slip v: Alciatore, technical proof A.14, a fit to Marlow "
     "1995, as used by "
     "pooltool; e: " ALCIATORE},
    {"pool-ball", "pool-cloth", "{\"mu\": 0.2, \"e\": 0.5, \"mu_roll\": 4.0005e-4, \"mu_spin\": 3.329e-4}",
     "slide 0.2, roll 0.01 g, spin 10 rad/s^2 for R = 28.575 mm: " ALCIATORE},
    {"pool-ball", "snooker-cushion", "{\"mu\": 0.14, \"e\": 0.98}",
     "Mathavan, Jackson and Parkin 2010, Proc. IMechE C 224, 1863 (abstract): nose 7/5 R above the cloth, a "
     "rigid cushion, "
     "good to 2.5 m/s of normal speed"},
    {"pool-ball", "carom-cushion",
     "{\"e\": {\"by\": \"speed\", \"rows\": [[0, 0.39], [0.25, 0.4515], [0.5, 0.5075], [0.75, 0.558], [1, "
     "0.603], [1.5, "
     "0.6765], [2, 0.728], [2.5, 0.7575], [3, 0.765], [3.5, 0.7505], [4, 0.714], [4.5, 0.6555], [5, "
     "0.575]]}, \"mu\": "
     "{\"by\": \"angle\", \"rows\": [[0, 0.471], [1.5707963267948966, 0.09244]]}}",
     "e = 0.39 + 0.257 v - 0.044 v^2 over speed, mu = 0.471 - 0.241 angle: Han 2005, J. Mech. Sci. Tech. 19, "
     "976, as used by "
     "tailuge/billiards; his angle is that of the ball's path, here it is that of the touching points"},
    {"tennis-ball", "tennis-court",
     "{\"mu\": 0.6, \"e\": 0.745, \"et\": {\"form\": \"grip\", \"grip\": 0.2, \"limit\": 1.2}}",
     "e: a drop from 2.54 m returns to 1.35 to 1.47 m, International Tennis Federation, Rules of Tennis, "
     "appendix I; that the "
     "ball grips and its friction reverses: Cross 2002, Am. J. Phys. 70, 1093; mu, grip and limit: "
     "estimates"},
    {"table-tennis-ball", "table-tennis-table", "{\"mu\": 0.25, \"e\": 0.93, \"et\": 0}",
     "Nakashima and others 2010, American Control Conference, Modeling of rebound phenomenon of a rigid "
     "ball, as read in a "
     "collection of contact models"},
    {"table-tennis-ball", "table-tennis-rubber",
     "{\"mu\": 1, \"e\": 0.8, \"et\": {\"form\": \"grip\", \"grip\": 0.6, \"limit\": 1.4}}",
     "estimate: a rubber that grips and gives most of the tangential energy back"},
};

const crReady* cr_ready_at(int index) {
    return index >= 0 && (size_t)index < sizeof all / sizeof all[0] ? &all[index] : NULL;
}
