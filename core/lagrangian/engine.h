/* engine.h - the engine of `frame: lagrangian`: an implementation of the contract between solver and backend
 * (gbees/backend.h) whose density is points that go with the flow. */
#ifndef GBEES_LAGRANGIAN_ENGINE_H
#define GBEES_LAGRANGIAN_ENGINE_H

#include <gbees/backend.h>

/* Creates engines of problems whose `own_backend` it is, on what options->lender lends. */
extern const gbees_backend gbees_lagrangian_backend;

#endif
