/* Plans: a program made ready to be run again and again on concrete values: what is elementwise and small is fused, the
 * rest are calls. */
#ifndef LAM_PROGRAM_PLAN_H
#define LAM_PROGRAM_PLAN_H

#include "lib/program/program.h"

typedef struct lam__plan lam__plan;

/* auto: what is estimated to be faster so; all: whatever can be; none: nothing. */
typedef enum lam__plan_fusion { LAM__PLAN_AUTO, LAM__PLAN_ALL, LAM__PLAN_NONE } lam__plan_fusion;

/* What became of a program. */
typedef struct lam__plan_report {
    int64_t equations, calls, parts, fused, steps; /* parts: fused ones, of so many equations, in so many steps */
    int64_t lanes;
    int64_t native; /* parts that are machine code */
    size_t bytes;   /* that fused parts keep for their registers */
} lam__plan_report;

/* Whether no constant of a finished program is a box, which a level may hide or end before the next run. What residuals
 * hold does not count, since a run needs none of it. */
bool lam__plan_fits(const lam__program *p);

/* A plan holds the program. native: parts of one lane become machine code, where there is a compiler. NULL after
 * recording that memory is lacking. The program fits. */
lam__plan *lam__plan_new(lam__program *p, lam__plan_fusion fusion, bool native);
void lam__plan_free(lam__plan *plan);

/* Whether it is being run: a function that it calls may come back to it. */
bool lam__plan_busy(const lam__plan *plan);

/* in[] are concrete and of the types of the program's inputs. One reference per output. Where a function that is called
 * reads values of open levels, all of it is run through dispatch, and calls made so far are made again. */
lam_status lam__plan_run(lam__plan *plan, lam_value *const in[], lam_value *out[]);

/* Whether a plan can be run on addresses: it is fused parts, and calls of kernels whose results have places before they
 * are made. NOTE [places] in plan_bare.c. */
bool lam__plan_is_bare(lam__plan *plan);

/* The type of result o of such a plan; NULL where it is the input of its own number, which is not copied. */
const lam_value *lam__plan_bare_type(const lam__plan *plan, int o);

/* Runs it on the addresses of inputs, and of what it makes; no two of these may overlap. Without gaps. Fails as its
 * calls do. */
lam_status lam__plan_run_bare(lam__plan *plan, void *const in[], void *const out[]);

/* Whether a plan is one part that does the same in each of `size` lanes, so that it can be run for the first of them
 * alone: what has lanes is a row for each of them in inputs with in_lanes[], and in all that is made. */
bool lam__plan_is_abreast(const lam__plan *plan, int64_t size, const bool in_lanes[]);

/* Runs it for so many lanes; what follows them, up to a group of vectors, may be read and written too. */
void lam__plan_run_abreast(lam__plan *plan, void *const in[], void *const out[], int64_t lanes);

lam__plan_report lam__plan_report_of(const lam__plan *plan);

#endif
