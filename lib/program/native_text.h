/* The text of native parts: for native.c alone. */
#ifndef LAM_PROGRAM_NATIVE_TEXT_H
#define LAM_PROGRAM_NATIVE_TEXT_H

#include "lib/kernels/lane.h"

#include <stdio.h>

/* Steps in pieces: function[i] is the one of step i. A piece is a function of the text, or steps that are none, because
 * they call a loop. Gives how many there are. */
int64_t lam__native_pieces(const lam__lane_step *steps, int64_t count, int32_t *function);

/* Whether a step is none of the text. */
bool lam__native_calls(const lam__lane_step *s);

/* Functions int lamina_N(char *registers, void *const *data, int64_t first, int64_t lanes), which say whether there was
 * something that they do not do right, so that the steps have to be run again. The part is one of `lanes` lanes: where
 * they are a group or more, whole groups are given; 1: registers are of eight bytes. words: `count` of
 * lam__native_pieces, then room for 2 * (count + registers). */
void lam__native_write(FILE *file, const lam__lane_step *steps, int64_t count, size_t registers, int64_t lanes,
                       int32_t *words);

#endif
