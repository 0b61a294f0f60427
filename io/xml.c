// xml.c - looking into a tree of XML elements.
#include "io/xml.h"

#include <string.h>

crXmlAttr* cr_xml_attr(const crXml* element, const char* name) {
    for (crXmlAttr* attr = element->attrs; attr != NULL; attr = attr->next) {
        if (strcmp(attr->name, name) == 0) return attr;
    }
    return NULL;
}

crXml* cr_xml_child(const crXml* element, const char* name) {
    for (crXml* child = element->child; child != NULL; child = child->next) {
        if (strcmp(child->name, name) == 0) return child;
    }
    return NULL;
}
