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

enum { BITS = 14, LAYER = 8 * BITS, MOST_LAYERS = 8, SEGMENT = 32 };

/* What the way back in C reads of one step of one layer. */
typedef struct step {
    double x[BITS], h[BITS], c[BITS], forget[BITS], in[BITS], out[BITS], change[BITS], squashed[BITS];
} step;

typedef struct lstm {
    int64_t layers, count;
    const double *weights, *extra, *state, *text; /* [layers, 2, 4, 14], [3, 14], [layers, 2, 14], [count, 14] */
    step *steps;                                  /* [count, layers] */
    double *predicted;                            /* [count, 14] */
    double *sources, *first; /* of the Lamina form: [3 layers, layers], the h that a gate sees; [3 layers], the text */
    lam_fn *segment;         /* some steps */
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
    p->sources = gradbench_doubles(store, 3 * p->layers * p->layers);
    p->first = gradbench_doubles(store, 3 * p->layers);
    for (int64_t l = 0; l < p->layers; l++) { /* forget and out see the layer below, in the layer itself */
        p->sources[(p->layers + l) * p->layers + l] = 1;
        for (int gate = 0; gate < 3; gate += 2)
            if (l) p->sources[(gate * p->layers + l) * p->layers + l - 1] = 1;
            else p->first[gate * p->layers] = 1;
    }
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

/* Layer l is l steps behind the first one, so that all layers do one step at once, and what a step needs of the others
 * is their h of the step before: gates that see the input below them see that h one layer down. Weights lie gate by
 * gate: [3 layers, 14] for forget, in and out, which are logistic, [layers, 14] for the change. */
enum { GATES, BIAS, OF_TEXT, CHANGE, CHANGE_BIAS, WEIGHTS };

/* One step of all layers; bias is that of the gates, in which the text is included. */
static void step_all(const lstm *p, lam_tensor *const w[], lam_tensor *bias, lam_tensor **h, lam_tensor **c) {
    int64_t rows[3] = {p->layers, p->layers, p->layers};
    lam_tensor *sources = lam_borrow(lam_ctx_of(bias), LAM_F64, LAM_DIMS(3 * p->layers, p->layers), p->sources, NULL);
    lam_tensor *gate[3], *change = lam_tanh(lam_fma(*h, w[CHANGE], w[CHANGE_BIAS]));
    lam_split_sizes(lam_logistic(lam_fma(lam_matmul(sources, *h), w[GATES], bias)), 0, rows, gate, 3);
    *c = lam_fma(*c, gate[0], lam_mul(gate[1], change));
    *h = lam_mul(gate[2], lam_tanh(*c));
}

/* Biases of the gates for some characters, one for each. */
static void biases(lam_tensor *const w[], lam_tensor *extra, lam_tensor *text, lam_tensor *out[]) {
    lam_tensor *x = lam_expand_dims(lam_mul(text, lam_index(extra, 0, 0)), 1);
    lam_unstack(lam_fma(x, w[OF_TEXT], w[BIAS]), 0, out, (size_t)lam_dim(text, 0));
}

/* Weights as above, extra, h, c, the characters that enter, those to be predicted -> their loss, h, c */
static void body_steps(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lstm *p = env;
    lam_tensor *extra = in[WEIGHTS], *h = in[WEIGHTS + 1], *c = in[WEIGHTS + 2], *next = in[WEIGHTS + 4];
    lam_tensor *bias[SEGMENT], *hidden[SEGMENT];
    size_t steps = (size_t)lam_dim(next, 0);
    biases(in, extra, in[WEIGHTS + 3], bias);
    for (size_t t = 0; t < steps; t++) {
        lam_scope *scope = lam_scope_begin(ctx);
        step_all(p, in, bias[t], &h, &c);
        hidden[t] = h;
        lam_scope_end(scope, (lam_tensor *[]){h, c}, 2);
    }
    lam_tensor *last = lam_index(lam_stack((lam_list){steps, hidden}, 0), 1, -1);
    lam_tensor *y = lam_fma(last, lam_index(extra, 0, 1), lam_index(extra, 0, 2));
    lam_reduce_options bits = {.axes = LAM_AXES(1), .keepdims = true};
    lam_tensor *norm = lam_log(lam_add(2.0, lam_sum(lam_exp(y), &bits)));
    out[0] = lam_sum(lam_mul(next, lam_sub(norm, y)), NULL);
    out[1] = h;
    out[2] = c;
}

/* The first steps, in which layer l still waits while step < l. */
static void enter(const lstm *p, lam_tensor *const w[], lam_tensor *extra, lam_tensor *text, lam_tensor **h,
                  lam_tensor **c) {
    lam_tensor *bias[MOST_LAYERS], *layer = lam_iota(lam_ctx_of(text), LAM_I64, LAM_DIMS(p->layers, 1), 0);
    biases(w, extra, lam_slice_axis(text, 0, 0, p->layers - 1), bias);
    for (int64_t s = 0; s < p->layers - 1; s++) {
        lam_tensor *old[2] = {*h, *c}, *waits = lam_gt(layer, s);
        step_all(p, w, bias[s], h, c);
        *h = lam_where(waits, old[0], *h);
        *c = lam_where(waits, old[1], *c);
    }
}

/* weights [layers, 2, 4, 14] -> as above */
static void arrange(const lstm *p, lam_tensor *weights, lam_tensor *w[]) {
    lam_tensor *part[2],
        *of_text = lam_borrow(lam_ctx_of(weights), LAM_F64, LAM_DIMS(3 * p->layers, 1), p->first, NULL);
    lam_unstack(lam_transpose(weights, LAM_AXES(1, 2, 0, 3)), 0, part, 2);
    for (int i = 0; i < 2; i++) {
        w[i ? BIAS : GATES] = lam_reshape(lam_slice_axis(part[i], 0, 0, 3), LAM_DIMS(3 * p->layers, BITS));
        w[i ? CHANGE_BIAS : CHANGE] = lam_index(part[i], 0, 3);
    }
    w[OF_TEXT] = lam_mul(w[GATES], of_text);
}

/* weights, extra, state, text. The tape of all steps would not fit the caches: each segment is computed again on the
 * way back. After the text has ended, the layers behind the first one finish. */
static void body_loss(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    const lstm *p = env;
    int64_t behind = p->layers - 1, entered = p->count - 1;
    lam_tensor *total = lam_scalar(ctx, 0), *w[WEIGHTS + 5], **next = w + WEIGHTS, *result[3];
    arrange(p, in[0], w);
    next[0] = in[1];
    lam_unstack(lam_transpose(in[2], LAM_AXES(1, 0, 2)), 0, next + 1, 2);
    enter(p, w, in[1], in[3], next + 1, next + 2);
    for (int64_t first = behind, end; first < entered + behind; first = end) {
        bool over = first >= entered;
        end = over ? entered + behind : first + SEGMENT < entered ? first + SEGMENT : entered;
        next[3] = over ? lam_zeros(ctx, LAM_F64, LAM_DIMS(behind, BITS)) : lam_slice_axis(in[3], 0, first, end);
        next[4] = lam_slice_axis(in[3], 0, first + 1 - behind, end + 1 - behind);
        lam_call(p->segment, (lam_list){WEIGHTS + 5, w}, result, 3);
        total = lam_add(total, result[0]);
        next[1] = result[1];
        next[2] = result[2];
    }
    out[0] = lam_div(total, (double)((p->count - 1) * BITS));
}

static void lamina(void *data, gradbench_lamina *l) {
    lstm *p = data;
    gradbench_input(l, LAM_DIMS(p->layers, 2, 4, BITS), p->weights);
    gradbench_input(l, LAM_DIMS(3, BITS), p->extra);
    gradbench_input(l, LAM_DIMS(p->layers, 2, BITS), p->state);
    gradbench_input(l, LAM_DIMS(p->count, BITS), p->text);
    p->segment = lam_checkpoint(gradbench_fn(l, "segment", body_steps, WEIGHTS + 5, 3, p), NULL);
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
