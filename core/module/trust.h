/* trust.h - checks who could have written a module before it is loaded, as its code runs with all rights of the user.
 */
#ifndef GBEES_MODULE_TRUST_H
#define GBEES_MODULE_TRUST_H

#include <gbees/error.h>

/* Accepts a file that belongs, as its folder does, to root, to the user or to the owner of this library, and that
 * nobody else can write to or replace; or that does not exist. Otherwise returns `status` (GBEES_ENOMEM without
 * memory); the text is the reason, without the path. */
int gbees_trust_check(const char *path, gbees_status status, gbees_error *error);

#endif
