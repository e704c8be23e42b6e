/* run_directory.c - legs and records of run.h5: lists in memory, encoded to HDF5 groups and back; see
 * run_directory.h. */
#include "run_directory.h"
#include <errno.h>
#include <fcntl.h>
#include <gbees/gbees.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char leg_name[] = "leg", record_name[] = "record";

/* ---- lists ----------------------------------------------------------------------------------------------------- */

/* Returns n for the name "<head>n", n from 0 to 999999999 without leading zeros, and -1 for any other name. */
static int number_of(const char *name, const char *head)
{
    char again[GBEES_HDF5_LINK_NAME];
    const size_t length = strlen(head);
    const long number = strncmp(name, head, length) == 0 ? strtol(name + length, NULL, 10) : -1;

    if (number < 0 || number > 999999999)
        return -1;
    (void)snprintf(again, sizeof again, "%s%ld", head, number);
    return strcmp(again, name) == 0 ? (int)number : -1;
}

/* Inserts a zeroed item of `size` bytes at index `at` of a list that grows. Returns it, or NULL if there is not
 * enough memory; the list is then as before. */
static void *insert(void **list, size_t *count, size_t *capacity, size_t size, size_t at)
{
    if (*count == *capacity) {
        void *grown = realloc(*list, (2 * *capacity + 8) * size);

        if (!grown)
            return NULL;
        *list = grown;
        *capacity = 2 * *capacity + 8;
    }
    char *item = (char *)*list + at * size;
    memmove(item + size, item, (*count - at) * size);
    memset(item, 0, size);
    ++*count;
    return item;
}

/* The index of a leg, or that at which it is to be inserted. It searches from the end, where legs are added. */
static size_t place_of_leg(const gbees_run_directory *directory, int leg)
{
    size_t at = directory->count;

    while (at > 0 && directory->legs[at - 1].leg >= leg)
        at--;
    return at;
}

static gbees_run_leg *find_leg(const gbees_run_directory *directory, int leg)
{
    const size_t at = place_of_leg(directory, leg);

    return at < directory->count && directory->legs[at].leg == leg ? &directory->legs[at] : NULL;
}

/* As place_of_leg(), for a record. */
static size_t place_of_record(const gbees_run_leg *leg, int number)
{
    size_t at = leg->count;

    while (at > 0 && number_of(leg->records[at - 1].name, record_name) >= number)
        at--;
    return at;
}

/* Adds a record or replaces its address, and marks the leg's group as not written; 0, or 1 without memory. */
static int add_record(gbees_run_leg *leg, int number, uint64_t address)
{
    const size_t at = place_of_record(leg, number);
    void *list = leg->records;

    if (at == leg->count || number_of(leg->records[at].name, record_name) != number) {
        gbees_hdf5_link *added = insert(&list, &leg->count, &leg->capacity, sizeof *added, at);

        if (!added)
            return 1;
        leg->records = list;
        (void)snprintf(added->name, sizeof added->name, "%s%d", record_name, number);
    }
    leg->records[at].address = address;
    leg->address = 0;
    return 0;
}

/* Returns the leg, added if it is new; NULL without memory. */
static gbees_run_leg *add_leg(gbees_run_directory *directory, int leg)
{
    gbees_run_leg *found = find_leg(directory, leg);
    void *list = directory->legs;

    if (found)
        return found;
    found = insert(&list, &directory->count, &directory->capacity, sizeof *found, place_of_leg(directory, leg));
    if (!found)
        return NULL;
    directory->legs = list;
    found->leg = leg;
    return found;
}

static int add_other(gbees_run_directory *directory, const char *name, uint64_t address)
{
    void *list = directory->others;

    for (size_t i = 0; i < directory->other_count; i++)
        if (strcmp(directory->others[i].name, name) == 0) {
            directory->others[i].address = address;
            return 0;
        }
    gbees_hdf5_link *added =
        insert(&list, &directory->other_count, &directory->other_capacity, sizeof *added, directory->other_count);
    if (!added)
        return 1;
    directory->others = list;
    (void)snprintf(added->name, sizeof added->name, "%s", name);
    added->address = address;
    return 0;
}

/* Whether the name is leg<n>/record<n>; sets the two numbers. */
static int is_record(const char *name, int *leg, int *number)
{
    char head[GBEES_HDF5_LINK_NAME];
    const char *slash = strchr(name, '/');

    if (!slash || (size_t)(slash - name) >= sizeof head)
        return 0;
    (void)snprintf(head, sizeof head, "%.*s", (int)(slash - name), name);
    *leg = number_of(head, leg_name);
    *number = number_of(slash + 1, record_name);
    return *leg >= 0 && *number >= 0;
}

int gbees_run_directory_add(gbees_run_directory *directory, const char *name, uint64_t address)
{
    int leg, number;

    if (!is_record(name, &leg, &number))
        return add_other(directory, name, address);
    gbees_run_leg *of = add_leg(directory, leg);
    return !of || add_record(of, number, address);
}

void gbees_run_directory_drop_others(gbees_run_directory *directory, const char *kept)
{
    size_t count = 0;

    for (size_t i = 0; i < directory->other_count; i++)
        if (strcmp(directory->others[i].name, kept) == 0)
            directory->others[count++] = directory->others[i];
    directory->other_count = count;
}

int gbees_run_directory_number(const gbees_hdf5_link *record)
{
    return number_of(record->name, record_name);
}

uint64_t gbees_run_directory_find(const gbees_run_directory *directory, const char *name)
{
    int leg, number;

    if (is_record(name, &leg, &number)) {
        const gbees_run_leg *of = find_leg(directory, leg);
        const size_t at = of ? place_of_record(of, number) : 0;

        return of && at < of->count && number_of(of->records[at].name, record_name) == number
                   ? of->records[at].address
                   : 0;
    }
    for (size_t i = 0; i < directory->other_count; i++)
        if (strcmp(directory->others[i].name, name) == 0)
            return directory->others[i].address;
    return 0;
}

void gbees_run_directory_free(gbees_run_directory *directory)
{
    for (size_t i = 0; i < directory->count; i++)
        free(directory->legs[i].records);
    free(directory->legs);
    free(directory->others);
    *directory = (gbees_run_directory){0};
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* Pads with zeros to a multiple of 8, at which HDF5 requires object headers. */
static void align(gbees_bytes *bytes)
{
    while (!bytes->failed && bytes->length % 8)
        gbees_bytes_add(bytes, "", 1);
}

static void write_leg(gbees_run_leg *leg, uint64_t address, gbees_bytes *bytes)
{
    align(bytes);
    const size_t begun = gbees_hdf5_group_begin(bytes);

    for (size_t i = 0; i < leg->count; i++)
        gbees_hdf5_group_link(bytes, leg->records[i].name, leg->records[i].address);
    gbees_hdf5_group_end(bytes, begun);
    leg->address = address + begun;
}

uint64_t gbees_run_directory_write(gbees_run_directory *directory, uint64_t address, gbees_bytes *bytes)
{
    for (size_t i = 0; i < directory->count; i++)
        if (directory->legs[i].address == 0)
            write_leg(&directory->legs[i], address, bytes);
    align(bytes);
    const size_t root = gbees_hdf5_group_begin(bytes);
    gbees_hdf5_group_text(bytes, "format", "gbees-run");
    gbees_hdf5_group_number(bytes, "format_version", 1);
    gbees_hdf5_group_text(bytes, "gbees_version", gbees_version());
    for (size_t i = 0; i < directory->count; i++) {
        char name[GBEES_HDF5_LINK_NAME];

        (void)snprintf(name, sizeof name, "%s%d", leg_name, directory->legs[i].leg);
        gbees_hdf5_group_link(bytes, name, directory->legs[i].address);
    }
    for (size_t i = 0; i < directory->other_count; i++)
        gbees_hdf5_group_link(bytes, directory->others[i].name, directory->others[i].address);
    gbees_hdf5_group_end(bytes, root);
    return address + root;
}

void gbees_run_directory_unplace(gbees_run_directory *directory, uint64_t address)
{
    for (size_t i = 0; i < directory->count; i++)
        if (directory->legs[i].address >= address)
            directory->legs[i].address = 0;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Adds the records of the leg's group at `address`; returns as gbees_hdf5_group_read(). */
static int read_leg(int descriptor, gbees_run_directory *directory, int leg, uint64_t address)
{
    gbees_hdf5_link *links = NULL;
    size_t count = 0;
    int bad = gbees_hdf5_group_read(descriptor, directory->end, address, &links, &count);
    gbees_run_leg *made = bad ? NULL : add_leg(directory, leg);

    if (!bad && !made)
        bad = 1;
    for (size_t i = 0; !bad && i < count; i++) {
        const int number = number_of(links[i].name, record_name);

        bad = number < 0 || links[i].address >= directory->end ? -1 : add_record(made, number, links[i].address);
    }
    if (!bad)
        made->address = address;
    free(links);
    return bad;
}

/* Reads the groups that a superblock leads to, and refuses what is not within the bytes that it has (a run that goes
 * on writes behind them), of all legs, or of leg `only` unless it is negative; returns as gbees_hdf5_group_read(). */
static int read_root(int descriptor, const unsigned char block[GBEES_HDF5_SUPERBLOCK], int only,
                     gbees_run_directory *directory)
{
    gbees_hdf5_link *links = NULL;
    size_t count = 0;
    struct stat facts;
    int bad = gbees_hdf5_superblock_read(block, &directory->root, &directory->end);

    if (!bad && (fstat(descriptor, &facts) || directory->end > (uint64_t)facts.st_size))
        bad = -1;
    if (!bad)
        bad = gbees_hdf5_group_read(descriptor, directory->end, directory->root, &links, &count);
    for (size_t i = 0; !bad && i < count; i++) {
        const int leg = number_of(links[i].name, leg_name);

        if (links[i].address >= directory->end)
            bad = -1;
        else if (leg < 0)
            bad = add_other(directory, links[i].name, links[i].address);
        else if (only < 0 || leg == only) /* a leg is there once */
            bad = find_leg(directory, leg) ? -1 : read_leg(descriptor, directory, leg, links[i].address);
    }
    free(links);
    return bad;
}

int gbees_run_directory_read(int descriptor, const char *path, const char *name, gbees_run_directory *directory,
                             gbees_error *error)
{
    unsigned char block[GBEES_RUN_BLOCK] = {0};
    const ssize_t got = pread(descriptor, block, sizeof block, 0);
    int leg = -1, number;

    (void)(name && is_record(name, &leg, &number));
    int bad = got < 0                       ? GBEES_HDF5_UNREADABLE
              : got < GBEES_HDF5_SUPERBLOCK ? -1
                                            : read_root(descriptor, block, leg, directory);

    if (bad < 0) {
        gbees_run_directory_free(directory);
        bad = read_root(descriptor, block + GBEES_RUN_SAFE, leg, directory);
    }
    if (!bad)
        return GBEES_OK;
    const int reason = errno;
    gbees_run_directory_free(directory);
    if (bad == GBEES_HDF5_UNREADABLE)
        return gbees_error_set(error, GBEES_EIO, "can't read the file %s: %s", path, strerror(reason));
    return bad > 0
               ? gbees_error_set(error, GBEES_ENOMEM, "not enough memory to read %s", path)
               : gbees_error_set(error, GBEES_EINPUT,
                                 "can't read the file %s: it has no list of records as gbees-run writes it: it is "
                                 "damaged, or another program has written it",
                                 path);
}

int gbees_run_directory_open(const char *path, const char **name)
{
    char *file = strdup(path);
    int descriptor = -1;

    errno = file ? ENOENT : ENOMEM;
    for (char *slash = file ? strrchr(file, '/') : NULL; slash && slash > file && descriptor < 0;
         slash = strrchr(file, '/')) {
        *slash = '\0';
        *name = path + (slash - file) + 1;
        descriptor = open(file, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0 && errno != ENOTDIR)
            break;
    }
    const int reason = errno;
    free(file);
    errno = reason;
    return descriptor;
}
