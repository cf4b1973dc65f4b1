/* Programs as text; and written as C, compiled by the system's compiler as an embedded build would, and loaded. */
#ifndef LAM_TESTS_TRANSFORMS_BUILD_H
#define LAM_TESTS_TRANSFORMS_BUILD_H

#include <lamina/program.h>

enum { BUILD_PATH = 256 };

typedef struct build {
    char directory[BUILD_PATH];
    void *library;
} build;

/* What lam_emit_c writes, until the next call. */
const char *emitted_text(lam_program *program, const lam_emit_options *options);

/* What lam_program_print writes; free it. */
char *printed_text(lam_program *program);

/* Begins a build; adds a program in a file of its own; compiles all, without a warning, and loads them. */
void build_begin(build *b);
void build_add(const build *b, const char *name, lam_program *program, const lam_emit_options *options);
void build_end(build *b);

/* A symbol as a function, which C lets only bytes do: function points to a pointer to one. */
void build_find(const build *b, const char *name, void *function);

#endif
