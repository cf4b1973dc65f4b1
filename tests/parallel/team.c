/* Teams: every item is worked on once, by workers with numbers of their own, who are quiet while there is nothing to
 * do; contexts with threads are born, used side by side, forked and ended. */
#define _GNU_SOURCE /* pthread_getname_np */
#include "lib/base/team.h"
#include "lib/base/alloc.h"

#include "tests/support.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 10000, THREADS = 7 };

static lam__team *team_of(int threads, double least) {
    const lam_allocator heap = lam__alloc_default();
    lam__team *team = lam__team_new(&heap, threads);
    ck_assert_int_eq(lam__team_size(team), threads);
    lam__team_set_least(team, least);
    return team;
}

typedef struct tally {
    int64_t n;
    unsigned char seen[MOST];
    atomic_int inside[THREADS]; /* calls with this number that run now */
    atomic_int calls, wrong;
} tally;

static void count(void *env, int64_t begin, int64_t end, int worker) {
    tally *t = env;
    t->calls++;
    if (worker < 0 || worker >= THREADS || begin >= end || end > t->n || t->inside[worker]++) t->wrong++;
    for (int64_t i = begin; i < end; i++) t->seen[i]++;
    if (worker >= 0 && worker < THREADS) t->inside[worker]--;
}

START_TEST(every_item_is_done_once_by_one_worker) {
    static const int64_t counts[] = {0, 1, 2, 3, 7, 8, 100, 1023, 1025, 4097, MOST};
    for (int threads = 2; threads <= THREADS; threads++) {
        lam__team *team = team_of(threads, 1);
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (double cost = 0.001; cost < 100; cost *= 10) {
                tally t = {.n = counts[k]};
                lam__team_run(team, t.n, cost, count, &t);
                ck_assert_int_eq(t.wrong, 0);
                for (int64_t i = 0; i < t.n; i++) ck_assert_int_eq(t.seen[i], 1);
                if (t.n) ck_assert_int_eq(t.calls, lam__team_pieces(team, t.n, cost));
            }
        lam__team_free(team);
    }
}
END_TEST

/* Without a team, and where the work is small, the caller does it at once. */
START_TEST(small_work_stays_on_this_thread) {
    lam__team *const teams[] = {NULL, team_of(3, 1000)};
    for (int k = 0; k < 2; k++) {
        tally t = {.n = 100};
        lam__team_run(teams[k], 100, 10, count, &t);
        ck_assert_int_eq(t.calls, 1);
        ck_assert_int_eq(lam__team_pieces(teams[k], 100, 10), 1);
    }
    ck_assert(!lam__team_shares(NULL, 1e300));
    ck_assert(!lam__team_shares(teams[1], 1999) && lam__team_shares(teams[1], 2000));
    ck_assert_int_eq(lam__team_size(NULL), 1);
    lam__team_free(teams[1]);
    lam__team_free(NULL);
}
END_TEST

/* ---- what workers are to the rest of the program ----------------------------------------------------------------- */

typedef struct inspection {
    pthread_t caller;
    atomic_int by_workers, open_signals, strange_names;
} inspection;

/* Lasts long enough for workers to come. */
static void inspect(void *env, int64_t begin, int64_t end, int worker) {
    inspection *i = env;
    sigset_t mask;
    char name[16] = "";
    (void)begin, (void)end;
    usleep(1000);
    if (worker == 0) return;
    i->by_workers++;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (!sigismember(&mask, SIGINT) || !sigismember(&mask, SIGALRM) || pthread_equal(pthread_self(), i->caller))
        i->open_signals++;
    pthread_getname_np(pthread_self(), name, sizeof name);
    if (strncmp(name, "lamina-", 7) != 0) i->strange_names++;
}

START_TEST(workers_block_signals_and_have_names) {
    lam__team *team = team_of(3, 1);
    inspection i = {.caller = pthread_self()};
    for (int round = 0; round < 1000 && !i.by_workers; round++) lam__team_run(team, 100, 1, inspect, &i);
    ck_assert_int_gt(i.by_workers, 0);
    ck_assert_int_eq(i.open_signals, 0);
    ck_assert_int_eq(i.strange_names, 0);
    lam__team_free(team);
}
END_TEST

/* Threads of this process, as Linux lists them. */
static int threads_now(void) {
    DIR *tasks = opendir("/proc/self/task");
    int found = 0;
    ck_assert_ptr_nonnull(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));) found += entry->d_name[0] != '.';
    closedir(tasks);
    return found;
}

/* The same once it is `want`, or after two seconds: Linux lists a thread for a moment after it has been joined. */
static int threads_after(int want) {
    for (int i = 0; i < 2000 && threads_now() != want; i++) usleep(1000);
    return threads_now();
}

START_TEST(contexts_start_no_thread_unless_asked_and_end_theirs) {
    const int before = threads_now();
    for (int threads = 0; threads < 4; threads++) {
        lam_ctx *c = lam_ctx_new(&(lam_ctx_options){.threads = threads});
        ck_assert_int_eq(lam_ctx_threads(c), threads ? threads : 1);
        ck_assert_int_eq(threads_now(), before + (threads > 1 ? threads - 1 : 0));
        lam_ctx_free(c);
        ck_assert_int_eq(threads_after(before), before);
    }
    ck_assert_int_eq(lam_ctx_threads(NULL), 1);
    ck_assert_int_eq(lam_ctx_threads(lam_ctx_new(&(lam_ctx_options){.threads = -1})), 1);
    ck_assert_int_eq(lam_ctx_threads(ctx), 1);
}
END_TEST

START_TEST(refused_memory_at_birth_leaves_no_thread_and_no_block) {
    const int before = threads_now();
    for (size_t n = 1;; n++) {
        memory m = {.refuse = n};
        lam_ctx_options options = memory_options(&m);
        options.threads = 3;
        lam_ctx *born = lam_ctx_new(&options);
        const bool refused = m.requests >= n;
        ck_assert_int_eq(lam_status_of(born), refused ? LAM_ERR_MEMORY : LAM_OK);
        lam_ctx_free(born);
        ck_assert_uint_eq(m.blocks, 0);
        ck_assert(!m.wrong_size);
        ck_assert_int_eq(threads_after(before), before);
        if (!refused) break;
        ck_assert_uint_lt(n, 100);
    }
}
END_TEST

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

/* The sum of sin(i)^2 over many i, and its gradient's, in a context of its own. */
static double work_of(lam_ctx *c) {
    lam_tensor *x = lam_iota(c, LAM_F64, LAM_DIMS(400, 1000), 1);
    return lam_item(lam_sum(
        lam_square(lam_sin(lam_add(x, lam_transpose(lam_reshape(x, LAM_DIMS(1000, 400)), LAM_AXES(1, 0))))), NULL));
}

static void *work_alone(void *env) {
    lam_ctx *c = lam_ctx_new(&(lam_ctx_options){.threads = 3});
    double first = work_of(c), *result = env;
    *result = first;
    for (int i = 0; i < 20; i++) {
        lam_scope *scope = lam_scope_begin(c);
        if (work_of(c) != first) *result = NAN;
        lam_scope_end(scope, NULL, 0);
    }
    lam_ctx_free(c);
    return NULL;
}

START_TEST(contexts_of_several_threads_have_teams_of_their_own) {
    pthread_t users[4];
    double results[4];
    const double want = work_of(ctx);
    for (int i = 0; i < 4; i++) ck_assert_int_eq(pthread_create(&users[i], NULL, work_alone, &results[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(users[i], NULL);
        ck_assert(results[i] == want);
    }
}
END_TEST

/* A context that is made by one thread and used by another. */
static void *use_elsewhere(void *env) {
    lam_ctx *c = env;
    return work_of(c) == work_of(c) ? env : NULL;
}

START_TEST(a_context_may_move_to_another_thread) {
    pthread_t other;
    void *used = NULL;
    lam_ctx *c = lam_ctx_new(&(lam_ctx_options){.threads = 2});
    const double want = work_of(c);
    ck_assert_int_eq(pthread_create(&other, NULL, use_elsewhere, c), 0);
    pthread_join(other, &used);
    ck_assert(used && work_of(c) == want);
    lam_ctx_free(c);
}
END_TEST

/* The child of a program whose context has been used: works, has workers again, and ends; so does the parent's. */
START_TEST(after_fork_the_child_has_workers_of_its_own) {
    for (int used = 0; used < 2; used++) {
        lam_ctx *c = lam_ctx_new(&(lam_ctx_options){.threads = 3});
        const double want = work_of(ctx);
        if (used) ck_assert(work_of(c) == want);
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            alarm(60); /* instead of hanging */
            bool right = threads_now() == 1 && work_of(c) == want && lam_ctx_threads(c) == 3 && threads_now() == 3;
            lam_ctx_free(c);
            _exit(right && threads_after(1) == 1 ? 0 : 1);
        }
        int status = 0;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        ck_assert(work_of(c) == want);
        lam_ctx_free(c);
    }
}
END_TEST

/* A child that does nothing large releases the memory of workers that it never had. */
START_TEST(a_child_may_end_the_context_at_once) {
    lam_ctx *c = lam_ctx_new(&(lam_ctx_options){.threads = 3});
    work_of(c);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(60);
        lam_ctx_free(c);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    lam_ctx_free(c);
}
END_TEST

/* Blocks come from the hook of the user, which only the thread that uses the context calls. */
typedef struct watch {
    pthread_t user;
    size_t calls, foreign;
} watch;

static void *watched_get(void *env, size_t bytes, size_t alignment) {
    watch *w = env;
    w->calls++;
    w->foreign += !pthread_equal(pthread_self(), w->user);
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void watched_put(void *env, void *block, size_t bytes, size_t alignment) {
    watch *w = env;
    (void)bytes, (void)alignment;
    w->foreign += !pthread_equal(pthread_self(), w->user);
    free(block);
}

START_TEST(workers_never_call_the_allocator) {
    watch w = {.user = pthread_self()};
    lam_ctx_options options = {.allocator = {watched_get, watched_put, &w}, .plain_memory = true, .threads = 4};
    lam_ctx *c = lam_ctx_new(&options);
    for (int i = 0; i < 20; i++) work_of(c);
    lam_ctx_free(c);
    ck_assert_uint_gt(w.calls, 100);
    ck_assert_uint_eq(w.foreign, 0);
}
END_TEST

Suite *suite_parallel_team(void) {
    return SUITE_OF("parallel/team", every_item_is_done_once_by_one_worker, small_work_stays_on_this_thread,
                    workers_block_signals_and_have_names, contexts_start_no_thread_unless_asked_and_end_theirs,
                    refused_memory_at_birth_leaves_no_thread_and_no_block,
                    contexts_of_several_threads_have_teams_of_their_own, a_context_may_move_to_another_thread,
                    after_fork_the_child_has_workers_of_its_own, a_child_may_end_the_context_at_once,
                    workers_never_call_the_allocator);
}
