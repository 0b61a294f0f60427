// fit_print.c - the outcome of carom fit as a table, and as JSON.
#include <string.h>

#include "command.h"
#include "fitting.h"
#include "io/json.h"
#include "numbers.h"

void fitting_tell_doubt(const Doubt* d, char* text, size_t size) {
    text[0] = '\0';
    if (d->determined == CR_UNDETERMINED) {
        snprintf(text, size, "%s is not determined by these data", d->name);
    } else if (d->determined == CR_BOUNDED_BELOW) {
        snprintf(text, size, "of %s these data tell only that it is at least about %.3g", d->name, d->lo);
    } else if (d->determined == CR_BOUNDED_ABOVE) {
        snprintf(text, size, "of %s these data tell only that it is at most about %.3g", d->name, d->hi);
    } else if (d->partner != NULL) {
        snprintf(text, size, "%s and %s are determined only together (correlation %.2f)", d->name, d->partner,
                 d->correlation);
    }
}

void fitting_doubt(const crFit* fit, int index, char* text, size_t size) {
    const crFitted* p = &fit->fitted[index];
    Doubt doubt = {cr_fit_param_name(p->param), p->determined, p->flat_lo, p->flat_hi, NULL, p->correlation};
    if (p->partner > index) doubt.partner = cr_fit_param_name(fit->fitted[p->partner].param);
    fitting_tell_doubt(&doubt, text, size);
}

void fitting_warning(const Fitting* f, char* text, size_t size) {
    const crImpactsSummary* s = &f->summary;
    text[0] = '\0';
    if (f->impacts.form == CR_FORM_PLANAR && f->impacts.mirror < s->floor / 3.0) {
        snprintf(text, size,
                 "with rotations counted the other way no impulse would leave %.3g m/s unexplained, but "
                 "%.3g: is w "
                 "clockwise here? (--column w=-..., w_after=-..., and rx=-... if r is turned with it)",
                 s->floor, f->impacts.mirror);
    } else if (s->floor > 0.5 * s->speed_change) {
        snprintf(text, size,
                 "half of the change of velocity comes from no impulse at the point of contact: check the "
                 "units and "
                 "signs of w, r and the inertia");
    }
}

static double percent(int part, int whole) { return 100.0 * part / whole; }

static void print_summary(const Fitting* f) {
    const crImpactsSummary* s = &f->summary;
    int n = f->impacts.count;
    printf("%d %s", n, noun(n, "collision", "collisions"));
    if (f->impacts.left_out > 0) printf(", %d left out by --where", f->impacts.left_out);
    if (f->impacts.skipped > 0)
        printf(", %d bad ones skipped (the first on line %d)", f->impacts.skipped,
               f->impacts.skip_first.line);
    printf("; %s\n", f->impacts.planar ? "planar" : "spatial");
    printf("  mean change of velocity       %.4g m/s, mass-weighted\n", s->speed_change);
    printf("  floor of any point impulse    %.4g m/s; of a permissible one %.4g m/s\n", s->floor,
           s->permissible_floor);
    printf("  explained by no permissible impulse: %d (%.2g %%): %d gain energy, %d penetrate, %d pull\n",
           s->impossible, percent(s->impossible, n), s->creates_energy, s->penetrates, s->pulls);
    printf(
        "  quartiles of single collisions: e %.3f %.3f %.3f   et %.3f %.3f %.3f   |Pt|/Pn %.3f %.3f %.3f\n",
        s->e[0], s->e[1], s->e[2], s->et[0], s->et[1], s->et[2], s->mu[0], s->mu[1], s->mu[2]);
    char warning[400];
    fitting_warning(f, warning, sizeof warning);
    if (warning[0] != '\0') {
        fputs("  note: ", stdout);
        print_wrapped(stdout, warning, 8, 8, WIDTH);
    }
}

static void print_parameters(const crFit* fit, bool intervals) {
    for (int i = 0; i < fit->count; i++) {
        const crFitted* p = &fit->fitted[i];
        printf("  %s %.4f", cr_fit_param_name(p->param), fit->theta.value[p->param]);
        if (intervals) printf(" [%.4f, %.4f]", p->lo, p->hi);
    }
}

static void print_law(const Fitting* f, int place) {
    const crFit* fit = &f->fits[f->order[place]];
    const crFit* best = &f->fits[f->order[0]];
    printf("%-17s %7.4f +- %6.4f  ", fit->law.name, fit->cv, fit->cv_se);
    if (place == 0) {
        printf("%-17s", "best");
    } else {
        double difference, se;
        cr_fit_compare(fit, best, f->impacts.count, &difference, &se);
        printf("%7.4f +- %6.4f%s", difference, se, difference <= 2.0 * se ? "=" : " ");
    }
    print_parameters(fit, f->options.bootstrap > 0);
    putchar('\n');
}

static void print_doubts(const Fitting* f) {
    for (int k = 0; k < f->ranked; k++) {
        const crFit* fit = &f->fits[f->order[k]];
        for (int i = 0; i < fit->count; i++) {
            char doubt[160];
            fitting_doubt(fit, i, doubt, sizeof doubt);
            if (doubt[0] != '\0') printf("%s: %s\n", fit->law.name, doubt);
        }
        if (fit->unanswered > 0)
            printf("%s: has no answer to %d of %d collisions\n", fit->law.name, fit->unanswered,
                   f->impacts.count);
        if (fit->impermissible > 0)
            printf("%s: %d of its answers are not permissible, %d create energy\n", fit->law.name,
                   fit->impermissible, fit->creates_energy);
    }
    for (int i = 0; i < f->fit_count; i++) {
        if (f->fits[i].status == CR_OK) continue;
        printf("%s: does not apply, line %d: ", f->fits[i].law.name, f->fits[i].error.line);
        print_plain(stdout, f->fits[i].error.message);
        putchar('\n');
    }
}

void fitting_print(const Fitting* f) {
    print_summary(f);
    printf("\n%-17s %-17s  %-17s  parameters%s\n", "law", "error, m/s", "behind the best",
           f->options.bootstrap > 0 ? " [95 %]" : "");
    for (int k = 0; k < f->ranked; k++) {
        print_law(f, k);
    }
    printf("\nerror: mean of |v predicted - v measured|, mass-weighted, over %d folds; +- standard error;\n"
           "= within two standard errors of the best, collision by collision\n",
           f->options.folds);
    print_doubts(f);
}

static void put(const char* key, double value) {
    printf("\"%s\": ", key);
    cr_json_write_number(stdout, value);
}

static void put_three(const char* key, const double v[3]) {
    printf("\"%s\": [", key);
    for (int i = 0; i < 3; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        cr_json_write_number(stdout, v[i]);
    }
    fputs("]", stdout);
}

static void json_summary(const Fitting* f) {
    const crImpactsSummary* s = &f->summary;
    printf("\"file\": ");
    cr_json_write_string(stdout, f->path);
    printf(", \"rows\": %d, \"left_out\": %d, \"skipped\": %d, \"planar\": %s,\n ", f->impacts.count,
           f->impacts.left_out, f->impacts.skipped, f->impacts.planar ? "true" : "false");
    put("velocity_change", s->speed_change);
    fputs(", ", stdout);
    put("floor", s->floor);
    fputs(", ", stdout);
    put("permissible_floor", s->permissible_floor);
    fputs(", ", stdout);
    if (f->impacts.form == CR_FORM_PLANAR) {
        put("mirrored_floor", f->impacts.mirror);
        fputs(", ", stdout);
    }
    printf("\"impossible\": %d, \"gain_energy\": %d, \"penetrate\": %d, \"pull\": %d,\n ", s->impossible,
           s->creates_energy, s->penetrates, s->pulls);
    put_three("e", s->e);
    fputs(", ", stdout);
    put_three("et", s->et);
    fputs(", ", stdout);
    put_three("mu", s->mu);
    char warning[400];
    fitting_warning(f, warning, sizeof warning);
    fputs(", \"note\": ", stdout);
    cr_json_write_string(stdout, warning);
}

static void json_parameters(const crFit* fit) {
    fputs("\"parameters\": {", stdout);
    for (int i = 0; i < fit->count; i++) {
        const crFitted* p = &fit->fitted[i];
        printf("%s\"%s\": {", i > 0 ? ", " : "", cr_fit_param_name(p->param));
        put("value", fit->theta.value[p->param]);
        fputs(", ", stdout);
        put("lo", p->lo);
        fputs(", ", stdout);
        put("hi", p->hi);
        fputs(", ", stdout);
        put("se", p->se);
        printf(", \"determined\": \"%s\", ", cr_determined_name(p->determined));
        put("flat_lo", p->flat_lo);
        fputs(", ", stdout);
        put("flat_hi", p->flat_hi);
        if (p->partner >= 0) {
            printf(", \"partner\": \"%s\", ", cr_fit_param_name(fit->fitted[p->partner].param));
            put("correlation", p->correlation);
        }
        putchar('}');
    }
    putchar('}');
}

void fitting_json(const Fitting* f) {
    putchar('{');
    json_summary(f);
    printf(",\n \"folds\": %d, \"bootstrap\": %d, \"seed\": %llu,\n \"laws\": [", f->options.folds,
           f->options.bootstrap, (unsigned long long)f->options.seed);
    for (int k = 0; k < f->ranked; k++) {
        const crFit* fit = &f->fits[f->order[k]];
        double difference, se;
        cr_fit_compare(fit, &f->fits[f->order[0]], f->impacts.count, &difference, &se);
        printf("%s\n  {\"law\": \"%s\", ", k > 0 ? "," : "", fit->law.name);
        put("error", fit->cv);
        fputs(", ", stdout);
        put("error_se", fit->cv_se);
        fputs(", ", stdout);
        put("behind", difference);
        fputs(", ", stdout);
        put("behind_se", se);
        fputs(", ", stdout);
        put("fit_error", fit->loss);
        printf(
            ", \"unanswered\": %d, \"impermissible\": %d, \"creates_energy\": %d, \"evaluations\": %d,\n   ",
            fit->unanswered, fit->impermissible, fit->creates_energy, fit->evaluations);
        json_parameters(fit);
        putchar('}');
    }
    fputs("],\n \"refused\": [", stdout);
    for (int i = 0, n = 0; i < f->fit_count; i++) {
        if (f->fits[i].status == CR_OK) continue;
        printf("%s{\"law\": \"%s\", \"status\": \"%s\", \"message\": ", n++ > 0 ? ", " : "",
               f->fits[i].law.name, cr_status_name(f->fits[i].status));
        cr_json_write_string(stdout, f->fits[i].error.message);
        putchar('}');
    }
    fputs("]}\n", stdout);
}
