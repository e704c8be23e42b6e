/* search_folder.c - the folder DIR.runs of a search for an accuracy, which has those of its runs; see search.h. */
#include "base/text.h"
#include "results/folder/folder.h"
#include "search.h"
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

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

    gbees_text_add(&text, "%s/%d", search->folder, number);
    return gbees_text_take(&text);
}

int gbees_search_begin(gbees_search *s, gbees_error *error)
{
    gbees_text text = {0};

    if (s->folder || !s->setup->folder)
        return GBEES_OK;
    gbees_text_add(&text, "%s.runs", s->setup->folder);
    char *folder = gbees_text_take(&text);
    const int status = folder ? gbees_folder_make(folder, error)
                              : gbees_error_set(error, GBEES_ENOMEM, "not enough memory for a folder's name");
    if (status)
        free(folder); /* another program's: gbees_search_end() must not remove it */
    else
        s->folder = folder;
    return status;
}

void gbees_search_end(gbees_search *s)
{
    if (s->folder)
        (void)rmdir(s->folder);
    free(s->folder);
    s->folder = NULL;
}
