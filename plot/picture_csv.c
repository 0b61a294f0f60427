// picture_csv.c - the numbers behind the picture as CSV files, for people who draw themselves.
//
// curves.csv law,e,Pn,Pt1,Pt2; points.csv, region.csv and routh-path.csv the same columns after the first;
// compliant.csv eta2,e,Pn,Pt1,Pt2.
// 17 digits, so that reading gives the same doubles. Fails: CR_ERR_FILE with field "data".
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "plot/picture.h"

static crStatus failed(const char* path, crError* error) {
    return cr_error_set(error, CR_ERR_FILE, "data", "data: \"%.80s\" cannot be written: %s", path,
                        strerror(errno));
}

static void row(FILE* f, crVec3 P) { fprintf(f, "%.17g,%.17g,%.17g\n", P.x, P.y, P.z); }

static void write_curves(const crPicture* p, FILE* f) {
    fprintf(f, "law,e,Pn,Pt1,Pt2\n");
    for (int i = 0; i < p->law_count; i++) {
        const crLawCurve* curve = &p->laws[i];
        for (int k = 0; k < curve->count; k++) {
            fprintf(f, "%s,%.17g,", curve->name, curve->e[k]);
            row(f, curve->P[k]);
        }
    }
}

static void write_points(const crPicture* p, FILE* f) {
    fprintf(f, "point,Pn,Pt1,Pt2\n");
    fprintf(f, "O,0,0,0\n");
    for (int k = 1; k <= 2; k++) {
        const char* twice = k == 2 ? "2" : "";
        if (p->has_I) {
            fprintf(f, "%sP_I,", twice);
            row(f, cr_scale(k, p->P_I));
        }
        if (p->has_II) {
            fprintf(f, "%sP_II,", twice);
            row(f, cr_scale(k, p->P_II));
        }
    }
}

static void write_region(const crPicture* p, FILE* f) {
    fprintf(f, "Pn,Pt1,Pt2\n");
    for (int i = 0; i < p->section_count; i++)
        row(f, p->section[i]);
}

static void write_path(const crPicture* p, FILE* f) {
    fprintf(f, "Pn,Pt1,Pt2\n");
    for (int i = 0; i < p->path_count; i++)
        row(f, p->path[i]);
}

static void write_reach(const crPicture* p, FILE* f) {
    fprintf(f, "eta2,e,Pn,Pt1,Pt2\n");
    for (int i = 0; i < CR_REACH_STIFF && p->has_reach; i++) {
        for (int k = 0; k < CR_REACH_E; k++) {
            if (isnan(p->reach[i][k].x)) continue;
            fprintf(f, "%.17g,%.17g,", p->reach_eta2[i], (double)k / (CR_REACH_E - 1));
            row(f, p->reach[i][k]);
        }
    }
}

crStatus cr_picture_write_data(const crPicture* p, const char* directory, crError* error) {
    static const struct {
        const char* name;
        void (*write)(const crPicture* p, FILE* f);
    } files[] = {{"curves.csv", write_curves},
                 {"points.csv", write_points},
                 {"region.csv", write_region},
                 {"routh-path.csv", write_path},
                 {"compliant.csv", write_reach}};
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) return failed(directory, error);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", directory, files[i].name);
        if (length < 0 || (size_t)length >= sizeof path) {
            errno = ENAMETOOLONG;
            return failed(directory, error);
        }
        FILE* f = fopen(path, "w");
        if (f == NULL) return failed(path, error);
        files[i].write(p, f);
        bool bad = ferror(f) != 0;
        if (fclose(f) != 0 || bad) return failed(path, error);
    }
    return CR_OK;
}
