/* Bags of rows (bag.h) for one instruction set. */
#include "lib/kernels/bag.h"
#include "lib/kernels/simd/fused.h"
#include "lib/kernels/simd/registers.h"
#include "lib/kernels/simd/simd.h"

/* Distances of so many entries lie in the frame at a time: they are computed once, and the loops over columns, which go
 * through the entries several times, then multiply and check nothing. */
enum { PIECE = 512 }; /* entries */

/* The places that entries name as distances from x; gives a negative number if there is one that names none, for which
 * the first row stands. */
static int64_t distances(const lam__bag *p, const int64_t *index, int64_t n, int64_t *to) {
    const int64_t rows = p->rows, step = p->x_row;
    int64_t outside = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = index[i] + (rows & -(int64_t)(index[i] < 0)), none = row | (rows - 1 - row);
        outside |= none;
        to[i] = (row & -(int64_t)(none >= 0)) * step;
    }
    return outside;
}

/* Runs the loop on some bags at a time, or on some entries of a bag that has many; item: bytes. A bag without entries
 * runs once too, so that its sum becomes 0. */
static bool by_pieces(const lam__bag *p, size_t item, void (*run)(const lam__bag *part, bool more)) {
    int64_t at[PIECE], outside = 0;
    const int64_t some = p->terms && p->terms < PIECE ? PIECE / p->terms : p->terms ? 1 : p->bags;
    for (int64_t b = 0; b < p->bags; b += some)
        for (int64_t t = 0; t < p->terms || t == 0; t += PIECE) {
            lam__bag part = *p;
            part.bags = p->bags - b < some ? p->bags - b : some;
            part.terms = p->terms - t < PIECE ? p->terms - t : PIECE;
            part.y = (char *)p->y + b * p->y_row * (int64_t)item;
            part.w = (char *)p->w + (b * p->w_bag + t * p->w_term) * (int64_t)item;
            part.index = at;
            outside |= distances(p, p->index + b * p->terms + t, part.bags * part.terms, at);
            run(&part, t > 0);
        }
    return outside >= 0;
}

/* One text for both types. Products are fused where the set has fma, so v1 may differ in its last bits. */
#define T        double
#define V        V64
#define MADD     madd
#define FMA      __builtin_fma
#define FN(name) name##_f64
#include "lib/kernels/bag_type.h"

#define T        float
#define V        V32
#define MADD     madd32
#define FMA      __builtin_fmaf
#define FN(name) name##_f32
#include "lib/kernels/bag_type.h"

const lam__bag_set LAM__ISA_NAME(lam__bag_simd_) = {{sums_f64, spread_f64, dots_f64}, {sums_f32, spread_f32, dots_f32}};
