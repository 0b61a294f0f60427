// spread_print.c - what carom spread found, as tables, JSON and CSV.
#include <errno.h>
#include <math.h>
#include <string.h>

#include "command.h"
#include "numbers.h"
#include "spreading.h"

static const char axes[] = "xyz";

const char* spreading_name(const Spreading* s, int body) {
    const char* name = s->scene.model->bodies[body].name;
    return body == CR_WORLD ? "world" : name != NULL ? name : "?";
}

void spreading_order(const Spreading* s, int sample, FILE* file, void (*put)(FILE* file, const char* text)) {
    crSample got = cr_spread_sample(&s->spread, sample);
    for (int i = 0; i < s->summary.length; i++) {
        if (got.order[i] < 0.0) {
            if (i == 0) fputs("no impact", file);
            return;
        }
        crSpreadPair pair = cr_spread_pair(&s->spread, got.order[i]);
        fputs(i == 0 ? "" : pair.together ? " + " : ", ", file);
        put(file, spreading_name(s, pair.a));
        putc('-', file);
        put(file, spreading_name(s, pair.b));
    }
}

static const char* unit_of(const Spreading* s) { return s->options.of == CR_SPREAD_POSITION ? "m" : "m/s"; }

int spreading_above(const crSpreadSummary* f, int column) {
    int above = 0;
    for (int i = 0; i < f->column_count; i++) {
        double sd = f->columns[i].sd, own = f->columns[column].sd;
        above += sd > own || (sd == own && i < column);
    }
    return above;
}

static void print_columns(const Spreading* s) {
    const crSpreadSummary* f = &s->summary;
    if (f->column_count == 0) {
        puts("\nno outcome varies: the jitter changes nothing that is looked at");
        return;
    }
    printf("\n%-25s %10s %11s %10s %11s %11s %11s\n",
           s->options.of == CR_SPREAD_POSITION ? "position at the end [m]" : "velocity at the end [m/s]",
           "itself", "mean", "sd", "5 %", "50 %", "95 %");
    for (int i = 0; i < f->column_count; i++) {
        const crSpreadColumn* c = &f->columns[i];
        if (spreading_above(f, i) >= SPREADING_ROWS) continue;
        printf("  %-18.18s %c  %12.5g %11.5g %10.3g %11.5g %11.5g %11.5g\n", spreading_name(s, c->body),
               axes[c->axis], c->nominal, c->mean, c->sd, c->q05, c->q50, c->q95);
    }
    if (f->column_count > SPREADING_ROWS)
        printf("  and %d more that vary less, in --json\n", f->column_count - SPREADING_ROWS);
}

static void print_clusters(const Spreading* s) {
    const crSpreadSummary* f = &s->summary;
    if (f->column_count == 0) return;
    if (f->cluster_count == 1) {
        puts("\nclusters: none stand apart, the outcomes are one cloud");
        return;
    }
    printf("\nclusters: %d, they explain %.0f %% of the variance\n", f->cluster_count,
           100.0 * f->clusters_explained);
    puts("           share  like sample  mostly after order");
    for (int i = 0; i < f->cluster_count; i++) {
        const crSpreadCluster* c = &f->clusters[i];
        printf("  %3d    %5.1f %%  %11d  %d (%.0f %% of it)\n", i + 1, spreading_percent(c->count, f->used),
               c->representative, c->order + 1, spreading_percent(c->with_order, c->count));
    }
}

static void print_orders(const Spreading* s) {
    const crSpreadSummary* f = &s->summary;
    if (f->prefix_count == 0) {
        puts("\nno impact in any sample");
        return;
    }
    if (f->prefix[f->prefix_count].orders == 1) {
        fputs("\none order of impacts in all samples, which begins with ", stdout);
        spreading_order(s, f->sample[0], stdout, print_plain);
        putchar('\n');
        return;
    }
    puts("\nwhat the order of impacts tells\n  first pairs  orders  explains of the variance");
    for (int k = 1; k <= f->prefix_count; k++) {
        bool few = f->prefix[k].orders * 2 > f->used;
        printf("  %11d  %6d  %.0f %%%s\n", k, f->prefix[k].orders, 100.0 * f->prefix[k].explained,
               few ? "  (too few samples per order to tell)" : "");
        if (few) break;
    }
    printf("\norders by their first %d pair%s: %d\n", f->length, f->length == 1 ? "" : "s", f->order_count);
    for (int i = 0; i < f->order_count && i < SPREADING_ORDERS; i++) {
        const crSpreadOrder* o = &f->orders[i];
        printf("  %3d  %5.1f %%  ", i + 1, spreading_percent(o->count, f->used));
        if (f->cluster_count > 1)
            printf("cluster %d (%.0f %%)  ", o->cluster + 1, spreading_percent(o->in_cluster, o->count));
        spreading_order(s, o->example, stdout, print_plain);
        putchar('\n');
    }
    if (f->order_count > SPREADING_ORDERS)
        printf("  and %d more, in --json\n", f->order_count - SPREADING_ORDERS);
}

bool spreading_doubt(const Spreading* s, int index, char* text, size_t size) {
    const crSpreadSummary* f = &s->summary;
    const bool holds[] = {f->ties > 0, f->overlapping > 0, f->unsolved > 0, f->creating > 0,
                          s->spread.failed > 0};
    int kind = 0, count = (int)(sizeof holds / sizeof holds[0]);
    for (; kind < count; kind++) {
        if (holds[kind] && index-- == 0) break;
    }
    if (kind == 0)
        snprintf(text, size,
                 "in %d %s pairs hit at the same moment (+): there the rule decides, not the order", f->ties,
                 noun(f->ties, "sample", "samples"));
    if (kind == 1)
        snprintf(text, size,
                 "%d %s began with overlap, up to %.2g m; jitter gap instead of position where bodies "
                 "touch",
                 f->overlapping, noun(f->overlapping, "sample", "samples"), f->overlap);
    if (kind == 2)
        snprintf(text, size, "in %d %s steps were not solved to the tolerance", f->unsolved,
                 noun(f->unsolved, "sample", "samples"));
    if (kind == 3)
        snprintf(text, size, "in %d %s an impact created energy", f->creating,
                 noun(f->creating, "sample", "samples"));
    if (kind == 4)
        snprintf(text, size, "%d of %d samples failed, the first is sample %d: %s", s->spread.failed,
                 s->spread.samples, s->spread.first_failed, s->spread.error.message);
    return kind < count;
}

static void print_doubts(const Spreading* s) {
    char doubt[400];
    for (int i = 0; spreading_doubt(s, i, doubt, sizeof doubt); i++) {
        putchar('\n');
        print_plain(stdout, doubt);
        putchar('\n');
    }
}

void spreading_print(const Spreading* s) {
    print_plain(stdout, scene_title(&s->input));
    printf(": %d %s until %.6g s, seed %llu\njitter: ", s->spread.samples,
           noun(s->spread.samples, "sample", "samples"), s->scene.duration,
           (unsigned long long)s->options.seed);
    for (int i = 0; i < s->options.jitter_count; i++) {
        if (i > 0) fputs(", ", stdout);
        print_plain(stdout, s->texts[i]);
    }
    putchar('\n');
    print_columns(s);
    print_clusters(s);
    print_orders(s);
    print_doubts(s);
}

static void put(const char* key, double value) {
    printf("\"%s\": ", key);
    cr_json_write_number(stdout, value);
}

static void json_order(const Spreading* s, int sample, int length) {
    crSample got = cr_spread_sample(&s->spread, sample);
    putchar('[');
    for (int i = 0; i < length && got.order[i] >= 0.0; i++) {
        crSpreadPair pair = cr_spread_pair(&s->spread, got.order[i]);
        fputs(i == 0 ? "[[" : pair.together ? ", [" : "], [[", stdout);
        cr_json_write_string(stdout, spreading_name(s, pair.a));
        fputs(", ", stdout);
        cr_json_write_string(stdout, spreading_name(s, pair.b));
        putchar(']');
        if (i + 1 == length || got.order[i + 1] < 0.0) putchar(']');
    }
    putchar(']');
}

static void json_columns(const Spreading* s) {
    const crSpreadSummary* f = &s->summary;
    fputs(" \"outcomes\": [", stdout);
    for (int i = 0; i < f->column_count; i++) {
        const crSpreadColumn* c = &f->columns[i];
        fputs(i > 0 ? ",\n  {\"body\": " : "\n  {\"body\": ", stdout);
        cr_json_write_string(stdout, spreading_name(s, c->body));
        printf(", \"axis\": \"%c\", ", axes[c->axis]);
        const char* const keys[] = {"itself", "mean", "sd", "q05", "q50", "q95"};
        const double values[] = {c->nominal, c->mean, c->sd, c->q05, c->q50, c->q95};
        for (int k = 0; k < 6; k++) {
            if (k > 0) fputs(", ", stdout);
            put(keys[k], values[k]);
        }
        putchar('}');
    }
    puts("],");
}

static void json_groups(const Spreading* s) {
    const crSpreadSummary* f = &s->summary;
    putchar(' ');
    put("clusters_explain", f->clusters_explained);
    fputs(", \"clusters\": [", stdout);
    for (int i = 0; i < f->cluster_count; i++) {
        const crSpreadCluster* c = &f->clusters[i];
        printf("%s\n  {\"count\": %d, ", i > 0 ? "," : "", c->count);
        put("share", c->count / (double)f->used);
        printf(", \"representative\": %d, \"order\": %d, \"with_order\": %d}", c->representative,
               c->order + 1, c->with_order);
    }
    fputs("],\n \"prefixes\": [", stdout);
    for (int k = 1; k <= f->prefix_count; k++) {
        printf("%s{\"pairs\": %d, \"orders\": %d, ", k > 1 ? ", " : "", k, f->prefix[k].orders);
        put("explained", f->prefix[k].explained);
        putchar('}');
    }
    printf("],\n \"order_length\": %d, \"orders\": [", f->length);
    for (int i = 0; i < f->order_count; i++) {
        const crSpreadOrder* o = &f->orders[i];
        printf("%s\n  {\"count\": %d, ", i > 0 ? "," : "", o->count);
        put("share", o->count / (double)f->used);
        printf(", \"example\": %d, \"cluster\": %d, \"in_cluster\": %d, \"pairs\": ", o->example,
               o->cluster + 1, o->in_cluster);
        json_order(s, o->example, f->length);
        putchar('}');
    }
    puts("],");
}

void spreading_json(const Spreading* s) {
    const crSpreadSummary* f = &s->summary;
    fputs("{\"spread\": ", stdout);
    cr_json_write_string(stdout, scene_title(&s->input));
    printf(", \"samples\": %d, \"used\": %d, \"failed\": %d, \"seed\": %llu, ", s->spread.samples, f->used,
           s->spread.failed, (unsigned long long)s->options.seed);
    put("until", s->scene.duration);
    printf(", \"of\": \"%s\", \"unit\": \"%s\", \"jitter\": [",
           s->options.of == CR_SPREAD_POSITION ? "position" : "velocity", unit_of(s));
    for (int i = 0; i < s->options.jitter_count; i++) {
        if (i > 0) fputs(", ", stdout);
        cr_json_write_string(stdout, s->texts[i]);
    }
    fputs("],\n", stdout);
    json_columns(s);
    json_groups(s);
    printf(" \"ties\": %d, \"overlapping\": %d, ", f->ties, f->overlapping);
    put("overlap", f->overlap);
    printf(", \"unsolved\": %d, \"creating_energy\": %d", f->unsolved, f->creating);
    if (s->spread.failed > 0) {
        printf(",\n \"first_failed\": %d, \"why\": ", s->spread.first_failed);
        cr_json_write_string(stdout, s->spread.error.message);
    }
    puts("}");
}

static void csv_row(const Spreading* s, int sample, int at, FILE* file) {
    const crSpreadSummary* f = &s->summary;
    crSample got = cr_spread_sample(&s->spread, sample);
    fprintf(file, "%d,%s,", sample, cr_status_name(got.status));
    if (at >= 0) fprintf(file, "%d", f->cluster[at] + 1);
    putc(',', file);
    if (at >= 0) fprintf(file, "%d", f->order[at] + 1);
    fprintf(file, ",%d", got.impacts);
    for (int i = 1; i < s->spread.nb; i++) {
        for (int k = 0; k < 6; k++) {
            putc(',', file);
            if (got.status == CR_OK) cr_json_write_number(file, got.bodies[6 * i + k]);
        }
    }
    putc('\n', file);
}

crStatus spreading_csv(const Spreading* s, const char* path, crError* error) {
    static const char* const parts[] = {"x", "y", "z", "vx", "vy", "vz"};
    const crSpreadSummary* f = &s->summary;
    FILE* file = fopen(path, "w");
    if (file == NULL)
        return cr_error_set(error, CR_ERR_FILE, "out", "cannot write '%.120s': %s", path, strerror(errno));
    fputs("sample,status,cluster,order,impacts", file);
    for (int i = 1; i < s->spread.nb; i++) {
        for (int k = 0; k < 6; k++) {
            putc(',', file);
            print_plain(file, spreading_name(s, i));
            fprintf(file, ".%s", parts[k]);
        }
    }
    putc('\n', file);
    csv_row(s, 0, -1, file);
    for (int i = 1, at = 0; i <= s->spread.samples; i++) {
        bool used = at < f->used && f->sample[at] == i;
        csv_row(s, i, used ? at : -1, file);
        at += used;
    }
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        return cr_error_set(error, CR_ERR_FILE, "out", "cannot write '%.120s'", path);
    return CR_OK;
}
