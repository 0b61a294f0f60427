// scene_value.c - a value over time: numbers, expressions, or a table.
//
// A part is a number or an expression; or all parts come from a table [[t, x, ...], ...], straight between its rows, the
// first and last value outside. A time that stands in the table gives the numbers of its row, to the bit.
// Fails: a field is refused by path; an expression with the character.
#include "io/scene_value.h"

#include "io/fields.h"

#define MOST_ROWS 100000

// the last row that is not after time; -1 where all are
static int find_row(const crSceneValue* value, double time) {
    int low = 0, high = value->rows, width = 1 + value->parts;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (value->table[middle * width] <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

static void from_table(const crSceneValue* value, double time, double* out) {
    int width = 1 + value->parts, row = find_row(value, time);
    const double* a = value->table + (row < 0 ? 0 : row) * width;
    bool between = row >= 0 && row + 1 < value->rows;
    double share = between ? (time - a[0]) / (a[width] - a[0]) : 0.0;
    for (int k = 0; k < value->parts; k++) {
        out[k] = between ? a[1 + k] + share * (a[width + 1 + k] - a[1 + k]) : a[1 + k];
    }
}

void cr__scene_value(const crSceneValue* value, const double* variables, double* out) {
    if (value->rows > 0) from_table(value, variables[0], out);
    for (int k = 0; k < value->parts && value->rows == 0; k++) {
        const crScenePart* part = &value->part[k];
        out[k] = part->written ? cr__expression_value(&part->expression, variables) : part->number;
    }
}

static void read_part(const crPlace* place, crScene* scene, const char* name, const crJson* item,
                      const char* const* names, crScenePart* part) {
    crError error = {0};
    if (item->type == CR_JSON_NUMBER) {
        part->number = item->number;
    } else if (item->type != CR_JSON_STRING) {
        cr_place_refuse(place, item, CR_ERR_TYPE, name, "must be a number or an expression, is %s",
                        cr_json_type_name(item->type));
    } else if (cr__expression_read(item->text, names, &scene->arena, &part->expression, &error) != CR_OK) {
        cr_place_refuse(place, item, error.status, name, "%s", error.message);
    } else {
        part->written = true;
    }
}

static void read_row_value(const crPlace* table, const crJson* row, crSceneValue* value) {
    int width = 1 + value->parts, count = 0;
    double* to = value->table + value->rows * width;
    crError error = {0};
    if (cr_field_numbers(row, "table", width, width, to, &count, &error) != CR_OK) {
        cr_place_refuse(table, row, error.status, "table", "row %d must have %d numbers, the time first",
                        value->rows, width);
    } else if (value->rows > 0 && !(to[0] > to[-width])) {
        cr_place_refuse(table, row, CR_ERR_RANGE, "table", "row %d: its time %g must be after %g",
                        value->rows, to[0], to[-width]);
    } else {
        value->rows++;
    }
}

static void read_table_value(const crPlace* place, crScene* scene, const char* name, crSceneValue* value) {
    static const char* const fields[] = {"table", "comment", NULL};
    crPlace inner;
    if (!cr_place_into(place, name, &inner)) return;
    cr_place_known(&inner, fields);
    cr_place_need(&inner, "table", "rows of a time and its values");
    const crJson* list = cr_place_list(&inner, "table", MOST_ROWS);
    if (list == NULL) return;
    if (list->count == 0) {
        cr_place_refuse(&inner, list, CR_ERR_SIZE, "table", "must have a row");
        return;
    }
    value->table =
        cr_arena_alloc(&scene->arena, (size_t)list->count * (size_t)(1 + value->parts) * sizeof(double));
    if (value->table == NULL) {
        cr__place_memory(place);
        return;
    }
    for (const crJson* row = list->child; row != NULL && cr_place_ok(&inner); row = row->next) {
        read_row_value(&inner, row, value);
    }
}

void cr__scene_read_value(const crPlace* place, crScene* scene, const char* name, int parts,
                          const char* const* names, crSceneValue* value) {
    const crJson* given = cr_place_get(place, name);
    if (given == NULL) return;
    *value = (crSceneValue){.given = true, .parts = parts};
    if (given->type == CR_JSON_OBJECT) {
        read_table_value(place, scene, name, value);
    } else if (parts == 1 && given->type == CR_JSON_ARRAY) {
        cr_place_refuse(place, given, CR_ERR_TYPE, name,
                        "must be a number, an expression or an object with a table, is %s",
                        cr_json_type_name(given->type));
    } else if (parts == 1) {
        read_part(place, scene, name, given, names, &value->part[0]);
    } else if (given->type != CR_JSON_ARRAY || given->count != parts) {
        cr_place_refuse(place, given, CR_ERR_SIZE, name,
                        "must be a list of 3 numbers or expressions, or an object with a table");
    } else {
        int k = 0;
        for (const crJson* item = given->child; item != NULL && cr_place_ok(place); item = item->next) {
            read_part(place, scene, name, item, names, &value->part[k++]);
        }
    }
}
