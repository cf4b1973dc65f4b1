/* A program as a user of the installed library writes it, compiled as C and as C++: the third power and its
 * derivative. It also checks what linking is to bring about: jemalloc is at hand, malloc is still the C library's, and
 * C++ that comes later finds operators of one library (NOTE [operators of jemalloc] in meson.build). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <lamina/lamina.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void cube(lam_ctx *ctx, lam_tensor *const in[], lam_tensor *out[], void *env) {
    (void)ctx, (void)env;
    out[0] = lam_mul(lam_mul(in[0], in[0]), in[0]);
}

static int differentiates(void) {
    lam_ctx *ctx = lam_ctx_new(NULL);
    lam_fn_options options;
    memset(&options, 0, sizeof options);
    options.name = "cube", options.body = cube, options.inputs = 1, options.outputs = 1;
    lam_fn *f = lam_fn_new(ctx, &options);
    double slope = lam_item(lam_apply(lam_grad(f, NULL), LAM_LIST(lam_scalar(ctx, 2.0))));
    printf("d(x^3)/dx at 2 = %g %s\n", slope, lam_error(ctx));
    int right = slope == 12.0 && lam_status_of(ctx) == LAM_OK;
    lam_ctx_free(ctx);
    return right;
}

/* The file that everything in the process finds `name` in; "" where nobody has it. */
static const char *found_in(const char *name) {
    Dl_info where = {"", NULL, NULL, NULL};
    void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol && dladdr(symbol, &where) ? where.dli_fname : "";
}

/* operator new and operator delete: those of jemalloc would hand its memory to the free of the C library. */
static int links_right(void) {
    const char *arena = found_in("mallocx"), *heap = found_in("malloc");
    const char *made = found_in("_Znwm"), *ended = found_in("_ZdlPv");
    printf("mallocx from %s, malloc from %s, new from %s, delete from %s\n", arena, heap, made, ended);
    return *arena && *heap && !strstr(heap, "jemalloc") && !strstr(made, "jemalloc") && !strcmp(made, ended);
}

/* Ends the program when new and delete are not of one library. */
static int news_right(void) {
#ifdef __cplusplus
    ::operator delete(::operator new(64));
#endif
    return 1;
}

int main(void) {
    return differentiates() && links_right() && news_right() ? 0 : 1;
}
