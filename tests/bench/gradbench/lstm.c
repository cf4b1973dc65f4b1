/* lstm: loss of a recurrent network with diagonal weights that predicts the next character of a text, 14 bits each, and
 * its gradient by all weights. In a layer with weights w and biases v (4 rows each), from input x, hidden h and cell c:
 *
 *   c' = c s(x w0 + v0) + s(h w1 + v1) tanh(h w3 + v3),   h' = s(x w2 + v2) tanh(c'),   s the logistic function.
 *
 * The first layer sees the character times e0; of the last one's h the prediction is y = h e1 + e2, and the loss is the
 * mean of (log(2 + sum exp y) - y) over the bits that are set in the next character. */
#include "tests/bench/gradbench/gradbench.h"

#include <math.h>
#include <string.h>

enum { BITS = 14, LAYER = 8 * BITS, MOST_LAYERS = 8, SEGMENT = 256 };
enum { FORGET, IN, OUT, CHANGE, GATES };

/* What the way back in C reads of one step of one layer. */
typedef struct step {
    double x[BITS], h[BITS], c[BITS], forget[BITS], in[BITS], out[BITS], change[BITS], squashed[BITS];
} step;

typedef struct lstm {
    int64_t layers, count;
    const double *weights, *extra, *state, *text; /* [layers, 2, 4, 14], [3, 14], [layers, 2, 14], [count, 14] */
    step *steps;                                  /* [count, layers] */
    double *predicted;                            /* [count, 14] */
    lam_fn *segment, *shown;                      /* of the Lamina form */
} lstm;

static void *make(gradbench_store *store, const gradbench_size *size, int64_t *values, int64_t *derivatives) {
    lstm *p = gradbench_take(store, sizeof *p);
    *p = (lstm){.layers = size->n[0], .count = size->n[1]};
    p->weights = gradbench_uniform(store, p->layers * LAYER, -1, 1);
    p->extra = gradbench_uniform(store, 3 * BITS, -1, 1);
    p->state = gradbench_uniform(store, p->layers * 2 * BITS, -1, 1);
    double *text = gradbench_doubles(store, p->count * BITS);
    for (int64_t i = 0; i < p->count * BITS; i++) text[i] = (double)gradbench_below(store, 2);
    p->text = text;
    size_t data = store->bytes;
    p->steps = gradbench_take(store, (size_t)(p->count * p->layers) * sizeof *p->steps);
    p->predicted = gradbench_doubles(store, p->count * BITS);
    store->bytes = data;
    *values = 1;
    *derivatives = p->layers * LAYER + 3 * BITS;
    return p;
}

/* ---- in C -------------------------------------------------------------------------------------------------------- */

static double logistic(double x) {
    return 1 / (1 + exp(-x));
}

/* One layer; s->x, s->h and s->c are set. h and c become the new ones. */
static void layer(const double *w, step *s, double *h, double *c) {
    const double *v = w + 4 * BITS;
    for (int i = 0; i < BITS; i++) {
        s->forget[i] = logistic(s->x[i] * w[i] + v[i]);
        s->in[i] = logistic(s->h[i] * w[BITS + i] + v[BITS + i]);
        s->out[i] = logistic(s->x[i] * w[2 * BITS + i] + v[2 * BITS + i]);
        s->change[i] = tanh(s->h[i] * w[3 * BITS + i] + v[3 * BITS + i]);
        c[i] = s->c[i] * s->forget[i] + s->in[i] * s->change[i];
        s->squashed[i] = tanh(c[i]);
        h[i] = s->out[i] * s->squashed[i];
    }
}

/* Keeps what the way back reads; gives the loss. */
static double forward(const lstm *p) {
    double h[MOST_LAYERS][BITS], c[MOST_LAYERS][BITS], total = 0;
    for (int64_t l = 0; l < p->layers; l++) {
        memcpy(h[l], p->state + 2 * l * BITS, sizeof h[l]);
        memcpy(c[l], p->state + (2 * l + 1) * BITS, sizeof c[l]);
    }
    for (int64_t t = 0; t + 1 < p->count; t++) {
        double x[BITS], *y = p->predicted + t * BITS, sum = 2;
        for (int i = 0; i < BITS; i++) x[i] = p->text[t * BITS + i] * p->extra[i];
        for (int64_t l = 0; l < p->layers; l++) {
            step *s = &p->steps[t * p->layers + l];
            memcpy(s->x, x, sizeof x);
            memcpy(s->h, h[l], sizeof x);
            memcpy(s->c, c[l], sizeof x);
            layer(p->weights + l * LAYER, s, h[l], c[l]);
            memcpy(x, h[l], sizeof x);
        }
        for (int i = 0; i < BITS; i++) sum += exp(y[i] = x[i] * p->extra[BITS + i] + p->extra[2 * BITS + i]);
        for (int i = 0; i < BITS; i++) total += p->text[(t + 1) * BITS + i] * (log(sum) - y[i]);
    }
    return total / (double)((p->count - 1) * BITS);
}

static void objective_c(const void *data, double *out) {
    *out = forward(data);
}

/* The way back through one layer: gh and gc are slopes by the new h and c, and become those by the old ones; gx is
 * added to. */
static void layer_back_c(const double *w, const step *s, double *gh, double *gc, double *gx, double *gw) {
    for (int i = 0; i < BITS; i++) {
        double c = gc[i] + gh[i] * s->out[i] * (1 - s->squashed[i] * s->squashed[i]);
        double slope[4] = {
            c * s->c[i] * s->forget[i] * (1 - s->forget[i]),
            c * s->change[i] * s->in[i] * (1 - s->in[i]),
            gh[i] * s->squashed[i] * s->out[i] * (1 - s->out[i]),
            c * s->in[i] * (1 - s->change[i] * s->change[i]),
        };
        for (int k = 0; k < 4; k++) {
            gw[k * BITS + i] += slope[k] * (k & 1 ? s->h[i] : s->x[i]);
            gw[(4 + k) * BITS + i] += slope[k];
        }
        gc[i] = c * s->forget[i];
        gh[i] = slope[1] * w[BITS + i] + slope[3] * w[3 * BITS + i];
        gx[i] += slope[0] * w[i] + slope[2] * w[2 * BITS + i];
    }
}

/* Slopes of the loss by the prediction at t, from which those by e1, e2 and the last layer's h. */
static void loss_back(const lstm *p, int64_t t, const double *h, double *gextra, double *gh) {
    const double *y = p->predicted + t * BITS, *next = p->text + (t + 1) * BITS;
    double sum = 2, set = 0, scale = 1 / (double)((p->count - 1) * BITS);
    for (int i = 0; i < BITS; i++) {
        sum += exp(y[i]);
        set += next[i];
    }
    for (int i = 0; i < BITS; i++) {
        double g = scale * (set * exp(y[i]) / sum - next[i]);
        gextra[BITS + i] += g * h[i];
        gextra[2 * BITS + i] += g;
        gh[i] += g * p->extra[BITS + i];
    }
}

static void derivative_c(const void *data, double *out) {
    const lstm *p = data;
    double gh[MOST_LAYERS][BITS] = {{0}}, gc[MOST_LAYERS][BITS] = {{0}}, *gextra = out + p->layers * LAYER;
    forward(p);
    memset(out, 0, (size_t)(p->layers * LAYER + 3 * BITS) * sizeof *out);
    for (int64_t t = p->count - 2; t >= 0; t--) {
        double h[BITS], gx[BITS];
        const step *last = &p->steps[t * p->layers + p->layers - 1];
        for (int i = 0; i < BITS; i++) h[i] = last->out[i] * last->squashed[i];
        loss_back(p, t, h, gextra, gh[p->layers - 1]);
        for (int64_t l = p->layers - 1; l >= 0; l--) {
            memset(gx, 0, sizeof gx);
            layer_back_c(p->weights + l * LAYER, &p->steps[t * p->layers + l], gh[l], gc[l], gx, out + l * LAYER);
            for (int i = 0; i < BITS && l > 0; i++) gh[l - 1][i] += gx[i];
        }
        for (int i = 0; i < BITS; i++) gextra[i] += gx[i] * p->text[t * BITS + i];
    }
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

/* A layer, which sees h only through gates of its own, is one recurrence c_t = F_t(c_(t-1)) in each bit. All of its
 * steps are solved at once by Newton's method: with F made linear around a guess it is a linear recurrence. After a
 * handful of rounds the guess is c to the last digits but a few.
 *
 * The way back is the same linear recurrence around the solution, from the end: of cotangents. So a segment is a
 * function with a rule of its own, which keeps the cells; the loss of what the last layer shows has none. */
typedef struct layer_steps {
    lam_tensor *w[GATES], *v[GATES], *less[GATES]; /* less = -w */
    lam_tensor *x, *forget, *out;                  /* [steps, 14] */
    lam_tensor *h, *c;                             /* [1, 14], before the first step */
    lam_tensor *late, *first;                      /* out of the step before, or 0; h before the first step, else 0 */
} layer_steps;

/* What each step sees of the one before, from what each gives; and of the one behind. */
static lam_tensor *delayed(lam_tensor *first, lam_tensor *x) {
    return lam_concatenate(LAM_LIST(first, lam_slice_axis(x, 0, 0, -1)), 0);
}

static lam_tensor *ahead(lam_tensor *x, lam_tensor *last) {
    return lam_concatenate(LAM_LIST(lam_slice_axis(x, 0, 1, lam_dim(x, 0)), last), 0);
}

static lam_tensor *gate(const layer_steps *s, int which, lam_tensor *seen) {
    lam_tensor *x = lam_fma(seen, s->w[which], s->v[which]);
    lam_tensor *y = which == CHANGE ? lam_tanh(x) : lam_logistic(x);
    lam_drop(x);
    return y;
}

/* weights [2, 4, 14], state [2, 14], inputs [steps, 14] */
static layer_steps layer_of(lam_tensor *weights, lam_tensor *state, lam_tensor *x) {
    layer_steps s = {.x = x};
    lam_tensor *part[2];
    lam_unstack(lam_expand_dims(state, 1), 0, part, 2);
    s.h = part[0];
    s.c = part[1];
    lam_unstack(weights, 0, part, 2);
    lam_unstack(part[0], 0, s.w, GATES);
    lam_unstack(part[1], 0, s.v, GATES);
    lam_unstack(lam_neg(part[0]), 0, s.less, GATES);
    s.forget = gate(&s, FORGET, x);
    s.out = gate(&s, OUT, x);
    return s;
}

/* How much product = in times change grows with h. */
static lam_tensor *by_h(const layer_steps *s, lam_tensor *in, lam_tensor *change, lam_tensor *product) {
    lam_tensor *both = lam_fma(change, lam_fma(change, s->less[CHANGE], s->w[IN]), s->w[CHANGE]);
    return lam_mul(in, lam_fma(product, s->less[IN], both));
}

/* A round of Newton's method: what to add to the cells. The slope of tanh is 1 - tanh^2. */
static lam_tensor *newton(const layer_steps *s, lam_tensor *cells) {
    lam_tensor *before = delayed(s->c, cells), *squashed = lam_tanh(before), *h = lam_fma(squashed, s->late, s->first);
    lam_tensor *in = gate(s, IN, h), *change = gate(s, CHANGE, h), *product = lam_mul(in, change);
    lam_tensor *steep = lam_add(s->late, lam_times_power(s->late, squashed, 2, -1));
    lam_tensor *slope = lam_fma(by_h(s, in, change, product), steep, s->forget);
    return lam_linear_recurrence(slope, lam_fma(s->forget, before, lam_sub(product, cells)), 0, false);
}

/* A guess: F made linear around h = 0, where the gates that see h are the same in every step; but half as steep, since
 * tanh flattens, and without what the first h does. */
static lam_tensor *guess(const layer_steps *s) {
    lam_tensor *in = lam_logistic(s->v[IN]), *change = lam_tanh(s->v[CHANGE]), *product = lam_mul(in, change);
    lam_tensor *from = lam_fma(s->c, lam_slice_axis(s->forget, 0, 0, 1), product);
    lam_tensor *others = lam_broadcast_to(product, LAM_DIMS(lam_dim(s->forget, 0) - 1, BITS));
    lam_tensor *slope = lam_fma(s->late, lam_mul(by_h(s, in, change, product), 0.5), s->forget);
    return lam_linear_recurrence(slope, lam_concatenate(LAM_LIST(from, others), 0), 0, false);
}

/* In f32. */
static layer_steps narrow(const layer_steps *s) {
    layer_steps n = {.forget = lam_cast(s->forget, LAM_F32), .late = lam_cast(s->late, LAM_F32)};
    n.first = lam_cast(s->first, LAM_F32);
    n.c = lam_cast(s->c, LAM_F32);
    for (int gate = IN; gate < GATES; gate += CHANGE - IN) {
        n.w[gate] = lam_cast(s->w[gate], LAM_F32);
        n.v[gate] = lam_cast(s->v[gate], LAM_F32);
        n.less[gate] = lam_cast(s->less[gate], LAM_F32);
    }
    return n;
}

/* Improves the cells; says how much the largest has changed. */
static double improve(const layer_steps *s, lam_tensor **cells) {
    lam_scope *scope = lam_scope_begin(lam_ctx_of(*cells));
    lam_tensor *change = newton(s, *cells);
    *cells = lam_add(*cells, change);
    double most = lam_dtype_of(change) == LAM_F64 ? lam_item(lam_max_reduce(lam_abs(change), NULL)) : 0;
    lam_scope_end(scope, cells, 1);
    return most;
}

/* Each round squares the error: two in f32, which cost less than half, then f64 until one changes so little that the
 * next would change nothing to speak of. Round k leaves the first k steps exact whatever the guess was, so that there
 * is an end. */
static lam_tensor *solve_layer(const layer_steps *s) {
    lam_scope *scope = lam_scope_begin(lam_ctx_of(s->out));
    const layer_steps n = narrow(s);
    lam_tensor *cells = guess(&n);
    for (int round = 0; round < 2; round++) improve(&n, &cells);
    cells = lam_cast(cells, LAM_F64);
    for (int64_t round = lam_dim(cells, 0); round > 0 && improve(s, &cells) > 1e-5; round--) continue;
    lam_scope_end(scope, &cells, 1);
    return cells;
}

/* Inputs and results of a segment. */
enum { WEIGHTS, EXTRA, STATE, TEXT, NEXT, INPUTS };
enum { TOTAL, AFTER, RESULTS };

static lam_tensor *first_input(lam_tensor *text, lam_tensor *extra) {
    return lam_mul(text, lam_index(extra, 0, 0));
}

/* What a layer shows, from its inputs; the state becomes the new one. */
static lam_tensor *run_layer(lam_tensor *weights, lam_tensor *x, lam_tensor **state, lam_tensor **cells) {
    lam_scope *scope = lam_scope_begin(lam_ctx_of(x));
    layer_steps s = layer_of(weights, *state, x);
    s.late = delayed(lam_zeros_like(s.h), s.out);
    s.first = lam_pad(s.h, LAM_DIMS(0, 0), LAM_DIMS(lam_dim(x, 0) - 1, 0), NULL);
    *cells = solve_layer(&s);
    lam_tensor *h = lam_mul(s.out, lam_tanh(*cells));
    *state = lam_stack(LAM_LIST(lam_index(h, 0, -1), lam_index(*cells, 0, -1)), 0);
    lam_scope_end(scope, (lam_tensor *[]){*cells, h, *state}, 3);
    return h;
}

/* extra, what the last layer shows, characters -> the sum of the losses */
static void body_shown(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_reduce_options bits = {.axes = LAM_AXES(1), .keepdims = true};
    lam_tensor *extra[3];
    (void)ctx, (void)env;
    lam_unstack(in[0], 0, extra, 3);
    lam_tensor *y = lam_fma(in[1], extra[1], extra[2]);
    lam_tensor *norm = lam_log(lam_add(2.0, lam_sum(lam_exp(y), &bits)));
    out[0] = lam_sum(lam_mul(in[2], lam_sub(norm, y)), NULL);
}

/* weights, extra, state, some characters, the ones behind them -> the sum of their losses, the new state; and the cells
 * of each layer. */
static void run_segment(const lstm *p, lam_tensor *const in[], lam_tensor *out[], lam_tensor *cells[]) {
    lam_tensor *weights[MOST_LAYERS], *state[MOST_LAYERS], *x = first_input(in[TEXT], in[EXTRA]);
    lam_unstack(in[WEIGHTS], 0, weights, (size_t)p->layers);
    lam_unstack(in[STATE], 0, state, (size_t)p->layers);
    for (int64_t l = 0; l < p->layers; l++) x = run_layer(weights[l], x, &state[l], &cells[l]);
    lam_call(p->shown, LAM_LIST(in[EXTRA], x, in[NEXT]), &out[TOTAL], 1);
    out[AFTER] = lam_stack((lam_list){(size_t)p->layers, state}, 0);
}

static void body_segment(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *cells[MOST_LAYERS];
    (void)ctx;
    run_segment(env, in, out, cells);
}

/* The same, and what the way back keeps: weights, extra, state; cells of each layer. */
static void body_forward(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    run_segment(env, in, out, out + RESULTS + TEXT);
    for (int i = WEIGHTS; i < TEXT; i++) out[RESULTS + i] = lam_alias(in[i]);
}

/* A layer on the way back: what each step shows; cotangents. */
typedef struct layer_slopes {
    layer_steps s;
    lam_tensor *cells, *squashed, *h;
    lam_tensor *gweights, *gstate, *gx;
} layer_slopes;

static layer_slopes layer_again(lam_tensor *weights, lam_tensor *state, lam_tensor *x, lam_tensor *cells) {
    layer_slopes l = {.s = layer_of(weights, state, x), .cells = cells, .squashed = lam_tanh(cells)};
    l.h = lam_mul(l.s.out, l.squashed);
    return l;
}

/* What is added to the last step. */
static lam_tensor *with_last(lam_tensor *x, lam_tensor *more) {
    lam_tensor *last = lam_slice_axis(x, 0, -1, lam_dim(x, 0));
    return lam_concatenate(LAM_LIST(lam_slice_axis(x, 0, 0, -1), lam_add(last, more)), 0);
}

/* gy (1 - y), in place: the way back through a logistic function, where gy already is y times the cotangent. */
static lam_tensor *through(lam_tensor *gy, lam_tensor *y) {
    lam_tensor *most = lam_mul(gy, y);
    lam_sub_(gy, most);
    lam_drop(most);
    return gy;
}

/* Cotangents of weights and biases from those of what the gates see. */
static lam_tensor *by_weights(lam_tensor *const g[GATES], lam_tensor *x, lam_tensor *h) {
    lam_tensor *w[2 * GATES];
    for (int i = 0; i < GATES; i++) {
        w[i] = lam_einsum("ti,ti->i", LAM_LIST(g[i], i == FORGET || i == OUT ? x : h));
        w[GATES + i] = lam_sum(g[i], &(lam_reduce_options){.axes = LAM_AXES(0)});
    }
    return lam_reshape(lam_stack((lam_list){2 * GATES, w}, 0), LAM_DIMS(2, GATES, BITS));
}

/* Of h_t = out tanh(c_t) and c_t = forget c_(t-1) + product(h_(t-1)): cotangents of later steps give those of c by a
 * linear recurrence, and with them those of h. gh, gafter: of h, and of the state at the end, from elsewhere. */
static void layer_back(layer_slopes *l, lam_tensor *gh, lam_tensor *gafter) {
    const layer_steps *s = &l->s;
    lam_scope *scope = lam_scope_begin(lam_ctx_of(gh));
    lam_tensor *after[2], *g[GATES], *h = delayed(s->h, l->h), *c = delayed(s->c, l->cells);
    lam_unstack(lam_expand_dims(gafter, 1), 0, after, 2);
    lam_tensor *in = gate(s, IN, h), *change = gate(s, CHANGE, h), *product = lam_mul(in, change);
    lam_tensor *zero = lam_zeros_like(s->h), *slope = by_h(s, in, change, product), *next = ahead(slope, zero);
    lam_tensor *steep = lam_sub(s->out, lam_mul(l->h, l->squashed));
    gh = with_last(gh, after[0]);
    lam_tensor *gc = lam_linear_recurrence(lam_fma(steep, next, ahead(s->forget, zero)),
                                           with_last(lam_mul(steep, gh), after[1]), 0, true);
    gh = lam_fma(next, ahead(gc, zero), gh);
    lam_tensor *first = lam_stack(LAM_LIST(lam_index(slope, 0, 0), lam_index(s->forget, 0, 0)), 0);
    lam_tensor *gin = lam_mul(gc, in);
    g[FORGET] = through(lam_mul(gc, lam_mul(c, s->forget)), s->forget);
    g[IN] = through(lam_mul(gc, product), in);
    g[OUT] = through(lam_mul(gh, l->h), s->out);
    g[CHANGE] = lam_add(gin, lam_times_power(gin, change, 2, -1));
    l->gx = lam_fma(g[FORGET], s->w[FORGET], lam_mul(g[OUT], s->w[OUT]));
    l->gweights = by_weights(g, s->x, h);
    l->gstate = lam_mul(first, lam_index(gc, 0, 0));
    lam_scope_end(scope, (lam_tensor *[]){l->gweights, l->gstate, l->gx}, 3);
}

/* Text, what was kept, cotangents -> those of weights, extra and state. */
static void body_back(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lstm *p = env;
    const size_t layers = (size_t)p->layers;
    lam_tensor *const *kept = in + 2, *const *g = in + INPUTS + layers, *gextra[2], *none;
    lam_tensor *weights[MOST_LAYERS], *state[MOST_LAYERS], *after[MOST_LAYERS];
    layer_slopes l[MOST_LAYERS];
    lam_fn *pull;
    (void)ctx;
    lam_unstack(kept[WEIGHTS], 0, weights, layers);
    lam_unstack(kept[STATE], 0, state, layers);
    lam_unstack(g[AFTER], 0, after, layers);
    lam_tensor *x = first_input(in[0], kept[EXTRA]);
    for (size_t i = 0; i < layers; i++, x = l[i - 1].h) l[i] = layer_again(weights[i], state[i], x, kept[TEXT + i]);
    lam_vjp(p->shown, LAM_LIST(kept[EXTRA], x, in[1]), &none, 1, &pull, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
    lam_call(pull, LAM_LIST(g[TOTAL]), gextra, 2);
    lam_tensor *gh = gextra[1];
    for (size_t i = layers; i-- > 0; gh = l[i].gx) {
        layer_back(&l[i], gh, after[i]);
        weights[i] = l[i].gweights;
        state[i] = l[i].gstate;
    }
    out[WEIGHTS] = lam_stack((lam_list){layers, weights}, 0);
    lam_reduce_options steps = {.axes = LAM_AXES(0), .keepdims = true};
    out[EXTRA] = lam_concatenate(LAM_LIST(lam_sum(lam_mul(gh, in[0]), &steps), lam_slice_axis(gextra[0], 0, 1, 3)), 0);
    out[STATE] = lam_stack((lam_list){layers, state}, 0);
}

/* weights, extra, state, text */
static void body_loss(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lstm *p = env;
    lam_tensor *total = lam_scalar(ctx, 0), *result[RESULTS], *state = in[STATE];
    for (int64_t first = 0; first + 1 < p->count; first += SEGMENT) {
        int64_t end = first + SEGMENT < p->count - 1 ? first + SEGMENT : p->count - 1;
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *text = lam_slice_axis(in[TEXT], 0, first, end),
                   *next = lam_slice_axis(in[TEXT], 0, first + 1, end + 1);
        lam_call(p->segment, LAM_LIST(in[WEIGHTS], in[EXTRA], state, text, next), result, RESULTS);
        total = lam_add(total, result[TOTAL]);
        state = result[AFTER];
        lam_scope_end(scope, (lam_tensor *[]){total, state}, 2);
    }
    out[0] = lam_div(total, (double)((p->count - 1) * BITS));
}

static void lamina(void *data, gradbench_lamina *l) {
    lstm *p = data;
    gradbench_input(l, LAM_DIMS(p->layers, 2, 4, BITS), p->weights);
    gradbench_input(l, LAM_DIMS(3, BITS), p->extra);
    gradbench_input(l, LAM_DIMS(p->layers, 2, BITS), p->state);
    gradbench_input(l, LAM_DIMS(p->count, BITS), p->text);
    int kept = TEXT + (int)p->layers;
    p->shown = gradbench_fn(l, "shown", body_shown, 3, 1, p);
    p->segment = lam_custom_vjp(gradbench_fn(l, "segment", body_segment, INPUTS, RESULTS, p),
                                gradbench_fn(l, "segment, forward", body_forward, INPUTS, RESULTS + kept, p),
                                gradbench_fn(l, "segment, back", body_back, 2 + kept + RESULTS, TEXT, p),
                                &(lam_custom_options){.nondiff = LAM_AXES(TEXT, NEXT)});
    l->objective = gradbench_fn(l, "loss", body_loss, 4, 1, p);
    l->derivative = lam_grad(l->objective, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
}

static const gradbench_size sizes[] = {
    {"l2 c128", true, {2, 128}},    {"l2 c1024", false, {2, 1024}}, {"l4 c1024", false, {4, 1024}},
    {"l2 c4096", false, {2, 4096}}, {"l4 c4096", false, {4, 4096}}, {NULL, false, {0}},
};

const gradbench_problem gradbench_lstm = {
    .name = "lstm",
    .derivative = "gradient",
    .sizes = sizes,
    .make = make,
    .objective_c = objective_c,
    .derivative_c = derivative_c,
    .lamina = lamina,
};
