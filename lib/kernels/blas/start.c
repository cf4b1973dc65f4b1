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

enum { NEW, STARTING, STARTED };

/* NOTE [probe]: OpenBLAS maps its buffers on first use and has no answer to a refusal, so the same amount is asked
 * for and given back first. 64 MiB is above what one thread's buffers take in any build. */
static bool memory_is_there(void) {
    const size_t bytes = (size_t)64 << 20;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && munmap(p, bytes) == 0;
}

/* A product large enough to leave the path for small matrices, which needs no buffer. */
static void first_products(void) {
    enum { N = 112 };
    static double x[N * N], out[N * N];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1.0, x, 2, x, 2, 0.0, out, 2);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1.0, x, N, x, N, 0.0, out, N);
}

static bool start(void) {
    if (!memory_is_there()) return false;
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    first_products();
    return true;
}

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
