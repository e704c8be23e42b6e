/* writer.c - a results folder while its run goes on: see gbees.h and doc/results.md. */
#include "checkpoint_file.h"
#include "moments.h"
#include "provenance.h"
#include "record_cells.h"
#include "record_file.h"
#include "xdmf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gbees_writer {
    gbees_store store;
    gbees_run_info info;
    gbees_moments *moments;
    uint64_t checkpoints; /* that have been made since the run's start */
};

static int prepare(gbees_writer *writer, const gbees_problem *problem, const gbees_provenance *provenance,
                   gbees_error *error)
{
    writer->moments = gbees_moments_create(problem->dimension);
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
    int status = start(made, folder, problem, provenance, error);
    if (status)
        gbees_writer_destroy(made);
    else
        *writer = made;
    return status;
}

/* Takes the folder as it is. */
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
        status = gbees_run_info_resume(&writer->info, &writer->store, forced, error);
    return status ? status : gbees_run_info_write(&writer->info, &writer->store, "running", NULL, error);
}

int gbees_writer_resume(const char *folder, const gbees_problem *problem, const gbees_provenance *provenance,
                        const gbees_checkpoint *checkpoint, int forced, gbees_writer **writer, gbees_error *error)
{
    gbees_writer *made = calloc(1, sizeof *made);

    if (!made)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write results");
    int status = prepare(made, problem, provenance, error);
    if (!status)
        status = go_on(made, folder, checkpoint, forced, error);
    if (status)
        gbees_writer_destroy(made);
    else
        *writer = made;
    return status;
}

int gbees_writer_checkpoint(gbees_writer *writer, gbees_checkpoint *checkpoint, gbees_error *error)
{
    int status = gbees_moments_save(writer->moments, checkpoint, error);

    if (!status)
        status = gbees_run_info_save(&writer->info, checkpoint, error);
    if (!status)
        status = gbees_checkpoint_file_write(&writer->store, writer->checkpoints + 1, checkpoint, error);
    writer->checkpoints += !status;
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
    gbees_moments_destroy(writer->moments);
    gbees_run_info_free(&writer->info);
    gbees_store_close(&writer->store);
    free(writer);
}

int gbees_writer_record(gbees_writer *writer, const gbees_record *record, gbees_error *error)
{
    char name[64], sidecar[64];

    (void)snprintf(name, sizeof name, "leg%d_record%d.h5", record->leg, record->number);
    (void)snprintf(sidecar, sizeof sidecar, "leg%d_record%d.xdmf", record->leg, record->number);
    const size_t count = gbees_record_cells_count(record);
    int status = gbees_record_file_write(&writer->store, name, &writer->info, record, error);
    if (!status && gbees_xdmf_applies(record->problem->dimension) && count > 0)
        status = gbees_xdmf_write(&writer->store, sidecar, name, record, count, error);
    if (!status)
        status = gbees_moments_add(writer->moments, record, error);
    if (!status)
        status = gbees_moments_write(writer->moments, &writer->store, error);
    return status;
}

int gbees_writer_update(gbees_writer *writer, int number, double time, const gbees_evidence *evidence,
                        gbees_error *error)
{
    int status = gbees_moments_add_update(writer->moments, number, time, evidence, error);

    return status ? status : gbees_moments_write(writer->moments, &writer->store, error);
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

int gbees_writer_finish(gbees_writer *writer, const char *state, const gbees_summary *summary, gbees_error *error)
{
    return gbees_run_info_write(&writer->info, &writer->store, state, summary, error);
}
