// XML: places of elements and attributes, text, and refusals of what is malformed or hostile.
#include "test.h"

#include <stdlib.h>

#include "io/xml.h"

static crStatus parse(const char* text, crArena* arena, crXml** root, crError* error) {
    *error = (crError){0};
    return cr_xml_parse(text, strlen(text), "file", arena, root, error);
}

// false where carom was built without expat
static bool there(void) {
    crArena arena;
    crXml* root = NULL;
    crError error;
    cr_arena_create(&arena, NULL, 0);
    bool good = parse("<a/>", &arena, &root, &error) == CR_OK;
    cr_arena_destroy(&arena);
    if (!good) test_skip("no expat");
    return good;
}

TEST(places_and_values) {
    if (!there()) return;
    crArena arena;
    crXml* root = NULL;
    crError error;
    cr_arena_create(&arena, NULL, 0);
    const char* text =
        "<?xml version='1.0'?>\n<!-- a = \"b\" -->\n<a x=\"1\"  y = '2\"&lt;&#65;'\n   zz='>'>one"
        "<b/>two<b k='v'><![CDATA[<c>]]></b>\n</a>";
    if (!CHECK(parse(text, &arena, &root, &error) == CR_OK)) return;
    CHECK_TEXT(root->name, "a");
    CHECK_TEXT(root->text, "onetwo\n");
    CHECK(root->line == 3 && root->column == 1 && root->parent == NULL && root->next == NULL);
    const crXmlAttr* x = cr_xml_attr(root, "x");
    const crXmlAttr* y = cr_xml_attr(root, "y");
    const crXmlAttr* z = cr_xml_attr(root, "zz");
    CHECK(x->line == 3 && x->column == 4 && y->line == 3 && y->column == 11 && z->line == 4 &&
          z->column == 4);
    CHECK_TEXT(y->value, "2\"<A");
    CHECK_TEXT(z->value, ">");
    CHECK(cr_xml_attr(root, "k") == NULL && cr_xml_child(root, "c") == NULL);
    crXml* b = cr_xml_child(root, "b");
    CHECK(b->line == 4 && b->column == 14 && b->attrs == NULL && b->child == NULL && b->parent == root);
    CHECK(b->next->column == 21 && cr_xml_attr(b->next, "k")->column == 24 && b->next->next == NULL);
    CHECK_TEXT(b->next->text, "<c>");
    CHECK_TEXT(b->file, "file");
    cr_arena_destroy(&arena);
}

static void refused(const char* text, crStatus status, int line, int column) {
    crArena arena;
    crXml* root = NULL;
    crError error;
    cr_arena_create(&arena, NULL, 0);
    crStatus got = parse(text, &arena, &root, &error);
    test_check(got == status && root == NULL && error.message[0] != '\0', __FILE__, __LINE__, "%.60s: %d %s",
               text, (int)got, error.message);
    if (line > 0)
        test_check(error.line == line && error.column == column, __FILE__, __LINE__, "%.60s: at %d:%d", text,
                   error.line, error.column);
    cr_arena_destroy(&arena);
}

TEST(malformed) {
    if (!there()) return;
    refused("", CR_ERR_SYNTAX, 1, 1);
    refused("text", CR_ERR_SYNTAX, 1, 1);
    refused("<a>", CR_ERR_SYNTAX, 1, 4);
    refused("<a></b>", CR_ERR_SYNTAX, 1, 6);
    refused("<a x=1/>", CR_ERR_SYNTAX, 1, 6);
    refused("<a x='1' x='2'/>", CR_ERR_SYNTAX, 1, 10);
    refused("<a>\n  &unknown;</a>", CR_ERR_SYNTAX, 2, 3);
    refused("<a/><b/>", CR_ERR_SYNTAX, 1, 5);
    refused("<a>\xff</a>", CR_ERR_SYNTAX, 0, 0);
    refused("<?xml version='1.0' encoding='no-such'?><a/>", CR_ERR_SYNTAX, 0, 0);
    refused("<a><!-- -- --></a>", CR_ERR_SYNTAX, 0, 0);
}

TEST(hostile) {
    if (!there()) return;
    // entities that grow, external ones, and any document type
    refused("<!DOCTYPE a [<!ENTITY x 'lol'><!ENTITY y '&x;&x;&x;'>]><a>&y;</a>", CR_ERR_SYNTAX, 0, 0);
    refused("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", CR_ERR_SYNTAX, 0, 0);
    refused("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>", CR_ERR_SYNTAX, 0, 0);
    // depth: 100 is fine, 101 is not
    for (int depth = CR_XML_MAX_DEPTH; depth <= CR_XML_MAX_DEPTH + 1; depth++) {
        char* text = malloc((size_t)depth * 7 + 1);
        for (int i = 0; i < depth; i++) {
            memcpy(text + 3 * i, "<a>", 3);
            memcpy(text + 3 * depth + 4 * i, "</a>", 4);
        }
        text[7 * depth] = '\0';
        crArena arena;
        crXml* root = NULL;
        crError error;
        cr_arena_create(&arena, NULL, 0);
        crStatus status = parse(text, &arena, &root, &error);
        CHECK(status == (depth > CR_XML_MAX_DEPTH ? CR_ERR_LIMIT : CR_OK));
        cr_arena_destroy(&arena);
        free(text);
    }
    // many elements, and a text too long
    size_t count = CR_XML_MAX_ELEMENTS + 1;
    char* text = malloc(4 * count + 8);
    char* at = text;
    at += sprintf(at, "<r>");
    for (size_t i = 0; i < count; i++) {
        memcpy(at, "<a/>", 4);
        at += 4;
    }
    sprintf(at, "</r>");
    refused(text, CR_ERR_LIMIT, 0, 0);
    free(text);
    text = malloc(CR_XML_MAX_SIZE + 2);
    memset(text, ' ', CR_XML_MAX_SIZE + 1);
    text[CR_XML_MAX_SIZE + 1] = '\0';
    refused(text, CR_ERR_LIMIT, 0, 0);
    free(text);
}

// every prefix of a good text is refused, and no byte changed crashes
TEST(cut_and_changed) {
    if (!there()) return;
    const char* text = "<mujoco a='1 2'><b c=\"d\">text &amp; more</b><!-- x --><e f='&#66;'/></mujoco>";
    size_t size = strlen(text);
    for (size_t n = 0; n < size; n++) {
        crArena arena;
        crXml* root = NULL;
        crError error = {0};
        cr_arena_create(&arena, NULL, 0);
        CHECK(cr_xml_parse(text, n, "file", &arena, &root, &error) != CR_OK);
        CHECK(error.line >= 1 && error.column >= 1);
        char changed[128];
        for (int c = 1; c < 256; c += 3) {
            memcpy(changed, text, size + 1);
            changed[n] = (char)c;
            cr_xml_parse(changed, size, "file", &arena, &root, &error);
        }
        cr_arena_destroy(&arena);
    }
}
