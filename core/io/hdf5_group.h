/* hdf5_group.h - a superblock and groups as HDF5's file format has them (its versions 2, of HDF5 1.8), written and
 * read without the library: run_file.h says why. Each ends with a checksum of its own. */
#ifndef GBEES_IO_HDF5_GROUP_H
#define GBEES_IO_HDF5_GROUP_H

#include <stddef.h>
#include <stdint.h>

enum { GBEES_HDF5_SUPERBLOCK = 48, GBEES_HDF5_LINK_NAME = 64 };

/* Bytes that grow; `failed`: there was no memory, and they are not whole. */
typedef struct gbees_bytes {
    unsigned char *data;
    size_t length, capacity;
    int failed;
} gbees_bytes;

void gbees_bytes_free(gbees_bytes *bytes);
void gbees_bytes_add(gbees_bytes *bytes, const void *data, size_t length);

/* A hard link of a group to the header of an object. */
typedef struct gbees_hdf5_link {
    char name[GBEES_HDF5_LINK_NAME];
    uint64_t address; /* in the file */
} gbees_hdf5_link;

/* The superblock of a file of `end` bytes with the root group at `root`. */
void gbees_hdf5_superblock(uint64_t root, uint64_t end, unsigned char block[GBEES_HDF5_SUPERBLOCK]);
/* Returns 0, or -1 if the block is none that the function above makes. */
int gbees_hdf5_superblock_read(const unsigned char block[GBEES_HDF5_SUPERBLOCK], uint64_t *root, uint64_t *end);

/* Adds a group's header to `bytes`: begin, then attributes and links in any order, then the end. */
size_t gbees_hdf5_group_begin(gbees_bytes *bytes);
void gbees_hdf5_group_text(gbees_bytes *bytes, const char *name, const char *text);
void gbees_hdf5_group_number(gbees_bytes *bytes, const char *name, int32_t number);
void gbees_hdf5_group_link(gbees_bytes *bytes, const char *name, uint64_t address);
void gbees_hdf5_group_end(gbees_bytes *bytes, size_t begun);

/* Reads the links of a group's header at `address`. *links is malloc()ed. Returns 0; 1 if there is no memory; -1 if
 * there is no such header, or its checksum is another. */
int gbees_hdf5_group_read(int descriptor, uint64_t address, gbees_hdf5_link **links, size_t *count);

#endif
