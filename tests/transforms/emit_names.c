/* Names of programs as C: which become what, which are refused, and several programs in one file. */
#define _GNU_SOURCE /* mkdtemp */

#include "tests/support.h"
#include "tests/transforms/build.h"

#include <dlfcn.h>
#include <lamina/program.h>
#include <stdio.h>

typedef void unary(const double *, double *);

enum { N = 4 };
static const double point[N] = {0.3, -0.7, 1.1, 2.5};

BODY(plain) {
    out[0] = lam_mul(2.0, in[0]);
}

static lam_program *traced(lam_fn *f) {
    return lam_trace(f, LAM_LIST(lam_array(ctx, LAM_F64, LAM_DIMS(N), point)));
}

static void check_name(const char *name, const char *want) {
    lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = name, .body = plain, .inputs = 1, .outputs = 1});
    const char *text = emitted_text(traced(f), NULL);
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\nvoid %s(const double *in0, double *out0) {\n", want);
    ck_assert_msg(strstr(text, wanted) != NULL, "'%s' becomes another name than %s", name, want);
}

START_TEST(names_become_identifiers) {
    check_name("plain", "plain");
    check_name("grad(x + y)", "grad_x___y_");
    check_name("2nd", "_2nd");
    check_name("double", "double_");
    check_name("exp", "exp_");
    check_name("_Bool", "Bool");
    check_name("expf", "expf_");
    check_name("max_f64", "max_f64_");
    check_name("grad_f64", "grad_f64");
    check_name("strlen", "strlen_");
    check_name("INT64_MAX", "INT64_MAX_");
    check_name("__linux", "_linux");
    check_name("__A", "A");
    check_name("(-A)", "A_");
    check_name("_", "_");
    check_name("M_x", "f_M_x");
    check_name("FP_a", "f_FP_a");
    check_name("MATH_ERR", "f_MATH_ERR");
    check_name("HAS_x", "f_HAS_x");
    check_name("_HAS_x", "f_HAS_x");
    check_name("HAS_x_WORKSPACE", "f_HAS_x_WORKSPACE_");
    check_name("M_x__c0", "f_M_x__c0_");
    check_name("f__c0", "f__c0_");
    check_name("f_c0", "f_c0");
    check_name("stress", "stress");
    check_name("memory", "memory");
    check_name("interest_t", "interest_t_");
    check_name("logic", "logic");
    check_name("grad(a name of many letters, grad(a name of many letters, grad(a name)))",
               "grad_a_name_of_many_letters__grad_a_name_of_many_letters__grad");
}
END_TEST

/* What is derived is a name that may be given, and one that C takes. */
START_TEST(derived_names_fit) {
    static const char *const names[] = {
        "_Bool",      "_Complex",     "__A",
        "__",         "(x)",          "+B",
        "7",          "M_PI",         "FP_a",
        "MATH_ERRNO", "HAS_x",        "_M_x",
        "__FP_b",     "INT_C",        "UINT8_MAX",
        "int_t",      "uint_least_t", "exp",
        "M_x__c0",    "HAS__room",    "M_a_name_of_many_letters_which_is_cut_where_C_promises_no_more__c0"};
    build b;
    FILE *nowhere = tmpfile();
    build_begin(&b);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lam_fn *f = lam_fn_new(ctx, &(lam_fn_options){.name = names[i], .body = plain, .inputs = 1, .outputs = 1});
        char name[128] = "", file[32];
        ck_assert_int_eq(sscanf(strstr(emitted_text(traced(f), NULL), "\nvoid "), "\nvoid %127[^(]", name), 1);
        ck_assert_msg(lam_emit_c(traced(f), nowhere, &(lam_emit_options){.name = name}) == LAM_OK, "'%s': %s", names[i],
                      lam_error(ctx));
        snprintf(file, sizeof file, "%zu", i);
        build_add(&b, file, traced(f), NULL);
    }
    build_end(&b);
    dlclose(b.library);
    fclose(nowhere);
}
END_TEST

START_TEST(other_names_are_refused) {
    static const char *const names[] = {"",
                                        "a b",
                                        "1st",
                                        "int",
                                        "f<g>",
                                        "sqrt",
                                        "sinl",
                                        "I",
                                        "isnan",
                                        "size_t",
                                        "before_i32",
                                        "argsort_f64",
                                        "strlen",
                                        "memcmp",
                                        "nearbyint",
                                        "scalbnf",
                                        "lgammaf_r",
                                        "cacoshl",
                                        "isnormal",
                                        "malloc",
                                        "printf",
                                        "signal",
                                        "uint16_t",
                                        "INT64_MAX",
                                        "SIZE_MAX",
                                        "M_PI",
                                        "__x",
                                        "_Generic",
                                        "roundf32x",
                                        "fabsd64",
                                        "f__c0",
                                        "f__f12",
                                        "f__part0",
                                        "f__room",
                                        "f_WORKSPACE",
                                        "HAS_max_f64",
                                        "a_name_of_64_letters_which_is_one_more_than_c_promises_to_know__"};
    lam_program *p = traced(FN(plain, 1, 1));
    FILE *file = tmpfile();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_int_eq(lam_emit_c(p, file, &(lam_emit_options){.name = names[i]}), LAM_ERR_OPTION);
        EXPECT_ERROR(LAM_ERR_OPTION, "cannot be the name of a function");
    }
    ck_assert_int_eq(ftell(file), 0);
    fclose(file);
}
END_TEST

/* ---- several programs -------------------------------------------------------------------------------------------- */

BODY(added) {
    out[0] = lam_add(in[1], lam_cast(in[0], LAM_F64));
}

/* Names that look as if they were those of parts of another program. */
BODY(with_parts) {
    out[0] = lam_cumsum(lam_add(in[0], lam_array(ctx, LAM_F64, LAM_DIMS(N), point)), 0);
    lam_fori(0, 100, FN(added, 2, 1), LAM_LIST(out[0]), out, 1);
}

START_TEST(programs_in_one_file_have_names_of_their_own) {
    static const char *const names[] = {"f", "f_c0", "f_f1", "f_room", "f_part0", "f_workspace"};
    build b;
    lam_fn *f = FN(with_parts, 1, 1);
    char path[BUILD_PATH + 32];
    build_begin(&b);
    snprintf(path, sizeof path, "%s/all.c", b.directory);
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(lam_emit_c(traced(f), file, &(lam_emit_options){.name = names[i]}), LAM_OK);
    fclose(file);
    build_end(&b);
    for (int i = 0; i < 6; i++) {
        unary *call;
        double out[N];
        build_find(&b, names[i], &call);
        call(point, out);
        for (int k = 0; k < N; k++) {
            double want = 99 * 50; /* the sum of 0 to 99, and twice the sum of the elements up to this one */
            for (int j = 0; j <= k; j++) want += 2 * point[j];
            ck_assert_double_eq_tol(out[k], want, 1e-11);
        }
    }
    dlclose(b.library);
}
END_TEST

Suite *suite_transforms_emit_names(void) {
    return SUITE_OF("transforms/emit_names", names_become_identifiers, derived_names_fit, other_names_are_refused,
                    programs_in_one_file_have_names_of_their_own);
}
