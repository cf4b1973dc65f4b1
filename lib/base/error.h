/* Failure: sticky, like NaN. Every failure of the library passes `record_failure` in error.c, on which a debugger
 * can break. */
#ifndef LAM_BASE_ERROR_H
#define LAM_BASE_ERROR_H

#include <lamina/context.h>
#include <lamina/extend.h>

enum { LAM__ERROR_TEXT = 2048 /* bytes */, LAM__ERRORS_KEPT = 64 };

/* The record of a context. text: of the first failure, "" without one; it needs no memory when there is none. */
typedef struct lam__error {
    lam_status status;                 /* of the first failure */
    size_t count;                      /* of failures */
    lam_status last[LAM__ERRORS_KEPT]; /* of the last ones: that of failure number i at i % LAM__ERRORS_KEPT */
    uint64_t time;                     /* of the first, by the context's clock; 0: its words are the user's own */
    size_t lead;                       /* bytes of the text that lam__error_within has put in front */
    char text[LAM__ERROR_TEXT];
} lam__error;

/* A text that is being put together; always ends in NUL, cuts what does not fit. */
typedef struct lam__text {
    char *text;
    size_t size, used; /* bytes */
} lam__text;

/* Appends what printf would print; what does not fit is cut. */
void lam__error_append(lam__text *t, const char *format, ...) LAM_PRINTF(2, 3);
void lam__error_append_type(lam__text *t, lam_dtype dtype, int rank, const int64_t *dims);

/* Records a failure with the function and levels of the moment appended. `remedy`: NULL is what usually helps with such
 * a status, "" none. Returns status. */
lam_status lam__error_set(lam_ctx *ctx, lam_status status, const char *remedy, const char *format, ...)
    LAM_PRINTF(4, 5);

/* The same with the usual remedy, for calls that give a tensor; without a context there is nowhere to record. */
lam_tensor *lam__error_fail(lam_ctx *ctx, lam_status status, const char *format, ...) LAM_PRINTF(3, 4);

/* The same, for an operation on values: its name goes in front, its operands behind. */
lam_status lam__error_call(const lam_call_site *call, lam_status status, const char *remedy, const char *format, ...)
    LAM_PRINTF(4, 5);

/* If the first failure is younger than `since`, puts the name of the operation that was called in front of its text,
 * instead of one that an operation inside of that has put there. `function`: "lam_moveaxis"; no other names count. */
void lam__error_within(lam_ctx *ctx, uint64_t since, const char *function);

/* Records that a request of so many bytes was refused. Returns LAM_ERR_MEMORY, also where a failure is on record. */
lam_status lam__error_memory(lam_ctx *ctx, size_t bytes);

/* NOTE [attempts]
 * What the library tries and can do without leaves no record: mark, try, roll back. */
typedef struct lam__mark {
    lam_status status;
    size_t count;
} lam__mark;
/* The record as it is; and to go back to that, which forgets what was recorded since. */
lam__mark lam__error_mark(const lam_ctx *ctx);
void lam__error_roll_back(lam_ctx *ctx, lam__mark mark);

/* The status of the first failure since the mark, LAM_OK if none. Of more than LAM__ERRORS_KEPT the first kept. */
lam_status lam__error_since(const lam_ctx *ctx, lam__mark mark);

/* The same, but `otherwise` if none: what comes of a call that ends with that status. */
lam_status lam__error_since_or(const lam_ctx *ctx, lam__mark mark, lam_status otherwise);

/* The status of the last failure, LAM_OK if there was none: that of an operation which has failed just now. The status
 * of the context is that of the first, which may be long ago. */
lam_status lam__error_last(const lam_ctx *ctx);

#endif
