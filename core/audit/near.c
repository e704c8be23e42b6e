/* near.c - orders samples by a k-d tree: see near.h. */
#include "near.h"
#include <math.h>
#include <stdlib.h>

enum { FEW = 2 }; /* samples of a leaf */

/* The order of places; samples at the same place are in the order of their numbers. */
static int compare(const void *a, const void *b)
{
    const gbees_near_sample *left = a, *right = b;

    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

/* The axis along which the samples extend over most cells. */
static int longest_axis(const gbees_montecarlo *montecarlo, size_t count, const gbees_near_sample *list)
{
    const gbees_problem *problem = montecarlo->problem;
    double longest = -1;
    int axis = 0;

    for (int j = 0; j < problem->dimension; j++) {
        const double *x = montecarlo->x[j];
        double least = INFINITY, most = -INFINITY;

        for (size_t i = 0; i < count; i++) {
            least = fmin(least, x[list[i].number]);
            most = fmax(most, x[list[i].number]);
        }
        if ((most - least) / problem->width[j] > longest) {
            longest = (most - least) / problem->width[j];
            axis = j;
        }
    }
    return axis;
}

void gbees_near_order(const gbees_montecarlo *montecarlo, size_t count, gbees_near_sample *list)
{
    if (count <= FEW)
        return;
    const double *x = montecarlo->x[longest_axis(montecarlo, count, list)];

    for (size_t i = 0; i < count; i++)
        list[i].place = x[list[i].number];
    qsort(list, count, sizeof *list, compare);
    gbees_near_order(montecarlo, count / 2, list);
    gbees_near_order(montecarlo, count - count / 2, list + count / 2);
}
