/* plugin_source.c - gbees-plugin: what the compiler warns of in a model's text, and divisions of whole numbers, of
 * which no compiler warns; see plugin.h. */
#include "base/text.h"
#include "plugin.h"
#include "results/folder/folder.h"
#include "scenario/yaml_tree.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- divisions ---- */

/* A place in the text of a C file. */
typedef struct scan {
    const char *at, *end;
    int line;
    char before; /* the last character of code that is no blank */
} scan;

/* A division of whole numbers that leaves a remainder: 1/2 is 0. */
typedef struct division {
    int line;
    unsigned long long a, b;
} division;

static int has(const scan *s, const char *text)
{
    const size_t length = strlen(text);

    return (size_t)(s->end - s->at) >= length && strncmp(s->at, text, length) == 0;
}

static void step(scan *s)
{
    s->line += *s->at == '\n';
    s->at++;
}

/* Skips to after the text that ends a comment, a line or a string; `escape`: skips two characters at it. */
static void skip_to(scan *s, const char *last, char escape)
{
    while (s->at < s->end && !has(s, last)) {
        if (*s->at == escape && s->at + 1 < s->end)
            step(s);
        step(s);
    }
    for (size_t i = 0; i < strlen(last) && s->at < s->end; i++)
        step(s);
}

/* Skips what is no code: blanks, comments, strings and lines of the preprocessor; returns whether there was some. */
static int skip_other(scan *s)
{
    const char mark[] = {*s->at, 0};

    if (isspace((unsigned char)*s->at))
        step(s);
    else if (has(s, "/*")) {
        s->at += 2;
        skip_to(s, "*/", 0);
    } else if (has(s, "//"))
        skip_to(s, "\n", '\\');
    else if (*s->at == '#')
        skip_to(s, "\n", '\\');
    else if (*s->at == '"' || *s->at == '\'') {
        step(s);
        s->before = mark[0];
        skip_to(s, mark, '\\');
    } else
        return 0;
    return 1;
}

/* Reads a word or a number; returns whether it is a whole number. */
static int read_word(scan *s, unsigned long long *value)
{
    const char *first = s->at;
    char *last = NULL;

    while (s->at < s->end && (isalnum((unsigned char)*s->at) || *s->at == '_' || *s->at == '.' ||
                              ((*s->at == '+' || *s->at == '-') && s->at > first && isdigit((unsigned char)*first) &&
                               strchr("eEpP", s->at[-1]) && strncmp(first, "0x", 2) != 0)))
        s->at++;
    if (s->at == first || !isdigit((unsigned char)*first))
        return 0;
    *value = strtoull(first, &last, 0);
    while (last < s->at && strchr("uUlL", *last))
        last++;
    return last == s->at;
}

/* Finds the next division of two numbers, of which no * or / comes before the first. */
static int next_division(scan *s, division *found)
{
    while (s->at < s->end) {
        if (skip_other(s))
            continue;
        const char before = s->before, *first = s->at;
        const int line = s->line, is_whole = read_word(s, &found->a);

        if (s->at == first) { /* neither word nor number */
            s->before = *s->at;
            step(s);
            continue;
        }
        s->before = s->at[-1];
        while (s->at < s->end && skip_other(s))
            ;
        if (!is_whole || strchr("*/%)", before ? before : ' ') || s->at >= s->end || *s->at != '/')
            continue;
        step(s);
        s->before = '/';
        while (s->at < s->end && skip_other(s))
            ;
        found->line = line;
        if (s->at < s->end && read_word(s, &found->b) && found->b && found->a % found->b)
            return 1;
    }
    return 0;
}

static const char division_text[] = "%llu/%llu divides whole numbers, and is %llu: write %llu.0/%llu";

int gbees_plugin_tell_divisions(const char *source, gbees_error *error)
{
    char *text = NULL;
    size_t length = 0;
    division d;
    const int status = gbees_input_read(source, 1 << 26, &text, &length, error);
    scan s = {.at = text, .end = text ? text + length : NULL, .line = 1};

    while (!status && next_division(&s, &d)) {
        (void)fprintf(stderr, "%s:%d: warning: ", source, d.line);
        (void)fprintf(stderr, division_text, d.a, d.b, d.a / d.b, d.a, d.b);
        (void)fputc('\n', stderr);
    }
    free(text);
    return status;
}

static void check_divisions(const gbees_probe *probe)
{
    const gbees_model *m = probe->model;
    scan s = {.at = m->source, .end = m->source_end, .line = 1};
    division d;
    char text[160];

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "whole numbers");
    if (next_division(&s, &d)) {
        (void)snprintf(text, sizeof text, division_text, d.a, d.b, d.a / d.b, d.a, d.b);
        gbees_probe_report(probe, GBEES_PROBE_WARN, "line %d: %s", d.line, text);
    } else
        gbees_probe_report(probe, GBEES_PROBE_OK, "no division of two that leaves a remainder");
}

/* ---- the compiler ---- */

/* Sends the lines with warnings, from the file's name on, each place once; returns their number. */
static int send_warnings(const gbees_probe *probe, FILE *said, const char *name)
{
    char line[512], place[64] = "";
    int count = 0;

    rewind(said);
    while (fgets(line, sizeof line, said)) {
        const char *warning = strstr(line, "warning: "), *from = strstr(line, name);

        line[strcspn(line, "\n")] = '\0';
        if (!warning || !from || from > warning || (count && strncmp(from, place, strlen(place)) == 0))
            continue;
        (void)snprintf(place, sizeof place, "%.*s", (int)(warning - from), from);
        gbees_probe_report(probe, GBEES_PROBE_TEXT, "%s", from);
        count++;
    }
    return count;
}

static int write_source(const gbees_model *m, const char *path)
{
    FILE *file = fopen(path, "wb");
    const size_t length = (size_t)(m->source_end - m->source);
    const int bad = !file || fwrite(m->source, 1, length, file) != length;

    return (file && fclose(file)) || bad;
}

/* Compiles the model's text, with the compiler's messages in a file. */
static void compile(const gbees_probe *probe, const char *source, const char *target, const char *name)
{
    FILE *said = tmpfile();
    const int own = said ? dup(STDERR_FILENO) : -1;
    gbees_error error = {0};

    if (own < 0 || write_source(probe->model, source) || dup2(fileno(said), STDERR_FILENO) < 0)
        gbees_probe_report(probe, GBEES_PROBE_NOTE, "not checked: no temporary file can be made");
    else {
        const int status = gbees_plugin_look(source, target, &error);
        const int count = status ? 0 : send_warnings(probe, said, name);

        (void)dup2(own, STDERR_FILENO);
        if (status)
            gbees_probe_report(probe, GBEES_PROBE_NOTE, "not checked: its text can't be compiled here by itself");
        else if (count)
            gbees_probe_report(probe, GBEES_PROBE_WARN, "the compiler warns at %d place%s, above: see to them", count,
                               count == 1 ? "" : "s");
        else
            gbees_probe_report(probe, GBEES_PROBE_OK, "it has none");
    }
    if (own >= 0)
        (void)close(own);
    if (said)
        (void)fclose(said);
}

static void check_compiler(const gbees_probe *probe)
{
    const char *temporary = getenv("TMPDIR"), *slash = strrchr(probe->model->source_file, '/');
    const char *name = slash ? slash + 1 : probe->model->source_file;
    gbees_text folder = {0};

    gbees_probe_report(probe, GBEES_PROBE_BEGIN, "the compiler's warnings");
    gbees_text_add(&folder, "%s/gbees-plugin.XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (folder.failed || !mkdtemp(folder.data)) {
        gbees_probe_report(probe, GBEES_PROBE_NOTE, "not checked: no temporary folder can be made");
        gbees_text_free(&folder);
        return;
    }
    char *source = gbees_folder_join(folder.data, name), *target = gbees_folder_join(folder.data, ".so");
    if (source && target)
        compile(probe, source, target, name);
    if (source)
        (void)unlink(source);
    if (target)
        (void)unlink(target);
    (void)rmdir(folder.data);
    free(source);
    free(target);
    gbees_text_free(&folder);
}

void gbees_probe_source(gbees_probe *probe)
{
    gbees_error error = {0};

    if (!gbees_probe_open(probe, &error)) {
        check_divisions(probe);
        check_compiler(probe);
    }
    gbees_probe_close(probe);
}
