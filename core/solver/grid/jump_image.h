/* jump_image.h - takes the density of a grid through a jump that is no affine map (doc/instants.md): the image of its
 * cells is distributed over cells of another grid. */
#ifndef GBEES_SOLVER_GRID_JUMP_IMAGE_H
#define GBEES_SOLVER_GRID_JUMP_IMAGE_H

#include "regrid.h"

/* The cells of a grid under a jump. */
typedef struct gbees_jump_image gbees_jump_image;

/* Lists the cells of the grid, whose frame is `from`, and takes their centres through the jump. *entropy receives
 * that of the cells' probabilities. GBEES_ENUMERIC: one of the images is not finite. */
int gbees_jump_image_create(const gbees_grid *grid, const gbees_clock *clock, const gbees_instant *instant,
                            const gbees_moving_frame *from, gbees_jump_image **image, double *entropy,
                            gbees_error *error);
/* The entropy of a list's probabilities: the logarithm of how many cells the density takes. */
double gbees_jump_image_entropy(const gbees_initial_cells *cells);
void gbees_jump_image_destroy(gbees_jump_image *image);

/* Sets mean[n] and covariance[n][n] of the image, and resolved[n][n] to the mean of E E', E: the edges of a cell's
 * image; all in the model's axes. */
int gbees_jump_image_moments(gbees_jump_image *image, double *mean, double *covariance, double *resolved,
                             gbees_error *error);

/* Makes the list of cells of a problem's grid that the image has, P averages that sum to 1. The image is of no use
 * afterwards. */
int gbees_jump_image_deposit(gbees_jump_image *image, const gbees_problem *to, int threads,
                             gbees_initial_cells *cells, gbees_error *error);

#endif
