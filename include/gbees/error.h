/** @file gbees/error.h
 * How the functions of gbees report errors.
 *
 * A function that can fail returns 0 (GBEES_OK) or one of the codes below, and takes as its last argument a
 * gbees_error owned by the caller (NULL if the text is not wanted). The text names in one line what went wrong,
 * where, and how to remedy it. Outputs are set on success only. The library never prints and never exits.
 */
#ifndef GBEES_ERROR_H
#define GBEES_ERROR_H

/* What headers begin and end with: C++ links to what they declare as to C. */
#ifdef __cplusplus
#define GBEES_BEGIN extern "C" {
#define GBEES_END }
#else
#define GBEES_BEGIN
#define GBEES_END
#endif

GBEES_BEGIN

/** What a function that can fail returns. */
typedef enum gbees_status {
    GBEES_OK = 0,       /**< no error */
    GBEES_EUSAGE,       /**< a call or an option that is not allowed */
    GBEES_EINPUT,       /**< a malformed file, scenario or value */
    GBEES_EMODEL,       /**< a plugin that can't be found, loaded or used */
    GBEES_EBACKEND,     /**< a backend that can't be found, loaded or used */
    GBEES_ENOMEM,       /**< not enough memory */
    GBEES_EIO,          /**< a file or folder that can't be read or written */
    GBEES_ENUMERIC,     /**< a drift that is not finite, a density that vanished */
    GBEES_EUNSUPPORTED, /**< a measurement that no cell supports */
    GBEES_ECANCELLED    /**< stopped by the caller (a signal, say) */
} gbees_status;

enum { GBEES_ERROR_TEXT = 1024 /**< bytes that hold an error's text */ };

/** An error; owned by the caller. */
typedef struct gbees_error {
    gbees_status status;         /**< what the function returned */
    char text[GBEES_ERROR_TEXT]; /**< one line */
} gbees_error;

/** Writes status and the formatted text (cut to fit) to *error unless error is NULL; returns status. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int gbees_error_set(gbees_error *error, gbees_status status, const char *format, ...);

/** A word for a status: "usage", "input", "model", ... */
const char *gbees_status_name(gbees_status status);

GBEES_END
#endif
