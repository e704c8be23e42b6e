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
	%D%/base/child.c \
	%D%/base/child.h \
	%D%/base/error.c \
	%D%/base/gaps.h \
	%D%/base/grid_fields.h \
	%D%/base/memory.c \
	%D%/base/memory.h \
	%D%/base/sha256.c \
	%D%/base/rim.c \
	%D%/base/rim.h \
	%D%/base/seconds.h \
	%D%/base/threads_asked.h \
	%D%/base/time_tolerance.h \
	%D%/base/sha256.h \
	%D%/base/signal_mask.h \
	%D%/base/text.c \
	%D%/base/text.h \
	%D%/base/user_cache.c \
	%D%/base/user_cache.h \
	%D%/base/pool.c \
	%D%/base/pool.h \
	%D%/base/workers.c \
	%D%/base/workers.h \
	%D%/numerics/adaptive.h \
	%D%/numerics/brick.h \
	%D%/numerics/buzhash.h \
	%D%/numerics/ctu.h \
	%D%/numerics/diffusion.h \
	%D%/numerics/dormand_prince.h \
	%D%/numerics/fixed.h \
	%D%/numerics/fused.h \
	%D%/numerics/ledger.h \
	%D%/numerics/likelihood.h \
	%D%/numerics/noise_factor.h \
	%D%/numerics/periods.h \
	%D%/numerics/philox.h \
	%D%/numerics/row.h \
	%D%/numerics/run_state.h \
	%D%/numerics/qualifier.h \
	%D%/numerics/split.h \
	%D%/numerics/split7.h \
	%D%/numerics/split_mass.h \
	%D%/numerics/step.h \
	%D%/numerics/sweeps.h \
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
	%D%/accuracy/plan.c \
	%D%/accuracy/plan.h \
	%D%/accuracy/sample_count.c \
	%D%/accuracy/selection.c \
	%D%/accuracy/refinement.c \
	%D%/accuracy/variation.c \
	%D%/accuracy/roughness.c \
	%D%/accuracy/roughness.h \
	%D%/accuracy/variation.h \
	%D%/audit/audit.c \
	%D%/audit/sampled_private.h \
	%D%/audit/sampled_state.c \
	%D%/audit/bins.c \
	%D%/audit/bins.h \
	%D%/audit/offload.c \
	%D%/audit/offload.h \
	%D%/audit/cholesky.c \
	%D%/audit/cholesky.h \
	%D%/audit/certificate.c \
	%D%/audit/certificate.h \
	%D%/audit/compare.c \
	%D%/audit/compare.h \
	%D%/audit/escape.c \
	%D%/audit/flow.c \
	%D%/audit/flow.h \
	%D%/audit/islands.c \
	%D%/audit/islands.h \
	%D%/audit/kept.c \
	%D%/audit/kept.h \
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
	%D%/audit/score.c \
	%D%/audit/simulate.c \
	%D%/audit/truth.c \
	%D%/audit/start.c \
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
	%D%/lagrangian/distance.c \
	%D%/lagrangian/distance.h \
	%D%/lagrangian/bricks.c \
	%D%/lagrangian/bricks.h \
	%D%/lagrangian/deposit.c \
	%D%/lagrangian/deposit.h \
	%D%/lagrangian/divide.c \
	%D%/lagrangian/divide.h \
	%D%/lagrangian/image.c \
	%D%/lagrangian/image.h \
	%D%/lagrangian/parts.c \
	%D%/lagrangian/parts.h \
	%D%/lagrangian/spread.c \
	%D%/lagrangian/spread.h \
	%D%/lagrangian/engine.c \
	%D%/lagrangian/engine.h \
	%D%/lagrangian/flood.c \
	%D%/lagrangian/flood.h \
	%D%/lagrangian/lattice.c \
	%D%/lagrangian/lattice.h \
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
	%D%/io/certificate_text.c \
	%D%/io/checkpoint.c \
	%D%/io/checkpoint_file.c \
	%D%/io/checkpoint_file.h \
	%D%/io/file_child.c \
	%D%/io/file_child.h \
	%D%/io/folder.c \
	%D%/io/folder.h \
	%D%/io/hdf5_chunks.c \
	%D%/io/hdf5_chunks.h \
	%D%/io/hdf5_driver.c \
	%D%/io/hdf5_driver.h \
	%D%/io/hdf5_file.c \
	%D%/io/hdf5_file.h \
	%D%/io/hdf5_scale.c \
	%D%/io/hdf5_scale.h \
	%D%/io/hdf5_util.c \
	%D%/io/hdf5_util.h \
	%D%/io/json_compare.c \
	%D%/io/json_util.c \
	%D%/io/json_util.h \
	%D%/io/jsonl.c \
	%D%/io/jsonl.h \
	%D%/io/measurement_columns.c \
	%D%/io/measurement_columns.h \
	%D%/io/measurement_file.c \
	%D%/io/measurement_file.h \
	%D%/io/date.c \
	%D%/io/date.h \
	%D%/io/measurement_table.c \
	%D%/io/measurement_table.h \
	%D%/io/scenario_measurements.c \
	%D%/io/table.c \
	%D%/io/table.h \
	%D%/io/table_child.c \
	%D%/io/table_datasets.c \
	%D%/io/table_datasets.h \
	%D%/io/series_read.c \
	%D%/io/simulation_file.c \
	%D%/io/truth_file.c \
	%D%/io/moments.c \
	%D%/io/moments.h \
	%D%/io/moments_measured.c \
	%D%/io/moments_private.h \
	%D%/io/moments_state.c \
	%D%/io/provenance.c \
	%D%/io/provenance.h \
	%D%/io/reader.c \
	%D%/io/record_axes.c \
	%D%/io/record_axes.h \
	%D%/io/record_cells.c \
	%D%/io/record_cells.h \
	%D%/io/record_child.c \
	%D%/io/record_file.c \
	%D%/io/record_file.h \
	%D%/io/record_name.c \
	%D%/io/record_name.h \
	%D%/io/record_read.c \
	%D%/io/results_list.c \
	%D%/io/results_list.h \
	%D%/io/run_file.c \
	%D%/io/run_file.h \
	%D%/io/run_files.c \
	%D%/io/run_files.h \
	%D%/io/scenario.c \
	%D%/io/scenario.h \
	%D%/io/scenario_output.c \
	%D%/io/scenario_own.c \
	%D%/io/scenario_text.c \
	%D%/io/schema.c \
	%D%/io/schema.h \
	%D%/io/schema_check.c \
	%D%/io/schema_fields.c \
	%D%/io/schema_fields.h \
	%D%/io/schema_values.c \
	%D%/io/snapshot.c \
	%D%/io/store.c \
	%D%/io/store.h \
	%D%/io/temporary.c \
	%D%/io/verify.c \
	%D%/io/verify.h \
	%D%/io/writer.c \
	%D%/io/xdmf.c \
	%D%/io/xdmf.h \
	%D%/io/yaml_tree.c \
	%D%/io/yaml_tree.h \
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
	%D%/solver/bound.c \
	%D%/solver/builder.c \
	%D%/solver/builder.h \
	%D%/solver/cells.c \
	%D%/solver/cells.h \
	%D%/solver/cells_private.h \
	%D%/solver/cells_read.c \
	%D%/solver/cells_marginals.c \
	%D%/solver/cells_marginals.h \
	%D%/solver/cells_permute.c \
	%D%/solver/cells_sort.c \
	%D%/solver/checkpoint.c \
	%D%/solver/grid_problem.c \
	%D%/solver/grid_state.c \
	%D%/solver/grid_state.h \
	%D%/solver/equations.c \
	%D%/solver/equations.h \
	%D%/solver/event.c \
	%D%/solver/event.h \
	%D%/solver/frame.c \
	%D%/solver/lagrangian.c \
	%D%/solver/frame.h \
	%D%/solver/initial.c \
	%D%/solver/lines.c \
	%D%/solver/lines.h \
	%D%/solver/measurements.c \
	%D%/solver/next_grid.c \
	%D%/solver/next_grid.h \
	%D%/solver/notifier.c \
	%D%/solver/notifier.h \
	%D%/solver/numerics.c \
	%D%/solver/problem.c \
	%D%/solver/projection.c \
	%D%/solver/projection.h \
	%D%/solver/records.c \
	%D%/solver/refine.c \
	%D%/solver/refine.h \
	%D%/solver/moving.c \
	%D%/solver/moving.h \
	%D%/solver/moving_noise.c \
	%D%/solver/moving_noise.h \
	%D%/solver/regrid.c \
	%D%/solver/regrid.h \
	%D%/solver/regrids.c \
	%D%/solver/resolve.c \
	%D%/solver/resolve.h \
	%D%/solver/run.c \
	%D%/solver/run.h \
	%D%/solver/schedule.c \
	%D%/solver/schedule.h \
	%D%/solver/slabs.c \
	%D%/solver/slabs.h \
	%D%/solver/slice.c \
	%D%/solver/solver.c \
	%D%/solver/stream.c \
	%D%/solver/tail.c \
	%D%/solver/tail.h \
	%D%/solver/updates.c \
	%D%/solver/version.c \
	%D%/solver/warnings.c \
	%D%/solver/warnings.h

# A build folder may be moved: in it libgbees is beside the programs.
program_ldflags = -Wl,-rpath,'$$ORIGIN'

bin_PROGRAMS += gbees-run
gbees_run_LDFLAGS = $(program_ldflags)
gbees_run_LDADD = libgbees.la $(JANSSON_LIBS)
gbees_run_SOURCES = \
	%D%/command/accuracy.c \
	%D%/command/search.h \
	%D%/command/search_run.c \
	%D%/command/search_folder.c \
	%D%/command/check.c \
	%D%/command/command.h \
	%D%/command/compare.c \
	%D%/command/compare.h \
	%D%/command/compile.c \
	%D%/command/crash.c \
	%D%/command/crash.h \
	%D%/command/describe.c \
	%D%/command/extrapolate.c \
	%D%/command/extrapolate.h \
	%D%/command/forecast.c \
	%D%/command/forecast.h \
	%D%/command/keys.c \
	%D%/command/list.c \
	%D%/command/one_run.c \
	%D%/command/one_run.h \
	%D%/command/option_values.c \
	%D%/command/option_values.h \
	%D%/command/options.c \
	%D%/command/options.h \
	%D%/command/output.c \
	%D%/command/output_size.c \
	%D%/command/output_size.h \
	%D%/command/print.c \
	%D%/command/progress.c \
	%D%/command/progress.h \
	%D%/command/report.c \
	%D%/command/ranks.c \
	%D%/command/ranks.h \
	%D%/command/ranks_expect.c \
	%D%/command/ranks_expect.h \
	%D%/command/report.h \
	%D%/command/resume.c \
	%D%/command/resume.h \
	%D%/command/run.c \
	%D%/command/setup.c \
	%D%/command/simulate.c \
	%D%/command/signals.c \
	%D%/command/signals.h \
	%D%/command/units.c \
	%D%/command/units.h

bin_PROGRAMS += gbees-plot
gbees_plot_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS)
gbees_plot_LDFLAGS = $(program_ldflags)
gbees_plot_LDADD = %D%/libplot.la libgbees.la $(CAIRO_LIBS) $(GIF_LIBS) $(HDF5_LIBS) $(JANSSON_LIBS)
gbees_plot_SOURCES = \
	%D%/command/crash.c \
	%D%/command/crash.h \
	%D%/command/plot.c \
	%D%/command/plot_child.c \
	%D%/command/plot_child.h \
	%D%/command/plot_pictures.c \
	%D%/command/plot_pictures.h

bin_PROGRAMS += gbees-export
gbees_export_LDFLAGS = $(program_ldflags)
gbees_export_LDADD = libgbees.la $(HDF5_LIBS) $(JANSSON_LIBS)
gbees_export_SOURCES = \
	%D%/command/crash.c \
	%D%/command/crash.h \
	%D%/command/export.c \
	%D%/command/export_file.c \
	%D%/command/export_file.h \
	%D%/command/export_image.c \
	%D%/command/export_image.h \
	%D%/command/export_images.c \
	%D%/command/export_images.h

bin_PROGRAMS += gbees-plugin
gbees_plugin_CPPFLAGS = $(AM_CPPFLAGS) \
	-DGBEES_CC='"$(CC)"' \
	-DGBEES_INCLUDE_DIR='"$(includedir)"' \
	-DGBEES_SOURCE_DIR='"$(abs_top_srcdir)"' \
	-I$(srcdir)
gbees_plugin_LDFLAGS = $(program_ldflags)
gbees_plugin_LDADD = libgbees.la $(JANSSON_LIBS)
gbees_plugin_SOURCES = \
	%D%/command/command.h \
	%D%/command/crash.c \
	%D%/command/crash.h \
	%D%/command/describe.c \
	%D%/command/output.c \
	%D%/command/plugin.c \
	%D%/command/plugin.h \
	%D%/command/plugin_beyond.c \
	%D%/command/plugin_build.c \
	%D%/command/plugin_card.c \
	%D%/command/plugin_check.c \
	%D%/command/plugin_child.c \
	%D%/command/plugin_compare.c \
	%D%/command/plugin_compile.c \
	%D%/command/plugin_drift.c \
	%D%/command/plugin_guard.c \
	%D%/command/plugin_noise.c \
	%D%/command/plugin_new.c \
	%D%/command/plugin_probe.c \
	%D%/command/plugin_source.c \
	%D%/command/print.c \
	%D%/command/setup.c \
	%D%/command/signals.c \
	%D%/command/signals.h

# No compiler tells make of an embedded file. (The variable keeps automake from dropping its own rule.)
gbees_plugin_new_object = %D%/command/gbees_plugin-plugin_new.$(OBJEXT)
$(gbees_plugin_new_object): plugins/template.c

# All of gbees-plot but its main(), for its tests, too.
noinst_LTLIBRARIES += %D%/libplot.la
%C%_libplot_la_CPPFLAGS = $(AM_CPPFLAGS) $(CAIRO_CFLAGS) $(GIF_CPPFLAGS)
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
	%D%/plot/gif.c \
	%D%/plot/gif.h \
	%D%/plot/isosurface.c \
	%D%/plot/isosurface.h \
	%D%/plot/joint.c \
	%D%/plot/marginal.c \
	%D%/plot/note.c \
	%D%/plot/other.c \
	%D%/plot/other.h \
	%D%/plot/palette.c \
	%D%/plot/palette.h \
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
	%D%/python/gbees/_filter.py \
	%D%/python/gbees/_library.py \
	%D%/python/gbees/_measurements.py \
	%D%/python/gbees/_model.py \
	%D%/python/gbees/_plot.py \
	%D%/python/gbees/_record.py \
	%D%/python/gbees/_results.py \
	%D%/python/gbees/_run.py \
	%D%/python/gbees/_solver.py \
	%D%/python/gbees/_sympy.py \
	%D%/python/gbees/dapper.py \
	%D%/python/gbees/py.typed \
	%D%/python/pyproject.toml \
	%D%/python/gbees_build.py \
	%D%/python/notebooks/lorenz63.ipynb \
	%D%/python/notebooks/orbit.ipynb \
	%D%/python/notebooks/own_model.ipynb
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
