/* Handles and the scopes that own them. A handle is small, lives in memory of the context that never becomes anything
 * but a handle again, and shows one counted value; freed handles are poisoned and reused late, so that a use after
 * the end is a named error. */
#ifndef LAM_BASE_SCOPE_H
#define LAM_BASE_SCOPE_H

#include <lamina/context.h>
#include <lamina/extend.h>

/* First word of each object. lam_failed reads it, so it comes first everywhere. */
enum lam__magic {
    LAM__LIVE = 0x4c616d01,
    LAM__FREED = 0x4c616d02,
    LAM__FAILED = 0x4c616d03,
    LAM__FN = 0x4c616d04,
    LAM__FN_FREED = 0x4c616d05,
    LAM__FN_FAILED = 0x4c616d06,
    LAM__SCOPE = 0x4c616d07,
    LAM__PROGRAM = 0x4c616d08,
    LAM__HIDDEN = 0x4c616d09 /* a live handle that may not be used just now */
};

/* A handle takes one cache line. It has one reference to its value. A context's failed tensor is one of these as well,
 * with `scope` NULL and in no list. */
struct lam_tensor {
    uint32_t magic;
    uint32_t holds; /* lam_hold: references beside the scope's */
    lam_ctx *ctx;
    lam_value *value;
    lam_tensor *prev, *next; /* in the scope, or in the list of free handles */
    lam_scope *scope;        /* NULL: held only, or on the C stack of the library */
    uint64_t birth;          /* the context's clock */
    void *unused;            /* fills the cache line */
};

/* tensors: those that belong to the scope, the youngest in front. A scope on the heap is a user's; others lie in the C
 * frames of the library. */
struct lam_scope {
    uint32_t magic;
    bool on_heap;
    bool of_rule; /* what is made here may have the axes of levels beside the user's (lam__eval_most_axes) */
    lam_ctx *ctx;
    lam_scope *parent;
    lam_tensor *tensors;
    lam_fn *fns; /* functions that this scope has a reference to */
};

/* Free handles in order of their freeing: taken from the front only when enough wait behind. */
typedef struct lam__handles {
    lam_tensor *first, *last;
    int waiting;
    lam_tensor *held;                    /* held handles whose scope has ended */
    lam_scope *ended_first, *ended_last; /* scopes that have ended wait likewise */
    int ended;
    struct lam__handle_slab *slabs;
} lam__handles;

/* A handle in the innermost scope that takes over one reference to `value`. NULL value, or no memory: the failed
 * tensor. */
lam_tensor *lam__scope_handle(lam_ctx *ctx, lam_value *value);

/* A handle in memory of the caller's for the duration of a rule; takes over nothing. */
static inline void lam__scope_lend(lam_tensor *t, lam_ctx *ctx, lam_value *value);

/* Closes what lam__scope_open (base/context.h) has opened. */
void lam__scope_close(lam_scope *scope);

/* NOTE [composed operations]  An operation that is made of others leaves its result in the scope of its caller and
 * nothing else: it asks for the time first and gives its result through lam__scope_only, which frees the handles that
 * the innermost scope got in between. So a temporary of 4 MB does not live until the end of a caller's scope. What
 * returns early, with a failure, may leave the rest to the scope.
 * Where the result has failed, the message gets the name of the function that was called: `moveaxis: transpose: ...`.
 * lam__scope_named does no more than that, for what only hands on. */
uint64_t lam__scope_now(const lam_tensor *x);   /* x: any operand, of which nothing need be right */
uint64_t lam__scope_now_in(const lam_ctx *ctx); /* for what has no operands */
#define lam__scope_only(...)       lam__scope_only_in(__func__, __VA_ARGS__)
#define lam__scope_only_these(...) lam__scope_only_these_in(__func__, __VA_ARGS__)
#define lam__scope_named(...)      lam__scope_named_in(__func__, __VA_ARGS__)
lam_tensor *lam__scope_only_in(const char *function, lam_tensor *result, uint64_t since);
lam_tensor *lam__scope_named_in(const char *function, lam_tensor *result, uint64_t since);
void lam__scope_only_these_in(const char *function, size_t n, lam_tensor *const results[], uint64_t since);

/* Closes what lies inside `scope`; true if there was something. */
bool lam__scope_close_inner(lam_scope *scope);

/* Makes the held handles born after `from` and not after `until` unusable, or usable again; so too the functions born
 * then that own values and outlive their scope. */
#define LAM__HIDDEN_TEXT " was made inside the forward of a custom Function and kept aside: its derivative is not known"
void lam__scope_hide(lam_ctx *ctx, uint64_t from, uint64_t until, bool hidden);

/* Puts a function into a scope, or takes it out of its own; the caller has the reference that the scope has or had. */
void lam__scope_add_fn(lam_scope *scope, lam_fn *f);
void lam__scope_remove_fn(lam_fn *f);
/* At the end of a context: closes all scopes and gives up every handle, held ones too. */
void lam__scope_free_all(lam_ctx *ctx);

static inline void lam__scope_lend(lam_tensor *t, lam_ctx *ctx, lam_value *value) {
    t->magic = LAM__LIVE;
    t->holds = 0;
    t->ctx = ctx;
    t->value = value;
    t->scope = NULL;
    t->birth = 0;
}

/* lam_alias for an operation that gives its operand back as it is. */
lam_tensor *lam__scope_alias(const char *operation, lam_tensor *t);

/* Where to record a failure: in the first context that n operands have, or the static failed one. */
lam_ctx *lam__scope_context(size_t n, lam_tensor *const in[]);

/* Checks n operands, of which none may be NULL, and collects their values. Gives the context, or NULL after recording
 * what is wrong; then *failed is what the operation returns. */
lam_ctx *lam__scope_operands(const char *operation, size_t n, lam_tensor *const in[], lam_value *values[],
                             lam_tensor **failed);

/* The value of operand number `position` of an operation whose context is known, as that of a function's call is; NULL
 * after recording in this context what is wrong, also with a handle of another one. */
lam_value *lam__scope_operand_in(lam_ctx *ctx, const char *operation, size_t position, const lam_tensor *t);

/* Whether a handle is alive in another context, for messages that say which list it stands in. */
bool lam__scope_is_foreign(const lam_ctx *ctx, const lam_tensor *t);

/* The value of one handle for an accessor; NULL for a failed tensor or NULL. Records nothing. */
lam_value *lam__scope_peek(const lam_tensor *t);

#endif
