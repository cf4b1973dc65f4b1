/* Teams: see team.h. The thread that posts a job works on it too and never waits for a worker that has not begun: where
 * none comes, it does all of the work itself. Workers join and leave under the lock; pieces are handed out by a
 * counter. A job lies in the frame of the thread that posts it. A worker finds it and raises `active` in one hold of
 * the lock, and the poster returns when, in one hold of the lock, there is no job to find and `active` is 0: then
 * nobody can have the pointer any more. The lock is also what makes results written by workers visible to the
 * poster. */
#define _GNU_SOURCE /* pthread_setname_np */
#include "lib/base/team.h"

#include "lib/base/inline.h"
#include "lib/kernels/kernels.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STACK = 1 << 20,     /* bytes; kernels and LAPACK need less than a tenth */
    SPIN = 256,          /* looks at the next job before a worker goes to sleep: some microseconds */
    LEAST = 1 << 17,     /* units: what waking a thread costs, several times */
    PIECES_EACH = 4,     /* pieces for each thread, so that one which comes late is not waited for */
    LINE = 64,           /* items that pieces are rounded to, where they are long */
    LONG_PIECE = 16 * 64 /* items */
};

/* One loop that is shared. `next` is the first item that nobody has taken. */
typedef struct job {
    lam__team_task *task;
    void *env;
    int64_t n, piece; /* items */
    atomic_int_fast64_t next;
} job;

/* The workers of one process. */
typedef struct crew {
    pthread_mutex_t lock;
    pthread_cond_t posted, left;
    job *job;           /* what may be joined, or NULL */
    atomic_int active;  /* workers that have joined and not left; changes under the lock */
    bool stop;          /* they are to end */
    atomic_uint number; /* of jobs posted, and one for the end: what spinning workers look at */
    atomic_int started; /* workers that have got their number */
    int workers;
    pthread_t threads[]; /* room for as many as were asked for */
} crew;

/* asked: threads wanted, by which the crew's memory is measured; size: those there are, the caller among them. */
struct lam__team {
    lam_allocator allocator;
    crew *crew;
    int asked, size; /* threads */
    double least;    /* units */
    pid_t process;   /* that the crew belongs to */
};

/* ---- workers ----------------------------------------------------------------------------------------------------- */

/* Takes pieces until there are none. Which thread gets which is chance, so a task must give the same bits wherever it
 * is cut. Relaxed order is enough: pieces do not depend on each other, and begin and end pass through the lock. */
static void work(job *j, int worker) {
    for (;;) {
        const int64_t begin = (int64_t)atomic_fetch_add_explicit(&j->next, j->piece, memory_order_relaxed);
        if (begin >= j->n) return;
        j->task(j->env, begin, j->n - begin < j->piece ? j->n : begin + j->piece, worker);
    }
}

static void pause_briefly(void) {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#endif
}

/* Loops follow each other closely in a program that has large ones, and a sleeping thread takes longer to wake than
 * many of them take. `seen` is the number of jobs at the last look under the lock, so a post since then ends the wait
 * at once. */
static void spin(crew *c, unsigned seen) {
    for (int i = 0; i < SPIN && atomic_load_explicit(&c->number, memory_order_relaxed) == seen; i++) pause_briefly();
}

/* A worker. When work() returns there is no piece left, so the job is taken down if it still hangs there: another
 * worker that came later would find nothing to do in it. */
static void *serve(void *env) {
    crew *c = env;
    const int worker = 1 + atomic_fetch_add(&c->started, 1);
    lam__kernels_start_thread();
    pthread_mutex_lock(&c->lock);
    while (!c->stop) {
        job *j = c->job;
        const unsigned seen = atomic_load(&c->number);
        if (j) {
            c->active++;
            pthread_mutex_unlock(&c->lock);
            work(j, worker);
            pthread_mutex_lock(&c->lock);
            if (c->job == j) c->job = NULL; /* nothing is left of it to join */
            if (--c->active == 0) pthread_cond_signal(&c->left);
            continue;
        }
        pthread_mutex_unlock(&c->lock);
        spin(c, seen);
        pthread_mutex_lock(&c->lock);
        while (!c->job && !c->stop) pthread_cond_wait(&c->posted, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ---- crews ------------------------------------------------------------------------------------------------------- */

/* Room for all threads but the caller's, which is none of the crew's. */
static size_t crew_bytes(int asked) {
    return sizeof(crew) + (size_t)(asked - 1) * sizeof(pthread_t);
}

static void name_thread(pthread_t thread, int worker) {
#if defined(__linux__)
    char name[16];
    snprintf(name, sizeof name, "lamina-%u", (unsigned)worker % 1000);
    pthread_setname_np(thread, name);
#else
    (void)thread, (void)worker;
#endif
}

/* Starts as many workers as there may be. Signals are for the program's own threads: a new thread inherits the mask of
 * the one that makes it, so all are blocked while threads are made. Where the system gives fewer threads than asked,
 * the team is smaller; that is no failure. */
static void start_workers(crew *c, int workers) {
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return;
    pthread_attr_setstacksize(&attributes, STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (c->workers < workers && pthread_create(&c->threads[c->workers], &attributes, serve, c) == 0) {
        name_thread(c->threads[c->workers], c->workers + 1);
        c->workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* A crew in memory for `asked` threads, of at most `size` with the caller. */
static crew *crew_new(const lam_allocator *a, int asked, int size) {
    crew *c = a->allocate(a->env, crew_bytes(asked), 64);
    if (!c) return NULL;
    memset(c, 0, crew_bytes(asked));
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->posted, NULL);
    pthread_cond_init(&c->left, NULL);
    start_workers(c, lam__kernels_start_room(size - 1));
    return c;
}

/* Called without a job running, so every worker spins or sleeps; both see `stop`. */
LAM__APART static void crew_end(crew *c) {
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    atomic_fetch_add(&c->number, 1);
    pthread_cond_broadcast(&c->posted);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->workers; i++) pthread_join(c->threads[i], NULL);
    pthread_mutex_destroy(&c->lock);
    pthread_cond_destroy(&c->posted);
    pthread_cond_destroy(&c->left);
}

/* Posts a job, works on it, and returns when no worker is in it any more. Wakes no more workers than there are pieces
 * for. Those that still have a piece finish soon, so the poster looks for a while before it sleeps itself. */
static void crew_run(crew *c, job *j, int64_t pieces) {
    pthread_mutex_lock(&c->lock);
    c->job = j;
    atomic_fetch_add(&c->number, 1);
    for (int64_t i = 0; i < c->workers && i < pieces - 1; i++) pthread_cond_signal(&c->posted);
    pthread_mutex_unlock(&c->lock);
    work(j, 0);
    for (int i = 0; i < SPIN && atomic_load_explicit(&c->active, memory_order_relaxed) > 0; i++) pause_briefly();
    pthread_mutex_lock(&c->lock);
    c->job = NULL;
    while (c->active > 0) pthread_cond_wait(&c->left, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

/* ---- teams ------------------------------------------------------------------------------------------------------- */

/* NOTE [after fork]
 * A child of fork has the memory of the team and none of its threads, and a lock that may be held for ever by one that
 * is not there. So the first large loop in the child starts a new crew in memory of its own; the old one is never
 * looked at again, its memory is released as it is. The team does not grow by it: scratch has been counted out. */
static void start_crew(lam__team *t) {
    t->process = getpid();
    t->crew = crew_new(&t->allocator, t->asked, t->size);
    t->size = t->crew ? t->crew->workers + 1 : 1;
}

static void release_crew(lam__team *t) {
    if (t->crew) t->allocator.release(t->allocator.env, t->crew, crew_bytes(t->asked), 64);
}

/* What kernels must know of the machine before work is shared; false if memory is lacking. */
static bool look_at_machine(const lam_allocator *a) {
    void *room = a->allocate(a->env, LAM__MATMUL_CHECK_BYTES, 64);
    if (!room) return false;
    lam__kernels_matmul_check(room);
    a->release(a->env, room, LAM__MATMUL_CHECK_BYTES, 64);
    return true;
}

lam__team *lam__team_new(const lam_allocator *allocator, int threads) {
    if (!look_at_machine(allocator)) return NULL;
    lam__team *t = allocator->allocate(allocator->env, sizeof *t, 64);
    if (!t) return NULL;
    const int asked = threads < LAM__TEAM_MOST ? threads : LAM__TEAM_MOST;
    *t = (lam__team){.allocator = *allocator, .asked = asked, .size = asked, .least = LEAST};
    start_crew(t);
    if (t->crew) return t;
    allocator->release(allocator->env, t, sizeof *t, 64);
    return NULL;
}

void lam__team_free(lam__team *t) {
    if (!t) return;
    if (t->crew && t->process == getpid()) crew_end(t->crew);
    release_crew(t);
    const lam_allocator a = t->allocator;
    a.release(a.env, t, sizeof *t, 64);
}

int lam__team_size(const lam__team *t) {
    return t ? t->size : 1;
}

void lam__team_set_least(lam__team *t, double least) {
    t->least = least;
}

/* The same line as that of piece_of: fewer than two pieces worth a thread are one. */
bool lam__team_shares(const lam__team *t, double cost) {
    return t && cost >= 2 * t->least;
}

/* Items of a piece: as many pieces as the work is worth, at most PIECES_EACH for each thread. Long pieces end at
 * multiples of LINE items, so that two threads seldom write to one cache line. */
static int64_t piece_of(const lam__team *t, int64_t n, double cost) {
    if (!t || n < 2) return n;
    const double worth = (double)n * cost / t->least, most = (double)t->size * PIECES_EACH;
    int64_t pieces = (int64_t)(worth < most ? worth : most);
    if (pieces < 2) return n;
    if (pieces > n) pieces = n;
    const int64_t piece = (n + pieces - 1) / pieces;
    return piece < LONG_PIECE ? piece : (piece + LINE - 1) / LINE * LINE;
}

int64_t lam__team_pieces(const lam__team *t, int64_t n, double cost) {
    const int64_t piece = piece_of(t, n, cost);
    return n ? (n + piece - 1) / piece : 1;
}

/* The only check for a fork is here, where a thread is about to be woken: a child that shares no loop never needs a
 * crew. */
void lam__team_run(lam__team *t, int64_t n, double cost, lam__team_task *task, void *env) {
    job j = {.task = task, .env = env, .n = n, .piece = piece_of(t, n, cost)};
    if (n == 0) return;
    if (j.piece < n && t->process != getpid()) {
        release_crew(t);
        start_crew(t);
        j.piece = piece_of(t, n, cost);
    }
    if (j.piece >= n || t->size == 1) task(env, 0, n, 0);
    else crew_run(t->crew, &j, (n + j.piece - 1) / j.piece);
}
