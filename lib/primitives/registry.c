/* The registry: all rows in the order of primitives.def, as a list and as a printed table of who has which rule. Adding
 * a line to primitives.def is all that registers a row; a line whose row nobody defines fails to link, and a row
 * without a line cannot be named, since rows.h declares it from the same file. */
#include "lib/primitives/rows.h"

/* Ended by NULL so that users can walk it without a count. */
static const lam_primitive *const all[] = {
#define LAM__PRIMITIVE(name) &lam__row_##name,
#include "lib/primitives/primitives.def"
#undef LAM__PRIMITIVE
    NULL,
};

const lam_primitive *const *lam_primitives(void) {
    return all;
}

/* 0 outputs in a row mean 1, as most rows leave the field out. */
static const char *number(int n, char text[12]) {
    if (n == LAM_VARIADIC) return "any";
    snprintf(text, 12, "%d", n ? n : 1);
    return text;
}

/* Where each rule of a row comes from: "own", the class it is of, "slope" for a way back by slopes, "staged" for rows
 * that run user code in stages. "?" is a gap that the row has to fill before that transform can be applied to it, "-"
 * is none needed. */
static void print_row(FILE *file, const lam_primitive *p) {
    static const char *const classes[] = {"none", "elementwise", "linear", "bilinear", "general"};
    bool elementwise = p->elementwise || p->derivative == LAM_ELEMENTWISE,
         none = p->derivative == LAM_NOT_DIFFERENTIABLE;
    bool by_class = elementwise || p->derivative == LAM_LINEAR || p->derivative == LAM_BILINEAR;
    char inputs[12], outputs[12];
    const char *jvp = p->staged ? "staged" : none ? "-" : p->jvp ? "own" : by_class ? "class" : "?";
    const char *vjp = p->staged ? "staged" : none ? "-" : p->vjp ? "own" : elementwise ? "slope" : "?";
    const char *batch = p->staged ? "staged" : p->batch ? "own" : elementwise ? "class" : "?";
    const char *kernel = p->call || p->staged ? "call"
                         : p->view            ? "view"
                         : p->eval            ? "eval"
                         : elementwise        ? "loop"
                                              : "?";
    fprintf(file, "%-22s %6s %7s  %-11s  %-6s %-6s %-6s %s\n", p->name, number(p->inputs, inputs),
            number(p->outputs, outputs),
            none          ? "none"
            : elementwise ? "elementwise"
                          : classes[p->derivative],
            kernel, jvp, vjp, batch);
}

/* The head has the widths of print_row. */
void lam_print_primitives(FILE *file) {
    fprintf(file, "%-22s %6s %7s  %-11s  %-6s %-6s %-6s %s\n", "primitive", "inputs", "outputs", "derivative", "kernel",
            "jvp", "vjp", "batch");
    for (const lam_primitive *const *p = all; *p; p++) print_row(file, *p);
}
