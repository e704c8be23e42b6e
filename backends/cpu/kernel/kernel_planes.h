/* kernel_planes.h - the planes of a segment of a pencil, as a sweep changes them.  A template: see kernel.c.
 *
 * They are changed column by column: mostly all flows one way (kernel_stream.h), else it may flow either way
 * (kernel_column.h); where a plane is no whole number of vectors, where cells flow out on both sides and with further
 * bounds the masses through all faces come first, in one loop (kernel_faces.h).  Each has the same bits.
 */

/* Some bricks of a pencil that are changed together: by the planes that they are made of. */
typedef struct GBEES_REAL_FN(segment) {
    GBEES_REAL *own;    /* their lowest plane; planes_beyond() more on either side, empty at an end of the pencil */
    GBEES_REAL *u;      /* velocities from their face -1 on */
    GBEES_REAL *mass;   /* room for what crosses each face */
    int below, above;   /* whether the pencil goes on there */
    int lanes, planes;  /* cells of a plane; so many planes */
    int way, diverging; /* pencil_way(), pencil_diverges() of its bricks */
    GBEES_REAL *away;   /* room for what flows out of the pencil's lower end */
} GBEES_REAL_FN(segment);

/* Planes on either side that a face's mass depends on. */
INLINE int GBEES_REAL_FN(planes_beyond)(const kernel_context *c)
{
    return c->reach + (c->order - 1) / 2;
}

static __attribute__((noinline)) void
GBEES_REAL_FN(change_planes)(GBEES_REAL *restrict p, const GBEES_REAL *restrict mass, int lanes, int count)
{
    for (int i = 0; i < count; i++)
        p[i] += mass[i] - mass[i + lanes];
}

/* The fluxes through all faces, and the cells after them: all masses first, in one long loop. */
INLINE void GBEES_REAL_FN(change_long)(const kernel_context *c, GBEES_REAL_FN(segment) * s, GBEES_REAL lambda)
{
    const GBEES_REAL whole = (GBEES_REAL)c->reach; /* 1, and not a literal */
    const int lanes = s->lanes, count = s->planes * lanes, faces = count + lanes;
    GBEES_REAL *restrict own = s->own, *restrict mass = s->mass;
    const GBEES_REAL *cells = own - GBEES_REAL_FN(planes_beyond)(c) * lanes;

    if (c->reach > 1) {
        GBEES_REAL_FN(cross_far)(own, s->u, mass, lambda, lanes, faces, c->reach, c->preserving);
        GBEES_REAL_FN(bound_masses)(own, mass, lanes, count);
        GBEES_REAL_FN(move_planes)(own, mass, lanes, count);
    } else {
        if (c->order == 7)
            GBEES_REAL_FN(cross_all7)(cells, s->u, mass, lambda, whole, lanes, faces, s->diverging, c->preserving);
        else
            GBEES_REAL_FN(cross_all)(cells, s->u, mass, lambda, whole, lanes, faces, s->diverging, c->preserving);
        GBEES_REAL_FN(change_planes)(own, mass, lanes, count);
    }
    for (int l = 0; l < lanes && !s->below; l++)
        own[l - lanes] = -mass[l];
    for (int l = 0; l < lanes && !s->above; l++)
        own[l + count] = mass[l + count];
}

/* What flows out through the pencil's ends, of which the lower one is seen first. */
INLINE void GBEES_REAL_FN(add_outflow)(const GBEES_REAL_FN(segment) * s, eight_doubles *sum)
{
    const GBEES_REAL *below = s->own - s->lanes, *above = s->own + s->planes * s->lanes;
    GBEES_REAL *away = s->away;

    for (int l = 0; l < s->lanes && !s->below; l++)
        away[l] = s->way <= 0 && below[l] > 0 ? below[l] : 0;
    if (s->above)
        return;
    for (int l = 0; l < s->lanes && s->way >= 0; l++)
        away[l] += above[l] > 0 ? above[l] : 0;
    GBEES_REAL_FN(add_eights)(away, s->lanes, sum);
}

/* Where all flows the same way. */
INLINE void GBEES_REAL_FN(stream_planes)(const kernel_context *c, const GBEES_REAL_FN(segment) * s, GBEES_REAL lambda,
                                         GBEES_REAL whole, eight_doubles *outflow)
{
    const int lanes = s->lanes, planes = s->planes, up = s->way > 0, seven = c->order == 7;

    if (s->below || s->above) {
        if (seven)
            GBEES_REAL_FN(stream_segment7)(s->own, s->u, lambda, whole, lanes, planes, up, s->below, s->above);
        else
            GBEES_REAL_FN(stream_segment)(s->own, s->u, lambda, whole, lanes, planes, up, s->below, s->above);
        GBEES_REAL_FN(add_outflow)(s, outflow);
        return;
    }
    if (seven)
        GBEES_REAL_FN(stream_columns7)(s->own, s->u, lambda, whole, lanes, planes, up);
    else
        GBEES_REAL_FN(stream_columns)(s->own, s->u, lambda, whole, lanes, planes, up);
    GBEES_REAL_FN(add_eights)(up ? s->own + planes * lanes : s->own - lanes, lanes, outflow);
}

/* All of a segment. */
INLINE void GBEES_REAL_FN(change_segment)(const kernel_context *c, GBEES_REAL_FN(segment) * s, GBEES_REAL lambda,
                                          eight_doubles *outflow)
{
    const GBEES_REAL whole = (GBEES_REAL)c->reach; /* 1, and not a literal */
    const int lanes = s->lanes, planes = s->planes, end = GBEES_REAL_FN(planes_beyond)(c) * lanes;
    const int simple = !(lanes % LANES || c->reach > 1 || c->preserving || s->diverging);
    const int below = s->below, above = s->above, seven = c->order == 7;

    if (simple && s->way) {
        GBEES_REAL_FN(stream_planes)(c, s, lambda, whole, outflow);
        return;
    }
    s->way = 0;
    if (!below && !simple)
        memset(s->own - end, 0, (size_t)end * sizeof *s->own);
    if (!above)
        memset(s->own + planes * lanes, 0, (size_t)end * sizeof *s->own);
    if (!simple)
        GBEES_REAL_FN(change_long)(c, s, lambda);
    else if (seven)
        GBEES_REAL_FN(sweep_columns7)(s->own, s->u, lambda, whole, lanes, planes, below, above);
    else
        GBEES_REAL_FN(sweep_columns)(s->own, s->u, lambda, whole, lanes, planes, below, above);
    GBEES_REAL_FN(add_outflow)(s, outflow);
}
