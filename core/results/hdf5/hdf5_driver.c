/* hdf5_driver.c - the callbacks of an HDF5 file driver over a descriptor; see hdf5_driver.h. */
#include "hdf5_driver.h"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RESERVE = 16 << 20 }; /* bytes */

int gbees_hdf5_has_memory(void)
{
    void *volatile reserve = malloc(RESERVE); /* volatile: compilers would remove an unused malloc() */
    int taken = reserve != NULL;

    free(reserve);
    return taken;
}

/* Calls of gbees_hdf5_enter() that have not been left. In static memory of the thread: a signal handler reads it. */
static _Thread_local volatile sig_atomic_t entered __attribute__((tls_model("initial-exec")));

void gbees_hdf5_enter(void)
{
    entered++;
}

void gbees_hdf5_leave(void)
{
    entered--;
}

static volatile sig_atomic_t failed;

void gbees_hdf5_has_failed(void)
{
    failed = 1;
}

int gbees_hdf5_may_crash(void)
{
    return entered > 0 || failed;
}

int gbees_hdf5_start(gbees_error *error)
{
    gbees_hdf5_enter();
    const int started = gbees_hdf5_has_memory() && H5dont_atexit() >= 0 && H5open() >= 0;
    gbees_hdf5_leave();
    if (started)
        return GBEES_OK;
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for HDF5, which reads and writes the results");
}

/* An open file. */
typedef struct handle {
    H5FD_t public; /* must come first: HDF5 holds a pointer to it */
    gbees_hdf5_place place;
    haddr_t eoa, eof; /* HDF5's end of allocated addresses, and end of the file, in bytes */
} handle;

/* The name is ignored: the access list has the descriptor. NULL on failure. */
static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t limit)
{
    const gbees_hdf5_place *given = H5Pget_driver_info(access);
    handle *file = calloc(1, sizeof *file);
    struct stat facts;

    (void)name;
    (void)limit;
    if (!given || !file || fstat(given->descriptor, &facts) ||
        ((flags & H5F_ACC_TRUNC) && !given->start && ftruncate(given->descriptor, 0))) {
        free(file);
        return NULL;
    }
    file->place = *given;
    file->eof = flags & H5F_ACC_TRUNC ? 0 : (haddr_t)facts.st_size;
    return &file->public;
}

static herr_t driver_close(H5FD_t *file)
{
    free(file);
    return 0;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const handle *)file)->eoa;
}

/* HDF5 sets the end of a new file to that of its superblock; from place.start on addresses are free. */
static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    handle *of = (handle *)file;

    of->eoa = address < of->place.start ? of->place.start : address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const handle *)file)->eof;
}

/* Bytes behind the end of the file read as zeros: HDF5 may read what it has written, and the write was dropped. */
static herr_t read_bytes(const gbees_hdf5_place *with, haddr_t address, size_t size, char *to)
{
    while (size > 0) {
        ssize_t done = pread(with->descriptor, to, size, (off_t)address);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            *with->failure = *with->failure ? *with->failure : errno;
            return -1;
        }
        if (done == 0) {
            memset(to, 0, size);
            return 0;
        }
        to += done;
        size -= (size_t)done;
        address += (haddr_t)done;
    }
    return 0;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void *buffer)
{
    const gbees_hdf5_place *with = &((handle *)file)->place;
    char block[GBEES_HDF5_SUPERBLOCK];

    (void)type;
    (void)transfer;
    if (read_bytes(with, address, size, buffer) < 0)
        return -1;
    if (!with->safe || address >= sizeof block)
        return 0;
    const size_t most = sizeof block - (size_t)address;
    if (read_bytes(with, GBEES_HDF5_SAFE, sizeof block, block) < 0)
        return -1;
    memcpy(buffer, block + address, size < most ? size : most);
    return 0;
}

/* Always reports success; see hdf5_driver.h. What HDF5 changes below place.start are counts of links, which it need
 * not have. */
static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                           const void *buffer)
{
    handle *to = (handle *)file;
    const char *from = buffer;

    (void)type;
    (void)transfer;
    if (address < to->place.start) {
        const uint64_t below = to->place.start - address;

        if (address == 0 && to->place.superblock && size >= GBEES_HDF5_SUPERBLOCK)
            memcpy(to->place.superblock, from, GBEES_HDF5_SUPERBLOCK);
        if (size <= below)
            return 0;
        from += below;
        size -= (size_t)below;
        address += below;
    }
    while (size > 0 && *to->place.failure == 0) {
        ssize_t done = pwrite(to->place.descriptor, from, size, (off_t)address);

        if (done < 0 && errno != EINTR)
            *to->place.failure = errno;
        if (done > 0) {
            from += done;
            size -= (size_t)done;
            address += (haddr_t)done;
        }
    }
    if (address + size > to->eof)
        to->eof = address + size;
    return 0;
}

/* Sets the file's size to the end of what HDF5 has allocated. */
static herr_t driver_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    handle *of = (handle *)file;

    (void)transfer;
    (void)closing;
    if (of->eoa != of->eof && *of->place.failure == 0 && ftruncate(of->place.descriptor, (off_t)of->eoa))
        *of->place.failure = errno;
    of->eof = of->eoa;
    return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = 700, /* above those that The HDF Group gives out and that are known here */
#endif
    .name = "gbees",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(gbees_hdf5_place),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t gbees_hdf5_driver_set(hid_t access, const gbees_hdf5_place *place)
{
    hid_t driver = H5FDregister(&driver_class);

    if (driver < 0 || H5Pset_driver(access, driver, place) >= 0)
        return driver;
    (void)H5FDunregister(driver);
    return -1;
}
