// scene_text.h - scenes written in tests.
#ifndef CAROM_TEST_SCENE_TEXT_H
#define CAROM_TEST_SCENE_TEXT_H

#include "io/scene.h"
#include "test.h"

static inline crStatus read_text(const char* text, crScene* scene, crError* error) {
    crJsonDoc doc;
    *error = (crError){0};
    crStatus status = cr_json_parse(text, strlen(text), 1, &doc, error);
    if (status != CR_OK) return status;
    status = cr_scene_read(doc.root, scene, error);
    cr_json_free(&doc);
    return status;
}

// the scene, or a failed check with the reason
static inline bool good(const char* text, crScene* scene) {
    crError error;
    crStatus status = read_text(text, scene, &error);
    return test_check(status == CR_OK, __FILE__, __LINE__, "%s: %d:%d %s", text, error.line, error.column,
                      error.message);
}

#endif
