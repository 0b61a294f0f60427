// motion_laws.c - methods, rules and laws as values to set in a scene.
//
// A law is played one contact after another (rule sequence); one that reads an ending is there once for each.
// Fails: nothing.
#include <string.h>

#include "fit/motion.h"

static void add_set(crMotionLaw* law, const char* path, const char* value) {
    snprintf(law->path[law->set_count], sizeof law->path[0], "%s", path);
    snprintf(law->value[law->set_count++], sizeof law->value[0], "%s", value);
}

static crMotionLaw make_law(const char* method, const char* rule, const crFitLaw* law) {
    static const char* const endings[] = {"poisson", "newton", "energetic"};
    const char* parts[] = {method, law != NULL ? "sequence" : rule, law != NULL ? law->name : NULL};
    crMotionLaw m = {0};
    for (int i = 0; i < 3; i++) {
        size_t used = strlen(m.name);
        if (parts[i] != NULL)
            snprintf(m.name + used, sizeof m.name - used, "%s%s", used > 0 ? " " : "", parts[i]);
    }
    if (m.name[0] == '\0') snprintf(m.name, sizeof m.name, "scene");
    if (parts[0] != NULL) add_set(&m, "step.method", parts[0]);
    if (parts[1] != NULL) add_set(&m, "impact.rule", parts[1]);
    if (law == NULL) return m;
    add_set(&m, "impact.law", law->law);
    if (law->endings) add_set(&m, "impact.law_params.ending", endings[law->ending]);
    return m;
}

int cr_motion_laws(unsigned methods, const char* const* rules, int rule_count, const crFitLaw* laws,
                   int law_count, crMotionLaw* out, int room) {
    int count = 0;
    for (int i = -1; i == -1 || cr_method_name((crMethod)i) != NULL; i++) {
        if (i < 0 ? methods != 0 : (methods & (1u << i)) == 0) continue;
        const char* method = i >= 0 ? cr_method_name((crMethod)i) : NULL;
        bool own = i == CR_METHOD_LCP || i == CR_METHOD_MOREAU || rule_count + law_count == 0;
        int here = own ? 1 : rule_count + law_count;
        for (int k = 0; k < here; k++, count++) {
            if (count >= room) continue;
            out[count] = make_law(method, own || k >= rule_count ? NULL : rules[k],
                                  own || k < rule_count ? NULL : &laws[k - rule_count]);
        }
    }
    return count;
}
