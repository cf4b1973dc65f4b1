/* For authors of primitives: the row that describes one, and the arguments of its rules. lib/primitives/README.md shows
 * how to add one. (The contract of interpreters is lib/dispatch/interpreter.h.) */
#ifndef LAMINA_EXTEND_H
#define LAMINA_EXTEND_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LAM_INNER_RANK = 2 * LAM_MAX_RANK }; /* axes of a value inside: each level adds one */

/* The part of a value that rules may read. data is NULL unless the value is concrete. */
typedef struct lam_value {
    uint8_t kind;           /* the machine's */
    uint8_t dtype;          /* lam_dtype */
    uint8_t rank;           /* axes */
    bool contiguous;        /* row-major without gaps */
    uint32_t refs;          /* the machine's */
    int64_t count;          /* elements */
    const int64_t *dims;    /* elements, rank entries */
    const int64_t *strides; /* elements, rank entries; concrete values only */
    void *data;             /* first element; concrete values only */
} lam_value;

/* dtype and dims that a shape rule gives. */
typedef struct lam_shape {
    lam_dtype dtype;
    int rank;                     /* axes */
    int64_t dims[LAM_INNER_RANK]; /* elements */
} lam_shape;

typedef struct lam_primitive lam_primitive;

/* One application of a primitive to values. */
typedef struct lam_call_site {
    lam_ctx *ctx;
    const lam_primitive *primitive;
    const void *params;  /* plain data, params_bytes long; must not point outside itself */
    size_t params_bytes; /* bytes */
    int inputs, outputs;
    lam_value *const *in;
    void *residual; /* derivative stages of a staged primitive: data kept by its forward stage; otherwise NULL */
} lam_call_site;

/* The arguments of a derivative or batching rule: handles to values of the level below the one it serves. It calls
 * public operations only, so that it nests; everything it makes is freed for it. */
typedef struct lam_rule {
    lam_ctx *ctx;
    const lam_primitive *primitive;
    const void *params;
    int inputs, outputs;
    lam_tensor *const *in;  /* operands; in vjp only dtype and dims may be used of those that `saves` does not name */
    lam_tensor *const *out; /* results; likewise. NULL in batch rules */
    const bool *needs;      /* vjp: inputs that want a gradient */
    const bool *mapped;     /* batch: inputs that have the batch axis, at axis 0 */
    int64_t size;           /* batch: elements of the batch axis */
} lam_rule;

#define LAM_SAVE_IN(i)  (1u << (i))        /* vjp reads the elements of input i */
#define LAM_SAVE_OUT(i) (1u << (16 + (i))) /* vjp reads the elements of output i */
#define LAM_SAVE_ALL_IN 0xffffu            /* vjp reads the elements of every input */
#define LAM_SAVE_TYPES  (1u << 31)         /* vjp reads the dims of inputs that want no gradient */

typedef enum lam_derivative {
    LAM_NOT_DIFFERENTIABLE, /* integer-valued or piecewise constant: derivative zero everywhere it exists */
    LAM_ELEMENTWISE,        /* slope: one factor per input, for both modes; broadcasts its operands */
    LAM_LINEAR,             /* jointly linear in the inputs that `linear` names: its own jvp; vjp is the transpose */
    LAM_BILINEAR,           /* linear in each of the inputs that `linear` names; vjp per input */
    LAM_GENERAL             /* jvp and vjp */
} lam_derivative;

struct lam_primitive {
    const char *name;
    int inputs;  /* or LAM_VARIADIC */
    int outputs; /* 0 reads as 1; LAM_VARIADIC: the call site says */
    lam_derivative derivative;
    bool elementwise;   /* broadcasts; shape, eval and batch come from `loop`; without it the row has its own */
    int loop;           /* elementwise: number of the kernel loop, plus one */
    bool predicate;     /* elementwise: gives bool */
    bool real;          /* elementwise: integers are converted to f64 first */
    bool takes_complex; /* complex operands too; elementwise: unused, the loop tells */
    unsigned linear;    /* bit i: linear in input i; bit 31 also for all beyond */
    bool bilinear;      /* in each of them, the others fixed; otherwise jointly */
    int8_t signs[2];    /* elementwise, for slope: 1 or -1 per operand; the result is their sum, each with its sign */
    unsigned saves;     /* LAM_SAVE_ bits: values that vjp (slope in reverse mode) reads */
    unsigned saves_for[3]; /* values that it reads beside these when input i wants a gradient */

    /* Elementwise rows of one operand whose derivative is factor y^exponent, where y is what `saves` names, the operand
     * or the result: says the same as `slope`, so that nothing need be called. Exponent 0: the row is not of this
     * kind. */
    struct {
        int exponent;
        double factor;
    } power;

    /* dtype and dims of the outputs from those of the inputs; the first failure is recorded with lam_rule_fail. */
    lam_status (*shape)(const lam_call_site *call, lam_shape out[]);
    /* Computes out[] (allocated, contiguous) from concrete operands; a kernel call. */
    lam_status (*eval)(const lam_call_site *call, lam_value *const out[]);
    /* Instead of eval: the result is in[0]'s memory with other dims and strides. Sets strides (elements, out->rank
     * of them) and offset (elements); false: not possible for these strides, the machine makes in[0] contiguous and
     * asks again. With several outputs, strides of output o begin at o * LAM_INNER_RANK. If the row has eval too,
     * false means that eval is called. */
    bool (*view)(const lam_call_site *call, const lam_shape *out, int64_t strides[], int64_t *offset);

    /* Instead of shape and eval at level 0, for primitives that call functions: gives one reference per output. */
    lam_status (*call)(const lam_call_site *call, lam_value *out[]);

    /* Instead of the rules below, for primitives that run user code in stages (lib/dispatch/staged.h); `call` is set
     * too. */
    const struct lam__staged *staged;

    /* t times the local derivative of the output by input i (LAM_ELEMENTWISE); NULL is zero. Rows with `signs` have
     * none. */
    lam_tensor *(*slope)(const lam_rule *rule, int i, lam_tensor *t);
    /* dout[o] from dx[i]; NULL is zero on both sides (LAM_GENERAL; LAM_ELEMENTWISE where that takes fewer passes than a
     * slope for each operand). */
    void (*jvp)(const lam_rule *rule, lam_tensor *const dx[], lam_tensor *dout[]);
    /* gx[i] for every i with rule->needs[i], from g[o]; NULL is zero on both sides. */
    void (*vjp)(const lam_rule *rule, lam_tensor *const g[], lam_tensor *gx[]);
    /* out[o] with the batch axis at 0, from operands of which some have it at 0. */
    void (*batch)(const lam_rule *rule, lam_tensor *out[]);

    /* Parameters that own something: called for each copy kept and each copy released. NULL: plain data. */
    void (*params_hold)(lam_ctx *ctx, void *params);
    void (*params_release)(lam_ctx *ctx, void *params);
    /* The parameters as a C struct, by which programs are printed and read back: "i axis, b reverse" for int32_t axis,
       bool reverse. Kinds: b bool, c int8_t, i int32_t, l int64_t, d double, T int32_t that is a lam_dtype, A uint32_t
       that is a set of axes, s32 a text of at most 31 characters. `i by[3]` is an array; `#i rank, l dims[rank]` one of
       as many as the field says, which is not printed; x[m+n] of as many as these say together; `[rank<3]` is room for
       three. `{i low, i high}[rank]` is an array of structs. NULL: for an elementwise row an int64_t, `l member`, or
       none; parameters of other rows cannot be printed. A program text must give every parameter that the layout
       lists. */
    const char *layout;

    /* Elementwise rows of one operand that the kernels evaluate together with their derivative: the row of the product
     * with that derivative. Derivatives use it where the elements are available. */
    const lam_primitive *sloped;
};

/* Applies a primitive to tensors at whatever levels they live.
 * Fails   with what its rules record; LAM_ERR_RULE if the row lacks one that is needed; LAM_ERR_ARITY; LAM_ERR_NULL;
 *         like any use of a handle. out[] then holds failed tensors.
 * Owner   out: current scope. */
LAM_API lam_status lam_bind(lam_ctx *ctx, const lam_primitive *primitive, const void *params, size_t params_bytes,
                            lam_list in, lam_tensor **out, size_t n_out);

/* Records a failure of a shape or eval rule: adds the primitive's name, its operands, function and levels. Returns
 * status.
 * Fails   always, that is its purpose. */
LAM_API lam_status lam_rule_fail(const lam_call_site *call, lam_status status, const char *format, ...)
    LAM_PRINTF(3, 4);

/* All rows, in the order of lib/primitives/primitives.def, followed by NULL. Fails never. Owner: static storage. */
LAM_API const lam_primitive *const *lam_primitives(void);

/* Prints a table of all primitives: their numbers of inputs and outputs, how they are differentiated, and which rules
 * each row has of its own or from its class.
 * Fails never. */
LAM_API void lam_print_primitives(FILE *file);

#ifdef __cplusplus
}
#endif
#endif
