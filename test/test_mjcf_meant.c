// Models of others as they are meant: what a bouncing solref, margins, damping ratios, short keyframes and surface tags become,
// and which warnings the models of the test set give.
#include "carom/dynamics.h"
#include "import_case.h"

static double mean_e(const Case* c) {
    const crModel* model = c->scene.model;
    crContactSurface s = {0};
    int a = model->shapes[0].material, b = model->shapes[1].material;
    CHECK_STATUS(cr_model_surface(model, a, b, 0.0, &s), CR_OK);
    return s.surface.e;
}

#define BALL(floor, ball)                                                                                \
    "<mujoco><option timestep='1e-5' gravity='0 0 0'/><worldbody><geom type='plane' size='1 1 1' " floor \
    "/><body pos='0 0 .11'><freejoint/><geom size='.1' " ball "/></body></worldbody></mujoco>"

#ifdef CAROM_TEST_MUJOCO

#include <mujoco/mujoco.h>
#include <unistd.h>

// speed after over speed before an impact in MuJoCo, with steps far below the time of contact
static double mujoco_e(const char* text) {
    char path[64], why[300] = "";
    snprintf(path, sizeof path, "mjcf_meant_%ld.xml", (long)getpid());
    FILE* file = fopen(path, "wb");
    fputs(text, file);
    fclose(file);
    mjModel* m = mj_loadXML(path, NULL, why, sizeof why);
    remove(path);
    if (!test_check(m != NULL, __FILE__, __LINE__, "%s", why)) return NAN;
    mjData* d = mj_makeData(m);
    d->qvel[2] = -1.0;
    for (int i = 0; i < 20000 && !(d->qvel[2] > 0.0 && d->qpos[2] > 0.1); i++) {
        mj_step(m, d);
    }
    double e = d->qvel[2];
    mj_deleteData(d);
    mj_deleteModel(m);
    return e;
}

TEST(damped_contacts_bounce_as_in_mujoco) {
    // time constant and ratio; both formats; two geoms that differ: the mean of the ratios
    static const char* const texts[] = {
        BALL("solref='.01 .05'", "solref='.01 .05'"),
        BALL("solref='.01 .2'", "solref='.01 .2'"),
        BALL("solref='.01 .5'", "solref='.01 .5'"),
        BALL("solref='.01 .8'", "solref='.01 .8'"),
        BALL("solref='.01 .2'", "solref='.01 .6'"),
        BALL("solref='.01 .2' priority='1'", "solref='.01 .6'"),
        BALL("solref='-1e4 -40' solimp='1 1'", "solref='-1e4 -40' solimp='1 1'")};
    if (!case_xml()) return;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Case c;
        if (!case_good(texts[i], NULL, &c, __LINE__)) continue;
        double theirs = mujoco_e(texts[i]), ours = mean_e(&c);
        // their impedance below 1 lowers the damping by some per cent
        test_check(fabs(ours - theirs) <= 0.02, __FILE__, __LINE__, "case %zu: e %.5f, MuJoCo %.5f", i, ours,
                   theirs);
        case_free(&c);
    }
}

#endif

TEST(restitution_of_solref) {
    Case c;
    if (!case_xml()) return;
    static const struct {
        const char* text;
        double e;
    } cases[] = {
        {BALL("", ""), 0.0},
        {BALL("solref='.01 1'", "solref='.01 1'"), 0.0},
        {BALL("solref='-1e8 -0'", "solref='-1e8 -0'"), 1.0},
        {BALL("solref='.01 2'", "solref='.01 3'"), 0.0},
        // 1/sqrt 2: the angle is half a turn less a quarter, and z/s is 1
        {BALL("solref='.01 .7071067811865476'", "solref='.01 .7071067811865476'"), 0.20787957635076193}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!case_good(cases[i].text, NULL, &c, __LINE__)) continue;
        CHECK_NEAR(mean_e(&c), cases[i].e, 1e-14);
        for (int k = 0; k < c.import.note_count; k++) {
            CHECK(c.import.notes[k].level == CR_NOTE_IGNORED);
        }
        case_again(&c, "solref");
        case_free(&c);
    }
}

TEST(margins_move_limits) {
    Case c;
    if (!case_xml()) return;
    if (case_good("<mujoco><compiler angle='radian'/><worldbody><body name='a'><joint range='-1 2' "
                  "margin='.25'/><geom "
                  "size='.1'/><body name='b'><joint name='j' type='slide' range='0 1' margin='.5'/><geom "
                  "size='.1'/></body></body><body name='c'><joint type='ball' range='0 1' margin='.1'/><geom "
                  "size='.1'/></body></worldbody></mujoco>",
                  NULL, &c, __LINE__)) {
        CHECK(case_dof(&c, "a")->lower == -0.75 && case_dof(&c, "a")->upper == 1.75);
        CHECK_NEAR(case_dof(&c, "c")->upper, 0.9, 1e-15);
        // the two margins meet: the range stays, with a warning
        CHECK(case_dof(&c, "b")->lower == 0.0 && case_dof(&c, "b")->upper == 1.0);
        const crNote* note = case_note(&c, "margin is half the range");
        CHECK(note != NULL && note->level == CR_NOTE_UNSUPPORTED && note->count == 1);
        case_free(&c);
    }
    // a gap as wide as the margin leaves the contact where the surfaces meet
    if (case_good(BALL("margin='.01' gap='.01'", "gap='.02'"), NULL, &c, __LINE__)) {
        CHECK(case_note(&c, "margin") == NULL && case_note(&c, "gap") == NULL);
        case_free(&c);
    }
}

// kv = 2 ratio sqrt(kp m), m the diagonal of the mass matrix at the reference position over gear^2
TEST(damping_ratio_by_the_mass_matrix) {
    static const char text[] = "<mujoco><compiler angle='radian'/><worldbody><body name='base' pos='0 0 1' "
                               "euler='.2 .3 .4'><joint name='turn' axis='1 "
                               "2 0' pos='.1 .2 0' armature='.3'/><geom type='box' size='.1 .2 .3' pos='.3 0 "
                               ".1'/><body name='arm' pos='.4 "
                               "0 .1' euler='.5 0 .1'><joint name='rail' type='slide' axis='0 1 1' "
                               "ref='.3'/><joint name='bend' axis='0 0 1'/><geom "
                               "size='.1' pos='0 .2 0'/><body pos='.1 .1 .1'><geom size='.05' pos='.3 0 "
                               "0'/></body></body></body></worldbody>"
                               "<tendon><fixed name='t'><joint joint='turn' coef='2'/><joint joint='bend' "
                               "coef='-.5'/></fixed></tendon>"
                               "<actuator><position name='p0' joint='turn' kp='50' dampratio='.7' "
                               "gear='3'/><position name='p1' joint='rail' kp='20' "
                               "dampratio='1'/><general name='p2' joint='bend' gainprm='30' "
                               "biastype='affine' biasprm='0 -30 .5'/><position "
                               "name='p3' tendon='t' kp='8' dampratio='1.5'/></actuator></mujoco>";
    Case c;
    if (!case_xml() || !case_good(text, NULL, &c, __LINE__)) return;
    const crModel* model = c.scene.model;
    crArena arena;
    crDynamics d;
    crState state;
    double M[9];
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(model, &arena, &d), CR_OK);
    cr_model_kinematics(model, &state, &d);
    CHECK_STATUS(cr_model_mass_factor(model, 0.0, &d), CR_OK);
    cr_model_mass_dense(model, &d, M);
    static const double kp[] = {50, 20, 30, 8}, ratio[] = {0.7, 1.0, 0.5, 1.5};
    if (CHECK(model->nu == 4 && model->nv == 3)) {
        for (int i = 0; i < 4; i++) {
            const crActuator* a = &model->actuators[i];
            double mass = 0.0;
            for (int k = 0; k < a->dof_count; k++) {
                mass += M[a->dof[k] * 4] / (a->gear[k] * a->gear[k]);
            }
            CHECK_NEAR(-a->bias[2], 2.0 * ratio[i] * sqrt(kp[i] * mass), 1e-12 * sqrt(kp[i] * mass));
        }
    }
    cr_arena_destroy(&arena);
    case_free(&c);
    case_refused(
        "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator><position "
        "joint='j' dampratio='-1'/></actuator></mujoco>",
        CR_ERR_RANGE, 0, 0, "dampratio", __LINE__);
}

#define KEYED(key)                                                                                   \
    "<mujoco><worldbody><body name='a'><freejoint/><geom size='.1'/></body><body name='b' pos='1 2 " \
    "3'><freejoint/><geom "                                                                          \
    "size='.1'/></body></worldbody><keyframe><key name='k' " key "/></keyframe></mujoco>"

TEST(short_keyframes) {
    Case c;
    crImportOptions key = {.key = "k"};
    if (!case_xml()) return;
    if (case_good(KEYED("qpos='5 6 7 1 0 0 0 9' qvel='1 2 3'"), &key, &c, __LINE__)) {
        static const double q[] = {5, 6, 7, 1, 0, 0, 0, 9, 2, 3, 1, 0, 0, 0};
        for (int i = 0; i < 14; i++) {
            CHECK(c.scene.q[i] == q[i]);
        }
        for (int i = 0; i < 12; i++) {
            CHECK(c.scene.v[i] == (i < 3 ? i + 1.0 : 0.0));
        }
        CHECK(case_note(&c, "qvel has 3 of 12 numbers") != NULL);
        case_free(&c);
    }
    case_refused(KEYED("qvel='1 2 3 4 5 6 7 8 9 10 11 12 13'"), CR_ERR_SIZE, 1, 170, "12", __LINE__);
}

TEST(surfaces_of_gazebo) {
    Case c;
    if (!case_xml()) return;
    if (case_good("<sdf version='1.9'><model name='m'><link name='l'><collision "
                  "name='c'><geometry><sphere><radius>.1"
                  "</radius></sphere></geometry><surface><bounce><restitution_coefficient>.5</"
                  "restitution_coefficient>"
                  "<threshold>.1</threshold></bounce><friction><torsional><coefficient>.5</"
                  "coefficient><patch_radius>.02"
                  "</patch_radius></torsional><ode><mu>.7</mu><mu2>.6</mu2><fdir1>0 1 "
                  "0</fdir1></ode><bullet><friction>1"
                  "</friction></bullet></friction><contact><ode><kp>1e6</kp></ode></contact></"
                  "surface><max_contacts>3"
                  "</max_contacts></collision></link></model></sdf>",
                  NULL, &c, __LINE__)) {
        const crSurface* s = &c.scene.model->materials[c.scene.model->shapes[0].material].surface;
        CHECK(s->mu == 0.7 && s->mu2 == 0.6 && s->e == 0.5);
        // a disc pressed evenly but for Hertz's profile: 3 pi/16 mu r N
        CHECK_NEAR(s->mu_spin, 3.0 * CR_PI / 16.0 * 0.5 * 0.02, 1e-17);
        for (int i = 0; i < c.import.note_count; i++) {
            CHECK(c.import.notes[i].level == CR_NOTE_IGNORED);
        }
        case_free(&c);
    }
    if (case_good("<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
                  "izz='1'/></inertial>"
                  "<collision><geometry><box size='1 1 1'/></geometry></collision></link><gazebo "
                  "reference='a'><mu1>.2</mu1>"
                  "<mu2>.4</mu2><fdir1>0 1 0</fdir1><kp>1</kp><selfCollide>true</selfCollide><dampingFactor>0"
                  "</dampingFactor></gazebo></robot>",
                  NULL, &c, __LINE__)) {
        const crSurface* s = &c.scene.model->materials[c.scene.model->shapes[0].material].surface;
        CHECK(s->mu == 0.2 && s->mu2 == 0.4);
        CHECK_VEC(s->axis, cr_vec3(0, 1, 0), 0.0);
        for (int i = 0; i < c.import.note_count; i++) {
            CHECK(c.import.notes[i].level == CR_NOTE_IGNORED);
        }
        case_free(&c);
    }
}

// what a model of the test set may leave out: its name, and words of the warning
static const char* const known[][2] = {
    {"collision_primitive__sphere_cylinder", "<geom> margin"},
    {"core_constraint__jdotv_weld_3d", "<weld>"},
    {"core_constraint__joint_limited_bilateral_margin", "<joint> margin"},
    {"core_constraint__soft_weld", "<weld>"},
    {"core_constraint__tendon_limited_bilateral_margin", "<spatial> margin"},
    {"island__tendon_wrap", "that wraps"},
    {"solver__model", ""}};
static const char* const models[] = {"mjcf/car.xml",
                                     "mjcf/collision_box__boxbox_bad0.xml",
                                     "mjcf/collision_box__boxbox_bad1.xml",
                                     "mjcf/collision_box__boxbox_deep.xml",
                                     "mjcf/collision_box__boxbox_duplicate.xml",
                                     "mjcf/collision_primitive__sphere_cylinder.xml",
                                     "mjcf/collision_primitive__spheres_cylinders.xml",
                                     "mjcf/core_constraint__dofless_contact.xml",
                                     "mjcf/core_constraint__dofless_tendon_frictional.xml",
                                     "mjcf/core_constraint__dofless_tendon_limited.xml",
                                     "mjcf/core_constraint__dofless_tendon_limitedmargin.xml",
                                     "mjcf/core_constraint__dofless_weld.xml",
                                     "mjcf/core_constraint__jdotv_connect_2d.xml",
                                     "mjcf/core_constraint__jdotv_connect_3d.xml",
                                     "mjcf/core_constraint__jdotv_weld_3d.xml",
                                     "mjcf/core_constraint__joint_limited_bilateral_margin.xml",
                                     "mjcf/core_constraint__soft_weld.xml",
                                     "mjcf/core_constraint__surfacevel_conveyor.xml",
                                     "mjcf/core_constraint__surfacevel_turntable.xml",
                                     "mjcf/core_constraint__tendon_limited_bilateral_margin.xml",
                                     "mjcf/dominos.xml",
                                     "mjcf/humanoid.xml",
                                     "mjcf/island__abacus.xml",
                                     "mjcf/island__humanoid.xml",
                                     "mjcf/island__island_efc.xml",
                                     "mjcf/island__tendon_wrap.xml",
                                     "mjcf/newton_cradle.xml",
                                     "mjcf/slider_crank.xml",
                                     "mjcf/solver__humanoid.xml",
                                     "mjcf/solver__model.xml",
                                     "sdf-gz-physics/collision_pair_contact_point.sdf",
                                     "sdf-gz-physics/contact.sdf",
                                     "sdf-gz-physics/falling.world",
                                     "sdf-gz-physics/ground.sdf",
                                     "sdf-gz-physics/multiple_collisions.sdf",
                                     "sdf-gz-physics/pendulum_joint_wrench.sdf",
                                     "sdf-gz-physics/shapes.world",
                                     "sdf-gz-physics/slip_compliance.sdf",
                                     "sdf-gz-physics/sphere.sdf",
                                     "sdf-gz-physics/string_pendulum.sdf",
                                     "contactnets-cube-A/cube.urdf"};

static bool is_known(const char* path, const char* text) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strstr(path, known[i][0]) != NULL && strstr(text, known[i][1]) != NULL) return true;
    }
    return false;
}

TEST(models_of_the_test_set) {
    char buffer[512];
    if (!case_xml()) return;
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        const char* path = test_data(models[m], buffer, sizeof buffer);
        if (path == NULL) {
            test_skip("the data are not there");
            return;
        }
        Case c;
        crStatus status = case_file(path, NULL, &c);
        if (!test_check(status == CR_OK, __FILE__, __LINE__, "%s: %s", path, c.error.message)) continue;
        for (int i = 0; i < c.import.note_count; i++) {
            const crNote* note = &c.import.notes[i];
            test_check(note->level == CR_NOTE_IGNORED || is_known(path, note->text), __FILE__, __LINE__,
                       "%s: %s", path, note->text);
        }
        case_free(&c);
    }
}
