/* What the transforms have in common around their interpreters: which inputs are meant, values in, handles out. */
#ifndef LAM_TRANSFORMS_ARGUMENTS_H
#define LAM_TRANSFORMS_ARGUMENTS_H

#include "lib/dispatch/fn.h"
#include "lib/dispatch/level.h"

#include <lamina/transforms.h>

/* Argnums of a user as numbers 0..f->inputs-1 in items (room for f->inputs). No list gives `fallback` numbers, the
 * first ones. -1 after recording what is wrong. */
int lam__arguments_argnums(const char *transform, const lam_fn *f, lam_axes argnums, int fallback, int items[]);

/* Whether has_aux leaves at least one output of f; otherwise records it. */
bool lam__arguments_aux(const char *transform, const lam_fn *f, int has_aux);

/* Whether chunk_size is one: not negative; otherwise records it. */
bool lam__arguments_chunk(const char *transform, const lam_fn *f, int64_t chunk_size);

/* Values of n handles (NULL where the handle is NULL). False after recording that one cannot be used here. */
bool lam__arguments_values(lam_ctx *ctx, int n, lam_tensor *const in[], lam_value *values[]);

/* The same for a list from outside, whose count must be `want`; no entry may be NULL unless `optional`. */
lam_status lam__arguments_list(const char *transform, const lam_fn *f, const char *which, lam_list list, int want,
                               bool optional, lam_value *values[]);

/* One handle per value, which is taken over; a NULL value, or any status but LAM_OK, gives failed tensors. */
lam_status lam__arguments_give(lam_ctx *ctx, lam_status status, int n, lam_value *values[], lam_tensor *out[]);

/* Whether input i of f, given as v, can be differentiated; otherwise records it. */
bool lam__arguments_floating(const char *transform, const lam_fn *f, int i, const lam_value *v);

/* The same of output o, which is v. */
bool lam__arguments_floating_output(const char *transform, const lam_fn *f, int o, const lam_value *v);

/* Whether an input or output is complex exactly if the function is to be holomorphic; records what is wrong. */
bool lam__arguments_complex(const char *transform, const lam_fn *f, bool holomorphic, const char *which, int i,
                            const lam_value *v);

/* Whether v, the tangent or cotangent number i, has the type of `like`; otherwise records it. NULL has. */
bool lam__arguments_fits(const char *transform, const lam_fn *f, const char *which, int i, const lam_value *v,
                         const lam_value *like);

/* Whether outputs of f, which was run again for its derivative, have the types they had before (or of what belongs to
 * them, such as cotangents); otherwise records it. Entries that are NULL are not compared. */
lam_status lam__arguments_again(const lam_fn *f, lam_value *const before[], lam_value *const again[]);

/* How many values calls of f read from captures: its own, or those of what it is derived from; a function that
 * lam_linearize or lam_linear_transpose has made reads none. */
int lam__arguments_captured(lam_fn *f);

/* "<prefix>(<name of f>)": f with these as further inputs, which can be operands of Functions; f itself without. */
lam_fn *lam__arguments_open(const char *prefix, lam_fn *f);

/* Handles to them, behind the n handles in list[]. */
void lam__arguments_append_captures(lam_fn *f, lam_tensor **list, int n);

/* A zero of the type of `like`. */
lam_value *lam__arguments_zero(lam_ctx *ctx, const lam_value *like);

/* Gives up n references, of which some may be NULL, and clears them. */
void lam__arguments_release(int n, lam_value *values[]);

#endif
