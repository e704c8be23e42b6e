/* xdmf.c - see xdmf.h. */
#include "xdmf.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

int gbees_xdmf_applies(int dimension)
{
    return dimension == 2 || dimension == 3;
}

int gbees_xdmf_write(const gbees_store *store, const char *name, const char *record_name, const gbees_record *record,
                     size_t count, gbees_error *error)
{
    int n = record->problem->dimension;
    int precision = record->problem->numerics.precision == GBEES_DOUBLE ? 8 : 4;
    gbees_text text = {0};

    gbees_text_add(&text, "<?xml version=\"1.0\"?>\n<Xdmf Version=\"3.0\">\n<Domain>\n");
    gbees_text_add(&text, "<Grid Name=\"pdf\" GridType=\"Uniform\">\n<Time Value=\"%.17g\"/>\n", record->time);
    gbees_text_add(&text, "<Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%zu\" NodesPerElement=\"1\"/>\n",
                   count);
    gbees_text_add(&text, "<Geometry GeometryType=\"%s\">\n", n == 2 ? "XY" : "XYZ");
    gbees_text_add(&text,
                   "<DataItem Dimensions=\"%zu %d\" NumberType=\"Float\" Precision=\"4\" Format=\"HDF\">"
                   "%s:/pdf/x</DataItem>\n</Geometry>\n",
                   count, n, record_name);
    gbees_text_add(&text,
                   "<Attribute Name=\"p\" AttributeType=\"Scalar\" Center=\"Node\">\n"
                   "<DataItem Dimensions=\"%zu\" NumberType=\"Float\" Precision=\"%d\" Format=\"HDF\">"
                   "%s:/pdf/p</DataItem>\n</Attribute>\n",
                   count, precision, record_name);
    gbees_text_add(&text, "</Grid>\n</Domain>\n</Xdmf>\n");
    size_t length = text.length;
    char *data = gbees_text_take(&text);
    if (!data)
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory to write %s/%s", store->path, name);
    int status = gbees_store_write_unsynced(store, name, data, length, error);
    free(data);
    return status;
}
