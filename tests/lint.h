/* lint.h - what make check-lint's clang-tidy is told of functions that it does not look into: each returns the status
 * that it sets, an error is never GBEES_OK, and ranks that agree have no error if none of them had one. */
#ifndef TESTS_LINT_H
#define TESTS_LINT_H
#include "scenario/table.h"
#include "scenario/yaml_tree.h"
#include "solver/problem/builder.h"
#include <gbees/error.h>
#include <gbees/parallel.h>

#define gbees_error_set(error, status, ...) ((void)(gbees_error_set)(error, status, __VA_ARGS__), (int)(status))
#define builder_no_memory(b) ((void)(builder_no_memory)(b), (int)GBEES_ENOMEM)
#define gbees_node_error(...) ((void)(gbees_node_error)(__VA_ARGS__), (int)GBEES_EINPUT)
#define gbees_table_cell_error(...) ((void)(gbees_table_cell_error)(__VA_ARGS__), (int)GBEES_EINPUT)
#define gbees_table_column_error(...) ((void)(gbees_table_column_error)(__VA_ARGS__), (int)GBEES_EINPUT)

/* The status of another rank. */
int lint_other_status(void);
#define lint_agreed(status)                                                                                          \
    ({                                                                                                               \
        const int own_ = (status);                                                                                   \
        own_ ? own_ : lint_other_status();                                                                           \
    })
#define gbees_parallel_agree(parallel, status, error) ((void)(parallel), (void)(error), lint_agreed(status))
#ifdef LINT_RANKS
#include LINT_RANKS
#define ranks_agree(engine, status, error) ((void)(engine), (void)(error), lint_agreed(status))
#endif

#endif
