/* linear - a chain of 1 to 8 linear equations, each coupled to its neighbours: the exact answer is known. */
#define GBEES_DIM_MIN 1
#define GBEES_DIM_MAX 8
#define GBEES_HAS_MEASURE 1
#define GBEES_HAS_DIFFUSION GBEES_DIAGONAL
#include <gbees/model.h>

#ifdef GBEES_EQUATIONS

static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])
{
    (void)t;
    for (int j = 0; j < n; j++) {
        dxdt[j] = p[0] * x[j];
        if (j + 1 < n)
            dxdt[j] += p[1] * x[j + 1];
        if (j > 0)
            dxdt[j] += p[2] * x[j - 1];
    }
}

static inline void diffusion(int n, real t, const real x[], const real p[], real Q[])
{
    (void)t, (void)x;
    for (int j = 0; j < n; j++)
        Q[j] = p[3];
}

/* Function k measures state k; NaN if the dimension is smaller. */
static inline void measure(int which, int n, real t, const real x[], const real p[], real y[])
{
    (void)t, (void)p;
    y[0] = which < n ? x[which] : (real)NAN;
}

#else

static const gbees_quantity states[] = {
    {"x1", "-", "link 1"}, {"x2", "-", "link 2"}, {"x3", "-", "link 3"}, {"x4", "-", "link 4"},
    {"x5", "-", "link 5"}, {"x6", "-", "link 6"}, {"x7", "-", "link 7"}, {"x8", "-", "link 8"},
};

static const gbees_parameter parameters[] = {
    {"diagonal", "-", "growth of each link by itself; damping if it is negative", -0.1, 0, 0},
    {"upper", "-", "effect of the next link on a link", 1.25, 0, 0},
    {"lower", "-", "effect of a link on the next one; 0: a shear; of the other sign than upper: oscillations", -0.8,
     0, 0},
    {"noise", "-", "variance that white noise adds to each link in a unit of time", 0, 0, 1e30},
};

static const gbees_measurement_function measurements[] = {
    {"x1", "link 1", 1, &states[0], NULL}, {"x2", "link 2", 1, &states[1], NULL},
    {"x3", "link 3", 1, &states[2], NULL}, {"x4", "link 4", 1, &states[3], NULL},
    {"x5", "link 5", 1, &states[4], NULL}, {"x6", "link 6", 1, &states[5], NULL},
    {"x7", "link 7", 1, &states[6], NULL}, {"x8", "link 8", 1, &states[7], NULL},
};

static const gbees_model_scenario scenarios[] = {
    {"default", "# A damped oscillation. In six dimensions and more take wider cells (factor) or a higher threshold\n"
                "mean: [2, ...]\n"
                "covariance: [0.25, ...]\n"
                "accuracy: 0.05\n"
                "factor: 1\n"
                "threshold: 1.0e-8\n"
                "end: 6.0\n"
                "records: 6\n"
                "measurements:\n"
                "  - {time: 3.0, function: x1, value: [-1.8], covariance: [0.04]}\n"},
    {"ou", "# Ornstein-Uhlenbeck processes: damping and noise, each link by itself; at rest Gaussians of variance\n"
           "# noise / (2 |diagonal|)\n"
           "parameters: {diagonal: -1, upper: 0, lower: 0, noise: 0.5}\n"
           "mean: [2, -1, ...]\n"
           "covariance: [0.04, ...]\n"
           "extent: 4\n"
           "measurements: []\n"},
};

GBEES_MODEL = {
    GBEES_MODEL_HEAD,
    .name = "linear",
    .title = "A linear chain of 1 to 8 links, with an exact answer: the yardstick",
    .text =
        "dx_j/dt = diagonal x_j + upper x_{j+1} + lower x_{j-1}; what is beyond the ends of the chain is 0. So "
        "dx/dt = A x with a tridiagonal A whose eigenvalues are diagonal + 2 sqrt(upper lower) cos(k pi / (n + 1)), "
        "k = 1 .. n. A Gaussian stays one: its mean m becomes exp(A t) m, its covariance P becomes exp(A t) P "
        "exp(A t)', and a measurement of a link is Kalman's update. With noise, white and each link's own, dP/dt = "
        "A P + P A' + noise I.",
    .reference =
        "R. E. Kalman, J. Basic Eng. 82 (1960) 35; S. Noschese, L. Pasquini, L. Reichel, Numer. Linear Algebra "
        "Appl. 20 (2013) 302 (the eigenvalues)",
    .dim_default = 2,
    .states = states,
    .parameter_count = GBEES_COUNT(parameters),
    .parameters = parameters,
    .measurement_count = GBEES_COUNT(measurements),
    .measurements = measurements,
    .scenario_count = GBEES_COUNT(scenarios),
    .scenarios = scenarios,
};

#endif
