/* Programs as C: see emit.h. The file has a comment that says what the function takes, the helpers and constants that
 * are used, and the function, which is a block for each equation or run of elementwise ones. */
#include "lib/program/emit.h"

#include "lib/program/emit_names.h"
#include "lib/program/emit_writer.h"
#include "lib/program/function.h"
#include "lib/program/nested.h"
#include "lib/program/prune.h"
#include "lib/tensor/dtype.h"
#include "lib/tensor/value.h"

#include <lamina/context.h>
#include <lamina/program.h>

#include <string.h>

/* Of v1 = sin(v0), v2 = mul(v0, v1), v3 = sum(v2), a program called wave, the function is
 *     void wave(const double *in0, double *out0) {
 *         {
 *             double s = 0;
 *             for (int64_t i0 = 0; i0 < 3; i0++) {
 *                 const double t1 = sin(in0[i0]);
 *                 const double t2 = in0[i0] * t1;
 *                 s += t2;
 *             }
 *             out0[0] = s;
 *         }
 *     }
 * one block for a run and the reduction that goes along, which needs no workspace: v1 and v2 are variables of C. */

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static const lam__emit_row *const families[] = {lam__emit_moves,   lam__emit_sums,       lam__emit_lanes,
                                                lam__emit_indices, lam__emit_matrices,   lam__emit_windows,
                                                lam__emit_draws,   lam__emit_transforms, lam__emit_bags};

/* The tables are short, and each equation is looked up twice. */
static lam__emit_writer *writer_of(const lam_primitive *row) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const lam__emit_row *r = families[i]; r->row; r++)
            if (r->row == row) return r->write;
    return NULL;
}

/* Views, what is elementwise, moves and sums. Indices are clipped in C where they are refused elsewhere, and the other
 * families go other ways there. */
bool lam__emit_is_same(const lam__equation *q) {
    if (q->primitive->view || lam__emit_is_each(NULL, q)) return true;
    for (int family = 0; family < 2; family++)
        for (const lam__emit_row *r = family ? lam__emit_sums : lam__emit_moves; r->row; r++)
            if (r->row == q->primitive) return true;
    return false;
}

/* An equation of a row that has a writer, in a block of its own. Results have their memory before it is written; what
 * is given up with the equation is given up by the walk. A result without elements is looked at for its form alone. */
static const char *write_equation(lam__emit *e, const lam__equation *q) {
    lam__emit_writer *write = lam__nested_of(q) ? lam__emit_nested : writer_of(q->primitive);
    const lam__emit_place **in = lam__arena_get(&e->arena, (size_t)(q->inputs + q->outputs + 1) * sizeof *in);
    const lam__emit_place **out = in + q->inputs;
    e->current = q;
    if (!write && q->primitive->staged) return "has no form in C: it is code, as the way back through lam_while is";
    if (!write) return "has no form in C";
    for (int i = 0; in && i < q->inputs; i++)
        if (!(in[i] = lam__emit_operand(e, &q->in[i]))) in = NULL;
    bool any = false;
    for (int o = 0; in && o < q->outputs; o++) {
        out[o] = &e->places[q->first + o];
        any = any || out[o]->count;
        if (!lam__emit_take(e, q->first + o)) in = NULL;
    }
    if (!in) return NULL; /* the arena knows */
    const lam__emit_sink sink = lam__emit_hush(e, !any);
    lam__emit_line(e, "{");
    e->depth++;
    const char *wrong = write(e, q, in, out);
    lam__emit_close(e, 1);
    lam__emit_speak(e, sink);
    return wrong;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Results that are no variable of their own: views, inputs, constants, what is a result twice. */
static void write_results(lam__emit *e) {
    const lam__program *p = e->program;
    for (int o = 0; o < p->outputs; o++) {
        const int64_t v = p->results[o].variable;
        const lam__emit_place *x = lam__emit_operand(e, &p->results[o]);
        if (!x || !x->count || (v >= 0 && x->root == v && e->sole_result[v] == o)) continue;
        char base[16];
        snprintf(base, sizeof base, "out%d", o);
        const lam__emit_place to = lam__emit_dense_place(base, x->dtype, x->rank, x->dims);
        lam__emit_copy(e, x, &to);
    }
}

/* Compilers take a time that grows faster than a function does, so long programs are functions of some blocks each.
 * Only programs with a workspace are parted (write_needs). */
enum { PART_BLOCKS = 64 };

static void write_part_head(lam__emit *e);

/* Behind so many blocks one part ends and the next begins. */
static void count_block(lam__emit *e) {
    if (e->parted && e->blocks % PART_BLOCKS == 0) {
        if (e->blocks) lam__emit_put(e, "}\n\n");
        write_part_head(e);
    }
    e->blocks++;
}

/* Both walks ask for memory in the same order, which is all that the second one knows of its places (emit_plan.c).
 * Views are other indices and write nothing; what they are views of lives on for them. */
static const char *walk(lam__emit *e) {
    const lam__program *p = e->program;
    e->plan.next = 0;
    for (int64_t v = 0; v < p->variables; v++) e->memory_at[v] = e->heir[v] = -1;
    const char *wrong = NULL;
    e->depth = 1;
    e->blocks = 0;
    for (int64_t k = 0, end; k < p->equations && !wrong && !e->arena.lacking; k = end) {
        const lam__equation *q = p->list[k];
        end = k + 1;
        const bool view = lam__emit_is_view(e, q);
        if (!view) count_block(e);
        if (!view && lam__emit_is_each(e, q)) wrong = lam__emit_each(e, k, &end);
        else if (!view) wrong = write_equation(e, q);
        lam__emit_release(e, k, end);
    }
    if (!wrong) write_results(e);
    return wrong;
}

/* Types that C has, and values that are there. Also notes whether complex numbers are there, which take a header. */
static const char *check_type(lam__emit *e, const lam_value *v) {
    if (!v) return "leaves a result out";
    if (v->dtype == LAM_F16 || v->dtype == LAM_BF16) return "uses 16-bit floats, which have no form in C";
    if (v->dtype == LAM_C128 || v->dtype == LAM_C64) e->has_complex = true;
    return NULL;
}

/* A box has no elements to write down; a variable was checked where it was made. */
static const char *check_atom(lam__emit *e, const lam__atom *a) {
    if (a->variable >= 0) return NULL;
    if (a->constant && a->constant->kind != LAM__CONCRETE) return "uses a value of an open level";
    return check_type(e, a->constant);
}

/* All of this is known without a walk, so it is said before the writers see any of it. `current` is what a message
 * names. */
static const char *check(lam__emit *e) {
    const lam__program *p = e->program;
    const char *wrong = NULL;
    for (int64_t v = 0; v < p->inputs && !wrong; v++) wrong = check_type(e, p->types[v]);
    for (int64_t k = 0; k < p->equations && !wrong; k++) {
        const lam__equation *q = e->current = p->list[k];
        for (int i = 0; i < q->inputs && !wrong; i++) wrong = check_atom(e, &q->in[i]);
        for (int o = 0; o < q->outputs && !wrong; o++) wrong = check_type(e, p->types[q->first + o]);
    }
    if (!wrong) e->current = NULL;
    for (int o = 0; o < p->outputs && !wrong; o++) wrong = check_atom(e, &p->results[o]);
    return wrong;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Programs within are not run at the same time. So they lie in a union, as large as the widest. One that nobody calls
 * is not in the file, and takes nothing. */
int64_t lam__emit_workspace(const lam__emit *e) {
    int64_t bytes = 0, within = 0;
    if (e->outer && !e->called) return 0;
    for (int c = 0; c < LAM__EMIT_CLASSES && e->works; c++)
        bytes += e->plan.peak[c] * (int64_t)lam__dtype_bytes(lam__emit_class_dtypes[c]);
    for (const lam__emit *one = e->first; one; one = one->next)
        if (lam__emit_workspace(one) > within) within = lam__emit_workspace(one);
    return bytes + within;
}

/* A result may be a constant. */
static const lam_value *result_type(const lam__emit *e, int o) {
    const lam__atom *a = &e->program->results[o];
    return a->variable >= 0 ? e->program->types[a->variable] : a->constant;
}

/* Bools are bytes, which the type alone would not say. */
static void write_type(lam__emit *e, const char *name, int number, const lam_value *type) {
    lam__emit_put(e, " *   %s%-4d %s", name, number, lam__emit_type((lam_dtype)type->dtype));
    for (int axis = 0; axis < type->rank; axis++) lam__emit_put(e, "[%lld]", (long long)type->dims[axis]);
    lam__emit_put(e, "%s\n", type->dtype == LAM_BOOL ? " of 0 and 1" : "");
}

/* Types as arrays, though what is passed is a pointer: their sizes are nowhere else in the file. */
static void write_comment(lam__emit *e, bool reentrant) {
    lam__emit_put(e, "/* %s: %lld operations, written by Lamina as C11. Inputs, then results:\n", e->name,
                  (long long)e->program->equations);
    for (int i = 0; i < e->program->inputs; i++) write_type(e, "in", i, e->program->types[i]);
    for (int o = 0; o < e->program->outputs; o++) write_type(e, "out", o, result_type(e, o));
    lam__emit_put(e,
                  " * Arrays are row-major without gaps. Results do not overlap inputs or one another.\n"
                  " * The workspace of %lld bytes is %s.\n"
                  " * Nothing is allocated. Bits are those of Lamina's arithmetic if products and sums are not\n"
                  " * contracted: -ffp-contract=off where the compiler is not in a mode of ISO C. */\n",
                  (long long)lam__emit_workspace(e),
                  reentrant ? "the caller's, aligned as for malloc" : "static: calls must not overlap");
}

/* gcc knows no such pragma and would warn of it. */
static void write_head(lam__emit *e) {
    lam__emit_put(e, "%s#include <math.h>\n#include <stdint.h>\n#include <string.h>\n\n",
                  e->has_complex ? "#include <complex.h>\n" : "");
    if (e->has_complex)
        lam__emit_put(e, "#ifndef CMPLX /* headers of glibc leave it to gcc alone */\n"
                         "#define CMPLX(x, y)  __builtin_complex((double)(x), (double)(y))\n"
                         "#define CMPLXF(x, y) __builtin_complex((float)(x), (float)(y))\n#endif\n\n");
    lam__emit_put(e, "#if defined(__clang__) || !defined(__GNUC__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n");
}

/* Element by element along the strides, so that a constant that was a view is an array without gaps; an axis of stride
 * 0 stands once, and places read it with that stride too. C has no empty arrays. */
static void write_constants(lam__emit *e) {
    enum { PER_LINE = 6 };
    char text[2 * LAM__EMIT_NUMBER + 16];
    for (int64_t c = 0; c < e->constant_count; c++) {
        const lam__emit_constant *k = &e->constants[c];
        if (!k->used) continue;
        const lam_value *v = k->value;
        lam__emit_put(e, "static const %s %s__c%lld[%lld] = {", lam__emit_type((lam_dtype)v->dtype), e->name,
                      (long long)c, (long long)(k->count ? k->count : 1));
        int64_t at[LAM_INNER_RANK] = {0}, where = 0;
        for (int64_t i = 0; i < k->count; i++) {
            lam__emit_element((lam_dtype)v->dtype, v->data, where, text);
            lam__emit_put(e, "%s%s", i % PER_LINE ? " " : "\n    ", text);
            lam__emit_put(e, i + 1 < k->count ? "," : "");
            for (int axis = v->rank - 1; axis >= 0; axis--) {
                if (!v->strides[axis]) continue;
                where += v->strides[axis];
                if (++at[axis] < v->dims[axis]) break;
                where -= v->strides[axis] * v->dims[axis];
                at[axis] = 0;
            }
        }
        lam__emit_put(e, k->count ? "\n};\n" : "0};\n");
    }
    lam__emit_put(e, "\n");
}

/* One struct of arrays: each element is only ever of its own type. Arrays are in the order of the classes, widest
 * elements first, so that they need no padding between them. */
static void write_struct(lam__emit *e) {
    lam__emit_put(e, "struct %s_workspace {\n", e->name);
    bool within = false;
    for (const lam__emit *one = e->first; one; one = one->next) {
        if (!lam__emit_workspace(one)) continue;
        if (!within) lam__emit_put(e, "    union {\n");
        within = true;
        lam__emit_put(e, "        struct %s_workspace %s;\n", one->name, one->name);
    }
    if (within) lam__emit_put(e, "    } of;\n");
    for (int c = 0; c < LAM__EMIT_CLASSES; c++)
        if (e->plan.peak[c] && e->works)
            lam__emit_put(e, "    %s %s[%lld];\n", lam__emit_type(lam__emit_class_dtypes[c]),
                          lam__emit_suffix(lam__emit_class_dtypes[c]), (long long)e->plan.peak[c]);
    lam__emit_put(e, "};\n%s", e->outer ? "\n" : "");
}

/* The size is named in the file even where it is 0, so that callers need not tell such programs apart. That there is
 * none anywhere is asserted in the file itself, since callers give as many bytes as it says. */
static void write_workspace(lam__emit *e, bool reentrant) {
    const int64_t bytes = lam__emit_workspace(e);
    if (bytes) write_struct(e);
    if (e->outer) return;
    lam__emit_put(e, "#define %s_WORKSPACE %lld\n%s", e->name, (long long)bytes, bytes ? "" : "\n");
    if (!bytes) return;
    lam__emit_put(e, "_Static_assert(sizeof(struct %s_workspace) <= %s_WORKSPACE, \"the workspace has gaps\");\n\n",
                  e->name, e->name);
    if (!reentrant) lam__emit_put(e, "static struct %s_workspace %s__room;\n\n", e->name, e->name);
}

/* Inputs and results with their types, or as names of arguments; gives how many. */
static int write_arguments(lam__emit *e, bool types) {
    const lam__program *p = e->program;
    int n = 0;
    for (int i = 0; i < p->inputs; i++) {
        lam__emit_put(e, n++ ? ", " : "");
        if (types) lam__emit_put(e, "const %s *", lam__emit_type((lam_dtype)p->types[i]->dtype));
        lam__emit_put(e, "in%d", i);
    }
    for (int o = 0; o < p->outputs; o++) {
        lam__emit_put(e, n++ ? ", " : "");
        if (types) lam__emit_put(e, "%s *", lam__emit_type((lam_dtype)result_type(e, o)->dtype));
        lam__emit_put(e, "out%d", o);
    }
    return n;
}

/* A reentrant function has the argument also where it needs no workspace, as a caller who does not look would pass
 * it. */
static void write_signature(lam__emit *e, bool reentrant, const char *end) {
    lam__emit_put(e, "void %s(", e->name);
    const int n = write_arguments(e, true);
    lam__emit_put(e, "%s)%s\n", reentrant ? n ? ", void *workspace" : "void *workspace" : n ? "" : "void", end);
}

/* A part sees all that the function sees. Which of these a part reads is not known before it is written, so all are
 * cast to void. */
static void write_part_head(lam__emit *e) {
    lam__emit_put(e, "static void %s__part%lld(", e->name, (long long)(e->blocks / PART_BLOCKS));
    const int n = write_arguments(e, true);
    lam__emit_put(e, "%sstruct %s_workspace *w) {\n", n ? ", " : "", e->name);
    for (int i = 0; i < e->program->inputs; i++) lam__emit_put(e, "    (void)in%d;\n", i);
    for (int o = 0; o < e->program->outputs; o++) lam__emit_put(e, "    (void)out%d;\n", o);
    lam__emit_put(e, "    (void)w;\n");
}

/* Called by number, so that compilers do not make one function of them again. */
static void write_part_calls(lam__emit *e) {
    const int64_t parts = (e->blocks + PART_BLOCKS - 1) / PART_BLOCKS;
    lam__emit_put(e, "    static void (*const parts[%lld])(", (long long)parts);
    const int n = write_arguments(e, true);
    lam__emit_put(e, "%sstruct %s_workspace *w) = {", n ? ", " : "", e->name);
    for (int64_t part = 0; part < parts; part++)
        lam__emit_put(e, "%s%s__part%lld", part ? ", " : "", e->name, (long long)part);
    lam__emit_put(e, "};\n    for (int part = 0; part < %lld; part++) parts[part](", (long long)parts);
    write_arguments(e, false);
    lam__emit_put(e, "%sw);\n", n ? ", " : "");
}

/* In the order in which they were noted, in which none comes before one that it calls. Guards let several programs,
 * each with helpers of its own, be put into one file. */
static void write_helpers(lam__emit *e) {
    for (int64_t i = 0; i < e->use_count; i++) {
        const char *name = e->uses[i].helper->name, *suffix = lam__emit_suffix(e->uses[i].dtype);
        lam__emit_put(e, "#ifndef HAS_%s_%s\n#define HAS_%s_%s\n", name, suffix, name, suffix);
        lam__emit_expand(e, e->uses[i].helper->text, e->uses[i].dtype, NULL);
        lam__emit_put(e, "#endif\n\n");
    }
}

/* What the function begins with: the workspace, and what it does not read. */
static void write_beginning(lam__emit *e, bool reentrant) {
    if (e->outer) {
        /* the workspace is an argument */
    } else if (lam__emit_workspace(e))
        lam__emit_put(e, "    struct %s_workspace *const w = %s%s%s;\n", e->name, reentrant ? "workspace" : "&",
                      reentrant ? "" : e->name, reentrant ? "" : "__room");
    else if (reentrant) lam__emit_put(e, "    (void)workspace;\n");
    if (e->parted) return;
    for (int i = 0; i < e->program->inputs; i++)
        if (!e->read[i]) lam__emit_put(e, "    (void)in%d;\n", i);
    for (int o = 0; o < e->program->outputs; o++)
        if (!result_type(e, o)->count) lam__emit_put(e, "    (void)out%d;\n", o);
}

/* After the dry walk, which tells whether there are parts. Functions come first that are called by others. A part is a
 * function too, so parts are written here, and not where the function begins that calls them. The walk that writes
 * parts is the one walk to the file; write_body then only calls them. */
static void write_needs(lam__emit *e, bool reentrant) {
    for (lam__emit *one = e->first; one; one = one->next) {
        one->file = e->file;
        if (one->called) lam__emit_function(one);
    }
    write_helpers(e);
    write_constants(e);
    write_workspace(e, reentrant);
    e->parted = e->blocks > PART_BLOCKS && lam__emit_workspace(e) > 0;
    if (!e->parted) return;
    walk(e);
    lam__emit_put(e, "}\n\n");
}

static void write_body(lam__emit *e, bool reentrant) {
    write_beginning(e, reentrant);
    if (e->parted) write_part_calls(e);
    else walk(e);
    lam__emit_put(e, "}\n");
}

/* Behind what it needs itself, so that functions are defined before they are called. */
void lam__emit_function(lam__emit *e) {
    write_needs(e, true);
    lam__emit_put(e, "static void %s(", e->name);
    const int n = write_arguments(e, true);
    if (lam__emit_workspace(e)) lam__emit_put(e, "%sstruct %s_workspace *w", n ? ", " : "", e->name);
    lam__emit_put(e, "%s) {\n", n || lam__emit_workspace(e) ? "" : "void");
    write_body(e, true);
    lam__emit_put(e, "\n");
}

/* The prototype in front of the definition spares whoever compiles the file a warning (-Wmissing-prototypes). */
static void write_file(lam__emit *e, bool reentrant) {
    write_comment(e, reentrant);
    write_head(e);
    write_needs(e, reentrant);
    write_signature(e, reentrant, ";");
    lam__emit_put(e, "\n");
    write_signature(e, reentrant, " {");
    write_body(e, reentrant);
}

/* ---- one program ------------------------------------------------------------------------------------------------- */

/* Users know the outermost program by its name, and the operation by that of its row. Where no equation is at fault it
 * is the program itself, as where an input has a dtype without a form. */
static lam_status refuse(const lam__emit *e, const char *wrong) {
    const lam__emit *whole = e;
    while (whole->outer) whole = whole->outer;
    return lam__error_set(e->ctx, LAM_ERR_RULE, "write it with other operations, or run it by lam_jit",
                          "emit_c of '%s': %s %s", whole->name,
                          e->current ? e->current->primitive->name : "the program", wrong);
}

/* What is refused is refused here, with nothing written. Programs within are prepared before the walk, which asks how
 * much of the workspace they take. */
lam_status lam__emit_prepare(lam__emit *e) {
    const size_t inputs = (size_t)e->program->inputs + 1;
    e->read = lam__arena_get(&e->arena, inputs);
    if (e->read) memset(e->read, 0, inputs);
    const char *wrong = check(e);
    lam_status status = wrong ? LAM_ERR_RULE : lam__emit_open_nested(e, &wrong);
    if (wrong) return refuse(e, wrong);
    if (status != LAM_OK) return status;
    if (!e->read || !lam__emit_lay_out(e)) return lam__error_memory(e->ctx, inputs);
    wrong = walk(e);
    if (wrong) return refuse(e, wrong);
    lam__emit_plan_make(e);
    return e->arena.lacking ? lam__error_memory(e->ctx, e->arena.bytes) : LAM_OK;
}

/* Behind the dry walk memory and the file can still fail, nothing else. */
lam_status lam__emit_program(const lam__program *p, const char *name, FILE *file, bool reentrant, int64_t *workspace) {
    lam__emit e = {.ctx = p->ctx, .program = p, .name = name};
    lam__arena_open(&e.arena, p->ctx);
    lam_status status = lam__emit_prepare(&e);
    if (status == LAM_OK) {
        e.file = file;
        write_file(&e, reentrant);
        if (workspace) *workspace = lam__emit_workspace(&e);
        if (e.arena.lacking) status = lam__error_memory(p->ctx, e.arena.bytes);
        else if (fflush(file) != 0 || ferror(file))
            status = lam__error_set(p->ctx, LAM_ERR_VALUE, "see that there is room for it",
                                    "emit_c of '%s': the file cannot be written", name);
    }
    lam__emit_close_nested(&e);
    lam__arena_close(&e.arena);
    return status;
}

/* ---- public ------------------------------------------------------------------------------------------------------ */

/* A name that the user gives is taken or refused, one that is derived from the program's is made to fit. */
lam_status lam_emit_c(lam_program *program, FILE *file, const lam_emit_options *options) {
    static const lam_emit_options none;
    const lam_emit_options *o = options ? options : &none;
    lam__program *p = lam__program_given("emit_c", program);
    char derived[LAM__EMIT_NAME];
    if (!p) return program ? lam_status_of(program->ctx) : LAM_ERR_NULL;
    if (!file) return lam__error_set(p->ctx, LAM_ERR_NULL, NULL, "emit_c of '%s': no file", program->name);
    if (o->name && !lam__emit_names_fit(o->name))
        return lam__error_set(p->ctx, LAM_ERR_OPTION, "take letters, digits and _, but no name of C or its library",
                              "emit_c of '%s': '%s' cannot be the name of a function", program->name, o->name);
    if (!o->name) lam__emit_names_make(program->name, derived);
    p->refs++;
    p = lam__program_plain(p); /* what only rules read is not in the text */
    if (!p) return lam_status_of(program->ctx);
    const lam_status status = lam__emit_program(p, o->name ? o->name : derived, file, o->reentrant, NULL);
    lam__program_release(p);
    return status;
}
