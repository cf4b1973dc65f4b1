/* Programs are checked: what is read has been set, nothing is set twice, and types are those that the shape rules of
 * the rows give. A program that was recorded is right unless a level has ended whose values it holds; one that was read
 * may be anything. */
#include "lib/program/function.h"
#include "lib/program/nested.h"
#include "lib/program/text.h"
#include "lib/program/valid.h"

#include <stdarg.h>
#include <string.h>

/* Where k is the number of equations, it is the results that are at fault. What is too long for the message is cut
 * off. */
static LAM_PRINTF(5, 6) lam_status
    fail_at(const lam__program *p, const char *name, int64_t k, lam_status status, const char *format, ...) {
    char message[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return lam__error_set(p->ctx, status, "lam_trace gives programs that are right",
                          "program '%s', equation %lld (%s): %s", name, (long long)k,
                          k < p->equations ? p->list[k]->primitive->name : "return", message);
}

/* Constants may be boxes of levels that were open while the program was recorded. One whose level is still open passes:
 * whether it can be seen is found out where the program is run. */
static bool has_ended(const lam__atom *a) {
    return a->variable < 0 && a->constant && a->constant->kind == LAM__ENDED;
}

/* `made`: variables that are set before equation k; their numbers go up along the program, so one comparison tells. Of
 * a row, -1 is any number of operands or of results, and 0 results are one. */
static lam_status check_operands(const lam__program *p, const char *name, int64_t k, int64_t made) {
    const lam__equation *e = p->list[k];
    const lam_primitive *row = e->primitive;
    if (row->inputs >= 0 && e->inputs != row->inputs)
        return fail_at(p, name, k, LAM_ERR_ARITY, "%d operands do not fit", e->inputs);
    if (row->outputs >= 0 && e->outputs != (row->outputs ? row->outputs : 1))
        return fail_at(p, name, k, LAM_ERR_ARITY, "%d results do not fit", e->outputs);
    for (int i = 0; i < e->inputs; i++) {
        const lam__atom *a = &e->in[i];
        if (a->variable >= made) return fail_at(p, name, k, LAM_ERR_VALUE, "operand %d is read before it is set", i);
        if (a->variable >= 0 && !p->types[a->variable])
            return fail_at(p, name, k, LAM_ERR_VALUE, "operand %d is a result that was left out", i);
        if (has_ended(a))
            return fail_at(p, name, k, LAM_ERR_ESCAPED, "operand %d belongs to a level that has ended", i);
    }
    return e->first < made ? fail_at(p, name, k, LAM_ERR_VALUE, "its results are set already") : LAM_OK;
}

/* Both types in words, as users write them. */
static lam_status fail_type(const lam__program *p, const char *name, int64_t k, int o, const lam_shape *shape) {
    const lam_value *type = p->types[p->list[k]->first + o];
    char given[128], made[128];
    lam__text first = {given, sizeof given, 0}, second = {made, sizeof made, 0};
    lam__error_append_type(&first, (lam_dtype)type->dtype, type->rank, type->dims);
    lam__error_append_type(&second, shape->dtype, shape->rank, shape->dims);
    return fail_at(p, name, k, type->dtype == shape->dtype ? LAM_ERR_SHAPE : LAM_ERR_DTYPE,
                   "result %d is %s, but its rule gives %s", o, given, made);
}

/* In a program the functions of a choice or loop are programs too (nested.h). So lam__program_of is not NULL here. Each
 * is checked by itself, with messages that bear its own name. */
static lam_status check_nested(const lam__equation *e) {
    const lam__nested *what = lam__nested_of(e);
    lam_status status = LAM_OK;
    for (int i = 0; what && i < what->count && status == LAM_OK; i++)
        status = lam__program_check(lam__program_of(what->fns[i]), what->fns[i]->name);
    return status;
}

/* The row's own rule says what the results are. It takes for granted what public operations check before they make
 * parameters, so that is looked at first. It reads types alone, for which values without elements will do. */
static lam_status check_results(const lam__program *p, const char *name, int64_t k, lam_value **in, lam_shape *shapes) {
    const lam__equation *e = p->list[k];
    for (int i = 0; i < e->inputs; i++)
        in[i] = e->in[i].variable >= 0 ? p->types[e->in[i].variable] : e->in[i].constant;
    const lam_call_site call = lam__equation_call(p->ctx, e, in);
    const char *fault = lam__program_fault(&call);
    if (fault) return fail_at(p, name, k, LAM_ERR_VALUE, "%s", fault);
    memset(shapes, 0, (size_t)e->outputs * sizeof *shapes);
    lam_status status = lam__eval_shape(&call, shapes);
    for (int o = 0; o < e->outputs && status == LAM_OK; o++) {
        const lam_value *type = p->types[e->first + o];
        /* A rule leaves a result out by a rank below 0; in the program it then has no type. */
        if (!type != (shapes[o].rank < 0))
            return fail_at(p, name, k, LAM_ERR_SHAPE, "result %d is %s, but by its rule it is %s", o,
                           type ? "there" : "left out", type ? "left out" : "there");
        if (!type) continue;
        bool same = type->dtype == shapes[o].dtype && type->rank == shapes[o].rank;
        for (int i = 0; same && i < type->rank; i++) same = type->dims[i] == shapes[o].dims[i];
        if (!same) status = fail_type(p, name, k, o, &shapes[o]);
    }
    return status;
}

/* Operands come first: the shape rule reads their types, which have to be there. The first variable that this equation
 * may set follows the last one of the equation before, so a look at that is enough. */
lam_status lam__program_check_equation(const lam__program *p, const char *name, int64_t k) {
    const lam__equation *e = p->list[k];
    const int64_t made = k ? p->list[k - 1]->first + p->list[k - 1]->outputs : p->inputs;
    const size_t operands = (size_t)e->inputs * sizeof(lam_value *), results = (size_t)e->outputs * sizeof(lam_shape);
    lam__scratch_area area;
    lam_status status = check_operands(p, name, k, made);
    if (status == LAM_OK) status = check_nested(e);
    if (status != LAM_OK) return status;
    /* One byte more, for equations that have neither operands nor results. */
    lam_shape *shapes = lam__scratch_get(&area, p->ctx, results + operands + 1);
    if (!shapes) return LAM_ERR_MEMORY;
    status = check_results(p, name, k, (lam_value **)(void *)(shapes + e->outputs), shapes);
    lam__scratch_put(&area);
    return status;
}

/* In the order of the program: what an equation may read is what those before it have made. */
lam_status lam__program_check(const lam__program *p, const char *name) {
    lam_status status = LAM_OK;
    for (int64_t k = 0; k < p->equations && status == LAM_OK; k++) status = lam__program_check_equation(p, name, k);
    const lam__equation *last = p->equations ? p->list[p->equations - 1] : NULL;
    const int64_t made = last ? last->first + last->outputs : p->inputs;
    for (int o = 0; o < p->outputs && status == LAM_OK; o++) {
        const lam__atom *a = &p->results[o];
        if (a->variable >= made || (a->variable < 0 && !a->constant))
            status = fail_at(p, name, p->equations, LAM_ERR_VALUE, "result %d is not set", o);
        else if (has_ended(a))
            status = fail_at(p, name, p->equations, LAM_ERR_ESCAPED, "result %d belongs to a level that has ended", o);
    }
    return status;
}
