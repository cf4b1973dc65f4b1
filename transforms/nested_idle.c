/* NOTE [idle carries]
 * Beside what a loop is made for it carries times, counts, errors that end it: their derivatives are zero, or nobody
 * asks for them. In forward mode a carry has a tangent if it begins with one, or if a trip makes it of what has one. On
 * the way back an input of a trip has a cotangent if a trip makes something of it that has one, and if it depends on
 * what a gradient is wanted of. Both are looked for in the program of a trip until there are no more of them; what is
 * left gets no place in the loop of derivatives. Where a trip is no program, any floating carry may have one. */
#include "transforms/nested.h"

#include "lib/primitives/apply.h"
#include "lib/program/function.h"
#include "lib/tensor/dtype.h"

#include <string.h>

/* Equations that are looked at for one loop, so that this takes a fraction of what making it takes. */
enum { MOST_LOOKS = 1 << 22 };

static const lam__program *trip_of(const lam__nested *what) {
    return lam__program_of(what->fns[what->count - 1]);
}

lam_status lam__nested_pushed(const lam__nested *what, lam_value *const types[], bool in[], bool out[]) {
    const lam__program *p = trip_of(what);
    const int m = what->fns[what->count - 1]->outputs;
    lam_status status = LAM_OK;
    for (int64_t i = 0; i < what->carries && !p; i++) in[i] = lam__dtype_is_inexact(types[i]->dtype);
    memset(out, true, (size_t)m);
    for (bool more = p != NULL; more && status == LAM_OK;) {
        more = false;
        status = lam__program_slopes(p, in, out);
        for (int64_t o = 0; o < what->carries && status == LAM_OK; o++) {
            more = more || (out[o] && !in[o]);
            out[o] = in[o] = in[o] || out[o];
        }
    }
    return status;
}

/* What is asked for one loop. One list behind the other, of its n inputs and m results. */
typedef struct reach {
    const lam__nested *what;
    const lam__program *p;
    int n, m;
    bool *given, *made, *results; /* results: for each input those that a trip makes of it */
} reach;

static bool reaches(const reach *r, int i) {
    bool any = false;
    for (int o = 0; o < r->m && !any; o++) any = r->results[(int64_t)i * r->m + o] && r->given[o];
    return any;
}

/* Which results each of the inputs with in[] goes into. one[] has none, and is left so. */
static lam_status follow_each(reach *r, const bool in[], bool one[]) {
    lam_status status = LAM_OK;
    for (int i = 0; i < r->n && status == LAM_OK; i++) {
        if (!in[i]) continue;
        one[i] = true;
        status = lam__program_slopes(r->p, one, r->results + (int64_t)i * r->m);
        one[i] = false;
    }
    return status;
}

/* Each round adds a carry at least, so it ends. in[]: what varies with what is wanted; active[] is its own list. */
static void go_back(reach *r, const bool in[], bool active[]) {
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < r->what->carries; i++) {
            if (!in[i] || r->given[i] || !reaches(r, i)) continue;
            r->given[i] = more = true;
        }
    }
    for (int i = 0; i < r->n; i++) active[i] = in[i] && (i < r->what->carries ? r->given[i] : reaches(r, i));
}

lam_status lam__nested_pulled(lam_ctx *ctx, const lam__nested *what, lam_value *const types[], const bool wanted[],
                              const bool given[], bool active[]) {
    const lam_fn *trip = what->fns[what->count - 1];
    reach r = {.what = what, .p = trip_of(what), .n = trip->inputs, .m = trip->outputs};
    int64_t wants = 0;
    for (int i = 0; i < r.n; i++) {
        active[i] = i < what->carries ? lam__dtype_is_inexact(types[i]->dtype) : wanted[i];
        wants += active[i];
    }
    if (!r.p || wants * (r.p->equations + r.m) > MOST_LOOKS) return LAM_OK;
    const size_t room = (size_t)(2 * r.n + 2 * r.m) + (size_t)r.n * (size_t)r.m;
    bool *in = (bool *)(void *)lam__apply_room(ctx, room / sizeof(void *) + 1);
    if (!in) return LAM_ERR_MEMORY;
    bool *one = in + r.n;
    r.given = one + r.n;
    r.made = r.given + r.m;
    r.results = r.made + r.m;
    memset(in, 0, room);
    for (int i = 0; i < r.n; i++) in[i] = wanted[i] && lam__dtype_is_inexact(types[i]->dtype);
    memcpy(r.given, given, (size_t)r.m);
    lam_status status = lam__nested_pushed(what, types, in, r.made);
    if (status == LAM_OK) status = follow_each(&r, in, one);
    if (status == LAM_OK) go_back(&r, in, active);
    return status;
}
