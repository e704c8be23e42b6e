# GBEES_CUDA: --with-cuda=yes|no|DIR.  Only the CUDA backend uses what is found; no GPU or driver is needed to build.
# Sets CUDA_CPPFLAGS, CUDA_LIBS, CUDA_DIR, the conditional HAVE_CUDA and, for the summary, cuda_summary.
AC_DEFUN([GBEES_CUDA], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=yes|no|DIR], [the CUDA toolkit (default: used if found)])], [], [with_cuda=auto])
  CUDA_DIR= CUDA_CPPFLAGS= CUDA_LIBS= have_cuda=no
  AS_CASE([$with_cuda],
    [no], [gbees_cuda_dirs=],
    [yes|auto], [gbees_cuda_dirs="$CUDA_HOME $CUDA_PATH /usr/local/cuda /opt/cuda /usr"],
    [/*], [gbees_cuda_dirs=$with_cuda],
    [gbees_cuda_dirs=`pwd`/$with_cuda])

  for gbees_dir in $gbees_cuda_dirs; do
    AC_MSG_CHECKING([for CUDA in $gbees_dir])
    for gbees_lib in lib64 lib lib/x86_64-linux-gnu targets/x86_64-linux/lib targets/sbsa-linux/lib; do
      test "$have_cuda" = no && test -f "$gbees_dir/include/nvrtc.h" || continue
      gbees_save_CPPFLAGS=$CPPFLAGS gbees_save_LIBS=$LIBS
      CPPFLAGS="$CPPFLAGS -I$gbees_dir/include"
      LIBS="-L$gbees_dir/$gbees_lib -lnvrtc $LIBS"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cuda.h>
#include <nvrtc.h>
#include <nvJitLink.h>]], [[int major, minor; return nvrtcVersion(&major, &minor);]])],
        [have_cuda=yes
         CUDA_DIR=$gbees_dir
         CUDA_CPPFLAGS="-I$gbees_dir/include"
         CUDA_LIBS="-L$gbees_dir/$gbees_lib -lnvrtc -lnvJitLink"])
      CPPFLAGS=$gbees_save_CPPFLAGS LIBS=$gbees_save_LIBS
    done
    AC_MSG_RESULT([$have_cuda])
    test "$have_cuda" = no || break
  done

  AS_CASE([$with_cuda:$have_cuda],
    [no:*], [cuda_summary="no (as asked)"],
    [*:yes], [cuda_summary="yes ($CUDA_DIR)"],
    [auto:no], [cuda_summary="no (not found; --with-cuda=DIR says where it is)"],
    [AC_MSG_ERROR([--with-cuda=$with_cuda: cuda.h, nvrtc.h, nvJitLink.h and libnvrtc were not found in: $gbees_cuda_dirs])])
  AC_SUBST([CUDA_DIR])
  AC_SUBST([CUDA_CPPFLAGS])
  AC_SUBST([CUDA_LIBS])
  AM_CONDITIONAL([HAVE_CUDA], [test "$have_cuda" = yes])
])
