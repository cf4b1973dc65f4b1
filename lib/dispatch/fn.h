/* Functions and their calls. A function is counted: its scope has one reference, each lam_fn_hold and each function
 * derived from it has one. */
#ifndef LAM_DISPATCH_FN_H
#define LAM_DISPATCH_FN_H

#include "lib/base/context.h"

#include <lamina/fn.h>

/* name: a copy. env: the maker's, released by env_free with the last reference. captures: values, held, that the body
 * gets behind its inputs. outlives: it is in the list of those that no scope has any more. owns: it has captures, or an
 * env that owns something, as that of a pullback does, or is derived from such a function: calls of it may show values
 * of the time of its birth. */
struct lam_fn {
    uint32_t magic;
    uint32_t refs;
    uint32_t holds; /* of refs, those that lam_fn_hold made */
    lam_ctx *ctx;
    char *name;
    size_t name_bytes;
    lam_body body;
    int inputs, outputs;
    bool optional; /* inputs may be NULL: those of custom Functions, tangents and cotangents that are zero */
    int lacking;   /* so many of the last outputs may be left NULL: tangents and cotangents that a rule says are zero */
    void *env;
    void (*env_free)(void *env);
    lam_value **captures;
    int captured;
    lam_scope *scope;    /* NULL: the scope's reference is gone */
    lam_fn *prev, *next; /* in the scope, or among those that outlive theirs */
    bool outlives, owns;
    bool hidden;    /* it may not be used just now */
    uint64_t birth; /* the context's clock */
};

/* One call that is running. */
typedef struct lam__frame {
    const char *name; /* of the function */
    const char *part; /* of a custom Function: which of its callbacks; NULL for others */
    struct lam__frame *parent;
    uint64_t start;           /* the clock when it began: handles born later were made inside */
    struct lam__level *level; /* current when it began: what messages show, whatever level is at work for it */
    const char *raw_remedy;   /* NOTE [raw data] in tensor.c; NULL: boxes may be read */
    uint64_t levels;          /* levels pushed before it began */
} lam__frame;

/* Makes a function of the library's own around `base` (held while it lives, may be NULL): env is env_bytes copied
 * from `env`, whose owner releases what it holds in env_free(ctx, copy) before the memory goes. Name:
 * "<prefix>(<name of base>)". */
typedef struct lam__derived {
    const char *prefix;
    lam_fn *base;
    lam_body body;
    int inputs, outputs;
    const void *env;
    size_t env_bytes;
    void (*env_free)(lam_ctx *ctx, void *env);
} lam__derived;
lam_fn *lam__fn_derive(lam_ctx *ctx, const lam__derived *d);

/* From the env that a derived body gets: the base. */
lam_fn *lam__fn_base(const void *env);

/* The function whose captures calls of f read: f, or what f is derived from, at the bottom. */
lam_fn *lam__fn_captor(lam_fn *f);

/* "<prefix>(<name of f>)": f with these captures as further inputs, so that they take part in derivatives and batches
 * like operands. Left as captures they are hidden from callbacks and from bodies that are run again, which run below
 * the level that a user's captures mostly belong to. */
lam_fn *lam__fn_open(const char *prefix, lam_fn *f);

/* The context of a function that may be called; NULL after recording why not, *ctx then is where. `what` names the
 * caller. */
lam_ctx *lam__fn_check(const char *what, lam_fn *f);

/* The same for a call with operands, which tell the context where f does not. *where: whose failed tensors the results
 * are. */
lam_ctx *lam__fn_check_call(const char *what, lam_fn *f, lam_list in, lam_ctx **where);

/* One reference more, or less; with the last one the function goes. lam__fn_leave_scope gives up the scope's. */
lam_fn *lam__fn_retain(lam_fn *f);
void lam__fn_release(lam_fn *f);
void lam__fn_leave_scope(lam_fn *f);

/* lam_call without the checks of handles: values in, one reference per output out. */
lam_status lam__fn_call(lam_fn *f, size_t n_in, lam_value *const in[], size_t n_out, lam_value *out[]);

/* Whether handle t was made inside the function call that is running. */
bool lam__fn_made_here(const lam_ctx *ctx, const lam_tensor *t);

/* At the end of a context: gives up what lam_fn_hold still has, then the memory of freed functions. */
void lam__fn_free_held(lam_ctx *ctx);
void lam__fn_free_waiting(lam_ctx *ctx);

#endif
