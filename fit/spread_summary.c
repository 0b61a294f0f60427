// spread_summary.c - what samples have in common: moments, clusters, orders of impacts and what they explain.
//
// With S the sum of squares about the mean of all columns and S_w that about the means of k groups, the share
// of variance that groups explain is 1 - (S_w / (N - k)) / (S / (N - 1)), never below 0: groups dealt at
// random explain nothing on average, however many they are. Orders are told apart by their first pairs: the
// fewest that explain as much, to a hundredth, as any number of pairs that leaves ten samples per order.
// Quantiles interpolate between the sorted values.
// Fails: memory; argument.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/clusters.h"
#include "fit/spread.h"

#define PER_ORDER 10
#define ENOUGH    0.01

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double quantile(const double* sorted, int count, double share) {
    double at = share * (count - 1);
    int below = (int)floor(at);
    int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static double outcome(const crSpread* spread, int sample, crSpreadOf of, int body, int axis) {
    return cr_spread_sample(spread, sample).bodies[6 * body + (of == CR_SPREAD_VELOCITY ? 3 : 0) + axis];
}

// a number of the used samples into sorted (used); false where it does not vary beyond rounding
static bool describe(const crSpread* spread, crSpreadOf of, const crSpreadSummary* s, crSpreadColumn* c,
                     double* sorted) {
    double sum = 0.0, square = 0.0, size = 0.0;
    for (int i = 0; i < s->used; i++) {
        sorted[i] = outcome(spread, s->sample[i], of, c->body, c->axis);
        sum += sorted[i];
        size = fmax(size, fabs(sorted[i]));
    }
    c->mean = sum / s->used;
    for (int i = 0; i < s->used; i++) {
        square += (sorted[i] - c->mean) * (sorted[i] - c->mean);
    }
    c->sd = sqrt(square / (s->used - 1));
    c->nominal = outcome(spread, 0, of, c->body, c->axis);
    qsort(sorted, (size_t)s->used, sizeof *sorted, ascending);
    c->q05 = quantile(sorted, s->used, 0.05);
    c->q50 = quantile(sorted, s->used, 0.50);
    c->q95 = quantile(sorted, s->used, 0.95);
    return c->sd > 1e-12 * fmax(size, 1e-3);
}

static void fill_columns(const crSpread* spread, crSpreadOf of, crSpreadSummary* s, double* sorted) {
    for (int body = 1; body < spread->nb; body++) {
        for (int axis = 0; axis < 3; axis++) {
            crSpreadColumn* c = &s->columns[s->column_count];
            *c = (crSpreadColumn){.body = body, .axis = axis};
            s->column_count += describe(spread, of, s, c, sorted);
        }
    }
    for (int k = 0; k < s->column_count; k++) {
        const crSpreadColumn* c = &s->columns[k];
        s->variance += c->sd * c->sd;
        for (int i = 0; i < s->used; i++) {
            s->values[(size_t)i * (size_t)s->column_count + (size_t)k] =
                outcome(spread, s->sample[i], of, c->body, c->axis);
        }
    }
}

// the means of groups, (groups*columns), and what they explain
static double explained_by(const crSpreadSummary* s, const int* group, int groups, double* means,
                           int* counts) {
    size_t columns = (size_t)s->column_count;
    memset(means, 0, (size_t)groups * columns * sizeof *means);
    memset(counts, 0, (size_t)groups * sizeof *counts);
    for (int i = 0; i < s->used; i++) {
        counts[group[i]]++;
        for (size_t k = 0; k < columns; k++) {
            means[(size_t)group[i] * columns + k] += s->values[(size_t)i * columns + k];
        }
    }
    for (int g = 0; g < groups; g++) {
        for (size_t k = 0; k < columns; k++) {
            means[(size_t)g * columns + k] /= counts[g];
        }
    }
    double within = 0.0;
    for (int i = 0; i < s->used; i++) {
        for (size_t k = 0; k < columns; k++) {
            double d = s->values[(size_t)i * columns + k] - means[(size_t)group[i] * columns + k];
            within += d * d;
        }
    }
    if (groups == 1 || groups >= s->used || !(s->variance > 0.0)) return 0.0;
    return fmax(0.0, 1.0 - within / (s->used - groups) / s->variance);
}

// A sample and the codes of its order, to be sorted.
typedef struct Ordered {
    const double* code;
    int at;  // index among the used
    int length;
} Ordered;

static int compare_codes(const Ordered* x, const Ordered* y) {
    for (int i = 0; i < x->length; i++) {
        if (x->code[i] != y->code[i]) return x->code[i] > y->code[i] ? 1 : -1;
    }
    return 0;
}

static int by_codes(const void* a, const void* b) {
    const Ordered *x = a, *y = b;
    int order = compare_codes(x, y);
    return order != 0 ? order : x->at - y->at;
}

// Samples with one order.
typedef struct Group {
    int size, first, number;
} Group;

static int by_size(const void* a, const void* b) {
    const Group *x = a, *y = b;
    return x->size != y->size ? y->size - x->size : x->first - y->first;
}

// groups of samples whose first `length` pairs agree, numbered by frequency, then by their first sample
static int group_orders(const crSpread* spread, const crSpreadSummary* s, int length, Ordered* sorted,
                        int* group, Group* found, int* place) {
    for (int i = 0; i < s->used; i++) {
        sorted[i] = (Ordered){cr_spread_sample(spread, s->sample[i]).order, i, length};
    }
    qsort(sorted, (size_t)s->used, sizeof *sorted, by_codes);
    int groups = 0;
    for (int i = 0; i < s->used; i++) {
        bool same = i > 0 && compare_codes(&sorted[i - 1], &sorted[i]) == 0;
        if (!same) {
            found[groups] = (Group){0, sorted[i].at, groups};
            groups++;
        }
        group[sorted[i].at] = groups - 1;
        found[groups - 1].size++;
    }
    qsort(found, (size_t)groups, sizeof *found, by_size);
    for (int g = 0; g < groups; g++) {
        place[found[g].number] = g;
    }
    for (int i = 0; i < s->used; i++) {
        group[i] = place[group[i]];
    }
    return groups;
}

// Room for all of the above.
typedef struct Room {
    double* sorted;   // (used)
    double* means;    // (used*columns)
    int* counts;      // (used)
    Ordered* orders;  // (used)
    Group* groups;    // (used)
} Room;

// the fewest pairs that explain about as much as any number of them that leaves enough samples per order
static void choose_length(crSpreadSummary* s) {
    double most = 0.0;
    int longest = s->prefix_count > 0;
    for (int k = 1; k <= s->prefix_count && (k == 1 || s->prefix[k].orders * PER_ORDER <= s->used); k++) {
        most = fmax(most, s->prefix[k].explained);
        longest = k;
    }
    s->length = longest;
    for (int k = longest; k >= 1; k--) {
        if (s->prefix[k].explained >= most - ENOUGH) s->length = k;
    }
}

static void count_prefixes(const crSpread* spread, crSpreadSummary* s, int asked, Room* room) {
    for (int i = 0; i < s->used; i++) {
        int pairs = cr_spread_sample(spread, s->sample[i]).pair_count;
        if (pairs > s->prefix_count) s->prefix_count = pairs;
    }
    for (int k = 1; k <= s->prefix_count; k++) {
        s->prefix[k].orders = group_orders(spread, s, k, room->orders, s->order, room->groups, room->counts);
        s->prefix[k].explained = explained_by(s, s->order, s->prefix[k].orders, room->means, room->counts);
    }
    s->length = asked < s->prefix_count ? asked : s->prefix_count;
    if (asked == 0) choose_length(s);
    s->order_count = group_orders(spread, s, s->length, room->orders, s->order, room->groups, room->counts);
}

static void describe_clusters(crSpreadSummary* s, Room* room) {
    s->clusters_explained = explained_by(s, s->cluster, s->cluster_count, room->means, room->counts);
    size_t columns = (size_t)s->column_count;
    for (int c = 0; c < s->cluster_count; c++) {
        double least = INFINITY;
        s->clusters[c] = (crSpreadCluster){.count = room->counts[c]};
        for (int i = 0; i < s->used; i++) {
            double d = 0.0;
            for (size_t k = 0; k < columns && s->cluster[i] == c; k++) {
                double x = s->values[(size_t)i * columns + k] - room->means[(size_t)c * columns + k];
                d += x * x;
            }
            if (s->cluster[i] != c || !(d < least)) continue;
            least = d;
            s->clusters[c].representative = s->sample[i];
        }
    }
}

static void describe_orders(crSpreadSummary* s, int* together) {
    for (int i = s->used - 1; i >= 0; i--) {
        s->orders[s->order[i]].count++;
        s->orders[s->order[i]].example = s->sample[i];
        together[(size_t)s->order[i] * (size_t)s->cluster_count + (size_t)s->cluster[i]]++;
    }
    for (int o = 0; o < s->order_count; o++) {
        for (int c = 0; c < s->cluster_count; c++) {
            int count = together[(size_t)o * (size_t)s->cluster_count + (size_t)c];
            if (count > s->orders[o].in_cluster) {
                s->orders[o].in_cluster = count;
                s->orders[o].cluster = c;
            }
            if (count > s->clusters[c].with_order) {
                s->clusters[c].with_order = count;
                s->clusters[c].order = o;
            }
        }
    }
}

static void count_doubts(const crSpread* spread, crSpreadSummary* s) {
    for (int i = 0; i < s->used; i++) {
        crSample sample = cr_spread_sample(spread, s->sample[i]);
        bool tie = false;
        for (int k = 0; k < sample.pair_count; k++) {
            tie = tie || cr_spread_pair(spread, sample.order[k]).together;
        }
        s->ties += tie;
        s->overlapping += sample.overlap > 0.0;
        s->overlap = fmax(s->overlap, sample.overlap);
        s->unsolved += sample.unsolved > 0;
        s->creating += sample.created > 0.0;
    }
}

static crStatus refuse_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "spread", "spread: out of memory");
}

static crStatus with_room(const crSpread* spread, crSpreadOf of, int length, crSpreadSummary* s, Room* room,
                          crError* error) {
    size_t used = (size_t)s->used;
    size_t columns = 3 * (size_t)spread->nb;
    s->columns = calloc(columns, sizeof *s->columns);
    s->values = calloc(used * columns, sizeof *s->values);
    s->cluster = calloc(used, sizeof *s->cluster);
    s->order = calloc(used, sizeof *s->order);
    s->clusters = calloc(used, sizeof *s->clusters);
    s->orders = calloc(used, sizeof *s->orders);
    room->sorted = malloc(used * sizeof *room->sorted);
    room->means = malloc(used * columns * sizeof *room->means);
    room->counts = malloc(used * sizeof *room->counts);
    room->orders = malloc(used * sizeof *room->orders);
    room->groups = malloc(used * sizeof *room->groups);
    bool got = s->columns != NULL && s->values != NULL && s->cluster != NULL && s->order != NULL &&
               s->clusters != NULL && s->orders != NULL && room->sorted != NULL && room->means != NULL &&
               room->counts != NULL && room->orders != NULL && room->groups != NULL;
    if (!got) return refuse_memory(error);
    fill_columns(spread, of, s, room->sorted);
    crStatus status = cr_clusters(s->values, s->used, s->column_count, s->cluster, &s->cluster_count, error);
    if (status != CR_OK) return status;
    count_prefixes(spread, s, length, room);
    describe_clusters(s, room);
    int* together = calloc((size_t)s->order_count * (size_t)s->cluster_count, sizeof *together);
    if (together == NULL) return refuse_memory(error);
    describe_orders(s, together);
    free(together);
    count_doubts(spread, s);
    return CR_OK;
}

crStatus cr_spread_summarize(const crSpread* spread, crSpreadOf of, int length, crSpreadSummary* s,
                             crError* error) {
    *s = (crSpreadSummary){0};
    if (spread->samples - spread->failed < 2)
        return cr_error_set(error, CR_ERR_ARGUMENT, "samples", "%d of %d samples failed; sample %d: %.120s",
                            spread->failed, spread->samples, spread->first_failed, spread->error.message);
    s->sample = malloc((size_t)spread->samples * sizeof *s->sample);
    if (s->sample == NULL) return refuse_memory(error);
    for (int i = 1; i <= spread->samples; i++) {
        if (cr_spread_sample(spread, i).status == CR_OK) s->sample[s->used++] = i;
    }
    Room room = {0};
    crStatus status = with_room(spread, of, length, s, &room, error);
    free(room.sorted);
    free(room.means);
    free(room.counts);
    free(room.orders);
    free(room.groups);
    if (status != CR_OK) cr_spread_summary_destroy(s);
    return status;
}

void cr_spread_summary_destroy(crSpreadSummary* s) {
    free(s->sample);
    free(s->columns);
    free(s->values);
    free(s->clusters);
    free(s->cluster);
    free(s->orders);
    free(s->order);
    *s = (crSpreadSummary){0};
}
