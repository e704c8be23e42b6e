/* state.c - */
#include "engine.h"
