/* diagnose.c - reads the logs of NVRTC and nvJitLink line by line. Of the errors in the model's text the first are
 * told, with the model's file, lines and names; an error in the engine's text at the call of a model's function
 * counts as that function's. */
#include "diagnose.h"
#include "base/text.h"
#include "spec.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One error of a log: "FILE(LINE): error: MESSAGE", or "At end of source: error: MESSAGE" (no file, line 0).  The
 * pointers are into the log. */
typedef struct complaint {
    const char *file, *message;
    size_t file_length, message_length;
    long line;
} complaint;

/* Characters of a line without its end. */
static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

/* The last occurrence of `what` in `text` that begins before `end`; NULL: there is none. */
static const char *find_before(const char *text, const char *end, const char *what)
{
    const char *found = NULL, *next = strstr(text, what);

    while (next && next < end) {
        found = next;
        next = strstr(next + 1, what);
    }
    return found;
}

/* Reads a line of a log. Returns 0 if it is no error in one of the known forms. */
static int read_complaint(const char *line, complaint *out)
{
    static const char end_of_source[] = "At end of source: ";
    const char *end = line + line_length(line), *error = strstr(line, "error: "), *close, *open;

    if (!error || error >= end)
        return 0;
    close = find_before(line, error, "): ");
    open = close ? find_before(line, close, "(") : NULL;
    if (!open && strncmp(line, end_of_source, sizeof end_of_source - 1) != 0)
        return 0;
    out->file = line;
    out->file_length = open ? (size_t)(open - line) : 0;
    out->line = open ? strtol(open + 1, NULL, 10) : 0;
    out->message = error + strlen("error: ");
    out->message_length = (size_t)(end - out->message);
    return 1;
}

/* Whether the error is in the file `name`. */
static int is_file(const complaint *c, const char *name)
{
    return strlen(name) == c->file_length && strncmp(c->file, name, c->file_length) == 0;
}

/* Returns "drift" for an error at the engine's call of the model's drift(), whose lines equations.h names
 * "gbees:drift" by #line; in the same way for other functions. NULL: the error is elsewhere. */
static const char *function_of(const complaint *c)
{
    static const char *const names[] = {"drift", "measure", "bound", "diffusion", "target"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[32];

        (void)snprintf(file, sizeof file, "gbees:%s", names[i]);
        if (is_file(c, file))
            return names[i];
    }
    return NULL;
}

/* Returns the line where the model defines a function: the first with its name and a parenthesis.  0: none. */
static long line_of(const gbees_model *model, const char *function)
{
    size_t length = strlen(function);
    long line = 1;

    for (const char *c = model->source; c + length < model->source_end; c++) {
        line += *c == '\n';
        if (strncmp(c, function, length) == 0 && c > model->source && isspace((unsigned char)c[-1]) &&
            c[length + strspn(c + length, " ")] == '(')
            return line;
    }
    return 0;
}

/* Appends a message, with the names as the model has them: "drift" for "gbees_equations::gbees_equation_drift_f". */
static void add_words(gbees_text *text, const char *message, size_t length)
{
    static const char space[] = "gbees_equations::", prefix[] = "gbees_equation_";
    int named = 0;

    for (const char *c = message, *end = message + length; c < end; c++) {
        if (strncmp(c, space, sizeof space - 1) == 0)
            c += sizeof space - 2;
        else if (strncmp(c, prefix, sizeof prefix - 1) == 0) {
            c += sizeof prefix - 2;
            named = 1;
        } else if (named && *c == '_' && end - c > 1 && strchr("fd", c[1]) &&
                   !(end - c > 2 && (isalnum((unsigned char)c[2]) || c[2] == '_'))) {
            c++;
            named = 0;
        } else
            gbees_text_add(text, "%c", *c);
    }
}

/* Appends an error as "FILE:LINE: MESSAGE"; one at a call of a model's function with the line of its definition. */
static void add_complaint(gbees_text *text, const gbees_model *model, const complaint *c)
{
    const char *function = function_of(c);

    if (text->length)
        gbees_text_add(text, "; ");
    if (!function && !c->file_length)
        gbees_text_add(text, "at the end of the text: ");
    else if (!function)
        gbees_text_add(text, "%.*s:%ld: ", (int)c->file_length, c->file, c->line);
    else if (line_of(model, function))
        gbees_text_add(text,
                       "%s:%ld: %s() has arguments of other types than it should: ", cuda_spec_source_file(model),
                       line_of(model, function), function);
    else {
        gbees_text_add(text, "%s: no %s() is there", cuda_spec_source_file(model), function);
        return;
    }
    add_words(text, c->message, c->message_length);
}

/* Whether the model is at fault: the error is in its text, or in the engine's text behind it, which has no errors of
 * its own. */
static int is_models(const gbees_model *model, const complaint *c)
{
    return !c->file_length || is_file(c, cuda_spec_source_file(model)) || is_file(c, "device/equations.h") ||
           function_of(c);
}

/* Whether the log has the same error before this line: the equations are compiled twice, for float and for double. */
static int is_repeated(const char *log, const char *line, const complaint *c)
{
    for (const char *earlier = log; earlier < line; earlier += line_length(earlier) + 1) {
        complaint other;

        if (read_complaint(earlier, &other) && other.line == c->line && other.file_length == c->file_length &&
            strncmp(other.file, c->file, c->file_length) == 0 &&
            (function_of(c) || (other.message_length == c->message_length &&
                                strncmp(other.message, c->message, c->message_length) == 0)))
            return 1;
    }
    return 0;
}

/* Appends the name of the function that a log of nvJitLink calls undefined, without its scope and without the ending
 * that GBEES_FN appends: "foo" for "Unresolved extern function '_ZN15gbees_equations5foo_dEd'" or "... 'foo_d'".
 * Returns 0 if the log has none. */
static int add_undefined(gbees_text *text, const char *log)
{
    static const char words[] = "Unresolved extern function '";
    const char *symbol = log ? strstr(log, words) : NULL, *name;
    int length;

    if (!symbol)
        return 0;
    symbol += sizeof words - 1;
    name = symbol;
    length = (int)strcspn(symbol, "'");
    if (strncmp(symbol, "_Z", 2) == 0) {
        const char *c = symbol + 2 + (symbol[2] == 'N');

        while (isdigit((unsigned char)*c)) {
            char *end;

            length = (int)strtol(c, &end, 10);
            name = end;
            c = end + strnlen(end, (size_t)length);
        }
    }
    if (length > 2 && name[length - 2] == '_' && strchr("fd", name[length - 1]))
        length -= 2;
    gbees_text_add(text, "%.*s", length, name);
    return 1;
}

/* Sets the error if the log has an undefined function. Returns 0 if it has none. */
static int report_undefined(const gbees_model *model, const char *log, gbees_error *error)
{
    gbees_text name = {0};
    int status = GBEES_OK;

    if (add_undefined(&name, log) && name.data)
        status = gbees_error_set(error, GBEES_EMODEL,
                                 "%s: the function %s() is called, but not defined: the model can't be compiled for "
                                 "the GPU",
                                 cuda_spec_source_file(model), name.data);
    gbees_text_free(&name);
    return status;
}

/* The first line of a log, which has *length characters: for a log in which no line has one of the known forms. */
static const char *first_line(const char *log, int *length)
{
    log += strspn(log, "\n ");
    *length = (int)line_length(log);
    return log;
}

int cuda_diagnose(const gbees_model *model, const char *log, const char *result, gbees_error *error)
{
    gbees_text text = {0};
    int in_model = 0, found = 0, status, length = 0;

    status = report_undefined(model, log, error);
    if (status)
        return status;
    for (const char *line = log; line && *line; line += line_length(line), line += *line == '\n') {
        complaint c;

        if (!read_complaint(line, &c) || is_repeated(log, line, &c))
            continue;
        if (!found++)
            in_model = is_models(model, &c);
        if (in_model && !is_models(model, &c))
            continue; /* a consequence of the model's error */
        add_complaint(&text, model, &c);
    }
    const char *rest = found || !log ? "" : first_line(log, &length);
    if (in_model)
        status = gbees_error_set(error, GBEES_EMODEL, "the model can't be compiled for the GPU: %s",
                                 text.data ? text.data : "");
    else
        status = gbees_error_set(error, GBEES_EBACKEND, "the engine can't be compiled for the GPU: %s: %s%.*s",
                                 result, text.data ? text.data : "", length, rest);
    gbees_text_free(&text);
    return status;
}
