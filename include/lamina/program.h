/* Functions recorded as programs: printed, read back, checked, transformed again; and compiled: jit. */
#ifndef LAMINA_PROGRAM_H
#define LAMINA_PROGRAM_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* f as a program: the list of the operations that its results need, each with its operands, parameters and types (SSA),
 * for inputs of the types of the examples, whose elements are not looked at. It is a function like any other: lam_call
 * runs it, operation by operation, and lam_grad, lam_vmap or lam_jit transform it again. What f does not compute from
 * its inputs is a constant of it, shared, not copied. C code of f runs now and not again, but for custom Functions: the
 * program has their operations, and knows whose they are, so that transforms of it use their rules. Those run when they
 * are needed, and what they point to must live as long as the program.
 * Results have the bits of f but for products that a derivative adds to a sum, which are rounded with it or before it.
 * Shape   as f.
 * Fails   LAM_ERR_ARITY, LAM_ERR_NULL for other examples; LAM_ERR_ABSTRACT where f reads elements that depend on its
 *         inputs; LAM_ERR_VALUE where it draws from the context's generator; as f does. Calls of the program
 *         LAM_ERR_SHAPE, LAM_ERR_DTYPE for inputs of other types; LAM_ERR_ESCAPED where it holds values of levels that
 *         have ended.
 * Owner   current scope. */
LAM_API lam_program *lam_trace(lam_fn *f, lam_list examples);

/* Writes a program as text, a line for each operation:
 *     program f(v0: f64[3]) {
 *         v1: f64[3] = sin(v0)
 *         v2: f64[] = sum(v1) axes=[0]
 *         return v2
 *     }
 * Branches and loops have the programs of their functions behind them, in braces. The text is the same for the same
 * program, and is read back by lam_program_read to the last bit; `opaque` in it are values of open levels and what has
 * code in C (custom Functions, the way back through lam_while), which are not, as operations that lam_primitives does
 * not list. Custom Functions are there by their operations, without what only their rules read; a program that was read
 * has the derivatives of these operations. NaNs have one text, whatever they carry.
 * Fails   LAM_ERR_NULL without a file; LAM_ERR_VALUE for other functions, and if the file cannot be written. */
LAM_API lam_status lam_program_print(FILE *file, lam_program *program);

/* The program of a text that lam_program_print has written, checked.
 * Fails   LAM_ERR_VALUE, LAM_ERR_ARITY, LAM_ERR_SHAPE and so on, naming the line that is wrong: a name that is not
 *         bound, or twice, an operation that is not there, parameters or types that do not fit; gives the failed
 *         function.
 * Owner   current scope. */
LAM_API lam_program *lam_program_read(lam_ctx *ctx, const char *text);

/* Whether each operation reads what is set before it and gives the types that its shape rule says.
 * Fails   with what is wrong: LAM_ERR_VALUE, LAM_ERR_ARITY, LAM_ERR_SHAPE; LAM_ERR_ESCAPED where it holds a value of a
 *         level that has ended. */
LAM_API lam_status lam_program_check(lam_program *program);

/* The types of f's results for inputs of the types of the examples. Nothing that depends on these is computed:
 * operations apply their shape rules, custom Functions that have one their shape callback, and no element is looked at.
 * Nothing is drawn: draws have no elements either.
 * Fails   as lam_trace, but for draws; LAM_ERR_ARITY for other n; LAM_ERR_RANK for a result of more than LAM_MAX_RANK
 *         axes. types[] are then all zero. */
LAM_API lam_status lam_eval_shape(lam_fn *f, lam_list examples, lam_type types[], size_t n);

typedef struct lam_emit_options {
    const char *name; /* of the C function; NULL: the program's, made an identifier */
    bool reentrant;   /* the workspace is the caller's: a last argument `void *workspace`; otherwise static */
} lam_emit_options;

/* Writes a program as one C function that needs a C11 compiler and libm, and nothing of Lamina:
 *     void NAME(const double *in0, ..., double *out0, ...);
 * Inputs and results are arrays, row-major without gaps; bool is uint8_t, complex numbers are those of C. Nothing is
 * allocated: the workspace is of fixed size, which the comment on top and NAME_WORKSPACE say in bytes, static or, as an
 * option, the caller's. Results may not overlap inputs. Several programs may be written to one file.
 * Chains of elementwise operations are one loop; views cost nothing; loops and branches are what they are. Arithmetic
 * has the bits of lam_call where sums have no order to choose, and largest and least elements no zeros of both signs,
 * if the compiler keeps to ISO C (gcc in its GNU modes: -ffp-contract=off); functions such as exp are those of libm.
 * What fails for some elements gives NaN instead: factorisations; indices outside are clipped.
 * Fails   LAM_ERR_RULE for an operation that has no form in C, which it names, before anything is written;
 *         LAM_ERR_OPTION for a name that is no identifier, or one of C, of its library or of what such files contain
 *         (NAME__c1, NAME_WORKSPACE, HAS_...); LAM_ERR_NULL without a file; LAM_ERR_VALUE for other functions, and if
 *         the file cannot be written.
 * Owner   the file is the caller's and stays open. */
LAM_API lam_status lam_emit_c(lam_program *program, FILE *file, const lam_emit_options *options);

/* Which operations become one pass, or one list of scalar steps, over all that they work on. */
typedef enum lam_jit_fusion {
    LAM_JIT_AUTO = 0, /* where that is estimated to be faster */
    LAM_JIT_ALL,      /* wherever it can be done */
    LAM_JIT_NONE      /* nowhere: operations are called one by one, those that nothing needs left out */
} lam_jit_fusion;

typedef struct lam_jit_options {
    int signatures;        /* of inputs that are kept ready, the one used longest ago goes; 0: 16 */
    lam_jit_fusion fusion; /* see there */
    bool native; /* fused parts, and loops and branches on small tensors, become machine code: `cc` is run when
                              f is recorded, for some seconds; where there is none, or it fails, they are as without.
                              One that takes more than a minute is ended, and not run again by this context. In those
                              loops and branches functions such as exp are those of libm */
} lam_jit_options;

/* f, recorded once for each signature (dtypes and dims of the inputs) and then run as what was recorded: without what
 * no result needs, equal operations once, chains of elementwise operations, moves and small sums and products fused.
 * A loop's way back, in reverse mode, is a loop too: of what its trips compute it reads what cost more than a place in
 * memory, as long as that is not many times what carries take, and computes the rest again, as it does all that
 * lam_checkpoint is to spare.
 * f's own code runs while it is recorded and not afterwards: what it prints or counts happens then, and what it reads
 * beside its inputs, also through env, is what it was then. lam_cond, lam_switch and lam_while (control.h) choose when
 * the program is run.
 * Some functions cannot be compiled; they are called as they are, and lam_jit_report_of tells why:
 *   - those that draw from the context's generator;
 *   - those that read values of open levels, or work along the axis of a batch around them;
 *   - those that read elements of what depends on their inputs, as C's own `if` on lam_item does, or have rules that
 *     are linear by such elements alone, as one that adds x less x;
 *   - those in which a function uses a tensor that is none of its inputs and captures, where a call may find it;
 *   - those that fail when all their branches are recorded, by lam_fail or for constants, as a branch may that is not
 *     taken;
 *   - any function whose inputs belong to levels, because it is called in the body of another one that is being
 *     differentiated or batched. So compile the outermost function: lam_jit(lam_grad(f)).
 * Results have the bits of the plain function, but for the order of sums that become steps, products that a derivative
 * adds to a sum, which are rounded with it or before it (fma), the sign of a zero that 0 is added to, and what `native`
 * says.
 * Shape   as f.
 * Fails   LAM_ERR_OPTION for negative options; as f does, when it is recorded.
 * Owner   current scope. What was recorded lives as long as the function. */
LAM_API lam_fn *lam_jit(lam_fn *f, const lam_jit_options *options);

/* What a jitted function has done so far. */
typedef struct lam_jit_report {
    int64_t calls;     /* of the function */
    int64_t recorded;  /* times that f was recorded */
    int64_t direct;    /* calls that went to f as it is */
    int64_t equations; /* of the program recorded last: operations of Lamina */
    int64_t fused;     /* of these, in fused parts */
    int64_t parts;     /* fused parts */
    int64_t steps;     /* scalar steps in them */
    int64_t lanes;     /* that they work on side by side */
    int64_t native;    /* parts, loops and branches that are machine code */
    size_t bytes;      /* that they keep for their registers */
    char cause[160];   /* why f was recorded last, or is called as it is: "input 0 is f64[3], not f64[2]" */
} lam_jit_report;

/* Of a function that lam_jit made.
 * Fails   all zeros, after recording LAM_ERR_VALUE, for others. */
LAM_API lam_jit_report lam_jit_report_of(lam_fn *jitted);

#ifdef __cplusplus
}
#endif
#endif
