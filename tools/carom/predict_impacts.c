// predict_impacts.c - carom predict of collisions: a fitted law applied to each, with a certificate.
#include "command.h"
#include "io/json.h"
#include "numbers.h"
#include "predicting.h"

typedef struct Impacts {
    const Predicting* asked;
    crFitChoice choice;
    crTable table;
    crImpacts impacts;
    int unanswered, impermissible;
    double error;
} Impacts;

// A number under its name: a cell, or a member of an object.
static void put(const Impacts* p, const char* name, double value) {
    if (p->asked->json) printf(", \"%s\": ", name);
    if (!p->asked->json) putchar(',');
    cr_json_write_number(stdout, value);
}

static void put_word(const Impacts* p, const char* name, const char* word, bool quoted) {
    if (p->asked->json) {
        printf(quoted ? ", \"%s\": \"%s\"" : ", \"%s\": %s", name, word);
    } else {
        printf(",%s", word);
    }
}

static void put_velocities(const Impacts* p, const crImpactRow* row, crVec3 P) {
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

static void put_header(const Impacts* p) {
    static const char* const velocities[] = {",vx_after,vy_after,w_after",
                                             ",vx_after,vy_after,vz_after,wx_after,wy_after,wz_after", ""};
    printf("line%s,Pn,P1,P2,energy_change,regime,permissible%s\n", velocities[p->impacts.form],
           p->impacts.measured ? ",error" : "");
}

static void put_row(Impacts* p, const crImpactRow* row, const crHit* hit, bool answered) {
    printf(p->asked->json ? "{\"line\": %d" : "%d", row->line);
    if (p->impacts.form != CR_FORM_IMPULSE) put_velocities(p, row, hit->P);
    put(p, "Pn", hit->P.x);
    put(p, "P1", hit->P.y);
    put(p, "P2", hit->P.z);
    put(p, "energy_change", hit->energy_change);
    put_word(p, "regime", cr_regime_name(hit->regime), true);
    put_word(p, "permissible", answered && hit->permissible ? "true" : "false", false);
    if (p->impacts.measured) put(p, "error", cr_impact_error(row, hit->P));
    puts(p->asked->json ? "}" : "");
}

static crStatus predict(Impacts* p, crError* error) {
    if (!p->asked->json) put_header(p);
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

static void summarize(const Impacts* p) {
    fprintf(stderr, "%s: %d %s, %d without an answer, %d not permissible", p->choice.law.name,
            p->impacts.count, noun(p->impacts.count, "collision", "collisions"), p->unanswered,
            p->impermissible);
    if (p->impacts.skipped > 0) fprintf(stderr, ", %d bad rows skipped", p->impacts.skipped);
    if (p->impacts.measured) fprintf(stderr, "; mean error %.4g m/s", p->error);
    if (p->impacts.measured && p->choice.cv == p->choice.cv)
        fprintf(stderr, " (cross-validated where it was fitted: %.4g +- %.2g)", p->choice.cv,
                p->choice.cv_se);
    fputs("\n", stderr);
}

int predict_impacts(const Predicting* asked) {
    Impacts p = {.asked = asked};
    crError error = {0};
    if (cr_fit_choose(asked->doc.root, asked->law, &p.choice, &error) != CR_OK)
        return fitting_refuse("predict", asked->params, &error);
    crStatus status = cr_table_read(asked->path, &p.table, &error);
    if (status == CR_OK) status = cr_impacts_create(&p.table, &asked->columns, &p.impacts, &error);
    if (status == CR_OK) status = predict(&p, &error);
    if (status == CR_OK) summarize(&p);
    cr_impacts_destroy(&p.impacts);
    cr_table_free(&p.table);
    return status == CR_OK ? EXIT_GOOD : fitting_refuse("predict", asked->path, &error);
}
