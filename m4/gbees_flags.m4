# GBEES_CHECK_CFLAG(FLAGS, IF-ACCEPTED): asks the compiler; clang only warns of a flag it does not know.
AC_DEFUN([GBEES_CHECK_CFLAG], [
  AC_MSG_CHECKING([whether $CC accepts $1])
  gbees_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [gbees_flag=yes], [gbees_flag=no])
  CFLAGS=$gbees_save_CFLAGS
  AC_MSG_RESULT([$gbees_flag])
  AS_IF([test "$gbees_flag" = yes], [$2])
])
