/* writer.c - a results folder while its run goes on: see gbees/results.h and doc/results.md. */
#include "base/seconds.h"
#include "base/text.h"
#include "base/time_tolerance.h"
#include "base/workers.h"
#include "checkpoint_file.h"
#include "moments.h"
#include "provenance.h"
#include "results/records/record_cells.h"
#include "results/records/record_file.h"
#include "results/records/results_list.h"
#include "results/records/run_file.h"
#include "results/records/xdmf.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct gbees_writer {
    gbees_store store;
    gbees_run_info info;
    gbees_run_file *run;     /* the one file of all records; NULL: a file each */
    gbees_text grids;        /* of its sidecar, */
    gbees_record_name last;  /* the last of which is this record's; after a resumption that is not known */
    gbees_record_name there; /* the last record that the folder has, of info.records */
    gbees_moments *moments;
    const gbees_output *output; /* NULL: all records are written */
    size_t records;             /* so far */
    uint64_t checkpoints;       /* that have been made since the run's start */
    pthread_mutex_t lock;       /* gbees_writer_sync() may be called beside the other functions */
    double synced_s;            /* when all was last synced, of CLOCK_MONOTONIC */
    double series_s;            /* when moments.h5 was last written */
    double series_took_s;       /* how long that took */
    int behind; /* whether there is something that is not yet in moments.h5 or a list, or not synced */
};

/* The least time, in seconds, between writes of the time series and syncs: records of small grids come faster. */
static const double interval_s = 1;
/* moments.h5 is replaced as a whole, so that a crash never damages it. The longer the series, the longer that takes:
 * it is done in a twentieth of the time at most. */
static const double series_part = 0.05;

static int prepare(gbees_writer *writer, const gbees_problem *problem, const gbees_provenance *provenance,
                   gbees_error *error)
{
    writer->moments = gbees_moments_create(problem);
    if (!writer->moments)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write results");
    return gbees_run_info_create(problem, provenance, &writer->info, error);
}

static int start(gbees_writer *writer, const char *folder, const gbees_problem *problem,
                 const gbees_provenance *provenance, gbees_error *error)
{
    int status = prepare(writer, problem, provenance, error);

    if (!status)
        status = gbees_store_open(folder, &writer->store, error);
    if (!status)
        status = gbees_run_info_write(&writer->info, &writer->store, "running", NULL, error);
    if (!status)
        status = gbees_store_write(&writer->store, "scenario.yaml", writer->info.scenario,
                                   strlen(writer->info.scenario), error);
    return status;
}

int gbees_writer_create(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        gbees_writer **writer, gbees_error *error)
{
    gbees_writer *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write results");
    (void)pthread_mutex_init(&made->lock, NULL);
    made->last.leg = made->there.leg = -1;
    int status = start(made, folder, problem, provenance, error);
    if (status)
        gbees_writer_destroy(made);
    else
        *writer = made;
    return status;
}

static int sync_all(gbees_writer *writer, gbees_error *error)
{
    const int status = gbees_store_sync(&writer->store, error);

    if (!status && writer->run)
        gbees_run_file_synced(writer->run);
    return status;
}

/* Writes the time series to moments.h5. */
static int write_series(gbees_writer *writer, gbees_error *error)
{
    const double start = gbees_seconds_now();
    const int status = gbees_moments_write(writer->moments, &writer->store, NULL, error);

    writer->series_s = gbees_seconds_now();
    writer->series_took_s = writer->series_s - start;
    return status;
}

/* Writes the time series, the list of grids and the run's one file, and syncs, unless there is nothing to do or that
 * was a moment ago; `at_once`: then, too. */
static int flush(gbees_writer *writer, int at_once, gbees_error *error)
{
    const double now = gbees_seconds_now();

    if (!writer->behind || (!at_once && now - writer->synced_s < interval_s))
        return GBEES_OK;
    const int is_series_due = at_once || (now - writer->series_s) * series_part >= writer->series_took_s;
    int status = writer->run ? gbees_run_file_commit(writer->run, at_once, error) : GBEES_OK;
    if (!status && is_series_due)
        status = write_series(writer, error);
    if (!status && writer->grids.length > 0)
        status = gbees_xdmf_write_run(&writer->store, &writer->grids, error);
    if (!status)
        status = sync_all(writer, error);
    writer->behind =
        status != GBEES_OK || !is_series_due || (writer->run && !gbees_run_file_is_committed(writer->run));
    writer->synced_s = gbees_seconds_now();
    return status;
}

int gbees_writer_one_file(gbees_writer *writer, gbees_error *error)
{
    if (writer->run)
        return GBEES_OK;
    const int status = gbees_run_file_create(&writer->store, &writer->run, error);
    return status ? status : gbees_record_file_write_run(writer->run, &writer->info, error);
}

/* The one file that the run has begun, if it has. A child reads the list of its records before HDF5 opens it here. */
static int reopen_run_file(gbees_writer *writer, gbees_error *error)
{
    gbees_results_list list = {0};
    int status = gbees_results_list_read(writer->store.descriptor, writer->store.path, &list, error);

    writer->info.records = list.count;
    if (list.count)
        writer->there = list.name[list.count - 1];
    free(list.name);
    if (!status)
        status = gbees_run_file_reopen(&writer->store, &writer->run, error);
    if (!status && writer->run)
        status = gbees_record_file_write_run(writer->run, &writer->info, error);
    return status || !writer->run ? status : gbees_xdmf_read_run(&writer->store, &writer->grids, error);
}

/* Writes the time series to the run's one file, at its end. */
static int close_run_file(gbees_writer *writer, gbees_error *error)
{
    if (!writer->run)
        return GBEES_OK;
    int status = gbees_moments_write(writer->moments, &writer->store, writer->run, error);
    if (!status && writer->grids.length > 0)
        status = gbees_xdmf_write_run(&writer->store, &writer->grids, error);
    if (!status)
        status = sync_all(writer, error);
    if (!status)
        status = gbees_run_file_commit(writer->run, 1, error);
    if (status)
        return status;
    writer->behind = 0;
    (void)unlinkat(writer->store.descriptor, GBEES_MOMENTS_FILE, 0);
    return sync_all(writer, error);
}

/* Opens the folder of a run that is resumed, and its series from the checkpoint. */
static int go_on(gbees_writer *writer, const char *folder, const gbees_checkpoint *checkpoint, int forced,
                 gbees_error *error)
{
    int status = gbees_store_reopen(folder, &writer->store, error);

    if (!status)
        status =
            gbees_checkpoint_copy(checkpoint, "number", sizeof writer->checkpoints, 1, &writer->checkpoints, error);
    if (!status)
        status = gbees_moments_load(writer->moments, checkpoint, error);
    if (!status)
        status = gbees_checkpoint_copy(checkpoint, "scores", 8, sizeof writer->info.scores / 8, &writer->info.scores,
                                       error);
    writer->records = gbees_moments_count(writer->moments);
    writer->last.leg = INT_MAX;
    if (!status)
        status = reopen_run_file(writer, error);
    if (!status)
        status = gbees_run_info_resume(&writer->info, &writer->store, forced, error);
    return status ? status : gbees_run_info_write(&writer->info, &writer->store, "running", NULL, error);
}

int gbees_writer_resume(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        const gbees_checkpoint *checkpoint, int forced, gbees_writer **writer, gbees_error *error)
{
    gbees_writer *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write results");
    (void)pthread_mutex_init(&made->lock, NULL);
    made->there.leg = -1;
    int status = prepare(made, problem, provenance, error);
    if (!status)
        status = go_on(made, folder, checkpoint, forced, error);
    if (status)
        gbees_writer_destroy(made);
    else
        *writer = made;
    return status;
}

/* Writes a checkpoint, after a sync of all files that belong to it. */
static int write_checkpoint(gbees_writer *writer, gbees_checkpoint *checkpoint, gbees_error *error)
{
    int status = flush(writer, 1, error);

    if (!status)
        status = gbees_moments_save(writer->moments, checkpoint, error);
    if (!status &&
        gbees_checkpoint_add(checkpoint, "scores", 8, sizeof writer->info.scores / 8, &writer->info.scores))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a checkpoint");
    if (!status)
        status = gbees_run_info_save(&writer->info, checkpoint, error);
    if (!status)
        status = gbees_checkpoint_file_write(&writer->store, writer->checkpoints + 1, checkpoint,
                                             writer->info.writing_threads, error);
    writer->checkpoints += !status;
    return status;
}

int gbees_writer_checkpoint(gbees_writer *writer, gbees_checkpoint *checkpoint, gbees_error *error)
{
    (void)pthread_mutex_lock(&writer->lock);
    const int status = write_checkpoint(writer, checkpoint, error);
    (void)pthread_mutex_unlock(&writer->lock);
    return status;
}

void gbees_writer_remove_checkpoints(gbees_writer *writer)
{
    gbees_checkpoint_file_remove(&writer->store);
}

void gbees_writer_destroy(gbees_writer *writer)
{
    if (!writer)
        return;
    (void)flush(writer, 1, NULL);
    (void)pthread_mutex_destroy(&writer->lock);
    gbees_moments_destroy(writer->moments);
    gbees_run_file_destroy(writer->run);
    gbees_text_free(&writer->grids);
    gbees_run_info_free(&writer->info);
    gbees_store_close(&writer->store);
    free(writer);
}

void gbees_writer_output(gbees_writer *writer, const gbees_output *output)
{
    writer->output = output;
}

/* Whether one of the times is after the record before and not after this one; of an update's two records both are at
 * its time. */
static int is_at_time(const gbees_writer *writer, const gbees_record *record)
{
    const gbees_output *output = writer->output;
    const double near = gbees_time_tolerance(record->problem->start, record->problem->end);
    const double before = gbees_moments_time_before(writer->moments, record->time - near);

    for (size_t k = 0; k < output->time_count; k++)
        if (output->times[k] > before + near && output->times[k] <= record->time + near)
            return 1;
    return 0;
}

/* Whether a record gets a file. In paper and legacy mode the end is where the last step ends. */
static int has_file(const gbees_writer *writer, const gbees_record *record)
{
    const gbees_output *output = writer->output;

    if (!output || output->densities == GBEES_DENSITIES_ALL)
        return !output || output->every <= 1 || writer->records % (size_t)output->every == 0;
    if (output->densities == GBEES_DENSITIES_AT_TIMES)
        return is_at_time(writer, record);
    return output->densities == GBEES_DENSITIES_LAST && record->time >= record->problem->end;
}

static int write_sidecar(gbees_writer *writer, const gbees_record *record, gbees_error *error)
{
    const gbees_record_name name = {record->leg, record->number, writer->run != NULL};
    const size_t count = gbees_cells_count(record->cells);

    if (!gbees_xdmf_applies(record->problem->dimension) || count == 0)
        return GBEES_OK;
    if (!writer->run)
        return gbees_xdmf_write(&writer->store, &name, record, count, error);
    if (gbees_record_name_compare(&name, &writer->last) <= 0)
        gbees_xdmf_cut(&writer->grids, &name);
    gbees_xdmf_add(&writer->grids, &name, record, count);
    writer->last = name;
    return writer->grids.failed ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write " GBEES_XDMF_RUN)
                                : GBEES_OK;
}

static int write_files(gbees_writer *writer, const gbees_record *record, gbees_error *error)
{
    writer->info.writing_threads = gbees_workers_beside(record->totals.threads, record->time >= record->problem->end);
    const gbees_record_name name = {record->leg, record->number, writer->run != NULL};
    int status = gbees_record_file_write(&writer->store, writer->run, &writer->info, record, error);

    if (!status &&
        gbees_record_name_compare(&name, &writer->there) > 0) { /* one is written again after a resumption */
        writer->there = name;
        writer->info.records++;
    }
    if (!status && writer->run)
        status = gbees_run_file_commit(writer->run, 0, error);
    return status ? status : write_sidecar(writer, record, error);
}

static int write_record(gbees_writer *writer, const gbees_record *record, gbees_error *error)
{
    int status = has_file(writer, record) ? write_files(writer, record, error) : GBEES_OK;

    writer->records++;
    if (record->score)
        gbees_scores_add(&writer->info.scores, record->problem->dimension, record->score);
    if (!status)
        status = gbees_moments_add(writer->moments, record, error);
    if (!status && writer->output && writer->output->every_step &&
        record->number == 0) /* the first of a leg follows no step */
        status = gbees_moments_add_step(writer->moments, record, error);
    writer->behind = 1;
    return status ? status : flush(writer, 0, error);
}

int gbees_writer_record(gbees_writer *writer, const gbees_record *record, gbees_error *error)
{
    (void)pthread_mutex_lock(&writer->lock);
    const int status = write_record(writer, record, error);
    (void)pthread_mutex_unlock(&writer->lock);
    return status;
}

/* Ends the addition of a row to a time series, which has the status `status`, and gives the lock back. */
static int end_row(gbees_writer *writer, int status, gbees_error *error)
{
    writer->behind = 1;
    if (!status)
        status = flush(writer, 0, error);
    (void)pthread_mutex_unlock(&writer->lock);
    return status;
}

int gbees_writer_update(gbees_writer *writer, int number, double time, const gbees_evidence *evidence,
                        gbees_error *error)
{
    (void)pthread_mutex_lock(&writer->lock);
    return end_row(writer, gbees_moments_add_update(writer->moments, number, time, evidence, error), error);
}

int gbees_writer_step(gbees_writer *writer, const gbees_record *record, gbees_error *error)
{
    (void)pthread_mutex_lock(&writer->lock);
    return end_row(writer, gbees_moments_add_step(writer->moments, record, error), error);
}

int gbees_writer_smoothed(gbees_writer *writer, const gbees_record *record, gbees_error *error)
{
    (void)pthread_mutex_lock(&writer->lock);
    return end_row(writer, gbees_moments_add_smoothed(writer->moments, record, error), error);
}

int gbees_writer_sync(gbees_writer *writer, gbees_error *error)
{
    if (pthread_mutex_trylock(&writer->lock)) /* something is being written */
        return GBEES_OK;
    const int status = flush(writer, 0, error);
    (void)pthread_mutex_unlock(&writer->lock);
    return status;
}

int gbees_writer_runs(gbees_writer *writer, const gbees_refinement_step *runs, int count, gbees_error *error)
{
    gbees_refinement_step *copy = malloc(((size_t)count + 1) * sizeof *copy);

    if (!copy)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write results");
    memcpy(copy, runs, (size_t)count * sizeof *copy);
    free(writer->info.runs);
    writer->info.runs = copy;
    writer->info.run_count = count;
    return GBEES_OK;
}

void gbees_writer_set_stopped_by(gbees_writer *writer, const char *what)
{
    writer->info.stopped_by = what;
}

/* The time series of a run that has failed comes last: on a disk that is full the state takes the last space. */
static int finish(gbees_writer *writer, const char *state, const gbees_summary *summary, gbees_error *error)
{
    const int failed = strcmp(state, "complete") != 0;
    int status = failed ? GBEES_OK : writer->run ? close_run_file(writer, error) : flush(writer, 1, error);

    gbees_store_use_reserve(&writer->store);
    if (!status)
        status = gbees_run_info_write(&writer->info, &writer->store, state, summary, error);
    if (!status && failed)
        status = flush(writer, 1, error);
    if (!status && failed)
        status = close_run_file(writer, error);
    return status;
}

/* Where that has failed: what can be written now, and the state. */
static void finish_failed(gbees_writer *writer, const char *state, const gbees_summary *summary)
{
    (void)flush(writer, 1, NULL);
    writer->behind = 0;
    (void)gbees_run_info_write(&writer->info, &writer->store, state, summary, NULL);
}

int gbees_writer_finish(gbees_writer *writer, const char *state, const gbees_summary *summary, gbees_error *error)
{
    (void)pthread_mutex_lock(&writer->lock);
    int status = finish(writer, state, summary, error);
    if (status)
        finish_failed(writer, strcmp(state, "complete") == 0 ? "failed" : state, summary);
    (void)pthread_mutex_unlock(&writer->lock);
    return status;
}
