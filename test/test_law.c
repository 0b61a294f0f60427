// placeholder of the law tests; see test_law_*.c
#include "test.h"

TEST(newton_head_on) {
    crCollision c = cr_collision();
    c.V = cr_vec3(-2, 0, 0);
    c.e = 0.5;
    crLaw law = cr_law_newton();
    crHit hit;
    CHECK_STATUS(cr_law_apply(&law, &c, &hit, NULL), CR_OK);
    CHECK_VEC(hit.P, cr_vec3(3, 0, 0), 1e-15);
}
