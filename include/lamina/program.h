/* Functions recorded as programs, which can be printed, read back, checked and transformed again; and compiled: jit. */
#ifndef LAMINA_PROGRAM_H
#define LAMINA_PROGRAM_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* f as a program: the list of the operations that its results need, each with its operands, parameters and types (SSA),
 * for inputs of the types of the examples, whose elements are not read. It is a function like any other: lam_call runs
 * it, operation by operation, and lam_grad, lam_vmap or lam_jit transform it again. A value that f does not compute
 * from its inputs is a constant of the program, shared, not copied. f's C code runs now and not again, except for
 * custom Functions: the program contains their operations, and knows which Function each belongs to, so that transforms
 * of it use their rules. Rules run when they are needed, and the data that they point to must live as long as the
 * program. Results have the bits of f, except for products that a derivative adds to a sum: these are rounded with the
 * sum or before it.
 * Shape   as f.
 * Fails   LAM_ERR_ARITY, LAM_ERR_NULL for examples that do not fit; LAM_ERR_ABSTRACT if f reads elements that depend on
 *         its inputs; LAM_ERR_VALUE if it draws from the context's generator; as f does. Calls of the program fail with
 *         LAM_ERR_SHAPE or LAM_ERR_DTYPE for inputs of other types, LAM_ERR_ESCAPED if it holds values of levels that
 *         have ended.
 * Owner   current scope. */
LAM_API lam_program *lam_trace(lam_fn *f, lam_list examples);

/* Writes a program as text, a line for each operation:
 *     program f(v0: f64[3]) {
 *         v1: f64[3] = sin(v0)
 *         v2: f64[] = sum(v1) axes=[0]
 *         return v2
 *     }
 * Branches and loops are followed by the programs of their functions, in braces. The same program has the same text,
 * and lam_program_read turns it back into the program, bit for bit, unless it contains `opaque` (values of open levels,
 * and operations with C code: custom Functions, the backward pass through lam_while) or operations that lam_primitives
 * does not list: these cannot be read back. Custom Functions appear as their operations, without values that only their
 * rules read; a program that was read back has the derivatives of these operations. All NaNs have the same text,
 * whatever their payload.
 * Fails   LAM_ERR_NULL without a file; LAM_ERR_VALUE for other functions, and if the file cannot be written. */
LAM_API lam_status lam_program_print(FILE *file, lam_program *program);

/* The program whose text lam_program_print wrote, checked.
 * Fails   LAM_ERR_VALUE, LAM_ERR_ARITY, LAM_ERR_SHAPE and so on, naming the line that is wrong: a name that is not
 *         bound or bound twice, an unknown operation, parameters or types that do not fit; gives the failed function.
 * Owner   current scope. */
LAM_API lam_program *lam_program_read(lam_ctx *ctx, const char *text);

/* Checks that each operation reads only values that are set before it, and gives the types that its shape rule says.
 * Fails   with LAM_ERR_VALUE, LAM_ERR_ARITY or LAM_ERR_SHAPE, according to the error; LAM_ERR_ESCAPED if it holds a
 *         value of a level that has ended. */
LAM_API lam_status lam_program_check(lam_program *program);

/* The types of f's results for inputs of the types of the examples. Nothing that depends on these is computed:
 * operations apply their shape rules, custom Functions their shape callback if they have one, and no element is read.
 * Nothing is drawn: draws have no elements either.
 * Fails   as lam_trace, except for draws; LAM_ERR_ARITY for other n; LAM_ERR_RANK for a result of more than
 *         LAM_MAX_RANK axes. types[] are then all zero. */
LAM_API lam_status lam_eval_shape(lam_fn *f, lam_list examples, lam_type types[], size_t n);

typedef struct lam_emit_options {
    const char *name; /* of the C function; NULL: the program's name, made into an identifier */
    bool reentrant;   /* the caller passes the workspace as a last argument `void *workspace`; otherwise it is static */
} lam_emit_options;

/* Writes a program as one C function that needs a C11 compiler and libm, and nothing of Lamina:
 *     void NAME(const double *in0, ..., double *out0, ...);
 * Inputs and results are arrays, row-major without gaps; bool is uint8_t, complex numbers are those of C. Nothing is
 * allocated: the workspace has a fixed size, given in bytes by the comment on top and by NAME_WORKSPACE; it is static
 * or, as an option, the caller's. Results must not overlap inputs. Several programs may be written to one file. Chains
 * of elementwise operations become one loop; views cost nothing; loops and branches stay loops and branches. Arithmetic
 * has the bits of lam_call, except for sums, whose order is free, and for maxima and minima of zeros of both signs, if
 * the compiler keeps to ISO C (gcc in its GNU modes: -ffp-contract=off); functions such as exp are those of libm. Where
 * a factorisation would fail, the result is NaN; indices outside are clipped.
 * Fails   LAM_ERR_RULE for an operation that C cannot express, which it names, before anything is written;
 *         LAM_ERR_OPTION for a name that is not an identifier, or is one of C, of its library or of names in such files
 *         (NAME__c1, NAME_WORKSPACE, HAS_...); LAM_ERR_NULL without a file; LAM_ERR_VALUE for other functions, and if
 *         the file cannot be written.
 * Owner   the file is the caller's and stays open. */
LAM_API lam_status lam_emit_c(lam_program *program, FILE *file, const lam_emit_options *options);

/* When operations are fused into one pass over their elements, or into one list of scalar steps. */
typedef enum lam_jit_fusion {
    LAM_JIT_AUTO = 0, /* where that is estimated to be faster */
    LAM_JIT_ALL,      /* wherever it can be done */
    LAM_JIT_NONE      /* nowhere: operations are called one by one, without those that no result needs */
} lam_jit_fusion;

typedef struct lam_jit_options {
    int signatures;        /* signatures kept ready; the least recently used is dropped; 0: 16 */
    lam_jit_fusion fusion; /* when operations are fused */
    bool native; /* compile fused parts, and loops and branches on small tensors, with `cc` when f is recorded (takes
                    seconds); without `cc`, or if it fails, run as without this option. A `cc` that takes more than a
                    minute is stopped, and not run again by this context. In those loops and branches functions such as
                    exp are those of libm */
} lam_jit_options;

/* f, recorded once for each signature (dtypes and dims of the inputs), after which the recorded program is run: without
 * operations that no result needs, with equal operations done once, and with chains of elementwise operations, moves
 * and small sums and products fused. In reverse mode, the backward pass of a loop is a loop too: it reads those values
 * of the forward trips that cost more to compute than to store, as long as they do not take many times the memory of
 * the carries, and recomputes the rest, as well as everything that lam_checkpoint drops. f's own code runs while it is
 * recorded and not afterwards: it prints or counts only then, and data that it reads beside its inputs, through env
 * too, keep the values they had then. lam_cond, lam_switch and lam_while (control.h) choose when the program is run.
 * Some functions cannot be compiled; they are called without being compiled, and lam_jit_report_of says why:
 *   - those that draw from the context's generator;
 *   - those that read values of open levels, or work along the axis of a batch around them;
 *   - those that read elements that depend on their inputs, as C's own `if` on lam_item does, or have rules that are
 *     linear only by virtue of such elements, such as one that adds x - x;
 *   - those in which a function uses a tensor that is not among its inputs and captures, where a call may find it;
 *   - those that fail, by lam_fail or on constants, when all their branches are recorded, including branches that would
 *     not be taken;
 *   - any function whose inputs belong to levels, because it is called in the body of another one that is being
 *     differentiated or batched. So compile the outermost function: lam_jit(lam_grad(f)).
 * Results have the bits of the plain function, except for the order of sums that become steps, products that a
 * derivative adds to a sum (rounded with it, as fma, or before it), the sign of a zero to which 0 is added, and the
 * effects of `native`.
 * Shape   as f.
 * Fails   LAM_ERR_OPTION for negative options; as f does when it is recorded.
 * Owner   current scope. Recorded programs live as long as the function. */
LAM_API lam_fn *lam_jit(lam_fn *f, const lam_jit_options *options);

/* The work of a jitted function so far. */
typedef struct lam_jit_report {
    int64_t calls;     /* of the function */
    int64_t recorded;  /* times that f was recorded */
    int64_t direct;    /* calls of f itself, not compiled */
    int64_t equations; /* of the program recorded last: operations of Lamina */
    int64_t fused;     /* of these, in fused parts */
    int64_t parts;     /* fused parts */
    int64_t steps;     /* scalar steps in them */
    int64_t lanes;     /* lanes that the steps work on side by side */
    int64_t native;    /* parts, loops and branches that are machine code */
    size_t bytes;      /* kept for the registers of fused parts */
    char cause[160];   /* why f was recorded last, or is not compiled: "input 0 is f64[3], not f64[2]" */
} lam_jit_report;

/* The report of a function that lam_jit made.
 * Fails   with LAM_ERR_VALUE and all zeros for other functions. */
LAM_API lam_jit_report lam_jit_report_of(lam_fn *jitted);

#ifdef __cplusplus
}
#endif
#endif
