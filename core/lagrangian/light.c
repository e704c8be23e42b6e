/* light.c - see light.h. */
#include "light.h"
#include "base/array.h"
#include <math.h>

static int no_memory(const gbees_lattice *lattice, gbees_error *error)
{
    return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for the table of %u points", lattice->count);
}

int gbees_light_note(gbees_lattice *lattice, const gbees_site *site, double most, gbees_error *error)
{
    if (gbees_array_grow(&lattice->light, lattice->light_count, &lattice->light_capacity, sizeof *lattice->light))
        return no_memory(lattice, error);
    lattice->light[lattice->light_count++] = (gbees_light_site){*site, most};
    lattice->has_edges |= most == -INFINITY;
    return GBEES_OK;
}

int gbees_light_enter_impossible(gbees_lattice *lattice, gbees_error *error)
{
    int status = lattice->has_edges ? gbees_lattice_index(lattice, error) : GBEES_OK;

    for (size_t k = 0; k < lattice->light_count && lattice->has_edges && !status; k++)
        if (lattice->light[k].most == -INFINITY && gbees_lattice_enter_light(lattice, &lattice->light[k].site))
            status = no_memory(lattice, error);
    return status;
}

int gbees_light_keep(gbees_lattice *lattice, double more, double least, gbees_error *error)
{
    size_t kept = 0;

    for (size_t k = 0; k < lattice->light_count; k++) {
        const double most = lattice->light[k].most;
        const gbees_light_site of = {lattice->light[k].site, most > -INFINITY ? most + more : most};

        if (!(of.most <= least))
            continue;
        if (gbees_lattice_enter_light(lattice, &of.site))
            return no_memory(lattice, error);
        lattice->light[kept++] = of;
    }
    lattice->light_count = kept;
    return GBEES_OK;
}
