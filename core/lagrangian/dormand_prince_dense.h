/* dormand_prince_dense.h - the point anywhere within a step of dormand_prince.h, of order 7, with the coefficients of
 * Hairer's DOP853 (E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., 1993,
 * section II.6): it takes the slope at the step's end, number 12, and three more, numbers 13 ... 15. */
#ifndef GBEES_LAGRANGIAN_DORMAND_PRINCE_DENSE_H
#define GBEES_LAGRANGIAN_DORMAND_PRINCE_DENSE_H

#include "numerics/qualifier.h"

enum {
    GBEES_DORMAND_PRINCE_SLOPES = 16, /* with those of the step */
    GBEES_DORMAND_PRINCE_TERMS = 7    /* of the polynomial */
};

/* Where slope number `stage` >= 12 is evaluated, in parts of the step. */
GBEES_NUM double gbees_dormand_prince_dense_node(int stage)
{
    switch (stage) {
    case 13:
        return 0.1;
    case 14:
        return 0.2;
    case 15:
        return 0.777777777777777777777777777778;
    default:
        return 1;
    }
}

/* The mean slope on the way to where slope number `stage` >= 13 is evaluated; k[l * stride] is slope number l. */
GBEES_NUM double gbees_dormand_prince_dense_slope(int stage, const double *k, int stride)
{
    switch (stage) {
    case 13:
        return 0.056167502283047954 * k[0] + 0.25350021021662483 * k[6 * stride] -
               0.2462390374708025 * k[7 * stride] - 0.12419142326381637 * k[8 * stride] +
               0.15329179827876568 * k[9 * stride] + 0.00820105229563469 * k[10 * stride] +
               0.007567897660545699 * k[11 * stride] - 0.008298 * k[12 * stride];
    case 14:
        return 0.03183464816350214 * k[0] + 0.028300909672366776 * k[5 * stride] +
               0.053541988307438566 * k[6 * stride] - 0.05492374857139099 * k[7 * stride] -
               0.00010834732869724932 * k[10 * stride] + 0.0003825710908356584 * k[11 * stride] -
               0.00034046500868740456 * k[12 * stride] + 0.1413124436746325 * k[13 * stride];
    default:
        return -0.42889630158379194 * k[0] - 4.697621415361164 * k[5 * stride] + 7.683421196062599 * k[6 * stride] +
               4.06898981839711 * k[7 * stride] + 0.3567271874552811 * k[8 * stride] -
               0.0013990241651590145 * k[12 * stride] + 2.9475147891527724 * k[13 * stride] -
               9.15095847217987 * k[14 * stride];
    }
}

/* Sets term[] of one state, which goes from `x` to `next` in a step of a length; k[16] are its slopes. */
GBEES_NUM void gbees_dormand_prince_dense(double x, double next, double length, const double *k, int stride,
                                          double *term)
{
    term[0] = next - x;
    term[1] = length * k[0] - term[0];
    term[2] = 2 * term[0] - length * (k[12 * stride] + k[0]);
    term[3] = length * (-8.428938276109013 * k[0] + 0.5667149535193777 * k[5 * stride] -
                        3.0689499459498917 * k[6 * stride] + 2.38466765651207 * k[7 * stride] +
                        2.117034582445028 * k[8 * stride] - 0.871391583777973 * k[9 * stride] +
                        2.2404374302607883 * k[10 * stride] + 0.6315787787694688 * k[11 * stride] -
                        0.08899033645133331 * k[12 * stride] + 18.148505520854727 * k[13 * stride] -
                        9.194632392478356 * k[14 * stride] - 4.436036387594894 * k[15 * stride]);
    term[4] = length * (10.427508642579134 * k[0] + 242.28349177525817 * k[5 * stride] +
                        165.20045171727028 * k[6 * stride] - 374.5467547226902 * k[7 * stride] -
                        22.113666853125306 * k[8 * stride] + 7.733432668472264 * k[9 * stride] -
                        30.674084731089398 * k[10 * stride] - 9.332130526430229 * k[11 * stride] +
                        15.697238121770845 * k[12 * stride] - 31.139403219565178 * k[13 * stride] -
                        9.35292435884448 * k[14 * stride] + 35.81684148639408 * k[15 * stride]);
    term[5] = length * (19.985053242002433 * k[0] - 387.0373087493518 * k[5 * stride] -
                        189.17813819516758 * k[6 * stride] + 527.8081592054236 * k[7 * stride] -
                        11.57390253995963 * k[8 * stride] + 6.8812326946963 * k[9 * stride] -
                        1.0006050966910838 * k[10 * stride] + 0.7777137798053443 * k[11 * stride] -
                        2.778205752353508 * k[12 * stride] - 60.19669523126412 * k[13 * stride] +
                        84.32040550667716 * k[14 * stride] + 11.99229113618279 * k[15 * stride]);
    term[6] = length * (-25.69393346270375 * k[0] - 154.18974869023643 * k[5 * stride] -
                        231.5293791760455 * k[6 * stride] + 357.6391179106141 * k[7 * stride] +
                        93.40532418362432 * k[8 * stride] - 37.45832313645163 * k[9 * stride] +
                        104.0996495089623 * k[10 * stride] + 29.8402934266605 * k[11 * stride] -
                        43.53345659001114 * k[12 * stride] + 96.32455395918828 * k[13 * stride] -
                        39.17726167561544 * k[14 * stride] - 149.72683625798564 * k[15 * stride]);
}

/* Where the state is after a part of the step, 0 to 1. */
GBEES_NUM double gbees_dormand_prince_dense_at(double x, const double *term, double part)
{
    const double rest = 1 - part;

    return x +
           part *
               (term[0] +
                rest * (term[1] +
                        part * (term[2] + rest * (term[3] + part * (term[4] + rest * (term[5] + part * term[6]))))));
}

#endif
