/* test_cuda_program.c - texts to kernels: every model and the engine for every architecture, in one unit and in two
 * that are linked. */
#include "compiler_fixture.h"
#include "cuda/compile/spec.h"
#include "cuda/compile/texts.h"
#include <dirent.h>

/* ---- models ---- */

static int is_known(const char *arch)
{
    cuda_target target;

    return cuda_target_choose(&api, arch, &target, NULL) == GBEES_OK && !target.is_ptx;
}

/* "NAME: 28 registers, 0 bytes of stack, 0 spilled, 0 reloaded, 0 shared" in every line. */
static void check_report(const program *p)
{
    int lines = 0;

    for (const char *line = p->report; *line; line = strchr(line, '\n') + 1, lines++) {
        char name[64];
        int registers, stack, spilled, reloaded, shared;

        ck_assert_msg(sscanf(line, "%63[^:]: %d registers, %d bytes of stack, %d spilled, %d reloaded, %d shared",
                             name, &registers, &stack, &spilled, &reloaded, &shared) == 6,
                      "%s", line);
        ck_assert_int_gt(registers, 0);
    }
    ck_assert_int_gt(lines, 0);
}

static void build(const program_spec *spec)
{
    program p = {0};
    char of[128];

    print(of, sizeof of, "%s, %d states, %s, %s", spec->model->name, spec->dimension, spec->arch,
          spec->separate ? "linked" : "one unit");
    ck_assert_msg(program_build(&api, spec, &p, &error) == GBEES_OK, "%s: %s", of, error.text);
    ck_assert_uint_gt(p.image_size, 1000);
    ck_assert_msg(memcmp(p.image, "\177ELF", 4) == 0, "%s is no cubin", of);
    ck_assert_int_eq(p.from_cache, 0);
    ck_assert_ptr_null(p.module);
    ck_assert(p.compile_s > 0 && (p.link_s > 0) == spec->separate && p.is_linked == spec->separate);
    check_report(&p);
    program_destroy(NULL, &p);
    ck_assert_ptr_null(p.image);
}

static void open_models(void)
{
    char folders[2 * LENGTH], plugins[LENGTH];

    print(plugins, sizeof plugins, "%s/plugins/.libs", environment("GBEES_TOP_BUILD", "."));
    print(folders, sizeof folders, "%s:%s/tests/.libs", plugins, environment("GBEES_TOP_BUILD", "."));
    ck_assert_int_eq(gbees_registry_create(folders, &registry, &error), GBEES_OK);
}

/* The oldest guards every change; all other tests build for sm_90. */
static const char *const archs[] = {"sm_75", "sm_90", "sm_120", "sm_80", "sm_86", "sm_89", "sm_100"};
enum { ARCHS = sizeof archs / sizeof *archs, USUAL_ARCHS = 1 };

/* All shipped models, and the test models that use all of the contract, without the engine. */
START_TEST(every_model_for_every_architecture)
{
    const gbees_module_info *list = NULL;
    size_t count = 0;
    int built = 0;

    if (!is_known(archs[_i]))
        return;
    open_models();
    ck_assert_int_eq(gbees_registry_list(registry, &list, &count, &error), GBEES_OK);
    for (size_t i = 0; i < count; i++) {
        const gbees_model *model = list[i].model;

        if (!model || (!strstr(list[i].path, "/plugins/") && strcmp(model->name, "full") != 0 &&
                       strcmp(model->name, "noise") != 0))
            continue;
        /* Linked for one architecture only: linking does not depend on it. */
        for (int separate = 0; separate <= (strcmp(archs[_i], "sm_90") == 0); separate++) {
            program_spec spec = spec_of(model, model->dim_default, archs[_i], separate);

            build(&spec);
        }
        built++;
    }
    ck_assert_int_ge(built, 4);
}
END_TEST

/* Builds all programs of a problem, one after the other. */
static void build_problem(const gbees_problem *problem, const char *arch)
{
    for (int part = 0; part < PROGRAMS; part++) {
        program_spec spec;

        if ((part == PROGRAM_FRAME || part == PROGRAM_REMAP) && !program_is_wanted(problem, part))
            continue; /* they compile for grids that move only */
        cuda_spec_set(&spec, problem, arch, part, 0);
        build(&spec);
    }
}

static void build_engine(const char *name, int dimension, gbees_scheme scheme, gbees_precision precision,
                         const char *arch)
{
    const gbees_problem problem = {
        .model = found(name), .dimension = dimension, .numerics = {.scheme = scheme, .precision = precision}};

    build_problem(&problem, arch);
}

static void build_moving(const char *name, int dimension, const char *arch)
{
    const gbees_problem problem = {.model = found(name),
                                   .dimension = dimension,
                                   .rotated = 1,
                                   .moving = 1,
                                   .numerics = {.scheme = GBEES_SCHEME_SPLIT5, .precision = GBEES_MIXED}};

    build_problem(&problem, arch);
}

/* Engines for each architecture; make check has one of those for the oldest. */
enum { ENGINES = 3, USUAL_ENGINES = 1 };

START_TEST(the_engine_for_every_architecture)
{
    const char *arch = archs[_i / ENGINES];

    if (!is_known(arch))
        return;
    open_models();
    if (_i % ENGINES == 0)
        build_engine("duffing", 2, GBEES_SCHEME_CTU, GBEES_DOUBLE, arch);
    else if (_i % ENGINES == 1)
        build_moving("lorenz63", 3, arch);
    else
        build_engine("lorenz96", 6, GBEES_SCHEME_SPLIT5, GBEES_MIXED, arch);
}
END_TEST

/* The other precision, the other words of schemes, and the smallest and largest number of states. */
static const struct {
    const char *model;
    int dimension;
    gbees_scheme scheme;
    gbees_precision precision;
} forms[] = {
    {"linear", 1, GBEES_SCHEME_SPLIT5_MP, GBEES_MIXED}, /* test_cuda.sh compiles the like of it at each change */
    {"noise", 3, GBEES_SCHEME_SPLIT5, GBEES_DOUBLE},
    {"linear", 8, GBEES_SCHEME_CTU, GBEES_MIXED},
    /* test_cuda_registers builds the like of these. */
    {"pcr3bp", 4, GBEES_SCHEME_SPLIT5, GBEES_DOUBLE},
    {"pcr3bp", 4, GBEES_SCHEME_SPLIT7_MP, GBEES_MIXED},
};
enum { FORMS = sizeof forms / sizeof *forms };

START_TEST(the_engine_in_all_its_forms)
{
    open_models();
    build_engine(forms[_i].model, forms[_i].dimension, forms[_i].scheme, forms[_i].precision, "sm_90");
}
END_TEST

/* The engine is linked with a model that has measurements, a likelihood of its own and a bound, with one whose
 * measurements are not known yet, and with one that has a diffusion and a bound. */
START_TEST(the_engine_in_two_units)
{
    static gbees_measurement measurement = {.size = 3, .missing = 1, .likelihood = GBEES_LIKELIHOOD_MODEL};
    static const gbees_numerics numerics = {.scheme = GBEES_SCHEME_SPLIT5};

    (void)setenv("GBEES_CUDA_UNITS", "two", 1);
    open_models();
    const gbees_problem problems[] = {
        {.model = found("full"),
         .dimension = 2,
         .bounded = 1,
         .measurement_count = 1,
         .measurements = &measurement,
         .numerics = numerics},
        {.model = found("lorenz63"), .dimension = 3, .arriving = 1, .numerics = numerics},
        {.model = found("noise"), .dimension = 2, .bounded = 1, .numerics = numerics},
    };
    build_problem(&problems[_i], "sm_90");
    (void)unsetenv("GBEES_CUDA_UNITS");
}
END_TEST

START_TEST(an_architecture_to_come_gets_ptx)
{
    const gbees_model model = model_of("mine.c", "static inline void drift(int n, real t, const real x[], const real "
                                                 "p[], real dxdt[])\n{ dxdt[0] = x[0]; }\n");

    for (int separate = 0; separate < 2; separate++) {
        program_spec spec = spec_of(&model, 1, "sm_999", separate);
        program p = {0};

        ck_assert_msg(program_build(&api, &spec, &p, &error) == GBEES_OK, "%s", error.text);
        ck_assert_ptr_nonnull(strstr(p.image, ".target sm_"));
        ck_assert_uint_le(strlen(p.image), p.image_size);
        ck_assert_str_eq(p.report, "");
        program_destroy(NULL, &p);
    }
}
END_TEST

/* ---- the engine's texts ---- */

static char text[1 << 18];

/* Reads a file into `text`, and returns its length. */
static size_t read_text(const char *name)
{
    FILE *file = fopen(name, "r");

    ck_assert_ptr_nonnull(file);
    const size_t length = fread(text, 1, sizeof text, file);
    ck_assert_uint_lt(length, sizeof text);
    ck_assert_int_eq(fclose(file), 0);
    return length;
}

START_TEST(every_text_is_embedded)
{
    static const char *const folders[] = {"core/numerics", "backends/cuda/device"};
    const cuda_text *texts;
    size_t count = cuda_texts(&texts);

    for (int i = 0; i < 2; i++) {
        char folder[LENGTH];
        struct dirent *entry;

        print(folder, sizeof folder, "%s/%s", environment("GBEES_TOP_SRC", "."), folders[i]);
        DIR *dir = opendir(folder);
        ck_assert_ptr_nonnull(dir);
        while ((entry = readdir(dir))) {
            char name[2 * LENGTH];
            const char *ending = strrchr(entry->d_name, '.');
            int found = !ending || (strcmp(ending, ".h") != 0 && strcmp(ending, ".cu") != 0);

            if (found)
                continue;
            print(name, sizeof name, "%s/%s", folder, entry->d_name);
            const size_t length = read_text(name);
            for (size_t k = 0; k < count && !found; k++)
                found = (size_t)(texts[k].end - texts[k].begin) == length && !*texts[k].end &&
                        memcmp(texts[k].begin, text, length) == 0;
            ck_assert_msg(found, "%s/%s is not in backends/cuda/compile/texts.c as it is", folder, entry->d_name);
        }
        (void)closedir(dir);
    }
}
END_TEST

int main(void)
{
    if (!can_compile())
        return 77;
    Suite *suite = suite_create("cuda_program");
    TCase *tests = add_case(suite, "kernels");

    tcase_add_loop_test(tests, every_model_for_every_architecture, 0, USUAL_ARCHS);
    tcase_add_loop_test(tests, the_engine_for_every_architecture, 0, USUAL_ENGINES);
    tests = add_case(suite, "more kernels");
    tag_long(tests);
    tcase_add_loop_test(tests, every_model_for_every_architecture, USUAL_ARCHS, ARCHS);
    tcase_add_loop_test(tests, the_engine_for_every_architecture, USUAL_ENGINES, ENGINES * ARCHS);
    tcase_add_loop_test(tests, the_engine_in_all_its_forms, 0, FORMS);
    tcase_add_loop_test(tests, the_engine_in_two_units, 0, 3);
    tests = add_case(suite, "texts");
    tcase_add_test(tests, an_architecture_to_come_gets_ptx);
    tcase_add_test(tests, every_text_is_embedded);
    return run_suite(suite);
}
