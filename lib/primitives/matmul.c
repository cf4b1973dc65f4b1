/* Products of stacks of matrices or vectors whose leading axes broadcast. They become one dot_general: a leading axis
 * that both have is a batch axis; one that only one operand has, or where the other has one element, is a free axis of
 * that operand, so nothing is ever repeated: a stack times one matrix is one big product. */
#include "lib/primitives/apply.h"
#include "lib/primitives/axes.h"
#include "lib/primitives/contract.h"
#include "lib/primitives/matrices.h"

#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/ops.h>
#include <lamina/tensor.h>

/* An operand: the axis that is summed over, the one that stays (-1: none), and the leading axes, which are all
 * others. */
typedef struct factor {
    lam_tensor *x;
    int contract, stays;
    int leads, lead[LAM_INNER_RANK];
    int batch[LAM_INNER_RANK]; /* of the leading axes, those that the other factor has too */
} factor;

/* All axes but the two of the product, in their order. Found again after axes of one element are dropped. */
static void find_leads(factor *f) {
    f->leads = 0;
    for (int axis = 0; axis < lam_rank(f->x); axis++)
        if (axis != f->contract && axis != f->stays) f->lead[f->leads++] = axis;
}

/* The axis of a factor at leading axis k of the result, lined up at the end; -1: none. */
static int axis_at(const factor *f, int leads, int k) {
    int at = k - (leads - f->leads);
    return at < 0 ? -1 : f->lead[at];
}

/* Takes axes of one element out of a factor, and renumbers. Views, so nothing is copied. */
static void squeeze(factor *f, const int axes[], int n) {
    if (!n) return;
    f->x = lam_squeeze(f->x, (lam_axes){n, axes});
    int contract = f->contract, stays = f->stays;
    for (int i = 0; i < n; i++) {
        contract -= axes[i] < f->contract;
        stays -= axes[i] < f->stays;
    }
    f->contract = contract;
    f->stays = stays;
    find_leads(f);
}

/* Which operand has leading axis k: bit 0 the first, bit 1 the second. 0: the sizes do not fit. An axis of one element
 * counts as absent where the other operand has more, so that nothing has to be repeated. */
static unsigned owner(const factor f[2], int leads, int k) {
    int a = axis_at(&f[0], leads, k), b = axis_at(&f[1], leads, k);
    int64_t m = a < 0 ? -1 : lam_dim(f[0].x, a), n = b < 0 ? -1 : lam_dim(f[1].x, b);
    if (m == n) return 3;
    if (m < 0 || (m == 1 && n >= 0)) return 2;
    if (n < 0 || n == 1) return 1;
    return 0;
}

/* Finds out who has which leading axis, and drops those of one element where the other has more. After that the leading
 * axes of each factor are those that it alone has or that both have. */
static bool divide(factor f[2], int leads, unsigned owners[]) {
    for (int k = 0; k < leads; k++)
        if (!(owners[k] = owner(f, leads, k))) return false;
    for (int side = 0; side < 2; side++) {
        int dropped[LAM_INNER_RANK], n = 0;
        for (int k = 0; k < leads; k++) {
            int axis = axis_at(&f[side], leads, k);
            if (axis >= 0 && !(owners[k] >> side & 1u)) dropped[n++] = axis;
        }
        squeeze(&f[side], dropped, n);
    }
    return true;
}

/* dot_general gives batch axes, then the free ones of x, then of y; `order` gets where each axis of the result is
 * there. Gives how many axes are batch axes of both. Free axes of x that are leading come before the one that stays. */
static int arrange(factor f[2], int leads, const unsigned owners[], int order[]) {
    int batch = 0, own[2] = {0, 0}, next[2] = {0, 0}, used[2] = {0, 0}, n = leads;
    for (int k = 0; k < leads; k++) {
        batch += owners[k] == 3;
        own[0] += owners[k] == 1;
        own[1] += owners[k] == 2;
    }
    next[0] = batch;
    /* Behind the free axes of x: its leading ones, and the one that stays. */
    next[1] = batch + own[0] + (f[0].stays >= 0);
    for (int k = 0, b = 0; k < leads; k++) {
        for (int side = 0; side < 2; side++)
            if (owners[k] == 3) f[side].batch[b] = f[side].lead[used[side]];
        order[k] = owners[k] == 3 ? b++ : next[owners[k] - 1]++;
        for (int side = 0; side < 2; side++) used[side] += (int)(owners[k] >> side & 1u);
    }
    if (f[0].stays >= 0) order[n++] = batch + own[0];
    if (f[1].stays >= 0) order[n++] = next[1];
    return batch;
}

/* Checks the summed axis first, as that is what users get wrong, then the leading ones. The messages show the operands
 * as they were given, before any axis is dropped. Where the result's axes have to be reordered anyhow, the contraction
 * may lay its elements out as it likes (`loose`). NumPy's order of the result is restored by one transposition, a
 * view. */
static lam_tensor *product(const char *operation, lam_tensor *in[2], factor f[2]) {
    unsigned owners[LAM_INNER_RANK];
    int order[2 * LAM_INNER_RANK];
    if (lam_dim(in[0], f[0].contract) != lam_dim(in[1], f[1].contract))
        return lam__matrices_fail(
            operation, 2, in, LAM_ERR_SHAPE, "the axes that are summed over must have equal sizes",
            "axis %d of the first operand has %lld elements, axis %d of the second has %lld", f[0].contract,
            (long long)lam_dim(in[0], f[0].contract), f[1].contract, (long long)lam_dim(in[1], f[1].contract));
    for (int side = 0; side < 2; side++) {
        f[side].x = in[side];
        find_leads(&f[side]);
    }
    int leads = f[0].leads > f[1].leads ? f[0].leads : f[1].leads;
    if (!divide(f, leads, owners))
        return lam__matrices_fail(operation, 2, in, LAM_ERR_SHAPE, "sizes must be equal or 1, lined up at their end",
                                  "the leading axes do not broadcast");
    int batch = arrange(f, leads, owners, order), rank = leads + (f[0].stays >= 0) + (f[1].stays >= 0);
    lam__pairing p = {.batch = (int8_t)batch, .contract = 1};
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < batch; i++) p.axes[side * (batch + 1) + i] = (int8_t)f[side].batch[i];
        p.axes[side * (batch + 1) + batch] = (int8_t)f[side].contract;
    }
    bool there = true;
    for (int i = 0; i < rank; i++) there = there && order[i] == i;
    p.loose = !there;
    lam_tensor *out = lam__contract(&p, f[0].x, f[1].x);
    return there || lam_failed(out) ? out : lam_transpose(out, (lam_axes){rank, order});
}

/* The short way (NOTE [short ways] in lib/base/inline.h) for operands of one dtype whose product has its axes in order:
 * y a matrix or vector, or stacks with the same leading axes. False: *p is not set. What is wrong is left for the long
 * way to say, which begins from the same operands. */
static bool pairs_in_order(const lam_tensor *x, const lam_tensor *y, lam__pairing *p) {
    if (!x || !y || x->magic != LAM__LIVE || y->magic != LAM__LIVE || x->ctx != y->ctx) return false;
    const lam_value *a = x->value, *b = y->value;
    const int batch = b->rank > 2 ? b->rank - 2 : 0, own = a->rank - 1, far = b->rank > 2 ? batch : 0;
    if (a->dtype != b->dtype || own < 0 || b->rank < 1 || (batch && a->rank != b->rank)) return false;
    if (a->dims[own] != b->dims[far]) return false;
    p->batch = (int8_t)batch;
    p->contract = 1;
    p->loose = false;
    for (int i = 0; i < batch; i++) {
        if (a->dims[i] != b->dims[i]) return false;
        p->axes[i] = p->axes[batch + 1 + i] = (int8_t)i;
    }
    p->axes[batch] = (int8_t)own;
    p->axes[2 * batch + 1] = (int8_t)far;
    return true;
}

/* As numpy.matmul: a vector is a row on the left and a column on the right, whose axis the result does not have.
 * Scalars are refused, as there: a product by a number is lam_mul. */
lam_tensor *lam_matmul(lam_tensor *x, lam_tensor *y) {
    lam_tensor *in[2] = {x, y}, *failed;
    lam__pairing p;
    if (pairs_in_order(x, y, &p)) return lam__contract(&p, x, y);
    uint64_t since = lam__scope_now(x);
    if (!lam__matrices_operands("matmul", false, 2, in, in, &failed)) return failed;
    int m = lam_rank(in[0]), n = lam_rank(in[1]);
    if (!m || !n)
        return lam__matrices_fail("matmul", 2, in, LAM_ERR_RANK, "use lam_mul for scalars",
                                  "an operand of rank 0 is neither a vector nor a matrix");
    factor f[2] = {{.contract = m - 1, .stays = m - 2}, {.contract = n == 1 ? 0 : n - 2, .stays = n == 1 ? -1 : n - 1}};
    return lam__scope_only(product("matmul", in, f), since);
}

/* Each operand counts the axis for itself, from the end if it is negative. The first one is conjugated. The summed axis
 * may stand anywhere; all others are leading axes, which are lined up when it is out. */
lam_tensor *lam_vecdot(lam_tensor *x, lam_tensor *y, int axis) {
    uint64_t since = lam__scope_now(x);
    lam_tensor *in[2] = {x, y}, *failed;
    int at[2] = {axis, axis};
    if (!lam__matrices_operands("vecdot", false, 2, in, in, &failed)) return failed;
    for (int side = 0; side < 2; side++)
        if (!lam__apply_axis("vecdot", in[side], lam_rank(in[side]), &at[side])) return lam__axes_failed(in[0]);
    factor f[2] = {{.contract = at[0], .stays = -1}, {.contract = at[1], .stays = -1}};
    if (lam__dtype_is_complex((int)lam_dtype_of(in[0]))) in[0] = lam_conj(in[0]);
    return lam__scope_only(product("vecdot", in, f), since);
}
