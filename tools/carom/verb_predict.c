// verb_predict.c - carom predict: fitted parameters applied to collisions, with a certificate for each.
#include <string.h>

#include "command.h"
#include "fitting.h"
#include "io/json.h"

static void print_help(void) {
    puts("usage: carom predict PARAMS.json FILE.csv [options]\n"
         "\n"
         "Applies a law fitted by carom fit impacts --out PARAMS.json to the collisions of FILE, one of the\n"
         "forms of carom fit; velocities after (or impulses) may be missing. Prints one line per collision:\n"
         "velocities after, impulse in the contact frame (t1 against the slip), energy change, regime, and\n"
         "whether the answer is permissible; a summary goes to standard error.\n"
         "\n"
         "  --law NAME        which law of PARAMS.json; default its first, the best\n"
         "  --column NAME=SOURCE,...  --where COLUMN=VALUE,...  --skip   as in carom fit\n"
         "  --json            one JSON object per line instead of comma-separated values\n"
         "\n"
         "Exit status: 0 good, 1 bad data or a law that does not apply to them, 2 wrong usage, 3 a file "
         "cannot\n"
         "be read.\n"
         "\n"
         "examples:\n"
         "  carom fit impacts half.csv --out law.json && carom predict law.json rest.csv > predicted.csv\n"
         "  carom predict law.json rest.csv --law routh --json");
}

typedef struct Predicting {
    const char* params;
    const char* path;
    const char* law;
    bool json;
    crImpactOptions columns;
    crFitChoice choice;
    crTable table;
    crImpacts impacts;
    int unanswered, impermissible;
    double error;
} Predicting;

static int take_value(Predicting* p, const char* name, char* value) {
    if (strcmp(name, "--column") == 0) return fitting_columns("predict", &p->columns, value);
    if (strcmp(name, "--where") == 0) return fitting_where("predict", &p->columns, value);
    p->law = value;
    return -1;
}

// -1 to go on, else the exit status
static int read_options(Predicting* p, int count, char** arguments) {
    for (int i = 0; i < count; i++) {
        char* argument = arguments[i];
        int status = -1;
        bool valued = strcmp(argument, "--column") == 0 || strcmp(argument, "--where") == 0 ||
                      strcmp(argument, "--law") == 0;
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_help();
            return EXIT_GOOD;
        }
        if (strcmp(argument, "--json") == 0) {
            p->json = true;
        } else if (strcmp(argument, "--skip") == 0) {
            p->columns.skip = true;
        } else if (valued) {
            if (i + 1 == count) return usage_error("predict", "%s needs a value", argument);
            status = take_value(p, argument, arguments[++i]);
        } else if (argument[0] == '-' && argument[1] != '\0') {
            return usage_error("predict", "unknown option '%s'", argument);
        } else if (p->params == NULL) {
            p->params = argument;
        } else if (p->path == NULL) {
            p->path = argument;
        } else {
            return usage_error("predict", "two files: the parameters and the collisions; '%s' is a third",
                               argument);
        }
        if (status >= 0) return status;
    }
    if (p->path == NULL) return usage_error("predict", "which files? carom predict PARAMS.json FILE.csv");
    return -1;
}

// A number under its name: a cell, or a member of an object.
static void put(const Predicting* p, const char* name, double value) {
    if (p->json) printf(", \"%s\": ", name);
    if (!p->json) putchar(',');
    cr_json_write_number(stdout, value);
}

static void put_word(const Predicting* p, const char* name, const char* word, bool quoted) {
    if (p->json) {
        printf(quoted ? ", \"%s\": \"%s\"" : ", \"%s\": %s", name, word);
    } else {
        printf(",%s", word);
    }
}

static void put_velocities(const Predicting* p, const crImpactRow* row, crVec3 P) {
    crRigid after = cr_rigid_after(&row->body, row->point, cr_mat3_mul(row->frame, P));
    put(p, "vx_after", after.velocity.x);
    put(p, "vy_after", after.velocity.y);
    if (p->impacts.form == CR_FORM_PLANAR) {
        put(p, "w_after", after.omega.z);
        return;
    }
    put(p, "vz_after", after.velocity.z);
    put(p, "wx_after", after.omega.x);
    put(p, "wy_after", after.omega.y);
    put(p, "wz_after", after.omega.z);
}

static void put_header(const Predicting* p) {
    static const char* const velocities[] = {",vx_after,vy_after,w_after",
                                             ",vx_after,vy_after,vz_after,wx_after,wy_after,wz_after", ""};
    printf("line%s,Pn,P1,P2,energy_change,regime,permissible%s\n", velocities[p->impacts.form],
           p->impacts.measured ? ",error" : "");
}

static void put_row(Predicting* p, const crImpactRow* row, const crHit* hit, bool answered) {
    printf(p->json ? "{\"line\": %d" : "%d", row->line);
    if (p->impacts.form != CR_FORM_IMPULSE) put_velocities(p, row, hit->P);
    put(p, "Pn", hit->P.x);
    put(p, "P1", hit->P.y);
    put(p, "P2", hit->P.z);
    put(p, "energy_change", hit->energy_change);
    put_word(p, "regime", cr_regime_name(hit->regime), true);
    put_word(p, "permissible", answered && hit->permissible ? "true" : "false", false);
    if (p->impacts.measured) put(p, "error", cr_impact_error(row, hit->P));
    puts(p->json ? "}" : "");
}

static crStatus predict(Predicting* p, crError* error) {
    if (!p->json) put_header(p);
    for (int i = 0; i < p->impacts.count; i++) {
        const crImpactRow* row = &p->impacts.rows[i];
        crHit hit;
        bool answered = true;
        crStatus status =
            cr_fit_answer(p->choice.law, &p->choice.theta, &row->contact, &hit, &answered, error);
        if (status != CR_OK) {
            error->line = row->line;
            return status;
        }
        put_row(p, row, &hit, answered);
        p->unanswered += !answered;
        p->impermissible += answered && !hit.permissible;
        if (p->impacts.measured) p->error += cr_impact_error(row, hit.P) / p->impacts.count;
    }
    return CR_OK;
}

static void summarize(const Predicting* p) {
    fprintf(stderr, "%s: %d collisions, %d without an answer, %d not permissible", p->choice.law->name,
            p->impacts.count, p->unanswered, p->impermissible);
    if (p->impacts.skipped > 0) fprintf(stderr, ", %d bad rows skipped", p->impacts.skipped);
    if (p->impacts.measured) fprintf(stderr, "; mean error %.4g m/s", p->error);
    if (p->impacts.measured && p->choice.cv == p->choice.cv)
        fprintf(stderr, " (cross-validated where it was fitted: %.4g +- %.2g)", p->choice.cv,
                p->choice.cv_se);
    fputs("\n", stderr);
}

int verb_predict(int count, char** arguments) {
    Predicting p = {.columns.unmeasured = true};
    int code = read_options(&p, count, arguments);
    if (code >= 0) return code;
    crError error = {0};
    if (cr_fit_read(p.params, p.law, &p.choice, &error) != CR_OK)
        return fitting_refuse("predict", p.params, &error);
    crStatus status = cr_table_read(p.path, &p.table, &error);
    if (status == CR_OK) status = cr_impacts_create(&p.table, &p.columns, &p.impacts, &error);
    if (status == CR_OK) status = predict(&p, &error);
    if (status == CR_OK) summarize(&p);
    cr_impacts_destroy(&p.impacts);
    cr_table_free(&p.table);
    return status == CR_OK ? EXIT_GOOD : fitting_refuse("predict", p.path, &error);
}
