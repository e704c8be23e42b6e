/* engine.h - the engine of `frame: lagrangian`: an implementation of the contract between solver and backend
 * (gbees/backend.h) whose density is points that go with the flow. */
#ifndef GBEES_LAGRANGIAN_ENGINE_H
#define GBEES_LAGRANGIAN_ENGINE_H

#include "sums.h"
#include "temper.h"
#include <gbees/backend.h>
#include <gbees/record.h>

/* Creates engines of problems with `lagrangian` set, on what options->lender lends. */
extern const gbees_backend gbees_lagrangian_backend;

enum { GBEES_LAGRANGIAN_SETS = 4 /* at most */ };

/* The lattices of one turn, one for each part of the initial density. */
typedef struct gbees_lattice_set {
    gbees_lattice_rule rule;
    gbees_lattice **lattice; /* [parts]; NULL: the part has lost its weight */
} gbees_lattice_set;

struct gbees_engine {
    const gbees_problem *problem;
    int threads, parts;
    gbees_source *source; /* [parts] */
    gbees_past past;
    int sets;                                     /* 2 at least */
    gbees_lattice_set set[GBEES_LAGRANGIAN_SETS]; /* [sets]: the density; and the same on other lattices, to tell its
                                                   * error */
    gbees_totals totals;
    double log_evidence[GBEES_LAGRANGIAN_SETS]; /* of all measurements so far */
    gbees_certificate certificate;              /* of now, if is_certified */
    int is_certified;
    double evaluations; /* of the drift, before the engine was loaded */
    double pace;        /* evaluations of the drift per unit of time, of all points */
    int smoothed;       /* 1: the points have been taken back to the start, with their weights */
};

/* Whether each set has points. */
int gbees_engine_has_points(const gbees_engine *engine);
/* Sums over the points of a set. */
int gbees_engine_sums(const gbees_engine *engine, int set, gbees_sums *sums, gbees_error *error);

/* certify.c: the certificate of the present density (gbees_backend.certify). */
int gbees_lagrangian_certify(gbees_engine *engine, gbees_certificate *certificate, gbees_error *error);

/* state.c: gbees_backend.save and load. */
int gbees_lagrangian_save(gbees_engine *engine, gbees_state_sink *sink, void *context, gbees_error *error);
int gbees_lagrangian_load(const gbees_problem *problem, const gbees_engine_options *options,
                          gbees_state_source *source, void *context, gbees_engine **engine, gbees_error *error);
/* An engine without lattices. */
int gbees_lagrangian_open(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                          gbees_error *error);
void gbees_lagrangian_destroy(gbees_engine *engine);

#endif
