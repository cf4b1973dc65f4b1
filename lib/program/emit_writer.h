/* What the writers of C share. A program is walked twice: dry, which finds out whether every operation has a form, what
 * is used of helpers and constants and how large the workspace is, and then to the file. Both walks do the same. */
#ifndef LAM_PROGRAM_EMIT_WRITER_H
#define LAM_PROGRAM_EMIT_WRITER_H

#include "lib/program/arena.h"
#include "lib/program/program.h"

#include <stdio.h>

enum {
    LAM__EMIT_TEXT = 1536,   /* bytes of the text of an element: an index for each axis */
    LAM__EMIT_NUMBER = 40,   /* and of a number */
    LAM__EMIT_CLASSES = 7,   /* of workspace: one array for each C type */
    LAM__EMIT_OUTPUTS = 3,   /* of an equation that works on lanes */
    LAM__EMIT_ARGUMENTS = 10 /* of a template: $0 to $9 */
};

/* Where the elements of an operand or a result lie: base[offset + i0 * strides[0] + ...]. */
typedef struct lam__emit_place {
    lam_dtype dtype;
    int rank;
    const int64_t *dims;
    int64_t count;
    int64_t root;                            /* the variable whose memory it is; -1: an input's or a constant's */
    int64_t constant;                        /* number of the constant; -1: none */
    int64_t offset, strides[LAM_INNER_RANK]; /* from the first element of the root's memory */
    char base[24];
} lam__emit_place;

/* A constant of the program: elements that differ along no axis are there once. */
typedef struct lam__emit_constant {
    const lam_value *value;
    const lam__emit_place *place;
    int64_t count; /* elements in the file */
    bool used;     /* as an array */
} lam__emit_constant;

/* A static function of the file, written where it is used, once for each dtype. In its text, as in that of expressions,
 *   $T  the C type       $S  its suffix (f64)     $f  the suffix of libm's functions
 *   $U  unsigned of the same size; of complex numbers the type of a part
 *   $N(  isnan( where that can be
 *   $0 to $9  arguments  @name  another helper, of the same dtype; @f64:name of that one
 * A list ends with a helper without a name. */
typedef struct lam__emit_helper {
    const char *name, *text;
} lam__emit_helper;

typedef struct lam__emit_use {
    const lam__emit_helper *helper;
    lam_dtype dtype;
} lam__emit_use;

/* Elements of an array of the workspace that are needed from one moment to another, and where they are. */
typedef struct lam__emit_request {
    int class;
    int64_t count, number, born, died, at;
} lam__emit_request;

typedef struct lam__emit_plan {
    lam__emit_request *requests;
    int64_t count, room, clock;
    bool made;
    int64_t next;                    /* request to be answered, when it is made */
    int64_t peak[LAM__EMIT_CLASSES]; /* elements of each array */
} lam__emit_plan;

typedef struct lam__emit {
    lam_ctx *ctx;
    const lam__program *program;
    const char *name;
    FILE *file; /* NULL: dry */
    int depth;  /* of braces */
    lam__arena arena;
    lam__emit_place *places; /* per variable */
    int64_t *dies;           /* per variable that has memory: the last equation that needs it */
    int64_t *memory_at;      /* per variable: where it is in the workspace; -1: nowhere (now) */
    int64_t *heir;           /* per variable: the one that is written over it; -1: none */
    int64_t *sole_result;    /* per variable: the output that it is written to; -1: none */
    lam__emit_plan plan;
    lam__emit_constant *constants;
    int64_t constant_count, constant_room;
    int64_t *slots, slot_room; /* a hash table: numbers of constants and 1, 0 where there is none */
    lam__emit_use *uses;
    int64_t use_count, use_room;
    void (*inner)(struct lam__emit *e, void *env); /* writes what makes the elements of a reduction; NULL: memory */
    void *inner_env;
    const lam__equation *current;    /* which is being written, for messages */
    bool *read;                      /* per input: whether an element of it is named */
    int64_t blocks;                  /* equations, or runs of them, so far */
    bool parted;                     /* they are functions of their own, some in each */
    bool hushed, has_complex, works; /* an element of the workspace is named */
    bool called;                     /* this program, by the one around it, which has elements that it makes */
    struct lam__emit *outer;         /* whose equation this program is in; NULL: none */
    struct lam__emit *first, *next;  /* programs in the equations of this one; the one behind this one */
    int functions;                   /* so far, of the outermost one */
} lam__emit;

/* ---- emit_text.c: text ------------------------------------------------------------------------------------------- */

/* To the file as it is; a line of its own, indented by braces. */
void lam__emit_put(lam__emit *e, const char *format, ...) LAM_PRINTF(2, 3);
void lam__emit_line(lam__emit *e, const char *format, ...) LAM_PRINTF(2, 3);
void lam__emit_indent(lam__emit *e);

/* What has no elements is written nowhere and uses nothing; it is only seen whether it has a form. */
typedef struct lam__emit_sink {
    FILE *file;
    bool hushed;
} lam__emit_sink;
static inline lam__emit_sink lam__emit_hush(lam__emit *e, bool hush) {
    const lam__emit_sink before = {e->file, e->hushed};
    if (hush) e->file = NULL;
    e->hushed = e->hushed || hush;
    return before;
}
static inline void lam__emit_speak(lam__emit *e, lam__emit_sink before) {
    e->file = before.file;
    e->hushed = before.hushed;
}

/* A template, for elements of this dtype. */
void lam__emit_expand(lam__emit *e, const char *text, lam_dtype dtype, const char *const arguments[]);

/* Whether this is the name of a helper for some dtype. */
bool lam__emit_is_helper(const char *name);

/* An indented line made of a template. */
void lam__emit_statement(lam__emit *e, const char *text, lam_dtype dtype, const char *const arguments[]);

/* The C type of an element, the suffix of helpers. */
const char *lam__emit_type(lam_dtype dtype);
const char *lam__emit_suffix(lam_dtype dtype);

/* A floating number and element i of memory as C constants, exactly. */
void lam__emit_real(lam_dtype dtype, double x, char text[LAM__EMIT_NUMBER]);
void lam__emit_element(lam_dtype dtype, const void *data, int64_t i, char text[2 * LAM__EMIT_NUMBER + 16]);

/* Opens a loop `for i<name>` for each axis of other than one element; gives how many. names NULL: 0, 1, ... */
int lam__emit_loops(lam__emit *e, int rank, const int64_t dims[], const int names[]);
void lam__emit_close(lam__emit *e, int count);

/* "base[offset + i0 * 12 + i1]" for the loops of these names (NULL: 0, 1, ...); lam__emit_address puts & before it. */
void lam__emit_at(lam__emit *e, const lam__emit_place *x, const int names[], char text[LAM__EMIT_TEXT]);
void lam__emit_address(lam__emit *e, const lam__emit_place *x, char text[LAM__EMIT_TEXT]);

/* The same to be read: a number where all elements are one. */
void lam__emit_value(lam__emit *e, const lam__emit_place *x, const int names[], char text[LAM__EMIT_TEXT]);

/* Loops that copy x to where out is; they have the same dims. */
void lam__emit_copy(lam__emit *e, const lam__emit_place *x, const lam__emit_place *out);

/* ---- emit_memory.c: places --------------------------------------------------------------------------------------- */

/* Where all variables lie, but for the workspace, which is given out as the program is walked. False without memory. */
bool lam__emit_lay_out(lam__emit *e);

/* Whether the results of an equation are only other ways to see its operand. */
static inline bool lam__emit_is_view(const lam__emit *e, const lam__equation *q) {
    return q->outputs && e->program->types[q->first] && e->places[q->first].root != q->first;
}

/* The place of an operand. */
const lam__emit_place *lam__emit_operand(lam__emit *e, const lam__atom *a);

/* Memory for a variable that has none yet; for what is needed while an equation runs. False, -1: none left here. */
bool lam__emit_take(lam__emit *e, int64_t variable);
int64_t lam__emit_reserve(lam__emit *e, lam_dtype dtype, int64_t count);
void lam__emit_give_back(lam__emit *e, int64_t at);

/* emit_plan.c: between the two walks. False without memory. */
bool lam__emit_plan_make(lam__emit *e);

/* Gives back what equations [first, end) were the last to need. */
void lam__emit_release(lam__emit *e, int64_t first, int64_t end);

/* Which array of the workspace holds a dtype, what it is called, and the dtype of each. */
int lam__emit_class(lam_dtype dtype);
extern const lam_dtype lam__emit_class_dtypes[LAM__EMIT_CLASSES];

/* Row-major strides. */
void lam__emit_dense(int rank, const int64_t dims[], int64_t strides[]);

/* ---- writers ----------------------------------------------------------------------------------------------------- */

/* Writes one equation; gives NULL, or what is wrong with it: "has no form in C for i64". */
typedef const char *lam__emit_writer(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                                     const lam__emit_place *const out[]);

typedef struct lam__emit_row {
    const lam_primitive *row;
    lam__emit_writer *write;
} lam__emit_row;

/* Families of rows with a form; each ends with a row of NULL. */
extern const lam__emit_row lam__emit_moves[], lam__emit_sums[], lam__emit_lanes[], lam__emit_indices[],
    lam__emit_matrices[], lam__emit_windows[], lam__emit_draws[], lam__emit_transforms[], lam__emit_bags[];

/* A dense place in memory of another base. */
lam__emit_place lam__emit_dense_place(const char *base, lam_dtype dtype, int rank, const int64_t dims[]);

/* Families of helpers. */
extern const lam__emit_helper lam__emit_scalars[], lam__emit_orders[], lam__emit_factors[], lam__emit_randoms[],
    lam__emit_fourier[], lam__emit_spectra[];

/* emit_sums.c: whether an equation is a reduction; writes one whose element e->inner makes under this name. */
bool lam__emit_is_reduction(const lam__equation *q);
const char *lam__emit_reduce(lam__emit *e, const lam__equation *q, const char *element);

/* emit_sums.c: the statement by which a number $1 takes an element $2; NULL: not for this dtype. */
typedef enum lam__emit_join { LAM__EMIT_SUM, LAM__EMIT_PROD, LAM__EMIT_MOST, LAM__EMIT_LEAST } lam__emit_join;
const char *lam__emit_joining(lam__emit_join join, lam_dtype dtype);

/* What the number is at first. */
const char *lam__emit_start(lam__emit_join join, lam_dtype dtype);

/* emit_each.c: whether an equation is done element by element; writes a run of such equations from number `first` on as
 * one loop and gives the number behind them in *end. */
bool lam__emit_is_each(const lam__emit *e, const lam__equation *q);
const char *lam__emit_each(lam__emit *e, int64_t first, int64_t *end);

/* ---- programs in equations --------------------------------------------------------------------------------------- */

/* emit.c: the dry walk, after which all is known; the function and what it needs, static and with its workspace as the
 * last argument where it has one; the workspace, with that of the programs within. */
lam_status lam__emit_prepare(lam__emit *e);
void lam__emit_function(lam__emit *e);
int64_t lam__emit_workspace(const lam__emit *e);

/* emit_nested.c: makes and prepares the programs in e's equations; gives them up. *wrong: what has no form. */
lam_status lam__emit_open_nested(lam__emit *e, const char **wrong);
void lam__emit_close_nested(lam__emit *e);

/* Writes an equation with programs in it. */
const char *lam__emit_nested(lam__emit *e, const lam__equation *q, const lam__emit_place *const in[],
                             const lam__emit_place *const out[]);

/* emit_scalar.c: of a row that compares whole numbers, its expression where compilers would see the outcome. */
const char *lam__emit_comparison(const lam__equation *q);

/* emit_scalar.c: the expression of an elementwise row on elements of this dtype, with operands $1 to $3 and parameters
 * $4 to $6, which it writes; NULL: none. */
const char *lam__emit_expression(const lam__equation *q, lam_dtype dtype, char parameters[3][LAM__EMIT_NUMBER]);

#endif
