/* frame.h - the frame of a grid that moves, among the parameters that the model's framed functions read. */
#ifndef GBEES_COMMON_FRAME_H
#define GBEES_COMMON_FRAME_H

#include <gbees/backend.h>
#include <gbees/model.h>

/* Sets the frame behind the model's parameters in p[GBEES_PARAMETER_VALUES] (gbees/model_framed.h has the order). */
static inline void frame_parameters_set(int n, const gbees_grid_frame *frame, double *p)
{
    for (int j = 0; j < n; j++) {
        p[GBEES_FRAME_CENTRE + j] = frame->centre[j];
        p[GBEES_FRAME_VELOCITY + j] = frame->velocity[j];
    }
    for (int k = 0; k < n * n; k++) {
        p[GBEES_FRAME_AXES + k] = frame->axes[k];
        p[GBEES_FRAME_INVERSE + k] = frame->inverse[k];
        p[GBEES_FRAME_GRADIENT + k] = frame->gradient[k];
    }
}

#endif
