/* Stacks of small products of every floating type, as they lie and transposed: lam_matmul beside a loop over CBLAS and
 * beside two plain loops, of which the fastest counts (rows of the result added up, dots), by processor time, in turns,
 * the least of some rounds. Prints how many are slower than that by more than 3 %, the slowest, and the median; then
 * those that are. Arguments: f64, f32, c128 or c64 (default all). */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>
#include <lamina/lamina.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/timing.h"

enum { BYTES = 300000, STACK = 1000, LARGEST = 32, ROUNDS = 9, WAYS = 4, SHAPES = 200, CASES = 4 * SHAPES };

typedef struct job {
    int m, k, n, x_row, x_col, y_row, y_col, stack;
    lam_dtype dtype;
    const void *x, *y;
    void *out;
    lam_tensor *left, *right;
} job;

static void by_lamina(const job *j) {
    lam_drop(lam_matmul(j->left, j->right));
}

static void by_cblas(const job *j) {
    const CBLAS_TRANSPOSE tx = j->x_col == 1 ? CblasNoTrans : CblasTrans,
                          ty = j->y_col == 1 ? CblasNoTrans : CblasTrans;
    const int lx = tx == CblasNoTrans ? j->k : j->m, ly = ty == CblasNoTrans ? j->n : j->k, m = j->m, k = j->k,
              n = j->n;
    static const double one[] = {1, 0}, zero[] = {0, 0};
    static const float one_f32[] = {1, 0}, zero_f32[] = {0, 0};
    const size_t item = lam_dtype_bytes(j->dtype), mk = (size_t)(m * k) * item, kn = (size_t)(k * n) * item;
    const char *x = j->x, *y = j->y;
    char *out = j->out;
    for (int b = 0; b < j->stack; b++, x += mk, y += kn, out += (size_t)(m * n) * item) {
        const void *p = x, *q = y;
        if (j->dtype == LAM_F64) cblas_dgemm(CblasRowMajor, tx, ty, m, n, k, 1, p, lx, q, ly, 0, (void *)out, n);
        if (j->dtype == LAM_F32) cblas_sgemm(CblasRowMajor, tx, ty, m, n, k, 1, p, lx, q, ly, 0, (void *)out, n);
        if (j->dtype == LAM_C128) cblas_zgemm(CblasRowMajor, tx, ty, m, n, k, one, p, lx, q, ly, zero, out, n);
        if (j->dtype == LAM_C64) cblas_cgemm(CblasRowMajor, tx, ty, m, n, k, one_f32, p, lx, q, ly, zero_f32, out, n);
    }
}

/* The plain loops of one type: rows and dots. PLUS(sum, a, b) adds a product. */
#define LOOPS(T, name, PLUS, PARTS)                                                                                    \
    static void rows_##name(const job *j) {                                                                            \
        const int m = j->m, k = j->k, n = j->n;                                                                        \
        const T *x = j->x, *y = j->y;                                                                                  \
        T *restrict out = j->out;                                                                                      \
        for (int b = 0; b < j->stack; b++, x += m * k * PARTS, y += k * n * PARTS, out += m * n * PARTS) {             \
            memset(out, 0, (size_t)(m * n * PARTS) * sizeof(T));                                                       \
            for (int i = 0; i < m; i++)                                                                                \
                for (int l = 0; l < k; l++) {                                                                          \
                    const T *a = x + (i * j->x_row + l * j->x_col) * PARTS;                                            \
                    for (int c = 0; c < n; c++)                                                                        \
                        PLUS((out + (i * n + c) * PARTS), a, (y + (l * j->y_row + c * j->y_col) * PARTS));             \
                }                                                                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static void dots_##name(const job *j) {                                                                            \
        const int m = j->m, k = j->k, n = j->n;                                                                        \
        const T *x = j->x, *y = j->y;                                                                                  \
        T *restrict out = j->out;                                                                                      \
        for (int b = 0; b < j->stack; b++, x += m * k * PARTS, y += k * n * PARTS, out += m * n * PARTS)               \
            for (int i = 0; i < m; i++)                                                                                \
                for (int c = 0; c < n; c++) {                                                                          \
                    T sum[PARTS] = {0};                                                                                \
                    for (int l = 0; l < k; l++)                                                                        \
                        PLUS(sum, (x + (i * j->x_row + l * j->x_col) * PARTS),                                         \
                             (y + (l * j->y_row + c * j->y_col) * PARTS));                                             \
                    memcpy(out + (i * n + c) * PARTS, sum, sizeof sum);                                                \
                }                                                                                                      \
    }
#define PLUS_REAL(sum, a, b) (sum)[0] += (a)[0] * (b)[0]
#define PLUS_COMPLEX(sum, a, b)                                                                                        \
    (sum)[0] += (a)[0] * (b)[0] - (a)[1] * (b)[1], (sum)[1] += (a)[0] * (b)[1] + (a)[1] * (b)[0]
LOOPS(double, f64, PLUS_REAL, 1)
LOOPS(float, f32, PLUS_REAL, 1)
LOOPS(double, c128, PLUS_COMPLEX, 2)
LOOPS(float, c64, PLUS_COMPLEX, 2)

typedef void way(const job *j);
static const struct {
    const char *name;
    lam_dtype dtype;
    way *rows, *dots;
} types[] = {{"f64", LAM_F64, rows_f64, dots_f64},
             {"f32", LAM_F32, rows_f32, dots_f32},
             {"c128", LAM_C128, rows_c128, dots_c128},
             {"c64", LAM_C64, rows_c64, dots_c64}};

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The time of the fastest other way by Lamina's. */
static double measure(const job *j, way *const ways[WAYS]) {
    double least[WAYS];
    const double work = (double)j->stack * (0.1 * j->m * j->k * j->n + 20);
    const int repeats = 1 + (int)(1e5 / work);
    for (int round = 0; round < ROUNDS; round++)
        for (int w = 0; w < WAYS; w++) {
            const double start = seconds();
            for (int i = 0; i < repeats; i++) ways[w](j);
            const double time = seconds() - start;
            if (round == 0 || time < least[w]) least[w] = time;
        }
    double other = least[1];
    for (int w = 2; w < WAYS; w++) other = least[w] < other ? least[w] : other;
    return other / least[0];
}

/* A stack of matrices without gaps, and a view with the last two axes exchanged where they lie `turned`. */
static lam_tensor *stack_of(lam_ctx *ctx, lam_dtype dtype, int stack, int rows, int cols, bool turned,
                            const void **data) {
    const lam_dims dims = turned ? LAM_DIMS(stack, cols, rows) : LAM_DIMS(stack, rows, cols);
    lam_tensor *x = lam_contiguous(lam_full(ctx, dtype, dims, 0.5));
    *data = lam_data(x);
    return turned ? lam_matrix_transpose(x) : x;
}

static double ratio_of(lam_ctx *ctx, size_t type, const int size[3], int layout, void *room) {
    way *const ways[WAYS] = {by_lamina, by_cblas, types[type].rows, types[type].dots};
    job j = {.m = size[0], .k = size[1], .n = size[2], .dtype = types[type].dtype, .out = room};
    const bool tx = layout >> 1, ty = layout & 1;
    const size_t item = lam_dtype_bytes(j.dtype);
    j.stack = (int)((size_t)BYTES / item) / (j.m * j.k + j.k * j.n + j.m * j.n);
    j.stack = j.stack > STACK ? STACK : j.stack < 2 ? 2 : j.stack;
    j.x_row = tx ? 1 : j.k, j.x_col = tx ? j.m : 1, j.y_row = ty ? 1 : j.n, j.y_col = ty ? j.k : 1;
    lam_scope *scope = lam_scope_begin(ctx);
    j.left = stack_of(ctx, j.dtype, j.stack, j.m, j.k, tx, &j.x);
    j.right = stack_of(ctx, j.dtype, j.stack, j.k, j.n, ty, &j.y);
    const double ratio = measure(&j, ways);
    lam_scope_end(scope, NULL, 0);
    return ratio;
}

/* Squares, then sizes of which some are small. */
static int shapes_of(int shapes[SHAPES][3]) {
    int count = 0;
    for (int n = 1; n <= LARGEST; n++) shapes[count][0] = shapes[count][1] = n, shapes[count++][2] = n;
    for (uint32_t state = 5; count < SHAPES; count++)
        for (int i = 0; i < 3; i++) {
            state = state * 1664525u + 1013904223u;
            const int most = state >> 30 == 0 ? 4 : LARGEST;
            shapes[count][i] = 1 + (int)((state >> 8) % (uint32_t)most);
        }
    return count;
}

int main(int argc, char **argv) {
    int shapes[SHAPES][3];
    const int count = shapes_of(shapes);
    lam_ctx *ctx = lam_ctx_new(NULL);
    void *room = malloc(2 * BYTES);
    for (size_t type = 0; room && type < sizeof types / sizeof *types; type++) {
        if (argc > 1 && strcmp(argv[1], types[type].name)) continue;
        double ratios[CASES], sorted[CASES];
        int slower = 0;
        for (int i = 0; i < 4 * count; i++) {
            sorted[i] = ratios[i] = ratio_of(ctx, type, shapes[i / 4], i % 4, room);
            slower += ratios[i] < 0.97;
        }
        qsort(sorted, (size_t)(4 * count), sizeof *sorted, timing_compare);
        printf("%-5s%5d of %d slower, least ratio %.2f, median %.2f\n", types[type].name, slower, 4 * count, sorted[0],
               sorted[2 * count]);
        for (int i = 0; i < 4 * count; i++)
            if (ratios[i] < 0.97)
                printf("      %2d x %2d x %2d %c%c %.2f\n", shapes[i / 4][0], shapes[i / 4][1], shapes[i / 4][2],
                       i % 4 >> 1 ? 't' : 'n', i % 2 ? 't' : 'n', ratios[i]);
    }
    if (lam_status_of(ctx) != LAM_OK) fprintf(stderr, "%s\n", lam_error(ctx));
    lam_ctx_free(ctx);
    free(room);
    return EXIT_SUCCESS;
}
