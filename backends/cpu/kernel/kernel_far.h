/* kernel_far.h - masses through faces at Courant numbers above 1, whole vectors at a time.  A template: see kernel.c.
 *
 * What a face takes lies a different number of cells away in every lane.  A choice between loads makes no vectors, so
 * for every distance s in turn all faces look there, and what they see counts with a weight of 1 or 0.
 */

enum { GBEES_REAL_FN(FAR_FACES) = 256 };

/* Of some faces: weights (upwards, downwards, passed over at s, to be found at s) and what was found so far. */
typedef struct GBEES_REAL_FN(far) {
    GBEES_REAL up[GBEES_REAL_FN(FAR_FACES)], down[GBEES_REAL_FN(FAR_FACES)], passed[GBEES_REAL_FN(FAR_FACES)];
    GBEES_REAL rest[GBEES_REAL_FN(FAR_FACES)], over[GBEES_REAL_FN(FAR_FACES)], here[GBEES_REAL_FN(FAR_FACES)];
    GBEES_REAL whole[GBEES_REAL_FN(FAR_FACES)], cell[5][GBEES_REAL_FN(FAR_FACES)]; /* 2: q; 0, 1: upwind of it */
} GBEES_REAL_FN(far);

static __attribute__((noinline)) void GBEES_REAL_FN(far_distances)(const GBEES_REAL *restrict u,
                                                                   GBEES_REAL_FN(far) *restrict far,
                                                                   GBEES_REAL lambda, int lanes, int count, int reach)
{
    for (int i = 0; i < count; i++) {
        GBEES_REAL distance = GBEES_REAL_FN(gbees_far_distance)(u[i], u[i + lanes], u[i + 2 * lanes], lambda, reach);

        far->passed[i] = (GBEES_REAL)GBEES_REAL_FN(gbees_far_passed)(distance, reach);
        far->rest[i] = distance - far->passed[i];
        far->up[i] = u[i + lanes] > 0 ? 1 : 0;
        far->down[i] = 1 - far->up[i];
        far->whole[i] = 0;
    }
    memset(far->cell, 0, sizeof far->cell);
}

static __attribute__((noinline)) void GBEES_REAL_FN(far_weights)(GBEES_REAL_FN(far) *restrict far, GBEES_REAL s,
                                                                 int count)
{
    for (int i = 0; i < count; i++) {
        far->over[i] = s < far->passed[i] ? 1 : 0;
        far->here[i] = s == far->passed[i] ? 1 : 0;
    }
}

/* below, above: the cells that are s away, for faces that flow upwards and downwards. */
static __attribute__((noinline)) void GBEES_REAL_FN(far_pick)(const GBEES_REAL *restrict below,
                                                              const GBEES_REAL *restrict above,
                                                              GBEES_REAL_FN(far) *restrict far, int lanes, int count)
{
    for (int i = 0; i < count; i++)
        far->whole[i] += far->over[i] * (far->up[i] * below[i] + far->down[i] * above[i]);
    for (int k = 0; k < 5; k++) {
        const GBEES_REAL *b = below + (k - 2) * lanes, *a = above - (k - 2) * lanes;
        GBEES_REAL *cell = far->cell[k];

        for (int i = 0; i < count; i++)
            cell[i] += far->here[i] * (far->up[i] * b[i] + far->down[i] * a[i]);
    }
}

static __attribute__((noinline)) void GBEES_REAL_FN(far_masses)(const GBEES_REAL *restrict p,
                                                                const GBEES_REAL *restrict u,
                                                                const GBEES_REAL_FN(far) *restrict far,
                                                                GBEES_REAL *restrict mass, int lanes, int count,
                                                                int preserving)
{
    for (int i = 0; i < count; i++)
        mass[i] = GBEES_REAL_FN(gbees_far_mass)(far->whole[i], far->up[i] * p[i - lanes] + far->down[i] * p[i],
                                                far->cell[0][i], far->cell[1][i], far->cell[2][i], far->cell[3][i],
                                                far->cell[4][i], far->rest[i], u[i], u[i + lanes], u[i + 2 * lanes],
                                                preserving);
}

/* p: the lowest of the pencil's own cells. */
static void GBEES_REAL_FN(cross_far)(const GBEES_REAL *p, const GBEES_REAL *u, GBEES_REAL *mass, GBEES_REAL lambda,
                                     int lanes, int faces, int reach, int preserving)
{
    for (int from = 0; from < faces; from += GBEES_REAL_FN(FAR_FACES)) {
        int rest = faces - from, count = rest < GBEES_REAL_FN(FAR_FACES) ? rest : GBEES_REAL_FN(FAR_FACES);
        const GBEES_REAL *cell = p + from;
        _Alignas(64) GBEES_REAL_FN(far) far;

        GBEES_REAL_FN(far_distances)(u + from, &far, lambda, lanes, count, reach);
        for (int s = 0; s < reach; s++) {
            GBEES_REAL_FN(far_weights)(&far, (GBEES_REAL)s, count);
            GBEES_REAL_FN(far_pick)(cell - (1 + s) * lanes, cell + s * lanes, &far, lanes, count);
        }
        if (preserving)
            GBEES_REAL_FN(far_masses)(cell, u + from, &far, mass + from, lanes, count, 1);
        else
            GBEES_REAL_FN(far_masses)(cell, u + from, &far, mass + from, lanes, count, 0);
    }
}

/* Positivity, in the direction of the flow: plane by plane, upwards and then downwards. */
static __attribute__((noinline)) void GBEES_REAL_FN(bound_masses)(const GBEES_REAL *restrict p,
                                                                  GBEES_REAL *restrict mass, int lanes, int count)
{
    for (int plane = 0; plane < count; plane += lanes)
        for (int l = plane; l < plane + lanes; l++) {
            GBEES_REAL in = mass[l] > 0 ? mass[l] : 0, out = mass[l + lanes];
            GBEES_REAL bounded = GBEES_REAL_FN(gbees_split5_bound)(out, p[l], in);

            mass[l + lanes] = out > 0 ? bounded : out;
        }
    for (int plane = count - lanes; plane >= 0; plane -= lanes)
        for (int l = plane; l < plane + lanes; l++) {
            GBEES_REAL in = mass[l + lanes] < 0 ? -mass[l + lanes] : 0, out = -mass[l];
            GBEES_REAL bounded = GBEES_REAL_FN(gbees_split5_bound)(out, p[l], in);

            mass[l] = out > 0 ? -bounded : mass[l];
        }
}

static __attribute__((noinline)) void
GBEES_REAL_FN(move_planes)(GBEES_REAL *restrict p, const GBEES_REAL *restrict mass, int lanes, int count)
{
    for (int i = 0; i < count; i++)
        p[i] = GBEES_REAL_FN(gbees_split5_moved)(p[i], mass[i], mass[i + lanes]);
}
