/* dormand_prince.h - the embedded pair of explicit Runge-Kutta methods of Dormand and Prince, of order 8 with errors
 * by orders 5 and 3, with the coefficients and the estimate of errors of Hairer's DOP853 (E. Hairer, S. P. Norsett,
 * G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., 1993, section II.10).
 *
 * A step of length h from y has the slopes k_s = f(t + node_s h, y + h * sum over l < s of a_sl k_l), s = 0 ... 11,
 * and ends at y + h * sum of b_l k_l. The slope there is no part of the step: that of the next one's start is
 * evaluated then, so that a step has 12 evaluations, as many as if it were kept. */
#ifndef GBEES_NUMERICS_DORMAND_PRINCE_H
#define GBEES_NUMERICS_DORMAND_PRINCE_H

#include "qualifier.h"
#include <math.h>

enum { GBEES_DORMAND_PRINCE_STAGES = 12 };

/* Where slope number `stage` is evaluated, in parts of the step. */
GBEES_NUM double gbees_dormand_prince_node(int stage)
{
    switch (stage) {
    case 1:
        return 0.0526001519587677318785587544488;
    case 2:
        return 0.0789002279381515978178381316732;
    case 3:
        return 0.118350341907227396726757197510;
    case 4:
        return 0.281649658092772603273242802490;
    case 5:
        return 0.333333333333333333333333333333;
    case 6:
        return 0.25;
    case 7:
        return 0.307692307692307692307692307692;
    case 8:
        return 0.651282051282051282051282051282;
    case 9:
        return 0.6;
    case 10:
        return 0.857142857142857142857142857142;
    case 11:
        return 1.0;
    default:
        return 0;
    }
}

/* The mean slope on the way to where slope number `stage` >= 1 is evaluated; k[l * stride] is slope number l. */
GBEES_NUM double gbees_dormand_prince_slope(int stage, const double *k, int stride)
{
    switch (stage) {
    case 1:
        return 0.0526001519587677318785587544488 * k[0];
    case 2:
        return 0.0197250569845378994544595329183 * k[0] + 0.0591751709536136983633785987549 * k[stride];
    case 3:
        return 0.0295875854768068491816892993775 * k[0] + 0.0887627564304205475450678981324 * k[2 * stride];
    case 4:
        return 0.241365134159266685502369798665 * k[0] - 0.884549479328286085344864962717 * k[2 * stride] +
               0.924834003261792003115737966543 * k[3 * stride];
    case 5:
        return 0.037037037037037037037037037037 * k[0] + 0.170828608729473871279604482173 * k[3 * stride] +
               0.125467687566822425016691814123 * k[4 * stride];
    case 6:
        return 0.037109375 * k[0] + 0.170252211019544039314978060272 * k[3 * stride] +
               0.0602165389804559606850219397283 * k[4 * stride] - 0.017578125 * k[5 * stride];
    case 7:
        return 0.0370920001185047927108779319836 * k[0] + 0.170383925712239993810214054705 * k[3 * stride] +
               0.107262030446373284651809199168 * k[4 * stride] - 0.0153194377486244017527936158236 * k[5 * stride] +
               0.00827378916381402288758473766002 * k[6 * stride];
    case 8:
        return 0.624110958716075717114429577812 * k[0] - 3.36089262944694129406857109825 * k[3 * stride] -
               0.868219346841726006818189891453 * k[4 * stride] + 27.5920996994467083049415600797 * k[5 * stride] +
               20.1540675504778934086186788979 * k[6 * stride] - 43.4898841810699588477366255144 * k[7 * stride];
    case 9:
        return 0.477662536438264365890433908527 * k[0] - 2.48811461997166764192642586468 * k[3 * stride] -
               0.590290826836842996371446475743 * k[4 * stride] + 21.2300514481811942347288949897 * k[5 * stride] +
               15.2792336328824235832596922938 * k[6 * stride] - 33.2882109689848629194453265587 * k[7 * stride] -
               0.0203312017085086261358222928593 * k[8 * stride];
    case 10:
        return -0.93714243008598732571704021658 * k[0] + 5.18637242884406370830023853209 * k[3 * stride] +
               1.09143734899672957818500254654 * k[4 * stride] - 8.14978701074692612513997267357 * k[5 * stride] -
               18.5200656599969598641566180701 * k[6 * stride] + 22.7394870993505042818970056734 * k[7 * stride] +
               2.49360555267965238987089396762 * k[8 * stride] - 3.0467644718982195003823669022 * k[9 * stride];
    case 11:
        return 2.27331014751653820792359768449 * k[0] - 10.5344954667372501984066689879 * k[3 * stride] -
               2.00087205822486249909675718444 * k[4 * stride] - 17.9589318631187989172765950534 * k[5 * stride] +
               27.9488845294199600508499808837 * k[6 * stride] - 2.85899827713502369474065508674 * k[7 * stride] -
               8.87285693353062954433549289258 * k[8 * stride] + 12.3605671757943030647266201528 * k[9 * stride] +
               0.643392746015763530355970484046 * k[10 * stride];
    default:
        return 0;
    }
}

/* Whether slope number `stage` enters the step's end and its error: the others only lead to later ones. */
GBEES_NUM int gbees_dormand_prince_counts(int stage)
{
    return stage == 0 || stage >= 5;
}

/* The step's mean slope. */
GBEES_NUM double gbees_dormand_prince_mean(const double *k, int stride)
{
    return 0.0542937341165687622380535766363 * k[0] + 4.45031289275240888144113950566 * k[5 * stride] +
           1.89151789931450038304281599044 * k[6 * stride] - 5.8012039600105847814672114227 * k[7 * stride] +
           0.31116436695781989440891606237 * k[8 * stride] - 0.152160949662516078556178806805 * k[9 * stride] +
           0.201365400804030348374776537501 * k[10 * stride] + 0.0447106157277725905176885569043 * k[11 * stride];
}

/* The difference of the mean slope from one of order 5. */
GBEES_NUM double gbees_dormand_prince_fifth(const double *k, int stride)
{
    return 0.01312004499419488073250102996 * k[0] - 1.225156446376204440720569753 * k[5 * stride] -
           0.4957589496572501915214079952 * k[6 * stride] + 1.664377182454986536961530415 * k[7 * stride] -
           0.3503288487499736816886487290 * k[8 * stride] + 0.3341791187130174790297318841 * k[9 * stride] +
           0.08192320648511571246570742613 * k[10 * stride] - 0.02235530786388629525884427845 * k[11 * stride];
}

/* The difference of the mean slope from one of order 3. */
GBEES_NUM double gbees_dormand_prince_third(const double *k, int stride, double mean)
{
    return mean - (0.244094488188976377952755905512 * k[0] + 0.733846688281611857341361741547 * k[8 * stride] +
                   0.0220588235294117647058823529412 * k[11 * stride]);
}

/* The step's error, from what the two differences come to: Hairer's combination, which is of order 8 in the step.
 * What is not a number stays so. */
GBEES_NUM double gbees_dormand_prince_error(double fifth, double third)
{
    return fifth > 1e-100 ? fifth * fifth / sqrt(fifth * fifth + 0.01 * third * third) : fifth;
}

/* By how much the next step is longer, or this one is to be shorter, so that its error is somewhat below 1. */
GBEES_NUM double gbees_dormand_prince_factor(double error)
{
    const double factor = 0.9 / sqrt(sqrt(sqrt(error)));

    return factor > 0.2 ? factor < 6 ? factor : 6 : 0.2;
}

#endif
