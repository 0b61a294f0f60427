// scene_visuals.c - visuals of a scene's bodies: shapes that only pictures use.
//
// A visual is read as a shape is, without what acts: material, group, mask. It may be a mesh that is open, also on a body that
// moves. Fails: a field is refused by path; memory.
#include <string.h>

#include "io/scene_parts.h"

static void refuse_acting(const crPlace* place) {
    static const char* const acting[] = {"material", "group", "mask"};
    for (int i = 0; i < 3; i++) {
        const crJson* given = cr_place_get(place, acting[i]);
        if (given != NULL)
            cr_place_refuse(place, given, CR_ERR_FIELD, acting[i],
                            "belongs to shapes: a visual touches nothing");
    }
}

// Adds a visual to the model's list. The room doubles when the count is a power of two from 16 on.
static void add_visual(const crPlace* place, crScene* scene, crBodyShape visual) {
    crModel* model = scene->model;
    int count = model->visual_count;
    if (count >= CR_SCENE_MAX_SHAPES) {
        cr_place_refuse(place, place->object, CR_ERR_LIMIT, "visuals", "are more than %d",
                        CR_SCENE_MAX_SHAPES);
        return;
    }
    crBodyShape* all = model->visuals;
    if (count == 0 || (count >= 16 && (count & (count - 1)) == 0)) {
        all = cr_arena_alloc(&scene->arena, (size_t)(count > 0 ? 2 * count : 16) * sizeof *all);
        if (all == NULL) {
            cr__place_memory(place);
            return;
        }
        if (count > 0) memcpy(all, model->visuals, (size_t)count * sizeof *all);
        model->visuals = all;
    }
    all[model->visual_count++] = visual;
}

void cr__scene_visuals(const crPlace* body, crScene* scene, int index, crVec3 anchor) {
    const crJson* list = cr_place_list(body, "visuals", CR_SCENE_MAX_SHAPES);
    int number = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(body);
         item = item->next) {
        crPlace place = cr_place_item(body, "visuals", item, number++);
        crBodyShape visual = {.body = index};
        crError error = {0};
        if (cr_place_ok(&place)) refuse_acting(&place);
        if (cr_place_ok(&place)) cr__scene_shape(&place, scene, &visual.shape);
        cr__scene_color(&place, "color", &visual.color);
        if (cr_place_ok(&place) && cr_shape_check(&visual.shape, false, &error) != CR_OK)
            cr_place_blame(&place, "type", &error);
        if (!cr_place_ok(&place)) return;
        visual.shape.pose.p = cr_sub(visual.shape.pose.p, anchor);
        add_visual(&place, scene, visual);
    }
}
