// tree.c - making a JSON tree by hand, and writing one to a file.
//
// Every node keeps its youngest child beside the value, so that appending costs the same whatever the length
// of the list. Fails: memory, remembered in the tree.
#include "io/tree.h"

#include <math.h>
#include <string.h>

typedef struct Node {
    crJson json;
    struct Node* last;
} Node;

static char* copy(crTree* tree, const char* text) {
    size_t size = strlen(text) + 1;
    char* own = cr_arena_alloc(&tree->doc->arena, size);
    if (own == NULL) {
        tree->full = true;
        return NULL;
    }
    return memcpy(own, text, size);
}

static crJson* make(crTree* tree, crJson* parent, const char* key, crJsonType type) {
    if (tree->full || (parent == NULL && tree->doc->root != NULL)) return NULL;
    Node* node = cr_arena_alloc(&tree->doc->arena, sizeof *node);
    if (node == NULL) {
        tree->full = true;
        return NULL;
    }
    *node = (Node){.json = {.type = type, .line = tree->line, .column = tree->column}};
    if (key != NULL) node->json.key = copy(tree, key);
    if (parent == NULL) {
        tree->doc->root = &node->json;
    } else {
        // nodes of the tree are all made here
        Node* owner = (Node*)parent;
        if (owner->last == NULL) {
            parent->child = &node->json;
        } else {
            owner->last->json.next = &node->json;
        }
        owner->last = node;
        parent->count++;
    }
    return &node->json;
}

bool cr_tree_begin(crTree* tree, crJsonDoc* doc) {
    *doc = (crJsonDoc){0};
    *tree = (crTree){.doc = doc, .line = 1, .column = 1};
    if (cr_arena_create(&doc->arena, NULL, 0) != CR_OK) return false;
    return make(tree, NULL, NULL, CR_JSON_OBJECT) != NULL;
}

crJson* cr_tree_object(crTree* tree, crJson* parent, const char* key) {
    return make(tree, parent, key, CR_JSON_OBJECT);
}

crJson* cr_tree_list(crTree* tree, crJson* parent, const char* key) {
    return make(tree, parent, key, CR_JSON_ARRAY);
}

void cr_tree_drop(crJson* parent) {
    if (parent == NULL || parent->count == 0) return;
    Node* owner = (Node*)parent;
    Node* before = NULL;
    for (Node* node = (Node*)parent->child; node != owner->last; node = (Node*)node->json.next) {
        before = node;
    }
    if (before != NULL) before->json.next = NULL;
    if (before == NULL) parent->child = NULL;
    owner->last = before;
    parent->count--;
}

void cr_tree_text(crTree* tree, crJson* parent, const char* key, const char* text) {
    crJson* value = make(tree, parent, key, CR_JSON_STRING);
    if (value != NULL) value->text = copy(tree, text);
}

void cr_tree_number(crTree* tree, crJson* parent, const char* key, double number) {
    if (isinf(number)) {
        cr_tree_text(tree, parent, key, number > 0.0 ? "inf" : "-inf");
        return;
    }
    crJson* value = make(tree, parent, key, CR_JSON_NUMBER);
    if (value != NULL) value->number = number == 0.0 ? 0.0 : number;
}

void cr_tree_bool(crTree* tree, crJson* parent, const char* key, bool flag) {
    crJson* value = make(tree, parent, key, CR_JSON_BOOL);
    if (value != NULL) value->number = flag ? 1.0 : 0.0;
}

void cr_tree_numbers(crTree* tree, crJson* parent, const char* key, const double* numbers, int count) {
    crJson* list = cr_tree_list(tree, parent, key);
    for (int i = 0; i < count; i++) {
        cr_tree_number(tree, list, NULL, numbers[i]);
    }
}

void cr_tree_vector(crTree* tree, crJson* parent, const char* key, crVec3 v) {
    cr_tree_numbers(tree, parent, key, (const double[]){v.x, v.y, v.z}, 3);
}

void cr_tree_quat(crTree* tree, crJson* parent, const char* key, crQuat q) {
    cr_tree_numbers(tree, parent, key, (const double[]){q.w, q.x, q.y, q.z}, 4);
}

// an object, or a list that holds one
static bool over_lines(const crJson* value) {
    if (value->type == CR_JSON_OBJECT) {
        for (const crJson* child = value->child; child != NULL; child = child->next) {
            if (child->type == CR_JSON_OBJECT || over_lines(child)) return true;
        }
        return value->count > 6;
    }
    return value->type == CR_JSON_ARRAY && value->child != NULL && value->child->type == CR_JSON_OBJECT;
}

static void write_value(FILE* file, const crJson* value, int depth) {
    bool object = value->type == CR_JSON_OBJECT;
    if (!object && value->type != CR_JSON_ARRAY) {
        cr_json_write_tree(file, value);
        return;
    }
    bool lines = over_lines(value);
    putc(object ? '{' : '[', file);
    for (const crJson* child = value->child; child != NULL; child = child->next) {
        if (lines) fprintf(file, "\n%*s", 2 * (depth + 1), "");
        if (object) {
            cr_json_write_string(file, child->key);
            fputs(": ", file);
        }
        write_value(file, child, depth + 1);
        if (child->next != NULL) fputs(lines ? "," : ", ", file);
    }
    if (lines) fprintf(file, "\n%*s", 2 * depth, "");
    putc(object ? '}' : ']', file);
}

void cr_tree_write(FILE* file, const crJson* root) {
    write_value(file, root, 0);
    putc('\n', file);
}
