// law_params.c - defaults of the parameters that laws take beyond mu, e and et.
#include "carom/resolve.h"

crLawParams cr_law_params(void) {
    return (crLawParams){.ending = CR_ENDING_POISSON, .nu = 1.0, .eta2 = 1.21};
}
