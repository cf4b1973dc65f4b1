/* Lists made in place: sizes, axes, tensors, and structs of tensors taken as trees. Every macro mentions its items once
 * where they are evaluated, so nested lists do not double the text; the number of items is known at compile time; no
 * list owns memory. In C a list lives as long as the enclosing block; in C++17 as long as the full expression (the call
 * it is written in), or as long as the object when it is kept by `auto axes = LAM_AXES(0, 1);`. Calls copy the lists
 * that they are given. Compiles as C11 and C++17.
 *
 * NOTE [options in C++]  C++17 has no designated initialisers. Beside each call with options,
 *     lam_tensor *lam_f(lam_tensor *x, const lam_f_options *options);
 * options.h, which lamina.h includes, adds for C++
 *     inline lam_tensor *lam_f(lam_tensor *x, const lam_f_options &options) { return lam_f(x, &options); }
 * and both `lam_f(x, {LAM_AXES(0), true})` and an object filled by its members work. Such an object outlives the
 * expression that fills it, so the lists it points to must too: keep them by `auto`, then assign. */
#ifndef LAMINA_LISTS_H
#define LAMINA_LISTS_H

#include <lamina/base.h>

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#define LAM__INLINE inline
#else
#define LAM__INLINE static inline
#endif

/* ---- Ranges: one int for several consecutive numbers ---------------------------------------------------------- */

/* A range is LAM__RANGE_TAG + (first + 4096) * 8192 + count; the tag is a multiple of 8192. All axes and argument
 * numbers lie in [-4096, 4096), and LAM_UNMAPPED is the smallest int, so whatever reaches the tag is a range and
 * nothing else is. */
#define LAM__RANGE_TAG  0x40000000
#define LAM__RANGE_BIAS 4096       /* -first at most; also the first number that is too large to be one */
#define LAM__RANGE_STEP 8192       /* counts are below this */
#define LAM__RANGE_BAD  0x20000000 /* the result of LAM_RANGE for impossible arguments: neither a range nor an axis */

/* Whether item i of a lam_axes stands for a range. */
#define LAM__IS_RANGE(i) ((i) >= LAM__RANGE_TAG)

/* First number of a range, in [-4096, 4096). Only for an i that LAM__IS_RANGE. */
#define LAM__RANGE_FIRST(i) ((i) / LAM__RANGE_STEP - LAM__RANGE_TAG / LAM__RANGE_STEP - LAM__RANGE_BIAS)

/* How many numbers a range stands for, in [0, 8192). Only for an i that LAM__IS_RANGE. */
#define LAM__RANGE_COUNT(i) ((i) % LAM__RANGE_STEP)

/* The item that LAM_RANGE makes. */
LAM__INLINE int lam__range(int first, int count) {
    bool fits = first >= -LAM__RANGE_BIAS && first < LAM__RANGE_BIAS && count >= 0 && count < LAM__RANGE_STEP;
    return fits ? LAM__RANGE_TAG + (first + LAM__RANGE_BIAS) * LAM__RANGE_STEP + count : LAM__RANGE_BAD;
}

/* One item of LAM_AXES that stands for count numbers: first, first + 1, ... A negative first counts from the end as a
 * single item would: LAM_RANGE(-2, 2) is -2, -1.
 * Fails   in the call that is given it, like an axis out of range, if first is outside [-4096, 4096) or count outside
 *         [0, 8192). */
#define LAM_RANGE(first, count) lam__range(first, count)

/* ---- Counting arguments (C; C++ deduces the number) ------------------------------------------------------------ */

#ifndef __cplusplus

/* clang-format off */
/* The 65th of its arguments. */
#define LAM__AFTER_64(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21,  \
                      a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40,   \
                      a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59,   \
                      a60, a61, a62, a63, a64, n, ...) n
/* clang-format on */

/* The number of arguments, a size_t, for 0 to 64 of them; more do not compile. The candidates are long double because
 * no item of a list is: with 65 arguments or more an item slides into the place of the number, and _Generic, having no
 * association for it, refuses. */
#define LAM__COUNT(...)                                                                                                \
    (LAM__AT_MOST_64_ITEMS(LAM__AFTER_64(                                                                              \
         __VA_ARGS__, 64.L, 63.L, 62.L, 61.L, 60.L, 59.L, 58.L, 57.L, 56.L, 55.L, 54.L, 53.L, 52.L, 51.L, 50.L, 49.L,  \
         48.L, 47.L, 46.L, 45.L, 44.L, 43.L, 42.L, 41.L, 40.L, 39.L, 38.L, 37.L, 36.L, 35.L, 34.L, 33.L, 32.L, 31.L,   \
         30.L, 29.L, 28.L, 27.L, 26.L, 25.L, 24.L, 23.L, 22.L, 21.L, 20.L, 19.L, 18.L, 17.L, 16.L, 15.L, 14.L, 13.L,   \
         12.L, 11.L, 10.L, 9.L, 8.L, 7.L, 6.L, 5.L, 4.L, 3.L, 2.L, 1.L, 0.L)) -                                        \
     LAM__IS_EMPTY(LAM__FIRST(__VA_ARGS__, ~)))
#define LAM__AT_MOST_64_ITEMS(n) (size_t) _Generic((n), long double : (n))
#define LAM__FIRST(x, ...)       x

/* 1 if x is no token at all, else 0. LAM__TO_COMMA followed by parentheses becomes a comma: `LAM__TO_COMMA x ()` does
 * so for an empty x, but also for one that itself begins with a parenthesis; `LAM__TO_COMMA x` tells these apart. */
#define LAM__IS_EMPTY(x)         LAM__PASTE(LAM__EMPTY_, LAM__COMMAS(LAM__TO_COMMA x), LAM__COMMAS(LAM__TO_COMMA x()))
#define LAM__TO_COMMA(...)       ,
#define LAM__COMMAS(...)         LAM__THIRD(__VA_ARGS__, 1, 0, ~)
#define LAM__THIRD(x, y, z, ...) z
#define LAM__PASTE(x, y, z)      LAM__PASTE_NOW(x, y, z)
#define LAM__PASTE_NOW(x, y, z)  x##y##z
#define LAM__EMPTY_00            0
#define LAM__EMPTY_01            1
#define LAM__EMPTY_11            0

/* ---- Lists in C: compound literals ----------------------------------------------------------------------------- */

/* Each array starts with one item that is not part of the list: an empty list then needs no empty array, which C11
 * does not have, and its pointer is not NULL, which tells it from "no list". */

/* Sizes by value: LAM_DIMS(2, 3) is a matrix of 2 rows and 3 columns.
 * Shape   rank = number of arguments, at most 64 here and LAM_MAX_RANK in the calls that take it.
 * Units   elements.
 * Owner   the enclosing block (C++: the full expression). */
#define LAM_DIMS(...) ((lam_dims){(int)LAM__COUNT(__VA_ARGS__), (const int64_t[]){0, __VA_ARGS__} + 1})

/* The sizes of a scalar: rank 0. */
#define LAM_DIMS0 ((lam_dims){0, NULL})

/* Tensors in order, by value: LAM_LIST(x, NULL, y); LAM_LIST() is empty. At most 64; a longer list is written
 * `(lam_list){n, array}`. NULL entries are legal where the docstring of the call says so.
 * Owner   the list: the enclosing block (C++: the full expression); the tensors: as before. */
#define LAM_LIST(...) ((lam_list){LAM__COUNT(__VA_ARGS__), (lam_tensor *const[]){NULL, __VA_ARGS__} + 1})

/* Axes, argument numbers or batch axes by value: LAM_AXES(0, LAM_UNMAPPED, LAM_RANGE(2, 3)). At most 64 items, of which
 * a range is one. LAM_AXES() is LAM_NO_AXES.
 * Owner   the enclosing block (C++: the full expression). */
#define LAM_AXES(...) ((lam_axes){(int)LAM__COUNT(__VA_ARGS__), (const int[]){0, __VA_ARGS__} + 1})

/* The explicit empty list: no items, a pointer that is not NULL. No list at all, {0, NULL}, means the default. */
#define LAM_NO_AXES LAM_AXES()

/* ---- Trees in C ------------------------------------------------------------------------------------------------ */

/* The number of pointers in that many bytes, checked; an integer constant. A struct is the one place inside an
 * expression where C11 allows a static assertion. C sees sizes only: a double, or an int with its padding, looks like a
 * leaf. C++ checks the type of every member. (The second parentheses of `leaves`: gcc warns of arrays of structs
 * otherwise.) */
#define LAM__LEAF_COUNT(bytes, alignment)                                                                              \
    sizeof(struct {                                                                                                    \
        _Static_assert((bytes) % sizeof(lam_tensor *) == 0 && (alignment) == _Alignof(lam_tensor *),                   \
                       "a tree is a struct of lam_tensor * only");                                                     \
        char leaves[(bytes) / (sizeof(lam_tensor *))];                                                                 \
    })

#ifdef __GNUC__
#define LAM__ALIGNMENT_AT(p) _Alignof(__typeof__(*(p)))
#else
#define LAM__ALIGNMENT_AT(p) _Alignof(lam_tensor *) /* C11 has no way to ask; the size is still checked */
#endif

/* The leaves of *p as a list, in the order of declaration. p points to a (const) struct made only of `lam_tensor *`, of
 * fixed arrays of them, and of structs and arrays of such structs; or to such an array, or to one `lam_tensor *`. NULL
 * leaves are holes, legal where the docstring of the call says so.
 * Fails   to compile if size or alignment show that *p holds anything else (C++: if any member is anything else).
 * Owner   borrowed from *p. */
#define LAM_TREE(p)                                                                                                    \
    ((lam_list){LAM__LEAF_COUNT(sizeof(*(p)), LAM__ALIGNMENT_AT(p)), (lam_tensor *const *)(const void *)(p)})

/* The leaves of *p as the two arguments `out, n_out` of a call that sets them: lam_call(f, in, LAM_OUT(&grads)). p is
 * as for LAM_TREE, but not to const.
 * Fails   to compile as LAM_TREE does.
 * Owner   borrowed from *p. */
#define LAM_OUT(p) lam__out(p), LAM__LEAF_COUNT(sizeof(*(p)), LAM__ALIGNMENT_AT(p))

/* How many leaves a tree of this type has; an integer constant.
 * Fails   to compile as LAM_TREE does. */
#define LAM_LEAF_COUNT(type) LAM__LEAF_COUNT(sizeof(type), _Alignof(type))

/* The leaves of one member as an item of LAM_AXES, counted from the first leaf of the tree: what argnums and in_axes
 * want if the tree is the first argument. The member may be nested: LAM_LEAVES(struct model, layer[1].weight).
 * Fails   to compile if the member is not made of leaves; like LAM_RANGE if it begins at leaf 4096 or later. */
#define LAM_LEAVES(type, member)                                                                                       \
    LAM_RANGE((int)(offsetof(type, member) / sizeof(lam_tensor *)),                                                    \
              (int)LAM__LEAF_COUNT(sizeof(((type *)NULL)->member), _Alignof(type)))

/* A function, so that a pointer to const draws the compiler's own warning. */
static inline lam_tensor **lam__out(void *tree) {
    return (lam_tensor **)tree;
}

#else /* C++17 */

/* ---- The same names in C++17 ----------------------------------------------------------------------------------- */

extern "C++" {
namespace lam__cxx {

/* The object that each macro makes. Its first item is not part of the list, as in C. */
template <class List, class Item, std::size_t N> struct kept {
    Item items[N];
    constexpr operator List() const {
        return {N - 1, items + 1};
    }
};

template <class List, class Item, class Given, std::size_t N, std::size_t... I>
constexpr kept<List, Item, N> keep(const Given (&items)[N], std::index_sequence<I...>) {
    return {{items[I]...}};
}

/* A size of any integer type: sizes are often std::size_t, which braces would refuse as narrowing. */
struct extent {
    std::int64_t value;
    template <class T, std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>, int> = 0>
    constexpr extent(T size) : value(static_cast<std::int64_t>(size)) {
    }
    constexpr operator std::int64_t() const {
        return value;
    }
};

/* Arrays by reference, not parameter packs: a pack would take NULL for an integer. */
template <std::size_t N> constexpr auto dims(const extent (&sizes)[N]) {
    return keep<lam_dims, std::int64_t>(sizes, std::make_index_sequence<N>{});
}

template <std::size_t N> constexpr auto axes(const int (&items)[N]) {
    return keep<lam_axes, int>(items, std::make_index_sequence<N>{});
}

template <std::size_t N> constexpr auto list(lam_tensor *const (&items)[N]) {
    return keep<lam_list, lam_tensor *>(items, std::make_index_sequence<N>{});
}

/* Converts to lam_tensor * and to nothing else. An aggregate that takes as many of these as it has room for pointers is
 * made of lam_tensor * only: nested structs and arrays are entered because nothing converts to them as a whole. */
struct leaf {
    template <class T, std::enable_if_t<std::is_same_v<T, lam_tensor *>, int> = 0> operator T() const;
};

template <class T, class Indices, class = void> struct takes_leaves : std::false_type {};

#ifdef __clang__ /* the braces are left out on purpose */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmissing-braces"
#endif
template <class T, std::size_t... I>
struct takes_leaves<T, std::index_sequence<I...>, std::void_t<decltype(T{(static_cast<void>(I), leaf{})...})>>
    : std::true_type {};
#ifdef __clang__
#pragma clang diagnostic pop
#endif

template <class T> constexpr std::size_t leaf_count() {
    constexpr std::size_t bytes = sizeof(T), count = bytes / sizeof(lam_tensor *);
    static_assert(bytes % sizeof(lam_tensor *) == 0 && alignof(T) == alignof(lam_tensor *) &&
                      takes_leaves<std::remove_cv_t<T>, std::make_index_sequence<count>>::value,
                  "a tree is a struct of lam_tensor * only");
    return count;
}

template <class T> lam_list tree(T *p) {
    return {leaf_count<T>(), reinterpret_cast<lam_tensor *const *>(p)};
}

template <class T> lam_tensor **out(T *p) {
    return reinterpret_cast<lam_tensor **>(p);
}

template <class Tree, class Member> int leaves(std::size_t bytes) {
    static_assert(leaf_count<Tree>() > 0, "a tree has leaves");
    return lam__range(static_cast<int>(bytes / sizeof(lam_tensor *)),
                      static_cast<int>(leaf_count<std::remove_reference_t<Member>>()));
}

} /* namespace lam__cxx */
} /* extern "C++" */

/* Docstrings: see the macros for C above. */
#define LAM_DIMS(...)        (::lam__cxx::dims({0, __VA_ARGS__}))
#define LAM_DIMS0            (lam_dims{0, nullptr})
#define LAM_LIST(...)        (::lam__cxx::list({nullptr, __VA_ARGS__}))
#define LAM_AXES(...)        (::lam__cxx::axes({0, __VA_ARGS__}))
#define LAM_NO_AXES          LAM_AXES()
#define LAM_TREE(p)          (::lam__cxx::tree(p))
#define LAM_OUT(p)           ::lam__cxx::out(p), ::lam__cxx::leaf_count<std::remove_reference_t<decltype(*(p))>>()
#define LAM_LEAF_COUNT(type) (::lam__cxx::leaf_count<type>())
#define LAM_LEAVES(type, member)                                                                                       \
    (::lam__cxx::leaves<type, decltype((static_cast<type *>(nullptr)->member))>(offsetof(type, member)))

#endif /* __cplusplus */

#endif
