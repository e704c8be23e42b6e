/* plan.h - chooses the widths of the next run's cells for each leg and axis, from the errors of the runs before.
 */
#ifndef GBEES_ACCURACY_PLAN_H
#define GBEES_ACCURACY_PLAN_H

#include "variation.h"
#include <gbees/gbees.h>

/* A leg of one run. */
typedef struct leg_result {
    double time;                  /* it begins */
    double factor[GBEES_MAX_DIM]; /* cells per half a standard deviation of the initial density */
    double start, worst;          /* largest ratio of error to allowed error: at its record 0; at its other records */
    double rough[GBEES_MAX_DIM];  /* sum over its records */
    double updates;               /* at its end, since the run's start */
    int narrow;                   /* whether a marginal has less than 1.5 cells a standard deviation */
} leg_result;

/* The moments of a record. */
typedef struct record_moments {
    int leg, number;
    double mean[GBEES_MAX_DIM], std[GBEES_MAX_DIM];
    gbees_histogram *histogram; /* of its cells; NULL: none */
} record_moments;

typedef struct run_result {
    double kept; /* as gbees_refinement has it, during the run */
    int leg_count;
    leg_result *legs;
    size_t record_count, record_capacity;
    record_moments *records;
    double error, time;      /* the largest bound, and where */
    int unknown;             /* a record has no certificate */
    double estimate;         /* the largest estimate of such a record; NAN: one has none */
    double effective;        /* the least fraction of samples that is effective */
    double sample_bound;     /* the largest part of a bound that is sampling error */
    size_t samples;          /* of its audit, at the end */
    double work;             /* of its grid, in cell updates */
    double unsure_effective; /* the least fraction of samples that is effective at a record that they can't certify */
    int unsure;              /* records that samples can't certify: the accuracy is within their own error */
    double unsure_time[GBEES_UNSURE_LISTED];
    double unsure_error; /* the largest bound of these; infinite: one has none */
    int doubtful;        /* the same, also where there are so many that the run is not judged without them */
    double reach;        /* the largest square of a marginal's extent from its mean, in standard deviations */
    int owned;           /* records that are further off than the accuracy and their samples' error explain */
    int by_points;       /* 1: certificates are from lattices of points */
    double evidence;     /* the logarithm of the evidence of all measurements */
} run_result;

struct gbees_refinement {
    const gbees_problem *problem; /* as asked for: with accuracy */
    int run;                      /* from 1: the one that goes on, or the next */
    int retried;                  /* how often a first run has failed and another has taken its place */
    run_result now, before;       /* `before`: of the run before; no legs in the first */
    double best;                  /* the least error of a run so far; infinite: none */
    size_t samples;               /* that the accuracy takes */
    int fixed;                    /* 1: all runs have as many samples */
    double steps;                 /* of each sample, over the run; 0: not known */
    int insists;                  /* 1: only samples are missing; they may take as much work as the grid */
    gbees_audit_options audit;    /* of the last run */
    double courant;               /* of the next run */
    int halved;       /* 1: the time step is half of that of the run before, on the same cells; -1: in vain */
    double budget;    /* mass that may be lost over the next run */
    double updated;   /* log of the fraction that the measurements of one time select, until their record */
    double selected;  /* least such fraction of measurements of the current run whose tail was lost; 1: none */
    double least;     /* least such fraction of any measurement of the current run; 1: none */
    double spared;    /* by how much cells have become narrower as samples left room for it */
    double kept;      /* fraction whose tail the run's grid is to keep; 1: none */
    double threshold; /* p* of the next run if kept < 1 */
    gbees_histogram *pending; /* of the record that is to come */
};

/* Frees the lists of a run, and the histograms of its records. */
void gbees_plan_free_run(const run_result *run);

/* Cells per half a standard deviation along an axis of the first run's grid: the problem's own, more of them if it
 * moves and the accuracy is below .05. */
double gbees_plan_first_factor(const gbees_problem *problem, int axis);
/* `frame_cells` (K) of a run on a grid that moves and has this factor. */
double gbees_plan_frame_cells(const gbees_problem *problem, double factor);

/* Runs are compared if their cells' widths differ by at least this factor. */
extern const double gbees_plan_least_finer;
/* How many times finer a leg is than in the run before: the geometric mean over the axes that are. */
double gbees_plan_finer(const gbees_refinement *r, int leg);

/* Whether a deviation in a leg, with noise, is off by all of it, as what a precise measurement leaves is within a
 * cell: then that leg's cells are all that can help. */
int gbees_plan_is_unresolved(const gbees_refinement *r, int leg);
/* Whether finer cells in a leg have not helped it: its error comes from elsewhere. */
int gbees_plan_was_in_vain(const gbees_refinement *r, int leg);

/* Sets the factors of all legs for the next run, whose cost grows by no more than a few times, so that all runs
 * together cost little more than the last. updates: of this run; needed: as many entries as factor, for the work;
 * *more receives how many times as many cells a leg has at most. Returns the predicted updates. */
double gbees_plan_factors(const gbees_refinement *r, double updates, double (*needed)[GBEES_MAX_DIM],
                          double (*factor)[GBEES_MAX_DIM], double *more);

/* ---- cell_values.c ---- */
/* Whether cells are to have values at their centres: in several dimensions noise keeps the error that shear makes of
 * averages, of second order in the cells' width, for all times (doc/method.md, "Points or averages"). A measurement
 * or a density that is narrower than a cell takes averages, and so does a density that does not vanish at a wall. */
int gbees_plan_takes_points(const gbees_problem *problem);
/* Whether what cells cut off and the time step are to be far below what is asked for: the cells' own error is, and in
 * up to three dimensions that costs little. */
int gbees_plan_is_fine(const gbees_problem *problem);

/* ---- selection.c ---- */
/* The mass that a run may lose, unless its measurements select a tail. */
double gbees_plan_budget(const gbees_problem *problem);
/* The half-size of the next run's initial box, in standard deviations. */
double gbees_plan_extent(const gbees_refinement *r);
/* Takes the measurements of a record's time, if there are some, as in the tail (GBEES_WARNING_TAIL), or not. */
void gbees_plan_note_selection(gbees_refinement *r, const gbees_record *record);
/* Whether a measurement has selected a smaller fraction than the current run's grid was to keep. */
int gbees_plan_lacks_tail(const gbees_refinement *r);
/* Lets the next run keep the tails that the measurements of this one select. Returns how many times as many cells it
 * has at most. */
double gbees_plan_keep_tail(gbees_refinement *r);
/* Sets p* of a next run that keeps a tail, for so many cells. */
void gbees_plan_set_threshold(gbees_refinement *r, double cells);

/* ---- sample_count.c ---- */
/* Whether so small a fraction of samples is effective that no number of them certifies a record; a small one is known
 * from few samples. */
int gbees_plan_is_hopeless(double effective);
/* The number of samples that an accuracy takes if this fraction of them is effective; if no number would do, the
 * number that suffices before the updates, where all samples are effective. */
size_t gbees_plan_samples_for(double accuracy, double effective);
/* Sets the number of samples of the next run. It grows to what the accuracy needs after the updates, once the error
 * of the grid is no longer much larger than that of the samples; not by the margin that it has, as all of them would
 * be integrated anew. */
void gbees_plan_choose_samples(gbees_refinement *r);
/* Whether the same run would be within the accuracy with more samples than the `before` that it had. */
int gbees_plan_samples_suffice(const gbees_refinement *r, size_t before);
/* Notes the samples of a record's certificate, and returns whether they can't tell if the record is within the
 * accuracy. */
int gbees_plan_note_samples(gbees_refinement *r, const gbees_record *record, gbees_difference difference);
/* At a run's end: records that samples can't certify count if they are more than a tenth. */
void gbees_plan_judge_unsure(run_result *run);
/* Whether a record's error is the grid's: above the accuracy, and not by what samples differ from each other. */
int gbees_plan_owns(const gbees_refinement *r, const gbees_certificate *certificate, gbees_difference difference);
/* Whether a run that has ended is not within the accuracy, or not certified though by the run before it is within,
 * and of no record, but for one in many by chance, the grid is to blame for it. */
int gbees_plan_is_blind(const gbees_refinement *r);
/* How many times narrower cells may be in a run that has more samples and so takes longer whatever its grid, whose
 * work is then a small part of theirs; 1 or more. updates: of the run before. */
double gbees_plan_spare(const gbees_refinement *r, double updates);
/* Whether the next run, on the same cells, may have so many more samples than the `before` of this one that it is
 * worth its time. */
int gbees_plan_samples_can_grow(const gbees_refinement *r, size_t before);
/* Whether only a fixed, too small number of samples keeps the run from its accuracy: most of each bound is sampling
 * error, and estimates, where there are no bounds, are within the accuracy. */
int gbees_plan_samples_are_few(const gbees_refinement *r);

#endif
