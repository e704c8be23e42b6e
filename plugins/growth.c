/* growth - the univariate nonlinear growth model, a standard test of filters: discrete in time, two lobes. */
#define GBEES_DIM 1
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_JUMP 1
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

/* Between its steps the state stays. */
static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)n, (void)t, (void)x, (void)p;
    dxdt[0] = 0;
}

/* The step to time t. */
static inline void jump(int which, int n, real t, const real x[], const real p[], const real value[], real to[])
{
    (void)which, (void)n, (void)value;
    to[0] = p[0] * x[0] + p[1] * x[0] / (1 + x[0] * x[0]) + p[2] * cos(p[3] * t);
}

static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)which, (void)n, (void)t, (void)p;
    y[0] = x[0] * x[0] / 20;
}

#else

static const gbees_quantity states[] = {{"x", "-", "size"}};
static const gbees_quantity square[] = {{"y", "-", "x^2 / 20: it does not tell the sign"}};

static const gbees_parameter parameters[] = {
    {"decay", "-", "what a step leaves of x", 0.5, 0, 0},
    {"pull", "-", "strength of the two lobes", 25, 0, 0},
    {"force", "-", "amplitude of the forcing", 8, 0, 0},
    {"omega", "-", "angular frequency of the forcing", 1.2, 0, 0},
};

static const gbees_measurement_function measurements[] = {{"y", "the square of x over 20", 1, square, NULL}};
static const gbees_jump_function jumps[] = {
    {"step", "x <- decay x + pull x / (1 + x^2) + force cos(omega t)", 0, NULL}};

static const gbees_model_scenario scenarios[] = {
    {"default", "# Ten steps; each adds an error of variance 10\n"
                "mean: [0]\n"
                "covariance: [5]\n"
                "extent: 6\n"
                "factor: 10\n"
                "threshold: 1.0e-9\n"
                "end: 10\n"
                "instants: {every: 1, jump: step, covariance: [10]}\n"
                "measurements:\n"
                "  - {time: 2, function: y, value: [3.2], covariance: [1]}\n"
                "  - {time: 5, function: y, value: [7.5], covariance: [1]}\n"
                "  - {time: 8, function: y, value: [0.4], covariance: [1]}\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "growth",
    .title = "The univariate nonlinear growth model: a map with an error at each step",
    .text = "x(k) = x(k-1)/2 + 25 x(k-1)/(1 + x(k-1)^2) + 8 cos(1.2 k) + w(k), with w of variance 10, and\n"
            "y(k) = x(k)^2/20 + v(k), with v of variance 1. The drift is dx/dt = 0: all that happens are the jumps "
            "of the\n"
            "scenario's `instants`, one a unit of time. The square does not tell the sign, so that the density has\n"
            "two lobes most of the time.",
    .reference = "Kitagawa, J. Am. Stat. Assoc. 82 (1987) 1032; Gordon, Salmond, Smith, IEE Proc. F 140 (1993) 107",
    .dim_default = 1,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .jump_count = GBEES_COUNT(jumps),
    .jumps = jumps,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
