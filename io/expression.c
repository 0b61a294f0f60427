// expression.c - arithmetic written in a scene, compiled to a program for a stack of numbers.
//
//     sum     = product { ("+" | "-") product }
//     product = sign { ("*" | "/") sign }
//     sign    = ["-" | "+"] sign | power
//     power   = value [ "^" whole number ]
//     value   = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
//
// Only + - * / sqrt and the library's own sine and cosine, so that every machine gets the same bits. Powers are products.
// Fails: CR_ERR_SYNTAX, CR_ERR_NAME, CR_ERR_LIMIT (length, depth, exponent), CR_ERR_MEMORY.
#include "io/expression.h"

#include <math.h>
#include <string.h>

#include "io/json.h"
#include "io/names.h"

#define MOST_POWER 64

typedef enum Kind { NUMBER, NAME, ADD, SUB, MUL, DIV, NEG, POWER, SIN, COS, SQRT, ABS, STEP, MIN, MAX } Kind;

typedef struct crExpressionStep {
    Kind kind;
    int index;      // of a name, or an exponent
    double number;  // NUMBER
} crExpressionStep;

static const struct {
    const char* name;
    Kind kind;
    int arguments;
} functions[] = {{"sin", SIN, 1},   {"cos", COS, 1}, {"sqrt", SQRT, 1}, {"abs", ABS, 1},
                 {"step", STEP, 1}, {"min", MIN, 2}, {"max", MAX, 2}};
#define FUNCTIONS (int)(sizeof functions / sizeof functions[0])

typedef struct Reader {
    const char *text, *at;
    const char* const* names;
    crExpressionStep* steps;
    int count, room;
    int height;  // values on the stack here
    int depth;   // sums inside each other
    crStatus status;
    crError* error;
} Reader;

static void refuse(Reader* r, crStatus status, const char* what) {
    if (r->status != CR_OK) return;
    r->status = cr_error_set(r->error, status, "expression", "\"%.60s\", character %d: %s", r->text,
                             (int)(r->at - r->text) + 1, what);
}

// change: of the number of values on the stack
static void emit(Reader* r, Kind kind, int index, double number, int change) {
    if (r->status != CR_OK) return;
    r->height += change;
    if (r->height > CR_EXPRESSION_DEPTH || r->count == r->room) {
        refuse(r, CR_ERR_LIMIT, "too many values wait for each other");
        return;
    }
    r->steps[r->count++] = (crExpressionStep){kind, index, number};
}

static char next(Reader* r) {
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n') {
        r->at++;
    }
    return r->status == CR_OK ? *r->at : '\0';
}

static bool take(Reader* r, char c) {
    if (next(r) != c || c == '\0') return false;
    r->at++;
    return true;
}

static void expect(Reader* r, char c, const char* what) {
    if (!take(r, c)) refuse(r, CR_ERR_SYNTAX, what);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// The number as JSON has it, read the same in every locale; ".5" and "5." are refused as there.
static void read_number(Reader* r) {
    const char* end = r->at;
    while (is_digit(*end) || *end == '.') {
        end++;
    }
    if (*end == 'e' || *end == 'E') {
        end += end[1] == '+' || end[1] == '-' ? 2 : 1;
        while (is_digit(*end)) {
            end++;
        }
    }
    crJsonDoc doc = {0};
    crError ignored = {0};
    bool good = cr_json_parse(r->at, (size_t)(end - r->at), 1, &doc, &ignored) == CR_OK &&
                doc.root->type == CR_JSON_NUMBER;
    double number = good ? doc.root->number : 0.0;
    cr_json_free(&doc);
    if (!good) refuse(r, CR_ERR_SYNTAX, "not a number as JSON has it, such as 0.5 or 1e-3");
    r->at = end;
    emit(r, NUMBER, 0, number, 1);
}

static void read_sum(Reader* r);

static void read_call(Reader* r, int function) {
    expect(r, '(', "a function needs (");
    for (int i = 0; i < functions[function].arguments; i++) {
        if (i > 0) expect(r, ',', "another argument is expected");
        read_sum(r);
    }
    expect(r, ')', ") is expected");
    emit(r, functions[function].kind, 0, 0.0, 1 - functions[function].arguments);
}

typedef struct Known {
    const char* const* names;
} Known;

// variables, then pi, then functions
static const char* known_at(const void* ctx, int index) {
    const char* const* names = ((const Known*)ctx)->names;
    int count = 0;
    while (names[count] != NULL) {
        count++;
    }
    if (index < count) return names[index];
    index -= count;
    return index == 0 ? "pi" : index <= FUNCTIONS ? functions[index - 1].name : NULL;
}

static void refuse_name(Reader* r, const char* word) {
    char message[160];
    Known known = {r->names};
    const char* near = cr_name_nearest(word, known_at, &known);
    size_t at = (size_t)snprintf(message, sizeof message, "\"%s\" is not known%s%s%s; there are", word,
                                 near != NULL ? ", did you mean \"" : "", near != NULL ? near : "",
                                 near != NULL ? "\"?" : "");
    for (int i = 0; known_at(&known, i) != NULL && at < sizeof message; i++) {
        at += (size_t)snprintf(message + at, sizeof message - at, " %s", known_at(&known, i));
    }
    refuse(r, CR_ERR_NAME, message);
}

static void read_name(Reader* r) {
    char word[16];
    size_t length = 0;
    while (is_letter(r->at[length]) || is_digit(r->at[length])) {
        length++;
    }
    snprintf(word, sizeof word, "%.*s", (int)length, r->at);
    const char* const* names = r->names;
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(word, names[i]) != 0) continue;
        r->at += length;
        emit(r, NAME, i, 0.0, 1);
        return;
    }
    if (strcmp(word, "pi") == 0) {
        r->at += length;
        emit(r, NUMBER, 0, CR_PI, 1);
        return;
    }
    for (int i = 0; i < FUNCTIONS; i++) {
        if (strcmp(word, functions[i].name) != 0) continue;
        r->at += length;
        read_call(r, i);
        return;
    }
    refuse_name(r, word);
}

static void read_value(Reader* r) {
    char c = next(r);
    if (is_digit(c) || c == '.') {
        read_number(r);
    } else if (is_letter(c)) {
        read_name(r);
    } else if (take(r, '(')) {
        read_sum(r);
        expect(r, ')', ") is expected");
    } else {
        refuse(r, CR_ERR_SYNTAX, "a number, a name or ( is expected");
    }
}

static void read_power(Reader* r) {
    read_value(r);
    if (!take(r, '^')) return;
    if (!is_digit(next(r))) {
        refuse(r, CR_ERR_SYNTAX, "a whole number from 0 to 64 is expected after ^");
        return;
    }
    int power = 0;
    while (is_digit(*r->at) && power <= MOST_POWER) {
        power = 10 * power + (*r->at++ - '0');
    }
    if (power > MOST_POWER || *r->at == '.')
        refuse(r, CR_ERR_LIMIT, "the exponent must be a whole number from 0 to 64");
    emit(r, POWER, power, 0.0, 0);
}

static void read_sign(Reader* r) {
    bool negative = false;
    while (next(r) == '-' || next(r) == '+') {
        negative = negative != (*r->at == '-');
        r->at++;
    }
    read_power(r);
    if (negative) emit(r, NEG, 0, 0.0, 0);
}

static void read_product(Reader* r) {
    read_sign(r);
    while (next(r) == '*' || next(r) == '/') {
        Kind kind = *r->at++ == '*' ? MUL : DIV;
        read_sign(r);
        emit(r, kind, 0, 0.0, -1);
    }
}

static void read_sum(Reader* r) {
    if (++r->depth > CR_EXPRESSION_DEPTH) refuse(r, CR_ERR_LIMIT, "too many parentheses inside each other");
    if (r->status != CR_OK) return;
    read_product(r);
    while (next(r) == '+' || next(r) == '-') {
        Kind kind = *r->at++ == '+' ? ADD : SUB;
        read_product(r);
        emit(r, kind, 0, 0.0, -1);
    }
    r->depth--;
}

crStatus cr__expression_read(const char* text, const char* const* names, crArena* arena,
                             crExpression* expression, crError* error) {
    size_t length = strlen(text);
    Reader r = {.text = text, .at = text, .names = names, .room = (int)length + 2, .error = error};
    *expression = (crExpression){0};
    if (length > CR_EXPRESSION_TEXT) {
        refuse(&r, CR_ERR_LIMIT, "longer than 1000 characters");
        return r.status;
    }
    r.steps = cr_arena_alloc(arena, (size_t)r.room * sizeof *r.steps);
    if (r.steps == NULL) return cr_error_set(error, CR_ERR_MEMORY, "expression", "out of memory");
    read_sum(&r);
    if (next(&r) != '\0') refuse(&r, CR_ERR_SYNTAX, "an operator is expected");
    if (r.status == CR_OK) *expression = (crExpression){r.steps, r.count};
    return r.status;
}

static double power_of(double x, int n) {
    double product = 1.0;
    for (int i = 0; i < n; i++) {
        product *= x;
    }
    return product;
}

static double one(Kind kind, int index, double x) {
    double s = 0.0, c = 0.0;
    switch (kind) {
    case NEG:
        return -x;
    case POWER:
        return power_of(x, index);
    case SQRT:
        return sqrt(x);
    case ABS:
        return fabs(x);
    case STEP:
        return x < 0.0 ? 0.0 : 1.0;
    default:
        if (!isfinite(x)) return (double)NAN;
        cr_sincos(x, &s, &c);
        return kind == SIN ? s : c;
    }
}

static double two(Kind kind, double x, double y) {
    switch (kind) {
    case ADD:
        return x + y;
    case SUB:
        return x - y;
    case MUL:
        return x * y;
    case DIV:
        return x / y;
    case MIN:
        return x < y ? x : y;
    default:
        return x > y ? x : y;
    }
}

double cr__expression_value(const crExpression* expression, const double* values) {
    double stack[CR_EXPRESSION_DEPTH + 1];
    int height = 0;
    for (int i = 0; i < expression->count; i++) {
        const crExpressionStep* s = &expression->steps[i];
        bool binary = (s->kind >= ADD && s->kind <= DIV) || s->kind >= MIN;
        if (s->kind == NUMBER) {
            stack[height++] = s->number;
        } else if (s->kind == NAME) {
            stack[height++] = values[s->index];
        } else if (binary) {
            height--;
            stack[height - 1] = two(s->kind, stack[height - 1], stack[height]);
        } else {
            stack[height - 1] = one(s->kind, s->index, stack[height - 1]);
        }
    }
    return height > 0 ? stack[0] : 0.0;
}
