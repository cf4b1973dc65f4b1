/* Numbers of jax.random, JAX 0.10.2 on a CPU, 64-bit types enabled, default generator and configuration; the calls
 * stand beside the tests. Bits, integers and uniform numbers are exactly those. Normal, exponential, laplace, logistic,
 * gumbel and cauchy are the exact functions (mpmath 1.4, 60 digits, rounded) of the uniform numbers that jax.random
 * makes them of, since its own log1p and inverse error function are off by up to 100 units of the last place. */
#ifndef LAM_TESTS_RANDOM_VALUES_H
#define LAM_TESTS_RANDOM_VALUES_H

#include <stdint.h>

/* clang-format off */
static const int64_t jax_split_of_42[] = {
    1832780943, 270669613, 64467757, INT64_C(2916123636), INT64_C(2465931498), 255383827,
};
static const int64_t jax_split_of_0[] = {1797259609, INT64_C(2579123966), 928981903, INT64_C(3453687069)};
static const int64_t jax_split_of_wide_seed[] = {1903400153, INT64_C(3090744579), 1898048313, 2094402391};
static const int64_t jax_fold_in_7[] = {INT64_C(2547012911), 1371500959};
static const int64_t jax_fold_in_minus_1[] = {INT64_C(2398536845), INT64_C(3890976714)};
static const int64_t jax_bits_i64[] = {
    INT64_C(7871734211187709741), INT64_C(276886910877598708), INT64_C(-7855648935367878381),
    INT64_C(-4983961662352807791), INT64_C(-5759067205219197450), INT64_C(-6568189349171407794),
};
static const int64_t jax_bits_i32[] = {2098992034, -1375260455, -1648100871, -1885421097, 1935504149, -1778692392};
static const int64_t jax_bits_u8[] = {162, 217, 249, 215, 21, 216};
static const int64_t jax_bits_scalar[] = {INT64_C(7871734211187709741)};
static const int64_t jax_bits_at_300[] = {1899558238, 1174153968, -1135601530};
static const double jax_uniform_f64[] = {
    0x1.b4f8123c40884p-2, 0x1.ebd996d6e8400p-7, 0x1.25f641d41e71ap-1, 0x1.75aad28c6a974p-1, 0x1.60275dc7869dap-1,
    0x1.49b2352c6244ap-1,
};
static const double jax_uniform_f32[] = {
    0x1.f470480000000p-2, 0x1.5c0e600000000p-1, 0x1.3b87f00000000p-1, 0x1.1f3d800000000p-1, 0x1.cd75c80000000p-2,
    0x1.2bf69c0000000p-1,
};
static const double jax_uniform_between_f64[] = {
    0x1.218ce9fa00da0p-4, -0x1.8101eba874634p-4, 0x1.098a02ecfd82ap-3, 0x1.891150e0aa8bap-3, 0x1.66a562d8d762ap-3,
    0x1.42b6bb7a36d44p-3,
};
static const double jax_uniform_between_f32[] = {
    0x1.871a0e0000000p-4, 0x1.6017000000000p-3, 0x1.2c0cb40000000p-3, 0x1.fd919a0000000p-4, 0x1.48bc740000000p-4,
    0x1.13242e0000000p-3,
};
static const int64_t jax_randint_i64[] = {
    INT64_C(463982253477), INT64_C(604929009943), INT64_C(848939357151), INT64_C(550033836784),
    INT64_C(100431569943), INT64_C(686663979521),
};
static const int64_t jax_randint_i32[] = {278646, 848442, 367222, 982777, 576641, 288488};
static const int64_t jax_randint_u8[] = {11, 15, 14, 14, 8, 6};
static const int64_t jax_randint_u8_all[] = {196, 18, 183, 193, 141, 107};
static const int64_t jax_randint_i64_most[] = {
    INT64_C(4466307427195926069), INT64_C(869870568124700350), INT64_C(-8118644187909895017),
    INT64_C(-3282265486791233489), INT64_C(8391861063664870305), INT64_C(-7402815350181693502),
};
static const int64_t jax_permutation_10[] = {7, 4, 2, 5, 3, 6, 8, 9, 0, 1};
static const int64_t jax_permutation_2000[] = {1474, 815, 539, 874, 1693, 84, 995, 1191};
static const int64_t jax_permutation_of_rows[] = {6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5};
static const int64_t jax_permutation_of_columns[] = {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9};
static const int64_t jax_bernoulli_f64[] = {0, 1, 1, 0, 0, 1, 0, 0, 1};
static const int64_t jax_bernoulli_f32[] = {0, 0, 1, 0, 1, 1, 1, 0, 1};
static const int64_t jax_categorical_rows[] = {2, 1, 1, 1, 2, 1, 1, 1};
static const int64_t jax_categorical_columns[] = {1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1};
static const int64_t jax_categorical_f32[] = {2, 1};
static const double jax_normal_f64[] = {
    -0x1.7a4a26c96215ap-3, -0x1.15bccfaa7ba3bp+1, 0x1.7ed8110b50461p-3, 0x1.397ad84a04356p-1, 0x1.f5603e3665210p-2,
    0x1.79dc43b3389fbp-2, 0x1.7bc68fa0d483cp-2, 0x1.e1f34ac8bb7b6p-3,
};
static const double jax_normal_f32[] = {
    -0x1.cfbe2c0000000p-6, 0x1.de57cc0000000p-2, 0x1.2eccc00000000p-2, 0x1.3a764a0000000p-3, -0x1.fc09d80000000p-4,
    0x1.bc42360000000p-3, -0x1.70dd700000000p+0, 0x1.8300120000000p-1,
};
static const double jax_exponential_f64[] = {
    0x1.1cdfb42ad6bbdp-1, 0x1.ef94239785787p-7, 0x1.b51244a07debep-1, 0x1.4f048657d925ap+0, 0x1.2a034493c5310p+0,
    0x1.085bbac0d2764p+0, 0x1.08dc1b83cdf91p+0, 0x1.cc496f33081adp-1,
};
static const double jax_exponential_f32[] = {
    0x1.5775640000000p-1, 0x1.2388700000000p+0, 0x1.ea67620000000p-1, 0x1.a586980000000p-1, 0x1.32b1660000000p-1,
    0x1.c35c880000000p-1, 0x1.3e7c980000000p-4, 0x1.7e03f40000000p+0,
};
static const double jax_laplace_f64[] = {
    0x1.4487e2b042994p-3, 0x1.c0c0e63cf45a1p+1, -0x1.48b852c36933ep-3, -0x1.3b24dcc00eac7p-1, -0x1.e244b26fcd866p-2,
    -0x1.5ba68b24029b5p-2, -0x1.5da80e2ff0a69p-2, -0x1.a594fd0d91efap-3,
};
static const double jax_laplace_f32[] = {
    0x1.7634720000000p-6, -0x1.c859680000000p-2, -0x1.0f066a0000000p-2, -0x1.0a89aa0000000p-3, 0x1.a9b1760000000p-4,
    -0x1.81e16a0000000p-3, 0x1.e6505c0000000p+0, -0x1.9923bc0000000p-1,
};
static const double jax_logistic_f64[] = {
    -0x1.2e4ce8e1bb130p-2, -0x1.0bc52f0aa2de7p+2, 0x1.31f3904ca048dp-2, 0x1.fcc6c2f7839dfp-1, 0x1.9467f6abedfb4p-1,
    0x1.2f5bb1d3cc576p-1, 0x1.30ea34f788b20p-1, 0x1.8182af36d06b5p-2,
};
static const double jax_logistic_f32[] = {
    -0x1.72071a0000000p-5, 0x1.81743a0000000p-1, 0x1.e51f540000000p-2, 0x1.f658ec0000000p-3, -0x1.95a3e80000000p-3,
    0x1.6339fe0000000p-2, -0x1.41ed580000000p+1, 0x1.3cce9c0000000p+0,
};
static const double jax_gumbel_f64[] = {
    0x1.48f6eaaf61cecp-3, -0x1.6f529fdd24e87p+0, 0x1.2d9332776f2e0p-1, 0x1.27c29bdd6aeddp+0, 0x1.f7335130f98c6p-1,
    0x1.a429ecb086fa5p-1, 0x1.a56c61d611396p-1, 0x1.4c551e2a0a7e8p-1,
};
static const double jax_gumbel_f32[] = {
    0x1.561c960000000p-2, 0x1.e76f180000000p-1, 0x1.7378be0000000p-1, 0x1.18a9f00000000p-1, 0x1.d07f1a0000000p-3,
    0x1.4092460000000p-1, -0x1.e7cde60000000p-1, 0x1.5e1a5c0000000p+0,
};
static const double jax_cauchy_f64[] = {
    -0x1.dff0d1835f7e5p-3, -0x1.530d1de765135p+4, 0x1.e5dcea9df179bp-3, 0x1.c2df0ad8a1226p-1, 0x1.56ce82fc04f58p-1,
    0x1.f16c028d08c10p-2, 0x1.f43207988a526p-2, 0x1.3412d73e54fe2p-2,
};
static const double jax_cauchy_f32[] = {
    -0x1.22b0aa0000000p-5, 0x1.4477c00000000p-1, 0x1.879e7e0000000p-2, 0x1.8d74f00000000p-3, -0x1.401eee0000000p-3,
    0x1.1b218c0000000p-2, -0x1.0b489c0000000p+2, 0x1.2bfdee0000000p+0,
};
static const double jax_truncated_normal_f64[] = {
    -0x1.01784d5552dc3p-3, 0x1.069ef93a590c4p-1, -0x1.95235f794f684p+1, 0x1.9db31b5ad975bp-2, 0x1.47358fedb4d15p+0,
    -0x1.90d8a1071f005p+1,
};
static const double jax_truncated_normal_f32[] = {
    -0x1.3c92140000000p-6, 0x1.43b9b80000000p+0, -0x1.927e5c0000000p+1, 0x1.ac75620000000p-4, 0x1.e3e8a40000000p-1,
    -0x1.94627a0000000p+1,
};
static const double jax_multivariate_normal_f64[] = {
    0x1.7a412104e8d7cp-1, -0x1.061452fb3c8f2p+2, 0x1.43ad8ac885b52p+0, -0x1.5c76b7f9975d3p+0, 0x1.b1435ee6ca792p+0,
    -0x1.7b51f867c28dep+0,
};
static const double jax_gamma_f64[] = {
    0x1.22a36824652a8p-31, 0x1.db6f205996537p-7, 0x1.b232a071fef05p-2, 0x1.a97df2d8c8751p+1, 0x1.69580807a8c69p+7,
    0x1.08f651f8480a2p-38, 0x1.f12d169264926p-5, 0x1.4ffc99cf9fee8p-2, 0x1.3807f5c0b6af4p+2, 0x1.91fdd466dd4b7p+7,
};
static const double jax_gamma_f32[] = {
    0x1.8760bc0000000p-15, 0x1.033d580000000p-1, 0x1.00ed700000000p+1, 0x1.fdcaf60000000p+0, 0x1.7c2cc00000000p+7,
    0x1.2c03ec0000000p-34, 0x1.098b700000000p-3, 0x1.17de1a0000000p-1, 0x1.56cfdc0000000p-1, 0x1.97d55e0000000p+7,
};
static const double jax_loggamma_f64[] = {
    -0x1.55c543eb60652p+4, -0x1.0ee922a765893p+2, -0x1.b748113fbff9cp-1, 0x1.3382e1cd8afb5p+0, 0x1.4c9673ca2a80bp+2,
    -0x1.a4e207c0f2e90p+4, -0x1.66a6eb9f5a193p+1, -0x1.1d49544498c7ap+0, 0x1.958f6d14ce6a8p+0, 0x1.53690088e32fbp+2,
};
static const double jax_loggamma_f32[] = {
    -0x1.3f20740000000p+3, -0x1.5c73e40000000p-1, 0x1.64be380000000p-1, 0x1.60adec0000000p-1, 0x1.4fd6c80000000p+2,
    -0x1.7688980000000p+4, -0x1.057ba60000000p+1, -0x1.35408c0000000p-1, -0x1.9ac5200000000p-2,
    0x1.5455640000000p+2,
};
static const double jax_beta_f64[] = {
    0x1.272dbb8ef6995p-4, 0x1.a1cac3ba1a9ecp-2, 0x1.68b4111b54411p-4, 0x1.1625fd3588ecep-2,
};
static const double jax_dirichlet_f64[] = {
    0x1.0bd84fb2d1b9ep-8, 0x1.a934660165a94p-5, 0x1.e35509008401fp-1, 0x1.3f56eac6a1fd8p-9, 0x1.958c8257b3143p-6,
    0x1.f21445027bc55p-1,
};
static const int64_t jax_poisson[] = {1, 2, 12, 12, 955, 0, 3, 8, 14, 998};
static const int64_t jax_choice[] = {5, 8, 3, 1, 5};
static const int64_t jax_choice_without[] = {7, 4, 2, 5, 3};
static const int64_t jax_choice_p[] = {2, 3, 2, 1, 2, 2};
static const int64_t jax_choice_p_without[] = {3, 2, 0};
/* clang-format on */

#endif
