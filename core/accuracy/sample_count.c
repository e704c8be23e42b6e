/* sample_count.c - how many samples the audits of an accuracy's runs have, and what these can tell; see plan.h. */
#include "plan.h"
#include <math.h>

enum {
    SAMPLES_LEAST = 10000,
    SAMPLES_MOST = 1 << 22,
    EFFECTIVE_LEAST = 256, /* of samples, for a certificate */
    DOUBTFUL_FOR_ONE = 10  /* records that samples can't tell of, for one that by all appearances is off by chance */
};

/* Runs on grids at rest have samples for coarse_accuracy at most, until their error is at most near_accuracy times
 * what is asked. On a grid that moves the first run may well be the last, and costs more than samples. */
static const double coarse_accuracy = 0.05, near_accuracy = 8;
static const double margin = 1.1;     /* samples over those that are needed */
static const double most_own = 0.75;  /* of the accuracy: an error of the samples' own that leaves them to certify */
static const double wanted_own = 0.6; /* of the accuracy: what samples are to have of their own */
static const double most_chance = 2;  /* times a bound's own error, four standard errors: differences that hundreds
                                       * of figures of a run may have by chance */
static const double most_sample_bound = 0.75; /* of the accuracy: the part of a bound that may be the samples' own */
/* The work of samples in cell updates of the grid: of a step of one of them; always allowed, a second or less; where
 * only samples are missing as much as some ten seconds allow, `growth` times the samples of the run before at most;
 * the part of the grid's work that is allowed besides. On a GPU cell updates are a hundred times cheaper. */
static const double step_cost = 6, always = 5e7, always_missing = 1e9, growth = 4, share = 0.1, share_gpu = 0.001;
/* The part of the samples' work that the grid may have where only they are missing, and by how much its cells may
 * become narrower for that. */
static const double spare = 0.03, most_spare = 6;

int gbees_plan_is_hopeless(double effective)
{
    return effective * SAMPLES_MOST < 4 * EFFECTIVE_LEAST;
}

size_t gbees_plan_samples_for(double accuracy, double effective)
{
    if (gbees_plan_is_hopeless(effective))
        effective = 1;
    /* Twice the standard error of a mean, 2 / sqrt(effective), is a quarter of the accuracy. */
    const double wanted = margin * 64 / (accuracy * accuracy) / effective;

    return wanted < SAMPLES_LEAST ? SAMPLES_LEAST : wanted > SAMPLES_MOST ? SAMPLES_MOST : (size_t)wanted;
}

void gbees_refinement_expect(gbees_refinement *refinement, const gbees_audit_outlook *outlook)
{
    const double accuracy = refinement->problem->accuracy;

    refinement->now.effective = outlook->effective;
    refinement->steps = outlook->steps;
    refinement->samples = gbees_plan_samples_for(
        refinement->problem->moving ? accuracy : fmax(accuracy, coarse_accuracy), outlook->effective);
}

void gbees_refinement_fix(gbees_refinement *refinement, size_t samples)
{
    refinement->samples = samples;
    refinement->fixed = 1;
}

/* How many samples a run may begin with: those that the accuracy takes, or, of a number that is not fixed, as many as
 * may take so much work. */
static size_t affordable(const gbees_refinement *r, double work)
{
    const double steps = step_cost * r->steps;

    if (r->fixed || !(steps > 0) || work / steps >= (double)r->samples)
        return r->samples;
    return work / steps < SAMPLES_LEAST && SAMPLES_LEAST < r->samples ? SAMPLES_LEAST : (size_t)(work / steps);
}

/* The work that samples may have where only they are missing, after a run with so many. */
static double missing_work(const gbees_refinement *r, size_t before, double grid)
{
    return fmax(fmin(always_missing, growth * step_cost * r->steps * (double)before), fmax(always, grid));
}

int gbees_plan_samples_can_grow(const gbees_refinement *r, size_t before)
{
    return (double)affordable(r, missing_work(r, before, r->now.work)) > margin * (double)before;
}

double gbees_plan_spare(const gbees_refinement *r, double updates)
{
    const double room =
        spare * fmin(missing_work(r, r->now.samples, r->now.work), step_cost * r->steps * (double)r->samples);

    /* Cells, steps, and passes of noise in a step, which one in a narrower cell has more of. */
    const double power = r->problem->dimension + (r->problem->model->diffusion ? 2 : 1);

    return updates > 0 ? fmin(fmax(pow(room / updates, 1 / power), 1), most_spare / r->spared) : 1;
}

int gbees_refinement_audit(gbees_refinement *refinement, gbees_audit_options *options)
{
    const gbees_audit_options before = refinement->audit;
    const double part = refinement->insists ? 1 : options->backend && options->backend->capture ? share_gpu : share;
    const double grid = part * refinement->before.work;

    options->samples =
        affordable(refinement, refinement->insists ? missing_work(refinement, refinement->before.samples, grid)
                                                   : fmax(always, grid));
    options->most = refinement->fixed ? 0 : refinement->samples;
    options->share = refinement->fixed ? 0 : part;
    refinement->audit = *options;
    if (before.samples == 0 || refinement->before.by_points) /* points stay, whatever samples would be wanted */
        return before.samples == 0;
    return before.most != options->most || before.share < options->share ||
           options->samples > refinement->before.samples;
}

/* The number of samples whose own error would be small enough, by that of this run's, whose tails may be long. */
static double needed_by_own(const gbees_refinement *r)
{
    const double times = r->now.unknown || !gbees_plan_is_blind(r)
                             ? 0
                             : pow(r->now.sample_bound / (wanted_own * r->problem->accuracy), 2);

    return fmin(times * (double)r->now.samples, SAMPLES_MOST);
}

void gbees_plan_choose_samples(gbees_refinement *r)
{
    const double accuracy = r->problem->accuracy;
    const size_t by_own = (size_t)needed_by_own(r), usual = gbees_plan_samples_for(accuracy, r->now.effective);
    const size_t needed = by_own > usual ? by_own : usual;

    if (!r->fixed && !r->now.by_points &&
        (r->now.unknown || gbees_plan_is_blind(r) || r->now.error < near_accuracy * accuracy) &&
        (double)needed > margin * (double)r->samples)
        r->samples = needed;
}

int gbees_plan_samples_suffice(const gbees_refinement *r, size_t before)
{
    const double less = fmax(0, 1 - sqrt((double)before / (double)r->samples));

    return !r->now.unknown && r->now.error - less * r->now.sample_bound <= r->problem->accuracy;
}

int gbees_plan_samples_are_few(const gbees_refinement *r)
{
    const double own = r->now.sample_bound, accuracy = r->problem->accuracy;

    return r->fixed && own > most_sample_bound * accuracy && r->now.error <= 2 * own &&
           (!r->now.unknown || r->now.estimate <= accuracy);
}

/* ---- records that samples can't certify ---- */

/* Whether samples can't tell if a record is within the accuracy: their own error alone exceeds it nearly, and the
 * difference that they find does not certainly. */
static int is_unsure(const gbees_refinement *r, const gbees_certificate *certificate, gbees_difference difference)
{
    const double accuracy = r->problem->accuracy, own = difference.bound - difference.value;

    if (!certificate || certificate->points > 0 || r->fixed)
        return 0;
    return isnan(difference.bound)
               ? certificate->effective > 0
               : difference.bound > accuracy && own > most_own * accuracy && difference.value - own <= accuracy;
}

/* Lists a record that samples can't certify. */
static void note_unsure(run_result *run, double time, double bound)
{
    if (run->unsure < GBEES_UNSURE_LISTED)
        run->unsure_time[run->unsure] = time;
    run->unsure++;
    run->doubtful++;
    run->unsure_error = isnan(bound) ? INFINITY : fmax(run->unsure_error, bound);
}

int gbees_plan_note_samples(gbees_refinement *r, const gbees_record *record, gbees_difference difference)
{
    const gbees_certificate *certificate = record->certificate;
    const int unsure = is_unsure(r, certificate, difference);
    run_result *now = &r->now;

    if (certificate && certificate->samples > 0)
        now->samples = certificate->samples;
    if (certificate && certificate->samples > 0 && certificate->effective > 0) {
        double *effective = unsure ? &now->unsure_effective : &now->effective;

        *effective = fmin(*effective, certificate->effective / (double)certificate->samples);
    }
    if (unsure)
        note_unsure(now, record->time, difference.bound);
    return unsure;
}

int gbees_plan_owns(const gbees_refinement *r, const gbees_certificate *certificate, gbees_difference difference)
{
    const double own = difference.bound - difference.value;
    const int by_samples = certificate && certificate->points == 0 && !r->fixed;

    return difference.bound > r->problem->accuracy && !(by_samples && difference.value <= most_chance * own);
}

int gbees_plan_is_blind(const gbees_refinement *r)
{
    const int by_chance = DOUBTFUL_FOR_ONE * r->now.owned <= r->now.doubtful;

    const int lacks = r->now.unknown ? r->now.estimate <= r->problem->accuracy && r->now.effective < 1 &&
                                           !gbees_plan_is_hopeless(r->now.effective)
                                     : r->now.error > r->problem->accuracy;

    return !r->fixed && !r->now.by_points && by_chance && lacks;
}

void gbees_plan_judge_unsure(run_result *run)
{
    if (run->unsure * 10 <= (int)run->record_count)
        return;
    if (isinf(run->unsure_error))
        run->unknown = 1;
    run->effective = fmin(run->effective, run->unsure_effective);
    run->error = fmax(run->error, isinf(run->unsure_error) ? 0 : run->unsure_error);
    run->unsure = 0;
}
