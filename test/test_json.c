// test_json.c - the JSON reader against tables of good and bad texts, cut-off texts, limits and locales.
#include <limits.h>
#include <locale.h>
#include <stdlib.h>

#include "io/input.h"
#include "io/json.h"
#include "io/names.h"
#include "sample.h"
#include "test.h"

static crStatus parse(const char* text, crJsonDoc* doc, crError* error) {
    return cr_json_parse(text, strlen(text), 1, doc, error);
}

TEST(json_valid_texts) {
    static const char* const texts[] = {
        "0",
        "-0",
        "-1.5e-3",
        "1E+2",
        "123456789012345678901234567890",
        "1e-400",
        "\"\"",
        "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u00e9\\u20ac\\ud83d\\ude00\"",
        "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"",
        "null",
        "true",
        " \t\r\n false \n",
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1,[2,[3,{}]],\"x\"]",
        "{\"a\":{\"a\":1},\"A\":2,\"\":3}",
        "\xef\xbb\xbf{\"a\":1}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        crJsonDoc doc;
        crError error = {0};
        crStatus status = parse(texts[i], &doc, &error);
        test_check(status == CR_OK, __FILE__, __LINE__, "%s: %s", texts[i], error.message);
        CHECK(status != CR_OK || doc.root != NULL);
        cr_json_free(&doc);
    }
}

TEST(json_invalid_texts) {
    static const struct {
        const char* text;
        crStatus status;
        int line, column;
        const char* field;
    } bad[] = {
        {"", CR_ERR_SYNTAX, 1, 1, ""},
        {" \n ", CR_ERR_SYNTAX, 2, 2, ""},
        {"{", CR_ERR_SYNTAX, 1, 2, ""},
        {"}", CR_ERR_SYNTAX, 1, 1, ""},
        {"[1,]", CR_ERR_SYNTAX, 1, 4, ""},
        {"[,1]", CR_ERR_SYNTAX, 1, 2, ""},
        {"[1 2]", CR_ERR_SYNTAX, 1, 4, ""},
        {"{\"a\":1,}", CR_ERR_SYNTAX, 1, 8, ""},
        {"{\"a\" 1}", CR_ERR_SYNTAX, 1, 6, ""},
        {"{a:1}", CR_ERR_SYNTAX, 1, 2, ""},
        {"{'a':1}", CR_ERR_SYNTAX, 1, 2, ""},
        {"{1:1}", CR_ERR_SYNTAX, 1, 2, ""},
        {"{\"a\":}", CR_ERR_SYNTAX, 1, 6, ""},
        {"[1]]", CR_ERR_SYNTAX, 1, 4, ""},
        {"1 2", CR_ERR_SYNTAX, 1, 3, ""},
        {"[1}", CR_ERR_SYNTAX, 1, 3, ""},
        {"01", CR_ERR_SYNTAX, 1, 2, ""},
        {"+1", CR_ERR_SYNTAX, 1, 1, ""},
        {".5", CR_ERR_SYNTAX, 1, 1, ""},
        {"1.", CR_ERR_SYNTAX, 1, 3, ""},
        {"1.e3", CR_ERR_SYNTAX, 1, 3, ""},
        {"1e", CR_ERR_SYNTAX, 1, 3, ""},
        {"1e+", CR_ERR_SYNTAX, 1, 4, ""},
        {"-", CR_ERR_SYNTAX, 1, 2, ""},
        {"-x", CR_ERR_SYNTAX, 1, 2, ""},
        {"0x10", CR_ERR_SYNTAX, 1, 2, ""},
        {"1_000", CR_ERR_SYNTAX, 1, 2, ""},
        {"True", CR_ERR_SYNTAX, 1, 1, ""},
        {"tru", CR_ERR_SYNTAX, 1, 1, ""},
        {"nullx", CR_ERR_SYNTAX, 1, 5, ""},
        {"// no\n1", CR_ERR_SYNTAX, 1, 1, ""},
        {"\"abc", CR_ERR_SYNTAX, 1, 5, ""},
        {"\"a\\", CR_ERR_SYNTAX, 1, 4, ""},
        {"\"\\x\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\\u12g4\"", CR_ERR_SYNTAX, 1, 6, ""},
        {"\"\\u0000\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\\ud800\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\\udc00\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\\ud800\\u0041\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\\ud800x\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"a\nb\"", CR_ERR_SYNTAX, 1, 3, ""},
        {"\"a\tb\"", CR_ERR_SYNTAX, 1, 3, ""},
        {"\"\x80\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\xc0\xaf\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\xe0\x80\x80\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\xed\xa0\x80\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\xf4\x90\x80\x80\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\"\xf0\x9f\x98\"", CR_ERR_SYNTAX, 1, 2, ""},
        {"\xff", CR_ERR_SYNTAX, 1, 1, ""},
        {"{\"V\": [NaN, 0]}", CR_ERR_FINITE, 1, 8, "V"},
        {"{\"b\":{\"mass\":-Infinity}}", CR_ERR_FINITE, 1, 14, "b.mass"},
        {"{\"e\":\n1e400}", CR_ERR_FINITE, 2, 1, "e"},
        {"{\"e\":-1e309}", CR_ERR_FINITE, 1, 6, "e"},
        {"{\"e\":1,\n \"mu\":2, \"e\":3}", CR_ERR_SYNTAX, 2, 14, "e"},
        {"{\"a\":{\"x\":1,\"y\":2,\"x\":3}}", CR_ERR_SYNTAX, 1, 23, "a.x"},
        {"{\"\\u0061\":1,\"a\":2}", CR_ERR_SYNTAX, 1, 17, "a"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        crJsonDoc doc;
        crError error = {0};
        crStatus status = parse(bad[i].text, &doc, &error);
        test_check(status == bad[i].status, __FILE__, __LINE__, "%s: \"%s\"", bad[i].text,
                   cr_status_name(status));
        test_check(error.line == bad[i].line && error.column == bad[i].column, __FILE__, __LINE__,
                   "%s: at %d:%d, expected %d:%d (%s)", bad[i].text, error.line, error.column, bad[i].line,
                   bad[i].column, error.message);
        CHECK_TEXT(error.field, bad[i].field);
        CHECK(error.status == status && error.message[0] != '\0');
        CHECK(doc.root == NULL);
        // the status alone, without details
        CHECK_STATUS(parse(bad[i].text, &doc, NULL), bad[i].status);
    }
}

static const char rich[] = "{\"law\": [\"newton\", \"r\\u00f6uth\\n\"],\n"
                           "  \"W\": [[1.25e0, -0.3], [-3e-1, 2]], \"x\": {\"y\": null, \"z\": true},\n"
                           "\t\"s\": \"\\ud83d\\ude00 \xe2\x82\xac\", \"e\": [], \"f\": {}, \"g\": false}";

TEST(json_tree_and_positions) {
    crJsonDoc doc;
    crError error = {0};
    if (!CHECK_STATUS(cr_json_parse(rich, sizeof rich - 1, 7, &doc, &error), CR_OK)) return;
    const crJson* root = doc.root;
    CHECK(root->type == CR_JSON_OBJECT && root->count == 7 && root->line == 7 && root->column == 1);
    const crJson* law = cr_json_get(root, "law");
    CHECK(law->type == CR_JSON_ARRAY && law->count == 2 && law->line == 7 && law->column == 9);
    CHECK_TEXT(law->child->next->text, "r\xc3\xb6uth\n");
    const crJson* W = cr_json_get(root, "W");
    CHECK(W->line == 8 && W->column == 8 && W->count == 2);
    CHECK(W->child->child->number == 1.25 && W->child->child->next->number == -0.3);
    CHECK(W->child->child->next->line == 8 && W->child->child->next->column == 18);
    CHECK(cr_json_get(cr_json_get(root, "x"), "y")->type == CR_JSON_NULL);
    CHECK(cr_json_get(cr_json_get(root, "x"), "z")->number == 1.0);
    CHECK_TEXT(cr_json_get(root, "s")->text, "\xf0\x9f\x98\x80 \xe2\x82\xac");
    CHECK(cr_json_get(root, "g")->type == CR_JSON_BOOL && cr_json_get(root, "g")->number == 0.0);
    CHECK(cr_json_get(root, "none") == NULL && cr_json_get(W, "x") == NULL);
    cr_json_free(&doc);
}

TEST(json_cut_off_everywhere) {
    // an exact-size copy, so that a read past the end is caught
    for (size_t size = 0; size < sizeof rich - 1; size++) {
        char* copy = malloc(size > 0 ? size : 1);
        memcpy(copy, rich, size);
        crJsonDoc doc;
        crError error = {0};
        CHECK(cr_json_parse(copy, size, 1, &doc, &error) != CR_OK);
        int lines = 1;
        size_t start = 0;
        for (size_t i = 0; i < size; i++) {
            if (copy[i] != '\n') continue;
            lines++;
            if (lines <= error.line) start = i + 1;
        }
        CHECK(error.line >= 1 && error.line <= lines);
        CHECK(error.column >= 1 && start + (size_t)error.column <= size + 1);
        free(copy);
    }
}

// Any byte changed: never a crash, and an error always has a place inside the text.
TEST(json_changed_bytes) {
    crRandom random = sample_seed(41);
    int refused = 0;
    int count = test_samples(600000);
    for (int k = 0; k < count; k++) {
        char copy[sizeof rich - 1];
        memcpy(copy, rich, sizeof copy);
        int changes = 1 + (int)(sample_bits(&random) % 3);
        for (int i = 0; i < changes; i++) {
            copy[sample_bits(&random) % sizeof copy] = (char)(sample_bits(&random) & 0xff);
        }
        crJsonDoc doc;
        crError error = {0};
        if (cr_json_parse(copy, sizeof copy, 1, &doc, &error) != CR_OK) {
            refused++;
            CHECK(error.line >= 1 && error.column >= 1 && error.column <= (int)sizeof copy + 1);
        }
        cr_json_free(&doc);
    }
    printf("  changed bytes: %d of %d refused\n", refused, count);
}

static char* repeat(const char* head, const char* piece, size_t times, const char* tail) {
    size_t length = strlen(piece);
    char* text = malloc(strlen(head) + times * length + strlen(tail) + 1);
    char* at = text + sprintf(text, "%s", head);
    for (size_t i = 0; i < times; i++) {
        memcpy(at, piece, length);
        at += length;
    }
    strcpy(at, tail);
    return text;
}

static void check_limit(char* text, crStatus expected, const char* what) {
    crJsonDoc doc;
    crError error = {0};
    crStatus status = parse(text, &doc, &error);
    test_check(status == expected, __FILE__, __LINE__, "%s: \"%s\" (%s)", what, cr_status_name(status),
               error.message);
    cr_json_free(&doc);
    free(text);
}

TEST(json_limits) {
    char* deep = repeat("", "[", 64, "1");
    char* closed = repeat(deep, "]", 64, "");
    free(deep);
    check_limit(closed, CR_OK, "depth 64");
    check_limit(repeat("", "[", 65, ""), CR_ERR_LIMIT, "depth 65");
    check_limit(repeat("", "{\"a\":", 5000000 / 5, ""), CR_ERR_LIMIT, "a million open objects");
    check_limit(repeat("0.", "1", 4094, ""), CR_OK, "a number of 4096 characters");
    check_limit(repeat("0.", "1", 4095, ""), CR_ERR_LIMIT, "a number of 4097 characters");
    check_limit(repeat("[0", ",0", CR_JSON_MAX_VALUES - 2, "]"), CR_OK, "all the values allowed");
    check_limit(repeat("[0", ",0", CR_JSON_MAX_VALUES - 1, "]"), CR_ERR_LIMIT, "a value too many");
    check_limit(repeat("\"", "x", CR_JSON_MAX_SIZE - 2, "\""), CR_OK, "a text of 16 MiB");
    check_limit(repeat("\"", "x", CR_JSON_MAX_SIZE - 1, "\""), CR_ERR_LIMIT, "a text beyond 16 MiB");
    check_limit(repeat("", " ", 1000000, ""), CR_ERR_SYNTAX, "a million blanks");
}

// Half a million different keys: sorted, not compared each with each.
TEST(json_many_keys) {
    const int count = 500000;
    char* text = malloc((size_t)count * 16 + 16);
    char* at = text;
    *at++ = '{';
    for (int i = 0; i < count; i++) {
        at += sprintf(at, "%s\"k%d\":0", i > 0 ? "," : "", i);
    }
    sprintf(at, ",\"k77\":1}");
    crJsonDoc doc;
    crError error = {0};
    CHECK_STATUS(parse(text, &doc, &error), CR_ERR_SYNTAX);
    CHECK_TEXT(error.field, "k77");
    sprintf(at, "}");
    CHECK_STATUS(parse(text, &doc, &error), CR_OK);
    CHECK(doc.root != NULL && doc.root->count == count);
    cr_json_free(&doc);
    free(text);
}

TEST(json_numbers_are_correctly_rounded) {
    static const struct {
        const char* text;
        double value;
    } known[] = {
        {"0.1", 0x1.999999999999ap-4},
        {"9007199254740993", 0x1p53},
        {"9007199254740993.00000000000000000000000000000001", 0x1.0000000000001p53},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
        {"4.9406564584124654e-324", 0x1p-1074},
        {"2.4703282292062327e-324", 0.0},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        crJsonDoc doc;
        if (!CHECK_STATUS(parse(known[i].text, &doc, NULL), CR_OK)) continue;
        CHECK(doc.root->number == known[i].value);
        cr_json_free(&doc);
    }
}

TEST(json_numbers_round_trip) {
    crRandom random = sample_seed(42);
    int count = test_samples(1000000);
    int longest = 0;
    for (int k = 0; k < count; k++) {
        uint64_t bits = sample_bits(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (k % 4 == 0) value = sample_uniform(&random, -2, 2);
        if (k % 4 == 1) value = ((double)(bits % 2000001u) - 1e6) / 1000.0;
        if (!isfinite(value)) continue;
        char text[CR_JSON_NUMBER_TEXT];
        int length = cr_json_number_text(value, text);
        if (length > longest) longest = length;
        CHECK(length == (int)strlen(text));
        // decimals of at most three places come out as they are
        CHECK(k % 4 != 1 || length <= 9);
        crJsonDoc doc;
        if (!CHECK_STATUS(parse(text, &doc, NULL), CR_OK)) continue;
        CHECK(doc.root->number == value);
        cr_json_free(&doc);
    }
    char text[CR_JSON_NUMBER_TEXT];
    cr_json_number_text((double)INFINITY, text);
    CHECK_TEXT(text, "\"inf\"");
    cr_json_number_text(-(double)INFINITY, text);
    CHECK_TEXT(text, "\"-inf\"");
    cr_json_number_text((double)NAN, text);
    CHECK_TEXT(text, "null");
    cr_json_number_text(-0.0, text);
    CHECK_TEXT(text, "0");
    printf("  longest number: %d characters\n", longest);
}

TEST(json_in_a_locale_with_decimal_commas) {
    static const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char* found = NULL;
    for (int i = 0; i < 4 && found == NULL; i++) {
        found = setlocale(LC_NUMERIC, names[i]);
    }
    if (found == NULL) {
        test_skip("no locale with decimal commas on this machine");
        return;
    }
    char text[CR_JSON_NUMBER_TEXT];
    cr_json_number_text(0.5, text);
    CHECK_TEXT(text, "0.5");
    crJsonDoc doc;
    CHECK_STATUS(parse("1.5", &doc, NULL), CR_OK);
    CHECK(doc.root != NULL && doc.root->number == 1.5);
    cr_json_free(&doc);
    setlocale(LC_NUMERIC, "C");
}

// Whatever bytes a string holds, what is written can be read again.
TEST(json_strings_round_trip) {
    crRandom random = sample_seed(43);
    for (int k = 0; k < test_samples(60000); k++) {
        char raw[24];
        int length = 0;
        for (; length < 20; length++) {
            raw[length] = (char)(1 + sample_bits(&random) % 255);
            if (k % 2 == 0) raw[length] = (char)(1 + sample_bits(&random) % 127);
        }
        raw[length] = '\0';
        char* text = NULL;
        size_t size = 0;
        FILE* file = open_memstream(&text, &size);
        cr_json_write_string(file, raw);
        fclose(file);
        crJsonDoc doc;
        if (CHECK_STATUS(cr_json_parse(text, size, 1, &doc, NULL), CR_OK)) {
            CHECK(k % 2 == 1 || strcmp(doc.root->text, raw) == 0);
            cr_json_free(&doc);
        }
        free(text);
    }
}

// What cr_input_next hands out, as letters: o an object, a an array, v another value, E an error; the line
// follows.
static void records(const char* text, size_t size, char* out) {
    FILE* file = fmemopen((void*)(uintptr_t)text, size > 0 ? size : 1, "rb");
    if (size == 0) getc(file);
    crInput input;
    cr_input_stream(&input, file);
    crJsonDoc doc;
    crError error = {0};
    int line = 0;
    out[0] = '\0';
    while (cr_input_next(&input, &doc, &line, &error) && strlen(out) < 100) {
        char kind = 'E';
        if (doc.root != NULL) {
            kind = doc.root->type == CR_JSON_OBJECT ? 'o' : doc.root->type == CR_JSON_ARRAY ? 'a' : 'v';
        }
        sprintf(out + strlen(out), "%c%d ", kind, kind == 'E' ? error.line : line);
        cr_json_free(&doc);
    }
    cr_input_close(&input);
    fclose(file);
}

TEST(input_one_value_or_lines) {
    static const char* const cases[][2] = {
        {"{}", "o1 "},
        {"{}\n", "o1 "},
        {"\n \r\n{}", "o3 "},
        {"{}\n{}\n", "o1 o2 "},
        {"{}\r\n\r\n{}", "o1 o3 "},
        {"{\n\"a\":1\n}\n", "o1 "},
        {"{\"a\":\n{\"b\":1}\n}", "o1 "},
        {"{\"a\":1}\n{\"a\":\n{}\n", "o1 E2 o3 "},
        {"{\"a\":\n{}\n", "E1 o2 "},
        {"nonsense\nmore\n{}\n", "E1 E2 o3 "},
        {"{\n\"a\":1,\n\"b\":,\n}\n", "E3 "},
        {"{\n\"a\":[\n  {\"x\":1},\n  {\"x\":2}\n", "E5 "},
        {"{\"a\":1,,\n\"b\":2}\n", "E1 "},
        {"[\n{},\n{}\n]\n", "a1 "},
        {"3\n", "v1 "},
        {"{}}\n{}\n", "E1 o2 "},
        {"{}\n{", "o1 E2 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[160];
        records(cases[i][0], strlen(cases[i][0]), out);
        test_check(strcmp(out, cases[i][1]) == 0, __FILE__, __LINE__, "%s: got %s, expected %s", cases[i][0],
                   out, cases[i][1]);
    }
}

TEST(input_limits) {
    char out[160];
    // a line that is too long is skipped, the next one is read
    char* text = repeat("{}\n{\"name\":\"", "x", CR_JSON_MAX_SIZE, "\"}\n{}\n");
    records(text, strlen(text), out);
    CHECK_TEXT(out, "o1 E2 o3 ");
    records(text + 3, strlen(text) - 3, out);
    CHECK_TEXT(out, "E1 o2 ");
    free(text);
    // a first line that is no object, and more than fits after it
    text = repeat("bad\n", "{\"name\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}\n", 5, "");
    records(text, strlen(text), out);
    CHECK_TEXT(out, "E1 o2 o3 o4 o5 o6 ");
    free(text);
    text = repeat("[1,\n", "2,\n", CR_JSON_MAX_SIZE / 3, "3]");
    records(text, strlen(text), out);
    CHECK_TEXT(out, "E1 ");
    free(text);
}

TEST(input_missing_file) {
    crInput input;
    crError error = {0};
    CHECK_STATUS(cr_input_open(&input, "/no/such/file", &error), CR_ERR_FILE);
    CHECK(strstr(error.message, "/no/such/file") != NULL);
}

TEST(names_nearest) {
    static const char* const names[] = {"newton", "routh", "chatterjee-ruina", "mu", "W", "velocity", NULL};
    CHECK_TEXT(cr_name_nearest_of("nowton", names), "newton");
    CHECK_TEXT(cr_name_nearest_of("rotuh", names), "routh");
    CHECK_TEXT(cr_name_nearest_of("chaterjee-runia", names), "chatterjee-ruina");
    CHECK_TEXT(cr_name_nearest_of("Velocty", names), "velocity");
    CHECK_TEXT(cr_name_nearest_of("nu", names), "mu");
    CHECK_TEXT(cr_name_nearest_of("w", names), "W");
    CHECK(cr_name_nearest_of("q", names) == NULL);
    CHECK(cr_name_nearest_of("", names) == NULL);
    CHECK(cr_name_nearest_of("entirely else", names) == NULL);
}
