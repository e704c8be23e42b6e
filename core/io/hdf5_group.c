/* hdf5_group.c - superblocks and groups in HDF5's file format; see hdf5_group.h. Sections of the specification:
 * II.A Superblock, IV.A.1.b Version 2 Object Header Prefix, IV.A.2 the messages. Numbers are little-endian. */
#include "hdf5_group.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Encoded sizes, in bytes, of a scalar dataspace and of the two datatypes. */
enum { DATASPACE_BYTES = 4, TEXT_TYPE_BYTES = 8, INTEGER_TYPE_BYTES = 12 };
/* Types of header messages. */
enum { LINK_INFO = 0x02, LINK = 0x06, GROUP_INFO = 0x0A, ATTRIBUTE = 0x0C };
/* Sizes, in bytes, of a header's prefix, of a message's prefix, of a checksum; and the longest header that is read.
 */
enum { HEADER = 10, MESSAGE = 4, CHECKSUM = 4, HEADER_MOST = 1 << 28 };

static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* ---- bytes ----------------------------------------------------------------------------------------------------- */

void gbees_bytes_free(gbees_bytes *bytes)
{
    free(bytes->data);
    *bytes = (gbees_bytes){0};
}

void gbees_bytes_add(gbees_bytes *bytes, const void *data, size_t length)
{
    if (!bytes->failed && bytes->capacity - bytes->length < length) {
        const size_t capacity = 2 * bytes->capacity + length + 256;
        unsigned char *grown = realloc(bytes->data, capacity);

        bytes->failed = !grown;
        if (grown) {
            bytes->data = grown;
            bytes->capacity = capacity;
        }
    }
    if (bytes->failed)
        return;
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

static void encode(unsigned char *to, uint64_t number, size_t size)
{
    for (size_t k = 0; k < size; k++)
        to[k] = (unsigned char)(number >> (8 * k));
}

static uint64_t decode(const unsigned char *from, size_t size)
{
    uint64_t number = 0;

    for (size_t k = 0; k < size; k++)
        number |= (uint64_t)from[k] << (8 * k);
    return number;
}

static void put_number(gbees_bytes *bytes, uint64_t number, size_t size)
{
    unsigned char data[8];

    encode(data, number, size);
    gbees_bytes_add(bytes, data, size);
}

/* ---- the format's checksum: Bob Jenkins's lookup3, hashlittle() ---------------------------------------------------
 */

static uint32_t rotate(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

/* lookup3's mix() of the three words of its state. */
static void mix(uint32_t s[3])
{
    static const int bits[] = {4, 6, 8, 16, 19, 4};

    for (int k = 0; k < 6; k++) {
        uint32_t *a = &s[k % 3], *b = &s[(k + 1) % 3], *c = &s[(k + 2) % 3];

        *a -= *c;
        *a ^= rotate(*c, bits[k]);
        *c += *b;
    }
}

/* lookup3's final(). */
static void mix_last(uint32_t s[3])
{
    static const int bits[] = {14, 11, 25, 16, 4, 14, 24};

    for (int k = 0; k < 7; k++) {
        uint32_t *c = &s[(k + 2) % 3], *b = &s[(k + 1) % 3];

        *c ^= *b;
        *c -= rotate(*b, bits[k]);
    }
}

/* hashlittle(data, length, 0). */
static uint32_t checksum(const unsigned char *data, size_t length)
{
    const uint32_t first = 0xdeadbeef + (uint32_t)length;
    uint32_t s[] = {first, first, first};

    for (; length > 12; length -= 12, data += 12) {
        for (size_t k = 0; k < 3; k++)
            s[k] += (uint32_t)decode(data + 4 * k, 4);
        mix(s);
    }
    if (length == 0)
        return s[2];
    for (size_t k = 0; k < length; k++)
        s[k / 4] += (uint32_t)data[k] << (8 * (k % 4));
    mix_last(s);
    return s[2];
}

/* ---- the superblock -------------------------------------------------------------------------------------------- */

void gbees_hdf5_superblock(uint64_t root, uint64_t end, unsigned char block[GBEES_HDF5_SUPERBLOCK])
{
    memcpy(block, signature, 8);
    block[8] = 2;                      /* version */
    block[9] = block[10] = 8;          /* bytes of an address, and of a length */
    block[11] = 0;                     /* flags */
    encode(block + 12, 0, 8);          /* base address */
    encode(block + 20, UINT64_MAX, 8); /* no extension */
    encode(block + 28, end, 8);
    encode(block + 36, root, 8);
    encode(block + 44, checksum(block, 44), 4);
}

int gbees_hdf5_superblock_read(const unsigned char block[GBEES_HDF5_SUPERBLOCK], uint64_t *root, uint64_t *end)
{
    unsigned char again[GBEES_HDF5_SUPERBLOCK];

    *end = decode(block + 28, 8);
    *root = decode(block + 36, 8);
    gbees_hdf5_superblock(*root, *end, again);
    return memcmp(again, block, sizeof again) == 0 ? 0 : -1;
}

/* ---- a group's header ------------------------------------------------------------------------------------------ */

/* Adds a message's prefix; its `size` bytes are to follow. */
static void put_message(gbees_bytes *bytes, int type, size_t size)
{
    put_number(bytes, (uint64_t)type, 1);
    put_number(bytes, size, 2);
    put_number(bytes, 0, 1);
}

size_t gbees_hdf5_group_begin(gbees_bytes *bytes)
{
    const size_t begun = bytes->length;
    static const unsigned char group_info[] = {0, 1, 0xff, 0xff, 0, 0}; /* links stay in the header, however many */

    gbees_bytes_add(bytes, "OHDR\2\2", 6);
    put_number(bytes, 0, 4);
    put_message(bytes, LINK_INFO, 18);
    put_number(bytes, 0, 2);
    put_number(bytes, UINT64_MAX, 8);
    put_number(bytes, UINT64_MAX, 8);
    put_message(bytes, GROUP_INFO, sizeof group_info);
    gbees_bytes_add(bytes, group_info, sizeof group_info);
    return begun;
}

/* Adds the prefix of a scalar attribute. The caller adds its datatype, of `type` bytes, its dataspace, and its value,
 * of `value` bytes. */
static void put_attribute(gbees_bytes *bytes, const char *name, size_t type, size_t value)
{
    const size_t length = strlen(name) + 1;

    put_message(bytes, ATTRIBUTE, 9 + length + type + DATASPACE_BYTES + value);
    put_number(bytes, 3, 2); /* version; flags */
    put_number(bytes, length, 2);
    put_number(bytes, type, 2);
    put_number(bytes, DATASPACE_BYTES, 2);
    put_number(bytes, 0, 1);
    gbees_bytes_add(bytes, name, length);
}

void gbees_hdf5_group_text(gbees_bytes *bytes, const char *name, const char *text)
{
    const size_t length = strlen(text) + 1;

    put_attribute(bytes, name, TEXT_TYPE_BYTES, length);
    gbees_bytes_add(bytes, "\x13\0\0\0", 4); /* version 1, a string of fixed length that a byte 0 ends */
    put_number(bytes, length, 4);
    put_number(bytes, 2, DATASPACE_BYTES); /* version 2, scalar */
    gbees_bytes_add(bytes, text, length);
}

void gbees_hdf5_group_number(gbees_bytes *bytes, const char *name, int32_t number)
{
    put_attribute(bytes, name, INTEGER_TYPE_BYTES, 4);
    gbees_bytes_add(bytes, "\x10\x08\0\0", 4); /* version 1, a signed integer */
    put_number(bytes, 4, 4);
    put_number(bytes, 32 << 16, 4); /* no bits before its 32 */
    put_number(bytes, 2, DATASPACE_BYTES);
    put_number(bytes, (uint32_t)number, 4);
}

void gbees_hdf5_group_link(gbees_bytes *bytes, const char *name, uint64_t address)
{
    const size_t length = strlen(name);

    put_message(bytes, LINK, 11 + length);
    put_number(bytes, 1, 2); /* version; flags: a hard link */
    put_number(bytes, length, 1);
    gbees_bytes_add(bytes, name, length);
    put_number(bytes, address, 8);
}

void gbees_hdf5_group_end(gbees_bytes *bytes, size_t begun)
{
    if (bytes->failed)
        return;
    encode(bytes->data + begun + 6, bytes->length - begun - HEADER, 4);
    put_number(bytes, checksum(bytes->data + begun, bytes->length - begun), 4);
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* Reads all `size` bytes. 0; -1 if the file ends before; GBEES_HDF5_UNREADABLE and errno if the system fails. */
static int read_at(int descriptor, uint64_t address, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t got = pread(descriptor, (char *)data + done, size - done, (off_t)(address + done));

        if (got == 0)
            return -1;
        if (got < 0 && errno != EINTR)
            return GBEES_HDF5_UNREADABLE;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* Decodes a link message of `size` bytes; 0, or -1 if it is not one that gbees_hdf5_group_link() writes. */
static int take_link(const unsigned char *message, size_t size, gbees_hdf5_link *link)
{
    const size_t length = size < 11 ? 0 : message[2];

    if (length == 0 || length >= sizeof link->name || size != 11 + length || decode(message, 2) != 1 ||
        memchr(message + 3, 0, length))
        return -1;
    memcpy(link->name, message + 3, length);
    link->name[length] = '\0';
    link->address = decode(message + 3 + length, 8);
    return 0;
}

/* Decodes the links among the messages in data[length] to links[], which has room for a link of each message; sets
 * *count. 0, or -1 if a message is longer than what is left, or a link is not one of ours. */
static int take_links(const unsigned char *data, size_t length, gbees_hdf5_link *links, size_t *count)
{
    *count = 0;
    for (size_t at = 0; at < length;) {
        if (length - at < MESSAGE)
            return -1;
        const int type = data[at];
        const size_t size = (size_t)decode(data + at + 1, 2);
        if (size > length - at - MESSAGE)
            return -1;
        if (type == LINK && take_link(data + at + MESSAGE, size, &links[(*count)++]))
            return -1;
        at += MESSAGE + size;
    }
    return 0;
}

int gbees_hdf5_group_read(int descriptor, uint64_t end, uint64_t address, gbees_hdf5_link **links, size_t *count)
{
    unsigned char head[HEADER];

    int bad = address > end ? -1 : read_at(descriptor, address, head, HEADER);
    if (bad || memcmp(head, "OHDR\2\2", 6) != 0)
        return bad ? bad : -1;
    const size_t length = (size_t)decode(head + 6, 4);
    if (length > HEADER_MOST || length + HEADER + CHECKSUM > end - address)
        return -1;
    unsigned char *data = malloc(length + HEADER + CHECKSUM);
    gbees_hdf5_link *made = calloc(length / MESSAGE + 1, sizeof *made);
    bad = !data || !made ? 1 : read_at(descriptor, address, data, length + HEADER + CHECKSUM);
    if (!bad && (checksum(data, length + HEADER) != decode(data + length + HEADER, 4) ||
                 take_links(data + HEADER, length, made, count)))
        bad = -1;
    free(data);
    if (bad)
        free(made);
    else
        *links = made;
    return bad;
}
