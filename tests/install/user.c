/* A program as a user of the installed library writes it, compiled as C and as C++: the third power and its
 * derivative. It also checks what linking is to bring about: jemalloc is at hand, malloc is still the C library's. */
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

static int links_right(void) {
    Dl_info where = {"?", NULL, NULL, NULL};
    void *heap = dlsym(RTLD_DEFAULT, "malloc"), *arena = dlsym(RTLD_DEFAULT, "mallocx");
    int plain_heap = heap && dladdr(heap, &where) && !strstr(where.dli_fname, "jemalloc");
    printf("mallocx %s, malloc from %s\n", arena ? "present" : "absent", where.dli_fname);
    return arena && plain_heap;
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
