/* Numbers: see number.h. The C library writes and reads the decimal point of its locale, a program's text has "." in
 * all of them. */
#include "lib/program/number.h"

#include "lib/tensor/dtype.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A complex number is two of these and an i. Each has half of the room, less the i and the end. */
enum { PART = LAM__NUMBER_TEXT / 2 - 2 };

/* By strtod, which takes the decimal point of the locale: the host may have set one, and the library does not touch
 * it. So the point is replaced in a copy, and what it is longer by is taken off the place where reading ended. Whatever
 * may belong to a number is copied, letters and signs too, and strtod says where it ends. One that is longer than the
 * copy is cut, and then what is left of it is no mark that could follow. */
static const char *read_real(const char *text, double *value) {
    char copy[PART];
    size_t used = 0;
    const char *point = localeconv()->decimal_point;
    for (const char *c = text; used + strlen(point) + 1 < sizeof copy; c++) {
        if (*c == '.') {
            strcpy(copy + used, point);
            used += strlen(point);
        } else if (isalnum((unsigned char)*c) || *c == '+' || *c == '-') {
            copy[used++] = *c;
        } else {
            break;
        }
    }
    copy[used] = '\0';
    char *end;
    *value = strtod(copy, &end);
    if (end == copy) return NULL;
    size_t taken = (size_t)(end - copy), points = 0;
    for (char *at = strstr(copy, point); at && at < end; at = strstr(at + 1, point)) points++;
    return text + taken - points * (strlen(point) - 1);
}

/* Through variables of the dtype's width, since `at` may lie anywhere in an array of it; strtoll says by errno that a
 * number had too many digits. In base 10 alone, so that a leading 0 means nothing. */
static const char *read_integer(const char *text, lam_dtype dtype, void *at) {
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    const bool fits = !errno && (dtype != LAM_I32 || (value >= INT32_MIN && value <= INT32_MAX)) &&
                      (dtype != LAM_U8 || (value >= 0 && value <= UINT8_MAX));
    if (end == text || !fits) return NULL;
    const int64_t wide = value;
    const int32_t narrow = (int32_t)value;
    const uint8_t byte = (uint8_t)value;
    memcpy(at,
           dtype == LAM_I64   ? (const void *)&wide
           : dtype == LAM_I32 ? (const void *)&narrow
                              : &byte,
           lam__dtype_bytes(dtype));
    return end;
}

/* A number that is finite in the text and not in the dtype does not fit. Storing rounds to the dtype, and makes an
 * infinity of what is too large for it; only one that is written as such may be. */
static const char *read_part(const char *text, lam_dtype dtype, void *at) {
    double value;
    const bool infinite = tolower((unsigned char)text[strspn(text, "+-")]) == 'i';
    text = read_real(text, &value);
    if (!text) return NULL;
    lam__dtype_store(dtype, at, value);
    return isinf(lam__dtype_load(dtype, at)) && !infinite ? NULL : text;
}

/* Both parts, of which only a complex number has the second. There is no blank in a complex number: the sign of the
 * second part is where that begins. */
static const char *read_floating(const char *text, lam_dtype dtype, void *at) {
    const size_t part = lam__dtype_bytes(lam__dtype_part(dtype));
    text = read_part(text, lam__dtype_part(dtype), at);
    if (!text || !lam__dtype_is_complex(dtype)) return text;
    if (*text != '+' && *text != '-') return NULL;
    text = read_part(text, lam__dtype_part(dtype), (char *)at + part);
    return text && *text == 'i' ? text + 1 : NULL;
}

/* Looks at the beginning only. What may follow a number is known to the caller, who refuses anything else there. */
const char *lam__number_read(const char *text, lam_dtype dtype, void *at) {
    if (dtype == LAM_BOOL) {
        const bool yes = !strncmp(text, "true", 4), no = !strncmp(text, "false", 5);
        *(uint8_t *)at = yes;
        return yes ? text + 4 : no ? text + 5 : NULL;
    }
    if (dtype == LAM_I64 || dtype == LAM_I32 || dtype == LAM_U8) return read_integer(text, dtype, at);
    return read_floating(text, dtype, at);
}

/* The fewest digits that give the same bits. plus: a sign in any case. They are looked for one by one and read back
 * each time; 17 do for every double (9 for a float). Bits are compared, and not numbers, so that -0 is told from 0. */
static int print_real(char *text, lam_dtype dtype, const void *at, bool plus) {
    const double value = lam__dtype_load(dtype, at);
    char back[8];
    int length = 0;
    if (isnan(value)) return snprintf(text, PART, plus ? "+nan" : "nan");
    for (int digits = 1; digits <= 17; digits++) {
        length = snprintf(text, PART, plus ? "%+.*g" : "%.*g", digits, value);
        const char *point = localeconv()->decimal_point;
        char *where = strstr(text, point);
        if (where && strcmp(point, ".") != 0) {
            *where = '.';
            memmove(where + 1, where + strlen(point), strlen(where + strlen(point)) + 1);
            length = (int)strlen(text);
        }
        double read = 0;
        if (read_real(text, &read)) lam__dtype_store(dtype, back, read);
        if (!memcmp(back, at, lam__dtype_bytes(dtype))) break;
    }
    return length;
}

/* The second part of a complex number always has its sign, which parts it from the first. */
void lam__number_print(char text[LAM__NUMBER_TEXT], lam_dtype dtype, const void *at) {
    switch (dtype) {
    case LAM_BOOL: strcpy(text, *(const uint8_t *)at ? "true" : "false"); return;
    case LAM_U8: snprintf(text, LAM__NUMBER_TEXT, "%u", (unsigned)*(const uint8_t *)at); return;
    case LAM_I32: snprintf(text, LAM__NUMBER_TEXT, "%ld", (long)*(const int32_t *)at); return;
    case LAM_I64: snprintf(text, LAM__NUMBER_TEXT, "%lld", (long long)*(const int64_t *)at); return;
    default: break;
    }
    const lam_dtype part = lam__dtype_part(dtype);
    const int length = print_real(text, part, at, false);
    if (part == dtype) return;
    print_real(text + length, part, (const char *)at + lam__dtype_bytes(part), true);
    strcat(text, "i");
}
