/* sampled_private.h - the struct of sampled.h, for sampled.c and sampled_state.c. */
#ifndef GBEES_AUDIT_SAMPLED_PRIVATE_H
#define GBEES_AUDIT_SAMPLED_PRIVATE_H

#include "kept.h"
#include "montecarlo.h"
#include "offload.h"
#include "sampled.h"

/* Where the samples stand, as plain data: saved as it is. */
typedef struct gbees_sampled_place {
    gbees_sample_moments moments; /* of the samples at the last record */
    double spent;                 /* steps of samples that have been replaced by more */
    uint64_t record;              /* number of the next record */
    uint64_t record_count;        /* of the records that the samples have passed */
    int leg, next;                /* the samples' leg; the first measurement that they have not been weighted by */
    int jumped;                   /* instants whose jumps they have made */
} gbees_sampled_place;

struct gbees_sampled {
    const gbees_problem *problem;
    gbees_montecarlo *samples;
    gbees_offload offload; /* of the samples */
    gbees_sampled_place at;
    double share; /* of the run's cell updates, as in gbees_audit_options; 0: the number of samples stays */
    size_t most;  /* to which it may make their number grow */
    size_t record_capacity;
    struct passed {
        int leg;
        double time;
    } * records;     /* that the samples have passed */
    gbees_kept kept; /* states at the start and after each record; empty: none is kept */
    float *listed;   /* [axis][LISTED]: the list's */
    gbees_sample_list list;
};

/* The kind's functions in sampled_state.c. */
int gbees_sampled_save(const void *self, gbees_state_sink *sink, void *to, gbees_error *error);
int gbees_sampled_load(void *self, const gbees_checkpoint *checkpoint, gbees_error *error);

#endif
