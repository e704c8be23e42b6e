/* hdf5_chunks.c - cuts a dataset into chunks; threads shuffle each, compress it (libdeflate) and sum it (Fletcher
 * 32), and H5Dwrite_chunk() writes the bytes. */
#include "hdf5_chunks.h"
#include "base/workers.h"
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANK = GBEES_HDF5_CHUNKS_RANK,
    BATCH = 64,          /* chunks that are compressed before they are written, at most */
    BATCH_OF_THREAD = 8, /* the same, by each thread */
    SUM_BYTES = 4,       /* of a checksum */
    ZLIB_HEAD = 2,       /* bytes, of a stream */
    STORED_HEAD = 5,     /* bytes, of a block of bytes that are stored as they are */
    STORED_MOST = 65535, /* bytes of such a block */
    NOISE_TRIED = 8,     /* one part in so many of what may not be compressible is tried, */
    NOISE_LEAST = 2048,  /* if that has so many bytes */
    BYTE_NS = 10,        /* to compress a byte takes about as long */
    LEVEL = 1,           /* of compression: at 2 indices of cells take as long again, for 1.5 % of the file */
    LEVEL_OF_HDF5 = 4,   /* written into the file; a reader has no use for it */
    GAIN_LEAST = 5,      /* bytes that don't shrink by one part in so many are not compressed */
    FLETCHER_WORDS = 360 /* that can be added before 32 bits overflow */
};

herr_t gbees_hdf5_chunks_set(hid_t layout, int rank, const hsize_t *chunk)
{
    return H5Pset_chunk(layout, rank, chunk) < 0 || H5Pset_shuffle(layout) < 0 ||
                   H5Pset_deflate(layout, LEVEL_OF_HDF5) < 0 || H5Pset_fletcher32(layout) < 0
               ? -1
               : 0;
}

static uint32_t fold(uint32_t sum)
{
    return (sum & 0xffff) + (sum >> 16);
}

uint32_t gbees_hdf5_fletcher32(const unsigned char *data, size_t bytes)
{
    uint32_t first = 0, second = 0;
    size_t words = bytes / 2;

    while (words > 0) {
        const size_t count = words < FLETCHER_WORDS ? words : FLETCHER_WORDS;

        for (size_t i = 0; i < count; i++, data += 2) {
            first += (uint32_t)data[0] << 8 | data[1];
            second += first;
        }
        words -= count;
        first = fold(first);
        second = fold(second);
    }
    if (bytes % 2) {
        first += (uint32_t)data[0] << 8;
        second += first;
        first = fold(first);
        second = fold(second);
    }
    return fold(second) << 16 | fold(first);
}

/* Values in memory, and the chunks that they fill. */
typedef struct region {
    int rank;
    size_t bytes, data_bytes; /* of a value in the file, and in memory */
    size_t chunk_bytes;       /* of a chunk in the file */
    hsize_t chunk[RANK], start[RANK], count[RANK];
    hsize_t chunks[RANK]; /* along each axis */
    const unsigned char *data;
    size_t first;              /* the chunk that is the first of the batch */
    unsigned char *out[BATCH]; /* a compressed chunk; NULL: there was no memory */
    size_t length[BATCH];      /* its bytes */
} region;

/* The place of a chunk along each axis, in chunks. */
static void place_of(const region *r, size_t number, hsize_t *place)
{
    for (int k = r->rank - 1; k >= 0; k--) {
        place[k] = number % r->chunks[k];
        number /= r->chunks[k];
    }
}

/* One byte of each of `count` values that follow each other. */
static void take_bytes(const unsigned char *from, size_t count, size_t bytes, unsigned char *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i * bytes];
}

/* Copies a chunk's values together as HDF5's filter "shuffle" does: the first bytes of all values, then their second
 * bytes, and so on; of integers that are narrower in the file the low bytes, which are the first. What lies beyond
 * the dataset is 0. Returns whether nothing does. */
static int gather(const region *r, const hsize_t *place, unsigned char *to)
{
    hsize_t from[RANK] = {0, 0, 0}, size[RANK] = {1, 1, 1}, stride[RANK] = {0, 0, 0}, step[RANK] = {0, 0, 0};
    const int skip = RANK - r->rank; /* axes of length 1 before the dataset's */
    const size_t values = r->chunk_bytes / r->bytes;
    int whole = 1;

    for (int k = r->rank - 1; k >= 0; k--) {
        const int axis = skip + k;

        from[axis] = place[k] * r->chunk[k];
        size[axis] = r->count[k] - from[axis] < r->chunk[k] ? r->count[k] - from[axis] : r->chunk[k];
        stride[axis] = k == r->rank - 1 ? 1 : stride[axis + 1] * r->count[k + 1];
        step[axis] = k == r->rank - 1 ? 1 : step[axis + 1] * r->chunk[k + 1];
        whole &= size[axis] == r->chunk[k];
    }
    if (!whole)
        memset(to, 0, r->chunk_bytes);
    for (hsize_t i = 0; i < size[0]; i++)
        for (hsize_t j = 0; j < size[1]; j++) {
            const unsigned char *row =
                r->data + ((from[0] + i) * stride[0] + (from[1] + j) * stride[1] + from[2]) * r->data_bytes;

            for (size_t b = 0; b < r->bytes; b++)
                take_bytes(row + b, size[2], r->data_bytes, to + b * values + i * step[0] + j * step[1]);
        }
    return whole;
}

/* ---- compression: a zlib stream (RFC 1950, 1951) ----------------------------------------------------------------
 */

/* Whether bytes can hardly be compressed, as far as a part of them tells: those of the digits of measured or computed
 * numbers. `out` has room for them. */
static int is_noise(struct libdeflate_compressor *compressor, const unsigned char *values, size_t count,
                    unsigned char *out)
{
    const size_t tried = count / NOISE_TRIED;

    return tried >= NOISE_LEAST &&
           libdeflate_deflate_compress(compressor, values, tried, out, tried - tried / GAIN_LEAST) == 0;
}

/* Writes bytes as they are, in blocks of the stream that others follow. Returns how many bytes these take. */
static size_t put_stored(const unsigned char *values, size_t count, unsigned char *out)
{
    size_t length = 0;

    for (size_t block; count > 0; count -= block, values += block, length += STORED_HEAD + block) {
        unsigned char *head = out + length;

        block = count < STORED_MOST ? count : STORED_MOST;
        head[0] = 0;
        head[1] = (unsigned char)block;
        head[2] = (unsigned char)(block >> 8);
        head[3] = (unsigned char)~head[1];
        head[4] = (unsigned char)~head[2];
        memcpy(head + STORED_HEAD, values, block);
    }
    return length;
}

/* Compresses shuffled values to out[most]. Those of their bytes that come first, the lowest, are written as they are
 * if they can hardly be compressed, which is several times as fast; `whole`: no values lie beyond the dataset. Returns
 * the length, or 0 if it is above `most`. */
static size_t compress_values(struct libdeflate_compressor *compressor, const unsigned char *values, size_t count,
                              size_t bytes, int whole, unsigned char *out, size_t most)
{
    const size_t all = count * bytes;
    size_t noise = 0, length = ZLIB_HEAD;

    while (whole && noise + 1 < bytes && is_noise(compressor, values + noise * count, count, out))
        noise++;
    memcpy(out, "\x78\x5e", ZLIB_HEAD); /* deflate, a window of 32 KiB */
    length += put_stored(values, noise * count, out + length);
    const size_t rest = libdeflate_deflate_compress(compressor, values + noise * count, all - noise * count,
                                                    out + length, most - length - SUM_BYTES);
    if (rest == 0)
        return 0;
    length += rest;
    const uint32_t sum = libdeflate_adler32(1, values, all);
    for (size_t k = 0; k < SUM_BYTES; k++)
        out[length + k] = (unsigned char)(sum >> (24 - 8 * k));
    return length + SUM_BYTES;
}

/* Compresses a chunk that is shuffled to new memory; its checksum follows it, the low byte first. */
static void deflate_chunk(region *r, size_t item, const unsigned char *values, int whole)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    const size_t most = (compressor ? libdeflate_zlib_compress_bound(compressor, r->chunk_bytes) : 0) +
                        STORED_HEAD * (r->chunk_bytes / STORED_MOST + 1);
    unsigned char *out = compressor ? malloc(most + SUM_BYTES) : NULL;
    const size_t length =
        out ? compress_values(compressor, values, r->chunk_bytes / r->bytes, r->bytes, whole, out, most) : 0;

    if (compressor)
        libdeflate_free_compressor(compressor);
    if (length == 0) {
        free(out);
        return;
    }
    const uint32_t sum = gbees_hdf5_fletcher32(out, length);
    for (int k = 0; k < SUM_BYTES; k++)
        out[length + (size_t)k] = (unsigned char)(sum >> 8 * k);
    r->out[item] = out;
    r->length[item] = length + SUM_BYTES;
}

static void make_chunk(void *context, size_t item)
{
    region *r = context;
    unsigned char *values = malloc(r->chunk_bytes);
    hsize_t place[RANK];

    r->out[item] = NULL;
    if (!values)
        return;
    place_of(r, r->first + item, place);
    const int whole = gather(r, place, values);
    deflate_chunk(r, item, values, whole);
    free(values);
}

static void write_chunk(gbees_hdf5 *file, hid_t set, const region *r, size_t item)
{
    hsize_t place[RANK];

    if (!r->out[item]) {
        gbees_hdf5_reject(file, GBEES_ENOMEM, "not enough memory");
        return;
    }
    place_of(r, r->first + item, place);
    for (int k = 0; k < r->rank; k++)
        place[k] = r->start[k] + place[k] * r->chunk[k];
    if (!file->status && H5Dwrite_chunk(set, H5P_DEFAULT, 0, place, r->length[item], r->out[item]) < 0)
        gbees_hdf5_fail(file);
}

static void write_batch(gbees_hdf5 *file, hid_t set, region *r, size_t count)
{
    const int threads = gbees_workers_worth(file->threads, (double)count * (double)r->chunk_bytes * BYTE_NS);

    gbees_workers_run(threads, count, make_chunk, r);
    for (size_t item = 0; item < count; item++) {
        write_chunk(file, set, r, item);
        free(r->out[item]);
    }
}

/* The size of a dataset's chunks. Returns 0, or 1 if it has none, or others than gbees_hdf5_chunks_set() makes. */
static int get_chunk(hid_t set, int rank, hsize_t *chunk)
{
    hid_t layout = H5Dget_create_plist(set);
    const int found = layout < 0 ? -1 : H5Pget_chunk(layout, RANK, chunk);

    gbees_hdf5_release(layout);
    return found != rank;
}

/* Chunks that so many threads compress before they are written. */
static size_t batch_of(int threads)
{
    const int chunks = BATCH_OF_THREAD * (threads > 1 ? threads : 1);

    return chunks < BATCH ? (size_t)chunks : BATCH;
}

void gbees_hdf5_chunks_write(gbees_hdf5 *file, hid_t set, hid_t type, int rank, const hsize_t *start,
                             const hsize_t *count, const void *data)
{
    region r = {.rank = rank, .data_bytes = H5Tget_size(type), .data = data};
    const hid_t in_file = H5Dget_type(set);
    size_t total = 1;

    r.bytes = in_file < 0 ? 0 : H5Tget_size(in_file);
    gbees_hdf5_release(in_file);
    if (rank > RANK || r.bytes == 0 || r.bytes > r.data_bytes || get_chunk(set, rank, r.chunk)) {
        gbees_hdf5_fail(file);
        return;
    }
    r.chunk_bytes = r.bytes;
    for (int k = 0; k < rank; k++) {
        r.start[k] = start[k];
        r.count[k] = count[k];
        r.chunks[k] = (count[k] + r.chunk[k] - 1) / r.chunk[k];
        r.chunk_bytes *= (size_t)r.chunk[k];
        total *= (size_t)r.chunks[k];
    }
    const size_t most = batch_of(file->threads);
    for (; r.first < total && !file->status; r.first += most)
        write_batch(file, set, &r, total - r.first < most ? total - r.first : most);
}
