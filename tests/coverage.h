/* coverage.h - included into every file by tests/coverage: a child process that ends by _exit() writes its counts
 * first, which exit() would do by itself. */
#ifndef TESTS_COVERAGE_H
#define TESTS_COVERAGE_H
#include <unistd.h>

void __gcov_dump(void);

__attribute__((noreturn)) static inline void end_with_counts(int status)
{
    __gcov_dump();
    _exit(status);
}

#define _exit end_with_counts

#endif
