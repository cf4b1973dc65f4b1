/* Lists of axes as users give them: see axes.h. A list that is wrong is recorded with the operation's name and the type
 * of x; where x itself is unusable nothing is recorded here, since the operation that follows says it, once. */
#include "lib/primitives/axes.h"

#include "lib/primitives/apply.h"
#include "lib/tensor/value.h"

#include <lamina/tensor.h>

#include <stdarg.h>

/* x may be anything, also memory that was freed as a handle: only a magic number that a handle of some state has is
 * believed to be one with a context behind it. Else it is the failed tensor of the static failed context. */
lam_tensor *lam__axes_failed(const lam_tensor *x) {
    bool known = x && (x->magic == LAM__LIVE || x->magic == LAM__FREED || x->magic == LAM__FAILED);
    return known ? &x->ctx->failed : &lam__context_failed.failed;
}

/* Checks x first: a handle that is itself failed or freed is the first mistake, and the message about axes would only
 * hide it. The row is made up for its name; lam__error_call reads nothing else of it. Arguments are formatted first, so
 * that a longer message is cut and not refused. */
static lam_tensor *fail(const char *operation, lam_tensor *x, lam_status status, const char *remedy, const char *format,
                        va_list arguments) {
    lam_value *v;
    lam_tensor *failed;
    lam_ctx *ctx = lam__scope_operands(operation, 1, &x, &v, &failed);
    if (!ctx) return failed;
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    lam_primitive row = {.name = operation};
    lam_call_site call = {.ctx = ctx, .primitive = &row, .inputs = 1, .outputs = 1, .in = &v};
    lam__error_call(&call, status, remedy, "%s", text);
    return &ctx->failed;
}

/* One tensor; for more there is lam__matrices_fail. */
lam_tensor *lam__axes_fail(const char *operation, lam_tensor *x, lam_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    lam_tensor *failed = fail(operation, x, status, NULL, format, arguments);
    va_end(arguments);
    return failed;
}

/* The format's arguments go on as a list, as C has no other way to share them. */
lam_tensor *lam__axes_fail_with(const char *operation, lam_tensor *x, lam_status status, const char *remedy,
                                const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    lam_tensor *failed = fail(operation, x, status, remedy, format, arguments);
    va_end(arguments);
    return failed;
}

/* A list holds numbers, and ranges of them that are packed into one int (LAM_RANGE). LAM_UNMAPPED is an int too and
 * must not be taken for a range. The numbers may still be negative. */
int lam__axes_expand(lam_axes axes, int room, int out[]) {
    int n = 0;
    if (axes.count < 0 || (axes.count && !axes.items)) return -1;
    for (int i = 0; i < axes.count; i++) {
        int item = axes.items[i], first = item, count = 1;
        if (item == LAM__RANGE_BAD) return -1;
        if (item != LAM_UNMAPPED && LAM__IS_RANGE(item)) {
            first = LAM__RANGE_FIRST(item);
            count = LAM__RANGE_COUNT(item);
        }
        if (n + count > room) return -1;
        for (int k = 0; k < count; k++) out[n++] = first + k;
    }
    return n;
}

/* An axis that is named twice is a mistake whether it is written from the front or from the end, so duplicates are
 * looked for among the resolved numbers. A list that is empty but given (count 0 with items) is not "no list": it names
 * no axis. *count is -1 for no list. */
bool lam__axes_collect(const char *operation, lam_tensor *x, lam_axes axes, int rank, int *count, int out[]) {
    *count = -1;
    if (!axes.count && !axes.items) return true;
    uint32_t seen = 0;
    *count = lam__axes_expand(axes, LAM_INNER_RANK, out);
    if (*count < 0) {
        lam__axes_fail(operation, x, LAM_ERR_AXIS,
                       "the list of axes is too long, a count without items, or has an impossible count or LAM_RANGE");
        return false;
    }
    if (!lam__scope_peek(x)) *count = 0; /* nothing to check against; the operation itself says what is wrong with x */
    for (int i = 0; i < *count; i++) {
        if (!lam__apply_axis(operation, x, rank, &out[i])) return false;
        if (seen >> out[i] & 1u) {
            lam__axes_fail(operation, x, LAM_ERR_AXIS, "axis %d is named twice", out[i]);
            return false;
        }
        seen |= 1u << out[i];
    }
    return true;
}

/* Of LAM_INNER_RANK axes at most, which fit the 32 bits; a shift by 32 would be undefined. No list is all axes. */
bool lam__axes_collect_set(const char *operation, lam_tensor *x, lam_axes axes, int rank, lam__axis_set *set) {
    int count, list[LAM_INNER_RANK];
    if (!lam__axes_collect(operation, x, axes, rank, &count, list)) return false;
    *set = 0;
    for (int i = 0; i < count; i++) *set |= 1u << list[i];
    if (count < 0) *set = rank == 32 ? UINT32_MAX : (1u << rank) - 1;
    return true;
}
