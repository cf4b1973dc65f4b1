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

enum { BITS = 14, LAYER = 8 * BITS, MOST_LAYERS = 8, SEGMENT = 128, KEPT = 5 };
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
    lam_fn *segment, *round;                      /* of the Lamina form: some steps, and their way back */
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
 * handful of rounds the guess is c to the last digits. One more round, which is recorded, has its derivatives; so a
 * segment is a function with a rule of its own, whose way back keeps the cells and makes that round. */
typedef struct layer_steps {
    lam_tensor *w[GATES], *v[GATES];
    lam_tensor *forget, *out; /* [steps, 14] */
    lam_tensor *h, *c;        /* [1, 14], before the first step */
} layer_steps;

/* F around a guess: h and how it moves with the cells, F's slope by the cell before, what the guess lacks. Slopes are
 * numbers to the method. */
typedef struct around {
    lam_tensor *h, *steep, *slope, *lack;
} around;

/* What each step sees of the one before, from what each gives. */
static lam_tensor *delayed(lam_tensor *first, lam_tensor *x) {
    return lam_concatenate(LAM_LIST(first, lam_slice_axis(x, 0, 0, -1)), 0);
}

/* weights [2, 4, 14], state [2, 14], inputs [steps, 14] */
static layer_steps layer_of(lam_tensor *weights, lam_tensor *state, lam_tensor *x) {
    layer_steps s;
    lam_tensor *part[2], *at[2];
    lam_unstack(weights, 0, part, 2);
    lam_unstack(part[0], 0, s.w, GATES);
    lam_unstack(part[1], 0, s.v, GATES);
    lam_unstack(lam_expand_dims(state, 1), 0, at, 2);
    s.h = at[0];
    s.c = at[1];
    s.forget = lam_logistic(lam_fma(x, s.w[FORGET], s.v[FORGET]));
    s.out = lam_logistic(lam_fma(x, s.w[OUT], s.v[OUT]));
    return s;
}

/* How much in times change grows with h, where `product` is what it is. */
static lam_tensor *by_h(const layer_steps *s, lam_tensor *in, lam_tensor *change, lam_tensor *product) {
    lam_tensor *by_in = lam_mul(lam_stop_gradient(s->w[IN]), lam_sub(change, product));
    lam_tensor *by_change = lam_mul(lam_stop_gradient(s->w[CHANGE]), lam_sub(1.0, lam_square(change)));
    return lam_mul(in, lam_add(by_in, by_change));
}

static around look_around(const layer_steps *s, lam_tensor *cells) {
    lam_tensor *t = lam_tanh(cells), *h = lam_mul(s->out, t), *before = delayed(s->h, h);
    lam_tensor *in = lam_logistic(lam_fma(before, s->w[IN], s->v[IN]));
    lam_tensor *change = lam_tanh(lam_fma(before, s->w[CHANGE], s->v[CHANGE])), *product = lam_mul(in, change);
    lam_tensor *next = lam_fma(s->forget, delayed(s->c, cells), product);
    around a = {.h = h, .lack = lam_sub(next, cells)};
    a.steep = lam_mul(lam_stop_gradient(s->out), lam_sub(1.0, lam_square(t)));
    a.slope = lam_fma(by_h(s, lam_stop_gradient(in), lam_stop_gradient(change), lam_stop_gradient(product)),
                      delayed(lam_zeros_like(s->h), a.steep), lam_stop_gradient(s->forget));
    return a;
}

/* One round: what to add to the cells. */
static lam_tensor *newton(const around *a) {
    return lam_linear_recurrence(a->slope, a->lack, 0, false);
}

/* A guess: the cells of F made linear around h = 0, where the gates that see h are the same in every step. */
static lam_tensor *guess(const layer_steps *s) {
    lam_dims dims = lam_dims_of(s->out);
    lam_tensor *in = lam_logistic(s->v[IN]), *change = lam_tanh(s->v[CHANGE]), *product = lam_mul(in, change);
    lam_tensor *slope = by_h(s, in, change, product), *from = lam_slice_axis(s->forget, 0, 0, 1);
    lam_tensor *first = lam_fma(s->h, slope, lam_fma(s->c, from, product));
    lam_tensor *others = lam_broadcast_to(product, LAM_DIMS(dims.dims[0] - 1, BITS));
    slope = lam_fma(delayed(lam_zeros_like(s->h), s->out), slope, s->forget);
    return lam_linear_recurrence(slope, lam_concatenate(LAM_LIST(first, others), 0), 0, false);
}

/* Whether a round has changed little: the next one would change about the square of that. */
static bool is_close(lam_tensor *change, double close) {
    return !(lam_item(lam_max_reduce(lam_abs(change), NULL)) > close);
}

/* In f32. */
static layer_steps narrow(const layer_steps *s) {
    layer_steps n = {.forget = lam_cast(s->forget, LAM_F32), .out = lam_cast(s->out, LAM_F32)};
    n.h = lam_cast(s->h, LAM_F32);
    n.c = lam_cast(s->c, LAM_F32);
    for (int gate = IN; gate < GATES; gate += CHANGE - IN) {
        n.w[gate] = lam_cast(s->w[gate], LAM_F32);
        n.v[gate] = lam_cast(s->v[gate], LAM_F32);
    }
    return n;
}

/* Without derivatives: f32 up to its last digits but one, where a round costs less than half, then f64. Round k leaves
 * the first k steps exact whatever the guess was, so that there is an end; in practice the error is squared in each.
 * Gives the cells; *h is what they show. */
static lam_tensor *solve_layer(const layer_steps *s, lam_tensor **h) {
    lam_scope *scope = lam_scope_begin(lam_ctx_of(s->out));
    layer_steps n = narrow(s);
    int64_t steps = lam_dim(s->out, 0);
    lam_tensor *cells = guess(&n), *change;
    for (int64_t round = 0; round < 2 * steps; round++) {
        bool wide = lam_dtype_of(cells) == LAM_F64;
        around a = look_around(wide ? s : &n, cells);
        change = newton(&a);
        *h = lam_fma(a.steep, change, a.h);
        cells = lam_add(cells, change);
        bool done = is_close(change, wide ? 1e-5 : 1e-3) || round + 1 == steps;
        if (done && wide) break;
        if (done) cells = lam_cast(cells, LAM_F64);
    }
    lam_scope_end(scope, (lam_tensor *[]){*h, cells}, 2);
    return cells;
}

/* The sum of the losses of what the last layer shows. */
static lam_tensor *loss_of(lam_tensor *const extra[3], lam_tensor *h, lam_tensor *next) {
    lam_reduce_options bits = {.axes = LAM_AXES(1), .keepdims = true};
    lam_tensor *y = lam_fma(h, extra[1], extra[2]);
    lam_tensor *norm = lam_log(lam_add(2.0, lam_sum(lam_exp(y), &bits)));
    return lam_sum(lam_mul(next, lam_sub(norm, y)), NULL);
}

/* weights, extra, state, some characters, the ones behind them -> the sum of their losses, the new state; cells[] of
 * each layer are found, or given where they are known: then the round is recorded. */
static void run_segment(const lstm *p, lam_tensor *const in[], lam_tensor *cells[], bool known, lam_tensor *out[]) {
    lam_tensor *extra[3], *weights[MOST_LAYERS], *state[MOST_LAYERS];
    lam_unstack(in[1], 0, extra, 3);
    lam_unstack(in[0], 0, weights, (size_t)p->layers);
    lam_unstack(in[2], 0, state, (size_t)p->layers);
    lam_tensor *x = lam_mul(in[3], extra[0]);
    for (int64_t l = 0; l < p->layers; l++) {
        lam_scope *scope = lam_scope_begin(lam_ctx_of(x));
        layer_steps s = layer_of(weights[l], state[l], x);
        lam_tensor *c;
        if (known) {
            around a = look_around(&s, cells[l]);
            lam_tensor *change = newton(&a);
            x = lam_fma(a.steep, change, a.h);
            c = lam_add(cells[l], change);
        } else {
            c = cells[l] = solve_layer(&s, &x);
        }
        state[l] = lam_stack(LAM_LIST(lam_index(x, 0, -1), lam_index(c, 0, -1)), 0);
        lam_scope_end(scope, (lam_tensor *[]){x, state[l], c}, known ? 2 : 3);
    }
    out[0] = loss_of(extra, x, in[4]);
    out[1] = lam_stack((lam_list){(size_t)p->layers, state}, 0);
}

static void body_segment(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *cells[MOST_LAYERS];
    (void)ctx;
    run_segment(env, in, cells, false, out);
}

/* The same, and what the way back keeps: the inputs but for the text, and the cells. */
static void body_forward(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx;
    run_segment(env, in, out + KEPT, false, out);
    for (int i = 0; i < 3; i++) out[2 + i] = lam_alias(in[i]);
}

/* Inputs, then the cells. */
static void body_round(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    lam_tensor *cells[MOST_LAYERS];
    const lstm *p = env;
    (void)ctx;
    for (int64_t l = 0; l < p->layers; l++) cells[l] = in[KEPT + l];
    run_segment(p, in, cells, true, out);
}

/* Text, what was kept, cotangents -> those of weights, extra and state. */
static void body_back(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lstm *p = env;
    lam_tensor *to[KEPT + MOST_LAYERS] = {in[2], in[3], in[4], in[0], in[1]}, *value[2];
    lam_fn *pull;
    (void)ctx;
    for (int64_t l = 0; l < p->layers; l++) to[KEPT + l] = in[KEPT + l];
    lam_list inputs = {(size_t)(KEPT + p->layers), to};
    lam_vjp(p->round, inputs, value, 2, &pull, &(lam_grad_options){.argnums = LAM_AXES(0, 1, 2)});
    lam_call(pull, (lam_list){2, in + KEPT + p->layers}, out, 3);
}

/* weights, extra, state, text */
static void body_loss(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lstm *p = env;
    lam_tensor *total = lam_scalar(ctx, 0), *result[2], *state = in[2];
    for (int64_t first = 0; first + 1 < p->count; first += SEGMENT) {
        int64_t end = first + SEGMENT < p->count - 1 ? first + SEGMENT : p->count - 1;
        lam_scope *scope = lam_scope_begin(ctx);
        lam_tensor *text = lam_slice_axis(in[3], 0, first, end), *next = lam_slice_axis(in[3], 0, first + 1, end + 1);
        lam_call(p->segment, LAM_LIST(in[0], in[1], state, text, next), result, 2);
        total = lam_add(total, result[0]);
        state = result[1];
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
    int layers = (int)p->layers;
    p->round = gradbench_fn(l, "round", body_round, KEPT + layers, 2, p);
    p->segment = lam_custom_vjp(gradbench_fn(l, "segment", body_segment, KEPT, 2, p),
                                gradbench_fn(l, "segment, forward", body_forward, KEPT, KEPT + layers, p),
                                gradbench_fn(l, "segment, back", body_back, KEPT + layers + 2, 3, p),
                                &(lam_custom_options){.nondiff = LAM_AXES(3, 4)});
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
