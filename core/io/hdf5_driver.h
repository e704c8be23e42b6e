/* hdf5_driver.h - an HDF5 file driver over a descriptor that the caller owns. After a failed write HDF5 1.10
 * crashes in H5Fclose() with its own drivers. This driver stores the first errno, drops that write and all later
 * ones, and reports success to HDF5, so that H5Fclose() works on a full disk and the caller has the reason. */
#ifndef GBEES_IO_HDF5_DRIVER_H
#define GBEES_IO_HDF5_DRIVER_H

#include <gbees/error.h>
#include <hdf5.h>
#include <stdint.h>

/* For commands, before any other use of HDF5: starts it while there is memory, and leaves out its work at the end of
 * the program, where it crashes after an allocation has failed. */
int gbees_hdf5_start(gbees_error *error);
/* Whether there is as much memory as HDF5 takes for a file. It crashes, or ends the program, where there is not. */
int gbees_hdf5_has_memory(void);

/* Around this thread's calls of HDF5: a crash between the two is most likely one for lack of memory. */
void gbees_hdf5_enter(void);
void gbees_hdf5_leave(void);
/* Whether the thread is between the two; a signal handler may ask. */
int gbees_hdf5_is_at_work(void);

typedef struct gbees_hdf5_place {
    int descriptor;
    int *failure; /* 0, or the errno of what failed first */
    /* A file that is made is written from here on; its superblock is dropped. 0: it is the whole file. */
    uint64_t start;
    /* A file that is read has its root group here, and `end` bytes. 0: as its superblock says. */
    uint64_t root, end;
} gbees_hdf5_place;

/* Sets the driver in a file access list; negative on failure. What the place names must outlive the HDF5 file.  So
 * must the driver, for H5FDunregister(): a file that holds the last reference frees the driver in H5Fclose, and then
 * calls it. */
hid_t gbees_hdf5_driver_set(hid_t access, const gbees_hdf5_place *place);

#endif
