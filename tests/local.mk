# A test in C is one line here: tests/test_x is made from tests/test_x.c.
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)
# A machine that is busy with something else fails no test.
test_patience = 8
# Threads of a test, unless it says how many: as many tests at a time as there are processors take them all.
test_threads = 1
AM_TESTS_ENVIRONMENT = \
	GBEES_TOP_SRC='$(abs_top_srcdir)'; export GBEES_TOP_SRC; \
	GBEES_TOP_BUILD='$(abs_top_builddir)'; export GBEES_TOP_BUILD; \
	CC='$(CC)'; export CC; \
	GBEES_CFLAGS='$(GBEES_CFLAGS)'; export GBEES_CFLAGS; \
	CK_TIMEOUT_MULTIPLIER=$(test_patience); export CK_TIMEOUT_MULTIPLIER; \
	OMP_NUM_THREADS=$(test_threads); export OMP_NUM_THREADS; \
	$(check_tags)
check_tags = CK_EXCLUDE_TAGS=long; export CK_EXCLUDE_TAGS;

test_scripts = \
	%D%/backends/cuda/test_cuda_ranks.sh \
	%D%/backends/cuda/test_cuda_shim.sh \
	%D%/backends/cuda/test_cuda.sh \
	%D%/core/results/records/test_octave.sh \
	%D%/core/results/records/test_vtk.sh \
	%D%/core/results/records/test_xarray.sh \
	%D%/core/plot/test_plot.sh \
	%D%/core/python/test_python.sh \
	%D%/bench/test_bench.sh \
	%D%/core/module/test_moved.sh \
	%D%/core/command/run/test_moving.sh \
	%D%/core/command/run/test_circles.sh \
	%D%/core/command/run/test_instants.sh \
	%D%/core/command/run/test_pulses.sh \
	%D%/core/command/plugin/test_plugin.sh \
	%D%/core/command/run/test_completion.sh \
	%D%/core/command/run/test_compare.sh \
	%D%/core/command/export/test_export.sh \
	%D%/core/command/run/test_lagrangian.sh \
	%D%/core/command/run/test_targets.sh \
	%D%/core/command/run/test_parameter_tables.sh \
	%D%/core/command/run/test_measurements.sh \
	%D%/core/command/run/test_output.sh \
	%D%/core/command/run/test_memory.sh \
	%D%/accuracy/test_validate.sh \
	%D%/core/command/plugin/test_new_model.sh \
	%D%/core/command/run/test_robust.sh \
	%D%/core/command/run/test_resume.sh \
	%D%/core/command/run/test_ranks.sh \
	%D%/core/command/run/test_check.sh \
	%D%/core/command/run/test_run.sh \
	%D%/core/command/run/test_run_accuracy.sh \
	%D%/core/command/run/test_scenarios.sh \
	%D%/core/command/run/test_stops.sh \
	%D%/doc/test_blocks.sh \
	%D%/doc/test_examples.sh \
	%D%/doc/test_figures.sh \
	%D%/doc/test_man.sh \
	%D%/doc/test_site.sh \
	%D%/doc/test_tutorial.sh \
	%D%/tree/test_architecture.sh \
	%D%/tree/test_circles.sh \
	%D%/tree/test_layers.sh \
	%D%/tree/test_lists.sh \
	%D%/tree/test_names.sh \
	%D%/tree/test_programs.sh \
	%D%/tree/test_tables.sh
# Those that take longest begin first: scripts, then the programs of the CUDA backend. One that began last would have
# one processor to itself.
TESTS = $(test_scripts) $(check_PROGRAMS)

# Slow, and what breaks them is rare: make check-long runs these scripts, of which some are in make check with fewer cases
# (is_long in fixtures/shell_fixture.sh), and of these programs the cases that are tagged "long", which make check leaves out.
long_scripts = \
	%D%/accuracy/test_accuracy.sh \
	%D%/accuracy/test_validate.sh \
	%D%/bench/test_bench.sh \
	%D%/backends/cpu/test_arm.sh \
	%D%/backends/cuda/test_cuda.sh \
	%D%/backends/cuda/test_cuda_ranks.sh \
	%D%/backends/cuda/test_cuda_sanitize.sh \
	%D%/backends/cuda/test_cuda_shim.sh \
	%D%/backends/cuda/test_gpu_session.sh \
	%D%/core/command/plugin/test_plugin.sh \
	%D%/core/command/run/test_ranks.sh \
	%D%/core/command/run/test_ranks_models.sh \
	%D%/core/command/run/test_resume.sh \
	%D%/core/plot/test_spike.sh \
	%D%/core/python/test_python.sh \
	%D%/core/python/test_wheel.sh \
	%D%/doc/test_blocks.sh \
	%D%/tree/test_bare.sh
long_programs = \
	%D%/core/audit/test_islands \
	%D%/core/audit/test_kick \
	%D%/backends/test_ctu_steps \
	%D%/backends/test_diffusion_exact \
	%D%/backends/test_mass \
	%D%/backends/test_moving \
	%D%/backends/test_noise \
	%D%/backends/test_split_steps \
	%D%/backends/test_pencils \
	%D%/backends/cpu/test_cpu \
	%D%/backends/cpu/test_cpu_ranks \
	%D%/backends/cpu/test_cpu_split \
	%D%/backends/cpu/test_kernels \
	%D%/backends/cuda/test_cuda_engine \
	%D%/backends/cuda/test_cuda_program \
	%D%/backends/cuda/test_cuda_records \
	%D%/backends/cuda/test_cuda_registers \
	%D%/core/results/records/test_damage \
	%D%/core/lagrangian/test_lagrangian \
	%D%/core/numerics/test_split_order
check-long: %D%/backends/cpu/kernel_bits$(EXEEXT)
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(long_scripts) $(long_programs)' \
		check_tags='CK_INCLUDE_TAGS=long; export CK_INCLUDE_TAGS;'
.PHONY: bench check-long

# What kernels compute, as text: with Check a test of this processor's, and by itself for another's (test_arm.sh).
kernel_fields_sources = \
	%D%/backends/cpu/kernel_fields.c \
	%D%/backends/cpu/kernel_fields.h \
	%D%/plugins/advect.c \
	backends/cpu/grid/grid.c \
	backends/cpu/grid/grid_add.c \
	backends/cpu/grid/grid_compact.c \
	backends/cpu/kernel/isa.c \
	backends/cpu/grid/pages.c
kernel_fields_cppflags = $(AM_CPPFLAGS) -DGBEES_NO_CLONES
if X86_64
kernel_fields_cppflags += -DGBEES_X86
endif
EXTRA_PROGRAMS = %D%/backends/cpu/kernel_bits
CLEANFILES = $(EXTRA_PROGRAMS)
%C%_backends_cpu_kernel_bits_CPPFLAGS = $(kernel_fields_cppflags)
%C%_backends_cpu_kernel_bits_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_backends_cpu_kernel_bits_LDADD = $(cpu_kernels) libgbees.la
%C%_backends_cpu_kernel_bits_SOURCES = %D%/backends/cpu/kernel_bits.c $(kernel_fields_sources)

if HAVE_CUDA
if HAVE_CHECK
check_PROGRAMS += \
	%D%/backends/cuda/test_cuda_engine \
	%D%/backends/cuda/test_cuda_integrator \
	%D%/backends/cuda/test_cuda_program \
	%D%/backends/cuda/test_cuda_records \
	%D%/backends/cuda/test_cuda_registers \
	%D%/backends/cuda/test_cuda_targets
endif
endif
if HAVE_CHECK
check_PROGRAMS += \
	%D%/backends/test_bound \
	%D%/core/accuracy/test_refinement \
	%D%/core/accuracy/test_refinement_variation \
	%D%/core/accuracy/test_roughness \
	%D%/core/accuracy/test_sample_count \
	%D%/core/accuracy/test_selection \
	%D%/core/accuracy/test_variation \
	%D%/core/audit/test_absorbed \
	%D%/core/audit/test_audit \
	%D%/core/audit/test_choice \
	%D%/core/audit/test_distances \
	%D%/core/audit/test_islands \
	%D%/core/audit/test_kick \
	%D%/core/audit/test_points \
	%D%/core/audit/test_scatter \
	%D%/core/record/test_targets \
	%D%/core/record/test_truth \
	%D%/core/rivals/test_comparison \
	%D%/core/rivals/test_filters \
	%D%/core/numerics/test_brick \
	%D%/backends/cpu/test_budget \
	%D%/core/module/test_card \
	%D%/core/record/test_cells \
	%D%/backends/cpu/test_cpu \
	%D%/backends/test_exact \
	%D%/backends/cpu/test_cpu_ctu \
	%D%/backends/test_motion \
	%D%/backends/test_pencils \
	%D%/backends/cpu/test_cpu_ranks \
	%D%/backends/cpu/test_cpu_split \
	%D%/backends/test_ctu_steps \
	%D%/backends/test_update \
	%D%/core/numerics/test_diffusion \
	%D%/core/numerics/test_dormand_prince \
	%D%/core/numerics/test_downwind \
	%D%/backends/test_diffusion_exact \
	%D%/backends/test_circles \
	%D%/backends/test_walls \
	%D%/backends/test_diffusion_walls \
	%D%/backends/test_split_steps \
	%D%/models/test_equations \
	%D%/core/numerics/test_flux \
	%D%/core/frame/test_affine \
	%D%/core/frame/test_motion \
	%D%/core/frame/test_passes \
	%D%/core/frame/test_remap \
	%D%/core/frame/test_shape \
	%D%/core/frame/test_spread \
	%D%/core/lagrangian/test_deposit \
	%D%/core/lagrangian/test_lagrangian \
	%D%/core/lagrangian/test_trajectories \
	%D%/core/lagrangian/test_trajectory_ends \
	%D%/core/solver/problem/test_frame \
	%D%/core/solver/problem/test_frame_initial \
	%D%/backends/paper/test_golden \
	%D%/backends/paper/test_paper \
	%D%/backends/cpu/test_grid \
	%D%/backends/cpu/test_grid_add \
	%D%/core/plot/test_isosurface \
	%D%/core/plot/test_note \
	%D%/core/plot/test_region \
	%D%/core/solver/problem/test_initial \
	%D%/core/solver/problem/test_initial_records \
	%D%/core/results/records/test_damage \
	%D%/core/results/run/test_json \
	%D%/accuracy/test_kalman \
	%D%/backends/cpu/test_kernels \
	%D%/backends/test_few_cells \
	%D%/backends/test_slabs \
	%D%/backends/test_ledger \
	%D%/backends/test_mass \
	%D%/backends/test_moving \
	%D%/backends/test_moving_noise \
	%D%/backends/test_noise \
	%D%/backends/test_moving_remap \
	%D%/backends/test_regridding \
	%D%/backends/test_regridding_updates \
	%D%/core/numerics/test_likelihood \
	%D%/core/numerics/test_periods \
	%D%/core/results/hdf5/test_chunks \
	%D%/core/scenario/test_measurement_file \
	%D%/core/scenario/test_measurement_table \
	%D%/core/results/run/test_moments \
	%D%/core/scenario/test_table \
	%D%/models/test_models \
	%D%/core/command/run/test_extrapolate \
	%D%/core/command/plot/test_plot_child \
	%D%/core/module/test_isolation \
	%D%/core/module/test_module \
	%D%/backends/test_moments \
	%D%/core/solver/run/test_monitors \
	%D%/core/solver/problem/test_problem \
	%D%/core/solver/problem/test_ranges \
	%D%/core/solver/problem/test_problem_refusals \
	%D%/core/solver/grid/test_projection \
	%D%/core/module/test_registry \
	%D%/core/solver/grid/test_refine \
	%D%/core/solver/grid/test_refine_accuracy \
	%D%/core/solver/grid/test_regrid \
	%D%/core/solver/grid/test_resolve \
	%D%/core/results/records/test_record_parts \
	%D%/core/results/run/test_results \
	%D%/core/results/run/test_results_errors \
	%D%/core/scenario/test_scenario \
	%D%/core/results/records/test_run_file \
	%D%/core/results/folder/test_store \
	%D%/core/scenario/test_scenario_refusals \
	%D%/models/test_growth \
	%D%/models/test_orbit \
	%D%/models/test_shipped \
	%D%/core/solver/run/test_checkpoint \
	%D%/core/solver/run/test_solver \
	%D%/core/solver/run/test_solver_failures \
	%D%/core/solver/run/test_stream \
	%D%/core/numerics/test_split \
	%D%/core/numerics/test_split_noise \
	%D%/core/numerics/test_philox \
	%D%/core/numerics/test_step \
	%D%/core/numerics/test_split_order \
	%D%/backends/common/test_initial_grid \
	%D%/backends/common/test_partition \
	%D%/backends/mpi/test_parts \
	%D%/backends/cpu/test_team \
	%D%/core/solver/run/test_notifier \
	%D%/core/base/test_memory \
	%D%/core/base/test_pool \
	%D%/core/base/test_rough_times \
	%D%/core/base/test_text \
	%D%/core/record/test_warnings
%C%_core_command_plot_test_plot_child_SOURCES = %D%/core/command/plot/test_plot_child.c core/command/plot/plot_child.c
%C%_core_command_run_test_extrapolate_SOURCES = %D%/core/command/run/test_extrapolate.c core/command/run/extrapolate.c
%C%_core_frame_test_affine_LDADD = $(LDADD) $(LAPACKE_LIBS)
%C%_core_audit_test_absorbed_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests
%C%_core_audit_test_islands_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests
%C%_core_plot_test_isosurface_LDADD = core/libplot.la $(LDADD) $(CAIRO_LIBS)
%C%_core_plot_test_note_LDADD = core/libplot.la $(LDADD) $(CAIRO_LIBS)
%C%_core_plot_test_note_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS)
%C%_core_plot_test_region_LDADD = core/libplot.la $(LDADD) $(CAIRO_LIBS)
%C%_core_plot_test_region_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS)
# The grid is no part of a library: it is compiled into its tests.
grid_sources = \
	backends/cpu/grid/grid.c \
	backends/cpu/grid/grid_add.c \
	backends/cpu/grid/grid_compact.c \
	backends/cpu/grid/pages.c
%C%_backends_cpu_test_grid_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_backends_cpu_test_grid_SOURCES = %D%/backends/cpu/test_grid.c $(grid_sources)
%C%_backends_cpu_test_grid_add_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_backends_cpu_test_grid_add_SOURCES = %D%/backends/cpu/test_grid_add.c $(grid_sources)
%C%_backends_cpu_test_team_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
# At -O1: the kernels, which are what is tested, are linked as the backend has them.
%C%_backends_cpu_test_kernels_CPPFLAGS = $(kernel_fields_cppflags)
%C%_backends_cpu_test_kernels_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS) -O1
%C%_backends_cpu_test_kernels_LDADD = $(cpu_kernels) $(LDADD)
%C%_backends_cpu_test_kernels_SOURCES = %D%/backends/cpu/test_kernels.c $(kernel_fields_sources)
%C%_backends_test_moments_CPPFLAGS = $(kernel_fields_cppflags)
# So are the cuts between ranks.
%C%_backends_common_test_partition_SOURCES = %D%/backends/common/test_partition.c backends/common/ranks/partition.c \
	backends/common/ranks/speed.c
# So is the choice of the bricks that a grid starts with, from the part of the backends that tests can link.
%C%_backends_common_test_initial_grid_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_backends_common_test_initial_grid_LDADD = backends/libcommon.la $(LDADD) $(LAPACKE_LIBS)
# So is the controller of p*.
%C%_backends_cpu_test_budget_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_backends_cpu_test_budget_SOURCES = \
	%D%/backends/cpu/test_budget.c \
	backends/common/budget.c \
	backends/cpu/engine/budget.c \
	backends/common/ranks/ranks.c \
	backends/common/ranks/partition.c \
	backends/common/ranks/speed.c \
	backends/cpu/grid/grid.c \
	backends/cpu/grid/grid_add.c \
	backends/cpu/grid/grid_compact.c \
	backends/cpu/grid/pages.c
endif

# Hostile files (doc/install.md): a harness for each format. make check replays its corpus; make fuzz FUZZ=NAME has
# libFuzzer make inputs up.
# libFuzzer's main() stands before the one of this archive, which is then left out.
fuzz_ldadd = %D%/fuzz/libreplay.la $(LDADD)
fuzz_common = %D%/fuzz/harness.c %D%/fuzz/harness.h
check_LTLIBRARIES += %D%/fuzz/libreplay.la
%C%_fuzz_libreplay_la_LDFLAGS =
%C%_fuzz_libreplay_la_SOURCES = %D%/fuzz/replay.c
check_PROGRAMS += \
	%D%/fuzz/fuzz_cache \
	%D%/fuzz/fuzz_checkpoint \
	%D%/fuzz/fuzz_measurement \
	%D%/fuzz/fuzz_provenance \
	%D%/fuzz/fuzz_record \
	%D%/fuzz/fuzz_scenario \
	%D%/fuzz/fuzz_table
%C%_fuzz_fuzz_cache_LDADD = $(fuzz_ldadd)
%C%_fuzz_fuzz_cache_CPPFLAGS = $(AM_CPPFLAGS)
%C%_fuzz_fuzz_cache_SOURCES = %D%/fuzz/fuzz_cache.c $(fuzz_common) backends/cuda/compile/cache.c backends/cuda/compile/cache_folder.c
%C%_fuzz_fuzz_checkpoint_LDADD = $(fuzz_ldadd)
%C%_fuzz_fuzz_checkpoint_SOURCES = %D%/fuzz/fuzz_checkpoint.c $(fuzz_common)
%C%_fuzz_fuzz_measurement_LDADD = $(fuzz_ldadd)
%C%_fuzz_fuzz_measurement_SOURCES = %D%/fuzz/fuzz_measurement.c $(fuzz_common)
%C%_fuzz_fuzz_provenance_LDADD = $(fuzz_ldadd)
%C%_fuzz_fuzz_provenance_SOURCES = %D%/fuzz/fuzz_provenance.c $(fuzz_common)
%C%_fuzz_fuzz_record_LDADD = $(fuzz_ldadd)
%C%_fuzz_fuzz_record_SOURCES = %D%/fuzz/fuzz_record.c $(fuzz_common)
%C%_fuzz_fuzz_scenario_LDADD = $(fuzz_ldadd)
%C%_fuzz_fuzz_scenario_CPPFLAGS = $(AM_CPPFLAGS)
%C%_fuzz_fuzz_scenario_SOURCES = %D%/fuzz/fuzz_scenario.c $(fuzz_common) plugins/duffing.c
%C%_fuzz_fuzz_table_LDADD = $(fuzz_ldadd)
%C%_fuzz_fuzz_table_SOURCES = %D%/fuzz/fuzz_table.c $(fuzz_common)

# FUZZ=NAME SECONDS=600: doc/install.md.
FUZZ =
SECONDS = 600
fuzz:
	$(SHELL) $(srcdir)/%D%/fuzz/run $(srcdir) '$(FUZZ)' '$(SECONDS)'

# Many runs (doc/install.md).
load: all
	CC='$(CC)' $(SHELL) $(srcdir)/%D%/load $(srcdir)
.PHONY: load
# The C tests in a build with the checkers of memory and of undefined behaviour.
check-sanitize:
	+$(SHELL) $(srcdir)/%D%/sanitize $(srcdir) '$(CC)' '$(SANITIZE_TESTS)'
SANITIZE_TESTS = $(check_PROGRAMS)
# Tests of threads under a checker of races, those that run more than one thread.
check-threads:
	+$(SHELL) $(srcdir)/%D%/threads $(srcdir) '$(THREADS_TESTS)'
THREADS_TESTS = \
	%D%/backends/cpu/test_cpu \
	%D%/backends/test_mass \
	%D%/backends/test_motion \
	%D%/backends/test_ctu_steps \
	%D%/backends/test_update \
	%D%/backends/cpu/test_grid \
	%D%/backends/cpu/test_grid_add \
	%D%/backends/cpu/test_team \
	%D%/backends/test_moving \
	%D%/backends/test_regridding \
	%D%/core/audit/test_audit \
	%D%/core/module/test_isolation \
	%D%/core/solver/run/test_notifier \
	%D%/core/solver/grid/test_regrid
# The programs on short runs under valgrind.
check-valgrind: all
	$(SHELL) $(abs_srcdir)/%D%/valgrind
# What public functions and the contracts of modules differ in from what is stored.
check-abi: libgbees.la
	CC='$(CC)' $(SHELL) $(srcdir)/%D%/abi $(srcdir) .
# What clang-tidy and cppcheck find in the sources.
check-lint:
	$(SHELL) $(srcdir)/%D%/lint $(srcdir) $(AM_CPPFLAGS) $(CAIRO_CFLAGS) $(CUDA_CPPFLAGS)
# How many lines of core and backends/cpu all tests execute.
coverage:
	+$(SHELL) $(srcdir)/%D%/coverage $(srcdir) '$(COVERAGE_TESTS)'
# Empty: all tests of a build without CUDA.
COVERAGE_TESTS =
.PHONY: check-abi check-lint check-sanitize check-threads check-valgrind coverage fuzz
EXTRA_DIST += %D%/fuzz/corpus %D%/fuzz/run %D%/coverage %D%/lint %D%/load %D%/load.c %D%/sanitize %D%/threads %D%/valgrind

# The half of the CUDA backend that needs no GPU; each of these is skipped where NVRTC is not installed.
if HAVE_CUDA
if HAVE_CHECK
check_PROGRAMS += \
	%D%/backends/cuda/test_cuda_api \
	%D%/backends/cuda/test_cuda_cache \
	%D%/backends/cuda/test_cuda_cached \
	%D%/backends/cuda/test_cuda_equations
cuda_test_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/backends/cuda $(CUDA_CPPFLAGS)
cuda_test_ldadd = backends/libcuda_runtime.la backends/libcommon.la $(LDADD) $(LAPACKE_LIBS)
%C%_backends_cuda_test_cuda_api_CPPFLAGS = $(cuda_test_cppflags)
%C%_backends_cuda_test_cuda_api_LDADD = $(cuda_test_ldadd)
%C%_backends_cuda_test_cuda_cache_CPPFLAGS = $(cuda_test_cppflags)
%C%_backends_cuda_test_cuda_cache_LDADD = $(cuda_test_ldadd)
%C%_backends_cuda_test_cuda_cached_CPPFLAGS = $(cuda_test_cppflags)
%C%_backends_cuda_test_cuda_cached_LDADD = $(cuda_test_ldadd)
%C%_backends_cuda_test_cuda_equations_CPPFLAGS = $(cuda_test_cppflags)
%C%_backends_cuda_test_cuda_equations_LDADD = $(cuda_test_ldadd)
%C%_backends_cuda_test_cuda_program_CPPFLAGS = $(cuda_test_cppflags)
%C%_backends_cuda_test_cuda_program_LDADD = $(cuda_test_ldadd)
%C%_backends_cuda_test_cuda_registers_CPPFLAGS = $(cuda_test_cppflags)
%C%_backends_cuda_test_cuda_registers_LDADD = $(cuda_test_ldadd)

check_LTLIBRARIES += %D%/fake_driver.la
%C%_fake_driver_la_CPPFLAGS = $(cuda_test_cppflags)
%C%_fake_driver_la_LDFLAGS = $(module_ldflags) -rpath /nowhere
%C%_fake_driver_la_SOURCES = \
	%D%/plugins/fake_driver.c \
	%D%/plugins/fake_driver_rest.c
endif
endif

# Figures against Monte Carlo (doc/measuring.md): make tests/accuracy/accuracy.
if HAVE_ACCURACY
EXTRA_PROGRAMS += %D%/accuracy/accuracy %D%/accuracy/certificates %D%/accuracy/chart %D%/accuracy/kalman
%C%_accuracy_kalman_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests
%C%_accuracy_accuracy_LDADD = %D%/libaccuracy.la $(LDADD)
%C%_accuracy_chart_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS)
%C%_accuracy_chart_LDADD = core/libplot.la libgbees.la $(CAIRO_LIBS)
%C%_accuracy_chart_SOURCES = \
	%D%/accuracy/chart.c \
	%D%/accuracy/decades.c \
	%D%/accuracy/decades.h

# The benchmark (doc/performance.md): make bench, and make tests/bench/draw for its pictures.
EXTRA_PROGRAMS += %D%/bench/ceiling %D%/bench/draw %D%/bench/trajectories
%C%_bench_ceiling_CFLAGS = $(AM_CFLAGS) -ffp-contract=fast $(OPENMP_CFLAGS)
%C%_bench_ceiling_LDADD =
%C%_bench_ceiling_SOURCES = \
	%D%/bench/ceiling.c \
	%D%/bench/ceiling.h \
	%D%/bench/ceiling_loops.c
%C%_bench_draw_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D% $(CAIRO_CFLAGS)
%C%_bench_draw_LDADD = core/libplot.la libgbees.la $(JANSSON_LIBS) $(CAIRO_LIBS)
%C%_bench_draw_SOURCES = \
	%D%/accuracy/decades.c \
	%D%/accuracy/decades.h \
	%D%/bench/draw.c

bench_programs = %D%/bench/ceiling$(EXEEXT)
if HAVE_CUDA
EXTRA_PROGRAMS += %D%/bench/ceiling_gpu
bench_programs += %D%/bench/ceiling_gpu$(EXEEXT)
%C%_bench_ceiling_gpu_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
%C%_bench_ceiling_gpu_LDADD = backends/libcuda_runtime.la libgbees.la
endif

# CASES="NAME NAME", BENCH_FLAGS="--threads 1,2 --repeat 3", BENCH_FOLDER=NAME
BENCH_FOLDER = bench-results
bench: all $(bench_programs)
	$(srcdir)/%D%/bench/run --case '$(CASES)' $(BENCH_FLAGS) . '$(BENCH_FOLDER)'

check_LTLIBRARIES += %D%/libaccuracy.la
%C%_libaccuracy_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_libaccuracy_la_LDFLAGS =
%C%_libaccuracy_la_SOURCES = \
	%D%/accuracy/coarsen.c \
	%D%/accuracy/compare.c \
	%D%/accuracy/compare.h \
	%D%/accuracy/kernel.c \
	%D%/accuracy/legs.c \
	%D%/accuracy/legs.h \
	%D%/accuracy/report.c \
	%D%/accuracy/report.h \
	%D%/accuracy/row.c \
	%D%/accuracy/row.h \
	%D%/accuracy/study.c \
	%D%/accuracy/study.h \
	%D%/accuracy/truth.c \
	%D%/accuracy/truth.h

if HAVE_CHECK
check_PROGRAMS += %D%/accuracy/test_compare
%C%_accuracy_test_compare_LDADD = %D%/libaccuracy.la $(LDADD)
check_PROGRAMS += %D%/accuracy/test_montecarlo
%C%_accuracy_test_montecarlo_LDADD = %D%/libaccuracy.la $(LDADD)
check_PROGRAMS += %D%/accuracy/test_samples
%C%_accuracy_test_samples_LDADD = %D%/libaccuracy.la $(LDADD)
check_PROGRAMS += %D%/accuracy/test_weights
%C%_accuracy_test_weights_LDADD = %D%/libaccuracy.la $(LDADD)
check_PROGRAMS += %D%/accuracy/test_truth
%C%_accuracy_test_truth_LDADD = %D%/libaccuracy.la $(LDADD)
endif
endif

# The CUDA backend on a GPU made of threads: --backend shim.  Its kernels are compiled for the problems of shim/variants,
# at -O1, which compiles in half the time.
if HAVE_CUDA
check_LTLIBRARIES += %D%/gbees_shim.la
%C%_gbees_shim_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) -I$(srcdir)/backends/cuda $(CUDA_CPPFLAGS)
%C%_gbees_shim_la_CFLAGS = $(AM_CFLAGS) -O1 -Wno-unknown-pragmas -Wno-pass-failed
%C%_gbees_shim_la_LIBADD = backends/libcuda_engine.la backends/libcuda_runtime.la backends/libranks.la backends/libcommon.la libgbees.la \
	$(LAPACKE_LIBS) -lpthread
%C%_gbees_shim_la_LDFLAGS = $(module_ldflags) -rpath /nowhere
%C%_gbees_shim_la_SOURCES = \
	%D%/backends/cuda/shim/backend.c \
	%D%/backends/cuda/shim/driver.c \
	%D%/backends/cuda/shim/driver.h \
	%D%/backends/cuda/shim/kernels.h \
	%D%/backends/cuda/shim/memory.c \
	%D%/backends/cuda/shim/platform.h \
	%D%/backends/cuda/shim/variants/advect_1d.c \
	%D%/backends/cuda/shim/variants/advect_1d_ctu.c \
	%D%/backends/cuda/shim/variants/advect_2d.c \
	%D%/backends/cuda/shim/variants/advect_2d_mixed.c \
	%D%/backends/cuda/shim/variants/advect_2d_preserving.c \
	%D%/backends/cuda/shim/variants/advect_2d_seventh.c \
	%D%/backends/cuda/shim/variants/advect_2d_time.c \
	%D%/backends/cuda/shim/variants/advect_2d_upwind.c \
	%D%/backends/cuda/shim/variants/advect_2d_ctu.c \
	%D%/backends/cuda/shim/variants/advect_2d_ctu_mixed.c \
	%D%/backends/cuda/shim/variants/advect_2d_ctu_time.c \
	%D%/backends/cuda/shim/variants/advect_3d.c \
	%D%/backends/cuda/shim/variants/advect_3d_ctu.c \
	%D%/backends/cuda/shim/variants/advect_4d.c \
	%D%/backends/cuda/shim/variants/advect_4d_ctu.c \
	%D%/backends/cuda/shim/variants/advect_4d_time.c \
	%D%/backends/cuda/shim/variants/duffing.c \
	%D%/backends/cuda/shim/variants/duffing_ctu.c \
	%D%/backends/cuda/shim/variants/duffing_rotated.c \
	%D%/backends/cuda/shim/variants/encounter.c \
	%D%/backends/cuda/shim/variants/encounter_preserving.c \
	%D%/backends/cuda/shim/variants/exits_1d.c \
	%D%/backends/cuda/shim/variants/exits_1d_double.c \
	%D%/backends/cuda/shim/variants/exits_2d.c \
	%D%/backends/cuda/shim/variants/exits_4d.c \
	%D%/backends/cuda/shim/variants/exits_wall.c \
	%D%/backends/cuda/shim/variants/linear_1d.c \
	%D%/backends/cuda/shim/variants/linear_4d.c \
	%D%/backends/cuda/shim/variants/linear_8d.c \
	%D%/backends/cuda/shim/variants/linear_8d_ctu.c \
	%D%/backends/cuda/shim/variants/lorenz63.c \
	%D%/backends/cuda/shim/variants/lorenz63_ctu.c \
	%D%/backends/cuda/shim/variants/lorenz63_double.c \
	%D%/backends/cuda/shim/variants/lorenz63_moving.c \
	%D%/backends/cuda/shim/variants/lorenz96.c \
	%D%/backends/cuda/shim/variants/lorenz96_ctu.c \
	%D%/backends/cuda/shim/variants/nan_drift.c \
	%D%/backends/cuda/shim/variants/noise.c \
	%D%/backends/cuda/shim/variants/noise_4d.c \
	%D%/backends/cuda/shim/variants/noise_bounded.c \
	%D%/backends/cuda/shim/variants/noise_ctu.c \
	%D%/backends/cuda/shim/variants/noise_moving.c \
	%D%/backends/cuda/shim/variants/noise_rotated.c \
	%D%/backends/cuda/shim/variants/pcr3bp.c \
	%D%/backends/cuda/shim/variants/pcr3bp_rotated.c \
	%D%/backends/cuda/shim/variants/pcr3bp_seventh.c \
	%D%/backends/cuda/shim/variants/phase.c \
	%D%/backends/cuda/shim/variants/walls_closed_1d.c \
	%D%/backends/cuda/shim/variants/walls_closed_2d.c \
	%D%/backends/cuda/shim/variants/walls_1d.c \
	%D%/backends/cuda/shim/variants/walls_2d.c

endif

noinst_HEADERS = \
	%D%/backends/cuda/compiler_fixture.h \
	%D%/backends/cuda/cuda_engine_fixture.h \
	%D%/backends/cuda/cuda_fixture.h \
	%D%/coverage.h \
	%D%/fixtures/backends.h \
	%D%/fixtures/cell_list.h \
	%D%/fixtures/flow_lattice.h \
	%D%/fixtures/cloud_fixture.h \
	%D%/fixtures/dense.h \
	%D%/fixtures/dense_split.h \
	%D%/fixtures/engine_fixture.h \
	%D%/fixtures/frame_fixture.h \
	%D%/fixtures/initial_fixture.h \
	%D%/fixtures/kalman.h \
	%D%/fixtures/kept_run.h \
	%D%/fixtures/models_fixture.h \
	%D%/fixtures/module_fixture.h \
	%D%/fixtures/notifier_fixture.h \
	%D%/fixtures/plane_cells.h \
	%D%/fixtures/plan_fixture.h \
	%D%/fixtures/problem_fixture.h \
	%D%/fixtures/refine_fixture.h \
	%D%/fixtures/regridding_fixture.h \
	%D%/fixtures/results_fixture.h \
	%D%/fixtures/run_fixture.h \
	%D%/fixtures/scenario_fixture.h \
	%D%/fixtures/split_fixture.h \
	%D%/fixtures/stage_fixture.h \
	%D%/fixtures/scratch_folder.h \
	%D%/fixtures/suite.h \
	%D%/fixtures/thread_ranks.h \
	%D%/fixtures/world.h \
	%D%/fixtures/world_fixture.h \
	%D%/lint.h

# Modules for the tests, most of them wrong on purpose, one even with an undefined function; they land in
# tests/.libs. Without -rpath libtool would make no shared object.
test_module = $(module_ldflags) -rpath /nowhere
# Models: for one kind of processor, and at -O1, which compiles in a sixth of the time; few runs are long.
test_model_cppflags = $(AM_CPPFLAGS) -DGBEES_NO_CLONES
test_model_cflags = $(AM_CFLAGS) -O1

check_LTLIBRARIES += %D%/advect.la
%C%_advect_la_SOURCES = %D%/plugins/advect.c
%C%_advect_la_LDFLAGS = $(test_module)
%C%_advect_la_CPPFLAGS = $(test_model_cppflags)
%C%_advect_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/bad_abi.la
%C%_bad_abi_la_SOURCES = %D%/plugins/bad_abi.c
%C%_bad_abi_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/bad_card.la
%C%_bad_card_la_SOURCES = %D%/plugins/bad_card.c
%C%_bad_card_la_LDFLAGS = $(test_module)

# The same, with texts that lie nowhere.
check_LTLIBRARIES += %D%/lost.la %D%/lost_title.la
%C%_lost_la_SOURCES = %D%/plugins/bad_card.c
%C%_lost_la_LDFLAGS = $(test_module)
%C%_lost_la_CPPFLAGS = $(AM_CPPFLAGS) -DLOST_TITLE='"its texts may be lost"'
%C%_lost_title_la_SOURCES = %D%/plugins/bad_card.c
%C%_lost_title_la_LDFLAGS = $(test_module)
%C%_lost_title_la_CPPFLAGS = $(AM_CPPFLAGS) -DLOST_TITLE='(const char *)8'

check_LTLIBRARIES += %D%/fake_backend.la
%C%_fake_backend_la_SOURCES = %D%/plugins/fake_backend.c
%C%_fake_backend_la_LDFLAGS = $(test_module)

# Preloaded by a test and by tests/failures: make allocations and writes fail.
check_LTLIBRARIES += %D%/failing_malloc.la
%C%_failing_malloc_la_SOURCES = %D%/fixtures/failing_malloc.c
%C%_failing_malloc_la_LDFLAGS = $(test_module)
check_LTLIBRARIES += %D%/failing_write.la
%C%_failing_write_la_SOURCES = %D%/fixtures/failing_write.c
%C%_failing_write_la_LDFLAGS = $(test_module)
# Preloaded by a test: sets the time of day back.
check_LTLIBRARIES += %D%/clock_back.la
%C%_clock_back_la_SOURCES = %D%/fixtures/clock_back.c
%C%_clock_back_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/full.la
%C%_full_la_SOURCES = %D%/plugins/full.c
%C%_full_la_LDFLAGS = $(test_module)
%C%_full_la_CPPFLAGS = $(test_model_cppflags)
%C%_full_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/loops.la
%C%_loops_la_SOURCES = %D%/plugins/loops.c
%C%_loops_la_LDFLAGS = $(test_module)
%C%_loops_la_CPPFLAGS = $(test_model_cppflags)
%C%_loops_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/nan.la
%C%_nan_la_SOURCES = %D%/plugins/nan.c
%C%_nan_la_LDFLAGS = $(test_module)
%C%_nan_la_CPPFLAGS = $(test_model_cppflags)
%C%_nan_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/no_plugin.la
%C%_no_plugin_la_SOURCES = %D%/plugins/no_plugin.c
%C%_no_plugin_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/constructor.la
%C%_constructor_la_SOURCES = %D%/plugins/constructor.c
%C%_constructor_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/noise.la
%C%_noise_la_SOURCES = %D%/plugins/noise.c
%C%_noise_la_LDFLAGS = $(test_module)
%C%_noise_la_CPPFLAGS = $(test_model_cppflags)
%C%_noise_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/walls.la
%C%_walls_la_SOURCES = %D%/plugins/walls.c
%C%_walls_la_LDFLAGS = $(test_module)
%C%_walls_la_CPPFLAGS = $(test_model_cppflags)
%C%_walls_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/short_card.la
%C%_short_card_la_SOURCES = %D%/plugins/short_card.c
%C%_short_card_la_LDFLAGS = $(test_module)

check_LTLIBRARIES += %D%/kick.la
%C%_kick_la_SOURCES = %D%/plugins/kick.c
%C%_kick_la_LDFLAGS = $(test_module)
%C%_kick_la_CPPFLAGS = $(test_model_cppflags)
%C%_kick_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/square.la
%C%_square_la_SOURCES = %D%/plugins/square.c
%C%_square_la_LDFLAGS = $(test_module)
%C%_square_la_CPPFLAGS = $(test_model_cppflags)
%C%_square_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/leap.la
%C%_leap_la_SOURCES = %D%/plugins/leap.c
%C%_leap_la_LDFLAGS = $(test_module)
%C%_leap_la_CPPFLAGS = $(test_model_cppflags)
%C%_leap_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/pulse.la
%C%_pulse_la_SOURCES = %D%/plugins/pulse.c
%C%_pulse_la_LDFLAGS = $(test_module)
%C%_pulse_la_CPPFLAGS = $(test_model_cppflags)
%C%_pulse_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/unseen.la
%C%_unseen_la_SOURCES = %D%/plugins/unseen.c
%C%_unseen_la_LDFLAGS = $(test_module)
%C%_unseen_la_CPPFLAGS = $(test_model_cppflags)
%C%_unseen_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/encounter.la
%C%_encounter_la_SOURCES = %D%/plugins/encounter.c
%C%_encounter_la_LDFLAGS = $(test_module)
%C%_encounter_la_CPPFLAGS = $(test_model_cppflags)
%C%_encounter_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/exits.la
%C%_exits_la_SOURCES = %D%/plugins/exits.c
%C%_exits_la_LDFLAGS = $(test_module)
%C%_exits_la_CPPFLAGS = $(test_model_cppflags)
%C%_exits_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/stochastic.la
%C%_stochastic_la_SOURCES = %D%/plugins/stochastic.c
%C%_stochastic_la_LDFLAGS = $(test_module)
%C%_stochastic_la_CPPFLAGS = $(test_model_cppflags)
%C%_stochastic_la_CFLAGS = $(test_model_cflags)

check_LTLIBRARIES += %D%/undefined.la
%C%_undefined_la_SOURCES = %D%/plugins/undefined.c
%C%_undefined_la_LDFLAGS = $(test_module)

EXTRA_DIST += $(test_scripts) $(long_scripts) %D%/fixtures/shell_fixture.sh %D%/fixtures/records_fixture.sh %D%/fixtures/run_fixture.sh %D%/fixtures/results_fixture.sh %D%/bare %D%/resume-kills %D%/failures %D%/abi %D%/data/abi.xml.xz %D%/data/valgrind-mpi.supp %D%/tree/test_install.sh %D%/tree/circles.py %D%/tree/names.py %D%/tree/programs.py %D%/bench/bits %D%/backends/cuda/cuda_sanitize.c %D%/gpu-session %D%/gpu-stage %D%/accuracy/angles %D%/accuracy/asked %D%/accuracy/certified %D%/accuracy/elements %D%/accuracy/exact %D%/accuracy/filter %D%/accuracy/frame %D%/accuracy/frames %D%/accuracy/gbees-validate %D%/accuracy/limit %D%/accuracy/models %D%/accuracy/noise %D%/accuracy/orbit %D%/accuracy/run %D%/bench/cost %D%/bench/pictures \
	%D%/bench/measure.py %D%/bench/run %D%/bench/session %D%/data
EXTRA_DIST += %D%/doc/blocks.py %D%/core/python/alfano.py %D%/core/python/notebooks.py %D%/core/python/test_bounds.py %D%/core/python/test_dapper.py %D%/core/python/test_equations.py %D%/core/python/test_filter.py %D%/core/python/test_gbees.py %D%/core/python/test_kept.py %D%/core/python/test_orbit.py %D%/core/python/test_parts.py %D%/core/python/test_smoothed.py %D%/core/python/test_stonesoup.py %D%/core/python/test_sympy.py %D%/core/python/test_tables.py
