/* See build.h. */
#define _GNU_SOURCE /* mkdtemp, open_memstream */

#include "tests/transforms/build.h"

#include "tests/support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

const char *emitted_text(lam_program *program, const lam_emit_options *options) {
    static char text[1 << 18];
    FILE *file = tmpfile();
    ck_assert_int_eq(lam_emit_c(program, file, options), LAM_OK);
    const long size = ftell(file);
    ck_assert(size > 0 && size < (long)sizeof text);
    rewind(file);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, file), (size_t)size);
    text[size] = '\0';
    fclose(file);
    return text;
}

char *printed_text(lam_program *program) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_int_eq(lam_program_print(file, program), LAM_OK);
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

void build_begin(build *b) {
    snprintf(b->directory, sizeof b->directory, "%s/lamina-emit-XXXXXX", P_tmpdir);
    ck_assert_ptr_nonnull(mkdtemp(b->directory));
}

/* A program in a file of its own. */
void build_add(const build *b, const char *name, lam_program *program, const lam_emit_options *options) {
    const char *text = emitted_text(program, options);
    char path[BUILD_PATH + 32];
    snprintf(path, sizeof path, "%s/%s.c", b->directory, name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void run(const char *format, const char *directory) {
    char command[4 * BUILD_PATH];
    snprintf(command, sizeof command, format, directory, directory);
    ck_assert_msg(system(command) == 0, "%s", command);
}

/* All files of the directory, as an embedded build would compile them. */
void build_end(build *b) {
    char path[BUILD_PATH + 32];
    run("cc -std=c11 -Wall -Wextra -Werror -pedantic -O1 -shared -fPIC -o %s/all.so %s/*.c -lm", b->directory);
    snprintf(path, sizeof path, "%s/all.so", b->directory);
    b->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(b->library != NULL, "%s", dlerror());
    run("rm -r %s%.0s", b->directory);
}

void build_find(const build *b, const char *name, void *function) {
    void *symbol = dlsym(b->library, name);
    ck_assert_msg(symbol != NULL, "%s", name);
    memcpy(function, &symbol, sizeof symbol);
}
