# What both engines' hosts have in common; linked where a module or a test is, never into another library.
noinst_LTLIBRARIES += %D%/libcommon.la
%C%_libcommon_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_libcommon_la_LDFLAGS =
%C%_libcommon_la_SOURCES = \
	%D%/common/bound.c \
	%D%/common/bound.h \
	%D%/common/budget.c \
	%D%/common/budget.h \
	%D%/common/failure.c \
	%D%/common/failure.h \
	%D%/common/gaussian.c \
	%D%/common/gaussian.h \
	%D%/common/initial.c \
	%D%/common/initial.h \
	%D%/common/initial_bricks.c \
	%D%/common/initial_bricks.h \
	%D%/common/measurement.c \
	%D%/common/measurement.h

# A backend is a module of its own: nothing else knows it.
backend_LTLIBRARIES += %D%/gbees_cpu.la
%C%_gbees_cpu_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_gbees_cpu_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_gbees_cpu_la_LIBADD = %D%/libcommon.la $(cpu_kernels) libgbees.la $(LAPACKE_LIBS)
%C%_gbees_cpu_la_SOURCES = \
	%D%/cpu/backend.c \
	%D%/cpu/budget.c \
	%D%/cpu/coupling.c \
	%D%/cpu/diffusion.c \
	%D%/cpu/engine.h \
	%D%/cpu/grid.c \
	%D%/cpu/grid.h \
	%D%/cpu/grid_add.c \
	%D%/cpu/grid_compact.c \
	%D%/cpu/grid_private.h \
	%D%/cpu/growth.c \
	%D%/cpu/isa.c \
	%D%/cpu/isa.h \
	%D%/cpu/pages.c \
	%D%/cpu/pages.h \
	%D%/cpu/paper.c \
	%D%/cpu/prune.c \
	%D%/cpu/setup.c \
	%D%/cpu/statistics.c \
	%D%/cpu/step.c \
	%D%/cpu/sweep.c \
	%D%/cpu/team.h \
	%D%/cpu/update.c

# The kernels, once for each instruction set; gbees_cpu.la picks one when it starts. The first is what the compiler
# takes the machine to have, without options: on 64-bit ARM that is NEON.
cpu_kernels = %D%/libcpu_base.la
cpu_kernel_sources = \
	%D%/cpu/kernel.c \
	%D%/cpu/kernel.h \
	%D%/cpu/kernel_column.h \
	%D%/cpu/kernel_ctu.h \
	%D%/cpu/kernel_ctu_block.h \
	%D%/cpu/kernel_ctu_column.h \
	%D%/cpu/kernel_ctu_whole.h \
	%D%/cpu/kernel_diffusion.h \
	%D%/cpu/kernel_drift.h \
	%D%/cpu/kernel_faces.h \
	%D%/cpu/kernel_far.h \
	%D%/cpu/kernel_inspect.h \
	%D%/cpu/kernel_isa.h \
	%D%/cpu/kernel_lanes.h \
	%D%/cpu/kernel_log.h \
	%D%/cpu/kernel_mask.h \
	%D%/cpu/kernel_moments.c \
	%D%/cpu/kernel_moments.h \
	%D%/cpu/kernel_pencil.h \
	%D%/cpu/kernel_planes.h \
	%D%/cpu/kernel_precision.h \
	%D%/cpu/kernel_real.h \
	%D%/cpu/kernel_split.h \
	%D%/cpu/kernel_stream.h \
	%D%/cpu/kernel_sweep.h \
	%D%/cpu/noise.h
cpu_kernel_cflags = -fno-math-errno -fno-trapping-math $(OPENMP_CFLAGS)

noinst_LTLIBRARIES += %D%/libcpu_base.la
%C%_libcpu_base_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=$(CPU_BASE_ISA)
%C%_libcpu_base_la_CFLAGS = $(AM_CFLAGS) $(cpu_kernel_cflags)
%C%_libcpu_base_la_LDFLAGS =

if X86_64
%C%_gbees_cpu_la_CPPFLAGS += -DGBEES_X86
cpu_kernels += %D%/libcpu_avx2.la %D%/libcpu_avx512.la

noinst_LTLIBRARIES += %D%/libcpu_avx2.la
%C%_libcpu_avx2_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=avx2
%C%_libcpu_avx2_la_CFLAGS = $(AM_CFLAGS) $(cpu_kernel_cflags) $(AVX2_CFLAGS)
%C%_libcpu_avx2_la_LDFLAGS =

noinst_LTLIBRARIES += %D%/libcpu_avx512.la
%C%_libcpu_avx512_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=avx512
%C%_libcpu_avx512_la_CFLAGS = $(AM_CFLAGS) $(cpu_kernel_cflags) $(AVX512_CFLAGS)
%C%_libcpu_avx512_la_LDFLAGS =
endif

# The engine's texts for NVRTC: embedded in the module, and distributed whether or not that is built.
cuda_texts = \
	%D%/cuda/device/engine.cu \
	%D%/cuda/device/equations.h \
	%D%/cuda/device/model.h \
	%D%/cuda/device/standard.h \
	%D%/cuda/device/advance.h \
	%D%/cuda/device/book.h \
	%D%/cuda/device/bound.h \
	%D%/cuda/device/frames.h \
	%D%/cuda/device/cluster.h \
	%D%/cuda/device/cells.h \
	%D%/cuda/device/ctu.h \
	%D%/cuda/device/ctu_lines.h \
	%D%/cuda/device/diffusion.h \
	%D%/cuda/device/grow.h \
	%D%/cuda/device/inspect.h \
	%D%/cuda/device/marginals.h \
	%D%/cuda/device/noise.h \
	%D%/cuda/device/pencil.h \
	%D%/cuda/device/platform.h \
	%D%/cuda/device/prune.h \
	%D%/cuda/device/shrink.h \
	%D%/cuda/device/small.h \
	%D%/cuda/device/small_grow.h \
	%D%/cuda/device/small_prune.h \
	%D%/cuda/device/small_steps.h \
	%D%/cuda/device/state.h \
	%D%/cuda/device/statistics.h \
	%D%/cuda/device/sweep.h \
	%D%/cuda/device/table.h \
	%D%/cuda/device/update.h
cuda_numerics = \
	core/numerics/brick.h \
	core/numerics/buzhash.h \
	core/numerics/ctu.h \
	core/numerics/diffusion.h \
	core/numerics/fixed.h \
	core/numerics/frame.h \
	core/numerics/fused.h \
	core/numerics/likelihood.h \
	core/numerics/qualifier.h \
	core/numerics/split.h \
	core/numerics/split7.h
EXTRA_DIST += $(cuda_texts)

if HAVE_CUDA
backend_LTLIBRARIES += %D%/gbees_cuda.la
%C%_gbees_cuda_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D% $(CUDA_CPPFLAGS)
%C%_gbees_cuda_la_LIBADD = %D%/libcuda_engine.la %D%/libcuda_runtime.la %D%/libcommon.la libgbees.la $(LAPACKE_LIBS)
%C%_gbees_cuda_la_SOURCES = \
	%D%/cuda/backend.c

# The engine's half on the host; the tests have it drive kernels on threads.
noinst_LTLIBRARIES += %D%/libcuda_engine.la
%C%_libcuda_engine_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D% $(CUDA_CPPFLAGS)
%C%_libcuda_engine_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_libcuda_engine_la_LDFLAGS =
%C%_libcuda_engine_la_SOURCES = \
	%D%/cuda/advance.c \
	%D%/cuda/capture.c \
	%D%/cuda/engine.h \
	%D%/cuda/launch.c \
	%D%/cuda/marginals.c \
	%D%/cuda/memory.c \
	%D%/cuda/memory.h \
	%D%/cuda/packed.c \
	%D%/cuda/packed.h \
	%D%/cuda/room.c \
	%D%/cuda/setup.c \
	%D%/cuda/statistics.c \
	%D%/cuda/update.c

# Everything between texts and a loaded kernel; apart from the rest for its tests.
noinst_LTLIBRARIES += %D%/libcuda_runtime.la
%C%_libcuda_runtime_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir) -I$(srcdir)/%D% $(CUDA_CPPFLAGS) \
	-DGBEES_CUDA_DIR='"$(CUDA_DIR)"'
%C%_libcuda_runtime_la_LDFLAGS =
%C%_libcuda_runtime_la_LIBADD = -lpthread
%C%_libcuda_runtime_la_SOURCES = \
	%D%/cuda/api.c \
	%D%/cuda/api.h \
	%D%/cuda/arch.c \
	%D%/cuda/arch.h \
	%D%/cuda/build.c \
	%D%/cuda/build.h \
	%D%/cuda/cache.c \
	%D%/cuda/cache.h \
	%D%/cuda/cache_folder.c \
	%D%/cuda/cache_folder.h \
	%D%/cuda/compile.c \
	%D%/cuda/compile.h \
	%D%/cuda/compiler_note.c \
	%D%/cuda/compiler_note.h \
	%D%/cuda/diagnose.c \
	%D%/cuda/diagnose.h \
	%D%/cuda/library.c \
	%D%/cuda/library.h \
	%D%/cuda/link.c \
	%D%/cuda/link.h \
	%D%/cuda/offline.c \
	%D%/cuda/offline.h \
	%D%/cuda/program.c \
	%D%/cuda/program.h \
	%D%/cuda/report.c \
	%D%/cuda/report.h \
	%D%/cuda/spec.c \
	%D%/cuda/spec.h \
	%D%/cuda/texts.c \
	%D%/cuda/texts.h
# No compiler tells make of what an assembler includes. (The variable keeps automake from thinking that its own rule is
# replaced.)
cuda_texts_object = %D%/cuda/libcuda_runtime_la-texts.lo
$(cuda_texts_object): $(cuda_texts) $(cuda_numerics)
endif
