/* sha256.h - the SHA-256 of a block of memory (FIPS 180-4). */
#ifndef GBEES_BASE_SHA256_H
#define GBEES_BASE_SHA256_H

#include <stddef.h>

enum { GBEES_SHA256_HEX = 65 };

/* 64 hexadecimal digits and a NUL: what sha256sum prints. */
void gbees_sha256(const void *data, size_t length, char hex[GBEES_SHA256_HEX]);

#endif
