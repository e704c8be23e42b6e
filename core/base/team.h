/* team.h - threads that stay for one loop after another: for loops that are shorter than it takes to start a thread
 * (workers.h starts them for each loop). */
#ifndef GBEES_BASE_TEAM_H
#define GBEES_BASE_TEAM_H

#include <stddef.h>

typedef struct gbees_team gbees_team;

/* Makes a team of up to `threads` threads (0: as many as this process may use), the calling one included. NULL, which
 * is the calling thread alone, if there would be no other, or if none can be started. */
gbees_team *gbees_team_open(int threads);
void gbees_team_close(gbees_team *team);

/* Calls work(context, item) once for each item 0 ... count - 1, and returns when all are done. Items may be taken in
 * any order: what they compute must not depend on it. Threads that wake too late are not waited for. For one calling
 * thread at a time. */
void gbees_team_run(gbees_team *team, size_t count, void (*work)(void *context, size_t item), void *context);

#endif
