// expat.c - XML through expat into a tree.
//
// expat tells where an element begins; the attributes' places are found again in the bytes of its tag, which
// stand in the text as expat read them because entities of a document type are refused. Fails: CR_ERR_SYNTAX
// with expat's words, CR_ERR_LIMIT where a text is too long, too deep or has too many elements, CR_ERR_MEMORY.
#include <expat.h>
#include <string.h>

#include "io/xml.h"

typedef struct Text {
    char* bytes;
    size_t size, capacity;
} Text;

typedef struct Reader {
    XML_Parser parser;
    const char* text;
    size_t size;
    const char* file;
    crArena* arena;
    crXml* root;
    crXml* open;                        // innermost element that is not closed
    crXml* last[CR_XML_MAX_DEPTH + 1];  // youngest child so far, by depth
    Text inside[CR_XML_MAX_DEPTH + 1];  // characters so far, by depth
    int depth;
    int elements, attrs;
    crStatus status;
    crError* error;
} Reader;

static void refuse(Reader* r, crStatus status, const char* message) {
    if (r->status != CR_OK) return;
    r->status = cr_error_set(r->error, status, "xml", "%s", message);
    if (r->error != NULL) {
        r->error->line = (int)XML_GetCurrentLineNumber(r->parser);
        r->error->column = (int)XML_GetCurrentColumnNumber(r->parser) + 1;
    }
    XML_StopParser(r->parser, XML_FALSE);
}

static char* copy_xml_expat(Reader* r, const char* text, size_t size) {
    char* own = cr_arena_alloc(r->arena, size + 1);
    if (own == NULL) {
        refuse(r, CR_ERR_MEMORY, "out of memory");
        return NULL;
    }
    memcpy(own, text, size);
    own[size] = '\0';
    return own;
}

static bool is_space_xml_expat(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// where in the tag the next attribute's name begins; counts lines on the way
static size_t skip_to_name(const Reader* r, size_t at, int* line, int* column) {
    while (at < r->size && is_space_xml_expat(r->text[at])) {
        bool end = r->text[at++] == '\n';
        *line += end;
        *column = end ? 1 : *column + 1;
    }
    return at;
}

static size_t skip_value(const Reader* r, size_t at, int* line, int* column) {
    char quote = '\0';
    while (at < r->size) {
        char c = r->text[at++];
        *line += c == '\n';
        *column = c == '\n' ? 1 : *column + 1;
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            break;
        }
    }
    return at;
}

static void add_attrs(Reader* r, crXml* element, const XML_Char** attrs) {
    XML_Index begin = XML_GetCurrentByteIndex(r->parser);
    size_t at = (begin >= 0 ? (size_t)begin : 0) + 1 + strlen(element->name);
    int line = element->line;
    int column = element->column + 1 + (int)strlen(element->name);
    crXmlAttr** end = &element->attrs;
    for (int i = 0; attrs[i] != NULL && r->status == CR_OK; i += 2) {
        if (++r->attrs > CR_XML_MAX_ATTRS) {
            refuse(r, CR_ERR_LIMIT, "too many attributes");
            return;
        }
        crXmlAttr* attr = cr_arena_alloc(r->arena, sizeof *attr);
        const char* name = copy_xml_expat(r, attrs[i], strlen(attrs[i]));
        const char* value = copy_xml_expat(r, attrs[i + 1], strlen(attrs[i + 1]));
        if (attr == NULL) refuse(r, CR_ERR_MEMORY, "out of memory");
        if (r->status != CR_OK) return;
        at = skip_to_name(r, at, &line, &column);
        *attr = (crXmlAttr){.name = name, .value = value, .line = line, .column = column};
        at = skip_value(r, at, &line, &column);
        *end = attr;
        end = &attr->next;
    }
}

static void XMLCALL start(void* ctx, const XML_Char* name, const XML_Char** attrs) {
    Reader* r = ctx;
    if (r->status != CR_OK) return;
    if (r->depth == CR_XML_MAX_DEPTH || ++r->elements > CR_XML_MAX_ELEMENTS) {
        refuse(r, CR_ERR_LIMIT,
               r->depth == CR_XML_MAX_DEPTH ? "elements are more than 100 deep"
                                            : "more than 200000 elements");
        return;
    }
    crXml* element = cr_arena_alloc(r->arena, sizeof *element);
    char* own = copy_xml_expat(r, name, strlen(name));
    if (element == NULL) refuse(r, CR_ERR_MEMORY, "out of memory");
    if (r->status != CR_OK) return;
    *element = (crXml){.name = own, .text = "", .file = r->file, .parent = r->open};
    element->line = (int)XML_GetCurrentLineNumber(r->parser);
    element->column = (int)XML_GetCurrentColumnNumber(r->parser) + 1;
    add_attrs(r, element, attrs);
    crXml** slot = r->open == NULL             ? &r->root
                   : r->last[r->depth] == NULL ? &r->open->child
                                               : &r->last[r->depth]->next;
    *slot = element;
    r->last[r->depth] = element;
    r->open = element;
    r->depth++;
    r->last[r->depth] = NULL;
    r->inside[r->depth].size = 0;
}

static void XMLCALL end(void* ctx, const XML_Char* name) {
    Reader* r = ctx;
    (void)name;
    if (r->status != CR_OK) return;
    Text* inside = &r->inside[r->depth];
    if (inside->size > 0) {
        const char* own = copy_xml_expat(r, inside->bytes, inside->size);
        if (own == NULL) return;
        r->open->text = own;
    }
    r->open = r->open->parent;
    r->depth--;
}

static void XMLCALL characters(void* ctx, const XML_Char* bytes, int count) {
    Reader* r = ctx;
    Text* inside = &r->inside[r->depth];
    size_t size = (size_t)count;
    if (r->status != CR_OK || r->depth == 0) return;
    if (inside->size + size > inside->capacity) {
        size_t room = 2 * inside->capacity + size + 64;
        char* more = cr_arena_alloc(r->arena, room);
        if (more == NULL) {
            refuse(r, CR_ERR_MEMORY, "out of memory");
            return;
        }
        if (inside->size > 0) memcpy(more, inside->bytes, inside->size);
        inside->bytes = more;
        inside->capacity = room;
    }
    memcpy(inside->bytes + inside->size, bytes, size);
    inside->size += size;
}

static void XMLCALL doctype(void* ctx, const XML_Char* name, const XML_Char* system, const XML_Char* public,
                            int subset) {
    (void)name;
    (void)system;
    (void)public;
    (void)subset;
    refuse(ctx, CR_ERR_SYNTAX, "a document type (and with it entities) is not allowed in a model file");
}

static crStatus parse_xml_expat(Reader* r) {
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, start, end);
    XML_SetCharacterDataHandler(r->parser, characters);
    XML_SetStartDoctypeDeclHandler(r->parser, doctype);
    enum XML_Status status = XML_Parse(r->parser, r->text, (int)r->size, XML_TRUE);
    if (r->status == CR_OK && status != XML_STATUS_OK) {
        enum XML_Error code = XML_GetErrorCode(r->parser);
        refuse(r, code == XML_ERROR_NO_MEMORY ? CR_ERR_MEMORY : CR_ERR_SYNTAX, XML_ErrorString(code));
    }
    return r->status;
}

crStatus cr_xml_parse(const char* text, size_t size, const char* file, crArena* arena, crXml** root,
                      crError* error) {
    *root = NULL;
    if (size > CR_XML_MAX_SIZE)
        return cr_error_set(error, CR_ERR_LIMIT, "xml", "the text is %zu bytes long, allowed are %zu", size,
                            CR_XML_MAX_SIZE);
    Reader* r = cr_arena_alloc(arena, sizeof *r);
    XML_Parser parser = r != NULL ? XML_ParserCreate(NULL) : NULL;
    if (parser == NULL) return cr_error_set(error, CR_ERR_MEMORY, "xml", "out of memory");
    *r = (Reader){.parser = parser, .text = text, .size = size, .file = file, .arena = arena, .error = error};
    crStatus status = parse_xml_expat(r);
    XML_ParserFree(parser);
    if (status == CR_OK) *root = r->root;
    return status;
}
