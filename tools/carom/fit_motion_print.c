// fit_motion_print.c - the outcome of carom fit motion as a table, and as JSON.
#include <string.h>

#include "command.h"
#include "io/json.h"
#include "numbers.h"
#include "tossing.h"

void tossing_doubt(const Tossing* f, const crMotionFit* fit, int index, char* text, size_t size) {
    const crMotionFitted* p = &fit->fitted[index];
    Doubt doubt = {f->params[index].name, p->determined, p->flat_lo, p->flat_hi, NULL, p->correlation};
    if (p->partner > index) doubt.partner = f->params[p->partner].name;
    fitting_tell_doubt(&doubt, text, size);
}

void tossing_warning(const Tossing* f, char* text, size_t size) {
    const crTosses* t = &f->tosses;
    text[0] = '\0';
    if (t->other_frame < t->spin_error / 3.0)
        snprintf(text, size, "angular velocities are %.3g rad/s off what the poses say, and %.3g if taken %s",
                 t->spin_error, t->other_frame,
                 t->planar ? "clockwise: --column w=-..."
                           : "in the other axes: wx wy wz are of the world, wbx wby wbz of the body");
}

static void print_summary(const Tossing* f) {
    const crTosses* t = &f->tosses;
    printf("%d %s, %d %s %.4g s apart", t->count, noun(t->count, "toss", "tosses"), t->sample_count,
           noun(t->sample_count, "sample", "samples"), t->interval);
    if (t->left_out > 0) printf(", %d %s left out by --where", t->left_out, noun(t->left_out, "row", "rows"));
    if (t->skipped > 0)
        printf(", %d bad tosses skipped (the first on line %d)", t->skipped, t->skip_first.line);
    printf("; %s\n", t->planar ? "planar" : "spatial");
    printf("  velocities over what the poses say: %.4f, angular %.4f\n", t->speed_ratio, t->spin_ratio);
    char warning[300];
    tossing_warning(f, warning, sizeof warning);
    if (warning[0] != '\0') {
        fputs("  note: ", stdout);
        print_wrapped(stdout, warning, 8, 8, WIDTH);
    }
}

static void print_law(const Tossing* f, int place) {
    const crMotionFit* fit = &f->fits[f->order[place]];
    const crMotionFit* best = &f->fits[f->order[0]];
    printf("%-30s %6.4f +- %6.4f  ", f->laws[f->order[place]].name, fit->cv, fit->cv_se);
    if (place == 0) {
        printf("%-17s", "best");
    } else {
        double difference, se;
        cr_motion_compare(fit, best, f->tosses.count, &difference, &se);
        printf("%7.4f +- %6.4f%s", difference, se, difference <= 2.0 * se ? "=" : " ");
    }
    printf("  %6.4f +- %6.4f ", fit->cv_loss, fit->cv_loss_se);
    for (int i = 0; i < fit->count; i++) {
        const crMotionFitted* p = &fit->fitted[i];
        printf("  %s %.4g", f->params[i].name, p->value);
        if (f->options.bootstrap > 0) printf(" [%.4g, %.4g]", p->lo, p->hi);
    }
    putchar('\n');
}

void tossing_certificate(FILE* file, const char* law, const crMotionRun* w) {
    print_plain(file, law);
    fprintf(file,
            ": deepest overlap %.2g m; energy made by an impact %.2g J, above the start %.2g J; %d "
            "impermissible "
            "impacts, %d of %d steps not solved%s\n",
            w->penetration, w->energy_created, w->energy_gain, w->impermissible, w->unsolved, w->steps,
            w->broken ? "; numbers became infinite" : "");
}

static void print_folds(const Tossing* f) {
    const crMotionFit* best = &f->fits[f->order[0]];
    for (int k = 0; k < f->options.folds && f->options.folds <= 10; k++) {
        double loss = 0.0, misfit = 0.0;
        int count = 0;
        for (int i = 0; i < f->tosses.count; i++) {
            if (best->fold[i] != k) continue;
            loss += best->losses[i];
            misfit += best->misfits[i];
            count++;
        }
        printf("  fold %d: %d %s, misfit %.4f, loss %.4f, fitted to the others:", k + 1, count,
               noun(count, "toss", "tosses"), misfit / count, loss / count);
        for (int i = 0; i < best->count; i++) {
            printf(" %s %.4g", f->params[i].name, best->fold_values[k * best->count + i]);
        }
        putchar('\n');
    }
}

static void print_doubts(const Tossing* f) {
    for (int k = 0; k < f->ranked; k++) {
        const crMotionFit* fit = &f->fits[f->order[k]];
        for (int i = 0; i < fit->count; i++) {
            char doubt[200];
            tossing_doubt(f, fit, i, doubt, sizeof doubt);
            if (doubt[0] != '\0') printf("%s: %s\n", f->laws[f->order[k]].name, doubt);
        }
    }
    for (int i = 0; i < f->fit_count; i++) {
        if (f->fits[i].status == CR_OK) continue;
        printf("%s: does not apply: ", f->laws[i].name);
        print_plain(stdout, f->fits[i].error.message);
        putchar('\n');
    }
}

void tossing_print(const Tossing* f) {
    print_summary(f);
    if (f->ranked > 0) {
        printf("\n%-30s %-16s  %-17s  %-17s  parameters%s\n", "law", "misfit", "behind the best", "loss",
               f->options.bootstrap > 0 ? " [95 %]" : "");
        for (int k = 0; k < f->ranked; k++) {
            print_law(f, k);
        }
        printf("\nmisfit and loss: means over the tosses, each simulated with what was fitted without its "
               "fold of %d;\n"
               "+- standard error; = within two standard errors of the best, toss by toss\n"
               "misfit: share of samples lost, beyond %g rad or lengths; loss: |dp|^2 / %.4g m + angle^2\n",
               f->options.folds, f->models[0].scale, f->models[0].length);
        print_folds(f);
    }
    print_doubts(f);
    for (int k = 0; k < f->ranked; k++) {
        crMotionRun worst = cr_motion_worst(f->fits[f->order[k]].runs, f->tosses.count);
        tossing_certificate(stdout, f->laws[f->order[k]].name, &worst);
    }
}

static void put(const char* key, double value) {
    printf("\"%s\": ", key);
    cr_json_write_number(stdout, value);
}

static void put_more(const char* key, double value) {
    fputs(", ", stdout);
    put(key, value);
}

static void json_parameters(const Tossing* f, const crMotionFit* fit) {
    fputs("\"parameters\": {", stdout);
    for (int i = 0; i < fit->count; i++) {
        const crMotionFitted* p = &fit->fitted[i];
        printf("%s\"%s\": {", i > 0 ? ", " : "", f->params[i].name);
        put("value", p->value);
        put_more("lo", p->lo);
        put_more("hi", p->hi);
        put_more("se", p->se);
        printf(", \"determined\": \"%s\"", cr_determined_name(p->determined));
        put_more("flat_lo", p->flat_lo);
        put_more("flat_hi", p->flat_hi);
        if (p->partner >= 0) {
            printf(", \"partner\": \"%s\"", f->params[p->partner].name);
            put_more("correlation", p->correlation);
        }
        fputs(", \"folds\": [", stdout);
        for (int k = 0; k < f->options.folds; k++) {
            fputs(k > 0 ? ", " : "", stdout);
            cr_json_write_number(stdout, fit->fold_values[k * fit->count + i]);
        }
        fputs("]}", stdout);
    }
    fputs("}", stdout);
}

static void json_tosses(const Tossing* f, const crMotionFit* fit) {
    fputs(",\n   \"tosses\": [", stdout);
    for (int i = 0; i < f->tosses.count; i++) {
        printf("%s{", i > 0 ? ", " : "");
        put("toss", f->tosses.tosses[i].id);
        printf(", \"fold\": %d", fit->fold[i] + 1);
        put_more("misfit", fit->misfits[i]);
        put_more("loss", fit->losses[i]);
        putchar('}');
    }
    putchar(']');
}

void tossing_json_certificate(FILE* file, const crMotionRun* w) {
    fputs("\"certificate\": {\"penetration\": ", file);
    cr_json_write_number(file, w->penetration);
    fputs(", \"energy_created\": ", file);
    cr_json_write_number(file, w->energy_created);
    fputs(", \"energy_gain\": ", file);
    cr_json_write_number(file, w->energy_gain);
    fprintf(file, ", \"impermissible\": %d, \"unsolved\": %d, \"steps\": %d, \"broken\": %s}",
            w->impermissible, w->unsolved, w->steps, w->broken ? "true" : "false");
}

static void json_law(const Tossing* f, int place) {
    const crMotionFit* fit = &f->fits[f->order[place]];
    double difference, se;
    cr_motion_compare(fit, &f->fits[f->order[0]], f->tosses.count, &difference, &se);
    printf("%s\n  {\"law\": ", place > 0 ? "," : "");
    cr_json_write_string(stdout, f->laws[f->order[place]].name);
    put_more("misfit", fit->cv);
    put_more("misfit_se", fit->cv_se);
    put_more("behind", difference);
    put_more("behind_se", se);
    put_more("loss", fit->cv_loss);
    put_more("loss_se", fit->cv_loss_se);
    put_more("fit_misfit", fit->misfit);
    put_more("fit_loss", fit->loss);
    printf(", \"simulated\": %d, \"rounds\": %d,\n   ", fit->simulated, fit->rounds);
    json_parameters(f, fit);
    crMotionRun worst = cr_motion_worst(fit->runs, f->tosses.count);
    fputs(",\n   ", stdout);
    tossing_json_certificate(stdout, &worst);
    fputs(",\n   ", stdout);
    cr_motion_put_set(stdout, &f->models[f->order[place]], &f->laws[f->order[place]], fit);
    json_tosses(f, fit);
    putchar('}');
}

void tossing_json(const Tossing* f) {
    const crTosses* t = &f->tosses;
    printf("{\"fit\": \"motion\", \"file\": ");
    cr_json_write_string(stdout, f->path);
    printf(", \"scene\": ");
    cr_json_write_string(stdout, f->scene.path);
    printf(", \"tosses\": %d, \"samples\": %d, \"left_out\": %d, \"skipped\": %d, \"planar\": %s,\n ",
           t->count, t->sample_count, t->left_out, t->skipped, t->planar ? "true" : "false");
    put("interval", t->interval);
    put_more("speed_ratio", t->speed_ratio);
    put_more("spin_ratio", t->spin_ratio);
    fputs(", ", stdout);
    cr_motion_put_settings(stdout, &f->models[0]);
    char warning[300];
    tossing_warning(f, warning, sizeof warning);
    fputs(", \"note\": ", stdout);
    cr_json_write_string(stdout, warning);
    printf(",\n \"folds\": %d, \"bootstrap\": %d, \"seed\": %llu,\n \"laws\": [", f->options.folds,
           f->options.bootstrap, (unsigned long long)f->options.seed);
    for (int k = 0; k < f->ranked; k++) {
        json_law(f, k);
    }
    fputs("],\n \"refused\": [", stdout);
    for (int i = 0, n = 0; i < f->fit_count; i++) {
        if (f->fits[i].status == CR_OK) continue;
        printf("%s{\"law\": \"%s\", \"status\": \"%s\", \"message\": ", n++ > 0 ? ", " : "", f->laws[i].name,
               cr_status_name(f->fits[i].status));
        cr_json_write_string(stdout, f->fits[i].error.message);
        putchar('}');
    }
    fputs("]}\n", stdout);
}
