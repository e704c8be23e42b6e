/* sha256.h - SHA-256 (FIPS 180-4) of bytes in memory. */
#ifndef GBEES_BASE_SHA256_H
#define GBEES_BASE_SHA256_H

#include <stddef.h>

enum { GBEES_SHA256_HEX = 65 /* 64 hexadecimal digits, as sha256sum prints them, and a NUL */ };

/* The checksum of data[length]. */
void gbees_sha256(const void *data, size_t length, char hex[GBEES_SHA256_HEX]);

#endif
