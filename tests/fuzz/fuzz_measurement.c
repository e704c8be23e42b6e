/* fuzz_measurement.c - a measurement file of the existing codes. */
#include "harness.h"
#include "scenario/measurement_file.h"
#include <stdlib.h>

const char fuzz_corpus[] = "measurement";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *path = fuzz_write("measurement0.txt", data, size);
    gbees_node *node = NULL;
    gbees_error error = {0};

    if (gbees_measurement_file_read(path, &node, &error))
        fuzz_expect(error.text[0] != '\0' && !node, "a refusal has a reason, and no result");
    else
        fuzz_expect(node && node->kind == GBEES_NODE_MAP, "a file is read to a map");
    gbees_node_destroy(node);
    free(path);
    return 0;
}
