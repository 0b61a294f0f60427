// answers.c - one collision, or an impact at many contacts: JSON in, JSON out.
//
// The answers are written by the code of `carom impact --json` and `carom resolve --json`, so that the page
// and the command cannot differ. Fails: what the readers refuse, as {"error": ...}.
#include <stdlib.h>
#include <string.h>

#include "audit_json.h"
#include "carom/region.h"
#include "page.h"
#include "plot/picture.h"
#include "stream.h"
#include "verb_impact.h"
#include "verb_resolve.h"

void* carom_alloc(size_t size) { return malloc(size > 0 ? size : 1); }
void carom_free(void* memory) { free(memory); }

typedef void (*Answerer)(FILE* file, const crJson* object);

// the text parsed, answered and written into a string
static char* answer(const char* text, size_t size, Answerer answerer) {
    char* out = NULL;
    size_t length = 0;
    FILE* file = open_memstream(&out, &length);
    if (file == NULL) return NULL;
    crJsonDoc doc = {0};
    crError error = {0};
    if (cr_json_parse(text, size, 1, &doc, &error) == CR_OK) {
        answerer(file, doc.root);
    } else {
        json_error(file, &error);
    }
    cr_json_free(&doc);
    fclose(file);
    return out;
}

static void answer_impact(FILE* file, const crJson* object) {
    crImpact impact;
    crError error = {0};
    if (cr_impact_read(object, &impact, &error) != CR_OK) {
        json_error(file, &error);
        return;
    }
    Answer answers[CR_IMPACT_MAX_LAWS];
    for (int i = 0; i < impact.law_count; i++) {
        answers[i] = (Answer){0};
        answers[i].status = cr_impact_apply(object, &impact, i, &answers[i].hit, &answers[i].error);
    }
    json_answers(file, &impact, answers);
}

static void answer_resolve(FILE* file, const crJson* object) {
    crResolve resolve;
    crError error = {0};
    if (cr_resolve_read(object, &resolve, &error) != CR_OK) {
        json_error(file, &error);
        return;
    }
    Resolution answers[CR_RESOLVE_MAX_RULES];
    for (int i = 0; i < resolve.rule_count; i++) {
        answers[i] = (Resolution){0};
        answers[i].status = cr_resolve_run(object, &resolve, i, &answers[i].got, &answers[i].error);
    }
    json_resolutions(file, &resolve, answers);
    cr_resolve_free(&resolve);
}

static void put_vec3(FILE* file, const char* key, bool first, crVec3 v) {
    fprintf(file, first ? "\"%s\":" : ",\"%s\":", key);
    json_vector(file, (const double[3]){v.x, v.y, v.z}, 3);
}

static void put_points(FILE* file, const char* key, const crVec3* points, int count) {
    fprintf(file, ",\"%s\":[", key);
    for (int i = 0; i < count; i++) {
        if (i > 0) putc(',', file);
        json_vector(file, (const double[3]){points[i].x, points[i].y, points[i].z}, 3);
    }
    putc(']', file);
}

static void put_curve(FILE* file, const crLawCurve* curve) {
    fprintf(file, "{\"law\":\"%s\",", curve->name);
    if (curve->status == CR_OK) {
        put_vec3(file, "P", true, curve->hit.P);
        fprintf(file, ",\"permissible\":%s,\"regime\":\"%s\"", curve->hit.permissible ? "true" : "false",
                cr_regime_name(curve->hit.regime));
    } else {
        json_error_member(file, &curve->error);
    }
    put_points(file, "curve", curve->P, curve->count);
    fputs(",\"e\":", file);
    json_vector(file, curve->e, curve->count);
    putc('}', file);
}

// boundary of the region as triangles, one level of detail
static void put_mesh(FILE* file, const crContact* contact) {
    enum { LEVEL = 4 };
    int vertices = cr_region_mesh_vertices(LEVEL);
    int triangles = cr_region_mesh_triangles(LEVEL);
    crVec3* vertex = malloc((size_t)vertices * sizeof *vertex);
    int(*triangle)[3] = malloc((size_t)triangles * sizeof *triangle);
    if (vertex != NULL && triangle != NULL && cr_region_mesh(contact, LEVEL, vertex, triangle)) {
        put_points(file, "vertices", vertex, vertices);
        fputs(",\"triangles\":[", file);
        for (int i = 0; i < triangles; i++) {
            fprintf(file, "%s%d,%d,%d", i > 0 ? "," : "", triangle[i][0], triangle[i][1], triangle[i][2]);
        }
        putc(']', file);
    }
    free(vertex);
    free(triangle);
}

// surface through the origin: no energy change
static void put_ellipsoid(FILE* file, const crContact* contact) {
    double Ec = 0.0;
    crEllipsoid ellipsoid;
    if (!cr_impulse_contact_energy(contact, cr_vec3(0, 0, 0), &Ec)) return;
    if (!cr_impulse_ellipsoid(contact, Ec, &ellipsoid)) return;
    fputs(",\"ellipsoid\":{", file);
    put_vec3(file, "center", true, ellipsoid.center);
    fputs(",\"radius\":", file);
    json_vector(file, ellipsoid.radius, 3);
    const crMat3* axes = &ellipsoid.axes;
    fputs(",\"axes\":[", file);
    for (int i = 0; i < 3; i++) {
        crVec3 column = cr_mat3_mul(*axes, cr_vec3(i == 0, i == 1, i == 2));
        if (i > 0) putc(',', file);
        json_vector(file, (const double[3]){column.x, column.y, column.z}, 3);
    }
    fputs("]}", file);
}

// rows of the compliant law's set, stiffness by stiffness; a point without a solution is null
static void put_reach(FILE* file, const crPicture* p) {
    fputs(",\"reach\":[", file);
    for (int i = 0; i < CR_REACH_STIFF && p->has_reach; i++) {
        fputs(i > 0 ? ",[" : "[", file);
        for (int k = 0; k < CR_REACH_E; k++) {
            crVec3 P = p->reach[i][k];
            if (k > 0) putc(',', file);
            if (isnan(P.x)) {
                fputs("null", file);
            } else {
                json_vector(file, (const double[3]){P.x, P.y, P.z}, 3);
            }
        }
        putc(']', file);
    }
    putc(']', file);
}

static void put_contact(FILE* file, const crPicture* p) {
    const crContact* c = &p->contact;
    fprintf(file, "{\"dimension\":%d,\"separating\":%s", p->spatial ? 3 : 2,
            p->separating ? "true" : "false");
    put_vec3(file, "V", false, c->V);
    for (int i = 0; i < 3; i++) {
        crVec3 axis = cr_vec3(i == 0, i == 1, i == 2);
        static const char* const columns[] = {"n", "t1", "t2"};
        static const char* const W[] = {"Wn", "W1", "W2"};
        put_vec3(file, columns[i], false, cr_mat3_mul(p->impact->frame, axis));
        put_vec3(file, W[i], false, cr_sub(cr_impulse_V_plus(c, axis), c->V));
    }
    json_number(file, false, "mu", c->mu);
    json_number(file, false, "e", c->e);
    json_number(file, false, "et", c->et);
    put_vec3(file, "d", false, p->d);
    if (p->has_I) put_vec3(file, "P_I", false, p->P_I);
    if (p->has_II) put_vec3(file, "P_II", false, p->P_II);
}

static void answer_picture(FILE* file, const crJson* object) {
    crImpact impact;
    crError error = {0};
    crPicture* p = malloc(sizeof *p);
    crStatus status = p == NULL ? cr_error_set(&error, CR_ERR_MEMORY, "", "out of memory")
                                : cr_impact_read(object, &impact, &error);
    if (status == CR_OK) status = cr_picture_compute(p, &impact, NULL, 0, &error);
    if (status == CR_OK) {
        put_contact(file, p);
        put_points(file, "section", p->section, p->section_count);
        put_points(file, "path", p->path, p->path_count);
        put_points(file, "area", p->area, p->area_count);
        put_reach(file, p);
        put_mesh(file, &p->contact);
        put_ellipsoid(file, &p->contact);
        fputs(",\"laws\":[", file);
        for (int i = 0; i < p->law_count; i++) {
            if (i > 0) putc(',', file);
            put_curve(file, &p->laws[i]);
        }
        fputs("]}\n", file);
    } else {
        json_error(file, &error);
    }
    free(p);
}

char* carom_impact(const char* text, size_t size) { return answer(text, size, answer_impact); }
char* carom_resolve(const char* text, size_t size) { return answer(text, size, answer_resolve); }
char* carom_picture(const char* text, size_t size) { return answer(text, size, answer_picture); }
