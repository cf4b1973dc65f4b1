/* What OpenBLAS needs once per process: one thread, and its work buffers made while there is still a way to say that
 * memory is lacking. Safe from several threads at once; a failed attempt may be repeated. */
#define _DEFAULT_SOURCE /* mmap, sched_yield */

#include "lib/kernels/kernels.h"

#include <cblas.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* Weak, so that another CBLAS links too. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));

enum { NEW, STARTING, STARTED };
enum { PROBE = 144 << 20 }; /* bytes */

/* OpenBLAS maps its buffers on first use and, refused, asks again for ever. So a little more is asked for and
 * given back first: a buffer takes 128 MiB of addresses in builds for many machines, less in others. */
static void *map_probe(void) {
    void *p = mmap(NULL, PROBE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool memory_is_there(void) {
    void *p = map_probe();
    return p && munmap(p, PROBE) == 0;
}

/* Each thread that is inside OpenBLAS holds a buffer; they stay mapped for whoever comes next. All at once, because a
 * limit on the addresses of the process counts them all. */
int lam__kernels_start_room(int threads) {
    void *first = NULL, *p;
    int count = 0;
    for (; count < threads && (p = map_probe()); count++) {
        *(void **)p = first;
        first = p;
    }
    for (; first; first = p) {
        p = *(void **)first;
        munmap(first, PROBE);
    }
    return count;
}

/* The OpenMP flavour keeps the number for each thread apart. */
void lam__kernels_start_thread(void) {
    enum { OPENMP = 2 };
    if (openblas_set_num_threads && openblas_get_parallel && openblas_get_parallel() == OPENMP)
        openblas_set_num_threads(1);
}

/* A solve takes a buffer whatever its size; small products would not. */
static void make_buffers(void) {
    const double a = 2;
    double b = 1;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, 1, 1.0, &a, 1, &b, 1);
}

/* With too little memory OpenBLAS is not called at all, since it would not come back. */
static bool start(void) {
    if (!memory_is_there()) return false;
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    make_buffers();
    return true;
}

/* Whoever comes while another thread starts waits for it, and tries for itself if that failed. */
bool lam__kernels_start(void) {
    static atomic_int state = NEW;
    for (;;) {
        int seen = NEW;
        if (atomic_load_explicit(&state, memory_order_acquire) == STARTED) return true;
        if (atomic_compare_exchange_strong(&state, &seen, STARTING)) {
            bool started = start();
            atomic_store_explicit(&state, started ? STARTED : NEW, memory_order_release);
            return started;
        }
        if (seen == STARTING) sched_yield();
    }
}
