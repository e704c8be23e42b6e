/* stop.h - the reasons for which the kernels of time steps end: gbees_state.stop.
 *
 * The host launches several kernels without waiting between them.  Each reads `stop` first: its value says which
 * kernel goes on, or what the host has to do.  Kernels for which it is not meant return at once.
 */
#ifndef GBEES_CUDA_STOP_H
#define GBEES_CUDA_STOP_H

enum {
    /* For the host: the interval or the steps that were asked for are done, or it has to act. */
    STOP_DONE = 0,
    STOP_CAPACITY, /* the heap is full, or nearly: enlarge it */
    STOP_PRUNED,   /* a prune is done: set p* anew from the mass budget */
    STOP_REPEATED, /* as STOP_ADVECT, but sweeps are repeated: the step has more passes than the host has launched */

    /* For the host: errors. */
    STOP_DRIFT,   /* a velocity of brick `where` is not finite */
    STOP_MASS,    /* the sum of P is zero or not finite */
    STOP_STEP,    /* the time step is too small to advance the clock */
    STOP_COURANT, /* a fixed time step is too long: plan.courant */
    STOP_EMPTY,   /* no cell holds as much as p* */
    STOP_FAR,     /* a brick's index along axis `where` is beyond STATE_KEY_LIMIT */
    STOP_TARGET,  /* the function of a target that absorbs is not a number somewhere in the density */
    STOP_NOISE,   /* Q of brick `where` is no valid diffusion matrix in the middle of the step */

    /* For one of the kernels that follow. */
    STOP_ADVECT,  /* gbees_advect() or gbees_advect_all() advects the density by the planned step */
    STOP_PRUNE,   /* gbees_prune() prunes */
    STOP_UPDATED, /* gbees_prune() takes the density that an update has made, and prunes it */
    STOP_AGAIN    /* gbees_advance() begins: after a prune, or as the host sets it */
};

#endif
