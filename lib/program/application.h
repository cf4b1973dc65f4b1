/* Whose doing the equations of a program are. What has rules of its own (custom Functions) is recorded by its
 * operations, which are what is printed, compiled and run. Their derivative need not be that of the rules. So a program
 * that levels may see run knows beside them which equations are the doing of which call, and a level that is to
 * differentiate or batch those is given the call in their place (run.c). */
#ifndef LAM_PROGRAM_APPLICATION_H
#define LAM_PROGRAM_APPLICATION_H

#include "lib/program/program.h"

/* One call. Its equations follow one another, among them those of calls inside of it. Each result is a variable that
 * one of them sets, and no two are the same. Where f calls g between operations of its own, the innermost calls of five
 * equations are
 *     equation   0  1  2  3  4
 *     within     -  f  g  g  f
 * and 1 to 4 are those of f, 2 and 3 those of g, whose outer call is f. */
typedef struct lam__application {
    struct lam__application *next;  /* in the list of the program */
    struct lam__application *outer; /* the one in which it was made */
    struct lam__application *copy;  /* while the program is copied */
    lam__equation *call;            /* its operands and parameters; it is no equation of the program */
    bool done;                      /* it has results; if not, nobody knows of it */
    bool needed;                    /* the program is finished, and one of its equations has stayed */
    int64_t out[];                  /* per result; -1: left out, or not in this program any more */
} lam__application;

/* The first application from this one outwards that is done; NULL. */
static inline lam__application *lam__application_done(lam__application *a) {
    while (a && !a->done) a = a->outer;
    return a;
}

/* Whether one that is done lies in `outer` (NULL: in the program), or is it. */
static inline bool lam__application_within(const lam__application *a, const lam__application *outer) {
    while (a && a != outer) a = a->outer;
    return a == outer;
}

/* What p records from here on is the doing of this call, up to the end. NULL without memory. */
lam__application *lam__application_begin(lam__program *p, const lam_call_site *call, const lam__atom in[]);

/* out[]: variables; NULL: it has failed. */
void lam__application_end(lam__program *p, lam__application *a, const int64_t out[]);

void lam__application_free_all(lam__program *p);

/* While p is finished: equation e stays, so operands of the calls that it belongs to do; equation k is the first of
 * some calls, which read their operands there. */
void lam__application_need(lam__program *p, const lam__equation *e);
void lam__application_read(lam__program *p, int64_t k);

/* What an atom of a program is in the copy that is made of it. */
typedef lam__atom lam__atom_map(const void *env, const lam__atom *a);

/* What `made`, a copy that is being recorded, records next is the doing of its copy of a (NULL: of none); false without
 * memory. At the end, also after a failure, lam__application_copied, when all variables are known. */
bool lam__application_copy(lam__program *made, lam__application *a, lam__atom_map *map, const void *env);
void lam__application_copied(lam__program *made, const lam__program *p, lam__atom_map *map, const void *env);

#endif
