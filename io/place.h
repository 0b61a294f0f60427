// place.h - reading the fields of nested objects, with the path to each in its refusal: bodies[2].shapes[0].r
//
// The first refusal sticks: after it every call does nothing, so a reader is a plain list of fields with one
// question at the end. All fields are optional here; what is not given keeps the value it had.
#ifndef CAROM_IO_PLACE_H
#define CAROM_IO_PLACE_H

#include "carom/vec.h"
#include "io/json.h"

typedef struct crTrouble {
    crStatus status;  // CR_OK until something was refused
    crError* error;
} crTrouble;

// An object of the text and how one gets there.
typedef struct crPlace {
    const crJson* object;
    char path[40];  // "" or ending with a dot
    crTrouble* trouble;
} crPlace;

bool cr_place_ok(const crPlace* place);
// The field, NULL where it is not given or something was refused before.
const crJson* cr_place_get(const crPlace* place, const char* name);
// Refuses the field `name`; the message gets the path and the name in front. where NULL: the object itself.
void cr_place_refuse(const crPlace* place, const crJson* where, crStatus status, const char* name,
                     const char* format, ...) CR_PRINTF(5, 6);
// Refuses with another function's error: its message, the position of the field, else of the object.
void cr_place_blame(const crPlace* place, const char* name, const crError* error);

// The object must be one, and every key in names (which ends with NULL).
void cr_place_known(const crPlace* place, const char* const* names);
void cr_place_need(const crPlace* place, const char* name, const char* what);

// An object under a name: false where there is none.
bool cr_place_into(const crPlace* place, const char* name, crPlace* inner);
// Item `index` of the list `name`, an object.
crPlace cr_place_item(const crPlace* place, const char* name, const crJson* item, int index);
// The list under a name, NULL where there is none; count is at most `most`.
const crJson* cr_place_list(const crPlace* place, const char* name, int most);

typedef enum crRange { CR_ANY, CR_NOT_NEGATIVE, CR_POSITIVE } crRange;
void cr_place_number(const crPlace* place, const char* name, crRange range, double* number);
// The same, with "inf" allowed.
void cr_place_limit(const crPlace* place, const char* name, crRange range, double* number);
void cr_place_whole(const crPlace* place, const char* name, int least, int most, int* number);
void cr_place_bool(const crPlace* place, const char* name, bool* flag);
void cr_place_text(const crPlace* place, const char* name, const char** text);
// One of a list of words that ends with NULL, by its place in it.
void cr_place_choice(const crPlace* place, const char* name, const char* const* names, int* choice);
void cr_place_vector(const crPlace* place, const char* name, crVec3* vector);
void cr_place_quat(const crPlace* place, const char* name, crQuat* quat);  // any length but zero; made unit
// A vector of any length but zero, made unit.
void cr_place_direction(const crPlace* place, const char* name, crVec3* vector);

#endif
