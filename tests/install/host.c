/* A running program that knows nothing of Lamina loads it as a plug-in: host LIBRARY. It links no jemalloc, so this
 * fails to load as soon as the library itself needs one (NOTE [jemalloc] in meson.build). */
#include <lamina/lamina.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* A function pointer from dlsym, which ISO C has no cast for. */
static void find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    if (!symbol) fprintf(stderr, "%s\n", dlerror());
    memcpy(function, &symbol, sizeof symbol);
}

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: host LIBRARY");
        return 1;
    }
    lam_ctx *(*ctx_new)(const lam_ctx_options *);
    lam_tensor *(*scalar)(lam_ctx *, double);
    double (*item)(lam_tensor *);
    void (*ctx_free)(lam_ctx *);
    find(library, "lam_ctx_new", &ctx_new);
    find(library, "lam_scalar", &scalar);
    find(library, "lam_item", &item);
    find(library, "lam_ctx_free", &ctx_free);
    if (!ctx_new || !scalar || !item || !ctx_free) return 1;
    lam_ctx *ctx = ctx_new(NULL);
    double back = item(scalar(ctx, 2.5));
    ctx_free(ctx);
    printf("through a loaded library: %g\n", back);
    return back == 2.5 && dlclose(library) == 0 ? 0 : 1;
}
