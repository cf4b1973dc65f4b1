/* What the matrix exponential does element by element in one floating type, included by expm.c with T and FN. No
 * include guard: that is the point. */

/* out = sum of c[i] x[i] + by the identity, in rows of `width`; out may be one of the x. */
static void FN(combine)(int64_t n, int64_t width, int count, const double c[], void *const x[], double by, void *out) {
    for (int64_t e = 0; e < n * width; e++) {
        T sum = 0;
        for (int i = 0; i < count; i++) sum += (T)c[i] * ((const T *)x[i])[e];
        ((T *)out)[e] = sum + (e % (width + 1) == 0 ? (T)by : 0);
    }
}

/* The largest sum of sizes in a column, NaN if there is one, with `sums` as room for a row. The comparison is written
 * so that a NaN, once met, is not replaced: the sum of another column is not `<=` it. */
static double FN(norm)(int64_t n, int64_t width, const T *x, T *sums) {
    double most = 0;
    for (int64_t j = 0; j < width; j++) sums[j] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < width; j++) sums[j] += x[i * width + j] < 0 ? -x[i * width + j] : x[i * width + j];
    for (int64_t j = n; j < width; j++) sums[j] += sums[j - n]; /* the change stands above the matrix again */
    for (int64_t j = 0; j < width; j++)
        if (!(sums[j] <= most)) most = (double)sums[j];
    return most;
}

/* log2 of the largest sum in a column of |x|^power, with room for two rows. Rows are brought to a largest element of 1
 * after each product, and the logarithms of the factors added, so powers whose elements have no numbers are measured
 * too; 0 has the logarithm -inf. */
static double FN(growth)(int64_t n, int64_t width, const T *x, int power, T *v, T *next) {
    double grown = 0;
    for (int64_t j = 0; j < width; j++) v[j] = 1;
    for (int k = 0; k < power; k++) {
        T most = 0;
        for (int64_t j = 0; j < width; j++) next[j] = 0;
        for (int64_t i = 0; i < n; i++) {
            const T *row = x + i * width;
            for (int64_t j = 0; j < width; j++) next[j] += v[i] * (row[j] < 0 ? -row[j] : row[j]);
            for (int64_t j = n; j < width; j++) next[j] += v[n + i] * (row[j - n] < 0 ? -row[j - n] : row[j - n]);
        }
        for (int64_t j = 0; j < width; j++)
            if (next[j] > most) most = next[j];
        /* x^k is 0, and so are all higher powers. */
        if (most == 0) return -INFINITY;
        grown += log2((double)most);
        for (int64_t j = 0; j < width; j++) v[j] = next[j] / most;
    }
    return grown;
}

/* Columns of x from `first` on, in rows of `width`, plus or minus y [n, n]. */
static void FN(change_columns)(int64_t n, int64_t width, int64_t first, bool minus, const T *y, T *x) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) x[i * width + first + j] += minus ? -y[i * n + j] : y[i * n + j];
}

/* The largest size of an element, NaN if there is one. */
static double FN(largest)(int64_t count, const T *x) {
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        const double size = fabs((double)x[i]);
        if (!(size <= most)) most = size;
    }
    return most;
}

/* [x, by e], and its right half back, over `by`. In f64 for both types: `by` may be a number that f32 does not have. */
static void FN(put_beside)(int64_t n, const T *x, const T *e, double by, T *both) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            both[i * 2 * n + j] = x[i * n + j];
            both[i * 2 * n + n + j] = (T)(by * (double)e[i * n + j]);
        }
}

static void FN(take_beside)(int64_t n, const T *both, double by, T *out) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) out[i * n + j] = (T)((double)both[i * 2 * n + n + j] / by);
}
