// motion_plot.c - energy and positions of bodies over time as one picture, panel under panel.
//
// Fails: memory, and what saving a sheet says.
#include "plot/charts.h"

#define WIDTH 900.0
#define PANEL 260.0

crStatus cr_charts_save(const crCharts* charts, const char* path, const char* title, crError* error) {
    crSheet sheet;
    double head = title[0] != '\0' ? 34.0 : 8.0;
    cr_sheet_create(&sheet, WIDTH, head + PANEL * charts->count);
    cr_sheet_text(&sheet, 12.0, 22.0, 14.0, CR_ANCHOR_START, CR_INK_TEXT, title);
    for (int i = 0; i < charts->count; i++) {
        cr_chart_draw(&sheet, 8.0, head + PANEL * i, WIDTH - 4.0, head + PANEL * (i + 1) - 8.0,
                      &charts->charts[i]);
    }
    crStatus status = cr_sheet_save(&sheet, path, title, error);
    cr_sheet_destroy(&sheet);
    return status;
}

crStatus cr_motion_plot(const crMotionLog* log, const char* path, const char* title, crError* error) {
    crCharts charts = {0};
    crPlotRun run = {.label = title, .log = log};
    crStatus status = cr_charts_add(&charts, CR_CHART_ENERGY, &run, 1, NULL, 0, error);
    if (status == CR_OK && log->body_count > 0)
        status = cr_charts_add(&charts, CR_CHART_POSITIONS, &run, 1, NULL, 0, error);
    if (status == CR_OK) status = cr_charts_save(&charts, path, title, error);
    cr_charts_destroy(&charts);
    return status;
}
