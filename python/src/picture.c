// picture.c - trajectories as pictures, by the code of `carom plot`: bodies, charts, moving pictures and reports.
//
// The file's name says the format; SVG, GIF and HTML need no other program. Runs without the interpreter's lock, which
// functions of driven bodies take. Fails: what the code of plot/ refuses, by field.
#include "binding.h"
#include "io/names.h"
#include "plot/animation.h"
#include "plot/charts.h"
#include "plot/page.h"

#define MOST_BODIES 256
#define MOST_TIMES  256
#define WIDTH       900.0  // of a picture of bodies, pixels

enum {
    ENERGY,
    POSITIONS,
    VELOCITIES,
    FORCES,
    CERTIFICATE,
    EVENTS,
    STROBE,
    PLAN,
    ELEVATION,
    IMPULSES,
    MOTION,
    REPORT
};
static const char* const kinds[] = {"energy", "positions", "velocities", "forces",    "certificate",
                                    "events", "strobe",    "plan",       "elevation", "impulses",
                                    "motion", "report",    NULL};

typedef struct Job {
    int what;
    const char* path;
    const char* title;
    int bodies[MOST_BODIES];
    double times[MOST_TIMES];
    crViewChoice choice;
    double speed;
    crMotionLog log;
} Job;

static crStatus draw_view(Job* job, crError* error) {
    static const crViewKind views[] = {CR_VIEW_STROBE, CR_VIEW_PLAN, CR_VIEW_ELEVATION, CR_VIEW_IMPULSES};
    const crMotionLog* logs[1] = {&job->log};
    job->choice.kind = views[job->what - STROBE];
    crStatus status = cr_view_frame(logs, 1, &job->choice, error);
    if (status != CR_OK) return status;
    crSheet sheet;
    double height = cr_view_height(&job->choice, WIDTH);
    cr_sheet_create(&sheet, WIDTH, height);
    status = cr_view_draw(&sheet, 0.0, 0.0, WIDTH, height, &job->log, job->title, &job->choice, error);
    if (status == CR_OK) status = cr_sheet_save(&sheet, job->path, kinds[job->what], error);
    cr_sheet_destroy(&sheet);
    return status;
}

static crStatus draw_chart(const Job* job, crError* error) {
    crPlotRun run = {job->title, &job->log};
    crCharts charts = {0};
    crStatus status = cr_charts_add(&charts, (crCharted)job->what, &run, 1, job->choice.bodies,
                                    job->choice.body_count, error);
    if (status == CR_OK && charts.count == 0)
        status = cr_error_set(error, CR_ERR_MISSING, "bodies", "bodies: none of them has such a coordinate");
    if (status == CR_OK) status = cr_charts_save(&charts, job->path, job->title, error);
    cr_charts_destroy(&charts);
    return status;
}

static crStatus draw(Job* job, crError* error) {
    if (job->what < STROBE) return draw_chart(job, error);
    if (job->what < MOTION) return draw_view(job, error);
    if (job->what == REPORT) {
        crPageRun run = {.label = job->title, .log = &job->log};
        return cr_page_write(job->path, job->title, "", &run, 1, error);
    }
    if (!cr_animation_is_format(job->path))
        return cr_error_set(error, CR_ERR_NAME, "path", "path: '%.80s' must end in .svg, .gif, .mp4 or .webm",
                            job->path);
    const crMotionLog* logs[1] = {&job->log};
    crAnimation animation = {
        .count = 1, .logs = logs, .labels = &job->title, .choice = job->choice, .speed = job->speed};
    return cr_animation_save(&animation, job->path, error);
}

static const char* body_at(const void* ctx, int index) {
    const crRecording* r = ctx;
    return index < r->body_count ? r->bodies[index].name : NULL;
}

static bool take_body(Job* job, const crRecording* r, PyObject* name) {
    if (!PyUnicode_Check(name)) return py_refuse_type("bodies", name, "the name of a body");
    const char* text = py_text(name);
    int at = 0;
    while (text != NULL && at < r->body_count && strcmp(r->bodies[at].name, text) != 0) {
        at++;
    }
    if (text == NULL) return false;
    if (at == r->body_count) {
        const char* near = cr_name_nearest(text, body_at, r);
        return py_refuse(CR_ERR_NAME, "bodies", "bodies: no body is called '%.80s'%s%s%s", text,
                         near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                         near != NULL ? "'?" : "");
    }
    if (job->choice.body_count == MOST_BODIES)
        return py_refuse(CR_ERR_LIMIT, "bodies", "bodies: at most %d", MOST_BODIES);
    job->bodies[job->choice.body_count++] = at;
    return true;
}

static bool take_choice(Job* job, const crRecording* r, PyObject* what, PyObject* bodies, PyObject* times) {
    if (!py_choice(what, "what", kinds, &job->what)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(bodies); i++) {
        if (!take_body(job, r, PyTuple_GetItem(bodies, i))) return false;
    }
    job->choice.bodies = job->bodies;
    job->choice.times = job->times;
    if (!(job->speed >= 1e-6 && job->speed <= 1e6))
        return py_refuse(CR_ERR_RANGE, "speed", "speed: is %g, must be 1e-6 to 1e6", job->speed);
    if (times == Py_None) return true;
    PyNumbers* given = py_array(times, "times", 1, (Py_ssize_t[1]){-1});
    if (given == NULL) return false;
    bool fits = given->shape[0] > 0 && given->shape[0] <= MOST_TIMES;
    if (fits) {
        job->choice.time_count = (int)given->shape[0];
        memcpy(job->times, given->data, (size_t)given->shape[0] * sizeof(double));
    }
    Py_DECREF(given);
    return fits || py_refuse(CR_ERR_LIMIT, "times", "times: must be 1 to %d", MOST_TIMES);
}

// _draw(trajectory, model or None, path, what, bodies, times or None, at, speed, title)
PyObject* py_draw(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *trajectory, *model, *path, *what, *bodies, *times;
    Job* job = PyMem_Calloc(1, sizeof *job);
    if (job == NULL) return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "O!OO&OO!Odds", PyTrajectory_Type, &trajectory, &model, PyUnicode_FSConverter,
                          &path, &what, &PyTuple_Type, &bodies, &times, &job->choice.at, &job->speed,
                          &job->title)) {
        PyMem_Free(job);
        return NULL;
    }
    const crRecording* recording = py_recording(trajectory);
    crError error = {0};
    crStatus status = CR_OK;
    bool good = true;
    if (model != Py_None && PyObject_TypeCheck(model, PyModel_Type) == 0)
        good = py_refuse_type("scene", model, "a carom.Scene or carom.Model");
    if (good && recording->count == 0)
        good = py_refuse(CR_ERR_MISSING, "trajectory", "trajectory: has no records");
    if (good && take_choice(job, recording, what, bodies, times)) {
        const crModel* shapes = model != Py_None ? ((PyModel*)model)->model : NULL;
        PyObject* hold =
            model != Py_None ? py_hold((PyModel*)model) : NULL;  // no other thread changes it meanwhile
        job->path = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS;
        status = cr_motion_load(&job->log, recording, shapes, recording->time[0],
                                recording->time[recording->count - 1], &error);
        if (status == CR_OK) status = draw(job, &error);
        cr_motion_destroy(&job->log);
        Py_END_ALLOW_THREADS;
        Py_XDECREF(hold);
        bool raised = model != Py_None && py_callbacks_raise((PyModel*)model);
        if (!raised && status != CR_OK) py_raise(&error);
    }
    Py_DECREF(path);
    PyMem_Free(job);
    if (PyErr_Occurred() != NULL) return NULL;
    Py_RETURN_NONE;
}
