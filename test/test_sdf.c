// SDF: poses with frames, joints, surfaces, filters; notes and refusals; the worlds of gz-physics.
#include <sys/stat.h>
#include <unistd.h>

#include "data.h"
#include "import_case.h"

#define REFUSED(text, status, w) case_refused((text), (status), 0, 0, (w), __LINE__)
#define WORLD(inside)            "<sdf version='1.9'><world name='w'>" inside "</world></sdf>"
#define MODEL(inside)            WORLD("<model name='m'>" inside "</model>")

TEST(frames) {
    Case c;
    if (!case_xml()) return;
    // a ring of names that is none: link to frame to joint to link
    if (!case_good(
            MODEL("<pose degrees='true'>0 0 10 0 0 90</pose>"
                  "<link name='b'><pose relative_to='f'>0 0 1 0 0 0</pose></link>"
                  "<frame name='f' attached_to='j'><pose>1 0 0 0 0 0</pose></frame>"
                  "<joint name='j' type='revolute'><pose relative_to='a'>0 2 0 0 0 0</pose><parent>a</parent>"
                  "<child>b</child><axis><xyz>0 0 1</xyz></axis></joint>"
                  "<link name='a'><pose rotation_format='quat_xyzw'>1 0 0 0 0 0 1</pose></link>"),
            NULL, &c, __LINE__))
        return;
    // in the model: a (1, 0, 0), j (1, 2, 0), f (2, 2, 0), b (2, 2, 1); the model turns x to y
    CHECK_VEC(case_pose(&c, "m::a").p, cr_vec3(0, 1, 10), 1e-14);
    crPose b = case_pose(&c, "m::b");
    // carom's frame is that of the joint
    CHECK_VEC(b.p, cr_vec3(-2, 1, 10), 1e-14);
    CHECK_VEC(case_body(&c, "m::b")->com, cr_vec3(1, 0, 1), 1e-14);
    CHECK(case_body(&c, "m::b")->mass == 1.0 && case_body(&c, "m::b")->inertia.zz == 1.0);
    case_again(&c, "frames");
    case_free(&c);
}

TEST(joints) {
    Case c;
    if (!case_xml()) return;
    if (!case_good(
            MODEL("<link name='a'/><link name='b'><pose>0 0 1 0 0 1.5707963267948966</pose></link>"
                  "<link name='c'/><link name='d'/><link name='e'/><link name='f'/>"
                  "<joint name='j' type='prismatic'><parent>world</parent><child>b</child><axis>"
                  "<xyz expressed_in='__model__'>1 0 0</xyz><limit><lower>-1</lower><upper>2</upper></limit>"
                  "<dynamics><damping>.5</damping><friction>.25</friction><spring_stiffness>7</"
                  "spring_stiffness>"
                  "<spring_reference>.1</spring_reference></dynamics></axis></joint>"
                  "<joint name='k' type='universal'><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz>"
                  "</axis><axis2><xyz>0 1 0</xyz></axis2></joint>"
                  "<joint name='l' type='ball'><parent>c</parent><child>d</child></joint>"
                  "<joint name='m' type='fixed'><parent>d</parent><child>e</child></joint>"
                  "<joint name='n' type='fixed'><parent>world</parent><child>e</child></joint>"
                  "<joint name='o' type='continuous'><parent>a</parent><child>f</child></joint>"
                  "<joint name='p' type='revolute'><parent>f</parent><child>e</child></joint>"),
            NULL, &c, __LINE__))
        return;
    const crBody* b = case_body(&c, "m::b");
    // the model's x seen from a link turned by 90 degrees about z
    CHECK_VEC(b->axis, cr_vec3(0, -1, 0), 1e-15);
    const crDof* dof = case_dof(&c, "m::b");
    CHECK(dof->lower == -1.0 && dof->upper == 2.0 && dof->damping == 0.5 && dof->friction == 0.25);
    CHECK(dof->stiffness == 7.0 && dof->rest == 0.1);
    CHECK(case_body(&c, "m::c_axis")->mass == 0.0 && case_body(&c, "m::c_axis")->axis.x == 1.0);
    CHECK(case_body(&c, "m::c")->axis.y == 1.0 && case_body(&c, "m::d")->joint == CR_JOINT_BALL);
    CHECK(case_body(&c, "m::a")->joint == CR_JOINT_FREE && case_body(&c, "m::e")->joint == CR_JOINT_FIXED);
    CHECK(c.scene.model->loop_count == 1 && c.scene.model->loops[0].kind == CR_LOOP_WELD);
    CHECK(case_note(&c, "revolute that closes a loop") != NULL);
    case_again(&c, "joints");
    case_free(&c);
}

#define BALL(name, x, surface)                                               \
    "<model name='" name "'><pose>" x                                        \
    " 0 9 0 0 0</pose><link name='l'><collision name='c'><geometry><sphere>" \
    "<radius>.5</radius></sphere></geometry>" surface "</collision></link></model>"

TEST(surfaces) {
    Case c;
    if (!case_xml()) return;
    if (!case_good(
            WORLD("<gravity>0 0 -5</gravity><physics "
                  "type='ode'><max_step_size>.25</max_step_size><ode><x/></ode>"
                  "</physics>" BALL(
                      "a", "0",
                      "<surface><friction><ode><mu>.5</mu><mu2>.25</mu2><fdir1>0 1 0</fdir1></ode>"
                      "</friction><bounce><restitution_coefficient>.75</restitution_coefficient></bounce>"
                      "<contact><collide_bitmask>6</collide_bitmask></contact></surface>")
                      BALL("b", "3",
                           "<surface><friction><ode><mu>.4</mu></ode></friction><contact>"
                           "<collide_bitmask>1</collide_bitmask></contact></surface>") BALL("c", "6", "")),
            NULL, &c, __LINE__))
        return;
    const crModel* m = c.scene.model;
    CHECK(m->gravity.z == -5.0 && c.scene.step.dt == 0.25);
    crContactSurface s;
    CHECK_STATUS(cr_model_surface(m, m->shapes[0].material, m->shapes[2].material, 0.0, &s), CR_OK);
    CHECK(s.surface.mu == 0.5 && s.surface.mu2 == 0.25 && s.surface.axis.y == 1.0 && s.surface.e == 0.0);
    CHECK_STATUS(cr_model_surface(m, m->shapes[0].material, m->shapes[0].material, 0.0, &s), CR_OK);
    CHECK(s.surface.e == 0.75);
    CHECK_STATUS(cr_model_surface(m, m->shapes[1].material, m->shapes[2].material, 0.0, &s), CR_OK);
    CHECK(s.surface.mu == 0.4);
    CHECK(!cr_model_meet(m, 0, 1) && cr_model_meet(m, 1, 2) && cr_model_meet(m, 0, 2));
    case_again(&c, "surfaces");
    case_steps(&c, "surfaces", 4);
    case_free(&c);
}

// By hand: the model turns x to y, the arm lies at (1, 0, 0) of it and turns x to y again, so that a point
// (x, y) of the arm is (-x, 1 - y) in the world.
TEST(nested_models) {
    Case c;
    if (!case_xml()) return;
    if (!case_good(
            WORLD("<frame name='f' attached_to='m'><pose>0 0 5 0 0 0</pose></frame>"
                  "<model name='m'><pose degrees='true'>0 0 0 0 0 90</pose><link name='base'/>"
                  "<model name='arm'><pose degrees='true'>1 0 0 0 0 90</pose><link name='upper'>"
                  "<pose>2 3 0 0 0 0</pose></link><frame name='tip' attached_to='upper'><pose>0 0 1 0 0 "
                  "0</pose>"
                  "</frame><model name='hand'><pose relative_to='tip'/><link name='palm'/></model>"
                  "<joint name='wrist' type='revolute'><parent>tip</parent><child>hand</child><axis>"
                  "<xyz expressed_in='__model__'>1 0 0</xyz></axis></joint></model>"
                  "<joint name='shoulder' type='ball'><parent>base</parent><child>arm::upper</child></joint>"
                  "</model><model name='top'><pose relative_to='f'/><link name='l'/></model>"),
            NULL, &c, __LINE__))
        return;
    CHECK_VEC(case_pose(&c, "m::base").p, cr_vec3(0, 0, 0), 1e-15);
    CHECK_VEC(case_pose(&c, "m::arm::upper").p, cr_vec3(-2, 1 - 3, 0), 1e-14);
    CHECK_VEC(case_pose(&c, "m::arm::hand::palm").p, cr_vec3(-2, -2, 1), 1e-14);
    CHECK_VEC(case_pose(&c, "top::l").p, cr_vec3(0, 0, 5), 1e-14);
    const crModel* m = c.scene.model;
    CHECK(m->bodies[case_body(&c, "m::arm::hand::palm")->parent].name ==
          case_body(&c, "m::arm::upper")->name);
    CHECK(case_body(&c, "m::arm::upper")->joint == CR_JOINT_BALL);
    // the arm's x is -x of the world, and so of the palm's frame
    crPose palm = case_pose(&c, "m::arm::hand::palm");
    CHECK_VEC(cr_quat_rotate(palm.q, case_body(&c, "m::arm::hand::palm")->axis), cr_vec3(-1, 0, 0), 1e-14);
    CHECK(c.import.note_count == 0);
    case_again(&c, "nested");
    case_steps(&c, "nested", 4);
    case_free(&c);
}

static void write_file(const char* path, const char* text) {
    FILE* file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return;
    fputs(text, file);
    fclose(file);
}

TEST(includes) {
    Case c;
    char folder[64], model[128], world[128];
    if (!case_xml()) return;
    snprintf(folder, sizeof folder, "sdf_%ld", (long)getpid());
    mkdir(folder, 0777);
    snprintf(model, sizeof model, "%s/model.sdf", folder);
    snprintf(world, sizeof world, "%s/world.sdf", folder);
    write_file(
        model,
        "<sdf version='1.9'><model name='ball'><pose>9 9 9 0 0 0</pose><link name='l'><pose>0 0 1 0 0 "
        "0</pose>"
        "<collision name='c'><geometry><sphere><radius>.5</radius></sphere></geometry></collision></link>"
        "<link name='k'/><joint name='j' "
        "type='fixed'><parent>l</parent><child>k</child></joint></model></sdf>");
    char text[1000];
    snprintf(text, sizeof text,
             WORLD("<include><uri>model://%s</uri></include>"
                   "<include><uri>model.sdf</uri><name>b</name><pose>1 0 0 0 0 "
                   "0</pose><static>true</static></include>"
                   "<include><uri>model.sdf</uri><name>p</name><pose>5 5 5 0 0 0</pose>"
                   "<placement_frame>l</placement_frame><plugin/></include>"
                   "<model name='m'><link name='a'/><include merge='true'><uri>model.sdf</uri><name>q</name>"
                   "<pose>0 7 0 0 0 0</pose></include><include><uri>model.sdf</uri></include></model>"),
             folder);
    write_file(world, text);
    const char* here[] = {"."};
    crImportOptions options = {.package_count = 1, .packages = here};
    crStatus status = case_file(world, &options, &c);
    if (test_check(status == CR_OK, __FILE__, __LINE__, "%d:%d: %s", c.error.line, c.error.column,
                   c.error.message)) {
        CHECK_VEC(case_pose(&c, "ball::l").p, cr_vec3(9, 9, 10), 0.0);
        CHECK_VEC(case_pose(&c, "b::l").p, cr_vec3(1, 0, 1), 0.0);
        CHECK(case_body(&c, "b::l")->joint == CR_JOINT_FIXED &&
              case_body(&c, "ball::l")->joint == CR_JOINT_FREE);
        CHECK_VEC(case_pose(&c, "p::l").p, cr_vec3(5, 5, 5), 0.0);
        CHECK_VEC(case_pose(&c, "m::l").p, cr_vec3(0, 7, 1), 0.0);
        CHECK_VEC(case_pose(&c, "m::ball::k").p, cr_vec3(9, 9, 9), 0.0);
        CHECK(case_note(&c, "<plugin> in <include>") != NULL);
        case_again(&c, "includes");
        case_free(&c);
    }
    // a ring of files ends
    write_file(model,
               "<sdf version='1.9'><model name='a'><include><uri>model.sdf</uri></include></model></sdf>");
    CHECK_STATUS(case_file(world, &options, &c), CR_ERR_LIMIT);
    write_file(model, "<sdf version='1.9'><world name='w'/></sdf>");
    CHECK_STATUS(case_file(world, &options, &c), CR_ERR_NAME);
    CHECK(strstr(c.error.message, "no <sdf> with a <model>") != NULL);
    write_file(model, "<sdf");
    CHECK_STATUS(case_file(world, &options, &c), CR_ERR_SYNTAX);
    remove(model);
    CHECK_STATUS(case_file(world, &options, &c), CR_ERR_FILE);
    remove(world);
    rmdir(folder);
}

TEST(self_collision) {
    static const char* const words[] = {"", "<self_collide>true</self_collide>"};
    Case c;
    if (!case_xml()) return;
    for (int i = 0; i < 2; i++) {
        char text[700];
        snprintf(text, sizeof text,
                 MODEL("%s<link name='a'><collision name='c'><geometry><box/></geometry></collision></link>"
                       "<link name='b'><collision name='c'><geometry><box><size>2 4 "
                       "6</size></box></geometry></collision>"
                       "</link>"),
                 words[i]);
        if (!case_good(text, NULL, &c, __LINE__)) continue;
        CHECK(cr_model_meet(c.scene.model, 0, 1) == (i == 1));
        CHECK(c.scene.model->shapes[1].shape.size.z == 3.0 && c.scene.model->shapes[0].shape.size.x == 0.5);
        case_free(&c);
    }
}

TEST(refusals) {
    if (!case_xml()) return;
    REFUSED(WORLD("<include><uri>model://x</uri></include>"), CR_ERR_FILE, "none of the 0 folders");
    REFUSED(WORLD("<include><uri>x</uri></include>"), CR_ERR_FILE, "from memory");
    REFUSED(MODEL("<include/>"), CR_ERR_MISSING, "<uri>");
    REFUSED(MODEL("<model/>"), CR_ERR_MISSING, "name");
    REFUSED(MODEL("<model name='n'/><link name='n'/>"), CR_ERR_NAME, "taken in this model");
    REFUSED(MODEL("<model name='n'><static>true</static></model>"), CR_ERR_FIELD, "static");
    REFUSED(MODEL("<model name='n' placement_frame='l'><link name='l'/></model>"), CR_ERR_FIELD,
            "inside a model");
    REFUSED(MODEL("<model name='n'><link name='l'><pose relative_to='a'/></link></model><link name='a'/>"),
            CR_ERR_NAME, "\"n::a\"");
    REFUSED(WORLD("<model name='m' placement_frame='x'><link name='l'/></model>"), CR_ERR_NAME, "\"x\"");
    REFUSED(WORLD("<frame name='f'/><model name='f'><link name='l'/></model>"), CR_ERR_NAME,
            "taken in this world");
    REFUSED(WORLD("<frame name='f'><pose relative_to='g'/></frame><frame name='g' attached_to='f'/>"),
            CR_ERR_NAME, "ring");
    REFUSED(WORLD("<model/>"), CR_ERR_MISSING, "name");
    REFUSED(MODEL("<link/>"), CR_ERR_MISSING, "name");
    REFUSED(MODEL("<link name='a'/><link name='a'/>"), CR_ERR_NAME, "taken");
    REFUSED(MODEL("<static>perhaps</static>"), CR_ERR_TYPE, "true or false");
    REFUSED(MODEL("<pose>1 2 3</pose>"), CR_ERR_SIZE, "needs 6");
    REFUSED(MODEL("<pose rotation_format='odd'>1 2 3 4 5 6</pose>"), CR_ERR_NAME, "quat_xyzw");
    REFUSED(MODEL("<pose relative_to='x'/>"), CR_ERR_NAME, "no such frame");
    REFUSED(MODEL("<link name='a'><pose relative_to='x'/></link>"), CR_ERR_NAME, "no such frame");
    REFUSED(
        MODEL("<link name='a'><pose relative_to='b'/></link><link name='b'><pose relative_to='a'/></link>"),
        CR_ERR_NAME, "ring");
    REFUSED(MODEL("<link name='a'/><joint name='j' type='ball'><parent>a</parent></joint>"), CR_ERR_MISSING,
            "<child>");
    REFUSED(MODEL("<link name='a'/><joint name='j' type='ball'><parent>a</parent><child>x</child></joint>"),
            CR_ERR_NAME, "\"x\"");
    REFUSED(
        MODEL("<link name='a'/><joint name='j' type='screw'><parent>world</parent><child>a</child></joint>"),
        CR_ERR_NAME, "screw");
    REFUSED(
        MODEL("<link name='a'/><joint name='j' type='revolute'><parent>world</parent><child>a</child><axis>"
              "<xyz>0 0 0</xyz></axis></joint>"),
        CR_ERR_UNIT, "zero");
    REFUSED(
        MODEL("<link name='a'/><joint name='j' type='revolute'><parent>world</parent><child>a</child><axis>"
              "<xyz expressed_in='x'>0 0 1</xyz></axis></joint>"),
        CR_ERR_NAME, "\"x\"");
    REFUSED(
        MODEL("<link name='a'><collision name='c'><geometry><sphere><radius>0</radius></sphere></geometry>"
              "</collision></link>"),
        CR_ERR_RANGE, "above 0");
    REFUSED(MODEL("<link name='a'><collision name='c'><geometry><mesh/></geometry></collision></link>"),
            CR_ERR_MISSING, "<uri>");
    REFUSED(MODEL("<link name='a'><collision name='c'><pose relative_to='a'/></collision></link>"),
            CR_ERR_FIELD, "relative_to");
    REFUSED(MODEL("<link name='a'><inertial><pose relative_to='a'/></inertial></link>"), CR_ERR_FIELD,
            "relative_to");
    REFUSED(MODEL("<link name='a'><inertial><mass>-1</mass></inertial></link>"), CR_ERR_RANGE, "mass");
    REFUSED(BALL("a", "0", "<surface><friction><ode><mu>-1</mu></ode></friction></surface>"), CR_ERR_NAME,
            "no model");
    REFUSED(WORLD(BALL("a", "0", "<surface><friction><ode><mu>-1</mu></ode></friction></surface>")),
            CR_ERR_RANGE, "negative");
    REFUSED(
        WORLD(BALL("a", "0", "<surface><contact><collide_bitmask>.5</collide_bitmask></contact></surface>")),
        CR_ERR_RANGE, "32 bits");
}

TEST(worlds_of_gz_physics) {
    static const struct {
        const char* name;
        int nv, unsupported;
    } files[] = {{"collision_pair_contact_point.sdf", 6, 0},
                 {"contact.sdf", 24, 0},
                 {"falling.world", 12, 0},
                 {"ground.sdf", 0, 0},
                 {"multiple_collisions.sdf", 6, 0},
                 {"pendulum_joint_wrench.sdf", 1, 0},
                 {"shapes.world", 30, 0},
                 {"slip_compliance.sdf", 6, 0},
                 {"sphere.sdf", 6, 0},
                 {"string_pendulum.sdf", 1, 0}};
    if (!case_xml()) return;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char relative[64];
        snprintf(relative, sizeof relative, "sdf-gz-physics/%s", files[i].name);
        if (!case_data(relative, files[i].nv, files[i].unsupported, 20)) return;
    }
}

// the period of small swings: hung 1 m above its centre, 2 pi sqrt((I + m) / (m g)), from 0.7 rad a bit longer
TEST(string_pendulum_swings) {
    char buffer[512];
    Case c;
    const char* path = test_data("sdf-gz-physics/string_pendulum.sdf", buffer, sizeof buffer);
    if (path == NULL || !case_xml() || case_file(path, NULL, &c) != CR_OK) {
        test_skip("the data are not there");
        return;
    }
    crPose bob = case_pose(&c, "pendulum::bob");
    CHECK_VEC(bob.p, cr_vec3(0, 0, 1), 1e-14);
    CHECK_VEC(cr_quat_rotate(bob.q, cr_vec3(0, 0, 1)), cr_vec3(0, -sin(0.7), cos(0.7)), 1e-14);
    const crBody* body = case_body(&c, "pendulum::bob");
    CHECK_VEC(body->com, cr_vec3(0, 0, -1), 1e-14);
    CHECK_VEC(body->axis, cr_vec3(1, 0, 0), 1e-14);
    case_free(&c);
}
