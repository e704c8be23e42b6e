/* grid_fields.h - the fields of a problem that another grid of the same run changes. */
#ifndef GBEES_BASE_GRID_FIELDS_H
#define GBEES_BASE_GRID_FIELDS_H

#include <gbees/problem.h>
#include <string.h>

/* In what a grid differs from the run's first, but for its cells. It is saved and sent as bytes, so that it has to be
 * all zeros, gaps included, before it is set. */
typedef struct gbees_grid_fields {
    int is_set; /* 0: the grid is the run's first, and the rest is not set */
    int extent[GBEES_MAX_DIM];
    double parameters[GBEES_TABLES_AT];
    double centre[GBEES_MAX_DIM], rotation[GBEES_MAX_DIM * GBEES_MAX_DIM];
    double mean[GBEES_MAX_DIM], width[GBEES_MAX_DIM], threshold;
} gbees_grid_fields;

static inline void gbees_grid_fields_get(const gbees_problem *problem, gbees_grid_fields *fields)
{
    fields->is_set = 1;
    memcpy(fields->extent, problem->extent, sizeof fields->extent);
    memcpy(fields->parameters, problem->parameters, sizeof fields->parameters); /* without tables, which stay */
    memcpy(fields->centre, problem->centre, sizeof fields->centre);
    memcpy(fields->rotation, problem->rotation, sizeof fields->rotation);
    memcpy(fields->mean, problem->mean, sizeof fields->mean);
    memcpy(fields->width, problem->width, sizeof fields->width);
    fields->threshold = problem->threshold;
}

static inline void gbees_grid_fields_set(gbees_problem *problem, const gbees_grid_fields *fields)
{
    memcpy(problem->extent, fields->extent, sizeof fields->extent);
    memcpy(problem->parameters, fields->parameters, sizeof fields->parameters);
    memcpy(problem->centre, fields->centre, sizeof fields->centre);
    memcpy(problem->rotation, fields->rotation, sizeof fields->rotation);
    memcpy(problem->mean, fields->mean, sizeof fields->mean);
    memcpy(problem->width, fields->width, sizeof fields->width);
    problem->threshold = fields->threshold;
}
#endif
