/* hdf5_group.h - encodes and decodes the superblock and groups of an HDF5 file without the HDF5 library; run_file.h
 * says why. Both are of the format's version 2 (HDF5 1.8 and later reads it) and end with a checksum.
 * Source: The HDF Group, "HDF5 File Format Specification Version 3.0". */
#ifndef GBEES_IO_HDF5_GROUP_H
#define GBEES_IO_HDF5_GROUP_H

#include <stddef.h>
#include <stdint.h>

enum {
    GBEES_HDF5_SUPERBLOCK = 48, /* bytes of a superblock */
    GBEES_HDF5_LINK_NAME = 64,  /* bytes of a link's name, its final NUL among them */
    GBEES_HDF5_UNREADABLE = 2   /* the system could not read the file; errno says why */
};

/* A buffer that grows. failed: an allocation has failed; the buffer is incomplete and ignores further additions. */
typedef struct gbees_bytes {
    unsigned char *data; /* owned */
    size_t length, capacity;
    int failed;
} gbees_bytes;

void gbees_bytes_free(gbees_bytes *bytes);
void gbees_bytes_add(gbees_bytes *bytes, const void *data, size_t length);

/* A hard link: the name of an object in a group, and the address of the object's header in the file, in bytes. */
typedef struct gbees_hdf5_link {
    char name[GBEES_HDF5_LINK_NAME];
    uint64_t address;
} gbees_hdf5_link;

/* Encodes the superblock of a file of `end` bytes whose root group's header is at address `root`. */
void gbees_hdf5_superblock(uint64_t root, uint64_t end, unsigned char block[GBEES_HDF5_SUPERBLOCK]);
/* Decodes one. Returns 0, or -1 if the bytes differ from what gbees_hdf5_superblock() makes of *root and *end. */
int gbees_hdf5_superblock_read(const unsigned char block[GBEES_HDF5_SUPERBLOCK], uint64_t *root, uint64_t *end);

/* A group's object header is encoded by calls in this order: begin, then attributes and links in any order, then end
 * with what begin has returned, the header's offset in `bytes`. Check bytes->failed after the last. */
size_t gbees_hdf5_group_begin(gbees_bytes *bytes);
/* Adds a scalar attribute: a string of fixed length. */
void gbees_hdf5_group_text(gbees_bytes *bytes, const char *name, const char *text);
/* Adds a scalar attribute: a 32-bit integer. */
void gbees_hdf5_group_number(gbees_bytes *bytes, const char *name, int32_t number);
/* Adds a hard link. name: shorter than GBEES_HDF5_LINK_NAME. */
void gbees_hdf5_group_link(gbees_bytes *bytes, const char *name, uint64_t address);
/* Sets the header's size and appends its checksum. */
void gbees_hdf5_group_end(gbees_bytes *bytes, size_t begun);

/* Reads the links of the group whose header is at `address`, within the first `end` bytes, into a new array
 * (*links)[*count], which the caller frees. Returns 0; 1 if there is not enough memory; GBEES_HDF5_UNREADABLE if the
 * system does not read the file; -1 if the bytes there are behind its end, are no header of a group, do not have
 * their checksum, or hold a link that is no hard link. */
int gbees_hdf5_group_read(int descriptor, uint64_t end, uint64_t address, gbees_hdf5_link **links, size_t *count);

#endif
