/* fake_backend - a backend with a right card that computes nothing; with FAKE_BACKEND_WAITS set it never says so. */
#include <gbees/backend.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static int refuse(gbees_error *error)
{
    if (error)
        *error = (gbees_error){GBEES_EBACKEND, "the fake backend computes nothing"};
    return GBEES_EBACKEND;
}

static int probe(char *text, size_t size)
{
    if (size > 0)
        text[0] = '\0';
    return 0;
}

static double estimate(const gbees_problem *problem, double bricks)
{
    (void)problem, (void)bricks;
    return 0;
}

static int create(const gbees_problem *problem, const gbees_engine_options *options, gbees_engine **engine,
                  gbees_error *error)
{
    (void)problem, (void)options, (void)engine;
    if (getenv("FAKE_BACKEND_WAITS"))
        (void)pause();
    return refuse(error);
}

static void destroy(gbees_engine *engine)
{
    (void)engine;
}

static int advance(gbees_engine *engine, gbees_clock *clock, uint64_t max_steps, gbees_error *error)
{
    (void)engine, (void)clock, (void)max_steps;
    return refuse(error);
}

static int update(gbees_engine *engine, const gbees_clock *clock, const gbees_measurement *measurement,
                  gbees_evidence *evidence, gbees_error *error)
{
    (void)engine, (void)clock, (void)measurement, (void)evidence;
    return refuse(error);
}

static int statistics(gbees_engine *engine, const gbees_clock *clock, gbees_statistics *statistics,
                      gbees_error *error)
{
    (void)engine, (void)clock, (void)statistics;
    return refuse(error);
}

static int cells(gbees_engine *engine, double fraction, gbees_cell_visitor *visitor, void *context,
                 gbees_error *error)
{
    (void)engine, (void)fraction, (void)visitor, (void)context;
    return refuse(error);
}

static void totals(const gbees_engine *engine, gbees_totals *totals)
{
    (void)engine;
    *totals = (gbees_totals){0};
}

extern const gbees_backend gbees_backend_card;
GBEES_BACKEND_EXPORT const gbees_backend gbees_backend_card = {
    .abi = GBEES_BACKEND_ABI,
    .size = sizeof(gbees_backend),
    .name = "fake",
    .title = "computes nothing",
    .probe = probe,
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .update = update,
    .statistics = statistics,
    .cells = cells,
    .totals = totals,
};
