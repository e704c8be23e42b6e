# What both engines' hosts have in common; linked where a module or a test is, never into another library.
noinst_LTLIBRARIES += %D%/libcommon.la
%C%_libcommon_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_libcommon_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_libcommon_la_LDFLAGS =
%C%_libcommon_la_SOURCES = \
	%D%/common/bound.c \
	%D%/common/bound.h \
	%D%/common/budget.c \
	%D%/common/budget.h \
	%D%/common/circular.h \
	%D%/common/ends.h \
	%D%/common/failure.c \
	%D%/common/failure.h \
	%D%/common/frame.h \
	%D%/common/gaussian.c \
	%D%/common/gaussian.h \
	%D%/common/initial.c \
	%D%/common/initial.h \
	%D%/common/initial_bricks.c \
	%D%/common/initial_bricks.h \
	%D%/common/listed_bricks.c \
	%D%/common/listed_bricks.h \
	%D%/common/initial_estimate.c \
	%D%/common/initial_grid.c \
	%D%/common/initial_grid.h \
	%D%/common/measurement.c \
	%D%/common/measurement.h \
	%D%/common/portable.c \
	%D%/common/portable.h \
	%D%/common/totals.c \
	%D%/common/totals.h

# What surrounds a backend whose grid ranks share; it needs one, `shared_plain`.
noinst_LTLIBRARIES += %D%/libranks.la
%C%_libranks_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_libranks_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_libranks_la_LDFLAGS =
%C%_libranks_la_SOURCES = \
	%D%/common/ranks/cuts.c \
	%D%/common/ranks/partition.c \
	%D%/common/ranks/partition.h \
	%D%/common/ranks/ranks.c \
	%D%/common/ranks/ranks.h \
	%D%/common/ranks/requests.c \
	%D%/common/ranks/shared.c \
	%D%/common/ranks/shared.h \
	%D%/common/ranks/speed.c \
	%D%/common/ranks/speed.h

# A backend is a module of its own: nothing else knows it.
backend_LTLIBRARIES += %D%/gbees_cpu.la
%C%_gbees_cpu_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_gbees_cpu_la_CFLAGS = $(AM_CFLAGS) -fno-math-errno $(OPENMP_CFLAGS)
%C%_gbees_cpu_la_LIBADD = %D%/libranks.la %D%/libcommon.la $(cpu_kernels) libgbees.la $(LAPACKE_LIBS)
%C%_gbees_cpu_la_SOURCES = \
	%D%/cpu/engine/backend.c \
	%D%/cpu/engine/balance.c \
	%D%/cpu/engine/bricks.c \
	%D%/cpu/engine/budget.c \
	%D%/cpu/engine/density.c \
	%D%/cpu/engine/diffusion.c \
	%D%/cpu/engine/frame.c \
	%D%/cpu/engine/frame_points.c \
	%D%/cpu/engine/engine.h \
	%D%/cpu/engine/ghosts.c \
	%D%/cpu/engine/ranks.c \
	%D%/cpu/engine/ranks.h \
	%D%/cpu/engine/ranks_sums.c \
	%D%/cpu/engine/collect.c \
	%D%/cpu/grid/grid.c \
	%D%/cpu/grid/grid.h \
	%D%/cpu/grid/grid_add.c \
	%D%/cpu/grid/grid_compact.c \
	%D%/cpu/grid/grid_state.c \
	%D%/cpu/grid/grid_private.h \
	%D%/cpu/engine/growth.c \
	%D%/cpu/engine/likelihoods.c \
	%D%/cpu/engine/likelihoods.h \
	%D%/cpu/kernel/isa.c \
	%D%/cpu/kernel/isa.h \
	%D%/cpu/grid/pages.c \
	%D%/cpu/grid/pages.h \
	%D%/cpu/engine/prune.c \
	%D%/cpu/engine/setup.c \
	%D%/cpu/engine/state.c \
	%D%/cpu/engine/moments.c \
	%D%/cpu/engine/statistics.c \
	%D%/cpu/engine/step.c \
	%D%/cpu/engine/sweep.c \
	%D%/cpu/engine/targets.c \
	%D%/cpu/team.h \
	%D%/cpu/engine/update.c

EXTRA_DIST += %D%/common/README.md %D%/cpu/README.md %D%/cpu/engine/README.md %D%/cpu/grid/README.md \
	%D%/cpu/kernel/README.md %D%/mpi/README.md %D%/paper/README.md

# Mode paper and mode legacy.
backend_LTLIBRARIES += %D%/gbees_paper.la
%C%_gbees_paper_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_gbees_paper_la_LIBADD = %D%/libcommon.la libgbees.la $(LAPACKE_LIBS)
%C%_gbees_paper_la_SOURCES = \
	%D%/paper/backend.c \
	%D%/paper/density.c \
	%D%/paper/engine.h \
	%D%/paper/grid.c \
	%D%/paper/grid.h \
	%D%/paper/growth.c \
	%D%/paper/step.c

# Runs on several processes: nothing else is linked with MPI.
if HAVE_MPI
parallel_LTLIBRARIES += %D%/mpi/gbees_mpi.la
%C%_mpi_gbees_mpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_mpi_gbees_mpi_la_LIBADD = libgbees.la $(MPI_LIBS)
endif
%C%_mpi_gbees_mpi_la_SOURCES = %D%/mpi/communicator.c %D%/mpi/parts.h

# The kernels, once for each instruction set and precision; gbees_cpu.la picks an instruction set when it starts. The
# base is what the compiler takes the machine to have, without options: on 64-bit ARM that is NEON.
cpu_kernels = %D%/libcpu_base_f32.la %D%/libcpu_base_f64.la
cpu_kernel_sources = \
	%D%/cpu/kernel/kernel.c \
	%D%/cpu/kernel/kernel.h \
	%D%/cpu/kernel/brick_axis.h \
	%D%/cpu/kernel/cells.h \
	%D%/cpu/kernel/centre_velocity.h \
	%D%/cpu/kernel/frame_velocity.h \
	%D%/cpu/kernel/pencil_velocity.h \
	%D%/cpu/kernel/ctu.c \
	%D%/cpu/kernel/ctu.h \
	%D%/cpu/kernel/ctu_block.h \
	%D%/cpu/kernel/ctu_columns.h \
	%D%/cpu/kernel/ctu_fluxes.h \
	%D%/cpu/kernel/ctu_planes.h \
	%D%/cpu/kernel/cuts.h \
	%D%/cpu/kernel/diffusion.h \
	%D%/cpu/kernel/face_velocity.h \
	%D%/cpu/kernel/inspect.h \
	%D%/cpu/kernel/logarithm.h \
	%D%/cpu/kernel/moments.h \
	%D%/cpu/kernel/noise.h \
	%D%/cpu/kernel/pencil.h \
	%D%/cpu/kernel/ends.h \
	%D%/cpu/kernel/segment.h \
	%D%/cpu/kernel/split_column.h \
	%D%/cpu/kernel/split_faces.h \
	%D%/cpu/kernel/split_noise_faces.h \
	%D%/cpu/kernel/split_segment.h \
	%D%/cpu/kernel/split_stream.h \
	%D%/cpu/kernel/split_sweep.c \
	%D%/cpu/kernel/split_sweep.h \
	%D%/cpu/kernel/target.h \
	%D%/cpu/kernel/to_planes.h \
	%D%/cpu/kernel/vector.h
cpu_kernel_cflags = -fno-math-errno -fno-trapping-math $(OPENMP_CFLAGS)
# x86 processors without AVX2 are older than 2013.  Their kernels compile in 29 s at -O1, and in 49 s at -O2.
cpu_base_cflags = $(cpu_kernel_cflags)
if X86_64
cpu_base_cflags += -O1
endif

noinst_LTLIBRARIES += %D%/libcpu_base_f32.la
%C%_libcpu_base_f32_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_base_f32_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=$(CPU_BASE_ISA) -DGBEES_REAL_BITS=32
%C%_libcpu_base_f32_la_CFLAGS = $(AM_CFLAGS) $(cpu_base_cflags)
%C%_libcpu_base_f32_la_LDFLAGS =

noinst_LTLIBRARIES += %D%/libcpu_base_f64.la
%C%_libcpu_base_f64_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_base_f64_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=$(CPU_BASE_ISA) -DGBEES_REAL_BITS=64
%C%_libcpu_base_f64_la_CFLAGS = $(AM_CFLAGS) $(cpu_base_cflags)
%C%_libcpu_base_f64_la_LDFLAGS =

if X86_64
%C%_gbees_cpu_la_CPPFLAGS += -DGBEES_X86
cpu_kernels += %D%/libcpu_avx2_f32.la %D%/libcpu_avx2_f64.la %D%/libcpu_avx512_f32.la %D%/libcpu_avx512_f64.la

noinst_LTLIBRARIES += %D%/libcpu_avx2_f32.la
%C%_libcpu_avx2_f32_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_avx2_f32_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=avx2 -DGBEES_REAL_BITS=32
%C%_libcpu_avx2_f32_la_CFLAGS = $(AM_CFLAGS) $(cpu_kernel_cflags) $(AVX2_CFLAGS)
%C%_libcpu_avx2_f32_la_LDFLAGS =

noinst_LTLIBRARIES += %D%/libcpu_avx2_f64.la
%C%_libcpu_avx2_f64_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_avx2_f64_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=avx2 -DGBEES_REAL_BITS=64
%C%_libcpu_avx2_f64_la_CFLAGS = $(AM_CFLAGS) $(cpu_kernel_cflags) $(AVX2_CFLAGS)
%C%_libcpu_avx2_f64_la_LDFLAGS =

noinst_LTLIBRARIES += %D%/libcpu_avx512_f32.la
%C%_libcpu_avx512_f32_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_avx512_f32_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=avx512 -DGBEES_REAL_BITS=32
%C%_libcpu_avx512_f32_la_CFLAGS = $(AM_CFLAGS) $(cpu_kernel_cflags) $(AVX512_CFLAGS)
%C%_libcpu_avx512_f32_la_LDFLAGS =

noinst_LTLIBRARIES += %D%/libcpu_avx512_f64.la
%C%_libcpu_avx512_f64_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_avx512_f64_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=avx512 -DGBEES_REAL_BITS=64
%C%_libcpu_avx512_f64_la_CFLAGS = $(AM_CFLAGS) $(cpu_kernel_cflags) $(AVX512_CFLAGS)
%C%_libcpu_avx512_f64_la_LDFLAGS =
endif

# By themselves: with options of their own for an analysis (tests/sanitize).
cpu-kernels: $(cpu_kernels)
.PHONY: cpu-kernels

# The engine's texts for NVRTC: embedded in the module, and distributed whether or not that is built.
cuda_texts = \
	%D%/cuda/device/engine.cu \
	%D%/cuda/device/equations.h \
	%D%/cuda/device/model.h \
	%D%/cuda/device/standard.h \
	%D%/cuda/device/advance.h \
	%D%/cuda/device/advect.h \
	%D%/cuda/device/step_state.h \
	%D%/cuda/device/bound.h \
	%D%/cuda/device/ends.h \
	%D%/cuda/device/cells.h \
	%D%/cuda/device/frame.h \
	%D%/cuda/device/follow.h \
	%D%/cuda/device/integrate.h \
	%D%/cuda/device/cuts.h \
	%D%/cuda/device/ctu.h \
	%D%/cuda/device/ctu_lines.h \
	%D%/cuda/device/diffusion.h \
	%D%/cuda/device/grow.h \
	%D%/cuda/device/inspect.h \
	%D%/cuda/device/integration.h \
	%D%/cuda/device/kernels.h \
	%D%/cuda/device/marginals.h \
	%D%/cuda/device/noise.h \
	%D%/cuda/device/pencil.h \
	%D%/cuda/device/platform.h \
	%D%/cuda/device/prune.h \
	%D%/cuda/device/ranks.h \
	%D%/cuda/device/remap.h \
	%D%/cuda/device/remapping.h \
	%D%/cuda/device/shrink.h \
	%D%/cuda/device/state.h \
	%D%/cuda/device/stop.h \
	%D%/cuda/device/statistics.h \
	%D%/cuda/device/sweep.h \
	%D%/cuda/device/table.h \
	%D%/cuda/device/targets.h \
	%D%/cuda/device/update.h
# The contract with models, and the numerics: for the run-time compiler, too.
cuda_numerics = \
	include/gbees/model.h \
	include/gbees/model_equations.h \
	include/gbees/model_framed.h \
	core/numerics/adaptive.h \
	core/numerics/brick.h \
	core/numerics/buzhash.h \
	core/numerics/ctu.h \
	core/numerics/diffusion.h \
	core/numerics/dither.h \
	core/numerics/dormand_prince.h \
	core/numerics/downwind.h \
	core/numerics/fixed.h \
	core/numerics/fused.h \
	core/numerics/ledger.h \
	core/numerics/likelihood.h \
	core/numerics/neighbour.h \
	core/numerics/noise_factor.h \
	core/numerics/periods.h \
	core/numerics/table_value.h \
	core/numerics/philox.h \
	core/numerics/row.h \
	core/numerics/sample_steps.h \
	core/numerics/run_state.h \
	core/numerics/qualifier.h \
	core/numerics/split.h \
	core/numerics/split7.h \
	core/numerics/split_cuts.h \
	core/numerics/split_mass.h \
	core/numerics/split_noise.h \
	core/numerics/step.h \
	core/numerics/sweeps.h \
	core/numerics/work.h
EXTRA_DIST += $(cuda_texts) %D%/cuda/README.md %D%/cuda/compile/README.md %D%/cuda/device/README.md \
	%D%/cuda/driver/README.md %D%/cuda/engine/README.md

if HAVE_CUDA
backend_LTLIBRARIES += %D%/gbees_cuda.la
%C%_gbees_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%/cuda $(CUDA_CPPFLAGS)
%C%_gbees_cuda_la_LIBADD = %D%/libcuda_engine.la %D%/libcuda_runtime.la %D%/libranks.la %D%/libcommon.la libgbees.la $(LAPACKE_LIBS)
%C%_gbees_cuda_la_SOURCES = \
	%D%/cuda/engine/backend.c

# The engine's half on the host; the tests have it drive kernels on threads.
noinst_LTLIBRARIES += %D%/libcuda_engine.la
%C%_libcuda_engine_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%/cuda $(CUDA_CPPFLAGS)
%C%_libcuda_engine_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_libcuda_engine_la_LDFLAGS =
%C%_libcuda_engine_la_SOURCES = \
	%D%/cuda/driver/memory.c \
	%D%/cuda/driver/memory.h \
	%D%/cuda/engine/advance.c \
	%D%/cuda/engine/capture.c \
	%D%/cuda/engine/cells.c \
	%D%/cuda/engine/frame.c \
	%D%/cuda/engine/capture_memory.c \
	%D%/cuda/engine/capture_memory.h \
	%D%/cuda/engine/integrator.c \
	%D%/cuda/engine/integrator.h \
	%D%/cuda/engine/engine.h \
	%D%/cuda/engine/heap.c \
	%D%/cuda/engine/heap.h \
	%D%/cuda/engine/initial.c \
	%D%/cuda/engine/initial.h \
	%D%/cuda/engine/launch.c \
	%D%/cuda/engine/launch.h \
	%D%/cuda/engine/load.c \
	%D%/cuda/engine/load.h \
	%D%/cuda/engine/locate.c \
	%D%/cuda/engine/locate.h \
	%D%/cuda/engine/marginals.c \
	%D%/cuda/engine/nccl.c \
	%D%/cuda/engine/nccl.h \
	%D%/cuda/engine/packed.c \
	%D%/cuda/engine/packed.h \
	%D%/cuda/engine/remap.c \
	%D%/cuda/engine/ranks.c \
	%D%/cuda/engine/ranks.h \
	%D%/cuda/engine/ranks_ghosts.c \
	%D%/cuda/engine/ranks_requests.c \
	%D%/cuda/engine/ranks_move.c \
	%D%/cuda/engine/ranks_statistics.c \
	%D%/cuda/engine/ranks_update.c \
	%D%/cuda/engine/ranks_advect.c \
	%D%/cuda/engine/ranks_step.c \
	%D%/cuda/engine/ranks_split.c \
	%D%/cuda/engine/setup.c \
	%D%/cuda/engine/state.c \
	%D%/cuda/engine/statistics.c \
	%D%/cuda/engine/stop_error.c \
	%D%/cuda/engine/steer.c \
	%D%/cuda/engine/targets.c \
	%D%/cuda/engine/stop_error.h \
	%D%/cuda/engine/update.c

# Everything between texts and a loaded kernel; apart from the rest for its tests.
noinst_LTLIBRARIES += %D%/libcuda_runtime.la
%C%_libcuda_runtime_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) -I$(srcdir)/%D%/cuda $(CUDA_CPPFLAGS) \
	-DGBEES_CUDA_DIR='"$(CUDA_DIR)"'
%C%_libcuda_runtime_la_LDFLAGS =
%C%_libcuda_runtime_la_LIBADD = -lpthread
%C%_libcuda_runtime_la_SOURCES = \
	%D%/cuda/compile/build.c \
	%D%/cuda/compile/build.h \
	%D%/cuda/compile/cache.c \
	%D%/cuda/compile/cache.h \
	%D%/cuda/compile/cache_folder.c \
	%D%/cuda/compile/cache_folder.h \
	%D%/cuda/compile/compile.c \
	%D%/cuda/compile/compile.h \
	%D%/cuda/compile/compiler_note.c \
	%D%/cuda/compile/compiler_note.h \
	%D%/cuda/compile/diagnose.c \
	%D%/cuda/compile/diagnose.h \
	%D%/cuda/compile/kernel_table.c \
	%D%/cuda/compile/kernel_table.h \
	%D%/cuda/compile/link.c \
	%D%/cuda/compile/link.h \
	%D%/cuda/compile/offline.c \
	%D%/cuda/compile/offline.h \
	%D%/cuda/compile/program.c \
	%D%/cuda/compile/program.h \
	%D%/cuda/compile/report.c \
	%D%/cuda/compile/report.h \
	%D%/cuda/compile/shape.c \
	%D%/cuda/compile/shape.h \
	%D%/cuda/compile/spec.c \
	%D%/cuda/compile/spec.h \
	%D%/cuda/compile/texts.c \
	%D%/cuda/compile/texts.h \
	%D%/cuda/compile/toolchain.c \
	%D%/cuda/compile/toolchain.h \
	%D%/cuda/driver/api.c \
	%D%/cuda/driver/api.h \
	%D%/cuda/driver/arch.c \
	%D%/cuda/driver/arch.h \
	%D%/cuda/driver/library.c \
	%D%/cuda/driver/library.h
# No compiler tells make of what an assembler includes. (The variable keeps automake from thinking that its own rule is
# replaced.)
cuda_texts_object = %D%/cuda/compile/libcuda_runtime_la-texts.lo
$(cuda_texts_object): $(cuda_texts) $(cuda_numerics)
endif
