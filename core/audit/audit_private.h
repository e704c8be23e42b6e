/* audit_private.h - the struct of an audit, for audit.c and audit_state.c. */
#ifndef GBEES_AUDIT_PRIVATE_H
#define GBEES_AUDIT_PRIVATE_H

#include "kept.h"
#include "montecarlo.h"
#include "offload.h"
#include <gbees/gbees.h>

struct gbees_audit {
    const gbees_problem *problem;
    gbees_montecarlo *samples;
    gbees_offload offload;        /* of the samples */
    gbees_sample_moments moments; /* of the samples at the last record */
    double share; /* of the run's cell updates, as in gbees_audit_options; 0: the number of samples stays */
    double spent; /* steps of samples that have been replaced by more */
    size_t record_count, record_capacity;
    struct passed {
        int leg;
        double time;
    } * records;       /* that the samples have passed */
    gbees_kept kept;   /* states at the start and after each record; empty: none is kept */
    size_t record;     /* number of the next record */
    int leg, next;     /* the samples' leg; the first measurement that they have not been weighted by */
    unsigned warnings; /* of all records so far */
    float *listed;     /* [axis][LISTED]: the list's */
    gbees_sample_list list;
    gbees_error lost; /* why there are no samples any more; its status is 0 as long as there are */
};

#endif
