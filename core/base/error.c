/* error.c - sets an error's status and text; see gbees/error.h. */
#include <gbees/error.h>
#include <stdarg.h>
#include <stdio.h>

int gbees_error_set(gbees_error *error, gbees_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;

        va_start(arguments, format);
        error->status = status;
        (void)vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return (int)status;
}

const char *gbees_status_name(gbees_status status)
{
    switch (status) {
    case GBEES_OK:
        return "ok";
    case GBEES_EUSAGE:
        return "usage";
    case GBEES_EINPUT:
        return "input";
    case GBEES_EMODEL:
        return "model";
    case GBEES_EBACKEND:
        return "backend";
    case GBEES_ENOMEM:
        return "memory";
    case GBEES_EIO:
        return "file";
    case GBEES_ENUMERIC:
        return "numeric";
    case GBEES_EUNSUPPORTED:
        return "measurement";
    case GBEES_ECANCELLED:
        return "cancelled";
    }
    return "unknown";
}
