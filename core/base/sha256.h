/* sha256.h - the SHA-256 of bytes in memory (FIPS 180-4), at once or piece by piece. */
#ifndef GBEES_BASE_SHA256_H
#define GBEES_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { GBEES_SHA256_HEX = 65, GBEES_SHA256_BLOCK = 64 };

/* Adds `count` blocks to a state. */
typedef void gbees_sha256_blocks(uint32_t *state, const void *data, size_t count);

/* A sum that is being taken. */
typedef struct gbees_sha256_sum {
    uint32_t state[8];
    uint64_t length;                        /* bytes added */
    unsigned char rest[GBEES_SHA256_BLOCK]; /* those that do not fill a block */
    gbees_sha256_blocks *add;               /* the processor's instructions, or plain C */
} gbees_sha256_sum;

void gbees_sha256_start(gbees_sha256_sum *sum);
void gbees_sha256_add(gbees_sha256_sum *sum, const void *data, size_t length);
/* 64 hexadecimal digits and a NUL: what sha256sum prints. */
void gbees_sha256_finish(gbees_sha256_sum *sum, char hex[GBEES_SHA256_HEX]);

/* All three. */
void gbees_sha256(const void *data, size_t length, char hex[GBEES_SHA256_HEX]);

/* The same of the rest of an open file. Returns 0, or -1 and errno. */
int gbees_sha256_file(int file, char hex[GBEES_SHA256_HEX]);

/* Plain C. */
gbees_sha256_blocks gbees_sha256_plain;
extern const uint32_t gbees_sha256_constants[64];
/* x86's SHA instructions; NULL where the processor has none (sha256_x86.c). */
gbees_sha256_blocks *gbees_sha256_x86(void);

#endif
