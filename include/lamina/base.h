/* What every other header uses: the export mark, dtypes, statuses, the plain list structs and the macros that make them
 * in place. The only function here is lam_status_name. Compiles as C11 and C++17. */
#ifndef LAMINA_BASE_H
#define LAMINA_BASE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(LAM_BUILD) && defined(__GNUC__)
#define LAM_API __attribute__((visibility("default")))
#else
#define LAM_API
#endif

#if defined(__GNUC__)
#define LAM_MUST_USE            __attribute__((warn_unused_result))
#define LAM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LAM_MUST_USE
#define LAM_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lam_ctx lam_ctx;       /* all state of the library; see context.h */
typedef struct lam_tensor lam_tensor; /* handle to an immutable value; see tensor.h */
typedef struct lam_fn lam_fn;         /* callable of fixed arity; see fn.h */
typedef struct lam_fn lam_program;    /* a function that is a recorded list of operations; see program.h */
typedef struct lam_scope lam_scope;   /* owner of handles; see context.h */

/* Element types. LAM_F64 is 0: the default wherever a dtype is left out. */
typedef enum lam_dtype {
    LAM_F64 = 0, /* IEEE double, 8 bytes */
    LAM_F32,     /* IEEE single, 4 bytes */
    LAM_I64,     /* 8 bytes, two's complement, wraps */
    LAM_I32,     /* 4 bytes, two's complement, wraps */
    LAM_U8,      /* 1 byte, unsigned, wraps */
    LAM_BOOL,    /* 1 byte, 0 or 1 */
    LAM_C128,    /* two doubles: real and imaginary part; in C double _Complex, in C++ std::complex<double> */
    LAM_C64,     /* two floats, likewise */
    LAM_F16,     /* IEEE half, 2 bytes: 11 bits of precision, up to 65504; arithmetic is done in f32 */
    LAM_BF16,    /* the upper half of an f32, 2 bytes: 8 bits of precision, the range of f32; beside f16: f32 */
    LAM_DTYPE_COUNT
} lam_dtype;

/* What went wrong. LAM_OK is 0. */
typedef enum lam_status {
    LAM_OK = 0,
    LAM_ERR_VALUE,    /* an argument has an impossible value */
    LAM_ERR_SHAPE,    /* dims do not fit the operation */
    LAM_ERR_DTYPE,    /* dtypes do not fit the operation */
    LAM_ERR_AXIS,     /* an axis is out of range or repeated */
    LAM_ERR_RANK,     /* more axes than LAM_MAX_RANK */
    LAM_ERR_INDEX,    /* an index is out of range */
    LAM_ERR_ARITY,    /* wrong number of inputs or outputs, or an output not set */
    LAM_ERR_NULL,     /* NULL instead of a tensor, function or list */
    LAM_ERR_MEMORY,   /* the allocator or the context's limit refused */
    LAM_ERR_OVERFLOW, /* a size does not fit */
    LAM_ERR_BATCHED,  /* the data of a batched value was asked for */
    LAM_ERR_ABSTRACT, /* the data of a value that is being traced was asked for */
    LAM_ERR_ESCAPED,  /* a box was used after its level had ended */
    LAM_ERR_CAPTURED, /* a box of an open but hidden level was used, or there is no derivative by a capture */
    LAM_ERR_CONTEXT,  /* tensors of two contexts met */
    LAM_ERR_FREED,    /* a handle was used after it had been freed */
    LAM_ERR_STALE,    /* a failed tensor from before lam_clear_error was used */
    LAM_ERR_RULE,     /* a derivative or batching rule is missing or wrong */
    LAM_ERR_LINEAR,   /* a function said to be linear is not */
    LAM_ERR_SCOPE,    /* scopes closed out of order or left open */
    LAM_ERR_OPTION,   /* an option has no such value, or options contradict each other */
    LAM_ERR_NUMERIC,  /* a factorisation failed (matrix not positive definite, singular, ...) */
    LAM_ERR_USER,     /* reserved for the user's bodies and rules */
    LAM_STATUS_COUNT
} lam_status;

/* The name of a status, for example "LAM_ERR_SHAPE".
 * Fails   never: an unknown number gives "LAM_ERR_?".
 * Owner   static storage. */
LAM_API const char *lam_status_name(lam_status status);

#define LAM_VARIADIC  (-1)          /* number of inputs or outputs: any */
#define LAM_MAX_RANK  16            /* axes of a tensor as the user sees it; inside, levels add more */
#define LAM_END       INT64_MAX     /* as a stop: up to the end of the axis in the direction of the step */
#define LAM_UNMAPPED  INT_MIN       /* in_axes, out_axes: this input or output has no batch axis */
#define LAM_ZERO_SIZE ((int64_t)-1) /* axis_size: an empty batch (0 itself means: take it from the inputs) */

/* Sizes of the axes, in elements, slowest first. */
typedef struct lam_dims {
    int rank;            /* axes */
    const int64_t *dims; /* rank sizes in elements; NULL is legal for rank 0 */
} lam_dims;

/* dtype and sizes of a tensor by value. */
typedef struct lam_type {
    lam_dtype dtype;
    int rank;                   /* axes */
    int64_t dims[LAM_MAX_RANK]; /* elements */
} lam_type;

/* One element of LAM_C128. */
typedef struct lam_c128 {
    double re, im;
} lam_c128;

/* Axes, argument numbers or batch axes. {0, NULL} is "no list": the default of the call. */
typedef struct lam_axes {
    int count;        /* items; a LAM_RANGE is one item */
    const int *items; /* NULL with a count is an error; see LAM_NO_AXES for the explicit empty list */
} lam_axes;

/* Tensors in order. */
typedef struct lam_list {
    size_t count;
    lam_tensor *const *items;
} lam_list;

#ifdef __cplusplus
}
#endif

#include <lamina/lists.h>

#endif
