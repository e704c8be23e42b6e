# A backend is a module of its own: nothing else knows it.
backend_LTLIBRARIES += %D%/gbees_cpu.la
%C%_gbees_cpu_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_gbees_cpu_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_gbees_cpu_la_LIBADD = %D%/libcpu_generic.la libgbees.la $(LAPACKE_LIBS)
%C%_gbees_cpu_la_SOURCES = \
	%D%/cpu/backend.c \
	%D%/cpu/budget.c \
	%D%/cpu/coupling.c \
	%D%/cpu/engine.h \
	%D%/cpu/grid.c \
	%D%/cpu/grid.h \
	%D%/cpu/grid_compact.c \
	%D%/cpu/grid_private.h \
	%D%/cpu/growth.c \
	%D%/cpu/pages.c \
	%D%/cpu/pages.h \
	%D%/cpu/paper.c \
	%D%/cpu/prune.c \
	%D%/cpu/setup.c \
	%D%/cpu/statistics.c \
	%D%/cpu/step.c \
	%D%/cpu/update.c

# The kernels, once for each instruction set; gbees_cpu.la picks one when it is loaded.
cpu_kernel_sources = \
	%D%/cpu/kernel.c \
	%D%/cpu/kernel.h \
	%D%/cpu/kernel_far.h \
	%D%/cpu/kernel_inspect.h \
	%D%/cpu/kernel_mask.h \
	%D%/cpu/kernel_real.h \
	%D%/cpu/kernel_split.h \
	%D%/cpu/kernel_sweep.h
cpu_kernel_cflags = -fno-math-errno -fno-trapping-math $(OPENMP_CFLAGS)

noinst_LTLIBRARIES += %D%/libcpu_generic.la
%C%_libcpu_generic_la_SOURCES = $(cpu_kernel_sources)
%C%_libcpu_generic_la_CPPFLAGS = $(AM_CPPFLAGS) -DGBEES_ISA=generic
%C%_libcpu_generic_la_CFLAGS = $(AM_CFLAGS) $(cpu_kernel_cflags)
%C%_libcpu_generic_la_LDFLAGS =

if X86_64
%C%_gbees_cpu_la_CPPFLAGS += -DGBEES_X86
%C%_gbees_cpu_la_LIBADD += %D%/libcpu_avx2.la %D%/libcpu_avx512.la

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
