// impacts.h - measured collisions of one body with something fixed, as points of impulse space.
//
// A measurement is W, V and the impulse P that explains the velocities after best: with G = M^-1 J^T the map
// from impulses to velocity changes, P minimizes |dv - G P| in the kinetic metric, and what is left,
//
//     unexplained = |dv - G P|^2_M / m,        error(P')^2 = unexplained + (P' - P).W (P' - P) / m,
//
// both in (m/s)^2: error is the mass-weighted velocity error of a law that answers P'.
#ifndef CAROM_FIT_IMPACTS_H
#define CAROM_FIT_IMPACTS_H

#include "carom/carom.h"
#include "io/table.h"

typedef enum crImpactForm {
    CR_FORM_PLANAR,   // m I nx ny rx ry vx vy w, and vx_after vy_after w_after
    CR_FORM_SPATIAL,  // m Ixx Iyy Izz Ixy Ixz Iyz n r v w and _after, each with x y z
    CR_FORM_IMPULSE,  // Wnn Wn1 Wn2 W11 W12 W22 Vn V1 V2, and Pn P1 P2; in the plane without the 2s
} crImpactForm;

// Where a quantity comes from, if not from the column of its own name: a column times a factor, or a number.
#define CR_SOURCES_MOST 64
typedef struct crSource {
    char name[16];
    char column[64];  // "" where it is a number
    double factor;    // of the column, else the number itself
} crSource;

// Only rows in which a column has this value.
typedef struct crWhere {
    char column[64];
    double value;
} crWhere;

typedef struct crImpactOptions {
    int source_count;
    crSource sources[CR_SOURCES_MOST];
    int where_count;
    crWhere where[CR_SOURCES_MOST];
    bool skip;        // leave bad rows out instead of refusing the file
    bool unmeasured;  // velocities after (or impulses) may be missing
} crImpactOptions;

typedef struct crImpactRow {
    int row, line;      // of the table
    crContact contact;  // W and V in the contact frame; mu, e, et are 0
    crMat3 frame;       // columns n, t1, t2
    crRigid body;       // before; not in the form of impulses
    crVec3 point;       // of contact, from the centre of mass
    crVec3 v_after, w_after;
    double mass;    // kg; 1/Wnn where none is given
    double change;  // |dv|^2_M / m, (m/s)^2
    crVec3 P;       // measured, contact frame
    double unexplained;
    double energy_ratio;  // kinetic energy after over before
} crImpactRow;

typedef struct crImpacts {
    crImpactForm form;
    bool planar, measured;
    int count;
    crImpactRow* rows;   // (count)
    int left_out;        // by where
    int skipped;         // bad ones
    crError skip_first;  // why the first of them was
    double mirror;       // planar: mean unexplained speed if rotations were counted the other way, m/s
} crImpacts;

// "NAME=SOURCE" with a column, -column, column*2, column/148 or a number; and "COLUMN=VALUE".
crStatus cr_impact_source(crImpactOptions* options, const char* text, crError* error);
crStatus cr_impact_where(crImpactOptions* options, const char* text, crError* error);

// Fails: missing-field (a column), unknown-field (a source or condition names none), not-finite (a cell, with
// line and column), out-of-range (mass, inertia, normal, a contact that does not approach, energies that no
// collision has), not-positive, memory; what is left must be at least one row.
crStatus cr_impacts_create(const crTable* table, const crImpactOptions* options, crImpacts* impacts,
                           crError* error);
void cr_impacts_destroy(crImpacts* impacts);  // accepts a zeroed struct

double cr_impact_error(const crImpactRow* row, crVec3 P);  // of a law that answers P, m/s

// What the measurements say before any law is asked.
typedef struct crImpactsSummary {
    double speed_change;                    // mean |dv|, m/s
    double floor;                           // mean error of the best impulse at the point
    double permissible_floor;               // of the best one that is permissible for some mu
    int impossible;                         // rows whose P no mu permits
    int creates_energy, penetrates, pulls;  // and why; one row may count in several
    double e[3], et[3], mu[3];  // quartiles of what each row has by itself; et where P_II is off the normal
} crImpactsSummary;
crStatus cr_impacts_summary(const crImpacts* impacts, crImpactsSummary* summary, crError* error);

// P = u P_I + s (P_II - P_I) + rest: false where P_II is along n to 1e-3 of P_I, or does not exist. e of the
// row is u - 1 and its et is s - 1.
bool cr_impact_normalized(const crImpactRow* row, crVec3 P, double* u, double* s);

// The nearest permissible impulse for unlimited friction, in the metric of W.
crVec3 cr_impact_nearest(const crContact* contact, crVec3 P);

#endif
