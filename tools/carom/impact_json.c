// impact_json.c - answers of `carom impact --json`, one object per collision.
#include "stream.h"
#include "verb_impact.h"

static void write_vector(FILE* file, crVec3 v, int dimension) {
    const double component[3] = {v.x, v.y, v.z};
    for (int i = 0; i < dimension; i++) {
        putc(i == 0 ? '[' : ',', file);
        cr_json_write_number(file, component[i]);
    }
    putc(']', file);
}

static void write_number(FILE* file, const char* key, double value) {
    fprintf(file, "\"%s\":", key);
    cr_json_write_number(file, value);
}

static void write_point(FILE* file, const char* key, bool exists, crVec3 P, const crImpact* impact) {
    fprintf(file, ",\"%s\":", key);
    if (exists) {
        write_vector(file, cr_mat3_mul(impact->frame, P), impact->dimension);
    } else {
        fputs("null", file);
    }
}

static void write_body(FILE* file, const crRigid* body, int dimension) {
    fputs("{\"velocity\":", file);
    write_vector(file, body->velocity, dimension);
    fputs(",\"omega\":", file);
    if (dimension == 2) {
        cr_json_write_number(file, body->omega.z);
    } else {
        write_vector(file, body->omega, dimension);
    }
    putc('}', file);
}

static void write_hit(FILE* file, const crImpact* impact, const char* law, const crHit* hit) {
    int dimension = impact->dimension;
    fprintf(file, "\"law\":\"%s\",\"P\":", law);
    write_vector(file, hit->P, dimension);
    fputs(",\"V_plus\":", file);
    write_vector(file, hit->V_plus, dimension);
    fprintf(file, ",\"regime\":\"%s\",\"solutions\":%d,", cr_regime_name(hit->regime), hit->solutions);
    write_number(file, "energy_change", hit->energy_change);
    fputs(",\"margins\":{", file);
    write_number(file, "energy", hit->margins.energy);
    putc(',', file);
    write_number(file, "penetration", hit->margins.penetration);
    putc(',', file);
    write_number(file, "tension", hit->margins.tension);
    putc(',', file);
    write_number(file, "cone", hit->margins.cone);
    fprintf(file, "},\"permissible\":%s,\"creates_energy\":%s", hit->permissible ? "true" : "false",
            hit->creates_energy ? "true" : "false");
    crVec3 P;
    bool exists = cr_impulse_P_I(&impact->contact, &P);
    write_point(file, "P_I", exists, P, impact);
    exists = cr_impulse_P_II(&impact->contact, &P) && cr_vec3_finite(P);
    write_point(file, "P_II", exists, P, impact);
    if (!impact->has_bodies) return;
    crRigid a = cr_rigid_after(&impact->a, impact->point, cr_neg(hit->P));
    crRigid b = cr_rigid_after(&impact->b, impact->point, hit->P);
    fputs(",\"bodies\":[", file);
    write_body(file, &a, dimension);
    putc(',', file);
    write_body(file, &b, dimension);
    putc(']', file);
}

void json_answers(FILE* file, const crImpact* impact, const Answer* answers) {
    if (!impact->many && answers[0].status != CR_OK) {
        json_error(file, &answers[0].error);
        return;
    }
    putc('{', file);
    if (impact->name != NULL) {
        fputs("\"name\":", file);
        cr_json_write_string(file, impact->name);
        putc(',', file);
    }
    if (impact->many) fputs("\"results\":[", file);
    for (int i = 0; i < impact->law_count; i++) {
        if (impact->many) fputs(i > 0 ? ",{" : "{", file);
        if (answers[i].status == CR_OK) {
            write_hit(file, impact, impact->laws[i], &answers[i].hit);
        } else {
            fprintf(file, "\"law\":\"%s\",", impact->laws[i]);
            json_error_member(file, &answers[i].error);
        }
        if (impact->many) putc('}', file);
    }
    fputs(impact->many ? "]}\n" : "}\n", file);
}
