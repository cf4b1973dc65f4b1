/* The threads of a context: workers that sleep until a loop over items that do not depend on each other is large enough
 * to be shared, and then take pieces of it beside the thread that uses the context. A context of one thread has no
 * team (NULL), and everything here accepts that. Workers run what they are given and nothing else: no code of users, no
 * allocation, no context. What is computed must not depend on where the items are cut. */
#ifndef LAM_BASE_TEAM_H
#define LAM_BASE_TEAM_H

#include <lamina/context.h>

typedef struct lam__team lam__team;

enum { LAM__TEAM_MOST = 256 }; /* threads of a team */

/* Items [begin, end) of what env describes. `worker` is below the size of the team and not that of any other call that
 * runs at the same time: it picks scratch. */
typedef void lam__team_task(void *env, int64_t begin, int64_t end, int worker);

/* A team of `threads`, the caller among them, or of as many as the system gives; NULL if memory is lacking. Its memory
 * comes from the allocator, called by this thread only. */
lam__team *lam__team_new(const lam_allocator *allocator, int threads);

/* Ends the workers; in a child of fork, where there are none, only the memory is released. NULL is accepted. */
void lam__team_free(lam__team *team);

/* Threads, 1 for NULL. */
int lam__team_size(const lam__team *team);

/* Sets the work, in units of lam__team_run, that makes a piece worth another thread. Tests set it to 1. */
void lam__team_set_least(lam__team *team, double least);

/* Whether work of so many units is shared at all. */
bool lam__team_shares(const lam__team *team, double cost);

/* How many pieces n items are cut into that take `cost` units each, a unit being the work on one element of a cheap
 * elementwise operation (about half a nanosecond). 1: they are not shared. */
int64_t lam__team_pieces(const lam__team *team, int64_t n, double cost);

/* Runs the task over [0, n), n >= 0, in pieces, and returns when all are done; on this thread alone where the work is
 * small. Where pieces begin depends on the size of the team; which worker takes one, on chance. */
void lam__team_run(lam__team *team, int64_t n, double cost, lam__team_task *task, void *env);

#endif
