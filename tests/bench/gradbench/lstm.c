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
    lam_fn *segment, *record, *round;             /* of the Lamina form: some steps, recorded or not, their way back */
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
static void layer_back(const double *w, const step *s, double *gh, double *gc, double *gx, double *gw) {
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
            layer_back(p->weights + l * LAYER, &p->steps[t * p->layers + l], gh[l], gc[l], gx, out + l * LAYER);
            for (int i = 0; i < BITS && l > 0; i++) gh[l - 1][i] += gx[i];
        }
        for (int i = 0; i < BITS; i++) gextra[i] += gx[i] * p->text[t * BITS + i];
    }
}

/* ---- in Lamina --------------------------------------------------------------------------------------------------- */

/* A layer, which sees h only through gates of its own, is one recurrence c_t = F_t(c_(t-1)) in each bit. All of its
 * steps are solved at once by Newton's method: with F made linear around a guess it is a linear recurrence. After a
 * handful of rounds the guess is c to the last digits but a few. One more round, which is recorded, has its
 * derivatives. So a segment is a function with a rule of its own, whose way back keeps the cells and makes that round;
 * but for the last one, with which the way back begins: there the round is recorded on the way. */
typedef struct layer_steps {
    lam_tensor *w[GATES], *v[GATES], *less[GATES]; /* less = -w */
    lam_tensor *forget, *out;                      /* [steps, 14] */
    lam_tensor *h, *c;                             /* [1, 14], before the first step */
    lam_tensor *late;                              /* out of the step before, or 0 */
} layer_steps;

/* The next of a chain of values, of which the last one is not needed any more: its memory is near and free. */
static lam_tensor *instead(lam_tensor *last, lam_tensor *next) {
    lam_drop(last);
    return next;
}

/* What each step sees of the one before, from what each gives. */
static lam_tensor *delayed(lam_tensor *first, lam_tensor *x) {
    return lam_concatenate(LAM_LIST(first, lam_slice_axis(x, 0, 0, -1)), 0);
}

static lam_tensor *gate(const layer_steps *s, int which, lam_tensor *seen) {
    lam_tensor *x = lam_fma(seen, s->w[which], s->v[which]);
    return instead(x, which == CHANGE ? lam_tanh(x) : lam_logistic(x));
}

/* rows of weights w and biases v; state [2, 14], inputs [steps, 14] */
static layer_steps layer_of(lam_tensor *const rows[], lam_tensor *state, lam_tensor *x) {
    layer_steps s = {.late = NULL};
    lam_tensor *part[2];
    lam_unstack(lam_expand_dims(state, 1), 0, part, 2);
    s.h = part[0];
    s.c = part[1];
    memcpy(s.w, rows, sizeof s.w);
    memcpy(s.v, rows + GATES, sizeof s.v);
    s.forget = gate(&s, FORGET, x);
    s.out = gate(&s, OUT, x);
    return s;
}

/* The same as numbers, of which no derivatives are taken. */
static layer_steps numbers_of(const layer_steps *s) {
    layer_steps n = {.forget = lam_stop_gradient(s->forget), .out = lam_stop_gradient(s->out)};
    n.h = lam_stop_gradient(s->h);
    n.c = lam_stop_gradient(s->c);
    for (int gate = IN; gate < GATES; gate += CHANGE - IN) {
        n.w[gate] = lam_stop_gradient(s->w[gate]);
        n.v[gate] = lam_stop_gradient(s->v[gate]);
        n.less[gate] = lam_neg(n.w[gate]);
    }
    return n;
}

/* How much product = in times change grows with h. */
static lam_tensor *by_h(const layer_steps *s, lam_tensor *in, lam_tensor *change, lam_tensor *product) {
    lam_tensor *both = lam_fma(change, s->less[CHANGE], s->w[IN]);
    both = instead(both, lam_fma(change, both, s->w[CHANGE]));
    both = instead(both, lam_fma(product, s->less[IN], both));
    return instead(both, lam_mul(in, both));
}

/* A round of Newton's method: what to add to the cells. The slope of tanh is 1 - tanh^2. */
static lam_tensor *newton(const layer_steps *s, lam_tensor *cells) {
    lam_tensor *before = delayed(s->c, cells), *squashed = lam_tanh(before), *h = lam_mul(squashed, s->late);
    lam_tensor *steep = lam_times_power(s->late, squashed, 2, -1);
    lam_drop(squashed);
    lam_add_(steep, s->late);
    lam_set_(h, s->h, LAM_DIMS(0, 0), LAM_DIMS(1, BITS), LAM_DIMS(1, 1));
    lam_tensor *in = gate(s, IN, h), *change = instead(h, gate(s, CHANGE, h)), *product = lam_mul(in, change);
    lam_tensor *by = by_h(s, in, change, product), *slope = instead(by, lam_fma(by, steep, s->forget));
    lam_sub_(product, cells);
    product = instead(product, lam_fma(s->forget, before, product));
    return lam_linear_recurrence(slope, product, 0, false);
}

/* A guess: F made linear around h = 0, where the gates that see h are the same in every step; but half as steep, since
 * tanh flattens. The first step is known. */
static lam_tensor *guess(const layer_steps *s) {
    lam_tensor *in = lam_logistic(s->v[IN]), *change = lam_tanh(s->v[CHANGE]), *product = lam_mul(in, change);
    lam_tensor *from = lam_mul(gate(s, IN, s->h), gate(s, CHANGE, s->h));
    from = lam_fma(s->c, lam_slice_axis(s->forget, 0, 0, 1), from);
    lam_tensor *others = lam_broadcast_to(product, LAM_DIMS(lam_dim(s->forget, 0) - 1, BITS));
    lam_tensor *slope = lam_fma(s->late, lam_mul(by_h(s, in, change, product), 0.5), s->forget);
    return lam_linear_recurrence(slope, lam_concatenate(LAM_LIST(from, others), 0), 0, false);
}

/* In f32. */
static layer_steps narrow(const layer_steps *s) {
    layer_steps n = {.forget = lam_cast(s->forget, LAM_F32), .late = lam_cast(s->late, LAM_F32)};
    n.h = lam_cast(s->h, LAM_F32);
    n.c = lam_cast(s->c, LAM_F32);
    for (int gate = IN; gate < GATES; gate += CHANGE - IN) {
        n.w[gate] = lam_cast(s->w[gate], LAM_F32);
        n.v[gate] = lam_cast(s->v[gate], LAM_F32);
        n.less[gate] = lam_cast(s->less[gate], LAM_F32);
    }
    return n;
}

/* The size of the largest. */
static double largest(lam_tensor *x) {
    return fmax(lam_item(lam_max_reduce(x, NULL)), -lam_item(lam_min_reduce(x, NULL)));
}

/* Improves the cells; says how much the largest has changed, in f64. */
static double improve(const layer_steps *s, lam_tensor *cells) {
    lam_scope *scope = lam_scope_begin(lam_ctx_of(cells));
    lam_tensor *change = newton(s, cells);
    lam_add_(cells, change);
    const double most = lam_dtype_of(change) == LAM_F64 ? largest(change) : 0;
    lam_scope_end(scope, NULL, 0);
    return most;
}

/* Each round squares the error: two in f32, which cost less than half, then f64 until one changes so little that the
 * next would change nothing to speak of. Round k leaves the first k steps exact whatever the guess was, so that there
 * is an end. */
static lam_tensor *solve_layer(layer_steps s) {
    lam_scope *scope = lam_scope_begin(lam_ctx_of(s.out));
    s.late = delayed(lam_zeros_like(s.h), s.out);
    const layer_steps n = narrow(&s);
    lam_tensor *cells = guess(&n);
    for (int round = 0; round < 2; round++) improve(&n, cells);
    cells = lam_cast(cells, LAM_F64);
    for (int64_t round = lam_dim(cells, 0); round > 0 && improve(&s, cells) > 1e-5; round--) continue;
    lam_scope_end(scope, &cells, 1);
    return cells;
}

/* Inputs and results of a segment. */
enum { WEIGHTS, EXTRA, STATE, TEXT, NEXT, INPUTS };
enum { TOTAL, AFTER, RESULTS };

static lam_tensor *first_input(lam_tensor *text, lam_tensor *extra) {
    return lam_mul(text, lam_index(extra, 0, 0));
}

/* The sum of the losses of what the last layer shows. */
static lam_tensor *loss_of(lam_tensor *shifts, lam_tensor *h, lam_tensor *next) {
    lam_reduce_options bits = {.axes = LAM_AXES(1), .keepdims = true};
    lam_tensor *y = lam_fma(h, lam_index(shifts, 0, 1), lam_index(shifts, 0, 2));
    lam_tensor *norm = lam_log(lam_add(2.0, lam_sum(lam_exp(y), &bits)));
    return lam_sum(lam_mul(next, lam_sub(norm, y)), NULL);
}

/* A round around cells that are the solution: they are constants, what it changes is nothing, and its derivatives are
 * theirs. Slopes are numbers to the method. Gives what the layer shows, and adds to the last cells. */
static lam_tensor *round_again(const layer_steps *s, const layer_steps *n, lam_tensor *cells, lam_tensor **last) {
    lam_tensor *squashed = lam_tanh(cells), *h = lam_mul(s->out, squashed), *seen = delayed(s->h, h);
    lam_tensor *in = gate(s, IN, seen), *change = gate(s, CHANGE, seen), *product = lam_mul(in, change);
    lam_tensor *lack = lam_fma(s->forget, delayed(s->c, cells), lam_sub(product, cells));
    lam_tensor *steep = lam_mul(lam_stop_gradient(h), squashed);
    steep = instead(steep, lam_sub(n->out, steep));
    lam_tensor *grows = by_h(n, lam_stop_gradient(in), lam_stop_gradient(change), lam_stop_gradient(product));
    lam_tensor *late = delayed(lam_zeros_like(n->h), steep);
    lam_tensor *slope = instead(late, instead(grows, lam_fma(grows, late, n->forget)));
    lam_tensor *moved = lam_linear_recurrence(slope, lack, 0, false);
    *last = lam_add(*last, lam_index(moved, 0, -1));
    return lam_fma(steep, moved, h);
}

/* How a segment is run: without a record; the same, but recorded; cells are known, and it is recorded. */
typedef enum way { PLAIN, RECORDED, KNOWN } way;

/* What a layer shows, from its inputs; the state becomes the new one. */
static lam_tensor *run_layer(lam_tensor *const rows[], lam_tensor *x, lam_tensor **state, lam_tensor **cells, way how) {
    lam_scope *scope = lam_scope_begin(lam_ctx_of(x));
    layer_steps s = layer_of(rows, *state, x), n = numbers_of(&s);
    if (how != KNOWN) *cells = solve_layer(n);
    lam_tensor *last = lam_index(*cells, 0, -1);
    lam_tensor *h = how == PLAIN ? lam_mul(s.out, lam_tanh(*cells)) : round_again(&s, &n, *cells, &last);
    *state = lam_stack(LAM_LIST(lam_index(h, 0, -1), last), 0);
    lam_scope_end(scope, (lam_tensor *[]){*cells, h, *state}, 3);
    return h;
}

/* weights, extra, state, some characters, the ones behind them -> the sum of their losses, the new state; cells[] of
 * each layer. */
static void run_segment(const lstm *p, lam_tensor *const in[], lam_tensor *out[], lam_tensor *cells[], way how) {
    lam_tensor *rows[MOST_LAYERS * 2 * GATES], *state[MOST_LAYERS], *x = first_input(in[TEXT], in[EXTRA]);
    const int64_t count = p->layers * 2 * GATES;
    lam_unstack(lam_reshape(in[WEIGHTS], LAM_DIMS(count, BITS)), 0, rows, (size_t)count);
    lam_unstack(in[STATE], 0, state, (size_t)p->layers);
    for (int64_t l = 0; l < p->layers; l++) x = run_layer(rows + l * 2 * GATES, x, &state[l], &cells[l], how);
    out[TOTAL] = loss_of(in[EXTRA], x, in[NEXT]);
    out[AFTER] = lam_stack((lam_list){(size_t)p->layers, state}, 0);
}

static void body_segment(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *cells[MOST_LAYERS];
    (void)ctx;
    run_segment(env, in, out, cells, PLAIN);
}

static void body_record(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *cells[MOST_LAYERS];
    (void)ctx;
    run_segment(env, in, out, cells, RECORDED);
}

/* The same, and what the way back keeps: weights, extra, state; cells of each layer. */
static void body_forward(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    run_segment(env, in, out, out + RESULTS + TEXT, PLAIN);
    for (int i = WEIGHTS; i < TEXT; i++) out[RESULTS + i] = lam_alias(in[i]);
}

/* Inputs, then the cells. */
static void body_round(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *cells[MOST_LAYERS];
    const lstm *p = env;
    (void)ctx;
    for (int64_t l = 0; l < p->layers; l++) cells[l] = in[INPUTS + l];
    run_segment(p, in, out, cells, KNOWN);
}

/* Text, what was kept, cotangents -> those of weights, extra and state. */
static void body_back(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lstm *p = env;
    lam_tensor *to[INPUTS + MOST_LAYERS] = {in[2], in[3], in[4], in[0], in[1]}, *value[RESULTS];
    lam_fn *pull;
    (void)ctx;
    for (int64_t l = 0; l < p->layers; l++) to[INPUTS + l] = in[INPUTS + l];
    lam_list inputs = {(size_t)(INPUTS + p->layers), to};
    lam_vjp(p->round, inputs, value, RESULTS, &pull, &(lam_grad_options){.argnums = LAM_AXES(WEIGHTS, EXTRA, STATE)});
    lam_call(pull, (lam_list){RESULTS, in + INPUTS + p->layers}, out, TEXT);
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
        lam_fn *run = end + 1 < p->count ? p->segment : p->record;
        lam_call(run, LAM_LIST(in[WEIGHTS], in[EXTRA], state, text, next), result, RESULTS);
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
    p->record = gradbench_fn(l, "last segment", body_record, INPUTS, RESULTS, p);
    p->round = gradbench_fn(l, "round", body_round, INPUTS + (int)p->layers, RESULTS, p);
    p->segment = lam_custom_vjp(gradbench_fn(l, "segment", body_segment, INPUTS, RESULTS, p),
                                gradbench_fn(l, "segment, forward", body_forward, INPUTS, RESULTS + kept, p),
                                gradbench_fn(l, "segment, back", body_back, 2 + kept + RESULTS, TEXT, p),
                                &(lam_custom_options){.nondiff = LAM_AXES(TEXT, NEXT)});
    l->objective = gradbench_fn(l, "loss", body_loss, 4, 1, p);
    l->derivative = lam_grad(l->objective, &(lam_grad_options){.argnums = LAM_AXES(0, 1)});
}

static const gradbench_size sizes[] = {
    {"l2 c128", CHECKED, {2, 128}}, {"l2 c1024", USUAL, {2, 1024}}, {"l4 c1024", USUAL, {4, 1024}},
    {"l2 c4096", USUAL, {2, 4096}}, {"l4 c4096", USUAL, {4, 4096}}, {NULL, USUAL, {0}},
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
