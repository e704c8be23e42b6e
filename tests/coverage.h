/* coverage.h - included into every file by tests/coverage: a child process that ends by _exit() writes its counts
 * first, as exit() does by itself. Includes nothing: some files have names of their own that the system's headers
 * have, too. */
#ifndef TESTS_COVERAGE_H
#define TESTS_COVERAGE_H

__attribute__((noreturn)) void _exit(int status);
void __gcov_dump(void);

__attribute__((noreturn, unused)) static inline void end_with_counts(int status)
{
    __gcov_dump();
    _exit(status);
}

#define _exit end_with_counts

#endif
