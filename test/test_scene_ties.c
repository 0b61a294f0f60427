// Scenes: rotors, springs and limits of balls, groups and masks, excluded bodies, joints that follow others; and
// JSON trees laid over each other, made by hand and written.
#include "scene_text.h"

#include <stdlib.h>

#include "io/json_merge.h"
#include "io/tree.h"

TEST(values) {
    crScene scene;
    crError error;
    crStatus status =
        read_text("{\"carom\":1,\"static\":[{\"type\":\"halfspace\",\"group\":4,\"mask\":2}],\"bodies\":["
                  "{\"name\":\"h\",\"joint\":\"hinge\",\"mass\":1,\"inertia\":1,\"armature\":0.5},"
                  "{\"name\":\"s\",\"joint\":\"slider\",\"mass\":1,\"armature\":0.25},"
                  "{\"name\":\"b\",\"joint\":\"ball\",\"mass\":1,\"inertia\":1,\"limits\":[0,1.5],"
                  "\"stiffness\":2,\"damping\":3,"
                  "\"friction\":4,\"armature\":5},"
                  "{\"name\":\"f\",\"pos\":[0,0,9],\"shapes\":[{\"type\":\"sphere\",\"r\":1,\"mask\":"
                  "9007199254740991}]}],"
                  "\"exclude\":[[\"f\",\"world\"],[\"h\",\"s\"]],"
                  "\"constraints\":[{\"type\":\"joint\",\"bodies\":[\"h\",\"s\"]},"
                  "{\"type\":\"joint\",\"bodies\":[\"s\",\"world\"],\"coef\":[0.125]}]}",
                  &scene, &error);
    if (!test_check(status == CR_OK, __FILE__, __LINE__, "%s", error.message)) return;
    const crModel* m = scene.model;
    CHECK(cr_model_dof(m, 0)->armature == 0.5 && cr_model_dof(m, 1)->armature == 0.25);
    for (int i = 2; i < 5; i++) {
        const crDof* d = cr_model_dof(m, i);
        CHECK(d->stiffness == 2.0 && d->damping == 3.0 && d->friction == 4.0 && d->armature == 5.0);
        CHECK(d->upper == (i == 2 ? 1.5 : INFINITY) && d->lower == -INFINITY);
    }
    CHECK(m->shapes[0].group == 4 && m->shapes[0].mask == 2);
    CHECK(m->shapes[1].group == 1 && m->shapes[1].mask == UINT64_C(9007199254740991));
    CHECK(m->exclusion_count == 2 && m->exclusions[0].a == 0 && m->exclusions[0].b == 4);
    CHECK(m->loop_count == 2 && m->loops[0].coef[1] == 1.0 && m->loops[1].coef[0] == 0.125);
    CHECK(m->loops[1].coef[1] == 0.0 && m->loops[1].b == CR_WORLD);
    // both hold at the start
    CHECK_NEAR(scene.q[1], 0.125, 1e-10);
    CHECK_NEAR(scene.q[0], 0.125, 1e-10);
    cr_scene_free(&scene);
}

TEST(refusals) {
    static const struct {
        const char* text;
        crStatus status;
        const char* field;
    } cases[] = {
        {"\"static\":[{\"type\":\"halfspace\",\"group\":-1}]", CR_ERR_RANGE, "static[0].group"},
        {"\"static\":[{\"type\":\"halfspace\",\"mask\":0.5}]", CR_ERR_RANGE, "static[0].mask"},
        {"\"static\":[{\"type\":\"halfspace\",\"mask\":1e16}]", CR_ERR_RANGE, "static[0].mask"},
        {"\"static\":[{\"type\":\"halfspace\",\"mask\":\"all\"}]", CR_ERR_TYPE, "static[0].mask"},
        {"\"bodies\":[{\"joint\":\"hinge\",\"mass\":1,\"armature\":-1}]", CR_ERR_RANGE, "bodies[0].armature"},
        {"\"bodies\":[{\"mass\":1,\"armature\":1}]", CR_ERR_FIELD, "bodies[0].armature"},
        {"\"bodies\":[{\"joint\":\"ball\",\"mass\":1,\"inertia\":1,\"limits\":[-1,1]}]", CR_ERR_RANGE,
         "bodies[0].limits"},
        {"\"bodies\":[{\"joint\":\"ball\",\"mass\":1,\"inertia\":1,\"limits\":[0,4]}]", CR_ERR_RANGE,
         "bodies[0].upper"},
        {"\"bodies\":[{\"joint\":\"ball\",\"mass\":1,\"inertia\":1,\"rest\":1}]", CR_ERR_FIELD,
         "bodies[0].rest"},
        {"\"exclude\":[[\"world\"]]", CR_ERR_SIZE, "exclude"},
        {"\"exclude\":[1]", CR_ERR_SIZE, "exclude"},
        {"\"exclude\":[[\"world\",\"x\"]]", CR_ERR_NAME, "exclude"},
        {"\"exclude\":[[\"world\",2]]", CR_ERR_TYPE, "exclude"},
        {"\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":1}],\"constraints\":[{\"type\":\"joint\","
         "\"bodies\":"
         "[\"a\",\"world\"]}]",
         CR_ERR_ARGUMENT, "constraints[0].bodies"},
        {"\"bodies\":[{\"name\":\"a\",\"joint\":\"slider\",\"mass\":1}],\"constraints\":[{\"type\":\"joint\","
         "\"bodies\":[\"a\",\"world\"],\"coef\":[]}]",
         CR_ERR_SIZE, "constraints[0].coef"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[400];
        crScene scene;
        crError error;
        snprintf(text, sizeof text, "{\"carom\":1,%s}", cases[i].text);
        crStatus status = read_text(text, &scene, &error);
        test_check(status == cases[i].status && strcmp(error.field, cases[i].field) == 0 && error.line == 1,
                   __FILE__, __LINE__, "%s: %s %s: %s", text, cr_status_name(status), error.field,
                   error.message);
        if (status == CR_OK) cr_scene_free(&scene);
    }
}

TEST(laid_over) {
    static const char* const under = "{\"a\":1,\"b\":{\"c\":[1,2],\"d\":\"x\"},\"e\":null}";
    static const char* const over = "{\"b\":{\"c\":3,\"n\":{\"m\":[true]}},\"e\":{\"z\":1},\"new\":[\"t\"]}";
    crJsonDoc a, b;
    crError error = {0};
    if (!CHECK(cr_json_parse(under, strlen(under), 1, &a, &error) == CR_OK)) return;
    if (!CHECK(cr_json_parse(over, strlen(over), 1, &b, &error) == CR_OK)) return;
    CHECK_STATUS(cr_json_merge(&a, b.root, &error), CR_OK);
    CHECK_STATUS(cr_json_merge(&a, b.root->child->child, &error), CR_ERR_TYPE);
    cr_json_free(&b);
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    cr_tree_write(file, a.root);
    fclose(file);
    CHECK_TEXT(
        text,
        "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 3,\n    \"d\": \"x\",\n    \"n\": {\"m\": [true]}\n  },\n"
        "  \"e\": {\"z\": 1},\n  \"new\": [\"t\"]\n}\n");
    CHECK(a.root->count == 4);
    free(text);
    cr_json_free(&a);
}

TEST(made_by_hand) {
    crJsonDoc doc;
    crTree tree;
    if (!CHECK(cr_tree_begin(&tree, &doc))) return;
    tree.line = 7;
    tree.column = 3;
    crJson* list = cr_tree_list(&tree, doc.root, "list");
    for (int i = 0; i < 3; i++) {
        cr_tree_number(&tree, list, NULL, i / 3.0);
    }
    cr_tree_number(&tree, doc.root, "zero", -0.0);
    cr_tree_number(&tree, doc.root, "inf", -INFINITY);
    cr_tree_text(&tree, doc.root, "text", "a\"b");
    cr_tree_vector(&tree, cr_tree_object(&tree, doc.root, "o"), "v", cr_vec3(1, 2, 3));
    CHECK(list->count == 3 && list->line == 7 && list->column == 3 && doc.root->count == 5 && !tree.full);
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    cr_tree_write(file, doc.root);
    fclose(file);
    // read again, every number has the same bits
    crJsonDoc again;
    crError error = {0};
    if (CHECK(cr_json_parse(text, size, 1, &again, &error) == CR_OK)) {
        const crJson* x = cr_json_get(again.root, "list")->child->next;
        CHECK(x->number == 1.0 / 3.0 && x->next->number == 2.0 / 3.0 && x->next->next == NULL);
        CHECK(!signbit(cr_json_get(doc.root, "zero")->number) &&
              !signbit(cr_json_get(again.root, "zero")->number));
        CHECK_TEXT(cr_json_get(again.root, "inf")->text, "-inf");
        CHECK_TEXT(cr_json_get(again.root, "text")->text, "a\"b");
        cr_json_free(&again);
    }
    free(text);
    cr_json_free(&doc);
}
