/* test_cuda_program.c - texts to kernels: every model and the engine for every architecture, in one unit and in two
 * that are linked; and what a model's author reads when that fails. */
#include "cuda/compile/build.h"
#include "cuda/compile/compile.h"
#include "cuda/compile/spec.h"
#include "cuda/compile/texts.h"
#include "cuda_fixture.h"
#include <dirent.h>

static cuda_api api;

static void start_test(void)
{
    setup();
    (void)setenv("GBEES_CACHE", "off", 1);
    ck_assert_msg(cuda_api_open(&api, CUDA_COMPILER | CUDA_LINKER, &error) == GBEES_OK, "%s", error.text);
}

static void end_test(void)
{
    cuda_api_close(&api);
    teardown();
}

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

/* The first ones guard every change: that of the tests' tables, the oldest and the newest. */
static const char *const archs[] = {"sm_90", "sm_75", "sm_120", "sm_80", "sm_86", "sm_89", "sm_100"};
enum { ARCHS = sizeof archs / sizeof *archs, USUAL_ARCHS = 3 };

/* All shipped models, and the test models that use all of the contract, without the engine. */
START_TEST(every_model_for_every_architecture)
{
    const gbees_module_info *list = NULL;
    size_t count = 0;
    int built = 0;

    if (!is_known(archs[_i]))
        return;
    open_models();
    ck_assert_int_eq(gbees_registry_scan(registry, &list, &count, &error), GBEES_OK);
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

        if ((part == PROGRAM_SMALL || part == PROGRAM_FRAME) && !program_is_wanted(problem, arch, part))
            continue; /* the first compiles for some schemes only, the second for grids that move */
        cuda_spec_set(&spec, problem, arch, part, 0);
        build(&spec);
    }
}

static void build_engine(const char *name, int dimension, gbees_scheme scheme, gbees_precision precision,
                         const char *arch)
{
    const gbees_problem problem = {.model = found(name),
                                   .dimension = dimension,
                                   .numerics = {.scheme = scheme, .precision = precision, .cells_per_brick = 64}};

    build_problem(&problem, arch);
}

static void build_moving(const char *name, int dimension, const char *arch)
{
    const gbees_problem problem = {
        .model = found(name),
        .dimension = dimension,
        .rotated = 1,
        .moving = 1,
        .numerics = {.scheme = GBEES_SCHEME_SPLIT5, .precision = GBEES_MIXED, .cells_per_brick = 64}};

    build_problem(&problem, arch);
}

START_TEST(the_engine_for_every_architecture)
{
    if (!is_known(archs[_i]))
        return;
    open_models();
    build_moving("lorenz63", 3, archs[_i]);
    build_engine("lorenz96", 6, GBEES_SCHEME_SPLIT5, GBEES_MIXED, archs[_i]);
    build_engine("duffing", 2, GBEES_SCHEME_CTU, GBEES_DOUBLE, archs[_i]);
}
END_TEST

/* The other precision, the other words of schemes, and the smallest and largest number of states. */
START_TEST(the_engine_in_all_its_forms)
{
    open_models();
    build_engine("linear", 1, GBEES_SCHEME_SPLIT5_MP, GBEES_MIXED, "sm_90");
    build_engine("linear", 8, GBEES_SCHEME_CTU, GBEES_MIXED, "sm_90");
    build_engine("pcr3bp", 4, GBEES_SCHEME_SPLIT5, GBEES_DOUBLE, "sm_90");
    build_engine("pcr3bp", 4, GBEES_SCHEME_SPLIT7_MP, GBEES_MIXED, "sm_90");
    build_engine("noise", 3, GBEES_SCHEME_SPLIT5, GBEES_DOUBLE, "sm_90");
}
END_TEST

/* The engine is linked with a model that has a drift alone, with one that has measurements, a likelihood of its own
 * and a bound, and with one that has a diffusion and a bound. */
START_TEST(the_engine_in_two_units)
{
    static gbees_measurement measurement = {.size = 3, .missing = 1, .likelihood = GBEES_LIKELIHOOD_MODEL};
    static const gbees_numerics numerics = {.scheme = GBEES_SCHEME_SPLIT5, .cells_per_brick = 64};

    (void)setenv("GBEES_CUDA_UNITS", "two", 1);
    open_models();
    const gbees_problem problems[] = {
        {.model = found("lorenz63"), .dimension = 3, .numerics = numerics},
        {.model = found("full"),
         .dimension = 2,
         .bounded = 1,
         .measurement_count = 1,
         .measurements = &measurement,
         .numerics = numerics},
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

/* ---- what a model may use ---- */

/* Returns the PTX of a kernel of the test and the model's equations. */
static char *ptx_of(const gbees_model *model, const char *kernel)
{
    program_spec spec = spec_of(model, 3, "sm_90", 0);
    const cuda_target target = {"compute_90", 1};
    cuda_code code = {0};
    char unit[2 * LENGTH];

    print(unit, sizeof unit, "#include \"device/model.h\"\n%s\n#include \"device/equations.h\"\n", kernel);
    ck_assert_msg(cuda_compile(&api, &(cuda_goal){&spec, &target, CUDA_PTX}, "unit", unit, &code, &error) == GBEES_OK,
                  "%s", error.text);
    char *data = code.data;
    code.data = NULL;
    cuda_code_free(&code);
    return data;
}

static const char rich[] =
    "#define GBEES_DIM 3\n"
    "#define GBEES_HAS_MEASURE 1\n"
    "#define GBEES_HAS_BOUND 1\n"
    "#include <gbees/model.h>\n"
    "#include <math.h>\n"
    "#include <tgmath.h>\n"
    "#include <stdint.h>\n"
    "#include <float.h>\n"
    "#ifdef GBEES_EQUATIONS\n"
    "typedef struct { real a, b; } GBEES_FN(pair);\n"
    "static const real GBEES_FN(table)[2] = {1, (real)0.5};\n"
    "static inline real GBEES_FN(helper)(const real *restrict x) {\n"
    "    const GBEES_FN(pair) c = {x[0], x[1]};\n"
    "    return c.a > 0 ? sqrt(c.a) : fabs(c.b);\n"
    "}\n"
    "static inline void drift(int n, real t, const real x[], const real p[], real dxdt[]) {\n"
    "    const real pi = (real)M_PI;\n"
    "    for (int j = 0; j < n; j++)\n"
    "        dxdt[j] = sin(x[j]) + GBEES_FN(helper)(x) + GBEES_FN(table)[j % 2] * pow(x[0], p[0]) + pi;\n"
    "    dxdt[0] += fmin(exp(x[1]), fmax(log(x[2]), cos(t))) + atan2(x[0], x[1]) + hypot(x[1], x[2]);\n"
    "}\n"
    "static inline void measure(int which, int n, real t, const real x[], const real p[], real y[]) {\n"
    "    y[0] = which < n ? x[which] : (real)NAN;\n"
    "    if (!isfinite(y[0])) y[0] = INFINITY;\n"
    "}\n"
    "static inline real bound(int n, real t, const real x[], const real p[]) { return tanh(x[0] * x[1]); }\n"
    "#else\n"
    "GBEES_MODEL = { this is never seen };\n"
    "#endif\n";

START_TEST(float_stays_float)
{
    const gbees_model model = model_of("rich.c", rich);
    char *f32 = ptx_of(&model, "extern \"C\" __global__ void k(const float *x, float *y)\n"
                               "{ gbees_model_drift_f(x[0], x, x, y); }");
    char *f64 = ptx_of(&model, "extern \"C\" __global__ void k(const double *x, double *y)\n"
                               "{ gbees_model_drift_d(x[0], x, x, y); gbees_model_measure_d(0, 0, x, x, y + 8);\n"
                               "  y[20] = gbees_model_bound_d(0, x, x); }");

    /* sin() reduces a large argument with a product in double. */
    int of_double = 0;
    for (const char *next = strstr(f32, ".f64"); next; next = strstr(next + 1, ".f64"))
        of_double++;
    ck_assert_int_lt(of_double, 20);
    ck_assert_ptr_nonnull(strstr(f32, "sqrt.rn.f32"));
    ck_assert_ptr_nonnull(strstr(f64, "sqrt.rn.f64"));
    free(f32);
    free(f64);
}
END_TEST

START_TEST(no_contraction_if_not_wanted)
{
    const gbees_model model = model_of("rich.c", "static inline void drift(int n, real t, const real x[], const real "
                                                 "p[], real dxdt[])\n{ dxdt[0] = x[0] * x[1] + x[2]; }\n");
    program_spec spec = spec_of(&model, 3, "sm_90", 0);
    const cuda_target target = {"compute_90", 1};
    const char *unit =
        "#include \"device/model.h\"\n"
        "extern \"C\" __global__ void k(const float *x, float *y) { gbees_model_drift_f(0, x, x, y); }\n"
        "#include \"device/equations.h\"\n";

    for (int apart = 0; apart < 2; apart++) {
        cuda_code code = {0};

        spec.no_contraction = apart;
        ck_assert_msg(cuda_compile(&api, &(cuda_goal){&spec, &target, CUDA_PTX}, "unit", unit, &code, &error) ==
                          GBEES_OK,
                      "%s", error.text);
        ck_assert_int_eq(strstr(code.data, "fma.rn.f32") == NULL, apart);
        cuda_code_free(&code);
    }
}
END_TEST

START_TEST(the_numerics_without_a_warning)
{
    const gbees_model model = model_of("rich.c", rich);
    program_spec spec = spec_of(&model, 3, "sm_90", 0);
    const cuda_target target = {"sm_90", 0};
    cuda_code code = {0};
    char folder[LENGTH], unit[2 * LENGTH] = "";
    struct dirent *entry;

    print(folder, sizeof folder, "%s/core/numerics", environment("GBEES_TOP_SRC", "."));
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir))) {
        const size_t used = strlen(unit);

        if (!strstr(entry->d_name, ".h"))
            continue;
        for (int is_f64 = 0; is_f64 < 2; is_f64++)
            print(unit + strlen(unit), sizeof unit - used,
                  "#define GBEES_REAL %s\n#define GBEES_REAL_FN(f) f##_%c\n"
                  "#include \"numerics/%s\"\n#undef GBEES_REAL\n#undef GBEES_REAL_FN\n",
                  is_f64 ? "double" : "float", is_f64 ? 'd' : 'f', entry->d_name);
    }
    (void)closedir(dir);
    spec.define_count = 0;
    ck_assert_msg(cuda_compile(&api, &(cuda_goal){&spec, &target, CUDA_CUBIN}, "unit", unit, &code, &error) ==
                      GBEES_OK,
                  "%s", error.text);
    ck_assert_msg(!strstr(code.log, "warning"), "%s", code.log);
    cuda_code_free(&code);
}
END_TEST

START_TEST(every_text_is_embedded)
{
    static const char *const folders[] = {"core/numerics", "backends/cuda/device", "backends/cuda/device/small"};
    const cuda_text *texts;
    size_t count = cuda_texts(&texts);

    for (int i = 0; i < 3; i++) {
        char folder[LENGTH];
        struct dirent *entry;

        print(folder, sizeof folder, "%s/%s", environment("GBEES_TOP_SRC", "."), folders[i]);
        DIR *dir = opendir(folder);
        ck_assert_ptr_nonnull(dir);
        while ((entry = readdir(dir))) {
            char command[3 * LENGTH], name[LENGTH];
            const char *ending = strrchr(entry->d_name, '.');
            int found = !ending || (strcmp(ending, ".h") != 0 && strcmp(ending, ".cu") != 0);

            for (size_t k = 0; k < count && !found; k++) {
                print(name, sizeof name, "%s/text", top);
                FILE *file = fopen(name, "w");
                ck_assert_ptr_nonnull(file);
                ck_assert_uint_eq(fwrite(texts[k].begin, 1, (size_t)(texts[k].end - texts[k].begin), file),
                                  (size_t)(texts[k].end - texts[k].begin));
                ck_assert_int_eq(fclose(file), 0);
                ck_assert_int_eq(*texts[k].end, 0);
                print(command, sizeof command, "cmp -s '%s' '%s/%s'", name, folder, entry->d_name);
                found = system(command) == 0;
            }
            ck_assert_msg(found, "%s/%s is not in backends/cuda/compile/texts.c as it is", folder, entry->d_name);
        }
        (void)closedir(dir);
    }
}
END_TEST

/* ---- what it may not ---- */

/* In one unit and in two, the error is GBEES_EMODEL, in one line that has the expected text. */
static void declined(const char *text, const char *expected)
{
    const gbees_model model = model_of("models/my model.c", text);

    for (int separate = 0; separate < 2; separate++) {
        program_spec spec = spec_of(&model, 3, "sm_90", separate);
        program p = {0};

        ck_assert_int_eq(program_build(&api, &spec, &p, &error), GBEES_EMODEL);
        ck_assert_msg(strstr(error.text, expected) != NULL, "'%s' is not in '%s'", expected, error.text);
        ck_assert_ptr_null(strchr(error.text, '\n'));
        ck_assert_ptr_null(strstr(error.text, "gbees_equation"));
        ck_assert_ptr_null(p.image);
    }
}

#define HEAD "#define GBEES_DIM 3\n#include <gbees/model.h>\n#ifdef GBEES_EQUATIONS\n"
#define DRIFT "static inline void drift(int n, real t, const real x[], const real p[], real dxdt[])\n"

START_TEST(a_syntax_error)
{
    declined(HEAD DRIFT "{\n    dxdt[0] = x[0] +;\n}\n#endif\n",
             "the model can't be compiled for the GPU: models/my model.c:6: expected an expression");
    declined(HEAD DRIFT "{\n    dxdt[0] = 1;\n#endif\n", "models/my model.c:");
    ck_assert_ptr_nonnull(strstr(error.text, "at the end of the text: expected a \"}\""));
    ck_assert_ptr_null(strstr(error.text, "model.h"));
}
END_TEST

START_TEST(each_error_once)
{
    declined(HEAD DRIFT "{\n    dxdt[0] = one;\n    dxdt[1] = two;\n}\n#endif\n",
             "models/my model.c:6: identifier \"one\" is undefined; models/my model.c:7: identifier \"two\" is "
             "undefined");
    const char *first = strstr(error.text, "\"one\"");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, "\"one\""));
}
END_TEST

START_TEST(more_errors_than_fit)
{
    gbees_error small;
    char text[LENGTH] = HEAD DRIFT "{\n";

    for (int i = 0; i < 60; i++)
        print(text + strlen(text), 64, "    dxdt[0] = unknown%d;\n", i);
    strcat(text, "}\n#endif\n");
    declined(text, "models/my model.c:6: identifier \"unknown0\" is undefined");
    ck_assert_uint_lt(strlen(error.text), sizeof small.text);
}
END_TEST

START_TEST(an_undefined_function)
{
    declined(HEAD DRIFT "{\n    dxdt[0] = foo(x[0]);\n}\n#endif\n",
             "models/my model.c:6: identifier \"foo\" is undefined");
    declined(HEAD "real GBEES_FN(foo)(real x);\n" DRIFT "{\n    dxdt[0] = GBEES_FN(foo)(x[0]);\n}\n#endif\n",
             "models/my model.c: the function foo() is called, but not defined");
    declined(HEAD "extern \"C\" real GBEES_FN(foo)(real x);\n" DRIFT
                  "{\n    dxdt[0] = GBEES_FN(foo)(x[0]);\n}\n#endif\n",
             "models/my model.c: the function foo() is called, but not defined");
    declined(HEAD "static inline real GBEES_FN(foo)(real x);\n" DRIFT
                  "{\n    dxdt[0] = GBEES_FN(foo)(x[0]);\n}\n#endif\n",
             "models/my model.c:4: function \"foo_f\" was referenced but not defined");
}
END_TEST

START_TEST(a_drift_of_the_wrong_precision)
{
    declined(HEAD "static inline void drift(int n, float t, const float x[], const float p[], float dxdt[])\n{\n"
                  "    dxdt[0] = x[0];\n}\n#endif\n",
             "models/my model.c:4: drift() has arguments of other types than it should: ");
    declined("#define GBEES_HAS_MEASURE 1\n" HEAD DRIFT "{ dxdt[0] = 0; }\n"
             "static inline void measure(int which, int n, real t, const real x[], const real p[], float y[])\n"
             "{ y[0] = x[0]; }\n#endif\n",
             "models/my model.c:7: measure() has arguments of other types than it should: ");
}
END_TEST

START_TEST(no_drift)
{
    declined(HEAD "#endif\n", "models/my model.c: no drift() is there");
}
END_TEST

START_TEST(a_header_that_is_not_there)
{
    declined(HEAD "#include \"helpers.h\"\n" DRIFT "{ dxdt[0] = 0; }\n#endif\n",
             "models/my model.c:4: cannot open source file \"helpers.h\"");
}
END_TEST

START_TEST(the_engines_own_fault)
{
    const gbees_model model = model_of("rich.c", rich);
    program_spec spec = spec_of(&model, 3, "sm_90", 0);
    const cuda_target target = {"sm_90", 0};
    cuda_code code = {0};

    ck_assert_int_eq(cuda_compile(&api, &(cuda_goal){&spec, &target, CUDA_CUBIN}, "unit",
                                  "__device__ int f() { return no; }\n", &code, &error),
                     GBEES_EBACKEND);
    ck_assert_ptr_nonnull(
        strstr(error.text, "the engine can't be compiled for the GPU: NVRTC_ERROR_COMPILATION: unit:1: "));
    ck_assert_ptr_null(code.data);
    spec.defines[0] = "--no-such-option";
    ck_assert_int_ne(
        cuda_compile(&api, &(cuda_goal){&spec, &target, CUDA_CUBIN}, "unit", "#error no\n", &code, &error), GBEES_OK);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);

    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, start_test, end_test);
    suite_add_tcase(suite, tests);
    return tests;
}

int main(void)
{
    if (!can_compile())
        return 77;
    Suite *suite = suite_create("cuda_program");
    TCase *tests = add_case(suite, "kernels");

    tcase_add_loop_test(tests, every_model_for_every_architecture, 0, USUAL_ARCHS);
    tcase_add_loop_test(tests, the_engine_for_every_architecture, 0, USUAL_ARCHS);
    tcase_add_test(tests, the_engine_in_all_its_forms);
    tests = add_case(suite, "architectures");
    tcase_set_tags(tests, "long");
    tcase_add_loop_test(tests, every_model_for_every_architecture, USUAL_ARCHS, ARCHS);
    tcase_add_loop_test(tests, the_engine_for_every_architecture, USUAL_ARCHS, ARCHS);
    tests = add_case(suite, "two_units");
    tcase_add_loop_test(tests, the_engine_in_two_units, 0, 3);
    tests = add_case(suite, "texts");
    tcase_add_test(tests, an_architecture_to_come_gets_ptx);
    tcase_add_test(tests, float_stays_float);
    tcase_add_test(tests, no_contraction_if_not_wanted);
    tcase_add_test(tests, the_numerics_without_a_warning);
    tcase_add_test(tests, every_text_is_embedded);
    tcase_add_test(tests, a_syntax_error);
    tcase_add_test(tests, each_error_once);
    tcase_add_test(tests, more_errors_than_fit);
    tcase_add_test(tests, an_undefined_function);
    tcase_add_test(tests, a_drift_of_the_wrong_precision);
    tcase_add_test(tests, no_drift);
    tcase_add_test(tests, a_header_that_is_not_there);
    tcase_add_test(tests, the_engines_own_fault);
    return run_suite(suite);
}
