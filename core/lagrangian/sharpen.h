/* sharpen.h - lattices become denser until a certificate is within the accuracy that is asked for. */
#ifndef GBEES_LAGRANGIAN_SHARPEN_H
#define GBEES_LAGRANGIAN_SHARPEN_H

#include "sets.h"

/* Makes lattices denser until the certificate is within the accuracy that the problem asks for, if it does. Where
 * they hardly help any more, or memory ends, the record is not within it (GBEES_WARNING_ACCURACY). */
int gbees_engine_sharpen(gbees_engine *engine, gbees_error *error);
/* Replaces each lattice by one that is denser along all axes. Without memory for it (GBEES_ENOMEM) a lattice stays.
 */
int gbees_engine_make_denser(gbees_engine *engine, double times, gbees_error *error);

#endif
