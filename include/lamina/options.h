/* For C++: each call that takes options by pointer takes them by reference too, so that they can be written inline:
 * lam_sum(x, {LAM_AXES(0), true}). See NOTE [options in C++] in lists.h. Nothing for C. Each overload behaves and fails
 * as the call of the same name that takes a pointer. */
#ifndef LAMINA_OPTIONS_H
#define LAMINA_OPTIONS_H

#include <lamina/context.h>
#include <lamina/control.h>
#include <lamina/convolution.h>
#include <lamina/fft.h>
#include <lamina/fn.h>
#include <lamina/function.h>
#include <lamina/indexing.h>
#include <lamina/linalg.h>
#include <lamina/neural.h>
#include <lamina/numeric.h>
#include <lamina/ode.h>
#include <lamina/ops.h>
#include <lamina/optimize.h>
#include <lamina/random.h>
#include <lamina/reductions.h>
#include <lamina/signal.h>
#include <lamina/tensor.h>
#include <lamina/program.h>
#include <lamina/sparse.h>
#include <lamina/structured.h>
#include <lamina/transforms.h>

#ifdef __cplusplus
extern "C++" {

/* ---- context.h --------------------------------------------------------------------------------------------------- */

inline lam_ctx *lam_ctx_new(const lam_ctx_options &options) {
    return lam_ctx_new(&options);
}

/* ---- fn.h -------------------------------------------------------------------------------------------------------- */

inline lam_fn *lam_fn_new(lam_ctx *ctx, const lam_fn_options &options) {
    return lam_fn_new(ctx, &options);
}

/* ---- tensor.h ---------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_borrow(lam_ctx *ctx, lam_dtype dtype, lam_dims dims, void *data,
                              const lam_borrow_options &options) {
    return lam_borrow(ctx, dtype, dims, data, &options);
}

/* ---- reductions.h ------------------------------------------------------------------------------------------------ */

inline lam_tensor *lam_sum(lam_tensor *x, const lam_reduce_options &options) {
    return lam_sum(x, &options);
}
inline lam_tensor *lam_prod(lam_tensor *x, const lam_reduce_options &options) {
    return lam_prod(x, &options);
}
inline lam_tensor *lam_max_reduce(lam_tensor *x, const lam_reduce_options &options) {
    return lam_max_reduce(x, &options);
}
inline lam_tensor *lam_min_reduce(lam_tensor *x, const lam_reduce_options &options) {
    return lam_min_reduce(x, &options);
}
inline lam_tensor *lam_and_reduce(lam_tensor *x, const lam_reduce_options &options) {
    return lam_and_reduce(x, &options);
}
inline lam_tensor *lam_or_reduce(lam_tensor *x, const lam_reduce_options &options) {
    return lam_or_reduce(x, &options);
}
inline lam_tensor *lam_xor_reduce(lam_tensor *x, const lam_reduce_options &options) {
    return lam_xor_reduce(x, &options);
}
inline lam_tensor *lam_any(lam_tensor *x, const lam_reduce_options &options) {
    return lam_any(x, &options);
}
inline lam_tensor *lam_all(lam_tensor *x, const lam_reduce_options &options) {
    return lam_all(x, &options);
}
inline lam_tensor *lam_logsumexp(lam_tensor *x, const lam_reduce_options &options) {
    return lam_logsumexp(x, &options);
}
inline lam_tensor *lam_cov_with(lam_tensor *x, const lam_cov_options &options) {
    return lam_cov_with(x, &options);
}
inline lam_tensor *lam_mean(lam_tensor *x, const lam_reduce_options &options) {
    return lam_mean(x, &options);
}
inline lam_tensor *lam_var(lam_tensor *x, const lam_var_options &options) {
    return lam_var(x, &options);
}
inline lam_tensor *lam_std(lam_tensor *x, const lam_var_options &options) {
    return lam_std(x, &options);
}
inline lam_tensor *lam_norm(lam_tensor *x, const lam_norm_options &options) {
    return lam_norm(x, &options);
}
inline lam_tensor *lam_ptp(lam_tensor *x, const lam_reduce_options &options) {
    return lam_ptp(x, &options);
}
inline lam_tensor *lam_count_nonzero(lam_tensor *x, const lam_reduce_options &options) {
    return lam_count_nonzero(x, &options);
}
inline lam_tensor *lam_nansum(lam_tensor *x, const lam_reduce_options &options) {
    return lam_nansum(x, &options);
}
inline lam_tensor *lam_nanmean(lam_tensor *x, const lam_reduce_options &options) {
    return lam_nanmean(x, &options);
}
inline lam_tensor *lam_nanmax(lam_tensor *x, const lam_reduce_options &options) {
    return lam_nanmax(x, &options);
}
inline lam_tensor *lam_nanmin(lam_tensor *x, const lam_reduce_options &options) {
    return lam_nanmin(x, &options);
}
inline lam_tensor *lam_nanprod(lam_tensor *x, const lam_reduce_options &options) {
    return lam_nanprod(x, &options);
}
inline lam_tensor *lam_nanvar(lam_tensor *x, const lam_var_options &options) {
    return lam_nanvar(x, &options);
}
inline lam_tensor *lam_nanstd(lam_tensor *x, const lam_var_options &options) {
    return lam_nanstd(x, &options);
}
inline lam_tensor *lam_average(lam_tensor *x, lam_tensor *weights, const lam_reduce_options &options) {
    return lam_average(x, weights, &options);
}
inline lam_tensor *lam_quantile(lam_tensor *x, lam_tensor *q, const lam_quantile_options &options) {
    return lam_quantile(x, q, &options);
}
inline lam_tensor *lam_nanquantile(lam_tensor *x, lam_tensor *q, const lam_quantile_options &options) {
    return lam_nanquantile(x, q, &options);
}
inline lam_tensor *lam_nanpercentile(lam_tensor *x, lam_tensor *q, const lam_quantile_options &options) {
    return lam_nanpercentile(x, q, &options);
}
inline lam_tensor *lam_nanmedian(lam_tensor *x, const lam_reduce_options &options) {
    return lam_nanmedian(x, &options);
}
inline lam_tensor *lam_logmeanexp(lam_tensor *x, const lam_reduce_options &options) {
    return lam_logmeanexp(x, &options);
}
inline lam_tensor *lam_percentile(lam_tensor *x, lam_tensor *q, const lam_quantile_options &options) {
    return lam_percentile(x, q, &options);
}
inline lam_tensor *lam_median(lam_tensor *x, const lam_reduce_options &options) {
    return lam_median(x, &options);
}
inline lam_tensor *lam_reduce(lam_fn *f, lam_tensor *x, lam_tensor *init, const lam_reduce_options &options) {
    return lam_reduce(f, x, init, &options);
}

/* ---- ops.h ------------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_pad(lam_tensor *x, lam_dims low, lam_dims high, const lam_pad_options &options) {
    return lam_pad(x, low, high, &options);
}

/* ---- linalg.h ---------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_dot_general(lam_tensor *x, lam_tensor *y, const lam_dot_general_options &options) {
    return lam_dot_general(x, y, &options);
}
inline lam_tensor *lam_triangular_solve(lam_tensor *a, lam_tensor *b, const lam_triangular_solve_options &options) {
    return lam_triangular_solve(a, b, &options);
}
inline lam_status lam_qr(lam_tensor *x, lam_tensor **q, lam_tensor **r, const lam_qr_options &options) {
    return lam_qr(x, q, r, &options);
}
inline lam_status lam_svd(lam_tensor *x, lam_tensor **u, lam_tensor **s, lam_tensor **vt,
                          const lam_svd_options &options) {
    return lam_svd(x, u, s, vt, &options);
}
inline lam_status lam_schur(lam_tensor *x, lam_tensor **form, lam_tensor **vectors, const lam_schur_options &options) {
    return lam_schur(x, form, vectors, &options);
}
inline lam_tensor *lam_pinv(lam_tensor *x, const lam_rank_options &options) {
    return lam_pinv(x, &options);
}
inline lam_tensor *lam_lstsq(lam_tensor *a, lam_tensor *b, const lam_rank_options &options) {
    return lam_lstsq(a, b, &options);
}
inline lam_tensor *lam_matrix_rank(lam_tensor *x, const lam_rank_options &options) {
    return lam_matrix_rank(x, &options);
}
inline lam_tensor *lam_matrix_norm(lam_tensor *x, const lam_matrix_norm_options &options) {
    return lam_matrix_norm(x, &options);
}

/* ---- convolution.h ----------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_conv_general(lam_tensor *x, lam_tensor *w, const lam_conv_options &options) {
    return lam_conv_general(x, w, &options);
}
inline lam_tensor *lam_conv_transpose(lam_tensor *x, lam_tensor *w, const lam_conv_options &options) {
    return lam_conv_transpose(x, w, &options);
}
inline lam_tensor *lam_reduce_window_sum(lam_tensor *x, const lam_window_options &options) {
    return lam_reduce_window_sum(x, &options);
}
inline lam_tensor *lam_reduce_window_max(lam_tensor *x, const lam_window_options &options) {
    return lam_reduce_window_max(x, &options);
}
inline lam_tensor *lam_reduce_window_min(lam_tensor *x, const lam_window_options &options) {
    return lam_reduce_window_min(x, &options);
}
inline lam_tensor *lam_reduce_window_argmax(lam_tensor *x, const lam_window_options &options) {
    return lam_reduce_window_argmax(x, &options);
}
inline lam_tensor *lam_reduce_window_argmin(lam_tensor *x, const lam_window_options &options) {
    return lam_reduce_window_argmin(x, &options);
}
inline lam_tensor *lam_select_and_scatter_add(lam_tensor *x, lam_tensor *source, bool smallest,
                                              const lam_window_options &options) {
    return lam_select_and_scatter_add(x, source, smallest, &options);
}
inline lam_tensor *lam_conv_patches(lam_tensor *x, const lam_window_options &options) {
    return lam_conv_patches(x, &options);
}
inline lam_tensor *lam_conv_local(lam_tensor *x, lam_tensor *w, const lam_window_options &options) {
    return lam_conv_local(x, w, &options);
}
inline lam_tensor *lam_max_pool(lam_tensor *x, const lam_window_options &options) {
    return lam_max_pool(x, &options);
}
inline lam_tensor *lam_avg_pool(lam_tensor *x, const lam_window_options &options) {
    return lam_avg_pool(x, &options);
}

/* ---- fft.h ------------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_fft(lam_tensor *x, const lam_fft_options &options) {
    return lam_fft(x, &options);
}
inline lam_tensor *lam_ifft(lam_tensor *x, const lam_fft_options &options) {
    return lam_ifft(x, &options);
}
inline lam_tensor *lam_rfft(lam_tensor *x, const lam_fft_options &options) {
    return lam_rfft(x, &options);
}
inline lam_tensor *lam_irfft(lam_tensor *x, const lam_fft_options &options) {
    return lam_irfft(x, &options);
}
inline lam_tensor *lam_hfft(lam_tensor *x, const lam_fft_options &options) {
    return lam_hfft(x, &options);
}
inline lam_tensor *lam_ihfft(lam_tensor *x, const lam_fft_options &options) {
    return lam_ihfft(x, &options);
}
inline lam_tensor *lam_fftn(lam_tensor *x, const lam_fft_options &options) {
    return lam_fftn(x, &options);
}
inline lam_tensor *lam_ifftn(lam_tensor *x, const lam_fft_options &options) {
    return lam_ifftn(x, &options);
}
inline lam_tensor *lam_rfftn(lam_tensor *x, const lam_fft_options &options) {
    return lam_rfftn(x, &options);
}
inline lam_tensor *lam_irfftn(lam_tensor *x, const lam_fft_options &options) {
    return lam_irfftn(x, &options);
}

/* ---- neural.h ---------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_standardize(lam_tensor *x, const lam_normalize_options &options) {
    return lam_standardize(x, &options);
}
inline lam_tensor *lam_layer_norm(lam_tensor *x, lam_tensor *scale, lam_tensor *offset,
                                  const lam_normalize_options &options) {
    return lam_layer_norm(x, scale, offset, &options);
}
inline lam_tensor *lam_rms_norm(lam_tensor *x, lam_tensor *scale, const lam_normalize_options &options) {
    return lam_rms_norm(x, scale, &options);
}
inline lam_tensor *lam_batch_norm(lam_tensor *x, int axis, lam_tensor *mean, lam_tensor *var, lam_tensor *scale,
                                  lam_tensor *offset, const lam_normalize_options &options) {
    return lam_batch_norm(x, axis, mean, var, scale, offset, &options);
}
inline lam_tensor *lam_interp_with(lam_tensor *x, lam_tensor *xp, lam_tensor *fp, const lam_interp_options &options) {
    return lam_interp_with(x, xp, fp, &options);
}
inline lam_tensor *lam_attention(lam_tensor *query, lam_tensor *key, lam_tensor *value,
                                 const lam_attention_options &options) {
    return lam_attention(query, key, value, &options);
}

/* ---- indexing.h -------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_gather(lam_tensor *x, lam_tensor *starts, const lam_gather_options &options) {
    return lam_gather(x, starts, &options);
}
inline lam_tensor *lam_scatter(lam_tensor *x, lam_tensor *starts, lam_tensor *updates, lam_at_op op,
                               const lam_gather_options &options) {
    return lam_scatter(x, starts, updates, op, &options);
}

/* ---- numeric.h --------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_nan_to_num(lam_tensor *x, const lam_nan_to_num_options &options) {
    return lam_nan_to_num(x, &options);
}
inline lam_tensor *lam_is_close(lam_tensor *x, lam_tensor *y, const lam_close_options &options) {
    return lam_is_close(x, y, &options);
}
inline lam_tensor *lam_all_close(lam_tensor *x, lam_tensor *y, const lam_close_options &options) {
    return lam_all_close(x, y, &options);
}

/* ---- random.h ---------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_random_uniform(lam_tensor *key, lam_dtype dtype, lam_dims dims,
                                      const lam_random_uniform_options &options) {
    return lam_random_uniform(key, dtype, dims, &options);
}
inline lam_tensor *lam_random_choice(lam_tensor *key, lam_tensor *x, int axis, int64_t count,
                                     const lam_random_choice_options &options) {
    return lam_random_choice(key, x, axis, count, &options);
}

inline lam_tensor *lam_random_variance_scaling(lam_tensor *key, lam_dtype dtype, lam_dims dims,
                                               const lam_variance_scaling_options &options) {
    return lam_random_variance_scaling(key, dtype, dims, &options);
}

/* ---- transforms.h ------------------------------------------------------------------------------------------------ */

inline lam_fn *lam_grad(lam_fn *f, const lam_grad_options &options) {
    return lam_grad(f, &options);
}
inline lam_fn *lam_value_and_grad(lam_fn *f, const lam_grad_options &options) {
    return lam_value_and_grad(f, &options);
}
inline lam_status lam_vjp(lam_fn *f, lam_list primals, lam_tensor **out, size_t n_out, lam_fn **pullback,
                          const lam_grad_options &options) {
    return lam_vjp(f, primals, out, n_out, pullback, &options);
}
inline lam_status lam_jvp(lam_fn *f, lam_list primals, lam_list tangents, lam_tensor **out, lam_tensor **tangents_out,
                          size_t n_out, const lam_grad_options &options) {
    return lam_jvp(f, primals, tangents, out, tangents_out, n_out, &options);
}
inline lam_fn *lam_jvp_fn(lam_fn *f, const lam_grad_options &options) {
    return lam_jvp_fn(f, &options);
}
inline lam_status lam_linearize(lam_fn *f, lam_list primals, lam_tensor **out, size_t n_out, lam_fn **linear,
                                const lam_grad_options &options) {
    return lam_linearize(f, primals, out, n_out, linear, &options);
}
inline lam_fn *lam_vmap(lam_fn *f, const lam_vmap_options &options) {
    return lam_vmap(f, &options);
}
inline lam_fn *lam_jacfwd(lam_fn *f, const lam_jacobian_options &options) {
    return lam_jacfwd(f, &options);
}
inline lam_fn *lam_jacrev(lam_fn *f, const lam_jacobian_options &options) {
    return lam_jacrev(f, &options);
}
inline lam_fn *lam_jacobian(lam_fn *f, const lam_jacobian_options &options) {
    return lam_jacobian(f, &options);
}
inline lam_fn *lam_value_and_jacobian(lam_fn *f, const lam_jacobian_options &options) {
    return lam_value_and_jacobian(f, &options);
}
inline lam_fn *lam_hessian(lam_fn *f, const lam_jacobian_options &options) {
    return lam_hessian(f, &options);
}
inline lam_fn *lam_value_grad_and_hessian(lam_fn *f, const lam_jacobian_options &options) {
    return lam_value_grad_and_hessian(f, &options);
}
inline lam_tensor *lam_jacobian_sparsity(lam_fn *f, lam_list examples, const lam_sparse_options &options) {
    return lam_jacobian_sparsity(f, examples, &options);
}
inline lam_tensor *lam_hessian_sparsity(lam_fn *f, lam_list examples, const lam_sparse_options &options) {
    return lam_hessian_sparsity(f, examples, &options);
}
inline lam_fn *lam_sparse_jacobian(lam_fn *f, lam_tensor *sparsity, const lam_sparse_options &options) {
    return lam_sparse_jacobian(f, sparsity, &options);
}
inline lam_fn *lam_sparse_hessian(lam_fn *f, lam_tensor *sparsity, const lam_sparse_options &options) {
    return lam_sparse_hessian(f, sparsity, &options);
}
inline lam_fn *lam_hvp(lam_fn *f, const lam_grad_options &options) {
    return lam_hvp(f, &options);
}
inline lam_fn *lam_checkpoint(lam_fn *f, const lam_checkpoint_options &options) {
    return lam_checkpoint(f, &options);
}
inline lam_fn *lam_jit(lam_fn *f, const lam_jit_options &options) {
    return lam_jit(f, &options);
}
inline lam_status lam_emit_c(lam_program *program, FILE *file, const lam_emit_options &options) {
    return lam_emit_c(program, file, &options);
}
inline lam_status lam_check_grads(lam_fn *f, lam_list at, const lam_check_grads_options &options) {
    return lam_check_grads(f, at, &options);
}

/* ---- control.h --------------------------------------------------------------------------------------------------- */

inline lam_status lam_scan(lam_fn *f, lam_list init, lam_list xs, lam_tensor **out, size_t n_out,
                           const lam_scan_options &options) {
    return lam_scan(f, init, xs, out, n_out, &options);
}
inline lam_status lam_map(lam_fn *f, lam_list xs, lam_tensor **out, size_t n_out, const lam_map_options &options) {
    return lam_map(f, xs, out, n_out, &options);
}

/* ---- signal.h ---------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_stft(lam_tensor *x, const lam_stft_options &options) {
    return lam_stft(x, &options);
}
inline lam_tensor *lam_istft(lam_tensor *spectra, const lam_stft_options &options) {
    return lam_istft(spectra, &options);
}
inline lam_tensor *lam_welch(lam_tensor *x, const lam_stft_options &options) {
    return lam_welch(x, &options);
}
inline lam_tensor *lam_csd(lam_tensor *x, lam_tensor *y, const lam_stft_options &options) {
    return lam_csd(x, y, &options);
}
inline lam_tensor *lam_interpn(lam_list points, lam_tensor *values, lam_tensor *x, const lam_interpn_options &options) {
    return lam_interpn(points, values, x, &options);
}
inline lam_tensor *lam_image_resize(lam_tensor *x, lam_dims dims, const lam_image_options &options) {
    return lam_image_resize(x, dims, &options);
}
inline lam_tensor *lam_scale_and_translate(lam_tensor *x, lam_dims dims, lam_axes axes, lam_tensor *scale,
                                           lam_tensor *translation, const lam_image_options &options) {
    return lam_scale_and_translate(x, dims, axes, scale, translation, &options);
}

/* ---- structured.h ------------------------------------------------------------------------------------------------ */

inline lam_status lam_qr_pivoted(lam_tensor *x, lam_tensor **q, lam_tensor **r, lam_tensor **permutation,
                                 const lam_qr_options &options) {
    return lam_qr_pivoted(x, q, r, permutation, &options);
}
inline lam_tensor *lam_ormqr(lam_tensor *a, lam_tensor *taus, lam_tensor *c, const lam_ormqr_options &options) {
    return lam_ormqr(a, taus, c, &options);
}

/* ---- function.h -------------------------------------------------------------------------------------------------- */

inline lam_fn *lam_custom_vjp(lam_fn *f, lam_fn *fwd, lam_fn *bwd, const lam_custom_options &options) {
    return lam_custom_vjp(f, fwd, bwd, &options);
}
inline lam_fn *lam_custom_jvp(lam_fn *f, lam_fn *rule, const lam_custom_options &options) {
    return lam_custom_jvp(f, rule, &options);
}
inline lam_fn *lam_custom_jvps(lam_fn *f, lam_fn *const rules[], size_t count, const lam_custom_options &options) {
    return lam_custom_jvps(f, rules, count, &options);
}
inline lam_tensor *lam_custom_linear_solve(lam_fn *matvec, lam_list parameters, lam_tensor *b, lam_solve_rule solve,
                                           const lam_custom_linear_solve_options &options) {
    return lam_custom_linear_solve(matvec, parameters, b, solve, &options);
}
inline lam_tensor *lam_cg(lam_fn *matvec, lam_list parameters, lam_tensor *b, const lam_iterative_options &options) {
    return lam_cg(matvec, parameters, b, &options);
}
inline lam_tensor *lam_bicgstab(lam_fn *matvec, lam_list parameters, lam_tensor *b,
                                const lam_iterative_options &options) {
    return lam_bicgstab(matvec, parameters, b, &options);
}
inline lam_tensor *lam_gmres(lam_fn *matvec, lam_list parameters, lam_tensor *b, const lam_iterative_options &options) {
    return lam_gmres(matvec, parameters, b, &options);
}

/* ---- optimize.h -------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_minimize(lam_fn *f, lam_tensor *x0, lam_list parameters, lam_minimum *found,
                                const lam_minimize_options &options) {
    return lam_minimize(f, x0, parameters, found, &options);
}

/* ---- ode.h ------------------------------------------------------------------------------------------------------- */

inline lam_tensor *lam_odeint(lam_fn *f, lam_tensor *y0, lam_tensor *ts, lam_list parameters, lam_ode *found,
                              const lam_ode_options &options) {
    return lam_odeint(f, y0, ts, parameters, found, &options);
}

} /* extern "C++" */
#endif
#endif
