// sample.c - random collisions from random bodies, so that every W is one that mechanics can produce.
#include "sample.h"

static uint64_t rotate_left(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

crRandom sample_seed(uint64_t seed) {
    crRandom random;
    for (int i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        random.s[i] = z ^ (z >> 31);
    }
    return random;
}

uint64_t sample_bits(crRandom* random) {
    uint64_t* s = random->s;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double sample_uniform(crRandom* random, double lo, double hi) {
    return lo + (hi - lo) * ((double)(sample_bits(random) >> 11) * 0x1p-53);
}

double sample_log(crRandom* random, double lo, double hi) {
    return exp(sample_uniform(random, log(lo), log(hi)));
}

crVec3 sample_direction(crRandom* random) {
    for (;;) {
        crVec3 v;
        v.x = sample_uniform(random, -1.0, 1.0);
        v.y = sample_uniform(random, -1.0, 1.0);
        v.z = sample_uniform(random, -1.0, 1.0);
        double r = cr_norm(v);
        if (r > 0.01 && r <= 1.0) return cr_scale(1.0 / r, v);
    }
}

crQuat sample_rotation(crRandom* random) {
    for (;;) {
        crQuat q;
        q.w = sample_uniform(random, -1.0, 1.0);
        q.x = sample_uniform(random, -1.0, 1.0);
        q.y = sample_uniform(random, -1.0, 1.0);
        q.z = sample_uniform(random, -1.0, 1.0);
        double r = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        if (r > 0.01 && r <= 1.0) return cr_quat_normalize(q);
    }
}

// A uniform direction with a length between lo and hi. One draw per statement here and everywhere in this file:
// compilers order the arguments of a call as they like, and all must try the same inputs.
static crVec3 random_vector(crRandom* random, double lo, double hi) {
    double length = sample_uniform(random, lo, hi);
    return cr_scale(length, sample_direction(random));
}

// A physical inertia: principal moments of a random box of unit mass, one side shrunk for needles and plates.
static crRigid random_body(crRandom* random, double mass, double thin) {
    crRigid body = cr_rigid();
    double a = sample_uniform(random, 0.2, 1.0);
    double b = sample_uniform(random, 0.2, 1.0) * thin;
    double c = sample_uniform(random, 0.2, 1.0) * thin;
    body.mass = mass;
    body.inertia = (crSym3){mass * (b * b + c * c) / 12.0, 0, 0,
                            mass * (a * a + c * c) / 12.0, 0, mass * (a * a + b * b) / 12.0};
    body.orientation = sample_rotation(random);
    body.position = random_vector(random, 0.1, 1.0);
    body.velocity = random_vector(random, 0.0, 3.0);
    body.omega = random_vector(random, 0.0, 3.0);
    return body;
}

// Turn V so that it approaches.
static void make_approaching(crCollision* c) {
    if (cr_dot(c->n, c->V) > 0.0) c->V = cr_neg(c->V);
}

// W and V of a planar contact turned into random coordinates: block diagonal in a frame that holds n.
static void make_planar(crRandom* random, crCollision* c) {
    crMat3 f = cr_quat_matrix(sample_rotation(random));
    crVec3 n = cr_mat3_column(f, 0);
    crVec3 t = cr_mat3_column(f, 1);
    double nn = sample_log(random, 0.1, 10.0);
    double tt = sample_log(random, 0.1, 10.0);
    double nt = sample_uniform(random, -0.999, 0.999) * sqrt(nn * tt);
    double bb = sample_log(random, 0.1, 10.0);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c->W.m[i][j] = nn * f.m[i][0] * f.m[j][0] + tt * f.m[i][1] * f.m[j][1] +
                           bb * f.m[i][2] * f.m[j][2] + nt * (f.m[i][0] * f.m[j][1] + f.m[i][1] * f.m[j][0]);
        }
    }
    c->n = n;
    double normal = sample_uniform(random, -2.0, 0.0);
    double tangential = sample_uniform(random, -2.0, 2.0);
    c->V = cr_add(cr_scale(normal, n), cr_scale(tangential, t));
}

static void make_matrix(crRandom* random, crCollision* c) {
    double a[3][3];
    double squash = sample_uniform(random, 0.0, 1.0) < 0.3 ? sample_log(random, 1e-5, 1.0) : 1.0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            a[i][j] = sample_uniform(random, -1.0, 1.0) * (j == 2 ? squash : 1.0);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            c->W.m[i][j] = a[i][0] * a[j][0] + a[i][1] * a[j][1] + a[i][2] * a[j][2];
        }
    }
    c->n = sample_direction(random);
    double speed = sample_log(random, 1e-2, 1e2);
    c->V = cr_scale(speed, sample_direction(random));
}

static void make_bodies(crRandom* random, crSampleKind kind, crCollision* c) {
    double ratio = kind == SAMPLE_HEAVY ? 1e6 : 1e3;
    double thin = kind == SAMPLE_NEEDLE ? sample_log(random, 1e-3, 0.1) : 1.0;
    crRigid a = random_body(random, 1.0, thin);
    crRigid b = random_body(random, sample_log(random, 1.0 / ratio, ratio), thin);
    a.fixed = kind == SAMPLE_FIXED;
    c->n = sample_direction(random);
    if (kind == SAMPLE_SPHERES) {
        double ra = sample_uniform(random, 0.1, 2.0);
        double rb = sample_uniform(random, 0.1, 2.0);
        crRigid sa = cr_rigid_sphere(a.mass, ra);
        crRigid sb = cr_rigid_sphere(b.mass, rb);
        sa.velocity = a.velocity;
        sa.omega = a.omega;
        sb.velocity = b.velocity;
        sb.omega = b.omega;
        sa.position = cr_scale(-ra, c->n);
        sb.position = cr_scale(rb, c->n);
        a = sa;
        b = sb;
    }
    cr_collision_bodies(c, &a, &b, cr_vec3(0, 0, 0), NULL);
}

crCollision sample_collision(crRandom* random, crSampleKind kind) {
    crCollision c = cr_collision();
    c.mu = sample_uniform(random, 0.0, 1.0) < 0.1 ? 0.0 : sample_uniform(random, 0.0, 2.0);
    c.e = sample_uniform(random, 0.0, 1.0);
    c.et = sample_uniform(random, -1.0, 1.0);
    switch (kind) {
    case SAMPLE_PLANAR:
        make_planar(random, &c);
        break;
    case SAMPLE_MATRIX:
        make_matrix(random, &c);
        break;
    default:
        make_bodies(random, kind, &c);
        break;
    }
    make_approaching(&c);
    return c;
}
