/* Scenarios while memory is refused: see sweep.h. */
#include "tests/fuzz/sweep.h"

/* With a sanitizer one of so many requests is where all are refused from then on. */
enum { FEWER = SANITIZED ? 3 : 1 };

static double scoped(double (*run)(void)) {
    lam_scope *scope = lam_scope_begin(ctx);
    double result = run();
    lam_scope_end(scope, NULL, 0);
    return result;
}

/* Runs with request n refused; false if the scenario makes fewer. */
static bool refused_at(const scenario *s, double want, size_t n, bool from_then_on) {
    memory m = {.refuse = n, .from_then_on = from_then_on};
    lam_ctx_options options = memory_options(&m);
    const char *name = s->name;
    ctx = lam_ctx_new(&options);
    double first = scoped(s->run);
    bool reached = m.requests >= n;
    ck_assert_msg(reached ? lam_status_of(ctx) == LAM_ERR_MEMORY || first == want
                          : first == want && lam_status_of(ctx) == LAM_OK,
                  "%s, request %zu: %g and %s", name, n, first, lam_error(ctx));
    const bool looked = lam_ctx_bytes(ctx) > 0 && (!SANITIZED || n % 4 == 0); /* none: the context was not born */
    m.refuse = 0;
    lam_clear_error(ctx);
    double again = looked ? scoped(s->run) : want;
    ck_assert_msg(again == want, "%s, after request %zu: %.17g, not %.17g: %s", name, n, again, want, lam_error(ctx));
    lam_ctx_free(ctx);
    ck_assert_msg(m.blocks == 0, "%s, request %zu: %zu blocks leak", name, n, m.blocks);
    ck_assert_msg(!m.wrong_size, "%s, request %zu: released with another size", name, n);
    return reached;
}

void sweep_requests(const scenario *s) {
    lam_ctx *real = ctx;
    double want = scoped(s->run);
    EXPECT_OK();
    ck_assert_msg(isfinite(want) && want != 0, "%s: the scenario says nothing: %g", s->name, want);
    for (int from_then_on = 0; from_then_on < 2; from_then_on++)
        for (size_t n = 1; refused_at(s, want, n, from_then_on); n += from_then_on ? FEWER : 1) continue;
    ctx = real;
}

/* The limit is met somewhere inside; with enough room the result is right. */
void sweep_limits(const scenario *s) {
    lam_ctx *real = ctx;
    double want = scoped(s->run);
    for (size_t limit = 4096, fine = 0; !fine; limit += limit / 32) {
        memory m = {0};
        lam_ctx_options options = memory_options(&m);
        options.memory_limit = limit;
        ctx = lam_ctx_new(&options);
        double got = scoped(s->run);
        fine = lam_status_of(ctx) == LAM_OK;
        ck_assert_msg(fine ? got == want : lam_status_of(ctx) == LAM_ERR_MEMORY, "%s, limit %zu: %s", s->name, limit,
                      lam_error(ctx));
        ck_assert_msg(lam_ctx_peak_bytes(ctx) <= limit, "%s: the limit was passed", s->name);
        lam_ctx_free(ctx);
        ck_assert_msg(m.blocks == 0 && !m.wrong_size, "%s, limit %zu: %zu blocks leak", s->name, limit, m.blocks);
    }
    ctx = real;
}
