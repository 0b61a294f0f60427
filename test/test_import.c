// Importers on spoiled models: cut, changed and shuffled texts of the examples are refused by name and place,
// or taken and then consistent; nothing crashes.
#include "import_case.h"
#include "sample.h"

static const char* const models[] = {"arm.xml", "gripper.urdf", "bounce.sdf"};

static char* load(const char* name) {
    const char* source = getenv("CAROM_SOURCE");
    char path[512];
    snprintf(path, sizeof path, "%s/examples/models/%s", source != NULL ? source : ".", name);
    FILE* file = fopen(path, "rb");
    if (file == NULL) return NULL;
    char* text = calloc(1, 65536);
    size_t size = fread(text, 1, 65535, file);
    fclose(file);
    if (size > 0) return text;
    free(text);
    return NULL;
}

static void judge(const char* text) {
    Case c;
    crStatus status = case_text(text, NULL, &c);
    if (status == CR_OK) {
        CHECK_STATUS(cr_model_check(c.scene.model, NULL), CR_OK);
        for (int i = 0; i < c.import.note_count; i++) {
            CHECK(c.import.notes[i].line >= 1 && c.import.notes[i].column >= 1 &&
                  c.import.notes[i].count >= 1);
        }
        case_free(&c);
        return;
    }
    test_check(c.error.status == status && c.error.message[0] != '\0' && c.error.line >= 1 &&
                   c.error.column >= 1,
               __FILE__, __LINE__, "%d %d:%d %s", (int)status, c.error.line, c.error.column, c.error.message);
}

// some bytes of a text replaced, taken away or doubled
static void spoil(crRandom* random, char* text) {
    static const char* const words[] = {"0", "-1", "1e400",   "nan",    "\"",    "<",
                                        ">", "/>", "</body>", "<a",     "0 0 0", "=",
                                        " ", "x",  "&lt;",    "1e-300", "",      "<joint/>"};
    int count = 1 + (int)(sample_bits(random) % 3);
    for (int i = 0; i < count; i++) {
        size_t size = strlen(text);
        size_t at = sample_bits(random) % (size + 1);
        size_t cut = sample_bits(random) % 12;
        const char* word = words[sample_bits(random) % (sizeof words / sizeof words[0])];
        if (at + cut > size) cut = size - at;
        memmove(text + at + strlen(word), text + at + cut, size - at - cut + 1);
        memcpy(text + at, word, strlen(word));
    }
}

TEST(spoiled) {
    if (!case_xml()) return;
    crRandom random = sample_seed(11);
    for (int m = 0; m < 3; m++) {
        char* text = load(models[m]);
        if (text == NULL) {
            test_skip("CAROM_SOURCE is not set");
            return;
        }
        judge(text);
        char* copy = malloc(65536 + 64);
        for (int n = 0; n < test_samples(20000); n++) {
            strcpy(copy, text);
            spoil(&random, copy);
            judge(copy);
        }
        free(copy);
        free(text);
    }
}

// one number changed keeps the text well formed, so that values are judged and not the syntax
TEST(odd_numbers) {
    static const char* const odd[] = {"0",       "-1", "1e300", "-1e-300", "1e9",
                                      "0.1 0.2", "",   "x",     "inf",     "1e400"};
    if (!case_xml()) return;
    for (int m = 0; m < 3; m++) {
        char* text = load(models[m]);
        if (text == NULL) {
            test_skip("CAROM_SOURCE is not set");
            return;
        }
        char* copy = malloc(65536 + 64);
        for (size_t at = 1; text[at] != '\0'; at++) {
            bool begins = strchr("0123456789.-", text[at]) != NULL && strchr(" \"'>", text[at - 1]) != NULL;
            if (!begins || strncmp(text + at, "--", 2) == 0) continue;
            size_t length = strspn(text + at, "0123456789.-e");
            for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
                snprintf(copy, 65536, "%.*s%s%s", (int)at, text, odd[k], text + at + length);
                judge(copy);
            }
        }
        free(copy);
        free(text);
    }
}
