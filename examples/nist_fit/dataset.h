/* Data sets in the format of the NIST Statistical Reference Datasets for nonlinear regression.
 *
 * The header of such a file says in which lines the starting values, the certified values and the data stand
 * ("Data (lines 61 to 71)"); the reader believes these ranges and nothing else about the layout, so the files as
 * NIST publishes them and the copies in examples/data/nist, whose prose is gone, are read by the same code.
 * Knows nothing of Lamina. */
#ifndef NIST_FIT_DATASET_H
#define NIST_FIT_DATASET_H

#include <stdbool.h>

enum {
    DATASET_MAX_PARAMETERS = 16,
    DATASET_MAX_PREDICTORS = 4,
    DATASET_STARTS = 2,
};

typedef struct dataset {
    char name[64];                                        /* "MGH09" */
    int parameters, predictors, observations;             /* counts; observations > parameters */
    double start[DATASET_STARTS][DATASET_MAX_PARAMETERS]; /* start[0] is NIST's "Start 1" */
    double certified[DATASET_MAX_PARAMETERS];             /* to 11 significant digits, as all that follow */
    double deviation[DATASET_MAX_PARAMETERS];             /* standard deviations of the parameters */
    double sum_of_squares;                                /* of the residuals, at the certified parameters */
    double *y;                                            /* [observations] */
    double *x;                                            /* [observations][predictors] */
    char error[256];                                      /* one line "path:line: what", "" without failure */
} dataset;

/* Reads the file at path; dataset_free is due in either case.
 * Fails   with false and one line in set->error: no such file, a header entry that is missing or points outside of
 *         the file, a broken number, a row of the wrong width, too few observations. */
bool dataset_read(dataset *set, const char *path);

/* Frees the data; a set that was never read must be zeroed. */
void dataset_free(dataset *set);

#endif
