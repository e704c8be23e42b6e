/* hdf5_driver.h - an HDF5 file driver (H5FD_class_t) over a descriptor that the caller owns.
 *
 * After a failed write HDF5 1.10 crashes in H5Fclose() with its own drivers. This driver stores the first errno,
 * drops that write and all later ones, and reports success to HDF5: H5Fclose() then works on a full disk, and the
 * caller reads the reason from gbees_hdf5_place.failure. It also lets HDF5 write behind the end of a file whose
 * objects stay as they are, and hands its superblock over in place of writing it (run_file.h). */
#ifndef GBEES_RESULTS_HDF5_HDF5_DRIVER_H
#define GBEES_RESULTS_HDF5_HDF5_DRIVER_H

#include <gbees/error.h>
#include <hdf5.h>
#include <stdint.h>

/* Initialises HDF5; a command calls it before any other use of HDF5, while there is memory. It also turns off HDF5's
 * exit handler, which crashes after a failed allocation. GBEES_OK or GBEES_ENOMEM. */
int gbees_hdf5_start(gbees_error *error);
/* Whether 16 MiB can be allocated, as much as HDF5 takes for a file; without it HDF5 crashes or ends the program. */
int gbees_hdf5_has_memory(void);

/* Around this thread's calls of HDF5: a crash between the two is most likely one for lack of memory. */
void gbees_hdf5_enter(void);
void gbees_hdf5_leave(void);
/* Says that HDF5 has failed: then its memory may be damaged, which is found later, and elsewhere. */
void gbees_hdf5_has_failed(void);
/* Whether the thread is between the two, or HDF5 has failed in any; a signal handler may ask. */
int gbees_hdf5_may_crash(void);

/* The superblock: bytes at the start of a file, which HDF5 alone makes and reads, and where run.h5 has a second one.
 */
enum { GBEES_HDF5_SUPERBLOCK = 48, GBEES_HDF5_SAFE = 64 };

/* How a file is to be seen. Addresses are in bytes from the beginning of the descriptor's file. */
typedef struct gbees_hdf5_place {
    int descriptor; /* the caller's; the driver does not close it */
    int *failure;   /* the caller's: 0 at first; receives the errno of the first failure */
    /* Of a file that is created behind what there is: nothing below this address is written, and what is there can be
     * read; objects are written from here on. 0: the file is written as a whole. */
    uint64_t start;
    unsigned char *superblock; /* the caller's [GBEES_HDF5_SUPERBLOCK]: receives that of a file with a start */
    int safe;                  /* of a file that is read: its second superblock is taken */
} gbees_hdf5_place;

/* Sets the driver in a file access property list. Returns the driver's id, which the caller closes by
 * H5FDunregister() after H5Fclose(): a file that holds the last reference would free the driver in H5Fclose() and
 * then call it. Negative on failure. The place is copied; its descriptor and failure must outlive the HDF5 file. */
hid_t gbees_hdf5_driver_set(hid_t access, const gbees_hdf5_place *place);

#endif
