# The library: every layer from base to solver.
lib_LTLIBRARIES += libgbees.la
libgbees_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DGBEES_VERSION='"$(PACKAGE_VERSION)"' \
	-DGBEES_PLUGIN_DIR='"$(plugindir)"' \
	-DGBEES_BACKEND_DIR='"$(backenddir)"' \
	-DGBEES_PARALLEL_DIR='"$(paralleldir)"'
libgbees_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,defs
libgbees_la_LIBADD = $(HDF5_LIBS) $(YAML_LIBS) $(JANSSON_LIBS) $(LAPACKE_LIBS) $(DEFLATE_LIBS) $(LTDL_LIBS) -lpthread
libgbees_la_SOURCES = \
	%D%/base/array.c \
	%D%/base/array.h \
	%D%/base/checkpoint.c \
	%D%/base/checkpoint.h \
	%D%/base/clones.h \
	%D%/base/embed.h \
	%D%/base/exact.h \
	%D%/base/fraction.h \
	%D%/base/child.c \
	%D%/base/child.h \
	%D%/base/error.c \
	%D%/base/gaps.h \
	%D%/base/grid_fields.h \
	%D%/base/initial_cells.c \
	%D%/base/initial_cells.h \
	%D%/base/memory.c \
	%D%/base/memory.h \
	%D%/base/sha256.c \
	%D%/base/rim.c \
	%D%/base/rim.h \
	%D%/base/rough_times.c \
	%D%/base/rough_times.h \
	%D%/base/seconds.h \
	%D%/base/threads_asked.h \
	%D%/base/time_tolerance.h \
	%D%/base/sha256.h \
	%D%/base/signal_mask.h \
	%D%/base/text.c \
	%D%/base/text.h \
	%D%/base/user_cache.c \
	%D%/base/user_cache.h \
	%D%/base/no_memory.h \
	%D%/base/numbers.h \
	%D%/base/pool.c \
	%D%/base/pool.h \
	%D%/base/workers.c \
	%D%/base/workers.h \
	%D%/base/write_all.h \
	%D%/numerics/adaptive.h \
	%D%/numerics/brick.h \
	%D%/numerics/buzhash.h \
	%D%/numerics/ctu.h \
	%D%/numerics/diffusion.h \
	%D%/numerics/dither.h \
	%D%/numerics/dormand_prince.h \
	%D%/numerics/downwind.h \
	%D%/numerics/fixed.h \
	%D%/numerics/fused.h \
	%D%/numerics/ledger.h \
	%D%/numerics/likelihood.h \
	%D%/numerics/neighbour.h \
	%D%/numerics/noise_factor.h \
	%D%/numerics/periods.h \
	%D%/numerics/philox.h \
	%D%/numerics/row.h \
	%D%/numerics/sample_steps.h \
	%D%/numerics/run_state.h \
	%D%/numerics/qualifier.h \
	%D%/numerics/split.h \
	%D%/numerics/split7.h \
	%D%/numerics/split_cuts.h \
	%D%/numerics/split_mass.h \
	%D%/numerics/split_noise.h \
	%D%/numerics/step.h \
	%D%/numerics/sweeps.h \
	%D%/numerics/table_value.h \
	%D%/numerics/work.h \
	%D%/module/card.c \
	%D%/module/card.h \
	%D%/module/folders.c \
	%D%/module/folders.h \
	%D%/module/module.c \
	%D%/module/module.h \
	%D%/module/registry.c \
	%D%/module/registry_private.h \
	%D%/module/survey.c \
	%D%/module/survey.h \
	%D%/module/trust.c \
	%D%/module/trust.h \
	%D%/accuracy/cell_values.c \
	%D%/accuracy/plan.c \
	%D%/accuracy/plan.h \
	%D%/accuracy/sample_count.c \
	%D%/accuracy/selection.c \
	%D%/accuracy/refinement.c \
	%D%/accuracy/run_records.c \
	%D%/accuracy/run_scenario.c \
	%D%/accuracy/variation.c \
	%D%/accuracy/roughness.c \
	%D%/accuracy/roughness.h \
	%D%/accuracy/variation.h \
	%D%/audit/audit.c \
	%D%/audit/sampled_private.h \
	%D%/audit/sampled_state.c \
	%D%/audit/bins.c \
	%D%/audit/bins.h \
	%D%/audit/bridge.c \
	%D%/audit/bridge.h \
	%D%/audit/entries.c \
	%D%/audit/offload.c \
	%D%/audit/offload.h \
	%D%/base/cholesky.c \
	%D%/base/cholesky.h \
	%D%/base/parameters.h \
	%D%/record/certificate.c \
	%D%/record/certificate.h \
	%D%/audit/compare.c \
	%D%/audit/compare.h \
	%D%/audit/escape.c \
	%D%/audit/flow.c \
	%D%/audit/flow.h \
	%D%/audit/follow.c \
	%D%/audit/islands.c \
	%D%/audit/jump.c \
	%D%/audit/islands.h \
	%D%/audit/keep.c \
	%D%/audit/kept.c \
	%D%/audit/kept.h \
	%D%/audit/kick.c \
	%D%/audit/marginal.c \
	%D%/audit/marginal.h \
	%D%/audit/montecarlo.c \
	%D%/audit/montecarlo.h \
	%D%/audit/points.c \
	%D%/audit/points.h \
	%D%/audit/reference.h \
	%D%/audit/sampled.c \
	%D%/audit/sampled.h \
	%D%/audit/near.c \
	%D%/audit/near.h \
	%D%/audit/probe.c \
	%D%/audit/random.c \
	%D%/audit/sample_moments.c \
	%D%/audit/samples.h \
	%D%/record/score.c \
	%D%/audit/simulate.c \
	%D%/record/truth.c \
	%D%/audit/start.c \
	%D%/audit/targets.c \
	%D%/audit/targets.h \
	%D%/audit/walk.c \
	%D%/audit/walk.h \
	%D%/audit/weight.c \
	%D%/frame/affine.c \
	%D%/frame/affine.h \
	%D%/frame/matrix.c \
	%D%/frame/matrix.h \
	%D%/frame/motion.c \
	%D%/frame/motion.h \
	%D%/frame/passes.c \
	%D%/frame/passes.h \
	%D%/frame/plan.c \
	%D%/frame/plan.h \
	%D%/frame/plane.c \
	%D%/frame/plane.h \
	%D%/frame/remap.c \
	%D%/frame/remap.h \
	%D%/frame/relative.c \
	%D%/frame/relative.h \
	%D%/frame/row.c \
	%D%/frame/row.h \
	%D%/frame/shape.c \
	%D%/frame/shape.h \
	%D%/frame/sparse.c \
	%D%/frame/sparse.h \
	%D%/frame/sparse_list.c \
	%D%/frame/sparse_list.h \
	%D%/frame/spread.c \
	%D%/lagrangian/align.c \
	%D%/lagrangian/align.h \
	%D%/lagrangian/batch.c \
	%D%/lagrangian/batch.h \
	%D%/lagrangian/certify.c \
	%D%/lagrangian/state.h \
	%D%/lagrangian/sharpen.h \
	%D%/lagrangian/sharpen.c \
	%D%/lagrangian/sets.h \
	%D%/lagrangian/sets.c \
	%D%/lagrangian/record.h \
	%D%/lagrangian/record.c \
	%D%/lagrangian/certify.h \
	%D%/lagrangian/compare.c \
	%D%/lagrangian/compare.h \
	%D%/lagrangian/direction.c \
	%D%/lagrangian/direction.h \
	%D%/lagrangian/divergence.c \
	%D%/lagrangian/divergence.h \
	%D%/lagrangian/distance.c \
	%D%/lagrangian/distance.h \
	%D%/lagrangian/between.c \
	%D%/lagrangian/between.h \
	%D%/lagrangian/bricks.c \
	%D%/lagrangian/bricks.h \
	%D%/lagrangian/deposit.c \
	%D%/lagrangian/deposit.h \
	%D%/lagrangian/divide.c \
	%D%/lagrangian/divide.h \
	%D%/lagrangian/doubt.c \
	%D%/lagrangian/dormand_prince_dense.h \
	%D%/lagrangian/image.c \
	%D%/lagrangian/image.h \
	%D%/lagrangian/parts.c \
	%D%/lagrangian/parts.h \
	%D%/lagrangian/spread.c \
	%D%/lagrangian/spread.h \
	%D%/lagrangian/engine.c \
	%D%/lagrangian/cuts.c \
	%D%/lagrangian/cuts.h \
	%D%/lagrangian/cuts_private.h \
	%D%/lagrangian/leaves.c \
	%D%/lagrangian/fields.c \
	%D%/lagrangian/fields.h \
	%D%/lagrangian/entered.c \
	%D%/lagrangian/entered.h \
	%D%/lagrangian/targets.c \
	%D%/lagrangian/targets.h \
	%D%/lagrangian/watch.c \
	%D%/lagrangian/watch.h \
	%D%/lagrangian/engine.h \
	%D%/lagrangian/flood.c \
	%D%/lagrangian/flood.h \
	%D%/lagrangian/marginals.c \
	%D%/lagrangian/marginals.h \
	%D%/lagrangian/jump.c \
	%D%/lagrangian/jump.h \
	%D%/lagrangian/lattice.c \
	%D%/lagrangian/lattice.h \
	%D%/lagrangian/lattice_order.c \
	%D%/lagrangian/crossings.c \
	%D%/lagrangian/crossings.h \
	%D%/lagrangian/light.c \
	%D%/lagrangian/light.h \
	%D%/lagrangian/past_group.h \
	%D%/lagrangian/past_weights.c \
	%D%/lagrangian/past.c \
	%D%/lagrangian/past.h \
	%D%/lagrangian/source.c \
	%D%/lagrangian/source.h \
	%D%/lagrangian/spacing.c \
	%D%/lagrangian/spacing.h \
	%D%/lagrangian/state.c \
	%D%/lagrangian/sums.c \
	%D%/lagrangian/sums.h \
	%D%/lagrangian/temper.c \
	%D%/lagrangian/temper.h \
	%D%/lagrangian/trajectories.c \
	%D%/lagrangian/trajectories.h \
	%D%/record/certificate_text.c \
	%D%/results/run/checkpoint.c \
	%D%/results/run/checkpoint_file.c \
	%D%/results/run/checkpoint_file.h \
	%D%/results/hdf5/file_child.c \
	%D%/results/hdf5/file_child.h \
	%D%/results/folder/folder.c \
	%D%/results/folder/folder.h \
	%D%/results/hdf5/hdf5_chunks.c \
	%D%/results/hdf5/hdf5_chunks.h \
	%D%/results/hdf5/hdf5_driver.c \
	%D%/results/hdf5/hdf5_driver.h \
	%D%/results/hdf5/hdf5_file.c \
	%D%/results/hdf5/hdf5_file.h \
	%D%/results/hdf5/hdf5_scale.c \
	%D%/results/hdf5/hdf5_scale.h \
	%D%/results/hdf5/hdf5_util.c \
	%D%/results/hdf5/hdf5_util.h \
	%D%/results/run/json_compare.c \
	%D%/results/run/json_util.c \
	%D%/results/run/json_util.h \
	%D%/results/run/jsonl.c \
	%D%/results/run/jsonl.h \
	%D%/scenario/measurement_columns.c \
	%D%/scenario/measurement_columns.h \
	%D%/scenario/measurement_file.c \
	%D%/scenario/measurement_file.h \
	%D%/scenario/date.c \
	%D%/scenario/date.h \
	%D%/scenario/measurement_table.c \
	%D%/scenario/measurement_table.h \
	%D%/scenario/parameter_table.c \
	%D%/scenario/parameter_table.h \
	%D%/scenario/scenario_measurements.c \
	%D%/scenario/table.c \
	%D%/scenario/table.h \
	%D%/results/run/series_read.c \
	%D%/results/run/simulation_file.c \
	%D%/scenario/truth_file.c \
	%D%/results/run/moments.c \
	%D%/results/run/moments.h \
	%D%/results/run/moments_measured.c \
	%D%/results/run/provenance.c \
	%D%/results/run/provenance.h \
	%D%/results/run/reader.c \
	%D%/results/records/record_axes.c \
	%D%/results/records/record_axes.h \
	%D%/results/records/record_cells.c \
	%D%/results/records/record_cells.h \
	%D%/results/records/record_child.c \
	%D%/results/records/record_file.c \
	%D%/results/records/record_file.h \
	%D%/results/folder/record_name.c \
	%D%/results/folder/record_name.h \
	%D%/results/records/record_read.c \
	%D%/results/records/results_list.c \
	%D%/results/records/results_list.h \
	%D%/results/records/run_file.c \
	%D%/results/records/run_file.h \
	%D%/results/records/run_info.h \
	%D%/scenario/scenario.c \
	%D%/scenario/scenario.h \
	%D%/scenario/scenario_output.c \
	%D%/scenario/scenario_own.c \
	%D%/scenario/scenario_text.c \
	%D%/scenario/schema.c \
	%D%/scenario/schema.h \
	%D%/scenario/schema_check.c \
	%D%/scenario/schema_fields.c \
	%D%/scenario/schema_fields.h \
	%D%/scenario/schema_values.c \
	%D%/results/records/snapshot.c \
	%D%/results/folder/store.c \
	%D%/results/folder/store.h \
	%D%/results/folder/temporary.c \
	%D%/results/records/verify.c \
	%D%/results/records/verify.h \
	%D%/results/run/writer.c \
	%D%/results/records/xdmf.c \
	%D%/results/records/xdmf.h \
	%D%/scenario/yaml_tree.c \
	%D%/scenario/yaml_tree.h \
	%D%/rivals/answer.c \
	%D%/rivals/comparison.c \
	%D%/rivals/comparison_private.h \
	%D%/rivals/ekf.c \
	%D%/rivals/enkf.c \
	%D%/rivals/ensemble.c \
	%D%/rivals/ensemble.h \
	%D%/rivals/filter.h \
	%D%/rivals/gaussian.c \
	%D%/rivals/gaussian.h \
	%D%/rivals/joint.c \
	%D%/rivals/densities.c \
	%D%/rivals/densities.h \
	%D%/rivals/joint.h \
	%D%/rivals/mc.c \
	%D%/rivals/observed.c \
	%D%/rivals/observed.h \
	%D%/rivals/pf.c \
	%D%/rivals/reference.c \
	%D%/rivals/reference.h \
	%D%/rivals/rivals.c \
	%D%/rivals/rivals.h \
	%D%/rivals/ukf.c \
	%D%/solver/problem/bound.c \
	%D%/solver/problem/targets.c \
	%D%/solver/problem/builder.c \
	%D%/solver/problem/builder.h \
	%D%/record/cells.c \
	%D%/record/cells.h \
	%D%/record/cells_private.h \
	%D%/record/cells_read.c \
	%D%/record/targets.c \
	%D%/record/targets.h \
	%D%/solver/run/targets.c \
	%D%/record/cells_marginals.c \
	%D%/record/cells_marginals.h \
	%D%/record/cells_permute.c \
	%D%/record/cells_sort.c \
	%D%/solver/run/checkpoint.c \
	%D%/solver/grid/grid_problem.c \
	%D%/solver/grid/grid_state.c \
	%D%/solver/grid/grid_state.h \
	%D%/record/equations.c \
	%D%/record/equations.h \
	%D%/solver/run/event.c \
	%D%/solver/run/event.h \
	%D%/solver/problem/frame.c \
	%D%/solver/problem/lagrangian.c \
	%D%/solver/problem/frame.h \
	%D%/solver/problem/initial.c \
	%D%/solver/grid/lines.c \
	%D%/solver/grid/lines.h \
	%D%/solver/problem/measurements.c \
	%D%/solver/grid/next_grid.c \
	%D%/solver/grid/next_grid.h \
	%D%/solver/run/notifier.c \
	%D%/solver/run/notifier.h \
	%D%/solver/problem/numerics.c \
	%D%/solver/problem/problem.c \
	%D%/solver/grid/projection.c \
	%D%/solver/grid/projection.h \
	%D%/solver/run/records.c \
	%D%/solver/grid/jump.c \
	%D%/solver/grid/jump.h \
	%D%/solver/grid/jump_image.c \
	%D%/solver/grid/jump_image.h \
	%D%/solver/grid/refine.c \
	%D%/solver/grid/refine.h \
	%D%/solver/grid/moving.c \
	%D%/solver/grid/moving.h \
	%D%/solver/grid/moving_noise.c \
	%D%/solver/grid/moving_noise.h \
	%D%/solver/grid/regrid.c \
	%D%/solver/grid/regrid.h \
	%D%/solver/problem/instants.c \
	%D%/solver/problem/ranges.c \
	%D%/solver/problem/regrids.c \
	%D%/solver/grid/resolve.c \
	%D%/solver/grid/resolve.h \
	%D%/solver/run/run.c \
	%D%/solver/run/run.h \
	%D%/solver/problem/schedule.c \
	%D%/solver/problem/schedule.h \
	%D%/solver/problem/tables.c \
	%D%/solver/problem/driven.c \
	%D%/solver/problem/driven.h \
	%D%/record/instants.c \
	%D%/record/instants.h \
	%D%/record/likelihood.c \
	%D%/record/likelihood.h \
	%D%/record/slabs.c \
	%D%/record/slabs.h \
	%D%/solver/run/slice.c \
	%D%/solver/run/solver.c \
	%D%/solver/run/stream.c \
	%D%/solver/run/tail.c \
	%D%/solver/run/tail.h \
	%D%/solver/run/jumps.c \
	%D%/solver/run/updates.c \
	%D%/solver/run/wells.c \
	%D%/base/version.c \
	%D%/record/record_warnings.c \
	%D%/record/warnings.c \
	%D%/record/warnings.h

# A build folder may be moved: in it libgbees is beside the programs.
program_ldflags = -Wl,-rpath,'$$ORIGIN'

bin_PROGRAMS += gbees-run
gbees_run_LDFLAGS = $(program_ldflags)
gbees_run_LDADD = libgbees.la $(JANSSON_LIBS)
gbees_run_SOURCES = \
	%D%/command/run/accuracy.c \
	%D%/command/run/search.h \
	%D%/command/run/search_run.c \
	%D%/command/run/search_folder.c \
	%D%/command/run/check.c \
	%D%/command/run/command.h \
	%D%/command/run/compare.c \
	%D%/command/run/compare.h \
	%D%/command/run/compile.c \
	%D%/command/crash.c \
	%D%/command/crash.h \
	%D%/command/run/describe.c \
	%D%/command/run/extrapolate.c \
	%D%/command/run/extrapolate.h \
	%D%/command/run/forecast.c \
	%D%/command/run/forecast.h \
	%D%/command/run/keys.c \
	%D%/command/run/list.c \
	%D%/command/run/one_run.c \
	%D%/command/run/one_run.h \
	%D%/command/run/option_values.c \
	%D%/command/run/option_values.h \
	%D%/command/run/options.c \
	%D%/command/run/options.h \
	%D%/command/run/output.c \
	%D%/command/run/output_size.c \
	%D%/command/run/output_size.h \
	%D%/command/run/print.c \
	%D%/command/run/progress.c \
	%D%/command/run/progress.h \
	%D%/command/run/report.c \
	%D%/command/run/ranks.c \
	%D%/command/run/ranks.h \
	%D%/command/run/ranks_expect.c \
	%D%/command/run/ranks_expect.h \
	%D%/command/run/report.h \
	%D%/command/run/report_end.c \
	%D%/command/run/resume.c \
	%D%/command/run/resume.h \
	%D%/command/run/run.c \
	%D%/command/run/setup.c \
	%D%/command/run/simulate.c \
	%D%/command/run/signals.c \
	%D%/command/run/signals.h \
	%D%/command/units.c \
	%D%/command/units.h

bin_PROGRAMS += gbees-plot
gbees_plot_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS)
gbees_plot_LDFLAGS = $(program_ldflags)
gbees_plot_LDADD = %D%/libplot.la libgbees.la $(CAIRO_LIBS) $(HDF5_LIBS) $(JANSSON_LIBS)
gbees_plot_SOURCES = \
	%D%/command/crash.c \
	%D%/command/crash.h \
	%D%/command/plot/plot.c \
	%D%/command/plot/plot_child.c \
	%D%/command/plot/plot_child.h \
	%D%/command/plot/plot_pictures.c \
	%D%/command/plot/plot_pictures.h

bin_PROGRAMS += gbees-export
gbees_export_LDFLAGS = $(program_ldflags)
gbees_export_LDADD = libgbees.la $(HDF5_LIBS) $(JANSSON_LIBS)
gbees_export_SOURCES = \
	%D%/command/crash.c \
	%D%/command/crash.h \
	%D%/command/export/export.c \
	%D%/command/export/export_file.c \
	%D%/command/export/export_file.h \
	%D%/command/export/export_formats.h \
	%D%/command/export/export_image.c \
	%D%/command/export/export_image.h \
	%D%/command/export/export_images.c \
	%D%/command/export/export_text.c

bin_PROGRAMS += gbees-plugin
gbees_plugin_CPPFLAGS = $(AM_CPPFLAGS) \
	-DGBEES_CC='"$(CC)"' \
	-DGBEES_INCLUDE_DIR='"$(includedir)"' \
	-DGBEES_SOURCE_DIR='"$(abs_top_srcdir)"' \
	-I$(srcdir)
gbees_plugin_LDFLAGS = $(program_ldflags)
gbees_plugin_LDADD = libgbees.la $(JANSSON_LIBS)
gbees_plugin_SOURCES = \
	%D%/command/run/command.h \
	%D%/command/crash.c \
	%D%/command/crash.h \
	%D%/command/run/describe.c \
	%D%/command/run/output.c \
	%D%/command/plugin/plugin.c \
	%D%/command/plugin/plugin.h \
	%D%/command/plugin/plugin_build.c \
	%D%/command/plugin/plugin_card.c \
	%D%/command/plugin/plugin_check.c \
	%D%/command/plugin/plugin_child.c \
	%D%/command/plugin/plugin_compare.c \
	%D%/command/plugin/plugin_compile.c \
	%D%/command/plugin/plugin_drift.c \
	%D%/command/plugin/plugin_guard.c \
	%D%/command/plugin/plugin_noise.c \
	%D%/command/plugin/plugin_new.c \
	%D%/command/plugin/plugin_probe.c \
	%D%/command/plugin/plugin_source.c \
	%D%/command/run/print.c \
	%D%/command/run/setup.c \
	%D%/command/run/signals.c \
	%D%/command/run/signals.h

# No compiler tells make of an embedded file. (The variable keeps automake from dropping its own rule.)
gbees_plugin_new_object = %D%/command/gbees_plugin-plugin_new.$(OBJEXT)
$(gbees_plugin_new_object): plugins/template.c

# All of gbees-plot but its main(), for its tests, too.
noinst_LTLIBRARIES += %D%/libplot.la
%C%_libplot_la_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS)
%C%_libplot_la_LDFLAGS =
%C%_libplot_la_SOURCES = \
	%D%/plot/animate.c \
	%D%/plot/animate.h \
	%D%/plot/box.c \
	%D%/plot/box.h \
	%D%/plot/colormap.c \
	%D%/plot/colormap.h \
	%D%/plot/contour.c \
	%D%/plot/contour.h \
	%D%/plot/corner.c \
	%D%/plot/density.c \
	%D%/plot/density.h \
	%D%/plot/draw.h \
	%D%/plot/figure.c \
	%D%/plot/figure.h \
	%D%/plot/gather.c \
	%D%/plot/gather.h \
	%D%/plot/isosurface.c \
	%D%/plot/isosurface.h \
	%D%/plot/joint.c \
	%D%/plot/marginal.c \
	%D%/plot/note.c \
	%D%/plot/other.c \
	%D%/plot/other.h \
	%D%/plot/png.c \
	%D%/plot/png.h \
	%D%/plot/region.c \
	%D%/plot/region.h \
	%D%/plot/render.c \
	%D%/plot/render.h \
	%D%/plot/sampled.c \
	%D%/plot/sampled.h \
	%D%/plot/scene.c \
	%D%/plot/series.c \
	%D%/plot/ticks.c \
	%D%/plot/ticks.h

# What the Python package calls (doc/python.md).
pkglib_LTLIBRARIES += %D%/python/session.la
%C%_python_session_la_LDFLAGS = $(module_ldflags) -Wl,-z,defs
%C%_python_session_la_LIBADD = libgbees.la
%C%_python_session_la_SOURCES = \
	%D%/python/session.c \
	%D%/python/session.h \
	%D%/python/session_private.h \
	%D%/python/session_run.c \
	%D%/python/session_stream.c

python_files = \
	%D%/python/gbees/__init__.py \
	%D%/python/gbees/_compare.py \
	%D%/python/gbees/_dapper_model.py \
	%D%/python/gbees/_equations.py \
	%D%/python/gbees/_filter.py \
	%D%/python/gbees/_library.py \
	%D%/python/gbees/_measurements.py \
	%D%/python/gbees/_model.py \
	%D%/python/gbees/_orbit_conjunction.py \
	%D%/python/gbees/_orbit_frames.py \
	%D%/python/gbees/_orbit_messages.py \
	%D%/python/gbees/_orbit_write.py \
	%D%/python/gbees/_plot.py \
	%D%/python/gbees/_record.py \
	%D%/python/gbees/_results.py \
	%D%/python/gbees/_run.py \
	%D%/python/gbees/_solver.py \
	%D%/python/gbees/_stonesoup_dynamics.py \
	%D%/python/gbees/_stonesoup_maps.py \
	%D%/python/gbees/_stonesoup_models.py \
	%D%/python/gbees/_sympy.py \
	%D%/python/gbees/_traced.py \
	%D%/python/gbees/dapper.py \
	%D%/python/gbees/orbit.py \
	%D%/python/gbees/stonesoup.py \
	%D%/python/gbees/py.typed \
	%D%/python/pyproject.toml \
	%D%/python/gbees_build.py \
	%D%/python/notebooks/halo.ipynb \
	%D%/python/notebooks/lorenz63.ipynb \
	%D%/python/notebooks/orbit.ipynb \
	%D%/python/notebooks/own_model.ipynb \
	%D%/python/notebooks/stonesoup.ipynb
EXTRA_DIST += $(python_files)

# The wheel has the library, the backends and the models of this build: dist/gbees-*.whl in the build folder.
PYTHON3 = python3
AUDITWHEEL = auditwheel
wheel: all
	rm -rf wheel-stage
	$(MAKE) $(AM_MAKEFLAGS) install-strip DESTDIR='$(abs_top_builddir)/wheel-stage' >/dev/null
	$(PYTHON3) $(srcdir)/%D%/python/gbees_build.py '$(abs_top_builddir)/wheel-stage' '$(libdir)' '$(includedir)' dist
# The same with the libraries that gbees is linked to, for machines that have none of them: dist/manylinux. What is loaded
# while a program runs stays outside: MPI, and what belongs to the driver of a GPU.
wheel-manylinux: wheel
	rm -rf dist/manylinux
	$(AUDITWHEEL) repair --plat auto --only-plat --exclude 'libgbees.so.*' --exclude 'libmpi.so.*' --exclude 'libcuda*' \
		-w dist/manylinux dist/gbees-*.whl
.PHONY: wheel wheel-manylinux
clean-local: clean-wheel
clean-wheel:
	rm -rf wheel-stage dist
.PHONY: clean-wheel

pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/gbees.pc %D%/gbees-plugin.pc
noinst_DATA = %D%/gbees-uninstalled.pc

EXTRA_DIST += %D%/README.md

# Completion in shells. Bash looks for a file with the name of each command, zsh for _gbees.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
completed_commands = gbees-plot gbees-export gbees-plugin
dist_zshcompletion_DATA = \
	%D%/command/completion/_gbees
EXTRA_DIST += %D%/command/completion/gbees.bash
install-data-local: install-completion
install-completion:
	$(MKDIR_P) "$(DESTDIR)$(bashcompletiondir)"
	$(INSTALL_DATA) $(srcdir)/%D%/command/completion/gbees.bash "$(DESTDIR)$(bashcompletiondir)/gbees-run"
	cd "$(DESTDIR)$(bashcompletiondir)" && for name in $(completed_commands); do rm -f $$name && $(LN_S) gbees-run $$name; done
uninstall-local: uninstall-completion
uninstall-completion:
	cd "$(DESTDIR)$(bashcompletiondir)" && rm -f gbees-run $(completed_commands)
.PHONY: install-completion uninstall-completion
