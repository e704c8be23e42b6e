/* test_chunks.c - chunks that are compressed here and written whole: HDF5 reads back what was written, for shapes
 * that do not fill their chunks, on any number of threads; and the same bytes are written whatever that number is. */
#include "fixtures/results_fixture.h"
#include "fixtures/suite.h"
#include "results/hdf5/hdf5_chunks.h"
#include "results/hdf5/hdf5_util.h"

enum { VALUES_MOST = 40000, LARGE = 2048 };

static gbees_error error;

static int32_t value_of(size_t i)
{
    return (int32_t)(i * i % 1009) - 500;
}

/* Writes a dataset of 32-bit integers; part 0: at once, else so many entries of the last axis at a time. */
static void write_dataset(const char *name, int threads, int rank, const hsize_t *size, const hsize_t *chunk,
                          hsize_t part)
{
    gbees_store store;
    gbees_hdf5 file;
    size_t count = 1;

    for (int k = 0; k < rank; k++)
        count *= (size_t)size[k];
    int32_t *data = malloc(count * sizeof *data);
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < count; i++)
        data[i] = value_of(i);
    ck_assert_msg(gbees_store_open(folder, &store, &error) == 0 || gbees_store_reopen(folder, &store, &error) == 0,
                  "%s", error.text);
    ck_assert_msg(gbees_hdf5_create(&store, name, &file, &error) == 0, "%s", error.text);
    file.threads = threads;
    gbees_hdf5_dataset(&file, "set", H5T_NATIVE_INT32, rank, size, chunk, part ? NULL : data);
    for (hsize_t first = 0; part && first < size[0]; first += part) /* of rank 1 */
        gbees_hdf5_write(&file, "set", H5T_NATIVE_INT32, 1, &first,
                         (hsize_t[]){size[0] - first < part ? size[0] - first : part}, data + first);
    ck_assert_msg(gbees_hdf5_commit(&file, &error) == 0, "%s", error.text);
    gbees_store_close(&store);
    free(data);
}

/* Reads it with HDF5 alone. */
static void must_hold(const char *name, size_t count)
{
    static int32_t found[VALUES_MOST];
    char *path = in_folder(name);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, "set", H5P_DEFAULT);

    free(path);
    ck_assert_uint_le(count, VALUES_MOST);
    ck_assert_int_ge(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found), 0);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(found[i], value_of(i));
    ck_assert_int_ge(H5Dclose(set), 0);
    ck_assert_int_ge(H5Fclose(file), 0);
}

START_TEST(shapes)
{
    static const struct {
        int rank;
        hsize_t size[3], chunk[3], part;
    } of[] = {
        {1, {1}, {16}, 0},
        {1, {1000}, {16}, 0},
        {1, {1000}, {16}, 160},
        {2, {7, 9}, {7, 4}, 0},
        {2, {70, 90}, {16, 16}, 0},
        {2, {6, 5000}, {6, 64}, 0},
        {3, {11, 12, 13}, {4, 5, 6}, 0},
        {3, {101, 3, 3}, {16, 3, 3}, 0},
        {1, {40000}, {100}, 0}, /* more chunks than are compressed at a time */
    };

    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char name[32];
        size_t count = 1;

        (void)snprintf(name, sizeof name, "shape%zu.h5", k);
        for (int j = 0; j < of[k].rank; j++)
            count *= (size_t)of[k].size[j];
        write_dataset(name, 3, of[k].rank, of[k].size, of[k].chunk, of[k].part);
        must_hold(name, count);
    }
}
END_TEST

START_TEST(threads)
{
    const hsize_t size[] = {40000}, chunk[] = {4096};
    char *one = in_folder("one.h5"), *five = in_folder("five.h5");
    char command[2 * sizeof base + 64];

    write_dataset("one.h5", 1, 1, size, chunk, 0);
    write_dataset("five.h5", 5, 1, size, chunk, 0);
    (void)snprintf(command, sizeof command, "cmp '%s' '%s'", one, five);
    ck_assert_int_eq(system(command), 0);
    free(one);
    free(five);
}
END_TEST

/* Numbers whose digits are noise, in single and double precision, and bits of a generator, which are noise
 * throughout: HDF5 reads them back, and the bytes that are no noise are compressed. */
START_TEST(noise)
{
    enum { COUNT = 100000 };
    static const size_t bytes[] = {4, 8, 4};
    static const double most[] = {.85, .92, 1.01}; /* of what is stored, beside what there is */
    const hsize_t size = COUNT, chunk = 65536;
    char *written = malloc((size_t)8 * COUNT), *found = malloc((size_t)8 * COUNT);
    gbees_store store;
    gbees_hdf5 file;

    ck_assert(written && found);
    ck_assert_msg(gbees_store_open(folder, &store, &error) == 0, "%s", error.text);
    for (size_t k = 0; k < 3; k++) {
        const hid_t type = k == 0 ? H5T_NATIVE_FLOAT : k == 1 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT32;
        uint64_t state = 1;

        for (size_t i = 0; i < COUNT; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const double value = 1e-6 * (1 + (double)(state >> 11) / (double)(UINT64_C(1) << 53));
            const float f32 = (float)value;
            const uint32_t bits = (uint32_t)(state >> 32);

            memcpy(written + i * bytes[k],
                   k == 0   ? (const void *)&f32
                   : k == 1 ? (const void *)&value
                            : &bits,
                   bytes[k]);
        }
        ck_assert_msg(gbees_hdf5_create(&store, "noise.h5", &file, &error) == 0, "%s", error.text);
        file.threads = 2;
        gbees_hdf5_dataset(&file, "set", type, 1, &size, &chunk, written);
        ck_assert_msg(gbees_hdf5_commit(&file, &error) == 0, "%s", error.text);
        char *path = in_folder("noise.h5");
        hid_t in = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(in, "set", H5P_DEFAULT);
        free(path);
        ck_assert_int_ge(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, found), 0);
        ck_assert_mem_eq(found, written, COUNT * bytes[k]);
        ck_assert_double_lt((double)H5Dget_storage_size(set), most[k] * 131072 * (double)bytes[k]);
        ck_assert_int_ge(H5Dclose(set), 0);
        ck_assert_int_ge(H5Fclose(in), 0);
    }
    gbees_store_close(&store);
    free(written);
    free(found);
}
END_TEST

/* HDF5 computes the same checksum: a chunk with another one can't be read. */
START_TEST(wrong_checksum)
{
    const hsize_t size[] = {LARGE}, chunk[] = {LARGE};
    char *path = in_folder("wrong.h5");
    static int32_t found[LARGE];
    haddr_t place = 0;
    hsize_t bytes = 0;
    unsigned mask = 0;

    write_dataset("wrong.h5", 1, 1, size, chunk, 0);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(file, "set", H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    ck_assert_int_ge(H5Dget_chunk_info(set, space, 0, NULL, &mask, &place, &bytes), 0);
    ck_assert_uint_eq(mask, 0);
    (void)H5Sclose(space);
    (void)H5Dclose(set);
    (void)H5Fclose(file);
    FILE *raw = fopen(path, "r+b");
    ck_assert_int_eq(fseek(raw, (long)(place + bytes) - 1, SEEK_SET), 0);
    const int last = fgetc(raw);
    ck_assert_int_eq(fseek(raw, (long)(place + bytes) - 1, SEEK_SET), 0);
    ck_assert_int_ne(fputc(last ^ 1, raw), EOF);
    ck_assert_int_eq(fclose(raw), 0);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    set = H5Dopen2(file, "set", H5P_DEFAULT);
    ck_assert_int_lt(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found), 0);
    (void)H5Dclose(set);
    (void)H5Fclose(file);
    free(path);
}
END_TEST

/* Sums of words that overflow 16 bits, and an odd byte at the end: written with other arithmetic. */
START_TEST(checksum)
{
    static unsigned char data[5001];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(255 - i % 7);
    for (size_t bytes = 0; bytes <= sizeof data; bytes += 61) {
        uint64_t first = 0, second = 0;

        for (size_t i = 0; i < bytes; i += 2) {
            first = (first + 256u * data[i] + (i + 1 < bytes ? data[i + 1] : 0u)) % 65535;
            second = (second + first) % 65535;
        }
        const uint32_t sum = gbees_hdf5_fletcher32(data, bytes);
        ck_assert_uint_eq(sum % 65536 % 65535, first);
        ck_assert_uint_eq(sum / 65536 % 65535, second);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chunks");
    TCase *tests = tcase_create("chunks");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, shapes);
    tcase_add_test(tests, threads);
    tcase_add_test(tests, noise);
    tcase_add_test(tests, wrong_checksum);
    tcase_add_test(tests, checksum);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
