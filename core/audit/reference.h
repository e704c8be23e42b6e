/* reference.h - what a run's records are compared with: samples (sampled.h), or points on lattices (points.h). An
 * audit has one of them, and knows no more of it than this.
 */
#ifndef GBEES_AUDIT_REFERENCE_H
#define GBEES_AUDIT_REFERENCE_H

#include <gbees/audit.h>

/* The functions of a kind of reference. `self` is the reference; an int is a gbees_status. */
typedef struct gbees_reference_kind {
    void (*destroy)(void *self);
    /* Takes it to a record, through the measurements before that. */
    int (*advance)(void *self, const gbees_record *record, gbees_error *error);
    /* Fills the certificate, which says nothing yet, with what it can tell of the record that it has been taken to.
     */
    int (*compare)(void *self, const gbees_record *record, gbees_certificate *certificate, gbees_error *error);
    /* Sets state[k] of each target of the problem: what is inside by the reference, and a bound of its error. */
    int (*targets)(void *self, gbees_target_state *state, gbees_error *error);
    /* Applies measurement `number` of the problem, counted from 1, at its time. */
    int (*update)(void *self, int number, gbees_error *error);
    /* Sets sampled, sampled_error, total_sampled and total_error to the evidence of the last measurement, and of all;
     * NAN: unknown. */
    void (*evidence)(const void *self, gbees_evidence *evidence);
    /* Samples of equal weight at the last record; NULL: none. */
    const gbees_sample_list *(*samples)(void *self);
    /* Prepares it for another run of the same equations. */
    void (*rewind)(void *self);
    int (*save)(const void *self, gbees_state_sink *sink, void *to, gbees_error *error);
    /* GBEES_EINPUT: the checkpoint has none of this kind. */
    int (*load)(void *self, const gbees_checkpoint *checkpoint, gbees_error *error);
} gbees_reference_kind;

#endif
