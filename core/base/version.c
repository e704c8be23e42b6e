/* version.c - the version; GBEES_VERSION comes from configure.ac. */
#include <gbees/gbees.h>

const char *gbees_version(void)
{
    return GBEES_VERSION;
}
