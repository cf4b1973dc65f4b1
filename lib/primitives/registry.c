/* The registry: all rows in the order of primitives.def, as a list and as a printed table of who has which rule. */
#include "lib/primitives/rows.h"

static const lam_primitive *const all[] = {
#define LAM__PRIMITIVE(name) &lam__row_##name,
#include "lib/primitives/primitives.def"
#undef LAM__PRIMITIVE
    NULL,
};

const lam_primitive *const *lam_primitives(void) {
    return all;
}

static const char *number(int n, char text[12]) {
    if (n == LAM_VARIADIC) return "any";
    snprintf(text, 12, "%d", n ? n : 1);
    return text;
}

/* Where each rule of a row comes from: the class it is of, or a function of its own. */
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

void lam_print_primitives(FILE *file) {
    fprintf(file, "%-22s %6s %7s  %-11s  %-6s %-6s %-6s %s\n", "primitive", "inputs", "outputs", "derivative", "kernel",
            "jvp", "vjp", "batch");
    for (const lam_primitive *const *p = all; *p; p++) print_row(file, *p);
}
