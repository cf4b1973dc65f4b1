/* Names in quotes: see quoted.h. */
#include "lib/program/quoted.h"

#include <string.h>

/* Bytes from 128 on are written as they are, so that names in UTF-8 stay readable. */
void lam__quoted_print(FILE *file, const char *text) {
    fputc('"', file);
    for (const char *c = text; *c; c++) {
        const unsigned char byte = (unsigned char)*c;
        fprintf(file, byte < ' ' || byte == '"' || byte == '\\' || byte == 127 ? "\\%02x" : "%c", byte);
    }
    fputc('"', file);
}

/* -1: it is none. Only those that are written: small letters. strchr would find the end of the list for a 0. */
static int hex_digit(char c) {
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* A backslash without two digits is itself. What is meant is never longer than what is quoted, so that much room and an
 * end are enough. */
size_t lam__quoted_copy(const char *quoted, size_t length, char *to) {
    size_t bytes = 0;
    for (size_t i = 0; i < length; bytes++) {
        const int high = quoted[i] == '\\' && i + 2 < length ? hex_digit(quoted[i + 1]) : -1;
        const int low = high < 0 ? -1 : hex_digit(quoted[i + 2]);
        if (to) to[bytes] = low < 0 ? quoted[i] : (char)(16 * high + low);
        i += low < 0 ? 1 : 3;
    }
    if (to) to[bytes] = '\0';
    return bytes;
}
