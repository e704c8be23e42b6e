/* gather.h - reads the records of a results folder one at a time, and keeps only the densities that figures show,
 * which are small where records may be large. */
#ifndef GBEES_PLOT_GATHER_H
#define GBEES_PLOT_GATHER_H

#include "isosurface.h"

enum { GBEES_SURFACES = 3, GBEES_OTHERS_MOST = 16, GBEES_OTHER_NAME = 160 };

/* Of the maximum density, from the outside in: exp(-k^2/2), k = 3, 2, 1, as in the paper's figures. */
extern const double gbees_surface_level[GBEES_SURFACES];

typedef struct gbees_shot {
    size_t place; /* in the results folder */
    int leg, number;
    double time;
    int certified;                                  /* as in gbees_snapshot */
    gbees_certificate certificate;                  /* of the record's error */
    gbees_density *marginal[GBEES_MAX_DIM];         /* 1-D, of every state */
    double mean[GBEES_MAX_DIM], std[GBEES_MAX_DIM]; /* of every state, as the record has them */
    size_t samples;               /* of the model, as in gbees_snapshot; 0: none are wanted, or stored */
    float *sample[GBEES_MAX_DIM]; /* their states */
    /* Of the pictured states, in the records chosen for pictures: */
    int pictured;
    gbees_density *joint;               /* of two states */
    gbees_mesh surface[GBEES_SURFACES]; /* of three states */
    double peak[3];                     /* the position of the largest density of three states */
} gbees_shot;

/* What the axes of a picture show, in place of ranges of its own. */
typedef struct gbees_frame {
    double lo[GBEES_MAX_DIM], hi[GBEES_MAX_DIM]; /* of each state */
    double peak[GBEES_MAX_DIM];                  /* of its density; 0: its own */
} gbees_frame;

typedef struct gbees_gallery {
    const gbees_frame *frame; /* another's; NULL: each picture has ranges of its own */
    char *folder;
    int dimension;
    char model[64], name[GBEES_MAX_DIM][64], unit[GBEES_MAX_DIM][64];
    int picture_dimension; /* 2 or 3; 0: no picture of a joint density */
    int picture_axis[3];
    gbees_series *series; /* measurements and truth of the states; empty: it has none */
    size_t count;
    gbees_shot *shot;                                  /* in order of leg and number */
    gbees_density *pair[GBEES_MAX_DIM][GBEES_MAX_DIM]; /* [a][b], a < b: of the last record */
    /* Other runs whose densities are drawn beside its own (other.h). */
    int others;
    char own_name[GBEES_OTHER_NAME], other_name[GBEES_OTHERS_MOST][GBEES_OTHER_NAME];
    struct gbees_gallery *run[GBEES_OTHERS_MOST]; /* [others]; owned */
} gbees_gallery;

/* What to read of a folder. */
typedef struct gbees_choice {
    const char *records; /* --records; NULL: all */
    const char *states;  /* "1,3" or "x,z", the two or three of the joint density; NULL: all, if there are 2 or 3 */
    int samples;         /* 1: of the model, too */
    int is_plain;        /* 1: 1-D densities alone */
} gbees_choice;

/* Parses --records: LEG, LEG:NUMBER or LEG:FIRST-LAST, separated by commas; NULL means all. Returns 0 if the text
 * is malformed. */
int gbees_selection_valid(const char *text);

/* Reads the folder. */
int gbees_gallery_create(const char *folder, const gbees_choice *choice, gbees_gallery **gallery, gbees_error *error);
void gbees_gallery_destroy(gbees_gallery *gallery);

/* "t = 0 to 1": the times of the shots first .. last. */
void gbees_gallery_span(const gbees_gallery *gallery, size_t first, size_t last, char *text, size_t size);

/* Number k of `most` (or `count`, if less) spread evenly over count things, both ends included. */
size_t gbees_gallery_pick(size_t k, size_t most, size_t count);

#endif
