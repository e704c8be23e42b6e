/* load.c - runs a small problem 1,000 times in one process: neither its open descriptors nor, after the 100th run,
 * its memory may grow. */
#include <dirent.h>
#include <gbees/gbees.h>
#include <stdio.h>
#include <unistd.h>

enum { RUNS = 1000, FIRST = 100 };

static int open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        (void)closedir(folder);
    return count;
}

/* Bytes of memory that are resident; 0: not known. */
static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file && fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        (void)fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static int run(gbees_error *error)
{
    const gbees_engine_options options = {.threads = 1};
    gbees_registry *registry = NULL;
    const gbees_model *model = NULL;
    const gbees_backend *backend = NULL;
    gbees_scenario *scenario = NULL;
    gbees_problem *problem = NULL;
    gbees_solver *solver = NULL;
    const int done =
        !gbees_registry_create(NULL, &registry, error) && !gbees_registry_model(registry, "linear", &model, error) &&
        !gbees_registry_backend(registry, "cpu", &backend, error) &&
        !gbees_scenario_create(model->scenarios[0].text, "the scenario", &scenario, error) &&
        !gbees_scenario_set(scenario, "end=0.5", error) && !gbees_problem_create(model, scenario, &problem, error) &&
        !gbees_solver_create(problem, backend, &options, &solver, error) && !gbees_solver_run(solver, NULL, error);

    gbees_solver_destroy(solver);
    gbees_problem_destroy(problem);
    gbees_scenario_destroy(scenario);
    gbees_registry_destroy(registry);
    return done;
}

int main(void)
{
    gbees_error error = {0};
    double bytes = 0;
    int descriptors = 0;

    for (int k = 1; k <= RUNS; k++) {
        if (!run(&error)) {
            (void)fprintf(stderr, "load: run %d: %s\n", k, error.text);
            return 1;
        }
        if (k == FIRST) {
            bytes = resident();
            descriptors = open_descriptors();
        }
    }
    const double more = resident() - bytes;
    const int opened = open_descriptors() - descriptors;

    (void)printf("%d runs in one process: from the %dth on %+.0f KiB resident, %+d open descriptors\n", RUNS, FIRST,
                 more / 1024, opened);
    return more > 1e6 || opened != 0;
}
