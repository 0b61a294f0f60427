// tendon.c - tendons of a model: checks and names.
//
// Fails: CR_ERR_RANGE, CR_ERR_FINITE, CR_ERR_NAME with the field's name; the refusal sticks to the model.
#include "carom/dynamics.h"
#include "model/store.h"

static crStatus refuse_tendon(crModel* model, crStatus status, const char* field, const char* what,
                              double got) {
    return cr_error_set(&model->error, status, field, "tendon %d: %s %s, got %g", model->tendon_count, field,
                        what, got);
}

static crStatus check_item(crModel* model, const crTendon* t, int k) {
    int item = t->item[k];
    if (!t->joints && (item < 0 || item >= model->site_count))
        return refuse_tendon(model, CR_ERR_RANGE, "item", "must be a site", item);
    if (t->joints) {
        bool known = item >= 0 && item < model->nv;
        const crBody* body = known ? &model->bodies[model->velocity.body[item]] : NULL;
        if (!known || body->nq != body->nv)
            return refuse_tendon(model, CR_ERR_RANGE, "item", "must be a velocity that has a coordinate",
                                 item);
    }
    if (!isfinite(t->coef[k]))
        return refuse_tendon(model, CR_ERR_FINITE, "coef", "must be finite", t->coef[k]);
    if (!t->joints && t->coef[k] < 0.0)
        return refuse_tendon(model, CR_ERR_RANGE, "coef", "of a path must be >= 0", t->coef[k]);
    return CR_OK;
}

static crStatus check_tendon(crModel* model, const crTendon* t) {
    int least = t->joints ? 1 : 2;
    if (t->count < least || t->count > CR_TENDON_POINTS)
        return refuse_tendon(model, CR_ERR_RANGE, "count", least == 1 ? "must be 1 to 16" : "must be 2 to 16",
                             t->count);
    crStatus status = CR_OK;
    for (int k = 0; k < t->count && status == CR_OK; k++) {
        status = check_item(model, t, k);
    }
    if (status != CR_OK) return status;
    const double values[] = {t->stiffness, t->damping};
    const char* const fields[] = {"stiffness", "damping"};
    for (int i = 0; i < 2; i++) {
        if (!(values[i] >= 0.0 && isfinite(values[i])))
            return refuse_tendon(model, CR_ERR_RANGE, fields[i], "must be >= 0", values[i]);
    }
    if (!isfinite(t->rest_lower))
        return refuse_tendon(model, CR_ERR_FINITE, "rest_lower", "must be finite", t->rest_lower);
    if (!(t->rest_upper >= t->rest_lower && isfinite(t->rest_upper)))
        return refuse_tendon(model, CR_ERR_RANGE, "rest_upper", "must be >= rest_lower", t->rest_upper);
    return CR_OK;
}

int cr_model_add_tendon(crModel* model, const crTendon* tendon) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    if (tendon == NULL) return cr_error_set(&model->error, CR_ERR_ARGUMENT, "tendon", "tendon: is NULL");
    crTendon own = *tendon;
    crStatus status = check_tendon(model, &own);
    if (status == CR_OK) status = cr__name_keep(model, CR_NAME_TENDON, &own.name);
    if (status != CR_OK) return status;
    crTendon* all =
        cr__store_reserve(model, STORE_TENDONS, model->tendons, model->tendon_count + 1, sizeof *all);
    if (all == NULL) return cr__store_full(model);
    model->tendons = all;
    all[model->tendon_count++] = own;
    cr__name_add(model, CR_NAME_TENDON, model->tendon_count - 1);
    return model->tendon_count - 1;
}

int cr_model_find_tendon(const crModel* model, const char* name) {
    if (model == NULL || model->memory == NULL || name == NULL) return CR_ERR_ARGUMENT;
    return cr__name_find(model, CR_NAME_TENDON, name);
}
