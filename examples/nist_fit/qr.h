/* Householder QR for the small dense least-squares problems of a fit. Matrices are column-major: element (i, j) of a
 * matrix with m rows is a[i + j*m]. Nothing allocates, nothing fails: a column of zeros gives a zero on the diagonal
 * of R, which the caller must look at before it solves. Knows nothing of Lamina. */
#ifndef NIST_FIT_QR_H
#define NIST_FIT_QR_H

/* Euclidean norm of n numbers, without overflow or underflow on the way. */
double qr_norm(int n, const double *x);

/* Factors the m by n matrix a (m >= n) in place and applies the same reflections to b (m numbers): afterwards the
 * upper triangle of a is R and b is Q'b. What is left below the diagonal is of no use. */
void qr_factor(int m, int n, double *a, double *b);

/* x = R^-1 b for the upper triangle of a (m rows, n columns). x may be b. */
void qr_solve(int m, int n, const double *a, const double *b, double *x);

/* x = R'^-1 b. x may be b. */
void qr_solve_transposed(int m, int n, const double *a, const double *b, double *x);

#endif
