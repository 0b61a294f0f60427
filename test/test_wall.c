// A wall in bond that a ball breaks, in certified: hundreds of contacts of faces in one island, most of them sticking or slipping
// anew in each step. Every answer is also judged by the natural map, computed here from the problem that the step shows.
#include "carom/stages.h"
#include "world_scene.h"

#define COLUMNS 5
#define ROWS    10
#define STEPS   30

static crModel* build_wall(void) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, -9.81);
    crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, CR_WORLD, &floor, 0);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int row = i / COLUMNS, column = i % COLUMNS;
        crVec3 at = cr_vec3((column + 0.5 * (row % 2)) * 0.2005, 1e-4 * ((7 * row + 3 * column) % 5),
                            0.05 + 0.1 * row);
        scene_free(model, cr_shape_box(0.1, 0.05, 0.05), at, NAN, 0);
    }
    scene_free(model, cr_shape_sphere(0.15), cr_vec3(0.5, -0.3, 0.45), NAN, 0);
    return model;
}

// Largest distance of a problem's impulses from Coulomb's law, by the natural map with each row's own weight: |p - P(p - u/w)| w.
typedef struct Judge {
    int problems, contacts;  // most at once
    double worst;            // of all problems, m/s
} Judge;

static double off_law(const crProblem* problem, const crBlock* block, const double* p, const double* u) {
    const crMatrix* J = &problem->J;
    double w = 0.0, q[3], t = 0.0;
    for (int r = block->row; r < block->row + block->count; r++) {
        for (int k = J->start[r]; k < J->start[r + 1]; k++) {
            w += J->value[k] * J->value[k] * cr_matrix_at(&problem->Minv, J->col[k], J->col[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        q[k] = p[block->row + k] - u[block->row + k] / w;
    }
    double n = fmax(q[0], 0.0), size = sqrt(q[1] * q[1] + q[2] * q[2]), sum = 0.0;
    double shrink = size > block->mu * n ? block->mu * n / size : 1.0;
    for (int k = 0; k < 3; k++) {
        t = p[block->row + k] - (k == 0 ? n : shrink * q[k]);
        sum += t * t;
    }
    return w * sqrt(sum);
}

static crStatus judge(void* ctx, const crPosed* posed, crError* error) {
    (void)error;
    Judge* judge = ctx;
    const crProblem* problem = posed->problem;
    if (posed->impact || problem->block_count < 200) return CR_OK;
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    double* u = cr_arena_alloc(&arena, (size_t)problem->rows * sizeof *u);
    CHECK_STATUS(cr_problem_velocity(problem, &arena, posed->p, u), CR_OK);
    for (int i = 0; i < problem->block_count; i++) {
        int r = problem->blocks[i].row;
        if (problem->b != NULL) u[r] += problem->b[r];
        judge->worst = fmax(judge->worst, off_law(problem, &problem->blocks[i], posed->p, u));
    }
    judge->problems++;
    judge->contacts = problem->block_count > judge->contacts ? problem->block_count : judge->contacts;
    cr_arena_destroy(&arena);
    return CR_OK;
}

TEST(a_wall_that_breaks_is_solved) {
    crModel* model = build_wall();
    crWorldDef def = cr_world_def();
    crWorld* world;
    Judge seen = {0};
    def.model = model;
    def.step.quality = CR_QUALITY_CERTIFIED;
    def.step.measure = 0;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    cr_world_state(world)->v[model->bodies[ROWS * COLUMNS + 1].v + 1] = 4.0;
    cr_world_stages(world)->calls.posed = judge;
    cr_world_stages(world)->calls.posed_ctx = &seen;
    int solved = 0;
    for (int i = 0; i < STEPS; i++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        solved += cr_world_certificate(world)->outcome == CR_OUTCOME_SOLVED;
    }
    test_check(10 * solved >= 9 * STEPS, __FILE__, __LINE__, "%d of %d solved", solved, STEPS);
    test_check(seen.problems >= STEPS / 2 && seen.contacts >= 300, __FILE__, __LINE__,
               "%d problems, %d contacts", seen.problems, seen.contacts);
    test_check(seen.worst <= 1e-7, __FILE__, __LINE__, "off by %.2e m/s", seen.worst);
    cr_world_destroy(world);
    cr_model_destroy(model);
}
