/* card.c - checks of the members of cards; see card.h. Each error is one sentence that says what to change. */
#include "card.h"
#include <math.h>
#include <string.h>

enum {
    LONGEST_NAME = 63,     /* characters that fit the names in gbees_snapshot */
    LONGEST_TEXT = 1 << 20 /* of any other text */
};

/* Whether a text is given. It is read to its end: in a file that is damaged its address may be that of nothing, and
 * the process that tries the file is the one to crash (module.c). */
static int has_text(const char *text)
{
    return text && strnlen(text, LONGEST_TEXT + 1) <= LONGEST_TEXT;
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether a name can be used in commands, scenarios and file names: letters, digits, _ and -, beginning with a letter
 * or
 * _. */
static int is_identifier(const char *name)
{
    size_t length = name ? strlen(name) : 0;

    if (length == 0 || length > LONGEST_NAME || !is_letter(name[0]))
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(name[i]) && !(name[i] >= '0' && name[i] <= '9') && name[i] != '-')
            return 0;
    return 1;
}

static int bad(gbees_error *error, const char *what)
{
    return gbees_error_set(error, GBEES_EMODEL, "its card %s", what);
}

static int check_identifier(const char *name, const char *what, gbees_error *error)
{
    if (!name)
        return gbees_error_set(error, GBEES_EMODEL, "its card gives no name to %s", what);
    if (!is_identifier(name))
        return gbees_error_set(
            error, GBEES_EMODEL,
            "its card gives the name '%.80s' to %s: names are 1 to %d letters, digits, '_' or '-', "
            "a letter first",
            name, what, LONGEST_NAME);
    return GBEES_OK;
}

/* Checks name, unit and text of entry `number` of a list of `what`, all of which programs print. */
static int check_quantity(const char *name, const char *unit, const char *text, const char *what, int number,
                          gbees_error *error)
{
    if (!name || !name[0] || strlen(name) > LONGEST_NAME)
        return gbees_error_set(error, GBEES_EMODEL, "its card gives %s %d no name of 1 to %d characters", what,
                               number + 1, LONGEST_NAME);
    if (!unit || strlen(unit) > LONGEST_NAME)
        return gbees_error_set(
            error, GBEES_EMODEL,
            "its card gives %s '%s' no unit of at most %d characters: write \"-\" for a pure number", what, name,
            LONGEST_NAME);
    if (!has_text(text))
        return gbees_error_set(error, GBEES_EMODEL, "its card gives %s '%s' no text: say in one line what it is",
                               what, name);
    return GBEES_OK;
}

/* A list of a card, whose entries begin with their names. */
typedef struct entries {
    const char *what, *one; /* in sentences; `what` is the member's name, too */
    const void *list;
    size_t size; /* bytes of an entry */
    int count, most;
    int (*check)(const void *entry, int number, gbees_error *error);
} entries;

static const char *name_of(const entries *e, int i)
{
    return *(const char *const *)(const void *)((const char *)e->list + (size_t)i * e->size);
}

/* Checks each entry, and that no two have the same name. */
static int check_entries(const entries *e, gbees_error *error)
{
    if (e->count < 0 || e->count > e->most)
        return gbees_error_set(error, GBEES_EMODEL, "its card says %d %s: at most %d are possible", e->count, e->what,
                               e->most);
    if (e->count > 0 && !e->list)
        return gbees_error_set(error, GBEES_EMODEL, "its card says that there are %s but has none: set .%s", e->what,
                               e->what);
    for (int i = 0; i < e->count; i++) {
        if ((e->one && check_identifier(name_of(e, i), e->one, error)) ||
            e->check((const char *)e->list + (size_t)i * e->size, i, error))
            return GBEES_EMODEL;
        for (int k = 0; k < i; k++)
            if (strcmp(name_of(e, k), name_of(e, i)) == 0)
                return gbees_error_set(error, GBEES_EMODEL, "its card has two %s named '%s'", e->what, name_of(e, i));
    }
    return GBEES_OK;
}

static int check_state(const void *entry, int number, gbees_error *error)
{
    const gbees_quantity *q = entry;

    return check_quantity(q->name, q->unit, q->text, "state", number, error);
}

static int check_target(const void *entry, int number, gbees_error *error)
{
    const gbees_quantity *q = entry;

    return check_quantity(q->name, q->unit, q->text, "target", number, error);
}

/* Checks what each component of a measurement or a jump is said to be; the card may say nothing of them. */
static int check_components(const gbees_quantity *list, int size, const char *what, gbees_error *error)
{
    for (int i = 0; list && i < size; i++)
        if (check_quantity(list[i].name, list[i].unit, list[i].text, what, i, error))
            return GBEES_EMODEL;
    return GBEES_OK;
}

static int check_parameter(const void *entry, int number, gbees_error *error)
{
    const gbees_parameter *p = entry;

    if (check_quantity(p->name, p->unit, p->text, "parameter", number, error))
        return GBEES_EMODEL;
    if (!isfinite(p->value))
        return gbees_error_set(error, GBEES_EMODEL, "its card gives parameter '%s' the default %g: it must be finite",
                               p->name, p->value);
    if (isnan(p->min) || isnan(p->max) || p->min > p->max)
        return gbees_error_set(error, GBEES_EMODEL,
                               "its card gives parameter '%s' the range %g to %g: min must not be above max", p->name,
                               p->min, p->max);
    if ((p->min < 0 || p->min > 0 || p->max > 0) && (p->value < p->min || p->value > p->max))
        return gbees_error_set(error, GBEES_EMODEL,
                               "its card gives parameter '%s' the default %g, outside its range %g to %g", p->name,
                               p->value, p->min, p->max);
    return GBEES_OK;
}

static int check_measurement(const void *entry, int number, gbees_error *error)
{
    const gbees_measurement_function *m = entry;

    (void)number;
    if (!has_text(m->text))
        return gbees_error_set(error, GBEES_EMODEL,
                               "its card gives measurement '%s' no text: say in one line what it is", m->name);
    if (m->size < 1 || m->size > GBEES_MAX_DIM)
        return gbees_error_set(error, GBEES_EMODEL,
                               "its card gives measurement '%s' the size %d: 1 to %d are possible", m->name, m->size,
                               GBEES_MAX_DIM);
    for (int i = 0; m->period && i < m->size; i++)
        if (!(m->period[i] >= 0) || !isfinite(m->period[i]))
            return gbees_error_set(error, GBEES_EMODEL,
                                   "its card gives component %d of measurement '%s' the period %g: it must be 0, for "
                                   "none, or more",
                                   i + 1, m->name, m->period[i]);
    return check_components(m->components, m->size, "measurement component", error);
}

static int check_jump(const void *entry, int number, gbees_error *error)
{
    const gbees_jump_function *jump = entry;

    (void)number;
    if (strcmp(jump->name, "shift") == 0 || strcmp(jump->name, "linear") == 0)
        return gbees_error_set(error, GBEES_EMODEL,
                               "its card names a jump '%s', which every model has: give it another name", jump->name);
    if (!has_text(jump->text))
        return gbees_error_set(error, GBEES_EMODEL, "its card gives jump '%s' no text: say in one line what it is",
                               jump->name);
    if (jump->size < 0 || jump->size > GBEES_MAX_DIM)
        return gbees_error_set(error, GBEES_EMODEL,
                               "its card gives jump '%s' a value of %d numbers: 0 to %d are possible", jump->name,
                               jump->size, GBEES_MAX_DIM);
    return check_components(jump->components, jump->size, "jump component", error);
}

static int check_scenario(const void *entry, int number, gbees_error *error)
{
    const gbees_model_scenario *s = entry;

    (void)number;
    return has_text(s->text) ? GBEES_OK
                             : gbees_error_set(error, GBEES_EMODEL, "its card gives scenario '%s' no text", s->name);
}

static int check_lists(const gbees_model *card, gbees_error *error)
{
    enum { MANY = 1 << 20 };
    const entries lists[] = {
        {"parameters", "a parameter", card->parameters, sizeof *card->parameters, card->parameter_count,
         GBEES_MAX_PARAMETERS, check_parameter},
        {"measurements", "a measurement", card->measurements, sizeof *card->measurements, card->measurement_count,
         MANY, check_measurement},
        {"jumps", "a jump", card->jumps, sizeof *card->jumps, card->jump_count, MANY, check_jump},
        {"targets", "a target", card->targets, sizeof *card->targets, card->target_count, GBEES_MAX_TARGETS,
         check_target},
        {"states", NULL, card->states, sizeof *card->states, card->dim_max, GBEES_MAX_DIM, check_state},
        {"scenarios", "a scenario", card->scenarios, sizeof *card->scenarios, card->scenario_count, MANY,
         check_scenario}};

    if (!card->states)
        return bad(error, "has no states: set .states");
    if (card->scenario_count < 1 || !card->scenarios)
        return bad(error, "has no scenario: set .scenarios and .scenario_count, the first is what runs by default");
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        if (check_entries(&lists[k], error))
            return GBEES_EMODEL;
    return GBEES_OK;
}

static int check_dimensions(const gbees_model *card, gbees_error *error)
{
    if (card->dim_min < 1 || card->dim_max > GBEES_MAX_DIM || card->dim_min > card->dim_max)
        return gbees_error_set(error, GBEES_EMODEL, "its card says dimensions %d to %d: they must lie within 1 to %d",
                               card->dim_min, card->dim_max, GBEES_MAX_DIM);
    if (card->dim_default < card->dim_min || card->dim_default > card->dim_max)
        return gbees_error_set(error, GBEES_EMODEL,
                               "its card says .dim_default = %d, outside its dimensions %d to %d", card->dim_default,
                               card->dim_min, card->dim_max);
    return GBEES_OK;
}

static int has_drift(const gbees_functions *row)
{
    int complete = row->drift_f && row->drift_d && row->drift_times_d;

    for (int j = 0; j < row->n; j++)
        complete = complete && row->component_f[j] && row->component_d[j];
    return complete;
}

/* Checks that there is one table of functions for each dimension, in order, and that it has the functions that the
 * rest of the card promises. */
static int check_functions(const gbees_model *card, gbees_error *error)
{
    int rows = card->dim_max - card->dim_min + 1;

    if (!card->functions || card->function_count != rows)
        return gbees_error_set(error, GBEES_EMODEL,
                               "its card has functions for %d dimensions where %d are needed: "
                               "begin the card with GBEES_MODEL_HEAD",
                               card->functions ? card->function_count : 0, rows);
    for (int i = 0; i < rows; i++) {
        const gbees_functions *row = &card->functions[i];

        if (row->n != card->dim_min + i || !has_drift(row))
            return gbees_error_set(error, GBEES_EMODEL,
                                   "its card lacks functions of the drift for dimension %d: "
                                   "begin the card with GBEES_MODEL_HEAD",
                                   card->dim_min + i);
        if (card->measurement_count > 0 && !row->measure_d && !row->log_likelihood_d)
            return bad(error, "has measurements, but the model has no measure(): write it, and "
                              "#define GBEES_HAS_MEASURE 1 above the #include");
        if (card->measurement_count == 0 && row->log_likelihood_d)
            return bad(error, "has no measurements, but the model has a log_likelihood(): name what it is for in "
                              ".measurements, or take it out");
        if (card->jump_count > 0 && !row->jump_d)
            return bad(error, "has jumps, but the model has no jump(): write it, and #define GBEES_HAS_JUMP 1 above "
                              "the #include");
        if (card->jump_count == 0 && row->jump_d)
            return bad(error, "has no jumps, but the model has a jump(): name it in .jumps, or take it out");
        if (card->bound && !row->bound_d)
            return bad(error, "has a .bound, but the model has no bound(): write it, and "
                              "#define GBEES_HAS_BOUND 1 above the #include");
        if (!card->bound && row->bound_d)
            return bad(error, "has no .bound, but the model has a bound(): describe it, or take it out");
        if (card->target_count > 0 && !row->target_d)
            return bad(error, "has targets, but the model has no target(): write it, and "
                              "#define GBEES_HAS_TARGET 1 above the #include");
        if (card->target_count == 0 && row->target_d)
            return bad(error, "has no .targets, but the model has a target(): name them, or take it out");
        if (card->diffusion < 0 || card->diffusion > GBEES_FULL ||
            (card->diffusion != 0) != (row->diffusion_d != NULL))
            return bad(error, "does not say which diffusion the model has: begin it with GBEES_MODEL_HEAD");
    }
    return GBEES_OK;
}

static int check_source(const gbees_model *card, gbees_error *error)
{
    if (!card->source || !card->source_end || !has_text(card->source_file) || card->source > card->source_end)
        return bad(error, "does not hold the plugin's text: begin the card with GBEES_MODEL_HEAD");
    const size_t length = (size_t)(card->source_end - card->source);
    if (strnlen(card->source, length) < length)
        return bad(error, "holds a plugin's text with a zero byte in it: remove that from the file");
    return GBEES_OK;
}

static int check_head(unsigned abi, unsigned current, const char *kind, gbees_status status, gbees_error *error)
{
    if (abi == current)
        return GBEES_OK;
    return gbees_error_set(error, status,
                           "made for %s ABI %u, this gbees has ABI %u: rebuild the %s with this gbees's headers",
                           kind, abi, current, status == GBEES_EMODEL ? "plugin" : kind);
}

static int check_size(unsigned said, size_t in_file, size_t expected, gbees_status status, gbees_error *error)
{
    if (said == expected && (in_file == 0 || in_file >= expected))
        return GBEES_OK;
    return gbees_error_set(error, status,
                           "its card says %u bytes and has %zu, this gbees expects %zu: rebuild it with this gbees's "
                           "headers",
                           said, in_file ? in_file : (size_t)said, expected);
}

int gbees_card_check_model(const gbees_model *card, size_t size, gbees_error *error)
{
    if (size > 0 && size < 2 * sizeof(unsigned))
        return gbees_error_set(error, GBEES_EMODEL, "its card has %zu bytes: not a gbees model", size);
    if (check_head(card->abi, GBEES_MODEL_ABI, "model", GBEES_EMODEL, error) ||
        check_size(card->size, size, sizeof *card, GBEES_EMODEL, error) ||
        check_identifier(card->name, "the model", error))
        return GBEES_EMODEL;
    if (!has_text(card->title))
        return bad(error, "has no .title: say in one line what the model is");
    if ((card->text && !has_text(card->text)) || (card->reference && !has_text(card->reference)))
        return bad(error, "has a .text or .reference of more than a million characters");
    if (card->flags & ~(unsigned)GBEES_TIME_DEPENDENT)
        return gbees_error_set(error, GBEES_EMODEL, "its card has .flags = %#x: this gbees knows %#x only",
                               card->flags, GBEES_TIME_DEPENDENT);
    if (check_dimensions(card, error) || check_lists(card, error))
        return GBEES_EMODEL;
    if (card->bound && check_quantity(card->bound->name, card->bound->unit, card->bound->text, "bound", 0, error))
        return GBEES_EMODEL;
    if (check_functions(card, error) || check_source(card, error))
        return GBEES_EMODEL;
    return GBEES_OK;
}

int gbees_card_check_backend(const gbees_backend *card, size_t size, gbees_error *error)
{
    if (size > 0 && size < 2 * sizeof(unsigned))
        return gbees_error_set(error, GBEES_EBACKEND, "its card has %zu bytes: not a gbees backend", size);
    if (check_head(card->abi, GBEES_BACKEND_ABI, "backend", GBEES_EBACKEND, error) ||
        check_size(card->size, size, sizeof *card, GBEES_EBACKEND, error))
        return GBEES_EBACKEND;
    if (!is_identifier(card->name) || !has_text(card->title))
        return gbees_error_set(error, GBEES_EBACKEND,
                               "its card has no name of letters, digits, '_' or '-', or no title");
    if (!card->probe || !card->estimate || !card->create || !card->destroy || !card->advance || !card->update ||
        !card->statistics || !card->cells || !card->totals)
        return gbees_error_set(error, GBEES_EBACKEND, "its card lacks a function: gbees/backend.h lists nine");
    if (!card->capture != !card->capture_cells || !card->capture != !card->capture_free)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "its card has one of capture, capture_cells and capture_free, but not all three");
    if (!card->integrator_create != !card->integrator_run || !card->integrator_create != !card->integrator_destroy)
        return gbees_error_set(
            error, GBEES_EBACKEND,
            "its card has one of integrator_create, integrator_run and integrator_destroy, but not all three");
    if (!card->save != !card->load)
        return gbees_error_set(error, GBEES_EBACKEND, "its card has one of save and load, but not both");
    if (!card->hold != !card->release)
        return gbees_error_set(error, GBEES_EBACKEND, "its card has one of hold and release, but not both");
    if (!card->frame_set != !card->frame_fit || !card->frame_set != !card->frame_information)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "its card has one of frame_set, frame_fit and frame_information, but not all three");
    return GBEES_OK;
}

int gbees_card_check_parallel(const gbees_parallel_module *card, size_t size, gbees_error *error)
{
    if (size > 0 && size < 2 * sizeof(unsigned))
        return gbees_error_set(error, GBEES_EBACKEND, "its card has %zu bytes: not a gbees communicator", size);
    if (check_head(card->abi, GBEES_PARALLEL_ABI, "communicator", GBEES_EBACKEND, error) ||
        check_size(card->size, size, sizeof *card, GBEES_EBACKEND, error))
        return GBEES_EBACKEND;
    if (!is_identifier(card->name) || !has_text(card->title) || !card->open || !card->close)
        return gbees_error_set(error, GBEES_EBACKEND,
                               "its card has no name of letters, digits, '_' or '-', no title, or lacks a function");
    return GBEES_OK;
}
