/* kernel_precision.h - the templates, for one precision: kernel.c says which. */
#include "kernel_split.h"

#include "kernel_lanes.h"

#include "kernel_mask.h"

#include "kernel_drift.h"

#include "kernel_real.h"

#include "kernel_ctu_block.h"

#include "kernel_ctu_column.h"

#include "kernel_ctu_whole.h"

#include "kernel_ctu.h"

#include "kernel_inspect.h"

#include "kernel_far.h"

#define ORDER 5
#include "kernel_column.h"

#include "kernel_stream.h"

#include "kernel_faces.h"
#undef ORDER
#define ORDER 7
#include "kernel_column.h"

#include "kernel_stream.h"

#include "kernel_faces.h"
#undef ORDER

#include "kernel_planes.h"

#include "kernel_sweep.h"

#include "kernel_diffusion.h"
