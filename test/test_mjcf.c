// MJCF: poses, chains, defaults, contacts, ties, actuators, keyframes, replicas, notes and refusals.
#include <unistd.h>

#include "carom/dynamics.h"
#include "data.h"
#include "import_case.h"

#define GOOD(text, c)                  case_good((text), NULL, (c), __LINE__)
#define REFUSED(text, status, l, c, w) case_refused((text), (status), (l), (c), (w), __LINE__)
#define BODY(inside)                   "<mujoco><worldbody><body name='b'>" inside "</body></worldbody></mujoco>"

TEST(one_body) {
    Case c;
    if (!case_xml()) return;
    if (!GOOD("<mujoco><option timestep='0.003' gravity='0 1 -2'/><worldbody><body name='left wheel' pos='1 "
              "2 3'"
              " gravcomp='1'><freejoint/><geom size='.5' pos='0 0 1' mass='2'/></body></worldbody></mujoco>",
              &c))
        return;
    const crBody* b = case_body(&c, "left_wheel");
    CHECK(b->joint == CR_JOINT_FREE && c.scene.model->nb == 2 && c.scene.step.dt == 0.003);
    CHECK_VEC(c.scene.model->gravity, cr_vec3(0, 1, -2), 0.0);
    CHECK_NEAR(b->mass, 2.0, 1e-15);
    CHECK_NEAR(b->inertia.xx, 0.4 * 2.0 * 0.25, 1e-15);
    CHECK_VEC(b->com, cr_vec3(0, 0, 1), 0.0);
    CHECK(b->gravity_scale == 0.0);
    CHECK_VEC(case_pose(&c, "left_wheel").p, cr_vec3(1, 2, 3), 0.0);
    CHECK(case_note(&c, "is changed") != NULL);
    case_again(&c, "one body");
    case_free(&c);
}

// a slide and two hinges about different points, at the angles of a keyframe
TEST(chain_of_joints) {
    Case c;
    if (!case_xml()) return;
    crImportOptions options = {.key = "k"};
    const char* text = "<mujoco><compiler angle='radian'/><worldbody><body name='b' pos='0 0 1'>"
                       "<joint name='s' type='slide' axis='1 0 0'/><joint name='h' axis='0 0 1' pos='1 0 0'/>"
                       "<joint axis='0 0 1' pos='1 2 0' ref='0.25'/><geom size='.1'/></body></worldbody>"
                       "<keyframe><key name='other'/><key name='k' qpos='0.5 1.5707963267948966 "
                       "-1.3207963267948966' qvel='1 2 3'/>"
                       "</keyframe></mujoco>";
    if (!case_good(text, &options, &c, __LINE__)) return;
    CHECK(c.scene.model->nv == 3 && c.scene.model->nb == 4);
    CHECK(case_body(&c, "b_s")->mass == 0.0 && case_body(&c, "b_h")->mass == 0.0);
    CHECK(case_body(&c, "b_s")->joint == CR_JOINT_SLIDER && case_body(&c, "b")->joint == CR_JOINT_HINGE);
    // shifted by 0.5; turned by 90 degrees about (1, 0); turned back about its own (1, 2)
    crVec3 anchor = cr_vec3(1, 2, 0);
    crVec3 turned = cr_vec3(0.5 + 1.0 - 2.0, 0.0, 1.0);  // (1, 2) of the body after the first hinge
    crPose pose = case_pose(&c, "b");
    CHECK_VEC(pose.p, turned, 1e-12);
    CHECK_VEC(cr_sub(pose.p, cr_quat_rotate(pose.q, anchor)), cr_vec3(-1.5, -2, 1), 1e-12);
    CHECK_NEAR(c.scene.q[2], -CR_PI / 2.0, 1e-15);
    CHECK(c.scene.v[0] == 1.0 && c.scene.v[1] == 2.0 && c.scene.v[2] == 3.0);
    case_again(&c, "chain");
    case_free(&c);
    options.key = "none";
    CHECK_STATUS(case_text(text, &options, &c), CR_ERR_NAME);
}

TEST(free_keyframe) {
    Case c;
    if (!case_xml()) return;
    crImportOptions options = {.key = "k"};
    // turned by 90 degrees about z: the body's x is the world's y
    if (!case_good(
            "<mujoco><worldbody><body name='b'><freejoint/><geom size='.1' pos='1 0 0'/></body></worldbody>"
            "<keyframe><key name='k' qpos='1 2 3 1 0 0 1' qvel='1 0 0 0 0 2'/></keyframe></mujoco>",
            &options, &c, __LINE__))
        return;
    CHECK_VEC(case_pose(&c, "b").p, cr_vec3(1, 2, 3), 0.0);
    // the centre is at (0, 1) from the origin and turns about it with 2 rad/s
    CHECK_NEAR(c.scene.v[0], 1.0 - 2.0, 1e-15);
    CHECK_NEAR(c.scene.v[1], 0.0, 1e-15);
    CHECK_NEAR(c.scene.v[5], 2.0, 1e-15);
    case_free(&c);
}

TEST(joint_values) {
    Case c;
    if (!case_xml()) return;
    if (!GOOD("<mujoco><default><joint damping='1' armature='.5'/><default class='x'><joint range='-90 45'"
              " stiffness='2' springref='18'/></default><default class='n'><joint "
              "limited='false'/></default></default>"
              "<worldbody><body name='a' childclass='x'><joint name='j' frictionloss='3' ref='9'/><geom "
              "size='.1'/>"
              "</body><body name='s'><joint class='x' type='slide'/><geom size='.1'/></body>"
              "<body name='n'><joint class='n' range='0 1'/><geom size='.1'/></body>"
              "<body name='l' quat='0 1 0 0'><joint type='ball' range='0 90' stiffness='2'/><geom "
              "size='.1'/></body>"
              "</worldbody><actuator><position joint='j' kp='3' kv='2' gear='2'/><motor "
              "joint='j'/></actuator></mujoco>",
              &c))
        return;
    const crDof* a = case_dof(&c, "a");
    double unit = CR_PI / 180.0;
    CHECK_NEAR(a->lower, -99.0 * unit, 1e-15);
    CHECK_NEAR(a->upper, 36.0 * unit, 1e-15);
    // spring 2 about 18 degrees, seen from 9 degrees
    CHECK_NEAR(a->stiffness, 2.0, 1e-15);
    CHECK_NEAR(a->rest, 9.0 * unit, 1e-15);
    CHECK_NEAR(a->damping, 1.0, 1e-15);
    // the servo 3 (ctrl - 2 (q + 9 degrees)) - 2 (2 v), by the name of the joint
    const crModel* model = c.scene.model;
    int servo = cr_model_find_actuator(model, "actuator0"), joint = cr_model_find_joint(model, "j");
    if (CHECK(servo == 0 && joint > 0 && model->nu == 2)) {
        const crActuator* f = &model->actuators[servo];
        CHECK(f->dof_count == 1 && f->dof[0] == model->bodies[joint].v && f->gear[0] == 2.0);
        CHECK(f->gain[0] == 3.0 && f->gain[1] == 0.0 && f->gain[2] == 0.0 && f->bias[1] == -3.0 &&
              f->bias[2] == -2.0);
        CHECK_NEAR(f->bias[0], -3.0 * 2.0 * 9.0 * unit, 1e-15);
    }
    CHECK(a->friction == 3.0 && a->armature == 0.5);
    const crDof* s = case_dof(&c, "s");
    CHECK(s->lower == -90.0 && s->upper == 45.0 && s->rest == 18.0);
    CHECK(isinf(case_dof(&c, "n")->upper));
    const crDof* l = case_dof(&c, "l");
    CHECK_NEAR(l[0].upper, CR_PI / 2.0, 1e-15);
    CHECK(l[2].stiffness == 2.0 && l[1].damping == 1.0 && l[1].armature == 0.5 && isinf(l[1].upper));
    CHECK(case_body(&c, "l_frame")->joint == CR_JOINT_FIXED && c.import.note_count == 0);
    case_again(&c, "joint values");
    case_free(&c);
}

TEST(orientations) {
    Case c;
    if (!case_xml()) return;
    static const char* const attrs[] = {"quat='1 0 0 1'", "axisangle='0 0 2 90'", "euler='0 0 90'",
                                        "xyaxes='0 2 0 -1 3 0'"};
    for (int i = 0; i < 4; i++) {
        char text[300];
        snprintf(
            text, sizeof text,
            "<mujoco><worldbody><body name='b' %s><freejoint/><geom size='1'/></body></worldbody></mujoco>",
            attrs[i]);
        if (!GOOD(text, &c)) continue;
        CHECK_VEC(cr_quat_rotate(case_pose(&c, "b").q, cr_vec3(1, 0, 0)), cr_vec3(0, 1, 0), 1e-15);
        CHECK_VEC(cr_quat_rotate(case_pose(&c, "b").q, cr_vec3(0, 1, 0)), cr_vec3(-1, 0, 0), 1e-15);
        case_free(&c);
    }
    // moving axes x then y, against fixed ones
    static const char* const seqs[] = {"xyz", "XYZ"};
    for (int i = 0; i < 2; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "<mujoco><compiler eulerseq='%s'/><worldbody><body name='b' euler='90 90 0'><freejoint/>"
                 "<geom size='1'/></body><body name='z' zaxis='0 -3 0'><freejoint/><geom "
                 "size='1'/></body></worldbody>"
                 "</mujoco>",
                 seqs[i]);
        if (!GOOD(text, &c)) continue;
        crVec3 z = cr_quat_rotate(case_pose(&c, "b").q, cr_vec3(0, 0, 1));
        CHECK_VEC(z, i == 0 ? cr_vec3(1, 0, 0) : cr_vec3(0, -1, 0), 1e-15);
        CHECK_VEC(cr_quat_rotate(case_pose(&c, "z").q, cr_vec3(0, 0, 1)), cr_vec3(0, -1, 0), 1e-15);
        case_free(&c);
    }
}

static double mu_of(const Case* c, int a, int b) {
    crContactSurface s;
    const crModel* m = c->scene.model;
    if (cr_model_surface(m, m->shapes[a].material, m->shapes[b].material, 0.0, &s) != CR_OK) return -1.0;
    return s.surface.mu;
}

TEST(surfaces) {
    Case c;
    if (!case_xml()) return;
    if (!GOOD("<mujoco><worldbody><geom type='plane' size='1 1 1' friction='.3'/>"
              "<body pos='0 0 9'><freejoint/><geom size='1' friction='.8 .02 .003' condim='6'/></body>"
              "<body pos='3 0 9'><freejoint/><geom size='1' condim='1'/></body>"
              "<body pos='6 0 9'><freejoint/><geom size='1' friction='.1' "
              "priority='2'/></body></worldbody></mujoco>",
              &c))
        return;
    CHECK(mu_of(&c, 0, 1) == 0.8);  // the larger
    CHECK(mu_of(&c, 0, 2) == 1.0);  // condim 3 of the plane, mu 1 of the ball
    CHECK(mu_of(&c, 2, 2) == 0.0);  // condim 1 on both
    CHECK(mu_of(&c, 1, 3) == 0.1);  // the higher priority
    crContactSurface s;
    const crModel* m = c.scene.model;
    CHECK_STATUS(cr_model_surface(m, m->shapes[0].material, m->shapes[1].material, 0.0, &s), CR_OK);
    CHECK(s.surface.mu_spin == 0.02 && s.surface.mu_roll == 0.003 && s.surface.e == 0.0);
    case_again(&c, "surfaces");
    case_free(&c);
}

TEST(who_meets_whom) {
    Case c;
    if (!case_xml()) return;
    // shapes: 0 floor, 1 pedestal, 2 arm on it, 3 hand of two joints, 4 finger fixed to it, 5 free
    if (!GOOD("<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body name='pedestal'>"
              "<geom size='.1'/><body name='arm' pos='9 0 0'><joint/><geom size='.1'/>"
              "<body name='hand' pos='9 0 0'><joint/><joint axis='1 0 0'/><geom size='.1'/>"
              "<body name='finger' pos='9 0 0'><geom size='.1'/></body></body></body></body>"
              "<body name='free' pos='0 9 9'><freejoint/><geom size='.1'/></body></worldbody>"
              "<contact><exclude body1='free' body2='finger'/></contact></mujoco>",
              &c))
        return;
    const crModel* m = c.scene.model;
    static const bool meet[6][6] = {{0, 0, 1, 1, 1, 1}, {0, 0, 1, 1, 1, 1}, {1, 1, 0, 0, 0, 1},
                                    {1, 1, 0, 0, 0, 1}, {1, 1, 0, 0, 0, 0}, {1, 1, 1, 1, 0, 0}};
    for (int i = 0; i < 36; i++) {
        int a = i / 6, b = i % 6;
        bool still = (a < 2 && b < 2);
        test_check(still || cr_model_meet(m, a, b) == meet[a][b], __FILE__, __LINE__, "shapes %d and %d", a,
                   b);
    }
    case_free(&c);
    if (!GOOD("<mujoco><worldbody><geom name='a' size='1' contype='2' conaffinity='4'/>"
              "<body pos='9 0 0'><freejoint/><geom name='b' size='1' contype='4' conaffinity='0'/></body>"
              "<body pos='0 9 0'><freejoint/><geom name='c' size='1' contype='1' conaffinity='1'/></body>"
              "<body pos='0 0 9'><freejoint/><geom name='d' size='1' contype='0' "
              "conaffinity='0'/></body></worldbody>"
              "<contact><pair geom1='d' geom2='c' friction='.25' condim='3'/></contact></mujoco>",
              &c))
        return;
    m = c.scene.model;
    CHECK(cr_model_meet(m, 0, 1) && !cr_model_meet(m, 0, 2) && !cr_model_meet(m, 1, 2));
    CHECK(cr_model_meet(m, 2, 3) && !cr_model_meet(m, 0, 3) && !cr_model_meet(m, 1, 3));
    CHECK(mu_of(&c, 2, 3) == 0.25);
    case_again(&c, "pairs");
    case_free(&c);
    if (!GOOD(
            "<mujoco><option><flag contact='disable' gravity='disable'/></option><worldbody><geom size='1'/>"
            "<body><freejoint/><geom size='1'/></body></worldbody></mujoco>",
            &c))
        return;
    CHECK(!cr_model_meet(c.scene.model, 0, 1) && c.scene.overlap_count == 0 &&
          c.scene.model->gravity.z == 0.0);
    case_free(&c);
}

TEST(equalities) {
    Case c;
    if (!case_xml()) return;
    if (!GOOD("<mujoco><worldbody><site name='w' pos='0 0 5'/><body name='a' pos='1 0 0'><freejoint/><geom "
              "size='.1'/>"
              "</body><body name='b' pos='3 0 0' euler='0 0 90'><freejoint/><geom size='.1'/><site name='s' "
              "pos='0 0 5'/>"
              "</body><body name='h'><joint name='h'/><geom size='.1' pos='1 0 0'/></body><body name='k'>"
              "<joint name='k' type='slide'/><geom size='.1'/></body><body name='still'><geom "
              "size='.1'/></body>"
              "</worldbody><equality><connect body1='a' body2='b' anchor='1 0 0'/><weld body1='a' body2='b'/>"
              "<joint joint1='h' joint2='k' polycoef='0 2'/><joint joint1='k'/><weld body1='still'/>"
              "<connect body1='a' anchor='0 0 0' active='false'/></equality></mujoco>",
              &c))
        return;
    const crModel* m = c.scene.model;
    CHECK(m->loop_count == 4 && case_note(&c, "do not move") != NULL &&
          case_note(&c, "switched off") != NULL);
    CHECK_VEC(m->loops[0].pose_b.p, cr_vec3(0, 1, 0), 1e-15);
    CHECK_VEC(m->loops[1].pose_a.p, cr_vec3(2, 0, 0), 1e-15);
    CHECK(m->loops[2].kind == CR_LOOP_JOINT && m->loops[2].coef[1] == 2.0 && m->loops[3].b == CR_WORLD);
    // all hold at the start
    CHECK_VEC(case_pose(&c, "a").p, cr_vec3(1, 0, 0), 1e-12);
    case_again(&c, "equalities");
    case_steps(&c, "equalities", 50);
    case_free(&c);
    if (!GOOD("<mujoco><worldbody><site name='w' pos='1 2 3'/><body name='b'><freejoint/><geom size='.1'/>"
              "<site name='s' pos='0 0 1'/></body></worldbody><equality><connect site1='w' "
              "site2='s'/></equality>"
              "</mujoco>",
              &c))
        return;
    crPose pose = case_pose(&c, "b");
    CHECK_VEC(cr_pose_point(pose, cr_vec3(0, 0, 1)), cr_vec3(1, 2, 3), 1e-9);
    case_free(&c);
}

TEST(frames_and_replicas) {
    Case c;
    if (!case_xml()) return;
    if (!GOOD("<mujoco><worldbody><frame pos='1 0 0' euler='0 0 90'><frame pos='1 0 0'>"
              "<body name='f' pos='1 0 0'><freejoint/><geom size='.1'/></body></frame></frame>"
              "<replicate count='12' offset='0 0 1' euler='0 0 90' sep='-'><body name='r' pos='1 0 "
              "0'><freejoint/>"
              "<geom name='g' size='.1'/></body></replicate></worldbody></mujoco>",
              &c))
        return;
    CHECK_VEC(case_pose(&c, "f").p, cr_vec3(1, 2, 0), 1e-14);
    CHECK_VEC(case_pose(&c, "r-00").p, cr_vec3(1, 0, 0), 0.0);
    CHECK_VEC(case_pose(&c, "r-01").p, cr_vec3(0, 1, 1), 1e-14);
    CHECK_VEC(case_pose(&c, "r-11").p, cr_vec3(0, -1, 11), 1e-13);
    CHECK(c.scene.model->nb == 14);
    case_free(&c);
}

// long names are cut between characters, and stay different
TEST(long_names) {
    Case c;
    char text[700], name[200] = "";
    if (!case_xml()) return;
    for (int i = 0; i < 60; i++) {
        strcat(name, i == 0 ? "x" : "\xc3\xa4");
    }
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body name='%s'><freejoint/><geom size='1'/></body>"
             "<body name='%s2' pos='9 0 0'><freejoint/><geom size='1'/></body></worldbody></mujoco>",
             name, name);
    if (!GOOD(text, &c)) return;
    const char* first = c.scene.model->bodies[1].name;
    CHECK(strlen(first) % 2 == 1 && strlen(first) < 64 && strncmp(first, name, strlen(first)) == 0);
    CHECK(strcmp(first, c.scene.model->bodies[2].name) != 0);
    case_again(&c, "long names");
    case_free(&c);
}

TEST(height_field) {
    Case c;
    if (!case_xml()) return;
    // rows are written from the largest y down; heights are scaled to 0..1, times 2
    if (!GOOD("<mujoco><asset><hfield name='h' nrow='2' ncol='3' size='3 1 2 1' elevation='5 5 9 1 1 "
              "1'/></asset>"
              "<worldbody><geom type='hfield' hfield='h' pos='10 0 1'/></worldbody></mujoco>",
              &c))
        return;
    const crShape* s = &c.scene.model->shapes[0].shape;
    crRayHit hit;
    CHECK(cr_ray(s, cr_pose_identity(), cr_vec3(12.999999, 0.999999, 9), cr_vec3(0, 0, -1), 20.0, &hit));
    CHECK_NEAR(9.0 - hit.t, 3.0, 1e-5);
    CHECK(cr_ray(s, cr_pose_identity(), cr_vec3(7.5, -0.999999, 9), cr_vec3(0, 0, -1), 20.0, &hit));
    CHECK_NEAR(9.0 - hit.t, 1.0, 1e-5);
    case_free(&c);
}

TEST(notes) {
    Case c;
    if (!case_xml()) return;
    if (!GOOD("<mujoco>\n<visual/>\n<worldbody>\n<light/><light/>\n<geom size='1' margin='1' rgba='1 1 1 "
              "1'/>\n"
              "<geom size='1'\n  margin='1' surfacevel='1 0 0'/>\n</worldbody>\n<tendon><spatial/></tendon>\n"
              "<composite/>\n</mujoco>",
              &c))
        return;
    const crNote* note = case_note(&c, "margin");
    if (CHECK(note != NULL)) {
        CHECK(note->level == CR_NOTE_UNSUPPORTED && note->count == 2 && note->line == 5 &&
              note->column == 16);
        CHECK_TEXT(note->text,
                   "<geom> margin is not supported: what it widens begins to act at zero distance");
    }
    // read, so not noted: a surface that moves, a colour
    CHECK(case_note(&c, "surfacevel") == NULL && case_note(&c, "rgba") == NULL);
    note = case_note(&c, "light");
    CHECK(note != NULL && note->count == 2 && note->level == CR_NOTE_IGNORED);
    CHECK(case_note(&c, "<spatial> in") == NULL && case_note(&c, "<composite> in <mujoco>") != NULL);
    CHECK(c.import.note_count == 4);
    case_free(&c);
}

#define TENDON_BODIES                                                                                       \
    "<worldbody><site name='o' pos='0 0 2'/><body name='a'><joint name='x' type='slide'/><geom size='.1'/>" \
    "<body name='b'><joint name='y'/><geom size='.1'/><body name='c'><joint name='z' range='-60 60'/>"      \
    "<geom size='.1'/><site name='s' pos='.1 0 0'/></body></body></body><body name='ball'><joint name='w' " \
    "type='ball'/><geom size='.1'/></body></worldbody>"
#define TENDON(inside) "<mujoco>" TENDON_BODIES "<tendon>" inside "</tendon></mujoco>"

TEST(tendons) {
    Case c;
    if (!case_xml()) return;
    if (!GOOD(TENDON("<fixed range='-1 2' frictionloss='.5'><joint joint='z' coef='-2'/></fixed>"
                     "<fixed range='-1 2'><joint joint='x' coef='-4'/><joint joint='y' coef='1'/></fixed>"
                     "<spatial range='-1 2'><site site='o'/><site site='s'/></spatial>"
                     "<fixed><joint joint='x'/><joint joint='y'/><joint joint='z'/></fixed>"),
              &c))
        return;
    // -2 q within -1 and 2, and q within 60 degrees
    CHECK_NEAR(case_dof(&c, "c")->lower, -1.0, 1e-15);
    CHECK_NEAR(case_dof(&c, "c")->upper, 0.5, 1e-15);
    CHECK(case_dof(&c, "c")->friction == 1.0);
    const crLoop* loops = c.scene.model->loops;
    if (CHECK(c.scene.model->loop_count == 2)) {
        // q_x = q_y / 4 + r with -4 r from -1 to 2
        CHECK(loops[0].kind == CR_LOOP_JOINT && loops[0].coef[1] == 0.25);
        CHECK(loops[0].lower == -0.5 && loops[0].upper == 0.25);
        CHECK(loops[1].kind == CR_LOOP_DISTANCE && loops[1].lower == 0.0 && loops[1].upper == 2.0);
        CHECK_VEC(loops[1].pose_a.p, cr_vec3(0, 0, 2), 0.0);
    }
    CHECK(c.import.note_count == 0);
    case_again(&c, "tendons");
    case_steps(&c, "tendons", 20);
    case_free(&c);
}

TEST(tendons_and_actuators_left_out) {
    static const struct {
        const char* text;
        const char* note;
    } cases[] = {
        {TENDON("<fixed range='0 1'><joint joint='x'/><joint joint='y'/><joint joint='z'/></fixed>"),
         "more than two joints"},
        {TENDON("<fixed frictionloss='1'><joint joint='x'/><joint joint='y'/></fixed>"),
         "with dry friction along several joints"},
        {TENDON("<spatial frictionloss='1'><site site='o'/><site site='s'/></spatial>"), "with dry friction"},
        {TENDON("<spatial range='0 1'><site site='o'/><geom geom='g'/><site site='s'/></spatial>"),
         "that wraps"},
        {TENDON("<spatial range='0 1'><site site='o'/><pulley divisor='2'/><site site='s'/><site "
                "site='o'/></spatial>"),
         "limits over more than two sites"},
        {TENDON("<spatial name='t'><site site='o'/><geom geom='g'/><site "
                "site='s'/></spatial></tendon><actuator><position tendon='t'/></actuator><tendon>"),
         "along a tendon that wraps"},
        {TENDON("</tendon><actuator><adhesion body='g'/></actuator><tendon>"), "<adhesion> of this kind"},
        {TENDON("</tendon><actuator><motor body='g'/></actuator><tendon>"), "on a body"},
        {TENDON("</tendon><actuator><muscle joint='x'/></actuator><tendon>"), "<muscle> of this kind"},
        {TENDON("</tendon><actuator><general joint='x' biastype='muscle'/></actuator><tendon>"),
         "of this kind"},
        {TENDON("</tendon><actuator><general joint='x' dyntype='user'/></actuator><tendon>"),
         "of this kind"}};
    if (!case_xml()) return;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Case c;
        if (!GOOD(cases[i].text, &c)) continue;
        const crNote* note = case_note(&c, cases[i].note);
        test_check(note != NULL && note->level == CR_NOTE_UNSUPPORTED && note->line == 1, __FILE__, __LINE__,
                   "%s", cases[i].note);
        case_free(&c);
    }
    REFUSED(TENDON("<fixed><joint joint='q'/></fixed>"), CR_ERR_NAME, 0, 0, "\"q\"");
    REFUSED(TENDON("<fixed><joint joint='w'/></fixed>"), CR_ERR_NAME, 0, 0, "hinge or a slide");
    REFUSED(TENDON("<fixed range='2 1'><joint joint='x'/></fixed>"), CR_ERR_RANGE, 0, 0, "2 to 1");
    REFUSED(TENDON("<spatial range='0 1'><site site='o'/><site site='q'/></spatial>"), CR_ERR_NAME, 0, 0,
            "\"q\"");
    REFUSED(TENDON("</tendon><actuator><motor tendon='q'/></actuator><tendon>"), CR_ERR_NAME, 0, 0, "\"q\"");
    REFUSED(TENDON("</tendon><actuator><motor site='q'/></actuator><tendon>"), CR_ERR_NAME, 0, 0, "\"q\"");
    REFUSED(TENDON("</tendon><actuator><motor site='s' refsite='q'/></actuator><tendon>"), CR_ERR_NAME, 0, 0,
            "\"q\"");
    REFUSED(TENDON("</tendon><actuator><motor cranksite='s' slidersite='o'/></actuator><tendon>"),
            CR_ERR_RANGE, 0, 0, "cranklength");
    REFUSED(TENDON("<spatial><site site='o'/><pulley divisor='0'/><site site='s'/></spatial>"), CR_ERR_RANGE,
            0, 0, "divisor");
    REFUSED(TENDON("</tendon><actuator><motor joint='x' ctrlrange='2 1'/></actuator><tendon>"), CR_ERR_RANGE,
            0, 0, "2 to 1");
}

// what is no element of MJCF is an error with the nearest one; what is and is not understood is a note
TEST(outside_the_schema) {
    Case c;
    if (!case_xml()) return;
    REFUSED("<mujoco><worldbody><body><freejiont/><geom size='1'/></body></worldbody></mujoco>", CR_ERR_NAME,
            1, 26, "did you mean <freejoint>?");
    REFUSED("<mujoco><wrldbody/></mujoco>", CR_ERR_NAME, 1, 9, "did you mean <worldbody>?");
    if (GOOD("<mujoco xmlns:xi='x'><worldbody><body><composite type='grid'/><freejoint/><geom "
             "size='1'/></body></worldbody></mujoco>",
             &c)) {
        CHECK(case_note(&c, "xmlns") == NULL && case_note(&c, "<composite>")->level == CR_NOTE_UNSUPPORTED);
        case_free(&c);
    }
}

// five strings of replicas: each ball keeps its distance from the nail above it
TEST(tendons_of_replicas) {
    Case c;
    if (!case_xml()) return;
    if (!GOOD("<mujoco><worldbody><replicate count='5' offset='1 0 0'><site name='a' pos='0 0 2'/><body "
              "name='b' "
              "pos='0 0 1'><freejoint/><geom size='.1'/><site name='d'/></body></replicate><site name='top' "
              "pos='0 0 "
              "9'/></worldbody><tendon><spatial range='0 1.5'><site site='a'/><site site='d'/></spatial>"
              "<spatial range='0 50'><site site='top'/><site site='d'/></spatial></tendon></mujoco>",
              &c))
        return;
    CHECK(c.scene.model->loop_count == 10);
    for (int i = 0; i < 5 && c.scene.model->loop_count == 10; i++) {
        const crLoop* string = &c.scene.model->loops[i];
        CHECK_VEC(string->pose_a.p, cr_vec3(i, 0, 2), 1e-15);
        CHECK(string->b == i + 1 && string->upper == 1.5);
        CHECK(c.scene.model->loops[5 + i].b == i + 1 && c.scene.model->loops[5 + i].pose_a.p.z == 9.0);
    }
    case_again(&c, "replicas");
    case_steps(&c, "replicas", 300);
    case_free(&c);
}

TEST(refusals) {
    if (!case_xml()) return;
    REFUSED("<other/>", CR_ERR_NAME, 1, 1, "no model");
    REFUSED("<mujoco", CR_ERR_SYNTAX, 1, 1, "");
    REFUSED("<mujoco><compiler angle='grad'/></mujoco>", CR_ERR_NAME, 1, 19, "grad");
    REFUSED("<mujoco><compiler eulerseq='xy'/></mujoco>", CR_ERR_NAME, 1, 19, "xyzXYZ");
    REFUSED("<mujoco><compiler coordinate='global'/></mujoco>", CR_ERR_NAME, 1, 19, "global");
    REFUSED("<mujoco><option gravity='1 2'/></mujoco>", CR_ERR_SIZE, 1, 17, "needs 3");
    REFUSED("<mujoco><option gravity='1 2 3 4'/></mujoco>", CR_ERR_SIZE, 1, 17, "more than 3");
    REFUSED("<mujoco><option gravity='1 x 3'/></mujoco>", CR_ERR_TYPE, 1, 17, "\"x\"");
    REFUSED("<mujoco><option gravity='1 nan 3'/></mujoco>", CR_ERR_FINITE, 1, 17, "nan");
    REFUSED("<mujoco><default><default/></default></mujoco>", CR_ERR_MISSING, 1, 18, "class");
    REFUSED("<mujoco><include file='x'/></mujoco>", CR_ERR_FILE, 1, 9, "memory");
    REFUSED("<mujoco><worldbody><joint/></worldbody></mujoco>", CR_ERR_RANGE, 1, 20, "world");
    REFUSED("<mujoco><worldbody><geom class='x'/></worldbody></mujoco>", CR_ERR_NAME, 1, 26, "\"x\"");
    REFUSED("<mujoco><worldbody><body childclass='x'/></worldbody></mujoco>", CR_ERR_NAME, 1, 26, "\"x\"");
    REFUSED("<mujoco><worldbody><replicate count='0'/></worldbody></mujoco>", CR_ERR_RANGE, 1, 31, "0");
    REFUSED(
        "<mujoco><worldbody><replicate count='99999'><replicate count='99999'><site/></replicate></replicate>"
        "</worldbody></mujoco>",
        CR_ERR_LIMIT, 1, 70, "200000");
    REFUSED(BODY("<geom/>"), CR_ERR_RANGE, 1, 35, "above 0");
    REFUSED(BODY("<geom type='box' size='1 1'/>"), CR_ERR_RANGE, 1, 52, "3 numbers");
    REFUSED(BODY("<geom type='blob'/>"), CR_ERR_NAME, 1, 41, "blob");
    REFUSED(BODY("<geom type='mesh' mesh='x'/>"), CR_ERR_NAME, 1, 53, "\"x\"");
    REFUSED(BODY("<geom type='hfield' hfield='x'/>"), CR_ERR_NAME, 1, 55, "\"x\"");
    REFUSED(BODY("<geom size='1' mesh='x'/>"), CR_ERR_FIELD, 1, 35, "fitted");
    REFUSED(BODY("<geom size='1' mass='-1'/>"), CR_ERR_RANGE, 1, 50, "negative");
    REFUSED(BODY("<geom size='1' condim='2'/>"), CR_ERR_RANGE, 1, 50, "condim");
    REFUSED(BODY("<geom size='1' contype='.5'/>"), CR_ERR_RANGE, 1, 35, "32 bits");
    REFUSED(BODY("<geom size='1' friction='-1'/>"), CR_ERR_RANGE, 1, 50, "negative");
    REFUSED(BODY("<joint axis='0 0 0'/>"), CR_ERR_UNIT, 1, 42, "zero");
    REFUSED(BODY("<joint type='screw'/>"), CR_ERR_NAME, 1, 42, "screw");
    REFUSED(BODY("<body><freejoint/></body>"), CR_ERR_RANGE, 1, 41, "child of the world");
    REFUSED(BODY("<inertial pos='0 0 0' diaginertia='1 1 1'/>"), CR_ERR_MISSING, 1, 35, "mass");
    REFUSED(BODY("<inertial pos='0 0 0' mass='1'/>"), CR_ERR_MISSING, 1, 35, "diaginertia");
    REFUSED("<mujoco><worldbody><body quat='0 0 0 0'/></worldbody></mujoco>", CR_ERR_UNIT, 1, 26, "zero");
    REFUSED("<mujoco><worldbody><body xyaxes='1 0 0 2 0 0'/></worldbody></mujoco>", CR_ERR_UNIT, 1, 26,
            "parallel");
    // refused by the scene reader, at the place of the element
    REFUSED(BODY("<freejoint/>"), CR_ERR_DEFINITE, 0, 0, "mass");
    REFUSED("<mujoco><worldbody>\n<body><freejoint/><inertial mass='1' diaginertia='1 1 "
            "9'/></body></worldbody></mujoco>",
            CR_ERR_REGION, 2, 1, "sum of the other two");
    REFUSED("<mujoco><worldbody><body><freejoint/>\n <geom type='plane' size='1 1 "
            "1'/></body></worldbody></mujoco>",
            CR_ERR_RANGE, 0, 0, "");
    REFUSED("<mujoco><contact><exclude body1='a' body2='b'/></contact></mujoco>", CR_ERR_NAME, 1, 27,
            "\"a\"");
    REFUSED("<mujoco><contact><exclude body1='world'/></contact></mujoco>", CR_ERR_MISSING, 1, 18, "body2");
    REFUSED("<mujoco><contact><pair geom1='a' geom2='b'/></contact></mujoco>", CR_ERR_NAME, 1, 24, "\"a\"");
    REFUSED("<mujoco><equality><weld body1='a'/></equality></mujoco>", CR_ERR_NAME, 1, 25, "\"a\"");
    REFUSED("<mujoco><equality><connect site1='a' site2='b'/></equality></mujoco>", CR_ERR_NAME, 1, 28,
            "\"a\"");
    REFUSED("<mujoco><equality><joint joint1='a'/></equality></mujoco>", CR_ERR_NAME, 1, 26, "\"a\"");
    REFUSED("<mujoco><actuator><motor joint='a'/></actuator></mujoco>", CR_ERR_NAME, 1, 26, "\"a\"");
    REFUSED("<mujoco><asset><mesh name='m'/></asset></mujoco>", CR_ERR_MISSING, 1, 16, "vertex");
    REFUSED("<mujoco><asset><mesh vertex='0 0 0 1'/></asset></mujoco>", CR_ERR_SIZE, 1, 22, "threes");
    REFUSED("<mujoco><asset><mesh vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 4'/></asset></mujoco>",
            CR_ERR_RANGE, 1, 55, "vertex");
    REFUSED("<mujoco><asset><mesh vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 1 2 0 3 1 0 2 3 1 3 "
            "2'/></asset></mujoco>",
            CR_ERR_RANGE, 1, 16, "outward");
    REFUSED("<mujoco><asset><hfield name='h' nrow='1' ncol='2' size='1 1 1 1'/></asset></mujoco>",
            CR_ERR_RANGE, 1, 16, "nrow");
    REFUSED("<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='0 1 1 1'/></asset></mujoco>",
            CR_ERR_RANGE, 1, 51, "above 0");
}

static void write_file(const char* path, const void* bytes, size_t size) {
    FILE* file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return;
    fwrite(bytes, 1, size, file);
    fclose(file);
}

// a tetrahedron of volume 1/6 as text STL, binary STL and OBJ
static size_t binary_stl(unsigned char* to) {
    static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memset(to, 0, 84 + 200);
    to[80] = 4;
    for (int i = 0; i < 12; i++) {
        memcpy(to + 84 + 50 * (i / 3) + 12 + 12 * (i % 3), corner[faces[i / 3][i % 3]], 12);
    }
    return 284;
}

TEST(meshes_and_includes) {
    if (!case_xml()) return;
    char folder[] = "/tmp/carom-mjcf-XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    char path[4][128];
    static const char* const names[] = {"m.stl", "m.obj", "inner.xml", "model.xml"};
    for (int i = 0; i < 4; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
    }
    unsigned char stl[300];
    static const char* const obj =
        "# c\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1//1 3//1 2//1\nf 1 2 4\n"
        "f -4 -1 -2\nf 2 3 4\n";
    static const char* const inner = "<mujocoinclude><body name='i' pos='9 0 0'><freejoint/>"
                                     "<geom type='mesh' mesh='o' density='6'/></body></mujocoinclude>";
    static const char* const model =
        "<mujoco><asset><mesh file='m.stl' scale='1 2 3'/><mesh name='o' file='m.obj'/></asset><worldbody>"
        "<body name='b'><freejoint/><geom type='mesh' mesh='m' density='1'/></body><include "
        "file='inner.xml'/>"
        "</worldbody></mujoco>";
    write_file(path[0], stl, binary_stl(stl));
    write_file(path[1], obj, strlen(obj));
    write_file(path[2], inner, strlen(inner));
    write_file(path[3], model, strlen(model));
    Case c;
    crStatus status = case_file(path[3], NULL, &c);
    if (test_check(status == CR_OK, __FILE__, __LINE__, "%s", c.error.message)) {
        const crBody* b = case_body(&c, "b");
        CHECK_NEAR(b->mass, 1.0, 1e-15);
        CHECK_VEC(b->com, cr_vec3(0.25, 0.5, 0.75), 1e-15);
        // of a corner tetrahedron with legs l: m (3/80) (l_y^2 + l_z^2)
        CHECK_NEAR(b->inertia.xx, 3.0 / 80.0 * (4.0 + 9.0), 1e-15);
        CHECK_NEAR(b->inertia.xy, 2.0 / 80.0, 1e-15);
        CHECK_NEAR(case_body(&c, "i")->mass, 1.0, 1e-15);
        case_again(&c, "meshes");
        case_free(&c);
    }
    // each file spoiled in turn is refused by its name
    struct {
        int file;
        const char* text;
        crStatus status;
        const char* word;
    } bad[] = {{0, "solid x vertex 0 0 0", CR_ERR_SYNTAX, "m.stl"},
               {0, "solid x vertex 0 0 0 vertex 1 x 0 vertex 0 0 1", CR_ERR_SYNTAX, "m.stl"},
               {0, "short", CR_ERR_SYNTAX, "m.stl"},
               {0, "", CR_ERR_SYNTAX, "m.stl"},
               {1, "v 0 0\n", CR_ERR_SYNTAX, "m.obj"},
               {1, "v 0 0 0\nf 1 2 3\n", CR_ERR_RANGE, "m.obj"},
               {1, "v 0 0 0\nf 1 1\n", CR_ERR_SIZE, "m.obj"},
               {1, "v 0 0 0\nv 1 0 0\n", CR_ERR_SIZE, "m.obj"},
               {1, "v 0 0 inf\nv 1 0 0\nv 1 0 0\nv 0 0 1", CR_ERR_FINITE, "m.obj"},
               {2, "<x>", CR_ERR_SYNTAX, "inner.xml"},
               {2, "<x><include file='inner.xml'/></x>", CR_ERR_LIMIT, "files"},
               {2, "<x><geom size='-1'/></x>", CR_ERR_RANGE, "inner.xml"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char* texts[] = {NULL, obj, inner};
        write_file(path[bad[i].file], bad[i].text, strlen(bad[i].text));
        status = case_file(path[3], NULL, &c);
        test_check(status == bad[i].status && strstr(c.error.message, bad[i].word) != NULL, __FILE__,
                   __LINE__, "%s: %s %s", bad[i].text, cr_status_name(status), c.error.message);
        if (bad[i].file == 0) {
            write_file(path[0], stl, binary_stl(stl));
        } else {
            write_file(path[bad[i].file], texts[bad[i].file], strlen(texts[bad[i].file]));
        }
    }
    static const char* const text_stl =
        "solid t\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 "
        "0\nendloop\nendfacet\n"
        "facet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nfacet\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\n"
        "facet\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendsolid t\n";
    write_file(path[0], text_stl, strlen(text_stl));
    if (CHECK(case_file(path[3], NULL, &c) == CR_OK)) {
        CHECK_NEAR(case_body(&c, "b")->mass, 1.0, 1e-15);
        case_free(&c);
    }
    remove(path[1]);
    CHECK_STATUS(case_file(path[3], NULL, &c), CR_ERR_FILE);
    for (int i = 0; i < 4; i++) {
        remove(path[i]);
    }
    rmdir(folder);
    CHECK_STATUS(case_file(path[3], NULL, &c), CR_ERR_FILE);
}

TEST(files_of_others) {
    static const struct {
        const char* name;
        int nv, unsupported;  // kinds of things that act and are left out
    } files[] = {{"car", 8, 0},
                 {"humanoid", 27, 0},
                 {"dominos", 576, 0},
                 {"newton_cradle", 42, 0},
                 {"slider_crank", 3, 0},
                 {"island__island_efc", 20, 0},
                 {"solver__model", 43, 9},
                 {"island__abacus", 4, 0}};
    if (!case_xml()) return;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char relative[64];
        snprintf(relative, sizeof relative, "mjcf/%s.xml", files[i].name);
        if (!case_data(relative, files[i].nv, files[i].unsupported, 5)) return;
    }
}

// the same tetrahedron as MuJoCo's own MSH, with a normal and texture coordinates that are skipped
TEST(msh) {
    if (!case_xml()) return;
    char folder[] = "/tmp/carom-mjcf-XXXXXX", mesh[128], model[128];
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    snprintf(mesh, sizeof mesh, "%s/m.msh", folder);
    snprintf(model, sizeof model, "%s/model.xml", folder);
    static const char* const text =
        "<mujoco><asset><mesh file='m.msh' scale='1 2 3'/></asset><worldbody><body name='b'><freejoint/>"
        "<geom type='mesh' mesh='m' density='1'/></body></worldbody></mujoco>";
    int32_t words[4 + 12 + 3 + 8 + 12] = {4, 1, 4, 4};
    static const float corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int32_t faces[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    memcpy(words + 4, corners, sizeof corners);
    memcpy(words + 27, faces, sizeof faces);
    write_file(model, text, strlen(text));
    write_file(mesh, (const char*)words, sizeof words);
    Case c;
    crStatus status = case_file(model, NULL, &c);
    if (test_check(status == CR_OK, __FILE__, __LINE__, "%s", c.error.message)) {
        CHECK_NEAR(case_body(&c, "b")->mass, 1.0, 1e-15);
        CHECK_VEC(case_body(&c, "b")->com, cr_vec3(0.25, 0.5, 0.75), 1e-15);
        case_free(&c);
    }
    write_file(mesh, (const char*)words, sizeof words - 4);
    CHECK_STATUS(case_file(model, NULL, &c), CR_ERR_SYNTAX);
    words[27] = 4;
    write_file(mesh, (const char*)words, sizeof words);
    CHECK_STATUS(case_file(model, NULL, &c), CR_ERR_RANGE);
    words[0] = -1;
    write_file(mesh, (const char*)words, sizeof words);
    CHECK_STATUS(case_file(model, NULL, &c), CR_ERR_SYNTAX);
    remove(mesh);
    remove(model);
    rmdir(folder);
}
