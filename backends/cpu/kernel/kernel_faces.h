/* kernel_faces.h - a sweep in which the masses through all faces of a pencil come first, in one long loop.  A
 * template: see kernel.c; of each precision once with ORDER 5 and then with ORDER 7, after kernel_column.h.
 */

/* The cells that the mass through a face depends on; p: the lowest one of the first face. */
#undef CELLS_AT
#undef MASS_TO
#if ORDER == 5
#define MASS_TO GBEES_REAL_FN(gbees_split5_mass_to)
#define CELLS_AT(p, stride)                                                                                          \
    (p)[0], (p)[stride], (p)[2 * (stride)], (p)[3 * (stride)], (p)[4 * (stride)], (p)[5 * (stride)]
#else
#define MASS_TO GBEES_REAL_FN(gbees_split7_mass_to)
#define CELLS_AT(p, stride)                                                                                          \
    (p)[0], (p)[stride], (p)[2 * (stride)], (p)[3 * (stride)], (p)[4 * (stride)], (p)[5 * (stride)],                 \
        (p)[6 * (stride)], (p)[7 * (stride)]
#endif

INLINE void COLUMN_FN(cross_faces)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                   GBEES_REAL *restrict mass, GBEES_REAL lambda, GBEES_REAL whole, int lanes,
                                   int count, int diverging, int preserving)
{
    for (int i = 0; i < count; i++)
        mass[i] = MASS_TO(CELLS_AT(p + i, lanes), u[i], u[i + lanes], u[i + 2 * lanes], lambda, whole, diverging,
                          preserving);
}

/* A loop for each kind of flux, with nothing to choose inside. */
static __attribute__((noinline)) void COLUMN_FN(cross_all)(const GBEES_REAL *restrict p, const GBEES_REAL *restrict u,
                                                           GBEES_REAL *restrict mass, GBEES_REAL lambda,
                                                           GBEES_REAL whole, int lanes, int count, int diverging,
                                                           int preserving)
{
    if (preserving)
        COLUMN_FN(cross_faces)(p, u, mass, lambda, whole, lanes, count, 1, 1);
    else if (diverging)
        COLUMN_FN(cross_faces)(p, u, mass, lambda, whole, lanes, count, 1, 0);
    else
        COLUMN_FN(cross_faces)(p, u, mass, lambda, whole, lanes, count, 0, 0);
}
