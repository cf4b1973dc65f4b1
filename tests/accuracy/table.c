/* Prints what tests/README.md shows of accuracy: the largest errors found, as a table in Markdown. Not a test. */
#include <stdio.h>

#include "tests/accuracy/measure.h"

enum { SAMPLES = 3000, SLOPES = 3000 };

static void print_slopes(lam_ctx *ctx, const measure_row *row, lam_dtype dtype) {
    double worst = -1;
    for (int by = 0; by < row->inputs; by++) {
        if (!(row->derivatives >> by & 1u)) continue;
        double ulps = measure(ctx, row, dtype, by, SLOPES).ulps;
        if (ulps > worst) worst = ulps;
    }
    if (worst < 0) printf(" |");
    else printf(" %.2f |", worst);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    printf("| function | promised | f64 | f32 | derivative f64 | f32 |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < measure_count; i++) {
        const measure_row *row = &measure_rows[i];
        printf("| %s | %g | %.2f | %.2f |", row->name, row->bound, measure(ctx, row, LAM_F64, -1, SAMPLES).ulps,
               measure(ctx, row, LAM_F32, -1, SAMPLES).ulps);
        print_slopes(ctx, row, LAM_F64);
        print_slopes(ctx, row, LAM_F32);
        printf("\n");
        fflush(stdout);
    }
    lam_ctx_free(ctx);
    return 0;
}
