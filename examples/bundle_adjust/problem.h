/* A bundle adjustment problem, and files of the "Bundle Adjustment in the Large" data sets that hold one.
 *
 * Such a file is words between blanks and line ends: the counts of cameras, points and observations; camera, point, x
 * and y of each observation; 9 numbers for each camera; 3 for each point. Everything in a problem that was read is
 * finite, and every index is in range. Knows nothing of Lamina. */
#ifndef BUNDLE_ADJUST_PROBLEM_H
#define BUNDLE_ADJUST_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PROBLEM_CAMERA = 9,         /* numbers: rotation vector (3), translation (3), focal length, k1, k2 */
    PROBLEM_POINT = 3,          /* numbers */
    PROBLEM_MAX_CAMERAS = 2000, /* the reduced system is dense: 2.6 GB then, and its factor as much */
};

/* Camera `camera` sees point `point` at x, y: pixels from the middle of its picture, y upwards. */
typedef struct observation {
    int64_t camera, point;
    double at[2];
} observation;

typedef struct problem {
    int64_t cameras, points, observations;
    double *camera;        /* [cameras][PROBLEM_CAMERA] */
    double *point;         /* [points][PROBLEM_POINT] */
    observation *observed; /* [observations] */
    char error[256];       /* one line "path:line: what", "" without failure */
} problem;

/* Reads the file at path; problem_free is due in either case. Memory grows with what is read, not with what is
 * announced.
 * Fails   with false and one line in p->error: no such file, a count that makes no sense, a broken number, an index
 *         out of range, an end too early, anything but blanks behind the last point. */
bool problem_read(problem *p, const char *path);

/* Writes p so that problem_read gives the same numbers, to the last bit.
 * Fails   with false and one line in p->error. */
bool problem_write(problem *p, const char *path);

/* Frees the arrays; a problem that was never read must be zeroed. */
void problem_free(problem *p);

#endif
