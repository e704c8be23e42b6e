/* search_state.c - the folder DIR.runs, which holds the state of a search for an accuracy; see search.h. */
#include "base/checkpoint.h"
#include "base/text.h"
#include "io/folder.h"
#include "search.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a checkpoint of DIR.runs holds beside the refinement plan and gbees_search.steps. */
typedef struct search_state {
    int count, met; /* as in gbees_search */
    int best;       /* the best run's number; 0: none has ended */
} search_state;

/* ---- folders ---- */

void gbees_search_remove_folder(const char *path)
{
    DIR *folder = opendir(path);

    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        (void)unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." fail */
    if (folder)
        (void)closedir(folder);
    (void)rmdir(path);
}

char *gbees_search_folder(const gbees_search *search, int number)
{
    gbees_text text = {0};

    if (!search->folder)
        return NULL;
    gbees_text_add(&text, "%s/%d", search->folder, number);
    return gbees_text_take(&text);
}

/* Sets s->folder to "DIR.runs". */
static int name_folder(gbees_search *s, gbees_error *error)
{
    gbees_text text = {0};

    gbees_text_add(&text, "%s.runs", s->setup->folder);
    s->folder = gbees_text_take(&text);
    return s->folder ? GBEES_OK : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a folder's name");
}

static int is_there(const char *path)
{
    return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- its beginning and its end ---- */

static gbees_provenance describe(const gbees_search *s)
{
    return (gbees_provenance){.scenario = gbees_scenario_text(s->setup->scenario),
                              .backend = s->setup->backend->name,
                              .device = s->setup->backend->title,
                              .command = s->command};
}

int gbees_search_begin(gbees_search *s, gbees_error *error)
{
    const gbees_provenance provenance = describe(s);

    if (s->writer || !s->setup->folder)
        return GBEES_OK;
    int status = provenance.scenario
                     ? name_folder(s, error)
                     : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the scenario's text");
    if (!status)
        status = gbees_writer_create(s->folder, s->setup->problem, &provenance, &s->writer, error);
    if (!status)
        return gbees_search_save(s, error);
    free(s->folder); /* another program's folder: gbees_search_end() must not remove it */
    s->folder = NULL;
    return status;
}

void gbees_search_end(gbees_search *s, int removed)
{
    for (int k = 1; removed && s->folder && k <= GBEES_SEARCH_RUNS; k++) {
        char *folder = gbees_search_folder(s, k);

        if (folder)
            gbees_search_remove_folder(folder);
        free(folder);
    }
    gbees_writer_destroy(s->writer);
    s->writer = NULL;
    if (removed && s->folder)
        gbees_search_remove_folder(s->folder);
    free(s->folder);
    s->folder = NULL;
}

/* ---- its state ---- */

int gbees_search_save(gbees_search *s, gbees_error *error)
{
    const search_state state = {s->count, s->met, s->best ? s->best->number : 0};
    gbees_checkpoint checkpoint = {0};

    if (!s->writer || s->options->parallel)
        return GBEES_OK;
    int status = gbees_resumption_save(s->setup, s->options, &checkpoint, error);
    if (!status)
        status = gbees_refinement_save(s->refinement, &checkpoint, error);
    if (!status &&
        (gbees_checkpoint_add(&checkpoint, "search", 1, sizeof state, &state) ||
         gbees_checkpoint_add(&checkpoint, "search_steps", 1, (size_t)s->count * sizeof *s->steps, s->steps)))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the state of the runs");
    if (!status)
        status = gbees_writer_checkpoint(s->writer, &checkpoint, error);
    gbees_checkpoint_clear(&checkpoint);
    return status;
}

/* Renames DIR, which holds the results of run `number`, back to DIR.runs/number. If that folder is there already, DIR
 * must be empty or absent; else GBEES_EIO. */
static int put_back(const gbees_search *s, int number, gbees_error *error)
{
    const char *results = s->setup->folder;
    char *folder = gbees_search_folder(s, number), *checkpoints[2] = {NULL, NULL};
    int status = GBEES_OK;

    if (!folder)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a folder's name");
    checkpoints[0] = gbees_folder_join(results, "checkpoint-A.h5");
    checkpoints[1] = gbees_folder_join(results, "checkpoint-B.h5");
    if (checkpoints[0] && checkpoints[1] && !is_there(folder) &&
        (is_there(checkpoints[0]) || is_there(checkpoints[1]))) {
        if (rename(results, folder))
            status = gbees_error_set(error, GBEES_EIO, "the results in %s can't be renamed to %s: %s", results,
                                     folder, strerror(errno));
    } else if (is_there(results) && rmdir(results))
        status =
            gbees_error_set(error, GBEES_EIO, "the folder %s is in the way: it is not of the runs in %s: rename it",
                            results, s->folder);
    free(folder);
    free(checkpoints[0]);
    free(checkpoints[1]);
    return status;
}

int gbees_search_load(gbees_search *s, int *best, gbees_error *error)
{
    const gbees_provenance provenance = describe(s);
    const gbees_checkpoint *checkpoint = s->from->checkpoint;
    search_state state;
    int status = gbees_checkpoint_copy(checkpoint, "search", 1, sizeof state, &state, error);

    if (!status && (state.count < 0 || state.count > GBEES_SEARCH_RUNS || state.best < 0 || state.best > state.count))
        status =
            gbees_error_set(error, GBEES_EINPUT, "the state of the runs is damaged: there are %d, the best is %d",
                            state.count, state.best);
    if (!status)
        status = gbees_checkpoint_copy(checkpoint, "search_steps", 1, (size_t)state.count * sizeof *s->steps,
                                       s->steps, error);
    if (!status)
        status = gbees_refinement_load(s->refinement, checkpoint, error);
    if (!status)
        status = name_folder(s, error);
    if (!status)
        status = gbees_writer_resume(s->folder, s->setup->problem, &provenance, checkpoint, s->from->forced,
                                     &s->writer, error);
    if (!status)
        status = put_back(s, state.best ? state.best : state.count + 1, error);
    if (status)
        return status;
    s->count = state.count;
    s->met = state.met;
    *best = state.best;
    return GBEES_OK;
}
