/* frames.h - the frame of a rotated grid (numerics/frame.h), for float and for double. */
#ifndef GBEES_DEVICE_FRAMES_H
#define GBEES_DEVICE_FRAMES_H

#include "numerics/qualifier.h"

#pragma push_macro("GBEES_REAL")
#pragma push_macro("GBEES_REAL_FN")
#undef GBEES_REAL
#undef GBEES_REAL_FN
#define GBEES_REAL float
#define GBEES_REAL_FN(name) name##_f
#include "numerics/frame.h"
#undef GBEES_REAL
#undef GBEES_REAL_FN
#define GBEES_REAL double
#define GBEES_REAL_FN(name) name##_d
#include "numerics/frame.h"
#undef GBEES_REAL
#undef GBEES_REAL_FN
#pragma pop_macro("GBEES_REAL")
#pragma pop_macro("GBEES_REAL_FN")

#endif
