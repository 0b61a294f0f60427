// tree.h - making a JSON tree by hand, and writing one to a file.
//
// What is made is what cr_json_parse would make of the written text: -0 becomes 0, infinity "inf". Each value
// takes the place (line, column) it came from, so that a reader's refusal points there. The first want of
// memory sticks; everything after it does nothing.
#ifndef CAROM_IO_TREE_H
#define CAROM_IO_TREE_H

#include "carom/vec.h"
#include "io/json.h"

typedef struct crTree {
    crJsonDoc* doc;
    int line, column;  // given to what is made next
    bool full;         // memory was out
} crTree;

// The root object of doc. False when memory is out.
bool cr_tree_begin(crTree* tree, crJsonDoc* doc);

// Under a key of an object, or (key NULL) at the end of a list. NULL parents are fine.
crJson* cr_tree_object(crTree* tree, crJson* parent, const char* key);
crJson* cr_tree_list(crTree* tree, crJson* parent, const char* key);
void cr_tree_text(crTree* tree, crJson* parent, const char* key, const char* text);  // copied
void cr_tree_number(crTree* tree, crJson* parent, const char* key, double number);
void cr_tree_bool(crTree* tree, crJson* parent, const char* key, bool flag);
void cr_tree_numbers(crTree* tree, crJson* parent, const char* key, const double* numbers, int count);
void cr_tree_vector(crTree* tree, crJson* parent, const char* key, crVec3 v);
void cr_tree_quat(crTree* tree, crJson* parent, const char* key, crQuat q);

// Takes the last child of an object or list away.
void cr_tree_drop(crJson* parent);

// Objects and lists of objects over lines, the rest on one; ends with a newline.
void cr_tree_write(FILE* file, const crJson* root);

#endif
