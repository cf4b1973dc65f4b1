/* Matrices of the references of linear algebra: small ones in long double, taken from stacks and put back. */
#ifndef LAM_TESTS_CASES_MATRIX_H
#define LAM_TESTS_CASES_MATRIX_H

#include "tests/primitives/cases.h"

enum { MOST = 9 }; /* rows or columns of a matrix of the references */

typedef struct matrix {
    int64_t m, n;
    long double x[MOST][MOST];
} matrix;

static inline matrix turned(const matrix *a) {
    matrix t = {.m = a->n, .n = a->m};
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t k = 0; k < a->n; k++) t.x[k][i] = a->x[i][k];
    return t;
}

static inline matrix times(const matrix *a, const matrix *b) {
    matrix c = {.m = a->m, .n = b->n};
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t k = 0; k < b->n; k++)
            for (int64_t j = 0; j < a->n; j++) c.x[i][k] += a->x[i][j] * b->x[j][k];
    return c;
}

static inline matrix identity(int64_t n) {
    matrix e = {.m = n, .n = n};
    for (int64_t i = 0; i < n; i++) e.x[i][i] = 1;
    return e;
}

/* a^-1 b by Gauss and Jordan, without exchanges: a is positive definite. */
static inline matrix solved(matrix a, matrix b) {
    for (int64_t i = 0; i < a.n; i++)
        for (int64_t r = 0; r < a.n; r++) {
            long double by = r == i ? 0 : a.x[r][i] / a.x[i][i];
            for (int64_t c = 0; c < a.n; c++) a.x[r][c] -= by * a.x[i][c];
            for (int64_t c = 0; c < b.n; c++) b.x[r][c] -= by * b.x[i][c];
        }
    for (int64_t i = 0; i < a.n; i++)
        for (int64_t c = 0; c < b.n; c++) b.x[i][c] /= a.x[i][i];
    return b;
}

/* Matrix number b of a stack. */
static inline matrix matrix_of(const array *x, int64_t b) {
    matrix a = {.m = x->dims[x->rank - 2], .n = x->dims[x->rank - 1]};
    for (int64_t i = 0; i < a.m; i++)
        for (int64_t k = 0; k < a.n; k++) a.x[i][k] = x->data[(b * a.m + i) * a.n + k];
    return a;
}

static inline void put(array *out, int64_t b, const matrix *a) {
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t k = 0; k < a->n; k++) out->data[(b * a->m + i) * a->n + k] = a->x[i][k];
}

/* Dims: the leading axes of x, then these; second -1: one only. Gives how many matrices there are. */
static inline int64_t shape_like(const array *x, array *out, int64_t first, int64_t second) {
    int64_t dims[ARRAY_RANK], batch = 1;
    int rank = x->rank - 2;
    for (int k = 0; k < rank; k++) batch *= dims[k] = x->dims[k];
    dims[rank++] = first;
    if (second >= 0) dims[rank++] = second;
    array_shape(out, x->dtype, rank, dims);
    return batch;
}

#endif
