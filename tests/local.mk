# A test in C is one line here: tests/test_x is made from tests/test_x.c.
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	GBEES_TOP_SRC='$(abs_top_srcdir)'; export GBEES_TOP_SRC; \
	GBEES_TOP_BUILD='$(abs_top_builddir)'; export GBEES_TOP_BUILD; \
	CC='$(CC)'; export CC;

test_scripts = \
	%D%/test_export.sh \
	%D%/test_layers.sh \
	%D%/test_lists.sh \
	%D%/test_new_model.sh \
	%D%/test_plot.sh \
	%D%/test_robust.sh \
	%D%/test_run.sh
TESTS = $(check_PROGRAMS) $(test_scripts)

if HAVE_CHECK
check_PROGRAMS += \
	%D%/test_brick \
	%D%/test_card \
	%D%/test_cells \
	%D%/test_cpu \
	%D%/test_cpu_ctu \
	%D%/test_cpu_far \
	%D%/test_cpu_motion \
	%D%/test_cpu_split \
	%D%/test_cpu_step \
	%D%/test_cpu_update \
	%D%/test_flux \
	%D%/test_golden \
	%D%/test_grid \
	%D%/test_isosurface \
	%D%/test_json \
	%D%/test_measurement_file \
	%D%/test_models \
	%D%/test_module \
	%D%/test_problem \
	%D%/test_registry \
	%D%/test_results \
	%D%/test_results_errors \
	%D%/test_scenario \
	%D%/test_solver \
	%D%/test_split \
	%D%/test_split_order \
	%D%/test_text
%C%_test_isosurface_LDADD = core/libplot.la $(LDADD) $(CAIRO_LIBS)
# The grid is no part of a library: it is compiled into its test.
%C%_test_grid_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_test_grid_SOURCES = \
	%D%/test_grid.c \
	backends/cpu/grid.c \
	backends/cpu/grid_compact.c \
	backends/cpu/pages.c
endif

# Figures against Monte Carlo (doc/accuracy.md): make tests/accuracy/accuracy.
if HAVE_ACCURACY
EXTRA_PROGRAMS = %D%/accuracy/accuracy %D%/accuracy/workerror
%C%_accuracy_accuracy_LDADD = %D%/libaccuracy.la $(LDADD)
%C%_accuracy_workerror_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS)
%C%_accuracy_workerror_LDADD = core/libplot.la libgbees.la $(CAIRO_LIBS)
CLEANFILES = $(EXTRA_PROGRAMS)

check_LTLIBRARIES += %D%/libaccuracy.la
%C%_libaccuracy_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_libaccuracy_la_LDFLAGS =
%C%_libaccuracy_la_SOURCES = \
	%D%/accuracy/cholesky.c \
	%D%/accuracy/cholesky.h \
	%D%/accuracy/coarsen.c \
	%D%/accuracy/compare.c \
	%D%/accuracy/compare.h \
	%D%/accuracy/kernel.c \
	%D%/accuracy/moments.c \
	%D%/accuracy/montecarlo.c \
	%D%/accuracy/montecarlo.h \
	%D%/accuracy/report.c \
	%D%/accuracy/report.h \
	%D%/accuracy/row.c \
	%D%/accuracy/row.h \
	%D%/accuracy/study.c \
	%D%/accuracy/study.h \
	%D%/accuracy/truth.c \
	%D%/accuracy/truth.h

if HAVE_CHECK
check_PROGRAMS += %D%/test_compare
%C%_test_compare_LDADD = %D%/libaccuracy.la $(LDADD)
check_PROGRAMS += %D%/test_montecarlo
%C%_test_montecarlo_LDADD = %D%/libaccuracy.la $(LDADD)
check_PROGRAMS += %D%/test_truth
%C%_test_truth_LDADD = %D%/libaccuracy.la $(LDADD)
endif
endif

noinst_HEADERS = \
	%D%/dense.h \
	%D%/dense_split.h \
	%D%/engine_fixture.h \
	%D%/module_fixture.h \
	%D%/results_fixture.h \
	%D%/run_fixture.h

# Modules for the tests, most of them wrong on purpose, one even with an undefined function; they land in
# tests/.libs. Without -rpath libtool would make no shared object.
test_module = $(module_ldflags) -rpath /nowhere

check_LTLIBRARIES += %D%/advect.la
%C%_advect_la_SOURCES = %D%/plugins/advect.c
%C%_advect_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/bad_abi.la
%C%_bad_abi_la_SOURCES = %D%/plugins/bad_abi.c
%C%_bad_abi_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/bad_card.la
%C%_bad_card_la_SOURCES = %D%/plugins/bad_card.c
%C%_bad_card_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/fake_backend.la
%C%_fake_backend_la_SOURCES = %D%/plugins/fake_backend.c
%C%_fake_backend_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/full.la
%C%_full_la_SOURCES = %D%/plugins/full.c
%C%_full_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/nan.la
%C%_nan_la_SOURCES = %D%/plugins/nan.c
%C%_nan_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/no_plugin.la
%C%_no_plugin_la_SOURCES = %D%/plugins/no_plugin.c
%C%_no_plugin_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/short_card.la
%C%_short_card_la_SOURCES = %D%/plugins/short_card.c
%C%_short_card_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/undefined.la
%C%_undefined_la_SOURCES = %D%/plugins/undefined.c
%C%_undefined_la_LDFLAGS = $(test_module)

EXTRA_DIST += $(test_scripts) %D%/test_install.sh %D%/accuracy/limit %D%/accuracy/run %D%/data
