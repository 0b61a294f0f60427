// Visuals: what <visual> of URDF and SDF and geoms of MJCF that touch nothing become; that nothing is computed from them.
#include <unistd.h>

#include "carom/dynamics.h"
#include "import_case.h"
#include "sample.h"

#define MASS "<inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1'/></inertial>"

// a folder with meshes, and a model in it
typedef struct Folder {
    char path[32], model[64], mesh[64];
} Folder;

static bool folder_make(Folder* f) {
    snprintf(f->path, sizeof f->path, "/tmp/carom-visuals-XXXXXX");
    if (!CHECK(mkdtemp(f->path) != NULL)) return false;
    snprintf(f->model, sizeof f->model, "%s/model.xml", f->path);
    snprintf(f->mesh, sizeof f->mesh, "%s/mesh.obj", f->path);
    return true;
}

static void folder_remove(const Folder* f) {
    remove(f->model);
    remove(f->mesh);
    rmdir(f->path);
}

static void write_file(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

// a tetrahedron whose corners are told apart by each coordinate
static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

static bool folder_read(const Folder* f, const char* text, Case* c) {
    write_file(f->model, text);
    crStatus status = case_file(f->model, NULL, c);
    return test_check(status == CR_OK, __FILE__, __LINE__, "%d:%d: %s", c->error.line, c->error.column,
                      c->error.message);
}

// the text without its <visual> elements
static char* without_visuals(const char* text) {
    char* out = malloc(strlen(text) + 1);
    size_t used = 0;
    for (const char* at = text; *at != '\0';) {
        const char* end = strncmp(at, "<visual", 7) == 0 ? strstr(at, "</visual>") : NULL;
        if (end != NULL) at = end + strlen("</visual>");
        if (end == NULL) out[used++] = *at++;
    }
    out[used] = '\0';
    return out;
}

// state and certificate after each of `steps` steps
static uint64_t hash_of_run(const Case* c, int steps) {
    crWorld* world = NULL;
    crError error = {0};
    uint64_t h = CR_HASH_SEED;
    if (!CHECK(cr_scene_world(&c->scene, &world, &error) == CR_OK)) return 0;
    for (int i = 0; i < steps; i++) {
        CHECK(cr_world_step(world, &error) == CR_OK);
        const crState* state = cr_world_state(world);
        const crCertificate* seen = cr_world_certificate(world);
        h = cr_hash(h, state->q, (size_t)c->scene.model->nq * sizeof(double));
        h = cr_hash(h, state->v, (size_t)c->scene.model->nv * sizeof(double));
        h = cr_hash(h, &seen->residual, sizeof seen->residual);
        h = cr_hash(h, &seen->energy.change, sizeof seen->energy.change);
        h = cr_hash(h, &seen->outcome, sizeof seen->outcome);
    }
    cr_world_destroy(world);
    return h;
}

// model, mass, run and certificate are the same with and without visuals
static void same_without(const Folder* f, const Case* c, const char* text, int steps) {
    char* bare = without_visuals(text);
    Case other;
    CHECK(strstr(bare, "visual") == NULL);
    if (folder_read(f, bare, &other)) {
        CHECK(other.scene.model->visual_count == 0 && c->scene.model->visual_count > 0);
        CHECK(case_hash(&other.scene) == case_hash(&c->scene));
        CHECK(other.scene.model->shape_count == c->scene.model->shape_count);
        CHECK(hash_of_run(&other, steps) == hash_of_run(c, steps));
        case_free(&other);
    }
    free(bare);
}

static const crBodyShape* visual(const Case* c, const char* body, int number) {
    int index = cr_model_find_body(c->scene.model, body);
    for (int i = 0; i < c->scene.model->visual_count; i++) {
        if (c->scene.model->visuals[i].body == index && number-- == 0) return &c->scene.model->visuals[i];
    }
    test_check(false, __FILE__, __LINE__, "%s has no such visual", body);
    return &c->scene.model->visuals[0];
}

// written as JSON and read again, the visuals are the same
static void visuals_again(const Case* c) {
    char* text = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&text, &size);
    cr_tree_write(file, c->import.scene.root);
    fclose(file);
    crJsonDoc doc = {0};
    crScene scene = {0};
    crError error = {0};
    CHECK_STATUS(cr_json_parse(text, size, 1, &doc, &error), CR_OK);
    CHECK_STATUS(cr_scene_read(doc.root, &scene, &error), CR_OK);
    const crModel *a = c->scene.model, *b = scene.model;
    CHECK(a->visual_count == b->visual_count);
    for (int i = 0; i < a->visual_count; i++) {
        const crBodyShape *x = &a->visuals[i], *y = &b->visuals[i];
        CHECK(x->body == y->body && x->color == y->color && x->shape.kind == y->shape.kind);
        CHECK(memcmp(&x->shape.pose, &y->shape.pose, sizeof x->shape.pose) == 0);
        if (x->shape.kind != CR_SHAPE_MESH) continue;
        crMeshDef m = cr_mesh_def(x->shape.data.mesh), n = cr_mesh_def(y->shape.data.mesh);
        CHECK(m.vertex_count == n.vertex_count && m.triangle_count == n.triangle_count);
        CHECK(memcmp(m.vertices, n.vertices, (size_t)m.vertex_count * sizeof(crVec3)) == 0);
        CHECK(memcmp(m.triangles, n.triangles, (size_t)m.triangle_count * sizeof(int[3])) == 0);
    }
    cr_scene_free(&scene);
    cr_json_free(&doc);
    free(text);
}

// The scaled corners of the tetrahedron, in the link's frame, must be those of the visual, in any order.
static void check_corners(const crShape* shape, crVec3 scale, crPose origin) {
    if (!CHECK(shape->kind == CR_SHAPE_MESH)) return;
    crMeshDef mesh = cr_mesh_def(shape->data.mesh);
    const crVec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}};
    CHECK(mesh.vertex_count == 4 && mesh.triangle_count == 4);
    for (int i = 0; i < 4; i++) {
        crVec3 scaled = cr_vec3(scale.x * corners[i].x, scale.y * corners[i].y, scale.z * corners[i].z);
        crVec3 expected = cr_pose_point(origin, scaled);
        double nearest = 1.0;
        for (int k = 0; k < mesh.vertex_count; k++) {
            crVec3 got = cr_pose_point(shape->pose, mesh.vertices[k]);
            nearest = fmin(nearest, cr_norm(cr_sub(got, expected)));
        }
        CHECK_NEAR(nearest, 0.0, 1e-12);
    }
    // it visuals outward, also where it is mirrored
    double volume = 0.0;
    for (int i = 0; i < mesh.triangle_count; i++) {
        const int* t = mesh.triangles[i];
        volume += cr_dot(mesh.vertices[t[0]], cr_cross(mesh.vertices[t[1]], mesh.vertices[t[2]])) / 6.0;
    }
    CHECK_NEAR(volume, fabs(scale.x * scale.y * scale.z), 1e-12);
}

TEST(urdf) {
    static const char text[] =
        "<robot name='r'><material name='steel'><color rgba='0 0.2 1 1'/></material>"
        "<link name='base'>" MASS
        "<visual name='a'><origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><geometry>"
        "<mesh filename='mesh.obj' scale='.5 -.25 2'/></geometry><material name='steel'/></visual>"
        "<visual><geometry><cylinder radius='.1' length='.6'/></geometry>"
        "<material name='x'><color rgba='1 0 0 1'/><texture filename='t.png'/></material></visual>"
        "<collision><geometry><box size='1 1 1'/></geometry></collision></link>"
        "<link name='arm'>" MASS "<collision><geometry><sphere radius='.2'/></geometry></collision></link>"
        "<joint name='j' type='continuous'><origin xyz='0 0 1.5'/><parent link='base'/><child link='arm'/>"
        "<axis xyz='0 1 0'/></joint></robot>";
    Folder f;
    Case c;
    if (!case_xml() || !folder_make(&f)) return;
    write_file(f.mesh, tetrahedron);
    if (folder_read(&f, text, &c)) {
        double s = sqrt(0.5);
        CHECK(c.scene.model->visual_count == 2 && c.scene.model->shape_count == 2);
        check_corners(&visual(&c, "base", 0)->shape, cr_vec3(0.5, -0.25, 2),
                      (crPose){cr_vec3(1, 2, 3), {s, 0, 0, s}});
        CHECK(visual(&c, "base", 0)->color == 0x10033ffU);
        const crBodyShape* second = visual(&c, "base", 1);
        CHECK(second->shape.kind == CR_SHAPE_CYLINDER && second->shape.size.x == 0.1 &&
              second->shape.size.z == 0.3 && second->color == 0x1ff0000U);
        CHECK(case_note(&c, "visual") == NULL && case_note(&c, "texture") == NULL);
        visuals_again(&c);
        case_again(&c, "urdf");
        same_without(&f, &c, text, 50);
        case_free(&c);
    }
    folder_remove(&f);
}

#define LINK(inside) "<robot name='r'><link name='a'>" MASS inside "</link></robot>"

// a visual that cannot be read leaves a note and the body without visuals; the model is not refused
TEST(soft) {
    static const char* const bad[][2] = {
        {"<visual><geometry><mesh filename='part.glb'/></geometry></visual>", "part.glb"},
        {"<visual><geometry><mesh filename='none.stl'/></geometry></visual>", "none.stl"},
        {"<visual><geometry><mesh filename='package://p/none.stl'/></geometry></visual>", "--package"},
        {"<visual><geometry><mesh filename='mesh.obj'/></geometry></visual>", "no faces"},
        {"<visual><geometry><sphere radius='-1'/></geometry></visual>", "-1"},
        {"<visual><geometry><blob/></geometry></visual>", "no shape"},
        {"<visual/>", "<geometry>"},
    };
    Folder f;
    Case c;
    if (!case_xml() || !folder_make(&f)) return;
    write_file(f.mesh, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n");
    for (int i = 0; i < (int)(sizeof bad / sizeof bad[0]); i++) {
        char text[600];
        // the first visual is good: the body is drawn as a whole or by its shapes
        snprintf(text, sizeof text,
                 LINK("<visual><geometry><box size='1 1 1'/></geometry></visual>%s"
                      "<collision><geometry><sphere radius='1'/></geometry></collision>"),
                 bad[i][0]);
        if (!folder_read(&f, text, &c)) continue;
        const crNote* note = case_note(&c, bad[i][1]);
        test_check(note != NULL && note->level == CR_NOTE_IGNORED && strstr(note->text, "<visual>") != NULL,
                   __FILE__, __LINE__, "%s: %s", bad[i][0], note != NULL ? note->text : "no note");
        CHECK(c.scene.model->visual_count == 0 && c.scene.model->shape_count == 1);
        case_free(&c);
    }
    folder_remove(&f);
}

TEST(sdf) {
    static const char text[] =
        "<sdf version='1.9'><world name='w'><model name='ground'><static>true</static><link name='l'>"
        "<collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>"
        "<visual name='v'><geometry><plane><normal>0 0 1</normal><size>9 9</size></plane></geometry>"
        "<material><diffuse>0 1 0 1</diffuse></material></visual></link></model>"
        "<model name='m'><pose>0 0 1 0 0 0</pose><link name='l'><inertial><mass>2</mass></inertial>"
        "<collision name='c'><geometry><sphere><radius>.5</radius></sphere></geometry></collision>"
        "<visual name='v'><pose>0 0 .25 0 0 1.5707963267948966</pose><cast_shadows>1</cast_shadows><geometry>"
        "<mesh><uri>mesh.obj</uri><scale>.1 .1 .1</scale></mesh></geometry>"
        "<material><diffuse>0 0 1 1</diffuse><pbr><metal/></pbr></material></visual>"
        "<visual name='sign'><geometry><plane><normal>1 0 0</normal><size>.2 .4</size></plane></geometry>"
        "</visual></link></model></world></sdf>";
    Folder f;
    Case c;
    if (!case_xml() || !folder_make(&f)) return;
    write_file(f.mesh, tetrahedron);
    if (folder_read(&f, text, &c)) {
        double s = sqrt(0.5);
        CHECK(c.scene.model->visual_count == 3 && c.scene.model->shape_count == 2);
        CHECK(visual(&c, "ground::l", 0)->shape.kind == CR_SHAPE_HALFSPACE);
        CHECK(visual(&c, "ground::l", 0)->color == 0x100ff00U);
        check_corners(&visual(&c, "m::l", 0)->shape, cr_vec3(0.1, 0.1, 0.1),
                      (crPose){cr_vec3(0, 0, 0.25), {s, 0, 0, s}});
        // a square of 0.2 by 0.4 across x
        const crShape* sign = &visual(&c, "m::l", 1)->shape;
        crBounds box = cr_shape_bounds(sign, cr_pose_identity());
        CHECK(sign->kind == CR_SHAPE_MESH && box.lo.x == 0.0 && box.hi.x == 0.0);
        double sides[2] = {box.hi.y - box.lo.y, box.hi.z - box.lo.z};
        CHECK_NEAR(sides[0] * sides[1], 0.08, 1e-12);
        CHECK_NEAR(sides[0] + sides[1], 0.6, 1e-12);
        CHECK(case_note(&c, "visual") == NULL && case_note(&c, "pbr") == NULL);
        visuals_again(&c);
        case_again(&c, "sdf");
        same_without(&f, &c, text, 200);
        case_free(&c);
    }
    folder_remove(&f);
}

// a mesh that touches nothing is a visual with its triangles; groups above 2 are not seen; weights stay
TEST(mjcf) {
#define MODEL(geoms)                                                                                    \
    "<mujoco><asset><mesh name='t' file='mesh.obj' scale='.1 .1 .1'/></asset><worldbody>"               \
    "<geom type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint/>"                                   \
    "<inertial pos='0 0 0' mass='1' diaginertia='.1 .1 .1'/><geom name='c' size='.2' group='3'/>" geoms \
    "</body></worldbody></mujoco>"
    Folder f;
    Case c, other;
    if (!case_xml() || !folder_make(&f)) return;
    write_file(f.mesh, tetrahedron);
    if (folder_read(
            &f,
            MODEL("<geom type='mesh' mesh='t' pos='1 0 0' contype='0' conaffinity='0' rgba='1 0 0 1'/>"
                  "<geom type='box' size='.1 .1 .1' group='1'/>"),
            &c)) {
        CHECK(c.scene.model->visual_count == 2 && c.scene.model->shape_count == 3);
        check_corners(&visual(&c, "body1", 0)->shape, cr_vec3(0.1, 0.1, 0.1),
                      (crPose){cr_vec3(1, 0, 0), {1, 0, 0, 0}});
        CHECK(visual(&c, "body1", 0)->color == 0x1ff0000U &&
              visual(&c, "body1", 1)->shape.kind == CR_SHAPE_BOX);
        visuals_again(&c);
        if (folder_read(&f, MODEL("<geom type='box' size='.1 .1 .1' group='1'/>"), &other)) {
            CHECK(other.scene.model->visual_count == 0 && hash_of_run(&other, 200) == hash_of_run(&c, 200));
            case_free(&other);
        }
        case_free(&c);
    }
    // an explicit pair makes it touch: it stays a shape
    if (folder_read(&f,
                    "<mujoco><asset><mesh name='t' file='mesh.obj' scale='.1 .1 .1'/></asset><worldbody>"
                    "<geom name='p' type='plane' size='1 1 1'/><body pos='0 0 1'><freejoint/>"
                    "<geom name='g' type='mesh' mesh='t' contype='0' conaffinity='0'/></body></worldbody>"
                    "<contact><pair geom1='p' geom2='g'/></contact></mujoco>",
                    &c)) {
        CHECK(c.scene.model->visual_count == 0 && c.scene.model->shape_count == 2);
        case_free(&c);
    }
    folder_remove(&f);
}

// the tetrahedron as COLLADA; `faces` is how its faces are written, `nodes` where it stands
#define DAE(nodes, faces)                                                                                    \
    "<?xml version='1.0'?><COLLADA><asset><unit meter='0.5'/><up_axis>Y_UP</up_axis></asset>"                \
    "<library_geometries><geometry id='g'><mesh><source id='p'><float_array count='12'>0 0 0 1 0 0 0 2 0 0 " \
    "0 3"                                                                                                    \
    "</float_array><technique_common><accessor source='#a' count='4' "                                       \
    "stride='3'/></technique_common></source>"                                                               \
    "<source id='n'><float_array>0 0 1</float_array></source>"                                               \
    "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices>" faces                             \
    "</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id='s'>" nodes              \
    "</visual_scene></library_visual_scenes><scene><instance_visual_scene url='#s'/></scene></COLLADA>"
#define INPUTS \
    "<input semantic='VERTEX' source='#v' offset='1'/><input semantic='NORMAL' source='#n' offset='0'/>"
#define TRIANGLES \
    "<triangles count='4'>" INPUTS "<p>0 0 0 2 0 1 0 0 0 1 0 3 0 1 0 2 0 3 0 0 0 3 0 2</p></triangles>"
#define INSTANCE "<instance_geometry url='#g'/>"

// Meshes of COLLADA: units, nodes in nodes, every way to write faces; bad files are notes.
TEST(collada) {
    static const char* const good[] = {
        DAE("<node><translate>1 2 3</translate><rotate>0 0 1 90</rotate><node><scale>2 2 2</scale>" INSTANCE
            "</node></node>",
            TRIANGLES),
        // columns of the same turn and scale
        DAE("<node><matrix>0 -2 0 1 2 0 0 2 0 0 2 3 0 0 0 1</matrix>" INSTANCE "</node>",
            "<polylist count='4'>" INPUTS
            "<vcount>3 3 3 3</vcount><p>0 0 0 2 0 1 0 0 0 1 0 3 0 1 0 2 0 3 0 0 0 3 0 2</p></polylist>"),
        DAE("<node><matrix>0 -2 0 1 2 0 0 2 0 0 2 3 0 0 0 1</matrix>" INSTANCE "</node>",
            "<polygons count='4'>" INPUTS
            "<p>0 0 0 2 0 1</p><p>0 0 0 1 0 3</p><p>0 1 0 2 0 3</p><p>0 0 0 3 0 2</p></polygons>"),
    };
    static const char* const bad[][2] = {
        {"<COLLADA", "line 1"},
        {"<svg/>", "is none"},
        {DAE("<node><instance_geometry url='#x'/></node>", TRIANGLES), "geometry that is not there"},
        {DAE("<node>" INSTANCE "</node>",
             "<triangles><input semantic='VERTEX' source='#x'/><p>0</p></triangles>"),
         "without positions"},
        {DAE("<node>" INSTANCE "</node>", "<triangles>" INPUTS "<p>0 0 0 9 0 1</p></triangles>"),
         "vertex that is not"},
        {DAE("", TRIANGLES), "no faces"},
        {DAE("<node><scale>1e300 1 1</scale><scale>1e300 1 1</scale>" INSTANCE "</node>", TRIANGLES),
         "finite"},
    };
    static const char text[] = LINK("<visual><origin xyz='0 0 1'/><geometry><mesh filename='mesh.dae' "
                                    "scale='3 3 3'/></geometry></visual>");
    Folder f;
    Case c;
    if (!case_xml() || !folder_make(&f)) return;
    snprintf(f.mesh, sizeof f.mesh, "%s/mesh.dae", f.path);
    for (int i = 0; i < 3; i++) {
        write_file(f.mesh, good[i]);
        if (!folder_read(&f, text, &c)) continue;
        // half a metre a unit, twice by the node, three times by the link: 3 in all; places are not scaled by the node
        double s = sqrt(0.5);
        if (CHECK(c.scene.model->visual_count == 1))
            check_corners(&visual(&c, "a", 0)->shape, cr_vec3(3, 3, 3),
                          (crPose){cr_vec3(1.5, 3, 5.5), {s, 0, 0, s}});
        case_free(&c);
    }
    for (int i = 0; i < (int)(sizeof bad / sizeof bad[0]); i++) {
        write_file(f.mesh, bad[i][0]);
        if (!folder_read(&f, text, &c)) continue;
        const crNote* note = case_note(&c, bad[i][1]);
        test_check(note != NULL && c.scene.model->visual_count == 0, __FILE__, __LINE__, "%d: %s", i,
                   c.import.note_count > 0 ? c.import.notes[0].text : "no note");
        case_free(&c);
    }
    folder_remove(&f);
}

// Distance to the surface of a torus of radii 1 and 0.3 about z.
static double off_torus(crVec3 p) {
    double ring = sqrt(p.x * p.x + p.y * p.y) - 1.0;
    return fabs(sqrt(ring * ring + p.z * p.z) - 0.3);
}

// a mesh of 24000 triangles is thinned to at most 4000 that stay on the surface and go all around it
TEST(thinned) {
    enum { ROUND = 200, ACROSS = 60 };
    Folder f;
    Case c;
    if (!case_xml() || !folder_make(&f)) return;
    FILE* file = fopen(f.mesh, "w");
    for (int i = 0; i < ROUND * ACROSS; i++) {
        double u = 2.0 * CR_PI * (i / ACROSS) / (double)ROUND,
               v = 2.0 * CR_PI * (i % ACROSS) / (double)ACROSS;
        double r = 1.0 + 0.3 * cos(v);
        fprintf(file, "v %.9g %.9g %.9g\n", r * cos(u), r * sin(u), 0.3 * sin(v));
    }
    for (int i = 0; i < ROUND * ACROSS; i++) {
        int a = i / ACROSS, b = i % ACROSS, na = (a + 1) % ROUND, nb = (b + 1) % ACROSS;
        fprintf(file, "f %d %d %d %d\n", a * ACROSS + b + 1, na * ACROSS + b + 1, na * ACROSS + nb + 1,
                a * ACROSS + nb + 1);
    }
    fclose(file);
    if (folder_read(&f, LINK("<visual><geometry><mesh filename='mesh.obj'/></geometry></visual>"), &c)) {
        crMeshDef mesh = cr_mesh_def(visual(&c, "a", 0)->shape.data.mesh);
        CHECK(mesh.triangle_count <= 4000 && mesh.triangle_count >= 1000);
        // a cell of the coarsest grid that can be needed here has sides of 2.6 / 24
        double worst = 0.0, area = 0.0;
        for (int i = 0; i < mesh.triangle_count; i++) {
            crVec3 p[3];
            for (int k = 0; k < 3; k++) {
                p[k] = mesh.vertices[mesh.triangles[i][k]];
                worst = fmax(worst, off_torus(p[k]));
            }
            area += 0.5 * cr_norm(cr_cross(cr_sub(p[1], p[0]), cr_sub(p[2], p[0])));
        }
        CHECK(worst < 2.6 / 24.0);
        // 4 pi^2 R r
        CHECK_NEAR(area / (4.0 * CR_PI * CR_PI * 0.3), 1.0, 0.1);
        case_free(&c);
    }
    folder_remove(&f);
}

// A model of 300 meshes of 1922 triangles: each is thinned to 500, and those beyond 100000 in all are not visuals. The
// scene is written and read again.
TEST(many_meshes) {
    enum { SIDE = 31, LINKS = 300 };
    Folder f;
    Case c;
    if (!case_xml() || !folder_make(&f)) return;
    FILE* file = fopen(f.mesh, "w");
    for (int i = 0; i <= SIDE; i++) {
        for (int j = 0; j <= SIDE; j++) {
            fprintf(file, "v %d %d %g\n", i, j, 0.01 * i * j);
        }
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        int at = i / SIDE * (SIDE + 1) + i % SIDE + 1;
        fprintf(file, "f %d %d %d %d\n", at, at + SIDE + 1, at + SIDE + 2, at + 1);
    }
    fclose(file);
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    fputs("<robot name='r'>", out);
    for (int i = 0; i < LINKS; i++) {
        fprintf(out,
                "<link name='l%d'>" MASS
                "<visual><geometry><mesh filename='mesh.obj'/></geometry></visual></link>",
                i);
        if (i > 0)
            fprintf(out, "<joint name='j%d' type='fixed'><parent link='l0'/><child link='l%d'/></joint>", i,
                    i);
    }
    fputs("</robot>", out);
    fclose(out);
    if (folder_read(&f, text, &c)) {
        int triangles = 0;
        for (int i = 0; i < c.scene.model->visual_count; i++) {
            triangles += cr_mesh_def(c.scene.model->visuals[i].shape.data.mesh).triangle_count;
        }
        CHECK(triangles <= 100000 && triangles <= 500 * c.scene.model->visual_count && triangles > 80000);
        const crNote* note = case_note(&c, "more than 100000");
        CHECK(note != NULL && note->count == LINKS - c.scene.model->visual_count);
        visuals_again(&c);
        case_free(&c);
    }
    free(text);
    folder_remove(&f);
}

static void scene_refused(const char* visuals, crStatus status, const char* word, int line) {
    char text[400];
    snprintf(text, sizeof text, "{\"carom\":1,\"bodies\":[{\"mass\":1,\"inertia\":1,\"visuals\":%s}]}",
             visuals);
    crJsonDoc doc = {0};
    crScene scene = {0};
    crError error = {0};
    crStatus got = cr_json_parse(text, strlen(text), 1, &doc, &error);
    if (got == CR_OK) got = cr_scene_read(doc.root, &scene, &error);
    test_check(got == status && strstr(error.message, word) != NULL, __FILE__, line, "%s: %s: %s", visuals,
               cr_status_name(got), error.message);
    if (got == CR_OK) cr_scene_free(&scene);
    cr_json_free(&doc);
}

TEST(scene_fields) {
    scene_refused("[{\"type\":\"sphere\",\"r\":1}]", CR_OK, "", __LINE__);
    // open meshes may move where they are visuals
    scene_refused("[{\"type\":\"mesh\",\"vertices\":[[0,0,0],[1,0,0],[0,1,0]],\"triangles\":[[0,1,2]]}]",
                  CR_OK, "", __LINE__);
    scene_refused("[{\"type\":\"sphere\",\"r\":1,\"mask\":1}]", CR_ERR_FIELD, "visuals[0].mask", __LINE__);
    scene_refused("[{\"type\":\"sphere\",\"r\":1,\"material\":\"x\"}]", CR_ERR_FIELD, "touches nothing",
                  __LINE__);
    scene_refused("[{\"type\":\"sphere\",\"r\":0}]", CR_ERR_RANGE, "visuals[0].r", __LINE__);
    scene_refused("[{\"type\":\"sphere\",\"r\":1,\"color\":\"red\"}]", CR_ERR_RANGE, "visuals[0].color",
                  __LINE__);
    scene_refused("[{\"type\":\"blob\"}]", CR_ERR_NAME, "visuals[0].type", __LINE__);
    scene_refused("{}", CR_ERR_TYPE, "visuals", __LINE__);
}
