// URDF: frames, joints, mimic, inertias, shapes, packages; notes and refusals; the cube of ContactNets.
#include <sys/stat.h>
#include <unistd.h>

#include "carom/dynamics.h"
#include "data.h"
#include "import_case.h"

#define REFUSED(text, status, l, c, w) case_refused((text), (status), (l), (c), (w), __LINE__)
#define MASS                           "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
#define ROBOT                          "<robot name='r'><link name='base'>" MASS "</link>"
#define LINK                           "<link name='a'>" MASS "</link>"
#define ENDS                           "<parent link='base'/><child link='a'/>"

TEST(tree) {
    Case c;
    if (!case_xml()) return;
    // children stand before their parents in the text
    if (!case_good(
            "<robot name='r'><link name='hand'>" MASS "</link>"
            "<joint name='wrist' type='prismatic'><origin xyz='0 0 2' rpy='0 0 1.5707963267948966'/>"
            "<parent link='arm'/><child link='hand'/><limit lower='-1' upper='2' effort='5'/>"
            "<axis xyz='0 3 0'/><mimic joint='elbow' multiplier='2' offset='0.5'/></joint>"
            "<link name='arm'><inertial><origin xyz='0 0 1' rpy='1.5707963267948966 0 0'/><mass value='3'/>"
            "<inertia ixx='1' ixy='0' ixz='0' iyy='2' iyz='0' izz='2.5'/></inertial>"
            "<visual/><collision><origin xyz='1 0 0'/><geometry><cylinder radius='.1' length='4'/></geometry>"
            "</collision></link>"
            "<joint name='elbow' type='revolute'><parent link='base'/><child link='arm'/>"
            "<origin xyz='1 0 0'/><limit lower='-1' upper='1'/><dynamics damping='.5' "
            "friction='.25'/></joint>"
            "<link name='base'>" MASS "</link></robot>",
            NULL, &c, __LINE__))
        return;
    const crModel* m = c.scene.model;
    CHECK(m->nb == 4 && m->nv == 8 && case_body(&c, "base")->joint == CR_JOINT_FREE);
    const crBody* arm = case_body(&c, "arm");
    CHECK_VEC(arm->axis, cr_vec3(1, 0, 0), 0.0);
    CHECK_VEC(arm->com, cr_vec3(0, 0, 1), 0.0);
    // turned by 90 degrees about x: y and z change places
    CHECK_NEAR(arm->inertia.xx, 1.0, 1e-15);
    CHECK_NEAR(arm->inertia.yy, 2.5, 1e-14);
    CHECK_NEAR(arm->inertia.zz, 2.0, 1e-14);
    const crDof* elbow = case_dof(&c, "arm");
    CHECK(elbow->lower == -1.0 && elbow->upper == 1.0 && elbow->damping == 0.5 && elbow->friction == 0.25);
    CHECK(m->loop_count == 1 && m->loops[0].kind == CR_LOOP_JOINT);
    // the mimic holds at the start: both joints moved from 0 to reach q = 2 p + 0.5
    CHECK_NEAR(c.scene.q[case_body(&c, "hand")->q], 2.0 * c.scene.q[arm->q] + 0.5, 1e-9);
    const crShape* s = &m->shapes[0].shape;
    CHECK(s->kind == CR_SHAPE_CYLINDER && s->size.x == 0.1 && s->pose.p.x == 1.0);
    CHECK(case_note(&c, "<visual>") != NULL);
    case_again(&c, "tree");
    case_steps(&c, "tree", 20);
    case_free(&c);
}

// transmissions are motors by the names of their actuators, times the reduction, within the joint's effort
TEST(transmissions) {
    Case c;
    if (!case_xml()) return;
#define DRIVEN(inside)                                                                                      \
    "<robot name='r'><link name='world'/><link name='a'>" MASS "</link><joint name='hip' type='revolute'>"  \
    "<parent link='world'/><child link='a'/><limit lower='-1' upper='1' effort='30' velocity='2'/></joint>" \
    "<transmission name='t'><type>transmission_interface/SimpleTransmission</type>" inside                  \
    "</transmission></robot>"
    if (case_good(
            DRIVEN("<joint name='hip'><hardwareInterface>EffortJointInterface</hardwareInterface></joint>"
                   "<actuator name='hip_motor'><mechanicalReduction>50</mechanicalReduction></actuator>"),
            NULL, &c, __LINE__)) {
        const crModel* m = c.scene.model;
        int motor = cr_model_find_actuator(m, "hip_motor"), joint = cr_model_find_joint(m, "hip");
        if (CHECK(motor == 0 && m->nu == 1 && joint > 0)) {
            const crActuator* a = &m->actuators[0];
            CHECK(a->dof[0] == m->bodies[joint].v && a->gear[0] == 50.0 && a->gain[0] == 1.0 &&
                  a->bias[1] == 0.0);
            // 30 N m at the joint
            CHECK_NEAR(a->gear[0] * a->force_upper, 30.0, 1e-12);
            CHECK_NEAR(a->gear[0] * a->force_lower, -30.0, 1e-12);
        }
        case_again(&c, "transmissions");
        case_free(&c);
    }
    case_refused(DRIVEN("<joint name='hap'/>"), CR_ERR_NAME, 0, 0, "\"hap\"", __LINE__);
    case_refused(DRIVEN("<joint name='hip'/><mechanicalReduction>0</mechanicalReduction>"), CR_ERR_RANGE, 0,
                 0, "0", __LINE__);
    case_refused(DRIVEN("<joint name='hip'/><mechanicalReduction>x</mechanicalReduction>"), CR_ERR_TYPE, 0, 0,
                 "x", __LINE__);
}

// friction of Gazebo's, elements that are no URDF, and what is said of the rest
TEST(gazebo_and_schema) {
    Case c;
    if (!case_xml()) return;
#define BOX "<collision><geometry><box size='1 1 1'/></geometry></collision>"
    if (case_good("<robot name='r' xmlns:xacro='http://x'><link name='a'>" MASS BOX
                  "</link><gazebo reference='a'>"
                  "<mu1>0.2</mu1><mu2 "
                  "value='0.4'/><turnGravityOff>true</turnGravityOff><material>Gazebo/Red</material>"
                  "<kp>1e6</kp></gazebo><gazebo><plugin name='p'/></gazebo></robot>",
                  NULL, &c, __LINE__)) {
        const crSurface* s = &c.scene.model->materials[c.scene.model->shapes[0].material].surface;
        CHECK(s->mu == 0.2 && s->mu2 == 0.4 && case_body(&c, "a")->gravity_scale == 0.0);
        CHECK(case_note(&c, "xmlns") == NULL && case_note(&c, "<kp>")->level == CR_NOTE_IGNORED);
        CHECK(case_note(&c, "<plugin>")->level == CR_NOTE_IGNORED);
        case_free(&c);
    }
    case_refused("<robot name='r'><lnik name='a'/><link name='b'>" MASS "</link></robot>", CR_ERR_NAME, 1, 17,
                 "did you mean <link>?", __LINE__);
    case_refused("<robot name='r'><link name='b'>" MASS
                 "</link><gazebo reference='b'><mu1>-1</mu1></gazebo></robot>",
                 CR_ERR_RANGE, 0, 0, "-1", __LINE__);
}

TEST(roots_and_joints) {
    Case c;
    if (!case_xml()) return;
    crImportOptions fixed = {.fixed_base = true};
    if (case_good(ROBOT "</robot>", &fixed, &c, __LINE__)) {
        CHECK(case_body(&c, "base")->joint == CR_JOINT_FIXED && c.scene.model->nv == 0);
        case_free(&c);
    }
    // roll, pitch, yaw about fixed axes
    if (case_good("<robot name='r'><link name='world'/><link name='a'>" MASS "</link>"
                  "<joint name='j' type='floating'><parent link='world'/><child link='a'/>"
                  "<origin xyz='1 2 3' rpy='0.1 0.2 0.3'/></joint></robot>",
                  NULL, &c, __LINE__)) {
        CHECK(c.scene.model->nb == 2 && case_body(&c, "a")->joint == CR_JOINT_FREE);
        crPose pose = case_pose(&c, "a");
        CHECK_VEC(pose.p, cr_vec3(1, 2, 3), 0.0);
        crMat3 R = cr_quat_matrix(pose.q);
        CHECK_NEAR(R.m[2][0], -sin(0.2), 1e-15);
        CHECK_NEAR(R.m[2][1], cos(0.2) * sin(0.1), 1e-15);
        CHECK_NEAR(R.m[1][0], sin(0.3) * cos(0.2), 1e-15);
        case_free(&c);
    }
    if (case_good(ROBOT LINK "<joint name='j' type='planar'>" ENDS "<axis xyz='0 0 1'/></joint></robot>",
                  NULL, &c, __LINE__)) {
        CHECK(c.scene.model->nv == 9 && case_body(&c, "a")->joint == CR_JOINT_HINGE);
        CHECK_VEC(case_body(&c, "a")->axis, cr_vec3(0, 0, 1), 0.0);
        CHECK(case_body(&c, "a_plane0")->axis.z == 0.0 && case_body(&c, "a_plane1")->axis.z == 0.0);
        case_free(&c);
    }
    if (case_good(ROBOT LINK "<joint name='j' type='continuous'>" ENDS "</joint></robot>", NULL, &c,
                  __LINE__)) {
        CHECK(isinf(case_dof(&c, "a")->upper));
        case_free(&c);
    }
}

TEST(packages) {
    if (!case_xml()) return;
    char folder[] = "/tmp/carom-urdf-XXXXXX";
    char inner[64], file[80];
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    snprintf(inner, sizeof inner, "%s/robot", folder);
    snprintf(file, sizeof file, "%s/m.obj", inner);
    mkdir(inner, 0700);
    FILE* out = fopen(file, "w");
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n", out);
    fclose(out);
    char model[80];
    snprintf(model, sizeof model, "%s/r.urdf", folder);
    out = fopen(model, "w");
    fputs("<robot name='r'><link name='base'>" MASS "<collision><geometry>"
          "<mesh filename='package://robot/m.obj' scale='2 2 2'/></geometry></collision></link></robot>",
          out);
    fclose(out);
    const char* folders[] = {"/nowhere", folder};
    crImportOptions options = {.package_count = 2, .packages = folders};
    Case c;
    crStatus status = case_file(model, &options, &c);
    if (test_check(status == CR_OK, __FILE__, __LINE__, "%s", c.error.message)) {
        CHECK_NEAR(cr_mass_of_shape(&c.scene.model->shapes[0].shape, 1.0).mass, 8.0 / 6.0, 1e-14);
        case_free(&c);
    }
    CHECK_STATUS(case_file(model, NULL, &c), CR_ERR_FILE);
    CHECK(strstr(c.error.message, "--package") != NULL);
    remove(file);
    remove(model);
    rmdir(inner);
    rmdir(folder);
}

TEST(refusals) {
    if (!case_xml()) return;
    REFUSED("<robot/>", CR_ERR_MISSING, 1, 1, "<link>");
    REFUSED("<robot><link/></robot>", CR_ERR_MISSING, 1, 8, "name");
    REFUSED(ROBOT "<link name='base'/></robot>", CR_ERR_NAME, 0, 0, "already");
    REFUSED(ROBOT "<link name='x'/></robot>", CR_ERR_NAME, 0, 0, "second root");
    REFUSED(ROBOT LINK "<joint name='j' type='fixed'><parent link='base'/></joint></robot>", CR_ERR_MISSING,
            0, 0, "<child");
    REFUSED(ROBOT LINK "<joint name='j' type='fixed'><parent link='no'/><child link='a'/></joint></robot>",
            CR_ERR_NAME, 0, 0, "\"no\"");
    REFUSED(ROBOT LINK "<joint type='fixed'>" ENDS "</joint></robot>", CR_ERR_MISSING, 0, 0, "name");
    REFUSED(ROBOT LINK "<joint name='j' type='odd'>" ENDS "</joint></robot>", CR_ERR_NAME, 0, 0,
            "no such joint");
    REFUSED(ROBOT LINK "<joint name='j' type='floating'>" ENDS "</joint></robot>", CR_ERR_RANGE, 0, 0,
            "world");
    REFUSED(ROBOT LINK "<joint name='j' type='revolute'>" ENDS "</joint></robot>", CR_ERR_MISSING, 0, 0,
            "<limit>");
    REFUSED(ROBOT LINK "<joint name='j' type='fixed'>" ENDS "</joint><joint name='k' type='fixed'>" ENDS
                       "</joint></robot>",
            CR_ERR_NAME, 0, 0, "has a parent");
    REFUSED("<robot><link name='base'/><link name='a'/><link name='b'/><joint name='j' type='fixed'><parent "
            "link='a'/>"
            "<child link='b'/></joint><joint name='k' type='fixed'><parent link='b'/><child "
            "link='a'/></joint></robot>",
            CR_ERR_NAME, 1, 1, "ring");
    REFUSED(ROBOT LINK "<joint name='j' type='continuous'>" ENDS "<mimic joint='x'/></joint></robot>",
            CR_ERR_NAME, 0, 0, "\"x\"");
    REFUSED("<robot><link name='b'><inertial/></link></robot>", CR_ERR_MISSING, 1, 23, "<mass>");
    REFUSED("<robot><link name='b'><inertial><mass value='x'/><inertia/></inertial></link></robot>",
            CR_ERR_TYPE, 1, 39, "\"x\"");
    REFUSED("<robot><link name='b'><collision/></link></robot>", CR_ERR_MISSING, 1, 23, "<geometry>");
    REFUSED("<robot><link name='b'><collision><geometry><blob/></geometry></collision></link></robot>",
            CR_ERR_NAME, 1, 44, "no shape");
    REFUSED("<robot><link name='b'><collision><geometry><sphere "
            "radius='0'/></geometry></collision></link></robot>",
            CR_ERR_RANGE, 1, 52, "above 0");
    REFUSED("<robot><link name='b'><collision><geometry><box/></geometry></collision></link></robot>",
            CR_ERR_MISSING, 1, 44, "size");
    REFUSED("<robot><link name='b'><collision><geometry><mesh "
            "filename='m.ply'/></geometry></collision></link></robot>",
            CR_ERR_NAME, 1, 44, ".stl, .obj, .dae or .msh");
    REFUSED("<robot><link name='b'/></robot>", CR_ERR_DEFINITE, 0, 0, "mass");
}

TEST(cube_of_contactnets) {
    char buffer[512];
    Case c;
    const char* path = test_data("contactnets-cube-A/cube.urdf", buffer, sizeof buffer);
    if (path == NULL || !case_xml()) {
        test_skip("the data are not there");
        return;
    }
    crStatus status = case_file(path, NULL, &c);
    if (!test_check(status == CR_OK, __FILE__, __LINE__, "%s", c.error.message)) return;
    const crBody* cube = case_body(&c, "cube_base");
    CHECK(cube->mass == 0.37 && cube->inertia.xx == 0.00081 && cube->inertia.xy == 0.0 && cube->single);
    const crShape* s = &c.scene.model->shapes[0].shape;
    CHECK(s->kind == CR_SHAPE_BOX && s->size.x == 0.0524 && s->size.y == 0.0524 && s->size.z == 0.0524);
    CHECK(c.import.note_count == 0 && c.scene.model->visual_count == 1);
    case_again(&c, "cube");
    case_steps(&c, "cube", 20);
    case_free(&c);
}
