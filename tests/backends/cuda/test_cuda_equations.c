/* test_cuda_equations.c - a model's equations for a GPU: what they may use, and what their author reads when they do
 * not compile. */
#include "compiler_fixture.h"
#include "solver/problem/driven.h"
#include <dirent.h>

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

/* A table's rows, [3 * 2]: times, values, slopes; the problem frees them. */
static double *rows_of(void)
{
    double *rows = calloc(6, sizeof *rows);

    ck_assert_ptr_nonnull(rows);
    rows[1] = rows[3] = 2;
    return rows;
}

/* Parameters of tables are read from these; what no table has is the caller's. */
START_TEST(parameters_follow_tables)
{
    const gbees_model model = model_of("rich.c", rich);
    gbees_problem problem = {.model = &model, .table_count = 2, .tables = calloc(2, sizeof *problem.tables)};
    gbees_parameter_table *tables = (gbees_parameter_table *)problem.tables;

    ck_assert_ptr_nonnull(tables);
    for (int k = 0; k < 2; k++) {
        double *rows = rows_of();

        tables[k] = (gbees_parameter_table){.parameter = k, .rows = 2, .time = rows, .value = rows + 2};
        tables[k].slope = k ? rows + 4 : NULL;
    }
    ck_assert_int_eq(gbees_driven_create(&problem, &error), GBEES_OK);
    ck_assert_int_eq((int)problem.model->flags & GBEES_TIME_DEPENDENT, GBEES_TIME_DEPENDENT);
    char *ptx =
        ptx_of(problem.model, "extern \"C\" __global__ void k(const float *x, float *y, double *z)\n"
                              "{ gbees_model_drift_f(x[0], x, x, y); gbees_model_drift_d(z[0], z, z, z + 8); }");
    ck_assert_ptr_nonnull(strstr(ptx, "gbees_table_value_0"));
    free(ptx);
    gbees_driven_destroy(&problem);
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

int main(void)
{
    if (!can_compile())
        return 77;
    Suite *suite = suite_create("cuda_equations");
    TCase *tests = add_case(suite, "equations");

    tcase_add_test(tests, float_stays_float);
    tcase_add_test(tests, parameters_follow_tables);
    tcase_add_test(tests, no_contraction_if_not_wanted);
    tcase_add_test(tests, the_numerics_without_a_warning);
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
