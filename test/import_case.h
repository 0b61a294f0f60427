// import_case.h - what tests of importers share: text to scene, notes by their words, models bit by bit.
#ifndef CAROM_TEST_IMPORT_CASE_H
#define CAROM_TEST_IMPORT_CASE_H

#include <stdlib.h>

#include "data.h"
#include "io/import.h"
#include "io/scene.h"
#include "io/tree.h"
#include "test.h"

typedef struct Case {
    crImport import;
    crScene scene;
    crError error;
} Case;

static inline crStatus case_text(const char* text, const crImportOptions* options, Case* c) {
    *c = (Case){0};
    crStatus status = cr_import_text(text, strlen(text), NULL, options, &c->import, &c->error);
    if (status != CR_OK) return status;
    status = cr_scene_read(c->import.scene.root, &c->scene, &c->error);
    if (status != CR_OK) cr_import_free(&c->import);
    return status;
}

static inline crStatus case_file(const char* path, const crImportOptions* options, Case* c) {
    *c = (Case){0};
    crStatus status = cr_import_file(path, options, &c->import, &c->error);
    if (status != CR_OK) return status;
    status = cr_scene_read(c->import.scene.root, &c->scene, &c->error);
    if (status != CR_OK) cr_import_free(&c->import);
    return status;
}

static inline bool case_good(const char* text, const crImportOptions* options, Case* c, int line) {
    crStatus status = case_text(text, options, c);
    return test_check(status == CR_OK, __FILE__, line, "%.80s...: %d:%d: %s", text, c->error.line,
                      c->error.column, c->error.message);
}

static inline void case_free(Case* c) {
    cr_scene_free(&c->scene);
    cr_import_free(&c->import);
}

// the text is refused with this status, at this place (line 0: anywhere), with this word in its message
static inline void case_refused(const char* text, crStatus status, int line, int column, const char* word,
                                int at) {
    Case c;
    crStatus got = case_text(text, NULL, &c);
    bool place = line == 0 || (c.error.line == line && c.error.column == column);
    test_check(got == status && place && strstr(c.error.message, word) != NULL, __FILE__, at,
               "%.100s: %s %d:%d: %s", text, cr_status_name(got), c.error.line, c.error.column,
               c.error.message);
    if (got == CR_OK) case_free(&c);
}

// the note with these words, NULL where there is none
static inline const crNote* case_note(const Case* c, const char* words) {
    for (int i = 0; i < c->import.note_count; i++) {
        if (strstr(c->import.notes[i].text, words) != NULL) return &c->import.notes[i];
    }
    return NULL;
}

static inline const crBody* case_body(const Case* c, const char* name) {
    int body = cr_model_find_body(c->scene.model, name);
    test_check(body >= 0, __FILE__, __LINE__, "no body %s", name);
    return &c->scene.model->bodies[body >= 0 ? body : 0];
}

static inline const crDof* case_dof(const Case* c, const char* name) {
    return cr_model_dof(c->scene.model, case_body(c, name)->v);
}

// where the bodies are at the start
static inline crPose case_pose(Case* c, const char* name) {
    crState state = {0};
    crDynamics d = {0};
    const crModel* model = c->scene.model;
    cr_state_create(model, &c->scene.arena, &state);
    cr_dynamics_create(model, &c->scene.arena, &d);
    memcpy(state.q, c->scene.q, (size_t)model->nq * sizeof(double));
    cr_model_kinematics(model, &state, &d);
    return d.pose[cr_model_find_body(model, name)];
}

static inline uint64_t case_hash(const crScene* scene) {
    const crModel* m = scene->model;
    uint64_t h = cr_hash(CR_HASH_SEED, scene->q, (size_t)m->nq * sizeof(double));
    h = cr_hash(h, scene->v, (size_t)m->nv * sizeof(double));
    for (int j = 0; j < m->nv; j++) {
        h = cr_hash(h, cr_model_dof(m, j), sizeof(crDof));
    }
    h = cr_hash(h, &m->gravity, sizeof m->gravity);
    h = cr_hash(h, &scene->step.dt, sizeof scene->step.dt);
    for (int i = 0; i < m->nb; i++) {
        const crBody* b = &m->bodies[i];
        if (b->name != NULL) h = cr_hash(h, b->name, strlen(b->name));
        h = cr_hash(h, &b->parent, sizeof b->parent);
        h = cr_hash(h, &b->joint, sizeof b->joint);
        h = cr_hash(h, &b->pose, sizeof b->pose);
        h = cr_hash(h, &b->axis, sizeof b->axis);
        h = cr_hash(h, &b->mass, sizeof b->mass);
        h = cr_hash(h, &b->com, sizeof b->com);
        h = cr_hash(h, &b->inertia, sizeof b->inertia);
        h = cr_hash(h, &b->gravity_scale, sizeof b->gravity_scale);
    }
    for (int i = 0; i < m->shape_count; i++) {
        const crBodyShape* s = &m->shapes[i];
        h = cr_hash(h, &s->shape.kind, sizeof s->shape.kind);
        h = cr_hash(h, &s->shape.pose, sizeof s->shape.pose);
        h = cr_hash(h, &s->shape.size, sizeof s->shape.size);
        h = cr_hash(h, &s->body, sizeof s->body);
        h = cr_hash(h, &s->material, sizeof s->material);
        h = cr_hash(h, &s->group, sizeof s->group);
        h = cr_hash(h, &s->mask, sizeof s->mask);
    }
    for (int i = 0; i < m->material_count; i++) {
        h = cr_hash(h, &m->materials[i].surface.mu, sizeof(double));
        h = cr_hash(h, &m->materials[i].surface.e, sizeof(double));
    }
    for (int i = 0; i < m->pair_count; i++) {
        h = cr_hash(h, &m->pairs[i].a, sizeof(int));
        h = cr_hash(h, &m->pairs[i].b, sizeof(int));
        h = cr_hash(h, &m->pairs[i].surface.mu, sizeof(double));
    }
    for (int i = 0; i < m->loop_count; i++) {
        const crLoop* l = &m->loops[i];
        h = cr_hash(h, &l->kind, sizeof l->kind);
        h = cr_hash(h, &l->pose_a, sizeof l->pose_a);
        h = cr_hash(h, &l->pose_b, sizeof l->pose_b);
        h = cr_hash(h, l->coef, sizeof l->coef);
        h = cr_hash(h, &l->lower, sizeof l->lower);
        h = cr_hash(h, &l->upper, sizeof l->upper);
    }
    return cr_hash(h, m->exclusions, (size_t)m->exclusion_count * sizeof(crExclusion));
}

// written as JSON and read again, the scene has the same bits
static inline void case_again(const Case* c, const char* name) {
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    cr_tree_write(file, c->import.scene.root);
    fclose(file);
    crJsonDoc doc = {0};
    crScene scene = {0};
    crError error = {0};
    crStatus status = cr_json_parse(text, size, 1, &doc, &error);
    if (status == CR_OK) status = cr_scene_read(doc.root, &scene, &error);
    test_check(status == CR_OK && case_hash(&scene) == case_hash(&c->scene), __FILE__, __LINE__, "%s: %s",
               name, error.message);
    if (status == CR_OK) cr_scene_free(&scene);
    cr_json_free(&doc);
    free(text);
}

// a few steps: solved, and no NaN
static inline void case_steps(const Case* c, const char* name, int steps) {
    crWorldDef def = cr_world_def();
    def.model = c->scene.model;
    def.step = c->scene.step;
    crWorld* world = NULL;
    crError error = {0};
    crStatus status = cr_world_create(&def, &world, &error);
    if (status == CR_OK) {
        crState* state = cr_world_state(world);
        memcpy(state->q, c->scene.q, (size_t)c->scene.model->nq * sizeof(double));
        memcpy(state->v, c->scene.v, (size_t)c->scene.model->nv * sizeof(double));
        for (int i = 0; i < steps && status == CR_OK; i++) {
            status = cr_world_step(world, &error);
            const crCertificate* seen = cr_world_certificate(world);
            test_check(seen->outcome == CR_OUTCOME_SOLVED, __FILE__, __LINE__, "%s: step %d: residual %g",
                       name, i, seen->residual);
        }
        for (int i = 0; i < c->scene.model->nq; i++) {
            test_check(isfinite(state->q[i]), __FILE__, __LINE__, "%s: q[%d] is %g", name, i, state->q[i]);
        }
    }
    test_check(status == CR_OK, __FILE__, __LINE__, "%s: %s", name, error.message);
    cr_world_destroy(world);
}

// a file of shared data: its freedoms, how many kinds of things that act were left out, the same bits again from
// JSON, and a few steps; false, and the test skipped, where the data are not there
static inline bool case_data(const char* relative, int nv, int unsupported, int steps) {
    char buffer[512];
    const char* path = test_data(relative, buffer, sizeof buffer);
    if (path == NULL) {
        test_skip("the data are not there");
        return false;
    }
    Case c;
    crStatus status = case_file(path, NULL, &c);
    if (!test_check(status == CR_OK, __FILE__, __LINE__, "%s: %d:%d: %s", path, c.error.line, c.error.column,
                    c.error.message))
        return true;
    int left_out = 0;
    for (int n = 0; n < c.import.note_count; n++) {
        left_out += c.import.notes[n].level == CR_NOTE_UNSUPPORTED;
    }
    test_check(c.scene.model->nv == nv && left_out == unsupported, __FILE__, __LINE__,
               "%s: nv %d, %d left out", relative, c.scene.model->nv, left_out);
    case_again(&c, relative);
    case_steps(&c, relative, steps);
    case_free(&c);
    return true;
}

// false, and the test skipped, where carom was built without expat
static inline bool case_xml(void) {
    Case c;
    if (case_text("<mujoco/>", NULL, &c) == CR_OK) {
        case_free(&c);
        return true;
    }
    test_skip("no expat");
    return false;
}

#endif
