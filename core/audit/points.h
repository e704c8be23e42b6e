/* points.h - points that go with the flow, on lattices, as a reference for records of models without noise: the
 * engine of a Lagrangian frame beside the run. */
#ifndef GBEES_AUDIT_POINTS_H
#define GBEES_AUDIT_POINTS_H

#include "reference.h"

typedef struct gbees_points_audit gbees_points_audit;

extern const gbees_reference_kind gbees_points_kind;

/* Whether points are asked for and can tell what certificates of the problem say: it has no noise, its initial
 * density is Gaussians, and its accuracy is not that of the joint density. */
int gbees_points_apply(const gbees_problem *problem, const gbees_audit_options *options);
int gbees_points_create(const gbees_problem *problem, const gbees_audit_options *options, gbees_points_audit **points,
                        gbees_error *error);
/* Whether a checkpoint has the state of such a reference. */
int gbees_points_are_in(const gbees_checkpoint *checkpoint);

#endif
