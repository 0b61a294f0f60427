// mujoco_pair.c - one MJCF file in two readers. Bodies and joints are found by the names the importer gives:
// a body with several joints is a chain of ours, called BODY_JOINT but for the last. The centre of mass moves
// by v + omega x r where theirs gives the velocity of the body's origin, and omega in the body's axes.
#include "mujoco_pair.h"
#include "carom/dynamics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/import.h"

#define NAME 128
#define TEXT (1 << 20)

static void cut_attribute(char* text, const char* name) {
    char head[64];
    snprintf(head, sizeof head, " %s=\"", name);
    for (char* at = strstr(text, head); at != NULL; at = strstr(at, head)) {
        char* end = strchr(at + strlen(head), '"');
        if (end == NULL) return;
        memmove(at, end + 1, strlen(end + 1) + 1);
    }
}

static void cut_section(char* text, const char* name) {
    char head[64], tail[64];
    snprintf(head, sizeof head, "<%s>", name);
    snprintf(tail, sizeof tail, "</%s>", name);
    char* at = strstr(text, head);
    char* end = at != NULL ? strstr(at, tail) : NULL;
    if (end != NULL) memmove(at, end + strlen(tail), strlen(end + strlen(tail)) + 1);
}

static bool write_copy(const char* path, MujocoKeep keep, const char* to) {
    static const char* const later[] = {"island",           "sleep",    "sleep_tolerance", "memory",
                                        "actuatorfrcrange", "realtime", "surfacevel"};
    char* text = malloc(TEXT);
    FILE* file = text != NULL ? fopen(path, "rb") : NULL;
    size_t size = file != NULL ? fread(text, 1, TEXT - 1, file) : 0;
    if (file != NULL) fclose(file);
    FILE* out = size > 0 ? fopen(to, "wb") : NULL;
    if (out == NULL) {
        free(text);
        return false;
    }
    text[size] = '\0';
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        cut_attribute(text, later[i]);
    }
    if (!keep.sensors) cut_section(text, "sensor");
    if (keep.key == NULL) cut_section(text, "keyframe");
    if (!keep.equalities) cut_section(text, "equality");
    // their default for meshes counts folded parts twice
    char* root = strstr(text, "<mujoco");
    char* inside = root != NULL ? strchr(root, '>') : NULL;
    if (inside != NULL) {
        fwrite(text, 1, (size_t)(inside + 1 - text), out);
        fputs("<compiler exactmeshinertia=\"true\"/>", out);
        fputs(inside + 1, out);
    }
    fclose(out);
    free(text);
    return true;
}

static void body_name(const mjModel* m, int body, char name[NAME]) {
    const char* own = mj_id2name(m, mjOBJ_BODY, body);
    if (own != NULL && *own != '\0') {
        snprintf(name, NAME, "%s", own);
    } else {
        snprintf(name, NAME, "body%d", body);
    }
    for (char* c = name; *c != '\0'; c++) {
        if (strchr(" ,;.\"'", *c) != NULL) *c = '_';
    }
}

static int find(const MujocoPair* t, const char* name, char* why, size_t size) {
    int body = cr_model_find_body(t->scene.model, name);
    if (body <= 0) snprintf(why, size, "carom has no body %s", name);
    return body;
}

static bool map_names(MujocoPair* t, char* why, size_t size) {
    for (int b = 1; b < t->m->nbody; b++) {
        char name[NAME];
        body_name(t->m, b, name);
        t->body[b] = find(t, name, why, size);
        if (t->body[b] <= 0) return false;
        int count = t->m->body_jntnum[b];
        for (int k = 0; k < count; k++) {
            int j = t->m->body_jntadr[b] + k;
            char link[2 * NAME];
            const char* own = mj_id2name(t->m, mjOBJ_JOINT, j);
            if (k == count - 1) {
                snprintf(link, sizeof link, "%s", name);
            } else if (own != NULL) {
                snprintf(link, sizeof link, "%s_%s", name, own);
            } else {
                snprintf(link, sizeof link, "%s_joint%d", name, k);
            }
            t->joint[j] = find(t, link, why, size);
            if (t->joint[j] <= 0) return false;
        }
    }
    return true;
}

// an actuator that carom does not have must not act in theirs
static void map_actuators(MujocoPair* t) {
    for (int i = 0; i < t->m->nu; i++) {
        const char* own = mj_id2name(t->m, mjOBJ_ACTUATOR, i);
        char name[NAME];
        if (own != NULL && *own != '\0') {
            snprintf(name, sizeof name, "%s", own);
        } else {
            snprintf(name, sizeof name, "actuator%d", i);
        }
        int found = cr_model_find_actuator(t->scene.model, name);
        t->actuator[i] = found >= 0 ? found : -1;
        if (found >= 0) continue;
        t->m->actuator_gaintype[i] = mjGAIN_FIXED;
        t->m->actuator_biastype[i] = mjBIAS_NONE;
        memset(t->m->actuator_gainprm + (size_t)mjNGAIN * (size_t)i, 0, mjNGAIN * sizeof(mjtNum));
    }
}

static bool load_ours(const char* path, const char* key, MujocoPair* t, char* why, size_t size) {
    crImport import;
    crError error = {0};
    crImportOptions options = {.key = key};
    crStatus status = cr_import_file(path, &options, &import, &error);
    if (status == CR_OK) {
        status = cr_scene_read(import.scene.root, &t->scene, &error);
        cr_import_free(&import);
    }
    if (status == CR_OK) return true;
    snprintf(why, size, "carom: %d:%d: %s", error.line, error.column, error.message);
    return false;
}

bool mujoco_pair_load(const char* path, MujocoKeep keep, MujocoPair* pair, char* why, size_t size) {
    *pair = (MujocoPair){0};
    char copy[64];
    snprintf(copy, sizeof copy, "mujoco_pair_%ld.xml", (long)getpid());
    if (!write_copy(path, keep, copy)) {
        snprintf(why, size, "no copy of %s could be made", path);
        return false;
    }
    char error[512] = "";
    pair->m = mj_loadXML(copy, NULL, error, sizeof error);
    error[strcspn(error, "\n")] = '\0';
    bool fine = pair->m != NULL;
    if (!fine) snprintf(why, size, "libmujoco %s: %s", mj_versionString(), error);
    fine = fine && load_ours(copy, keep.key, pair, why, size);
    remove(copy);
    if (fine) {
        pair->d = mj_makeData(pair->m);
        pair->body = calloc((size_t)pair->m->nbody + 1, sizeof *pair->body);
        pair->joint = calloc((size_t)pair->m->njnt + 1, sizeof *pair->joint);
        pair->actuator = calloc((size_t)pair->m->nu + 1, sizeof *pair->actuator);
        fine = pair->d != NULL && pair->body != NULL && pair->joint != NULL && pair->actuator != NULL &&
               map_names(pair, why, size);
        if (fine) map_actuators(pair);
    }
    if (!fine) mujoco_pair_free(pair);
    return fine;
}

void mujoco_pair_free(MujocoPair* pair) {
    cr_scene_free(&pair->scene);
    free(pair->body);
    free(pair->joint);
    free(pair->actuator);
    if (pair->d != NULL) mj_deleteData(pair->d);
    if (pair->m != NULL) mj_deleteModel(pair->m);
    *pair = (MujocoPair){0};
}

static crVec3 vec(const mjtNum* x) { return cr_vec3(x[0], x[1], x[2]); }

void mujoco_pair_state(const MujocoPair* t, const mjData* d, crState* state) {
    for (int i = 0; i < t->m->nu; i++) {
        if (t->actuator[i] < 0) continue;
        int place = t->scene.model->actuators[t->actuator[i]].act_place;
        state->ctrl[t->actuator[i]] = d->ctrl[i];
        // theirs are those of the last actuators
        if (place >= 0) state->act[place] = d->act[i - (t->m->nu - t->m->na)];
    }
    for (int j = 0; j < t->m->njnt; j++) {
        const mjtNum* q = d->qpos + t->m->jnt_qposadr[j];
        const mjtNum* v = d->qvel + t->m->jnt_dofadr[j];
        const crBody* ours = &t->scene.model->bodies[t->joint[j]];
        double* oq = state->q + ours->q;
        double* ov = state->v + ours->v;
        int type = t->m->jnt_type[j];
        if (type == mjJNT_HINGE || type == mjJNT_SLIDE) {
            oq[0] = q[0] - t->m->qpos0[t->m->jnt_qposadr[j]];
            ov[0] = v[0];
            continue;
        }
        bool free_joint = type == mjJNT_FREE;
        const mjtNum* turn = free_joint ? q + 3 : q;
        crQuat R = {turn[0], turn[1], turn[2], turn[3]};
        memcpy(free_joint ? oq + 3 : oq, turn, 4 * sizeof(double));
        crVec3 omega = cr_quat_rotate(R, vec(free_joint ? v + 3 : v));
        memcpy(free_joint ? ov + 3 : ov, &omega, sizeof omega);
        if (!free_joint) continue;
        memcpy(oq, q, 3 * sizeof(double));
        crVec3 com = cr_add(vec(v), cr_cross(omega, cr_quat_rotate(R, ours->com)));
        memcpy(ov, &com, sizeof com);
    }
}
