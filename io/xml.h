// xml.h - an XML text as a tree that remembers where every element and attribute stands.
//
// Made for model files: no document type and so no entities of its own (the five of XML and numbers are
// fine), elements at most 100 deep, limits on size and count, so that hostile input is refused before it
// costs memory. Without expat every text is refused by name.
#ifndef CAROM_IO_XML_H
#define CAROM_IO_XML_H

#include "carom/base.h"

#define CR_XML_MAX_SIZE     ((size_t)16 << 20)  // bytes of one text
#define CR_XML_MAX_DEPTH    100
#define CR_XML_MAX_ELEMENTS 200000
#define CR_XML_MAX_ATTRS    1000000

typedef struct crXmlAttr {
    const char* name;
    const char* value;
    int line, column;  // of its name, 1-based, in bytes
    bool used;         // the reader's own mark
    struct crXmlAttr* next;
} crXmlAttr;

typedef struct crXml {
    const char* name;
    const char* text;  // characters directly inside, joined; "" where there are none
    const char* file;  // as it was given to cr_xml_parse
    int line, column;  // of its <
    bool used;         // the reader's own mark
    crXmlAttr* attrs;
    struct crXml* child;  // first
    struct crXml* next;   // sibling
    struct crXml* parent;
} crXml;

// The root element, in memory of the arena; file is kept as a pointer. Errors have line and column.
crStatus cr_xml_parse(const char* text, size_t size, const char* file, crArena* arena, crXml** root,
                      crError* error);

// Neither marks anything.
crXmlAttr* cr_xml_attr(const crXml* element, const char* name);  // NULL where there is none
crXml* cr_xml_child(const crXml* element, const char* name);     // the first of that name, or NULL

#endif
