/* frame.c - a grid whose frame moves: sends the frame, and launches the passes of device/frame.h that find rates and
 * sums. */
#include "base/parameters.h"
#include "common/frame.h"
#include "engine.h"
#include "launch.h"
#include "numerics/step.h"
#include "stop_error.h"
#include <string.h>

/* Launches a pass over the grid, FRAME_..., which leaves sums or maxima in `found`. */
static int run(gbees_engine *e, int pass, double time, gbees_error *error)
{
    void *arguments[] = {&pass, &time};

    memset(e->found->moment, 0, sizeof e->found->moment);
    e->found->peak = e->found->peak_brick = 0;
    return engine_launch(e, KERNEL_FRAME, arguments, 2, error);
}

int engine_send_frame(gbees_engine *e, gbees_error *error)
{
    const size_t doubles = sizeof e->frame.parameters_d;
    int status = 0;

    if (!e->problem->rotated)
        return 0;
    if (!e->framed.size)
        status = device_array_grow(&e->memory, &e->framed, sizeof e->frame, sizeof e->frame, error);
    if (status)
        return status;
    gbees_parameters_round(e->frame.parameters_d, e->frame.parameters_f);
    e->setup.framed_d = e->framed.at;
    e->setup.framed_f = e->framed.at + doubles;
    return cuda_check(e->api, e->api->cuMemcpyHtoDAsync(e->framed.at, &e->frame, sizeof e->frame, e->stream),
                      "sending the grid's frame", error);
}

int cuda_engine_frame_set(gbees_engine *e, const gbees_grid_frame *frame, double time, double *rate,
                          gbees_error *error)
{
    double all, active;
    int status = cuda_check(e->api, e->api->cuCtxSetCurrent(e->context), "moving the grid", error);

    frame_parameters_set(e->problem->dimension, frame, e->frame.parameters_d);
    e->setup.negligible = frame->negligible;
    e->setup.longest_step = frame->time_step;
    if (!status)
        status = engine_send_frame(e, error);
    if (!status && rate)
        status = run(e, FRAME_RATE, time, error);
    if (status || !rate)
        return status;
    if (e->state->bad)
        return engine_drift_error(e, e->state->bad - 1, time, error);
    memcpy(&all, &e->found->peak, sizeof all);
    memcpy(&active, &e->found->peak_brick, sizeof active);
    *rate = gbees_cfl_rate(all, active);
    return 0;
}

int cuda_engine_frame_fit(gbees_engine *e, double time, gbees_affine_sums *sums, gbees_error *error)
{
    const int n = e->problem->dimension;
    const gbees_exact_sum *from = e->found->moment;
    int status = run(e, FRAME_FIT, time, error);

    if (status)
        return status;
    *sums = (gbees_affine_sums){.mass = engine_sum_value(*from++)};
    for (int j = 0; j < n; j++)
        sums->y[j] = engine_sum_value(*from++);
    for (int j = 0; j < n; j++)
        sums->f[j] = engine_sum_value(*from++);
    for (int j = 0; j < n; j++)
        for (int k = j; k < n; k++)
            sums->yy[j * n + k] = sums->yy[k * n + j] = engine_sum_value(*from++);
    for (int k = 0; k < n * n; k++)
        sums->fy[k] = engine_sum_value(*from++);
    return 0;
}

int cuda_engine_frame_information(gbees_engine *e, double *information, gbees_error *error)
{
    const int n = e->problem->dimension;
    const gbees_exact_sum *from = e->found->moment;
    const double mass = e->state->run.ledger.mass, *width = e->setup.width;
    int status = run(e, FRAME_INFORMATION, 0, error);

    for (int j = 0; j < n && !status; j++)
        for (int k = j; k < n; k++)
            information[j * n + k] = information[k * n + j] =
                engine_sum_value(*from++) / (mass * width[j] * width[k]);
    return status;
}
