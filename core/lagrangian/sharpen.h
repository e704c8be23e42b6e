/* sharpen.h - lattices become denser until a certificate is within the accuracy that is asked for. */
#ifndef GBEES_LAGRANGIAN_SHARPEN_H
#define GBEES_LAGRANGIAN_SHARPEN_H

#include "sets.h"

/* Makes lattices denser until the certificate is within the accuracy that the problem asks for, if it does. Where
 * they hardly help any more, or memory ends, the record is not within it (GBEES_WARNING_ACCURACY).
 * *times: receives how many times denser they are along each axis */
int gbees_engine_sharpen(gbees_engine *engine, double *times, gbees_error *error);
/* The same after an update, the lattices of the next one becoming as dense, or less dense where this one's were more
 * accurate than they had to be. */
int gbees_engine_sharpen_update(gbees_engine *engine, gbees_error *error);
/* Sets how dense the lattices of an update are. */
void gbees_engine_set_density(gbees_engine *engine);
/* Replaces each lattice by one that is denser along all axes, `longer` being added to its tail. Without memory for it
 * (GBEES_ENOMEM) a lattice stays. */
int gbees_engine_make_denser(gbees_engine *engine, double times, double longer, gbees_error *error);

#endif
