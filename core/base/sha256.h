/* sha256.h - SHA-256 (FIPS 180-4) of bytes in memory, at once or piece by piece, and of files. */
#ifndef GBEES_BASE_SHA256_H
#define GBEES_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
    GBEES_SHA256_HEX = 65,  /* 64 hexadecimal digits, as sha256sum prints them, and a NUL */
    GBEES_SHA256_BLOCK = 64 /* bytes of a block */
};

/* A checksum that is being computed. */
typedef struct gbees_sha256_sum {
    uint32_t state[8];
    uint64_t length;                        /* bytes added so far */
    unsigned char rest[GBEES_SHA256_BLOCK]; /* the last length % 64 of them, which do not fill a block */
} gbees_sha256_sum;

/* A checksum takes these calls: start, add any number of times, finish. */
void gbees_sha256_start(gbees_sha256_sum *sum);
void gbees_sha256_add(gbees_sha256_sum *sum, const void *data, size_t length);
void gbees_sha256_finish(gbees_sha256_sum *sum, char hex[GBEES_SHA256_HEX]);

/* The checksum of data[length]. */
void gbees_sha256(const void *data, size_t length, char hex[GBEES_SHA256_HEX]);

/* The checksum of an open file from its current position to its end. Returns 0, or -1 and errno. */
int gbees_sha256_file(int file, char hex[GBEES_SHA256_HEX]);

#endif
