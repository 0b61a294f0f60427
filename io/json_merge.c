// json_merge.c - one JSON tree laid over another.
//
// Walks both objects together; what is new goes to the end of its object. Fails: see json_merge.h.
#include "io/json_merge.h"

#include <string.h>

static char* copy_text(crArena* arena, const char* text) {
    size_t size = strlen(text) + 1;
    char* own = cr_arena_alloc(arena, size);
    return own != NULL ? memcpy(own, text, size) : NULL;
}

// a copy with all that is inside; NULL when memory is out. As deep as the reader lets a text be.
static crJson* copy_value(crArena* arena, const crJson* value) {
    crJson* own = cr_arena_alloc(arena, sizeof *own);
    if (own == NULL) return NULL;
    *own = *value;
    own->next = NULL;
    if (value->key != NULL && (own->key = copy_text(arena, value->key)) == NULL) return NULL;
    if (value->text != NULL && (own->text = copy_text(arena, value->text)) == NULL) return NULL;
    const crJson** end = &own->child;
    for (const crJson* child = value->child; child != NULL; child = child->next) {
        crJson* inner = copy_value(arena, child);
        if (inner == NULL) return NULL;
        *end = inner;
        end = &inner->next;
    }
    *end = NULL;
    return own;
}

static bool merge(crArena* arena, crJson* into, const crJson* over) {
    for (const crJson* child = over->child; child != NULL; child = child->next) {
        const crJson** slot = &into->child;
        while (*slot != NULL && strcmp((*slot)->key, child->key) != 0) {
            // the tree is the document's own
            slot = &((crJson*)*slot)->next;
        }
        crJson* there = (crJson*)*slot;
        if (there != NULL && there->type == CR_JSON_OBJECT && child->type == CR_JSON_OBJECT) {
            if (!merge(arena, there, child)) return false;
            continue;
        }
        crJson* own = copy_value(arena, child);
        if (own == NULL) return false;
        own->next = there != NULL ? there->next : NULL;
        into->count += there == NULL;
        *slot = own;
    }
    return true;
}

crStatus cr_json_merge(crJsonDoc* doc, const crJson* over, crError* error) {
    if (doc->root->type != CR_JSON_OBJECT || over->type != CR_JSON_OBJECT)
        return cr_error_set(error, CR_ERR_TYPE, "", "both must be objects {...} to be merged");
    if (!merge(&doc->arena, doc->root, over)) return cr_error_set(error, CR_ERR_MEMORY, "", "out of memory");
    return CR_OK;
}
