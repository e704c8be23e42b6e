/* compare.h - how far a record of another engine is from the density that lattices carry: certificates of grids. */
#ifndef GBEES_LAGRANGIAN_COMPARE_H
#define GBEES_LAGRANGIAN_COMPARE_H

#include "sets.h"

/* gbees_backend.compare. */
int gbees_engine_compare(gbees_engine *engine, const gbees_record *record, double *work,
                         gbees_certificate *certificate, gbees_error *error);

#endif
