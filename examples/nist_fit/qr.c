/* Householder QR: reflections one column at a time, applied at once to the columns on the right and to the right-hand
 * side, so that Q never exists. The reflection of column k maps it to -sign(a_kk) |a_k| e_k: the sign that adds and
 * does not cancel (Golub and Van Loan, Matrix Computations, section 5.1). */
#include "qr.h"

#include <math.h>

double qr_norm(int n, const double *x) {
    double largest = 0, sum = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
    if (largest == 0 || !isfinite(largest)) return largest;
    for (int i = 0; i < n; i++) sum += (x[i] / largest) * (x[i] / largest);
    return largest * sqrt(sum);
}

/* c -= 2 v (v'c) / (v'v), for a v scaled such that v'v = 2 v[0]. */
static void reflect(int n, const double *v, double *c) {
    double dot = 0;
    for (int i = 0; i < n; i++) dot += v[i] * c[i];
    double scale = dot / v[0];
    for (int i = 0; i < n; i++) c[i] -= scale * v[i];
}

void qr_factor(int m, int n, double *a, double *b) {
    for (int k = 0; k < n; k++) {
        double *v = a + k + (long)k * m;
        int length = m - k;
        double norm = copysign(qr_norm(length, v), v[0]);
        if (norm == 0) continue;
        for (int i = 0; i < length; i++) v[i] /= norm;
        v[0] += 1; /* now v'v = 2 v[0] */
        for (int j = k + 1; j < n; j++) reflect(length, v, a + k + (long)j * m);
        reflect(length, v, b + k);
        v[0] = -norm;
    }
}

void qr_solve(int m, int n, const double *a, const double *b, double *x) {
    for (int j = 0; j < n; j++) x[j] = b[j];
    for (int j = n - 1; j >= 0; j--) {
        x[j] /= a[j + (long)j * m];
        for (int i = 0; i < j; i++) x[i] -= a[i + (long)j * m] * x[j];
    }
}

void qr_solve_transposed(int m, int n, const double *a, const double *b, double *x) {
    for (int j = 0; j < n; j++) {
        double sum = b[j];
        for (int i = 0; i < j; i++) sum -= a[i + (long)j * m] * x[i];
        x[j] = sum / a[j + (long)j * m];
    }
}
