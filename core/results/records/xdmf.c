/* xdmf.c - writes the XML that names the datasets of a record's file, or of each group of run.h5, with its time. */
#include "xdmf.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char head[] = "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n";
static const char tail[] = "</Domain>\n</Xdmf>\n";
static const char head_of_run[] = "<Grid Name=\"records\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
static const char tail_of_run[] = "</Grid>\n";

int gbees_xdmf_applies(int dimension)
{
    return dimension == 2 || dimension == 3;
}

/* The line with which the grid of a record begins, and where its values are: "FILE:" or "FILE:/GROUP". */
static void name_grid(const gbees_record_name *name, char grid[128], char place[GBEES_RECORD_NAME + 2])
{
    char text[GBEES_RECORD_NAME];
    const size_t file = strlen(GBEES_RUN_FILE);

    gbees_record_name_write(name, text);
    (void)snprintf(grid, 128, "<Grid Name=\"%s\" GridType=\"Uniform\">\n", name->grouped ? text + file + 1 : "pdf");
    if (name->grouped)
        (void)snprintf(place, GBEES_RECORD_NAME + 2, GBEES_RUN_FILE ":%s", text + file);
    else
        (void)snprintf(place, GBEES_RECORD_NAME + 2, "%s:", text);
}

void gbees_xdmf_cut(gbees_text *grids, const gbees_record_name *name)
{
    char grid[128], place[GBEES_RECORD_NAME + 2];

    name_grid(name, grid, place);
    const char *again = grids->data ? strstr(grids->data, grid) : NULL;
    if (!again)
        return;
    grids->length = (size_t)(again - grids->data);
    grids->data[grids->length] = '\0';
}

void gbees_xdmf_add(gbees_text *grids, const gbees_record_name *name, const gbees_record *record, size_t count)
{
    const int n = record->problem->dimension;
    const int precision = record->problem->numerics.precision == GBEES_DOUBLE ? 8 : 4;
    char grid[128], place[GBEES_RECORD_NAME + 2];

    name_grid(name, grid, place);
    gbees_text_add(grids, "%s<Time Value=\"%.17g\"/>\n", grid, record->time);
    gbees_text_add(grids, "<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%zu\" NodesPerElement=\"1\"/>\n",
                   count);
    gbees_text_add(grids, "<Geometry GeometryType=\"%s\">\n", n == 2 ? "XY" : "XYZ");
    gbees_text_add(grids,
                   "<DataItem Dimensions=\"%zu %d\" NumberType=\"Float\" Precision=\"4\" Format=\"HDF\">"
                   "%s/pdf/x</DataItem>\n</Geometry>\n",
                   count, n, place);
    gbees_text_add(grids,
                   "<Attribute Name=\"p\" AttributeType=\"Scalar\" Center=\"Node\">\n"
                   "<DataItem Dimensions=\"%zu\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">"
                   "%s/pdf/p</DataItem>\n</Attribute>\n",
                   count, precision, place);
    gbees_text_add(grids, "</Grid>\n");
}

static int write_text(const gbees_store *store, const char *name, gbees_text *text, gbees_error *error)
{
    const size_t length = text->length;
    char *data = gbees_text_take(text);

    if (!data)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s/%s", store->path, name);
    const int status = gbees_store_write_unsynced(store, name, data, length, error);
    free(data);
    return status;
}

int gbees_xdmf_write(const gbees_store *store, const gbees_record_name *name, const gbees_record *record,
                     size_t count, gbees_error *error)
{
    gbees_text text = {0};
    char file[GBEES_RECORD_NAME];

    (void)snprintf(file, sizeof file, "leg%d_record%d.xdmf", name->leg, name->number);
    gbees_text_add(&text, "%s", head);
    gbees_xdmf_add(&text, name, record, count);
    gbees_text_add(&text, "%s", tail);
    return write_text(store, file, &text, error);
}

int gbees_xdmf_write_run(const gbees_store *store, const gbees_text *grids, gbees_error *error)
{
    gbees_text text = {0};

    gbees_text_add(&text, "%s%s%s%s%s", head, head_of_run, grids->data ? grids->data : "", tail_of_run, tail);
    return write_text(store, GBEES_XDMF_RUN, &text, error);
}

/* Takes what is between the head and the tail; 0, or -1 if the text is no such sidecar. */
static int take_grids(const char *text, gbees_text *grids)
{
    const size_t length = strlen(text), first = sizeof head + sizeof head_of_run - 2;
    const size_t last = sizeof tail + sizeof tail_of_run - 2;

    if (length < first + last || strncmp(text, head, sizeof head - 1) != 0)
        return -1;
    gbees_text_add(grids, "%.*s", (int)(length - first - last), text + first);
    return 0;
}

int gbees_xdmf_read_run(const gbees_store *store, gbees_text *grids, gbees_error *error)
{
    enum { MOST = 1 << 30 };
    const int file = openat(store->descriptor, GBEES_XDMF_RUN, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat facts;

    if (file < 0 && errno == ENOENT)
        return GBEES_OK;
    const int sized = file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size < MOST;
    char *text = sized ? calloc(1, (size_t)facts.st_size + 1) : NULL;
    const ssize_t got = text ? read(file, text, (size_t)facts.st_size) : -1;
    const int bad = got < 0 || take_grids(text, grids);
    if (file >= 0)
        (void)close(file);
    free(text);
    return bad || grids->failed
               ? gbees_error_set(error, GBEES_EIO, "can't go on with %s/" GBEES_XDMF_RUN ": remove it", store->path)
               : GBEES_OK;
}
