/* SVG text, written as it comes: the only state is the file and the two ranges that map data to the page.
 * Write errors are left to stdio's error flag, which svg_end looks at. */
#include "svg.h"

#include <math.h>

/* The page and the frame of the diagram on it, in pixels. */
enum { WIDTH = 720, HEIGHT = 480, LEFT = 80, RIGHT = 700, TOP = 40, BOTTOM = 420, TICKS = 6 };

static const char *const PALETTE[] = {"#c0392b", "#2471a3", "#1e8449", "#b9770e", "#6c3483", "#117a65"};

svg_range svg_range_of(int n, const double *values) {
    svg_range range = {INFINITY, -INFINITY};
    for (int i = 0; i < n; i++) {
        if (!isfinite(values[i])) continue;
        range.low = fmin(range.low, values[i]);
        range.high = fmax(range.high, values[i]);
    }
    if (range.low > range.high) return (svg_range){0, 1};
    double margin = (range.high - range.low) / 20;
    if (margin == 0) margin = range.low != 0 ? fabs(range.low) / 20 : 1;
    return (svg_range){range.low - margin, range.high + margin};
}

/* ---- from data to page ---- */

static double page_x(const svg *plot, double x) {
    return LEFT + (RIGHT - LEFT) * (x - plot->x.low) / (plot->x.high - plot->x.low);
}

static double page_y(const svg *plot, double y) {
    return BOTTOM - (BOTTOM - TOP) * (y - plot->y.low) / (plot->y.high - plot->y.low);
}

/* The distance of ticks: 1, 2 or 5 times a power of ten, so that about TICKS of them fit. */
static double tick_distance(svg_range range) {
    double rough = (range.high - range.low) / TICKS, power = pow(10, floor(log10(rough))), lead = rough / power;
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

/* ---- text and lines ---- */

/* Text in which the characters that mean something to XML are replaced. */
static void escaped(FILE *file, const char *text) {
    for (; *text; text++) {
        if (*text == '<') fputs("&lt;", file);
        else if (*text == '>') fputs("&gt;", file);
        else if (*text == '&') fputs("&amp;", file);
        else fputc(*text, file);
    }
}

/* `extra` holds further attributes. */
static void label(svg *plot, double x, double y, const char *anchor, const char *extra, const char *text) {
    fprintf(plot->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, extra);
    escaped(plot->file, text);
    fputs("</text>\n", plot->file);
}

static void line(svg *plot, double x1, double y1, double x2, double y2) {
    fprintf(plot->file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#888\"/>\n", x1, y1, x2, y2);
}

/* A tick whose value is a rounding error away from 0 is 0. */
static void tick_text(char *text, size_t size, long index, double distance) {
    snprintf(text, size, "%.6g", index == 0 ? 0.0 : (double)index * distance);
}

static void ticks(svg *plot) {
    char text[32];
    double dx = tick_distance(plot->x), dy = tick_distance(plot->y);
    for (long i = (long)ceil(plot->x.low / dx); (double)i * dx <= plot->x.high; i++) {
        double at = page_x(plot, (double)i * dx);
        tick_text(text, sizeof text, i, dx);
        line(plot, at, BOTTOM, at, BOTTOM + 5);
        label(plot, at, BOTTOM + 20, "middle", "", text);
    }
    for (long i = (long)ceil(plot->y.low / dy); (double)i * dy <= plot->y.high; i++) {
        double at = page_y(plot, (double)i * dy);
        tick_text(text, sizeof text, i, dy);
        line(plot, LEFT - 5, at, LEFT, at);
        label(plot, LEFT - 9, at + 4, "end", "", text);
    }
}

/* ---- the diagram ---- */

bool svg_begin(svg *plot, const char *path, svg_range x, svg_range y, const char *title, const char *x_label,
               const char *y_label) {
    *plot = (svg){.file = fopen(path, "w"), .x = x, .y = y};
    if (!plot->file) return false;
    fprintf(plot->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n"
            "<clipPath id=\"frame\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n"
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
    ticks(plot);
    label(plot, (LEFT + RIGHT) / 2, TOP - 14, "middle", " font-size=\"15\"", title);
    label(plot, (LEFT + RIGHT) / 2, BOTTOM + 44, "middle", "", x_label);
    char upright[64];
    snprintf(upright, sizeof upright, " transform=\"rotate(-90 %d %d)\"", 20, (TOP + BOTTOM) / 2);
    label(plot, 20, (TOP + BOTTOM) / 2, "middle", upright, y_label);
    return true;
}

void svg_points(svg *plot, int n, const double *x, int stride, const double *y) {
    fputs("<g fill=\"none\" stroke=\"#333\">\n", plot->file);
    for (int i = 0; i < n; i++, x += stride)
        if (isfinite(*x) && isfinite(y[i]))
            fprintf(plot->file, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"2.5\"/>\n", page_x(plot, *x), page_y(plot, y[i]));
    fputs("</g>\n", plot->file);
}

void svg_curve(svg *plot, int n, const double *x, int stride, const double *y, int color) {
    const char *stroke = PALETTE[(unsigned)color % (sizeof PALETTE / sizeof *PALETTE)];
    fprintf(plot->file, "<path clip-path=\"url(#frame)\" fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" d=\"",
            stroke);
    for (int i = 0, pen_is_down = 0; i < n; i++, x += stride) {
        bool is_drawn = isfinite(*x) && isfinite(y[i]);
        if (is_drawn) fprintf(plot->file, "%c%.2f %.2f", pen_is_down ? 'L' : 'M', page_x(plot, *x), page_y(plot, y[i]));
        pen_is_down = is_drawn;
    }
    fputs("\"/>\n", plot->file);
}

bool svg_end(svg *plot) {
    fputs("</svg>\n", plot->file);
    bool is_written = !ferror(plot->file);
    return fclose(plot->file) == 0 && is_written;
}
