/* Context, failure and scopes. A context holds all state of the library: memory, handles, levels, the first failure.
 * There are no globals and no thread-locals; one thread at a time may use a context; different contexts run in
 * parallel. */
#ifndef LAMINA_CONTEXT_H
#define LAMINA_CONTEXT_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a context gets its memory. All zero: jemalloc if the program is linked with it, else aligned_alloc. */
typedef struct lam_allocator {
    void *(*allocate)(void *env, size_t bytes, size_t alignment); /* bytes; alignment a power of two; NULL refuses */
    void (*release)(void *env, void *block, size_t bytes, size_t alignment); /* the same sizes as allocated */
    void *env;
} lam_allocator;

typedef struct lam_ctx_options {
    lam_allocator allocator;
    size_t memory_limit; /* bytes alive at once, as lam_ctx_bytes counts them; 0: no limit. On systems that overcommit,
                            the kernel kills a process that runs out; a limit fails cleanly first */
    int threads;         /* threads that share large operations; 0: one. See lam_ctx_threads */
    uint64_t seed;       /* of the context's own generator: lam_rand and its like, random.h */
    bool plain_memory;   /* every request goes to the allocator, without pooling: for leak checkers and tests */
} lam_ctx_options;

/* The state of a context's generator: plain data that may be stored. */
typedef struct lam_random_state {
    uint64_t seed;
    uint64_t draws; /* made from this seed so far */
} lam_random_state;

/* Makes a context.
 * Fails   without memory, for negative threads or with only one of allocate and release: gives a static failed context
 *         that every call accepts (its tensors are failed, lam_error says why).
 * Owner   caller: lam_ctx_free. */
LAM_API lam_ctx *lam_ctx_new(const lam_ctx_options *options);

/* Releases the context and everything still alive in it: tensors, functions, programs, held roots.
 * Fails   never; NULL and the static failed context are accepted. */
LAM_API void lam_ctx_free(lam_ctx *ctx);

/* The number of threads that share this context's large operations: the one that uses the context, and workers that
 * sleep between jobs and end with the context. Results have the same bits for any number. User functions, rules and
 * allocators are called by the thread that uses the context, never by a worker. After fork the child starts its own
 * workers when it first needs them. Workers block all signals; their rounding mode and the like are those of the thread
 * that made the context. OpenBLAS is held to one thread in the whole process, whatever the option.
 * Fails   never: at most 256, fewer than the option asked for if the system grants no more, 1 for NULL. */
LAM_API int lam_ctx_threads(const lam_ctx *ctx);

/* Bytes now held by values, handles and tapes of this context (caches not counted). Sizes of blocks are rounded up: to
 * multiples of 64 bytes, beyond 1 KiB to four sizes per doubling, so up to a quarter may be rounding. Memory taken by
 * other libraries is not counted, because it does not come from the context's allocator: FFTW's plans (those of the
 * last 16 transforms are kept, a few kilobytes each), OpenBLAS's buffers, machine code and the stacks of workers.
 * Units   bytes.
 * Fails   never. */
LAM_API size_t lam_ctx_bytes(const lam_ctx *ctx);

/* The largest value lam_ctx_bytes has had since the context was made or lam_ctx_reset_peak was called.
 * Units   bytes.
 * Fails   never. */
LAM_API size_t lam_ctx_peak_bytes(const lam_ctx *ctx);

/* Starts a new measurement of the peak.
 * Fails   never. */
LAM_API void lam_ctx_reset_peak(lam_ctx *ctx);

/* Returns cached memory to the allocator.
 * Fails   never. */
LAM_API void lam_ctx_trim(lam_ctx *ctx);

/* The status of the first failure since the context was made or cleared; LAM_OK without one.
 * Fails   never. */
LAM_API lam_status lam_status_of(const lam_ctx *ctx);

/* The message of the first failure: operation, operands, function, levels, remedy; "" without one, never NULL.
 * Fails   never.
 * Owner   borrowed from ctx until lam_clear_error or lam_ctx_free. */
LAM_API const char *lam_error(const lam_ctx *ctx);

/* The number of failures, the first included (operations on failed tensors do not count).
 * Fails   never. */
LAM_API size_t lam_error_count(const lam_ctx *ctx);

/* Forgets the failures; the context is usable again. Failed tensors from before are stale: using one fails.
 * Fails   never. */
LAM_API void lam_clear_error(lam_ctx *ctx);

/* Records a failure of user code (a body, a rule) and returns the context's failed tensor.
 * Fails   always, that is its purpose; LAM_OK as status is recorded as LAM_ERR_USER. */
LAM_API lam_tensor *lam_fail(lam_ctx *ctx, lam_status status, const char *format, ...) LAM_PRINTF(3, 4);

/* Whether a tensor, function or program is the failed one (or NULL).
 * Fails   never. */
LAM_API bool lam_failed(const void *object);

/* Restarts the context's generator: the same seed gives the same draws.
 * Fails   never. */
LAM_API void lam_ctx_seed(lam_ctx *ctx, uint64_t seed);

/* Gets and restores the state of the generator: the draws that follow it are repeated.
 * Fails   never: zeros for NULL. */
LAM_API lam_random_state lam_ctx_random_state(const lam_ctx *ctx);
LAM_API void lam_ctx_set_random_state(lam_ctx *ctx, lam_random_state state); /* Fails never. */

/* Opens a scope: everything created from now on is freed when it ends.
 * Fails   without memory: gives NULL, which lam_scope_end accepts.
 * Owner   caller: lam_scope_end, in reverse order of opening. */
LAM_API lam_scope *lam_scope_begin(lam_ctx *ctx);

/* Frees everything created inside the scope except the n tensors in `keep`, which move to the enclosing scope (their
 * pointers stay valid). NULL entries, and tensors older than the scope, are skipped.
 * Fails   LAM_ERR_SCOPE if a scope inside is still open (it is closed too). */
LAM_API lam_status lam_scope_end(lam_scope *scope, lam_tensor *const keep[], size_t n);

/* Prints the chain of levels from the current one down to evaluation, for example "vmap(size 5) -> vjp -> eval".
 * Fails   never. */
LAM_API void lam_print_levels(FILE *file, const lam_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
