// audit_json.c - numbers, vectors and audits as JSON.
#include "audit_json.h"

static void put_key(FILE* file, bool first, const char* key) {
    fprintf(file, first ? "\"%s\":" : ",\"%s\":", key);
}

void json_number(FILE* file, bool first, const char* key, double value) {
    put_key(file, first, key);
    cr_json_write_number(file, value);
}

void json_bool(FILE* file, bool first, const char* key, bool value) {
    put_key(file, first, key);
    fputs(value ? "true" : "false", file);
}

void json_vector(FILE* file, const double* x, int count) {
    putc('[', file);
    for (int i = 0; i < count; i++) {
        if (i > 0) putc(',', file);
        cr_json_write_number(file, x[i]);
    }
    putc(']', file);
}

void json_audit(FILE* file, const crAudit* audit) {
    json_number(file, true, "residual", audit->residual);
    json_number(file, false, "residual_least", audit->least);
    json_number(file, false, "residual_most", audit->most);
    json_number(file, false, "eta", audit->eta);
    json_number(file, false, "floor", audit->floor);
    json_number(file, false, "distance", audit->distance);
    json_number(file, false, "permits", audit->permits);
    json_number(file, false, "scale", audit->scale);
    json_number(file, false, "asymmetry", audit->asymmetry);
    json_number(file, false, "natural", audit->natural);
    json_number(file, false, "approach", audit->laws.approach);
    json_number(file, false, "cone", audit->laws.cone);
    json_number(file, false, "dissipation", audit->laws.dissipation);
    json_number(file, false, "complementarity", audit->laws.complementarity);
    json_number(file, false, "momentum", audit->momentum);
    json_number(file, false, "energy_change", audit->energy_change);
    if (audit->worst_block < 0) {
        fputs(",\"worst_block\":null", file);
    } else {
        fprintf(file, ",\"worst_block\":%d", audit->worst_block);
    }
}
