/* Plain arrays for the tests of primitives: row-major long doubles with dims and a dtype. References compute with them
 * and with nothing of the library, so that a value is checked against mathematics; tensors are made from them in every
 * layout that memory can have, and compared with them. */
#ifndef LAM_TESTS_ARRAY_H
#define LAM_TESTS_ARRAY_H

#include <lamina/lamina.h>

enum { ARRAY_ELEMENTS = 512, ARRAY_RANK = 8 };

typedef struct array {
    lam_dtype dtype;
    int rank;
    int64_t dims[ARRAY_RANK];
    int64_t count;
    long double data[ARRAY_ELEMENTS];
} array;

/* How a tensor lies in memory. REPEATED has stride 0 along axis 0, so array_repeat must have made the data so. */
typedef enum layout { PLAIN, COLUMNS, BACKWARDS, GAPS, REPEATED, LAYOUTS } layout;

extern const char *const layout_names[LAYOUTS];

bool array_is_float(const array *x);
double array_epsilon(lam_dtype dtype); /* of a floating dtype; 0 for the others */

/* Sets dtype and dims; the elements stay what they are. */
void array_shape(array *x, lam_dtype dtype, int rank, const int64_t *dims);
void array_like(array *x, const array *other);

/* Reads one type from a text, for example "[2,3]" or "i64[4]"; a type without dtype has the usual one. Gives what
 * follows. */
const char *array_type(array *x, const char *text, lam_dtype usual, bool *named);

/* Row-major position to index and back. */
void array_index(const array *x, int64_t position, int64_t index[]);
int64_t array_position(const array *x, const int64_t index[]);

/* Elements spread over [low, high], all different and never within 0.04 of a multiple of 1/2, where steps and kinks
 * lie; whole numbers for integers. Each phase is another set. */
void array_fill(array *x, double low, double high, int phase);

/* Makes all parts along axis 0 equal to the first. */
void array_repeat(array *x);

/* n arrays of one type along a new axis, the first or the last. */
void array_stack(array *out, int n, const array *const parts[], bool last);

/* A tensor with these elements, in memory of its own with this layout. */
lam_tensor *array_tensor(lam_ctx *ctx, const array *x, layout how);

/* Elements, dtype and dims of a tensor. False if it cannot be read. */
bool array_read(array *x, lam_tensor *t);

/* Where got differs from want by more than `tolerance` times the larger of |want| and `scale`: that position, -1 for
 * nowhere, -2 if dtype or dims differ. NaN equals NaN. */
int64_t array_compare(const array *got, const array *want, long double tolerance, long double scale);

long double array_largest(const array *x);
long double array_dot(const array *x, const array *y);

#endif
