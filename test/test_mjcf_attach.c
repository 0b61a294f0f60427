// <attach>: a model put together of others is the scene of the same model written by hand, byte by byte.
#include <unistd.h>

#include "import_case.h"
#include "io/json.h"

static const char* const arm =
    "<mujoco><compiler angle='radian' meshdir='shapes'/><asset><mesh file='m.obj'/></asset>"
    "<default><geom density='500'/><joint damping='0.25'/><default class='thin'><geom size='0.01'/></default>"
    "</default><worldbody><body name='rail'><joint name='slide' type='slide' axis='1 0 0'/>"
    "<geom type='box' size='0.1 0.1 0.1'/></body>"
    "<body name='upper' pos='0 0 1'><joint name='hip' axis='0 1 0'/><geom type='mesh' mesh='m'/>"
    "<body name='lower' pos='0 0 -1'><joint name='knee' axis='0 1 0'/>"
    "<geom name='bone' class='thin' type='capsule' fromto='0 0 0 0 0 -1'/><site name='foot' pos='0 0 "
    "-1'/></body></body>"
    "</worldbody>"
    "<tendon><fixed name='both'><joint joint='hip' coef='1'/><joint joint='knee' coef='-1'/></fixed>"
    "<fixed name='gone'><joint joint='slide' coef='1'/></fixed></tendon>"
    "<contact><exclude body1='upper' body2='lower'/><exclude body1='rail' body2='lower'/></contact>"
    "<actuator><motor name='m' joint='knee' gear='3'/><position name='t' tendon='both' kp='4'/>"
    "<motor name='out' joint='slide'/><motor name='away' tendon='gone'/></actuator>"
    "<sensor><jointpos name='q' joint='hip'/><framepos name='f' objtype='site' objname='foot'/>"
    "<actuatorfrc name='s' actuator='out'/></sensor></mujoco>";

// the arm in the middle of another model, whose own defaults must not reach it
static const char* const carrier =
    "<mujoco><compiler angle='radian'/><default><geom density='9999'/><joint armature='7'/></default>"
    "<asset><model name='arm' file='parts/arm.xml'/></asset><worldbody><body name='cart'><freejoint/>"
    "<geom type='sphere' size='0.2'/><frame pos='0 1 0'><attach model='arm' body='upper' "
    "prefix='l_'/></frame>"
    "<frame pos='0 -1 0'><attach model='arm' body='upper' prefix='r_'/></frame></body></worldbody></mujoco>";

#define SIDE(p, y)                                                                              \
    "<body name='" p "upper' pos='0 " y " 1'><joint name='" p "hip' axis='0 1 0' class='own'/>" \
    "<geom type='mesh' mesh='m' class='own'/><body name='" p "lower' pos='0 0 -1'>"             \
    "<joint name='" p "knee' axis='0 1 0' class='own'/><geom name='" p                          \
    "bone' class='own' size='0.01' type='capsule' fromto='0 0 0 0 0 -1'/>"                      \
    "<site name='" p "foot' pos='0 0 -1'/></body></body>"
#define TENDON(p) \
    "<fixed name='" p "both'><joint joint='" p "hip' coef='1'/><joint joint='" p "knee' coef='-1'/></fixed>"
#define ACTUATOR(p)                                                                                   \
    "<motor name='" p "m' joint='" p "knee' gear='3' class='own'/><position name='" p "t' tendon='" p \
    "both' kp='4' class='own'/>"
#define SENSOR(p) \
    "<jointpos name='" p "q' joint='" p "hip'/><framepos name='" p "f' objtype='site' objname='" p "foot'/>"
#define EXCLUDE(p) "<exclude body1='" p "upper' body2='" p "lower'/>"

static const char* const by_hand =
    "<mujoco><compiler angle='radian'/><asset><mesh name='m' file='parts/shapes/m.obj'/></asset><default>"
    "<default class='own'><geom density='500'/><joint damping='0.25'/></default></default>"
    "<worldbody><body name='cart'><freejoint/><geom type='sphere' size='0.2' density='9999'/>" SIDE("l_", "1")
        SIDE("r_", "-1") "</body></worldbody><tendon>" TENDON("l_")
            TENDON("r_") "</tendon><contact>" EXCLUDE("l_")
                EXCLUDE("r_") "</contact><actuator>" ACTUATOR("l_")
                    ACTUATOR("r_") "</actuator><sensor>" SENSOR("l_") SENSOR("r_") "</sensor></mujoco>";

static const char* const obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static void write_text(const char* path, const char* text) {
    FILE* file = fopen(path, "w");
    if (!CHECK(file != NULL)) return;
    fputs(text, file);
    fclose(file);
}

typedef struct Place {
    char folder[32], parts[64], shapes[64], arm[64], mesh[64], model[64];
} Place;

static bool make_place(Place* p) {
    *p = (Place){.folder = "/tmp/carom-attach-XXXXXX"};
    if (!CHECK(mkdtemp(p->folder) != NULL)) return false;
    snprintf(p->parts, sizeof p->parts, "%s/parts", p->folder);
    snprintf(p->shapes, sizeof p->shapes, "%s/parts/shapes", p->folder);
    snprintf(p->arm, sizeof p->arm, "%s/parts/arm.xml", p->folder);
    snprintf(p->mesh, sizeof p->mesh, "%s/parts/shapes/m.obj", p->folder);
    snprintf(p->model, sizeof p->model, "%s/model.xml", p->folder);
    char command[256];
    snprintf(command, sizeof command, "mkdir -p %s", p->shapes);
    if (!CHECK(system(command) == 0)) return false;
    write_text(p->arm, arm);
    write_text(p->mesh, obj);
    return true;
}

static void drop_place(const Place* p) {
    unlink(p->arm);
    unlink(p->mesh);
    unlink(p->model);
    rmdir(p->shapes);
    rmdir(p->parts);
    rmdir(p->folder);
}

// the scene of a model's text, to be freed; NULL where it is refused
static char* scene_of(const Place* p, const char* text, int line) {
    write_text(p->model, text);
    Case c;
    crStatus status = case_file(p->model, NULL, &c);
    if (!test_check(status == CR_OK, __FILE__, line, "%s", c.error.message)) return NULL;
    for (int i = 0; i < c.import.note_count; i++) {
        test_check(c.import.notes[i].level != CR_NOTE_UNSUPPORTED, __FILE__, line, "%s",
                   c.import.notes[i].text);
    }
    char* out = NULL;
    size_t size = 0;
    FILE* file = open_memstream(&out, &size);
    cr_json_write_tree(file, c.import.scene.root);
    fclose(file);
    case_free(&c);
    return out;
}

static void same(const Place* p, const char* a, const char* b, int line) {
    char *one = scene_of(p, a, line), *other = scene_of(p, b, line);
    if (one != NULL && other != NULL) {
        size_t at = 0;
        while (one[at] != '\0' && one[at] == other[at]) {
            at++;
        }
        test_check(strcmp(one, other) == 0, __FILE__, line, "attached: ...%.120s\nby hand: ...%.120s",
                   one + (at > 40 ? at - 40 : 0), other + (at > 40 ? at - 40 : 0));
    }
    free(one);
    free(other);
}

TEST(attached_is_written_by_hand) {
    if (!case_xml()) return;
    Place p;
    if (!make_place(&p)) return;
    same(&p, carrier, by_hand, __LINE__);
    drop_place(&p);
}

// a model that attaches a model: prefixes add up
TEST(attached_models_attach) {
    if (!case_xml()) return;
    Place p;
    if (!make_place(&p)) return;
    char middle[80];
    snprintf(middle, sizeof middle, "%s/middle.xml", p.parts);
    write_text(middle, "<mujoco><compiler angle='radian'/><asset><model file='arm.xml'/></asset><worldbody>"
                       "<attach model='arm' body='lower' prefix='in_'/></worldbody></mujoco>");
    same(&p,
         "<mujoco><compiler angle='radian'/><asset><model name='x' "
         "file='parts/middle.xml'/></asset><worldbody>"
         "<frame pos='3 0 0'><attach model='x' prefix='out_'/></frame></worldbody></mujoco>",
         "<mujoco><compiler angle='radian'/><asset><mesh name='m' "
         "file='parts/shapes/m.obj'/></asset><worldbody>"
         "<body name='out_in_lower' pos='3 0 -1'><joint name='out_in_knee' axis='0 1 0' damping='0.25'/>"
         "<geom name='out_in_bone' density='500' size='0.01' type='capsule' fromto='0 0 0 0 0 -1'/>"
         "<site name='out_in_foot' pos='0 0 -1'/></body></worldbody>"
         "<actuator><motor name='out_in_m' joint='out_in_knee' gear='3'/></actuator>"
         "<sensor><framepos name='out_in_f' objtype='site' objname='out_in_foot'/></sensor></mujoco>",
         __LINE__);
    unlink(middle);
    drop_place(&p);
}

TEST(attach_refusals) {
    if (!case_xml()) return;
    Place p;
    if (!make_place(&p)) return;
#define MODEL(compiler, attach)                                                                     \
    "<mujoco>" compiler "<asset><model name='arm' file='parts/arm.xml'/></asset><worldbody>" attach \
    "</worldbody></mujoco>"
    static const struct {
        const char* text;
        crStatus status;
        const char* word;
    } bad[] = {
        {MODEL("<compiler angle='radian'/>", "<attach model='leg' prefix='a'/>"), CR_ERR_NAME, "leg"},
        {MODEL("<compiler angle='radian'/>", "<attach model='arm' body='hand' prefix='a'/>"), CR_ERR_NAME,
         "hand"},
        {MODEL("<compiler angle='radian'/>", "<attach prefix='a'/>"), CR_ERR_MISSING, "model"},
        {MODEL("", "<attach model='arm' prefix='a'/>"), CR_ERR_NAME, "angle"},
        {"<mujoco><asset><model name='a' file='model.xml'/></asset><worldbody><attach model='a' prefix='x'/>"
         "</worldbody></mujoco>",
         CR_ERR_LIMIT, "files"},
        {"<mujoco><asset><model name='a' file='none.xml'/></asset><worldbody><attach model='a' prefix='x'/>"
         "</worldbody></mujoco>",
         CR_ERR_FILE, "none.xml"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Case c;
        write_text(p.model, bad[i].text);
        crStatus status = case_file(p.model, NULL, &c);
        test_check(status == bad[i].status && strstr(c.error.message, bad[i].word) != NULL, __FILE__,
                   __LINE__, "%s: %s %s", bad[i].text, cr_status_name(status), c.error.message);
        if (status == CR_OK) case_free(&c);
    }
    drop_place(&p);
}
