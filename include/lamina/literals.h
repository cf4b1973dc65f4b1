/* Weak literals: lam_mul(2.0, x), lam_add(x, 1), lam_where(c, x, 0.0), without a tensor made by hand. An integer takes
 * the dtype of the tensor beside it, and fails if that dtype cannot hold it; a floating number takes that dtype if it
 * is floating, and is f64 otherwise. Two numbers without a tensor do not compile. `(lam_mul)(x, y)` and `&lam_mul` stay
 * the ordinary function of two tensors. In C these are macros, each of which mentions an argument at most twice and
 * evaluates it once; in C++17 they are overloads, and the null tensor is nullptr (NULL is an integer there). Only the
 * operations listed here accept numbers; those that take lists or options are always plain functions. Compiles as C11
 * and C++17. */
#ifndef LAMINA_LITERALS_H
#define LAMINA_LITERALS_H

#include <lamina/base.h>

#ifndef LAMINA_OPS_H /* ops.h includes this file at its end: the prototypes of the operations come first either way */
#include <lamina/ops.h>
#endif

/* Every operation lam_<name>(x, y) that takes literals. KEEP IN STEP: literal names (the macros below). */
/* clang-format off */
#define LAM__LITERAL_NAMES(X)                                                                                          \
    X(add) X(sub) X(mul) X(div) X(rem) X(pow) X(max) X(min) X(atan2) X(hypot) X(logaddexp) X(xlogy) X(copysign) X(eq)  \
    X(ne) X(lt) X(le) X(gt) X(ge) X(logaddexp2) X(xlog1py) X(nextafter) X(igamma) X(igammac) X(betaln) X(shift_left)   \
    X(shift_right_logical) X(shift_right_arithmetic) X(mod) X(floor_divide) X(and) X(or) X(xor) X(fmax) X(fmin)        \
    X(heaviside) X(gcd) X(lcm) X(float_power) X(zeta) X(comb) X(beta) X(boxcox) X(boxcox1p) X(poch)

/* Every operation lam_<name>(x, y) that rebinds x, so that only y may be a number. KEEP IN STEP: literal names. */
#define LAM__LITERAL_NAMES_IN_PLACE(X) X(add_) X(sub_) X(mul_) X(div_)
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Entry points of the library ------------------------------------------------------------------------------- */

/* An operation of two tensors. */
typedef lam_tensor *lam__binary(lam_tensor *x, lam_tensor *y);

/* op(x, y) with one operand a number. The last two letters say what x and y are: t tensor, d floating, i integer that
 * fits long long, u unsigned integer that may not.
 * Fails   as op does, also on a NULL tensor; LAM_ERR_VALUE if the dtype of the tensor cannot hold the integer.
 * Owner   current scope; the number leaves no tensor behind.
 * Derivative  that of op with respect to its tensor. */
LAM_API lam_tensor *lam__literals_td(lam__binary *op, lam_tensor *x, double y);
LAM_API lam_tensor *lam__literals_dt(lam__binary *op, double x, lam_tensor *y);             /* Fails as td does. */
LAM_API lam_tensor *lam__literals_ti(lam__binary *op, lam_tensor *x, long long y);          /* Fails as td does. */
LAM_API lam_tensor *lam__literals_it(lam__binary *op, long long x, lam_tensor *y);          /* Fails as td does. */
LAM_API lam_tensor *lam__literals_tu(lam__binary *op, lam_tensor *x, unsigned long long y); /* Fails as td does. */
LAM_API lam_tensor *lam__literals_ut(lam__binary *op, unsigned long long x, lam_tensor *y); /* Fails as td does. */

/* op(x, y), so that all seven cases are called alike; optimises to the plain call. */
LAM__INLINE lam_tensor *lam__literals_tt(lam__binary *op, lam_tensor *x, lam_tensor *y) {
    return op(x, y);
}

/* What an argument of an operation of three may be. */
typedef enum lam__operand_kind { LAM__TENSOR, LAM__FLOATING, LAM__INTEGER, LAM__UNSIGNED } lam__operand_kind;

/* A tensor or a number: 16 bytes, passed in two registers. */
typedef struct lam__operand {
    lam__operand_kind kind; /* which member of `as` is set */
    union {
        lam_tensor *tensor;
        double floating;
        long long integer;
        unsigned long long natural; /* LAM__UNSIGNED */
    } as;
} lam__operand;

/* lam_where(c, x, y) with each of x and y a tensor or a number. Of a tensor and a number, the number is weak. Two
 * numbers have no tensor to follow (c chooses, it gives no dtype): f64 if one is floating, else i64.
 * Fails   as lam_where does; LAM_ERR_VALUE if the dtype cannot hold an integer.
 * Owner   current scope. */
LAM_API lam_tensor *lam__where_operands(lam_tensor *c, lam__operand x, lam__operand y);

/* lam_clamp(x, lo, hi) with each of lo and hi a tensor or a number, weak against x.
 * Fails   as lam_clamp does; LAM_ERR_VALUE if the dtype of x cannot hold an integer.
 * Owner   current scope. */
LAM_API lam_tensor *lam__clamp_operands(lam_tensor *x, lam__operand lo, lam__operand hi);

/* lam_fma(x, y, z) with each of y and z a tensor or a number, weak against x.
 * Fails   as lam_fma does; LAM_ERR_VALUE if the dtype of x cannot hold an integer.
 * Owner   current scope. */
LAM_API lam_tensor *lam__fma_operands(lam_tensor *x, lam__operand y, lam__operand z);

LAM__INLINE lam__operand lam__operand_tensor(lam_tensor *x) {
    lam__operand made;
    made.kind = LAM__TENSOR;
    made.as.tensor = x;
    return made;
}

LAM__INLINE lam__operand lam__operand_floating(double x) {
    lam__operand made;
    made.kind = LAM__FLOATING;
    made.as.floating = x;
    return made;
}

LAM__INLINE lam__operand lam__operand_integer(long long x) {
    lam__operand made;
    made.kind = LAM__INTEGER;
    made.as.integer = x;
    return made;
}

LAM__INLINE lam__operand lam__operand_unsigned(unsigned long long x) {
    lam__operand made;
    made.kind = LAM__UNSIGNED;
    made.as.natural = x;
    return made;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifndef __cplusplus

/* ---- C: _Generic ----------------------------------------------------------------------------------------------- */

/* NOTE [short expansions]  An argument is mentioned twice, once for its type and once to be passed, so a chain d deep
 * has 2^d copies of its core: what each level adds must be short, and the preprocessor must copy it seldom.
 * 1. `1 ? (x) : 0LL` has the type of x if that is a pointer (0LL is a null pointer constant) or floating; of integer
 *    types, enumerations, _Bool and char it leaves long long, or unsigned long long for those that long long cannot
 *    hold: 7 types stand for all 18.
 * 2. One _Generic sees both kinds, as the length of an array, instead of one inside each branch of another.
 * 3. The operation is passed as an argument instead of being named in every branch.
 * 4. The macros below take no arguments: they are pieces of one expression, with x and y written between them. Each
 *    macro that passed x and y on would make the preprocessor read all copies once more, which doubled the time. */

/* clang-format off */

/* 0 tensor (NULL is a void *), 1 floating, 2 integer, 3 unsigned integer that may exceed long long. There is no
 * default: any other type does not compile. */
#define LAM__KINDS \
    lam_tensor *: 0, void *: 0, double: 1, long long: 2, float: 1, unsigned long long: 3, long double: 1

/* The array length 1 + kind of x + 4 * kind of y, as a type. Absent: two numbers. */
typedef char (*lam__kinds_tt)[1];
typedef char (*lam__kinds_dt)[2];
typedef char (*lam__kinds_it)[3];
typedef char (*lam__kinds_ut)[4];
typedef char (*lam__kinds_td)[5];
typedef char (*lam__kinds_ti)[9];
typedef char (*lam__kinds_tu)[13];

/* LAM__FROM x LAM__AND y LAM__CALL(op, x, y) calls the entry point for the kinds of x and y. */
#define LAM__FROM _Generic((char(*)[1 + _Generic(1 ? (
#define LAM__AND ) : 0LL, LAM__KINDS) + 4 * _Generic(1 ? (
#define LAM__CALL ) : 0LL, LAM__KINDS)])0, \
    lam__kinds_tt: lam__literals_tt, lam__kinds_td: lam__literals_td, lam__kinds_dt: lam__literals_dt, \
    lam__kinds_ti: lam__literals_ti, lam__kinds_it: lam__literals_it, lam__kinds_tu: lam__literals_tu, \
    lam__kinds_ut: lam__literals_ut)

/* clang-format on */

/* x as a lam__operand. */
#define LAM__OPERAND(x)                                                                                                \
    _Generic(1 ? (x) : 0LL, lam_tensor *: lam__operand_tensor, void *: lam__operand_tensor,           \
             double: lam__operand_floating, float: lam__operand_floating,                             \
             long double: lam__operand_floating, long long: lam__operand_integer,                     \
             unsigned long long: lam__operand_unsigned)(x)

/* KEEP IN STEP: literal names (LAM__LITERAL_NAMES). The docstrings stand at the functions in ops.h; here either of x
 * and y may be a number of any arithmetic type. */
#define lam_add(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_add, x, y)
#define lam_sub(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_sub, x, y)
#define lam_mul(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_mul, x, y)
#define lam_div(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_div, x, y)
#define lam_rem(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_rem, x, y)
#define lam_pow(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_pow, x, y)
#define lam_max(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_max, x, y)
#define lam_min(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_min, x, y)
#define lam_atan2(x, y)                  LAM__FROM x LAM__AND y LAM__CALL(lam_atan2, x, y)
#define lam_hypot(x, y)                  LAM__FROM x LAM__AND y LAM__CALL(lam_hypot, x, y)
#define lam_eq(x, y)                     LAM__FROM x LAM__AND y LAM__CALL(lam_eq, x, y)
#define lam_ne(x, y)                     LAM__FROM x LAM__AND y LAM__CALL(lam_ne, x, y)
#define lam_lt(x, y)                     LAM__FROM x LAM__AND y LAM__CALL(lam_lt, x, y)
#define lam_le(x, y)                     LAM__FROM x LAM__AND y LAM__CALL(lam_le, x, y)
#define lam_gt(x, y)                     LAM__FROM x LAM__AND y LAM__CALL(lam_gt, x, y)
#define lam_ge(x, y)                     LAM__FROM x LAM__AND y LAM__CALL(lam_ge, x, y)
#define lam_logaddexp(x, y)              LAM__FROM x LAM__AND y LAM__CALL(lam_logaddexp, x, y)
#define lam_xlogy(x, y)                  LAM__FROM x LAM__AND y LAM__CALL(lam_xlogy, x, y)
#define lam_copysign(x, y)               LAM__FROM x LAM__AND y LAM__CALL(lam_copysign, x, y)
#define lam_logaddexp2(x, y)             LAM__FROM x LAM__AND y LAM__CALL(lam_logaddexp2, x, y)
#define lam_xlog1py(x, y)                LAM__FROM x LAM__AND y LAM__CALL(lam_xlog1py, x, y)
#define lam_nextafter(x, y)              LAM__FROM x LAM__AND y LAM__CALL(lam_nextafter, x, y)
#define lam_igamma(x, y)                 LAM__FROM x LAM__AND y LAM__CALL(lam_igamma, x, y)
#define lam_igammac(x, y)                LAM__FROM x LAM__AND y LAM__CALL(lam_igammac, x, y)
#define lam_betaln(x, y)                 LAM__FROM x LAM__AND y LAM__CALL(lam_betaln, x, y)
#define lam_shift_left(x, y)             LAM__FROM x LAM__AND y LAM__CALL(lam_shift_left, x, y)
#define lam_shift_right_logical(x, y)    LAM__FROM x LAM__AND y LAM__CALL(lam_shift_right_logical, x, y)
#define lam_shift_right_arithmetic(x, y) LAM__FROM x LAM__AND y LAM__CALL(lam_shift_right_arithmetic, x, y)
#define lam_mod(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_mod, x, y)
#define lam_floor_divide(x, y)           LAM__FROM x LAM__AND y LAM__CALL(lam_floor_divide, x, y)
#define lam_and(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_and, x, y)
#define lam_or(x, y)                     LAM__FROM x LAM__AND y LAM__CALL(lam_or, x, y)
#define lam_xor(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_xor, x, y)
#define lam_fmax(x, y)                   LAM__FROM x LAM__AND y LAM__CALL(lam_fmax, x, y)
#define lam_fmin(x, y)                   LAM__FROM x LAM__AND y LAM__CALL(lam_fmin, x, y)
#define lam_heaviside(x, y)              LAM__FROM x LAM__AND y LAM__CALL(lam_heaviside, x, y)
#define lam_gcd(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_gcd, x, y)
#define lam_lcm(x, y)                    LAM__FROM x LAM__AND y LAM__CALL(lam_lcm, x, y)
#define lam_float_power(x, y)            LAM__FROM x LAM__AND y LAM__CALL(lam_float_power, x, y)
#define lam_zeta(x, y)                   LAM__FROM x LAM__AND y LAM__CALL(lam_zeta, x, y)
#define lam_comb(x, y)                   LAM__FROM x LAM__AND y LAM__CALL(lam_comb, x, y)
#define lam_beta(x, y)                   LAM__FROM x LAM__AND y LAM__CALL(lam_beta, x, y)
#define lam_boxcox(x, y)                 LAM__FROM x LAM__AND y LAM__CALL(lam_boxcox, x, y)
#define lam_boxcox1p(x, y)               LAM__FROM x LAM__AND y LAM__CALL(lam_boxcox1p, x, y)
#define lam_poch(x, y)                   LAM__FROM x LAM__AND y LAM__CALL(lam_poch, x, y)

/* x and y, or lo and hi: each a tensor or a number; both may be numbers. The first argument is a tensor. */
#define lam_where(c, x, y)   lam__where_operands(c, LAM__OPERAND(x), LAM__OPERAND(y))
#define lam_clamp(x, lo, hi) lam__clamp_operands(x, LAM__OPERAND(lo), LAM__OPERAND(hi))
#define lam_fma(x, y, z)     lam__fma_operands(x, LAM__OPERAND(y), LAM__OPERAND(z))

/* The forms that rebind x: a tensor; y is a tensor or a number. */
#define LAM__REBIND(op, x, y)                                                                                          \
    _Generic(1 ? (y) : 0LL, lam_tensor *: lam__literals_tt, void *: lam__literals_tt,                 \
             double: lam__literals_td, float: lam__literals_td, long double: lam__literals_td,        \
             long long: lam__literals_ti, unsigned long long: lam__literals_tu)(op, x, y)
#define lam_add_(x, y) LAM__REBIND(lam_add_, x, y)
#define lam_sub_(x, y) LAM__REBIND(lam_sub_, x, y)
#define lam_mul_(x, y) LAM__REBIND(lam_mul_, x, y)
#define lam_div_(x, y) LAM__REBIND(lam_div_, x, y)

#else /* C++17 */

/* ---- C++: overloads -------------------------------------------------------------------------------------------- */

extern "C++" {
namespace lam__cxx {

/* A number: bool, char, integers up to long long, floating types, unscoped enumerations. Wider integers are refused. */
template <class T>
inline constexpr bool is_literal = (std::is_arithmetic_v<T> || (std::is_enum_v<T> && std::is_convertible_v<T, int>)) &&
                                   (std::is_floating_point_v<T> || sizeof(T) <= sizeof(long long));

template <class T> inline constexpr bool is_operand = is_literal<T> || std::is_convertible_v<T, lam_tensor *>;

/* Which overload an argument pair selects. None for two tensors: that is the ordinary function. */
template <class X, class Y>
using if_one_literal = std::enable_if_t<is_operand<X> && is_operand<Y> && is_literal<X> != is_literal<Y>, lam_tensor *>;

template <class X, class Y> using if_two_literals = std::enable_if_t<is_literal<X> && is_literal<Y>, lam_tensor *>;

template <class X, class Y>
using if_any_literal =
    std::enable_if_t<is_operand<X> && is_operand<Y> && (is_literal<X> || is_literal<Y>), lam_tensor *>;

/* Unsigned after promotion, which also sees through enumerations, and as wide as it gets. */
template <class T>
inline constexpr bool may_exceed_long_long = std::is_unsigned_v<decltype(+T{})> &&
                                             sizeof(T) == sizeof(unsigned long long);

template <class X, class Y> lam_tensor *binary(lam__binary *op, X x, Y y) {
    if constexpr (is_literal<X>) {
        if constexpr (std::is_floating_point_v<X>) return lam__literals_dt(op, static_cast<double>(x), y);
        else if constexpr (may_exceed_long_long<X>) return lam__literals_ut(op, x, y);
        else return lam__literals_it(op, x, y);
    } else {
        if constexpr (std::is_floating_point_v<Y>) return lam__literals_td(op, x, static_cast<double>(y));
        else if constexpr (may_exceed_long_long<Y>) return lam__literals_tu(op, x, y);
        else return lam__literals_ti(op, x, y);
    }
}

template <class T> lam__operand operand(T x) {
    if constexpr (!is_literal<T>) return lam__operand_tensor(x);
    else if constexpr (std::is_floating_point_v<T>) return lam__operand_floating(static_cast<double>(x));
    else if constexpr (may_exceed_long_long<T>) return lam__operand_unsigned(x);
    else return lam__operand_integer(x);
}

} /* namespace lam__cxx */

/* A body inside a macro, but for forwarding only: an overload has to bear the name it overloads. The deleted one keeps
 * lam_mul(0, 0) from meaning two null pointers. */
#define LAM__OVERLOADS(name)                                                                                           \
    template <class X, class Y> lam__cxx::if_one_literal<X, Y> lam_##name(X x, Y y) {                                  \
        return ::lam__cxx::binary(lam_##name, x, y);                                                                   \
    }                                                                                                                  \
    template <class X, class Y> lam__cxx::if_two_literals<X, Y> lam_##name(X, Y) = delete;
LAM__LITERAL_NAMES(LAM__OVERLOADS)
#undef LAM__OVERLOADS

#define LAM__OVERLOADS(name)                                                                                           \
    template <class Y> lam__cxx::if_one_literal<lam_tensor *, Y> lam_##name(lam_tensor *x, Y y) {                      \
        return ::lam__cxx::binary(lam_##name, x, y);                                                                   \
    }
LAM__LITERAL_NAMES_IN_PLACE(LAM__OVERLOADS)
#undef LAM__OVERLOADS

template <class X, class Y> lam__cxx::if_any_literal<X, Y> lam_where(lam_tensor *c, X x, Y y) {
    return lam__where_operands(c, ::lam__cxx::operand(x), ::lam__cxx::operand(y));
}

template <class Lo, class Hi> lam__cxx::if_any_literal<Lo, Hi> lam_clamp(lam_tensor *x, Lo lo, Hi hi) {
    return lam__clamp_operands(x, ::lam__cxx::operand(lo), ::lam__cxx::operand(hi));
}

template <class Y, class Z> lam__cxx::if_any_literal<Y, Z> lam_fma(lam_tensor *x, Y y, Z z) {
    return lam__fma_operands(x, ::lam__cxx::operand(y), ::lam__cxx::operand(z));
}

} /* extern "C++" */

#endif /* __cplusplus */

#endif
