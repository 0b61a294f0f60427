// trig.c - sine, cosine and arc tangent from + - * / alone, within 1 ulp, the same bits everywhere.
//
// sin, cos: the angle is reduced to r + dr, |r| <= pi/4, with pi/2 in four parts (33 + 33 + 33 + 53 bits,
// exact products up to 2^20 quadrants) or, beyond, by multiplying with the bits of 2/pi that matter (Payne
// and Hanek 1983); then Taylor polynomials, whose first omitted term is below 2^-58 of the result. atan2:
// with c = k/16 near y/x, atan(y/x) = atan(c) + atan((y - c x)/(x + c y)), the quotient and the table in
// double-double. Fails: never; NaN in gives NaN out.
#include <math.h>

#include "carom/base.h"

// An unevaluated sum hi + lo with |lo| <= ulp(hi)/2.
typedef struct Pair {
    double hi, lo;
} Pair;

static Pair fast_sum(double a, double b) {  // |a| >= |b|
    double s = a + b;
    return (Pair){s, b - (s - a)};
}

static Pair two_sum(double a, double b) {
    double s = a + b;
    double t = s - a;
    return (Pair){s, (a - (s - t)) + (b - t)};
}

static Pair two_product(double a, double b) {
    const double split = 134217729.0;  // 2^27 + 1
    double ta = split * a, tb = split * b;
    double ah = ta - (ta - a), bh = tb - (tb - b);
    double al = a - ah, bl = b - bh;
    double p = a * b;
    return (Pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static Pair pair_add(Pair a, Pair b) {
    Pair s = two_sum(a.hi, b.hi);
    return fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

static Pair pair_mul(Pair a, Pair b) {
    Pair p = two_product(a.hi, b.hi);
    return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

// sine and cosine

#define REDUCE_MAX 1647099.0  // 2^20 quadrants

static Pair reduce_small(double x, unsigned* quadrant) {
    double n = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
    *quadrant = (unsigned)(int)n & 3u;
    double r = x - n * 0x1.921fb54400000p+0;              // exact
    Pair sum = two_sum(r, -(n * 0x1.0b4611a600000p-34));  // exact product
    sum = pair_add(sum, (Pair){-(n * 0x1.3198a2e000000p-69), 0.0});
    return pair_add(sum, (Pair){-(n * 0x1.b839a252049c1p-104), 0.0});
}

// The bits of 2/pi behind the point.
static const uint32_t two_over_pi[38] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

// 32 bits of 2/pi from bit `start` on (0 is the first behind the point; bits before it are 0).
static uint32_t bits_of_two_over_pi(int start) {
    uint32_t word = 0;
    for (int i = 0; i < 32; i++) {
        int at = start + i;
        uint32_t bit = at < 0 ? 0u : (two_over_pi[at / 32] >> (31 - at % 32)) & 1u;
        word = (word << 1) | bit;
    }
    return word;
}

// x = M 2^k; x 2/pi modulo 4 needs only the bits of 2/pi that M 2^k does not make multiples of 4.
static Pair reduce_large(double x, unsigned* quadrant) {
    int exponent;
    double fraction = frexp(fabs(x), &exponent);
    uint64_t M = (uint64_t)(fraction * 0x1p53);
    int start = exponent - 53 - 2;
    uint64_t product[6];  // M times six words, low 192 bits, most significant word first
    uint64_t carry = 0;
    uint32_t low = (uint32_t)M, high = (uint32_t)(M >> 32);
    uint32_t previous = 0;
    for (int i = 5; i >= 0; i--) {
        uint32_t word = bits_of_two_over_pi(start + 32 * i);
        uint64_t a = (uint64_t)word * low;
        uint64_t b = (uint64_t)previous * high;
        uint64_t sum = (a & 0xffffffffu) + (b & 0xffffffffu) + (carry & 0xffffffffu);
        carry = (carry >> 32) + (a >> 32) + (b >> 32) + (sum >> 32);
        product[i] = sum & 0xffffffffu;
        previous = word;
    }
    *quadrant = (unsigned)(product[0] >> 30);
    product[0] &= 0x3fffffffu;
    // nearest quadrant: a fraction of one half or more counts from the next one
    double sign = 1.0;
    double top = 0x1p-30;
    Pair f = {0.0, 0.0};
    bool upper = (product[0] >> 29) != 0;
    if (upper) {
        *quadrant += 1;
        sign = -1.0;
    }
    for (int i = 0; i < 6; i++) {
        uint64_t word = product[i];
        if (upper) word = (i == 0 ? 0x3fffffffu : 0xffffffffu) - word;  // 1 - f up to the last bit
        f = pair_add(f, (Pair){sign * (double)word * top, 0.0});
        top *= 0x1p-32;
    }
    Pair r = pair_mul(f, (Pair){0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54});
    if (x < 0.0) {
        *quadrant = 4u - (*quadrant & 3u);
        r = (Pair){-r.hi, -r.lo};
    }
    *quadrant &= 3u;
    return r;
}

// sin(r + dr), |r| <= pi/4
static double sine_kernel(Pair r) {
    double z = r.hi * r.hi;
    double p = 1.0 / 355687428096000.0;
    p = -1.0 / 1307674368000.0 + z * p;
    p = 1.0 / 6227020800.0 + z * p;
    p = -1.0 / 39916800.0 + z * p;
    p = 1.0 / 362880.0 + z * p;
    p = -1.0 / 5040.0 + z * p;
    p = 1.0 / 120.0 + z * p;
    double cube = z * r.hi;
    // r - r^3/6 (1/6 in two parts) + r^5 p + dr cos r
    Pair third = two_product(cube, -1.0 / 6.0);
    double rest = third.lo + (z * cube * p + r.lo * (1.0 - 0.5 * z));
    Pair sum = fast_sum(r.hi, third.hi);
    return sum.hi + (sum.lo + rest);
}

// cos(r + dr)
static double cosine_kernel(Pair r) {
    double z = r.hi * r.hi;
    double p = 1.0 / 6402373705728000.0;
    p = 1.0 / 20922789888000.0 - z * p;
    p = -1.0 / 87178291200.0 + z * p;
    p = 1.0 / 479001600.0 + z * p;
    p = -1.0 / 3628800.0 + z * p;
    p = 1.0 / 40320.0 + z * p;
    p = -1.0 / 720.0 + z * p;
    p = 1.0 / 24.0 + z * p;
    Pair square = two_product(r.hi, r.hi);
    Pair w = fast_sum(1.0, -0.5 * square.hi);
    return w.hi + (w.lo + (z * z * p - (0.5 * square.lo + r.hi * r.lo)));
}

void cr_sincos(double angle, double* sine, double* cosine) {
    if (sine == NULL || cosine == NULL) return;
    if (!isfinite(angle)) {
        *sine = *cosine = (double)NAN;
        return;
    }
    // below, angle^3/6 and angle^2/2 are less than half of a last digit
    if (fabs(angle) < 0x1p-27) {
        *sine = angle;
        *cosine = 1.0;
        return;
    }
    unsigned quadrant = 0;
    Pair r = {angle, 0.0};
    if (fabs(angle) > REDUCE_MAX) {
        r = reduce_large(angle, &quadrant);
    } else if (fabs(angle) > 0.785398163397448) {
        r = reduce_small(angle, &quadrant);
    }
    double s = sine_kernel(r);
    double c = cosine_kernel(r);
    double turned_s = (quadrant & 1u) ? c : s;
    double turned_c = (quadrant & 1u) ? s : c;
    *sine = (quadrant & 2u) ? -turned_s : turned_s;
    *cosine = (quadrant == 1u || quadrant == 2u) ? -turned_c : turned_c;
}

// arc tangent

// atan(k/16) in two parts
static const Pair atan_table[17] = {{0.0, 0.0},
                                    {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
                                    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
                                    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
                                    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
                                    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                    {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
                                    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
                                    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
                                    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
                                    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

static const Pair pi_pair = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
static const Pair half_pi_pair = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// atan(y/x) for 0 <= y <= x, x > 0, both of moderate size
static Pair atan_octant(double y, double x) {
    int k = (int)(16.0 * (y / x) + 0.5);
    double c = (double)k / 16.0;
    Pair cx = two_product(c, x);
    Pair cy = two_product(c, y);
    Pair num = pair_add((Pair){y, 0.0}, (Pair){-cx.hi, -cx.lo});
    Pair den = pair_add((Pair){x, 0.0}, cy);
    // quotient u + du
    double u = num.hi / den.hi;
    Pair back = two_product(u, den.hi);
    double du = (((num.hi - back.hi) - back.lo) + (num.lo - u * den.lo)) / den.hi;
    double z = u * u;
    double p = -1.0 / 15.0;
    p = 1.0 / 13.0 + z * p;
    p = -1.0 / 11.0 + z * p;
    p = 1.0 / 9.0 + z * p;
    p = -1.0 / 7.0 + z * p;
    p = 1.0 / 5.0 + z * p;
    p = -1.0 / 3.0 + z * p;
    Pair tail = fast_sum(u, du + u * z * p);
    return pair_add(atan_table[k], tail);
}

double cr_atan2(double y, double x) {
    if (isnan(x) || isnan(y)) return (double)NAN;
    double ax = fabs(x), ay = fabs(y);
    if (isinf(ax) || isinf(ay)) {
        ax = isinf(ax) ? 1.0 : 0.0;
        ay = isinf(ay) ? 1.0 : 0.0;
    }
    Pair a = {0.0, 0.0};
    bool swap = ay > ax;
    double big = swap ? ay : ax, small = swap ? ax : ay;
    if (big > 0.0) {
        int exponent;
        (void)frexp(big, &exponent);
        double scaled = ldexp(small, -exponent);
        double unit = ldexp(big, -exponent);
        if (scaled > 0x1p-70) {
            a = atan_octant(scaled, unit);
        } else if (!swap && !signbit(x)) {
            return copysign(small / big, y);  // the tiny quotient itself, subnormals included
        } else {
            a.hi = scaled / unit;
        }
    }
    if (swap) a = pair_add(half_pi_pair, (Pair){-a.hi, -a.lo});
    if (signbit(x)) a = pair_add(pi_pair, (Pair){-a.hi, -a.lo});
    return copysign(a.hi + a.lo, y);
}
