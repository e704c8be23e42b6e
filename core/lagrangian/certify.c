/* certify.c - how far the sums over a lattice may be off: see engine.h. */
#include "engine.h"
#include <gbees/record.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gbees_lagrangian_certify(gbees_engine *engine, gbees_certificate *certificate, gbees_error *error)
{
    gbees_sums a, b;
    int status = gbees_engine_sums(engine, 0, &a, error);
    const int n = engine->problem->dimension;
    double m[2][8], c[2][64], e[64], o[64], me[2][8], ce[2][64];
    if (!status) status = gbees_engine_sums(engine, 1, &b, error);
    gbees_sums_moments(&a, a.total, m[0], c[0]); gbees_sums_moments(&b, b.total, m[1], c[1]);
    *certificate = (gbees_certificate){.points = (uint64_t)a.points, .estimate = NAN};
    double hm[8]={0}, hs[8]={0}, he=0;
    for (unsigned mask = 1; mask < 1u << n; mask++) {
        gbees_sums_halves(&a, mask, e, o);
        gbees_sums_moments(&a, e, me[0], ce[0]); gbees_sums_moments(&a, o, me[1], ce[1]);
        he = fmax(he, .5*fabs(log(e[0]/o[0])));
        for (int j=0;j<n;j++) { double s = sqrt(c[0][j*n+j]); hm[j]=fmax(hm[j], .5*fabs(me[0][j]-me[1][j])/s); hs[j]=fmax(hs[j], .5*fabs(sqrt(ce[0][j*n+j])-sqrt(ce[1][j*n+j]))/s);}
    }
    for (int j=0;j<n;j++) { double s = sqrt(c[0][j*n+j]); 
      certificate->mean[j] = (gbees_difference){fabs(m[0][j]-m[1][j])/s, 3*fabs(m[0][j]-m[1][j])/s};
      certificate->std[j] = (gbees_difference){fabs(sqrt(c[1][j*n+j])/s-1),3*fabs(sqrt(c[1][j*n+j])/s-1)}; }
    if (getenv("LAG")) { fprintf(stderr, "LAG %.9g %d %g %.12g %.12g %.3g", engine->past.now, engine->past.count, a.points, gbees_sums_log_mass(&a), gbees_sums_log_mass(&b), he);
    for (int j=0;j<n;j++) fprintf(stderr, " %.14g %.14g %.14g %.14g %.3g %.3g", m[0][j], m[1][j], sqrt(c[0][j*n+j]), sqrt(c[1][j*n+j]), hm[j], hs[j]);
    fprintf(stderr," %.3g\n", a.rim/a.total[0]); }
    gbees_sums_free(&a); gbees_sums_free(&b);
    return status;
}
