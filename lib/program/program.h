/* Programs: recorded lists of primitive applications, as data (SSA, typed). Variables are numbered: inputs first,
 * then the outputs of each equation in order. */
#ifndef LAM_PROGRAM_PROGRAM_H
#define LAM_PROGRAM_PROGRAM_H

#include "lib/dispatch/dispatch.h"

/* An operand or result: a variable, or a constant (a value of a lower level, held). */
typedef struct lam__atom {
    int64_t variable; /* -1: `constant` */
    lam_value *constant;
} lam__atom;

/* One application. It and all that hangs on it are one block of `bytes`: atoms, then parameters. */
typedef struct lam__equation {
    struct lam__application *within; /* the innermost one whose doing it is (application.h); NULL: none */
    const lam_primitive *primitive;
    int inputs, outputs;
    int64_t first; /* number of the first output's variable */
    lam__atom *in;
    void *params;
    void *residual; /* of a linear staged primitive: for its transpose; NULL: the primitive has rules of its own */
    size_t params_bytes, bytes;
} lam__equation;

/* So many elements are as well numbers, one by one, as an array. */
enum { LAM__PROGRAM_FEW = 32 };

/* Counted: a linearisation and its transpose share one. room: entries that the arrays have place for. last_use is
 * NULL until lam__program_finish. */
typedef struct lam__program {
    uint32_t magic;
    uint32_t refs;
    lam_ctx *ctx;
    int inputs, outputs;
    bool only_types;  /* it is recorded for the types of its results, and will not be run */
    bool draws;       /* something would have been drawn, where types alone are recorded */
    bool keeps_loops; /* long loops are one equation each, instead of one for each operation of each trip */
    bool unrolls;     /* it is to be fused: of those, loops on small tensors are long only from very many trips on */
    bool native;      /* and to become machine code */
    bool in_loop;     /* it is to be run as a trip, on addresses if that can be done, where calls cost less */
    bool keeps_rules; /* levels may see it run: what has rules of its own is known beside its operations */
    bool boxes;       /* some constants may belong to levels; once it is finished */
    bool spares;      /* it was recorded of what is to spare memory (lam_checkpoint): nothing is kept beside it */
    bool sees_batch;  /* it may hold for a batch alone in which it was recorded (transforms/lanes.h) */
    int64_t variables, variable_room;
    lam_value **types; /* per variable: its type, abstract */
    int64_t *last_use; /* per variable: the last equation that sets or reads it; -1: none; INT64_MAX: a result */
    int64_t equations, equation_room;
    int64_t nests; /* recorded equations, dead or not, that are loops, or choices in what becomes machine code */
    int64_t wide;  /* elements of results of recorded equations that are arrays of more than LAM__PROGRAM_FEW */
    lam__equation **list;
    lam__atom *results;                             /* per output */
    struct lam__application *applications, *within; /* all, the youngest in front; the one that is being recorded */
} lam__program;

/* A program of so many inputs and outputs with nothing in it, one reference; NULL without memory. The variables of the
 * inputs are made by the caller, first of all. */
lam__program *lam__program_new(lam_ctx *ctx, int inputs, int outputs);
void lam__program_release(lam__program *p);

/* Room for so many results instead, none of them set; false without memory. Before any of them is. */
bool lam__program_set_outputs(lam__program *p, int outputs);

/* A new variable of this type (rank -1: of none, for a result that is left out); its number, or -1 after recording that
 * memory is lacking. */
int64_t lam__program_variable(lam__program *p, lam_dtype dtype, int rank, const int64_t *dims);

/* The same of the type that another program's variable has; NULL: none. */
static inline int64_t lam__program_variable_like(lam__program *p, const lam_value *type) {
    return type ? lam__program_variable(p, (lam_dtype)type->dtype, type->rank, type->dims)
                : lam__program_variable(p, LAM_F64, -1, NULL);
}

/* Whether an operand is a constant that some level owns: it may be hidden where the program is run, or have ended by
 * then, and has no elements that a fused part could read. */
static inline bool lam__program_is_box(const lam__atom *a) {
    return a->variable < 0 && a->constant && lam__value_is_box(a->constant);
}

/* Whether an operand is a constant of which one zero is seen everywhere. */
bool lam__program_is_zeros(const lam__atom *a);

/* The type of result o of a finished program: a variable's, or that of the constant it is. */
static inline const lam_value *lam__program_result_type(const lam__program *p, int o) {
    return p->results[o].variable >= 0 ? p->types[p->results[o].variable] : p->results[o].constant;
}

/* The equation that makes a variable; NULL: it is an input. */
const lam__equation *lam__program_maker(const lam__program *p, int64_t variable);

/* Records a call whose results are the variables from `first` on. in[] is copied, constants are held. */
lam_status lam__program_record(lam__program *p, const lam_call_site *call, const lam__atom in[], int64_t first);

/* One block for a call, whose parameters and constants are held; NULL without memory. */
lam__equation *lam__equation_new(const lam_call_site *call, const lam__atom in[], int64_t first);
void lam__equation_free(lam_ctx *ctx, lam__equation *e);

/* An equation as a call again, of these values; NULL: none is looked at. */
static inline lam_call_site lam__equation_call(lam_ctx *ctx, const lam__equation *e, lam_value *const in[]) {
    return (lam_call_site){.ctx = ctx,
                           .primitive = e->primitive,
                           .params = e->params,
                           .params_bytes = e->params_bytes,
                           .inputs = e->inputs,
                           .outputs = e->outputs,
                           .in = in};
}

/* Drops equations that no result needs and works out when variables die. Called once, when the results are set. */
lam_status lam__program_finish(lam__program *p);

/* How many constants of a finished program are boxes, which some levels hide; -1 where lam__program_with cannot replace
 * them. values (may be NULL) gets them in the order of the program, borrowed. */
int64_t lam__program_boxes(const lam__program *p, lam_value **values);

/* The program with values[] in the place of these constants, one reference; NULL without memory. It keeps no rules. */
lam__program *lam__program_with(const lam__program *p, lam_value *const values[]);

/* The program with n inputs more, behind the others, in the place of its constants values[], one reference; NULL
 * without memory. It has no residuals. */
lam__program *lam__program_lift(const lam__program *p, size_t n, lam_value *const values[]);

/* Runs the program on values at whatever levels they live. One reference per output. */
lam_status lam__program_run(const lam__program *p, lam_value *const in[], lam_value *out[]);

/* The same of a linear program, of whose inputs some are zero: NULL, and so are results that are zero by that. What is
 * zero is left out, not multiplied, so that a factor beside it may be infinite. */
lam_status lam__program_run_linear(const lam__program *p, lam_value *const in[], lam_value *out[]);

/* Whether the program is linear in all its inputs together; otherwise records which operation is not. tangents: it is a
 * record of these, which are linear whatever the elements of its constants may be that cannot be seen yet. */
lam_status lam__program_check_linear(const lam__program *p, const char *name, bool tangents);

/* Whether a variable of a program, which may still be recorded, is made of zeros by products and by what is linear, so
 * that it is zero whatever the inputs are (infinities among them, which would make NaN of it, left aside). */
bool lam__program_is_zero(const lam__program *p, int64_t variable);

/* Which results depend on the inputs with in[]: out[]. Programs within are looked into.
 * Fails   without memory, and where a function within is no program. */
lam_status lam__program_varying(const lam__program *p, const bool in[], bool out[]);

/* The same of derivatives: which results can have one by the inputs with in[], which are floating. What lies behind
 * nothing but steps and integers has none. */
lam_status lam__program_slopes(const lam__program *p, const bool in[], bool out[]);

/* Runs a linear program backwards: cotangents g[] of the outputs (NULL: zero) to those of the inputs (NULL: zero). */
lam_status lam__program_transpose(const lam__program *p, lam_value *const g[], lam_value *gx[]);

#endif
