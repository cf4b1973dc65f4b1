/* The case table: what the properties know of each primitive. A row says how the primitive is called by its public
 * operation, on which operands and options (its forms), where they lie, what the result is by an independent reference,
 * and which calls are wrong. Adding a primitive is adding a row; the properties ask for nothing else. */
#ifndef LAM_TESTS_CASES_H
#define LAM_TESTS_CASES_H

#include "tests/primitives/array.h"

enum { CASES_OPERANDS = 4, CASES_OUTPUTS = 3, CASES_ARGS = 16 };

/* Bits of dtypes. A row without them is tried in f64 and f32. */
#define CASES_BIT(dtype) (1u << (dtype))
#define CASES_FLOATS     (CASES_BIT(LAM_F64) | CASES_BIT(LAM_F32))
#define CASES_INTEGERS   (CASES_BIT(LAM_I64) | CASES_BIT(LAM_I32) | CASES_BIT(LAM_U8))
#define CASES_NUMBERS    (CASES_FLOATS | CASES_INTEGERS)
#define CASES_ALL        (CASES_NUMBERS | CASES_BIT(LAM_BOOL))

/* One way to call: types of the operands, "[2,3] i64[4]", where a type without dtype takes each of the row's; and the
 * numbers that call and reference read (axes, steps, a power). A list of forms ends with CASES_END. */
typedef struct cases_form {
    const char *operands;
    int64_t arg[CASES_ARGS];
} cases_form;

typedef struct cases_use cases_use;
typedef void cases_caller(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]);

/* A call that must fail with this status and a message that names the primitive. A list ends with CASES_WRONG_END. */
typedef struct cases_wrong {
    const char *operands;
    lam_status status;
    int64_t arg[CASES_ARGS];
} cases_wrong;

/* The same for what forms cannot say: by another call than the row's. */
typedef struct cases_wrong_call {
    const char *operands;
    lam_status status;
    cases_caller *call;
} cases_wrong_call;

/* clang-format off */
#define CASES_END       {NULL, {0}}
#define CASES_WRONG_END {NULL, LAM_OK, {0}}
/* clang-format on */

typedef struct cases_row cases_row;

/* One use of a row: what call and reference are told. */
struct cases_use {
    const cases_row *row;
    const int64_t *arg;
    int inputs;
    lam_ctx *ctx;
};

/* dtype of an elementwise result: the promoted one, the same with integers taken as f64, or bool. */
typedef enum cases_gives { CASES_PROMOTED, CASES_REAL, CASES_BOOL } cases_gives;

struct cases_row {
    const char *name; /* of the primitive; several rows may share it */
    int outputs;      /* 0 reads as 1 */
    unsigned dtypes;  /* CASES_ bits */
    struct {
        double low, high; /* elements of operand i; both 0: -1.7 to 1.9 */
    } domain[CASES_OPERANDS];
    double ulps;      /* error allowed to values, in units of the dtype's epsilon; 0: 2 */
    bool normwise;    /* relative to the largest element of the result, not to each */
    bool no_gradient; /* the derivative is zero though that of the reference is not */
    int least_rank;   /* of operand 0; where it is 0, one form must have rank 0 */
    const cases_form *forms;
    const cases_wrong *wrong;
    cases_wrong_call wrong_calls[2];

    /* NULL for elementwise rows, which share theirs and name functions below. */
    cases_caller *call;
    void (*reference)(const cases_use *u, const array in[], array out[]);
    void (*fill)(const cases_use *u, int i, array *x); /* what operand i must be beside in its domain; NULL: nothing */

    cases_gives gives;
    lam_tensor *(*unary)(lam_tensor *);
    lam_tensor *(*binary)(lam_tensor *, lam_tensor *);
    lam_tensor *(*ternary)(lam_tensor *, lam_tensor *, lam_tensor *);
    long double (*unary_reference)(long double);
    long double (*binary_reference)(long double, long double);
    long double (*ternary_reference)(long double, long double, long double);

    const void *more; /* what a family's own call and reference know */
};

/* The families; each list ends with a row without a name. */
extern const cases_row cases_unary[];
extern const cases_row cases_binary[];
extern const cases_row cases_layout[];
extern const cases_row cases_slice[];
extern const cases_row cases_reduce[];
extern const cases_row cases_scan[];
extern const cases_row cases_lanes[];
extern const cases_row cases_index[];
extern const cases_row cases_conv[];
extern const cases_row cases_sort[];
extern const cases_row cases_linalg[];
extern const cases_row cases_determinant[];
extern const cases_row cases_plane[];
extern const cases_row cases_equations[];
extern const cases_row cases_spectral[];
extern const cases_row cases_roots[];
extern const cases_row cases_function[];
extern const cases_row cases_random[];
extern const cases_row cases_polynomial[];
extern const cases_row cases_bag[];
extern const cases_row cases_special[];
extern const cases_row cases_bits[];
extern const cases_row cases_integrals[];
extern const cases_row cases_complex_rows[];
extern const cases_row cases_principal[];
extern const cases_row cases_fft[];

/* Row i over all families, NULL behind the last. */
const cases_row *cases_at(int i);
int cases_count(void);

/* The operation and the reference of the row on these operands. */
void cases_call(const cases_use *u, lam_tensor *const in[], lam_tensor *out[]);
void cases_reference(const cases_use *u, const array in[], array out[]);

/* Wrong calls: the row's with complex operands, and with -1 and 0 in place of each element of the first operand. */
cases_caller cases_call_complex, cases_call_negative, cases_call_zeros;

/* Whether the row's call puts operands together from parts (complex numbers from pairs of reals). */
bool cases_of_parts(const cases_row *row);

/* ---- what rows are made of ------------------------------------------------------------------------------------ */

lam_dtype cases_promote(lam_dtype a, lam_dtype b);

/* in[] broadcast against each other: dims of out, and for position e of out the element of operand x. */
void cases_broadcast(int n, const array in[], array *out);
long double cases_broadcast_element(const array *x, const array *out, int64_t e);

/* out[o] = in[from(index)], for references that only move elements: sets the elements of an out whose dims are set. */
typedef void cases_move(const cases_use *u, const array *x, const array *out, const int64_t index[], int64_t from[]);
void cases_gather(const cases_use *u, const array *x, array *out, cases_move *move);

#endif
