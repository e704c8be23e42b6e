/* gaps.h - the bytes of a struct that belong to none of its members. */
#ifndef GBEES_BASE_GAPS_H
#define GBEES_BASE_GAPS_H

/* Writes zeros into the gaps of the struct at `pointer`, and of the structs in it, before its bytes are saved: so
 * equal states are equal files, and no file has what happened to be in memory. Clang before 19 can't, and leaves
 * them. */
#if defined __has_builtin
#if __has_builtin(__builtin_clear_padding)
#define GBEES_CLEAR_GAPS(pointer) __builtin_clear_padding(pointer)
#define GBEES_CAN_CLEAR_GAPS 1
#endif
#endif
#ifndef GBEES_CLEAR_GAPS
#define GBEES_CLEAR_GAPS(pointer) ((void)(pointer))
#define GBEES_CAN_CLEAR_GAPS 0
#endif

#endif
