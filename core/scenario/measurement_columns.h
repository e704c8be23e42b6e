/* measurement_columns.h - interprets the columns of a table of measurements (measurement_table.h). */
#ifndef GBEES_SCENARIO_MEASUREMENT_COLUMNS_H
#define GBEES_SCENARIO_MEASUREMENT_COLUMNS_H

#include "table.h"
#include "yaml_tree.h"
#include <gbees/model.h>

/* The columns of a function's components; the table's number of columns stands for none. */
typedef struct gbees_function_columns {
    size_t value[GBEES_MAX_DIM], sigma[GBEES_MAX_DIM];
    size_t covariance[GBEES_MAX_DIM][GBEES_MAX_DIM]; /* symmetric */
    int has_noise;                                   /* whether there is a sigma or a variance */
} gbees_function_columns;

typedef struct gbees_columns {
    const gbees_model *model;
    size_t time, function;
    int only;                          /* the function of all rows; -1: each row has its own, or several */
    gbees_function_columns *functions; /* [model->measurement_count] */
    unsigned char *is_value;           /* [columns] */
} gbees_columns;

/* `function`: of all rows, or NULL. An unknown column is an error. */
int gbees_columns_create(const gbees_table *table, const gbees_model *model, const gbees_node *function,
                         gbees_columns **columns, gbees_error *error);
void gbees_columns_destroy(gbees_columns *columns);

/* Whether a column is the value of a component of the function. */
int gbees_columns_is_of(const gbees_columns *columns, size_t column, int function);
/* The function that a row names. */
int gbees_columns_row_function(const gbees_columns *columns, const gbees_table *table, size_t row, int *function,
                               gbees_error *error);

enum { GBEES_COMPONENT_TEXT = 32 };
/* The name of a function's component: the function's if that has one only and no name for it, else y1, y2, ... */
const char *gbees_component_name(const gbees_measurement_function *function, int component,
                                 char text[GBEES_COMPONENT_TEXT]);

#endif
