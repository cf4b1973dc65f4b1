/* Hares and lynxes: the six numbers of a Lotka-Volterra system fitted to 21 years of pelts, by lam_minimize, which has
 * the gradient of a sum over the solution of the differential equation, from eight starts at once, not all of which
 * lead to the same place; then standard errors, by the Hessian of the same; and what more lynxes at the beginning would
 * have changed in the last year, in forward mode.
 * Source of the numbers: Hudson's Bay Company, 1900 to 1920, in thousands, as in Carpenter, Predator-Prey Population
 * Dynamics: the Lotka-Volterra model in Stan (2018), whose posterior means are 0.55, 0.028, 0.80, 0.024, 34.0 and 5.9.
 */
#include <lamina/lamina.h>

#include <math.h>

enum { YEARS = 21, UNKNOWNS = 6, STARTS = 8 };

static const double hares[YEARS] = {30,   47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22,   25.4, 27.1,
                                    40.3, 57,   76.6, 52.3, 19.5, 11.2, 7.6,  14.6, 16.2, 24.7};
static const double lynxes[YEARS] = {4, 6.1,  9.8,  35.2, 59.4, 41.7, 19,   13,  8.3,  9.1, 7.4,
                                     8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6};
static const char *const names[UNKNOWNS] = {"birth of hares",       "their death by lynxes", "death of lynxes",
                                            "their birth by hares", "hares in 1900",         "lynxes in 1900"};

/* [hares, lynxes], t, rates -> the change of both. */
static void change(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    lam_tensor *y[2], *rate[4];
    lam_unstack(in[0], 0, y, 2);
    lam_unstack(in[2], 0, rate, 4);
    lam_tensor *meetings = lam_mul(y[0], y[1]);
    out[0] = lam_stack(LAM_LIST(lam_sub(lam_mul(rate[0], y[0]), lam_mul(rate[1], meetings)),
                                lam_sub(lam_mul(rate[3], meetings), lam_mul(rate[2], y[1]))),
                       0);
}

/* The logarithms of rates and of the first year -> [year, species]. */
static void history(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *x = lam_exp(in[0]), *years = lam_arange(ctx, LAM_F64, 0, YEARS, 1);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "change", .body = change, .inputs = 3, .outputs = 1});
    (void)env;
    out[0] = lam_odeint(f, lam_slice_axis(x, 0, 4, 6), years, LAM_LIST(lam_slice_axis(x, 0, 0, 4)), NULL, NULL);
}

/* Half of the sum of squares between logarithms. */
static void misfit(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *species[] = {lam_array(ctx, LAM_F64, LAM_DIMS(YEARS), hares),
                             lam_array(ctx, LAM_F64, LAM_DIMS(YEARS), lynxes)};
    lam_tensor *seen = lam_stack((lam_list){2, species}, 1), *y;
    history(ctx, in, &y, env);
    out[0] = lam_mul(0.5, lam_sum(lam_square(lam_sub(lam_log(y), lam_log(seen))), NULL));
}

static void search(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_minimum found;
    (void)ctx;
    out[0] = lam_minimize(env, in[0], LAM_LIST(), &found, NULL);
    out[1] = found.value;
}

/* Each of three rates half or twice as large, in all ways. */
static lam_tensor *starts(lam_ctx *ctx) {
    double x[STARTS][UNKNOWNS];
    for (int k = 0; k < STARTS; k++) {
        const double usual[UNKNOWNS] = {0.5, 0.02, 0.5, 0.02, 30, 4};
        for (int i = 0; i < UNKNOWNS; i++) x[k][i] = log(usual[i] * (i < 3 && k >> i & 1 ? 2 : 1));
    }
    return lam_array(ctx, LAM_F64, LAM_DIMS(STARTS, UNKNOWNS), x);
}

int main(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = "misfit", .body = misfit, .inputs = 1, .outputs = 1});
    lam_fn *g = lam_fn_new(ctx, &(lam_fn_options){.name = "history", .body = history, .inputs = 1, .outputs = 1});
    lam_fn *h =
        lam_fn_new(ctx, &(lam_fn_options){.name = "search", .body = search, .inputs = 1, .outputs = 2, .env = f});
    lam_tensor *ends[2];
    lam_call(lam_vmap(h, NULL), LAM_LIST(starts(ctx)), ends, 2);
    printf("misfits ");
    lam_print(stdout, lam_round_to(ends[1], 3));
    lam_tensor *x = lam_take(ends[0], lam_argmin(ends[1], 0), 0);
    lam_tensor *covariance = lam_inv(lam_apply(lam_hessian(f, NULL), LAM_LIST(x)));
    const double variance = 2 * lam_item(lam_min_reduce(ends[1], NULL)) / (2 * YEARS - UNKNOWNS);
    const double *at = lam_data(lam_exp(x)), *of = lam_data(lam_contiguous(lam_diagonal(covariance, 0, 0, 1)));
    printf("standard deviation of logarithms %.3f\n", sqrt(variance));
    for (int k = 0; at && of && k < UNKNOWNS; k++)
        printf("%-22s %7.3f, give or take %2.0f %%\n", names[k], at[k], 100 * sqrt(variance * of[k]));
    lam_tensor *last = lam_eq(lam_arange(ctx, LAM_I64, 0, UNKNOWNS, 1), UNKNOWNS - 1);
    lam_tensor *more = lam_where(last, lam_exp(lam_neg(x)), 0.0); /* of the logarithm */
    lam_tensor *y, *dy;
    lam_jvp(g, LAM_LIST(x), LAM_LIST(more), &y, &dy, 1, NULL);
    printf("in 1920, and for each thousand of lynxes more in 1900:\n");
    lam_print(stdout, lam_round_to(lam_stack(LAM_LIST(lam_index(y, 0, -1), lam_index(dy, 0, -1)), 0), 2));
    if (lam_status_of(ctx)) fprintf(stderr, "%s\n", lam_error(ctx));
    const int failed = lam_status_of(ctx) != LAM_OK;
    lam_ctx_free(ctx);
    return failed;
}
