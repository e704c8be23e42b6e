# GBEES_CUDA: --with-cuda=yes|no|DIR.  Only the CUDA backend uses what is found.  Its headers are enough to build: the
# driver, NVRTC and nvJitLink are opened when a program runs.
# Sets CUDA_CPPFLAGS, CUDA_DIR, the conditional HAVE_CUDA and, for the summary, cuda_summary.
AC_DEFUN([GBEES_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=yes|no|DIR], [the CUDA toolkit (default: used if found)])], [], [with_cuda=auto])
  CUDA_DIR= CUDA_CPPFLAGS= have_cuda=no
  AS_CASE([$with_cuda],
    [no], [gbees_cuda_dirs=],
    [yes|auto], [gbees_cuda_dirs="$CUDA_HOME $CUDA_PATH /usr/local/cuda /opt/cuda /usr"],
    [/*], [gbees_cuda_dirs=$with_cuda],
    [gbees_cuda_dirs=`pwd`/$with_cuda])

  for gbees_dir in $gbees_cuda_dirs; do
    AC_MSG_CHECKING([for CUDA's headers in $gbees_dir])
    gbees_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS -I$gbees_dir/include"
    AS_IF([test -f "$gbees_dir/include/nvrtc.h"],
      [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <cuda.h>
#include <nvrtc.h>
#include <nvJitLink.h>
#if CUDA_VERSION < 12000
#error "too old"
#endif]], [])],
        [have_cuda=yes
         CUDA_DIR=$gbees_dir
         CUDA_CPPFLAGS="-I$gbees_dir/include"])])
    CPPFLAGS=$gbees_save_CPPFLAGS
    AC_MSG_RESULT([$have_cuda])
    test "$have_cuda" = no || break
  done

  AS_CASE([$with_cuda:$have_cuda],
    [no:*], [cuda_summary="no (as asked)"],
    [*:yes], [cuda_summary="yes ($CUDA_DIR)"],
    [auto:no], [cuda_summary="no (not found; --with-cuda=DIR says where it is)"],
    [AC_MSG_ERROR([--with-cuda=$with_cuda: cuda.h, nvrtc.h and nvJitLink.h of CUDA 12 or later were not found in: $gbees_cuda_dirs])])
  AC_SUBST([CUDA_DIR])
  AC_SUBST([CUDA_CPPFLAGS])
  AM_CONDITIONAL([HAVE_CUDA], [test "$have_cuda" = yes])
])
