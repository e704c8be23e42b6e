/* certify.h - how far the sums over an engine's lattices may be off. */
#ifndef GBEES_LAGRANGIAN_CERTIFY_H
#define GBEES_LAGRANGIAN_CERTIFY_H

#include "sets.h"

/* gbees_backend.certify. */
int gbees_engine_certify(gbees_engine *engine, gbees_certificate *certificate, gbees_error *error);

#endif
