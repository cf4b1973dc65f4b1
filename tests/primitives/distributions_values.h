/* Numbers of jax.random, JAX 0.10.2 on a CPU, 64-bit types enabled, default generator and configuration; the calls
 * stand beside the tests. Counts and signs are exactly those. The others are the exact functions (mpmath 1.4, 60
 * digits, rounded) of the uniform numbers, and of the logarithms of gamma variables, that jax.random makes them of;
 * orthogonal matrices are its own. */
#ifndef LAM_TESTS_DISTRIBUTIONS_VALUES_H
#define LAM_TESTS_DISTRIBUTIONS_VALUES_H

#include <stdint.h>

/* clang-format off */
static const int64_t jax_rademacher_i64[] = {1, 1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, 1};
static const int64_t jax_rademacher_f32[] = {1, 1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, 1};
static const double jax_lognormal_f64[] = {
    0x1.d2d4e89cbe5b6p-1, 0x1.d3c0ea3c9dfb3p-4, 0x1.c088a8d900f3cp+0, 0x1.5bb08984a0d58p+0, 0x1.a1b75cb9f47b4p+0,
    0x1.833d4b22d0817p+1,
};
static const double jax_rayleigh_f64[] = {
    0x1.4e1959b6d3357p-1, 0x1.72efc3b0651f9p+1, 0x1.9485f67c78815p+1, 0x1.965c6196d6ba6p-2, 0x1.baf72040a268bp-1,
    0x1.684961dd39813p+1,
};
static const double jax_weibull_min_f64[] = {
    0x1.bb29086966b52p-3, 0x1.ef94239785787p-7, 0x1.7409d0e0c136ep+1, 0x1.77f4ad8a08ea7p-1, 0x1.2a034493c5310p+0,
    0x1.8279b22fa057bp+1,
};
static const double jax_pareto_f64[] = {
    0x1.857b7f72ad905p+1, 0x1.03e6b0b944fd1p+0, 0x1.3ce6ccbd21ed7p+0, 0x1.b65e843070329p+3, 0x1.99fe7988d0a43p+1,
    0x1.4b67913edee04p+0,
};
static const double jax_maxwell_f64[] = {
    0x1.17c4661df86b9p+1, 0x1.bba19b273e103p-1, 0x1.ae77969c71dd1p-1, 0x1.d6886b7f4387ap+0, 0x1.1c617cda50a4cp+0,
};
static const double jax_double_sided_maxwell_f64[] = {
    -0x1.ec8549418a109p+0, -0x1.2c04d660456e2p+1, 0x1.e48689be7a0f3p+2, -0x1.ecba1184672b2p-3, -0x1.3eea5a12bba0ep+0,
    0x1.4b2ba7bd4c48ep+2,
};
static const double jax_wald_f64[] = {
    0x1.a7c16064964b7p-1, 0x1.8ad25c4d602d4p-1, 0x1.27c2fd0be6bb3p-2, 0x1.bf2212279f5dbp-2, 0x1.f02e38f8eb6ffp+1,
    0x1.027fb3b9f66c2p-2,
};
static const double jax_triangular_f64[] = {
    -0x1.3801db42adac2p-4, 0x1.edb5a96ea6daap-6, 0x1.27fd375b45c79p+2, 0x1.0f43b194c130ap-2, 0x1.c3d77c9075182p+0,
    0x1.31e823c03c558p+2,
};
static const double jax_chisquare_f64[] = {
    0x1.02840ebcab913p-9, 0x1.db6f205996537p-6, 0x1.d08e3c23bbe7bp+3, 0x1.a9178748b35c1p+5, 0x1.b8caae4ca53fep-8,
    0x1.2251fd3551a0fp-5, 0x1.266b02e92a1edp+1, 0x1.6319dc49ca0c5p+5,
};
static const double jax_t_f64[] = {
    -0x1.0e8c52290a536p+1, -0x1.7d4422fb195bfp-1, 0x1.eb6655ac80fdfp+0, -0x1.9567f82e95acep-3, 0x1.df9b5f15027ddp+8,
    0x1.dbd1805bac160p+2, -0x1.fce8d8b948877p-3, -0x1.56f05c49505b4p+0,
};
static const double jax_f_f64[] = {
    0x1.fe2c90b20b6ffp-4, 0x1.9431ece75107ep+2, 0x1.b9f87d50a3cf5p+3, 0x1.2f1a03a990985p+0, 0x1.16ce8eae3bd48p-16,
    0x1.b84e12f01a60dp-5, 0x1.3e3bd06ade9dfp+2, 0x1.924d02b94ce90p+0,
};
static const double jax_generalized_normal_f64[] = {
    -0x1.6b43ecb8f9690p-2, -0x1.935c25c3b4d81p-4, 0x1.2b5d1fc317a06p-2, 0x1.7e40636447bf3p-2, -0x1.5b30341a30e92p-1,
    0x1.7ee0550bba252p-1,
};
static const double jax_ball_f64[] = {
    -0x1.6a4593c22414ep-5, -0x1.0b6d8f914038bp-2, -0x1.fda13e5dff7a2p-2, 0x1.bad9e5d6b5024p-2, -0x1.534fcf53476e3p-2,
    -0x1.714d055ba09cbp-3,
};
static const int64_t jax_geometric_f64[] = {1, 7, 56, 1, 1, 44, 1, 1, 144};
static const int64_t jax_binomial_f64[] = {1, 1, 16, 2, 3, 1, 19, 0, 0, 3, 18, 1};
static const int64_t jax_binomial_many_f64[] = {407, 421, 422, 416, 395, 409, 396, 403};
static const int64_t jax_binomial_likely_f64[] = {60, 57, 57, 58, 63, 63, 63, 61};
static const double jax_lognormal_f32[] = {
    0x1.f8ce180000000p-1, 0x1.986ce60000000p+0, 0x1.36cbf60000000p+1, 0x1.146d920000000p+0, 0x1.c446900000000p-1,
    0x1.eac1840000000p+0,
};
static const double jax_rayleigh_f32[] = {
    0x1.3257ba0000000p-1, 0x1.c1d6a40000000p-1, 0x1.79d51c0000000p+1, 0x1.133efa0000000p-1, 0x1.4339980000000p+0,
    0x1.8d168e0000000p+1,
};
static const double jax_weibull_min_f32[] = {
    0x1.2171380000000p-2, 0x1.2388700000000p+0, 0x1.7cb45a0000000p+1, 0x1.83d2920000000p-2, 0x1.32b1660000000p-1,
    0x1.76709e0000000p+1,
};
static const double jax_pareto_f32[] = {
    0x1.e9a3300000000p+1, 0x1.8fbf220000000p+1, 0x1.4543300000000p+0, 0x1.4c1c520000000p+2, 0x1.d2002e0000000p+0,
    0x1.3f1eda0000000p+0,
};
static const double jax_maxwell_f32[] = {
    0x1.1b6f280000000p-1, 0x1.2c52ee0000000p-2, 0x1.b567000000000p+0, 0x1.822a4c0000000p+0, 0x1.ce59780000000p+0,
};
static const double jax_double_sided_maxwell_f32[] = {
    -0x1.b0c5520000000p+0, -0x1.59f3e60000000p-1, 0x1.1550660000000p+3, -0x1.530f2a0000000p-1, -0x1.ad53880000000p+0,
    0x1.2000180000000p+2,
};
static const double jax_wald_f32[] = {
    0x1.0e1e2e0000000p-1, 0x1.9e685c0000000p+0, 0x1.c08c3a0000000p-2, 0x1.634ab60000000p-2, 0x1.7b91de0000000p-1,
    0x1.c3799e0000000p+0,
};
static const double jax_triangular_f32[] = {
    -0x1.7413ca0000000p-7, 0x1.bc8df80000000p+0, 0x1.2e0b040000000p+2, 0x1.020cf00000000p-4, 0x1.0906c40000000p+0,
    0x1.29b1fc0000000p+2,
};
static const double jax_chisquare_f32[] = {
    0x1.0dd95a0000000p-3, 0x1.033d5a0000000p+0, 0x1.6178c80000000p+3, 0x1.67a6820000000p+5, 0x1.5d37520000000p-29,
    0x1.59ff700000000p-3, 0x1.1fa4480000000p+2, 0x1.c650bc0000000p+4,
};
static const double jax_t_f32[] = {
    0x1.b154400000000p+0, -0x1.fafaac0000000p+4, 0x1.c6dd680000000p+0, 0x1.2f2d300000000p-1, 0x1.b894180000000p+4,
    0x1.99810c0000000p-1, 0x1.4396b40000000p-1, -0x1.0786de0000000p+0,
};
static const double jax_f_f32[] = {
    0x1.0d23d00000000p-9, 0x1.2576ca0000000p-9, 0x1.31f8140000000p-2, 0x1.58d4880000000p-1, 0x1.365fea0000000p-13,
    0x1.693ee60000000p+1, 0x1.ac28aa0000000p-2, 0x1.f08a7a0000000p-2,
};
static const double jax_generalized_normal_f32[] = {
    -0x1.c1a85a0000000p-1, -0x1.a638820000000p-3, 0x1.2914a00000000p+0, 0x1.a1e9e80000000p-4, -0x1.8b9ab00000000p-2,
    0x1.3014780000000p-3,
};
static const double jax_ball_f32[] = {
    -0x1.5fea800000000p-2, -0x1.a9ed9c0000000p-5, -0x1.2570aa0000000p-6, 0x1.81098e0000000p-2, -0x1.26193c0000000p-4,
    -0x1.1fa4aa0000000p-2,
};
static const int64_t jax_geometric_f32[] = {1, 1, 49, 1, 2, 54, 2, 1, 36};
static const int64_t jax_binomial_f32[] = {1, 6, 18, 1, 1, 3, 18, 2, 0, 7, 18, 4};
static const int64_t jax_binomial_many_f32[] = {396, 382, 387, 397, 433, 408, 402, 396};
static const int64_t jax_binomial_likely_f32[] = {63, 59, 65, 62, 54, 62, 61, 62};
static const int64_t jax_multinomial[] = {1, 1, 7, 8, 7, 0};
static const double jax_orthogonal_33[] = {
    -0x1.ffb32ea4feb08p-3, -0x1.ef95d29f5514ep-1, 0x1.a6abc84fa8a23p-6, 0x1.a808ab572b221p-1, -0x1.993dbf48dd2f5p-3,
    0x1.0c16ddc673a27p-1, 0x1.00dadff3ed31ep-1, -0x1.37b05202f9a91p-3, -0x1.b4007c28a6e49p-1, -0x1.1cc6740c9d2bep-1,
    0x1.3737e87a61b1cp-1, -0x1.2227cc8c08d21p-1, 0x1.0c486656931ccp-1, -0x1.1754d0e10df8fp-2, -0x1.9d1cc4db84220p-1,
    -0x1.4a42762d0ddd9p-1, -0x1.7dcff19da4635p-1, -0x1.55927512a235fp-3,
};
static const double jax_orthogonal_42[] = {
    -0x1.1b1ce6fb0292cp-2, -0x1.de8125dc335d8p-1, 0x1.1e8579d7ab549p-2, 0x1.26c52dcaf3e21p-3, 0x1.773b21ae44b92p-1,
    -0x1.fc46c93d6f27dp-3, 0x1.1c399a0889e3fp-1, -0x1.aed19d504dbe8p-3, -0x1.34f9716a3e5d6p-1, 0x1.1b8a8e14e7045p-2,
    -0x1.2db35cb839965p-1, -0x1.f2ce551992892p-2, 0x1.01acc19e8b918p-1, 0x1.1e401612383aap-4, 0x1.80e6559db23e1p-3,
    -0x1.a6912c4ab4b52p-1,
};
static const double jax_orthogonal_23[] = {
    -0x1.5460353a75604p-2, 0x1.5879451772361p-2, 0x1.c320386a5760dp-1, -0x1.d5e2fba258e3ep-1, 0x1.9965ff35673d9p-4,
    -0x1.899b7704b7102p-2, 0x1.63748655860a4p-2, -0x1.578bea3f47ff3p-1, -0x1.4f757ad8388b0p-1, -0x1.95dd36a5b3320p-2,
    0x1.0e7175347ce9dp-1, -0x1.807a46db06274p-1,
};
/* clang-format on */

#endif
