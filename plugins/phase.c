/* phase - the phase of a noisy oscillator that is driven: a state on a circle. */
#define GBEES_DIM 1
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_DIFFUSION GBEES_DIAGONAL
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t;
    dxdt[0] = p[0] - sin(x[0]);
}

static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
{
    (void)n, (void)t, (void)x;
    Q[0] = 2 * p[1];
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)which, (void)n, (void)t, (void)p;
    y[0] = x[0];
}

#else

static const double turn[] = {6.283185307179586};

static const gbees_quantity states[] = {
    {"phase", "rad", "of the oscillator, less that of the drive: an angle"},
};

static const gbees_state_range ranges[] = {{.period = 6.283185307179586}};

static const gbees_parameter parameters[] = {
    {"detuning", "1/s", "of the oscillator's rate from the drive's, over the width of locking", 1.0, 0, 0},
    {"noise", "1/s", "diffusion D: 2 D is what noise adds to the variance of the phase in a unit of time", 0.1, 0,
     100},
};

static const gbees_measurement_function measurements[] = {
    {"phase", "the phase, modulo a turn", 1, states, turn},
};

static const gbees_model_scenario scenarios[] = {
    {"default", "# It slips: turn after turn, and waits where it is slow\n"
                "mean: [0]\n"
                "covariance: [0.01]\n"
                "factor: 2\n"
                "threshold: 1.0e-9\n"
                "end: 30.0\n"
                "records: 6\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "phase",
    .title = "The phase of a driven oscillator that slips: a density on a circle",
    .text =
        "d(phase) = (detuning - sin(phase)) dt + sqrt(2 noise) dW: Adler's equation with noise. Within a detuning "
        "of 1 the oscillator is locked to its drive, and noise makes it slip by a turn now and then.",
    .reference = "P. Reimann et al., Phys. Rev. Lett. 87 (2001) 010602",
    .dim_default = 1,
    .states = states,
    .ranges = ranges,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
