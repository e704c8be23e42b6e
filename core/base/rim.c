/* rim.c - see rim.h. */
#include "rim.h"
#include <math.h>

/* The relative error of a Gaussian's variances if all beyond exp(-tail) of its peak is left out, or somewhat more:
 * the probability of that, Q(n / 2, tail), times its mean square over n. */
static double error_beyond(int n, double tail)
{
    double order = n % 2 ? 0.5 : 1, q = n % 2 ? erfc(sqrt(tail)) : exp(-tail);

    for (; order < 0.5 * n; order++)
        q += exp(order * log(tail) - tail - lgamma(order + 1));
    return q * fmax(2 * tail / n, 1);
}

double gbees_rim_tail(int n, double most)
{
    double tail = 4;

    while (tail < 60 && error_beyond(n, tail) > most)
        tail += 0.25;
    return tail;
}

double gbees_rim_tail_for(int n, double accuracy, int is_measured)
{
    /* Measurements may make the part larger, and it may lie where the flow then has little else. */
    return gbees_rim_tail(n, (is_measured ? 0.001 : 0.1) * accuracy);
}
