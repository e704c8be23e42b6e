/* sampled.h - samples of the model's equations as a reference for records. */
#ifndef GBEES_AUDIT_SAMPLED_H
#define GBEES_AUDIT_SAMPLED_H

#include "reference.h"

typedef struct gbees_sampled gbees_sampled;

extern const gbees_reference_kind gbees_sampled_kind;

int gbees_sampled_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_sampled **sampled,
                         gbees_error *error);

#endif
