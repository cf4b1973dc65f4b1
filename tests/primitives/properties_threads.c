/* The same bits from any number of threads: each form of each row is called in the context of the test, which has one
 * thread, and again with teams whose pieces are as small as can be, so that whatever can be shared is. */
#include "lib/base/context.h" /* first: support.h has a global ctx */

#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

#include <stdlib.h>

/* Elements of any dtype, row by row; NULL entries of out are holes. */
static unsigned char *bytes_of(const probe *p, lam_tensor *t, size_t *size) {
    lam_tensor *x = lam_contiguous(t);
    PROBE_CHECK(p, !lam_failed(x), "an output failed");
    size_t count = 1;
    for (int i = 0; i < lam_rank(x); i++) count *= (size_t)lam_dim(x, i);
    *size = count * lam_dtype_bytes(lam_dtype_of(x));
    unsigned char *bytes = malloc(*size + 1);
    PROBE_CHECK(p, lam_read(x, bytes, *size) == LAM_OK, "an output cannot be read");
    return bytes;
}

static void call_again(probe *p, lam__team *team, lam_tensor *out[]) {
    const lam_random_state state = lam_ctx_random_state(ctx);
    ctx->team = team;
    cases_call(&p->use, p->x, out);
    ctx->team = NULL;
    lam_ctx_set_random_state(ctx, state);
}

/* Teams of 2, 3 and 7 threads, made once for all rows: they belong to no context and end with the process. */
enum { TEAMS = 3 };

static lam__team *team_number(const probe *p, int k) {
    static const int sizes[TEAMS] = {2, 3, 7};
    static lam__team *teams[TEAMS];
    const lam_allocator heap = lam__alloc_default();
    if (!teams[k]) teams[k] = lam__team_new(&heap, sizes[k]);
    PROBE_CHECK(p, lam__team_size(teams[k]) == sizes[k], "the system gives %d threads", lam__team_size(teams[k]));
    lam__team_set_least(teams[k], 1e-9);
    return teams[k];
}

static void visit_threads(probe *p) {
    lam_tensor *want[CASES_OUTPUTS], *got[CASES_OUTPUTS];
    size_t bytes[CASES_OUTPUTS], other;
    unsigned char *wanted[CASES_OUTPUTS];
    call_again(p, NULL, want);
    for (int o = 0; o < p->outputs; o++) wanted[o] = bytes_of(p, want[o], &bytes[o]);
    for (int k = 0; k < TEAMS; k++) {
        call_again(p, team_number(p, k), got);
        for (int o = 0; o < p->outputs; o++) {
            unsigned char *read = bytes_of(p, got[o], &other);
            PROBE_CHECK(p, other == bytes[o] && memcmp(read, wanted[o], other) == 0,
                        "output %d has other bits with %d threads", o, lam__team_size(team_number(p, k)));
            free(read);
        }
    }
    for (int o = 0; o < p->outputs; o++) free(wanted[o]);
}

int property_threads(const cases_row *row) {
    return probe_each(row, PLAIN, visit_threads);
}
