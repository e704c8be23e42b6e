/* light.c - see light.h. */
#include "light.h"
#include "base/array.h"
#include "base/no_memory.h"
#include <math.h>

static const char purpose[] = "for the points of a lattice";

int gbees_light_note(gbees_lattice *lattice, const gbees_site *site, double most, gbees_error *error)
{
    if (gbees_array_grow(&lattice->light, lattice->light_count, &lattice->light_capacity, sizeof *lattice->light))
        return gbees_no_memory(error, purpose);
    lattice->light[lattice->light_count++] = (gbees_light_site){*site, most};
    lattice->has_edges |= most == -INFINITY;
    return GBEES_OK;
}

int gbees_light_enter_impossible(gbees_lattice *lattice, gbees_error *error)
{
    int status = lattice->has_edges ? gbees_lattice_index(lattice, error) : GBEES_OK;

    for (size_t k = 0; k < lattice->light_count && lattice->has_edges && !status; k++)
        if (lattice->light[k].most == -INFINITY && gbees_lattice_enter_light(lattice, &lattice->light[k].site))
            status = gbees_no_memory(error, purpose);
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
            return gbees_no_memory(error, purpose);
        lattice->light[kept++] = of;
    }
    lattice->light_count = kept;
    return GBEES_OK;
}
