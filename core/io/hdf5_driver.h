/* hdf5_driver.h - an HDF5 file driver over a descriptor that the caller owns.
 *
 * HDF5 1.10 can't be relied on after a write has failed: it crashes in H5Fclose, with its own drivers.  This driver
 * notes the first errno, drops that write and all later ones, and tells HDF5 that they went well; so a full disk
 * ends in an orderly H5Fclose, and the caller knows the reason.
 */
#ifndef GBEES_IO_HDF5_DRIVER_H
#define GBEES_IO_HDF5_DRIVER_H

#include <hdf5.h>

/* Sets the driver in a file access list; negative on failure. *failure is 0 or the errno of what failed first; it and
 * the descriptor must outlive the HDF5 file.  So must the driver, for H5FDunregister(): a file that holds the last
 * reference frees the driver in H5Fclose, and then calls it. */
hid_t gbees_hdf5_driver_set(hid_t access, int descriptor, int *failure);

#endif
