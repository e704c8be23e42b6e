/* trust.h - whose a file is that is about to be loaded: a module's code runs with all rights of the user. */
#ifndef GBEES_MODULE_TRUST_H
#define GBEES_MODULE_TRUST_H

#include <gbees/error.h>

/* Refuses a file that belongs to a user who is neither root, nor the present one, nor the owner of this library, or
 * that others may write or replace. The error's text is the reason alone. A file that is not there passes. */
int gbees_trust_check(const char *path, gbees_status status, gbees_error *error);

#endif
