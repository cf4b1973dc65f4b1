/* A diagram of points and curves as one SVG file: axes with round ticks, a title, labels, nothing else.
 * Coordinates are those of the data; a point that is not finite is left out and breaks its curve.
 * Knows neither Lamina nor fits. */
#ifndef NIST_FIT_SVG_H
#define NIST_FIT_SVG_H

#include <stdbool.h>
#include <stdio.h>

typedef struct svg_range {
    double low, high; /* low < high; svg_range_of makes it so */
} svg_range;

typedef struct svg {
    FILE *file;
    svg_range x, y;
} svg;

/* The range of the finite ones among n numbers, widened by a twentieth on both sides. Never empty. */
svg_range svg_range_of(int n, const double *values);

/* Starts the file: frame, ticks, title (top), x_label (below), y_label (left).
 * Fails   with false when the file cannot be made; errno tells why. */
bool svg_begin(svg *plot, const char *path, svg_range x, svg_range y, const char *title, const char *x_label,
               const char *y_label);

/* n circles; x advances by `stride` numbers from point to point. */
void svg_points(svg *plot, int n, const double *x, int stride, const double *y);

/* A line through n points, cut off at the frame; `color` counts through a small fixed palette. */
void svg_curve(svg *plot, int n, const double *x, int stride, const double *y, int color);

/* Ends the file and closes it.
 * Fails   with false when anything could not be written. */
bool svg_end(svg *plot);

#endif
