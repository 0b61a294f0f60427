// audit_lines.c - lines of an audit: a label, a verdict where there is one, words; for a terminal or for a page.
#include "auditing.h"
#include "command.h"
#include "numbers.h"
#include "plot/sheet.h"

#define LABEL   12  // columns of a terminal
#define VERDICT 11

void lines_begin(const AuditLines* lines, const char* label, const crTruth* truth) {
    FILE* file = lines->file;
    if (lines->page) {
        fprintf(file, "<tr><th scope=\"row\">%s</th><td>", label);
        if (truth != NULL)
            fprintf(file, "<span%s>%s</span></td><td>", *truth == CR_TRUTH_NO ? " class=\"bad\"" : "",
                    cr_truth_name(*truth));
    } else if (truth != NULL) {
        fprintf(file, "%-*s %s%-*s%s ", LABEL, label, audit_shade(*truth, lines->color), VERDICT,
                cr_truth_name(*truth), lines->color ? PLAIN : "");
    } else {
        fprintf(file, "%-*s ", LABEL, label);
    }
}

void lines_more(const AuditLines* lines) {
    int indent = LABEL + 1 + (lines->verdicts ? VERDICT + 1 : 0);
    if (lines->page) {
        fputs("<br>\n", lines->file);
    } else {
        fprintf(lines->file, "\n%*s", indent, "");
    }
}

void lines_end(const AuditLines* lines) { fputs(lines->page ? "</td></tr>\n" : "\n", lines->file); }

void lines_name(const AuditLines* lines, const char* name) {
    if (lines->page) {
        cr_sheet_escape(lines->file, name);
    } else {
        print_plain(lines->file, name);
    }
}
