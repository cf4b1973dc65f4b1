/* Names of functions in C: see emit_names.h. Taken are the words of C, what its library reserves, and what the files of
 * programs name themselves. Functions of headers that those do not include are taken too: the library would call the
 * program in their place. */
#include "lib/program/emit_names.h"

#include "lib/program/emit_writer.h"

#include <string.h>

/* Of ASCII alone, whatever the locale. */
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- what is taken ----------------------------------------------------------------------------------------------- */

/* Words of C, also of later standards; functions of its library; what systems and compilers have beside them. In order,
 * for those who read it; a search goes through all of them. */
static const char words[] =
    "CMPLX CMPLXF CMPLXL HUGE_VAL HUGE_VALF HUGE_VALL I INFINITY NAN NULL _exit abort alignas aligned_alloc "
    "alignof alloca asctime asm assert at_quick_exit atexit atof atoi atol atoll auto bcmp bcopy bool break "
    "bsearch btowc bzero c16rtomb c32rtomb call_once calloc case char clearerr clock cnd_broadcast cnd_destroy "
    "cnd_init cnd_signal cnd_timedwait cnd_wait complex const constexpr continue ctime dcgettext default "
    "dgettext difftime do double double_t else enum errno execl execle execlp execv execve execvp exit "
    "explicit_bzero extern false fclose feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feof "
    "feraiseexcept ferror fesetenv fesetexceptflag fesetround fetestexcept feupdateenv fflush ffs ffsimax ffsl "
    "ffsll fgetc fgetpos fgets fgetwc fgetws float float_t fopen for fork fpclassify fprintf fprintf_unlocked "
    "fputc fputc_unlocked fputs fputs_unlocked fputwc fputws fread free freopen fscanf fseek fsetpos ftell fwide "
    "fwprintf fwrite fwrite_unlocked fwscanf getc getchar getenv gets gettext getwc getwchar gmtime goto i386 if "
    "imaginary imaxabs imaxdiv index inline int isalnum isalpha isascii isblank iscntrl isdigit isfinite isgraph "
    "isgreater isgreaterequal isless islessequal islessgreater islower isnormal isprint ispunct isspace "
    "isunordered isupper iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint "
    "iswpunct iswspace iswupper iswxdigit isxdigit labs ldiv linux llabs lldiv locale_t localeconv localtime "
    "long longjmp main malloc math_errhandling mblen mbrlen mbrtoc16 mbrtoc32 mbrtowc mbsinit mbsrtowcs mbstowcs "
    "mbtowc memccpy memchr memcmp memcpy memmove mempcpy memset mktime mtx_destroy mtx_init mtx_lock "
    "mtx_timedlock mtx_trylock mtx_unlock noreturn nullptr perror posix_memalign printf printf_unlocked putc "
    "putc_unlocked putchar putchar_unlocked puts puts_unlocked putwc putwchar qsort quick_exit raise rand "
    "realloc register remove rename restrict return rewind rindex scanf setbuf setjmp setlocale setvbuf short "
    "signal signed signgam size_t sizeof snprintf sprintf srand sscanf static static_assert stderr stdin stdout "
    "stpcpy stpncpy strcasecmp strcasecmp_l strcat strchr strcmp strcoll strcoll_l strcpy strcspn strdup "
    "strerror strerror_l strerror_r strfmon strftime strlen strncasecmp strncasecmp_l strncat strncmp strncpy "
    "strndup strnlen strpbrk strrchr strsep strsignal strspn strstr strtod strtof strtoimax strtok strtok_r "
    "strtol strtold strtoll strtoul strtoull strtoumax struct strxfrm strxfrm_l switch swprintf swscanf system "
    "thrd_create thrd_current thrd_detach thrd_equal thrd_exit thrd_join thrd_sleep thrd_yield thread_local time "
    "timespec_get tmpfile tmpnam toascii tolower toupper towctrans towlower towupper true tss_create tss_delete "
    "tss_get tss_set typedef typeof typeof_unqual ungetc ungetwc union unix unsigned va_copy va_end va_start "
    "vfork vfprintf vfscanf vfwprintf vfwscanf void volatile vprintf vscanf vsnprintf vsprintf vsscanf vswprintf "
    "vswscanf vwprintf vwscanf wcrtomb wcscat wcschr wcscmp wcscoll wcscpy wcscspn wcsftime wcslen wcsncat "
    "wcsncmp wcsncpy wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstol wcstold "
    "wcstoll wcstombs wcstoul wcstoull wcstoumax wcsxfrm wctob wctomb wctrans wctype while wmemchr wmemcmp "
    "wmemcpy wmemmove wmemset wprintf wscanf ";

/* Functions that there are for each floating type: with an f or an l behind them, the number of their bits behind that,
 * or _r. */
static const char functions[] =
    "abs acos acosh asin asinh atan atan2 atanh cabs cacos cacosh carg casin casinh catan catanh cbrt ccos ccosh "
    "ceil cexp cimag clog clog10 conj copysign cos cosh cpow cproj creal csin csinh csqrt ctan ctanh div drem "
    "erf erfc exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan "
    "j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter "
    "nexttoward pow pow10 remainder remquo rint round roundeven scalb scalbln scalbn signbit significand sin "
    "sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn ";

/* The next word of a list; NULL: there is none. Every word has a blank behind it, the last one too, so the step over a
 * word ends at the end. */
static const char *next_word(const char *list, size_t *length) {
    *length = strcspn(list, " ");
    return *length ? list : NULL;
}

/* The words of C, and what its headers define. */
static bool is_word(const char *name, size_t n) {
    size_t length;
    for (const char *w = words; (w = next_word(w, &length)); w += length + 1)
        if (length == n && !memcmp(w, name, n)) return true;
    return false;
}

/* What is behind the name of a function for it to be that of another type: "", f, l, f64x, d128, _r, f_r. d stands for
 * decimal types, which always have a number; f and l may stand alone. */
static bool is_variant(const char *behind) {
    const char kind = *behind;
    if (kind == 'f' || kind == 'l' || kind == 'd') behind++;
    if (strcmp(behind, "_r") == 0 || !*behind) return kind != 'd';
    if (!is_digit(*behind) || (kind != 'f' && kind != 'd')) return false;
    while (is_digit(*behind)) behind++;
    return !*behind || strcmp(behind, "x") == 0;
}

/* Those of libm, each with its variants for other types. */
static bool is_function(const char *name, size_t n) {
    size_t length;
    for (const char *w = functions; (w = next_word(w, &length)); w += length + 1)
        if (length <= n && !memcmp(w, name, length) && is_variant(name + length)) return true;
    return false;
}

/* Whole families of names are told by how they begin or end. */
static bool begins(const char *name, const char *with) {
    return strncmp(name, with, strlen(with)) == 0;
}

static bool ends(const char *name, const char *with) {
    const size_t n = strlen(name), length = strlen(with);
    return n >= length && strcmp(name + n - length, with) == 0;
}

/* Integers of all widths and their limits, numbers and kinds of <math.h>, and what C keeps for compilers. An underscore
 * with a capital or another one behind it is the compiler's anywhere (C11 7.1.3). */
static bool is_reserved(const char *name) {
    static const char *const limited[] = {"INT", "UINT", "PTRDIFF", "SIG_ATOMIC", "SIZE", "WCHAR", "WINT"};
    bool taken = name[0] == '_' && (name[1] == '_' || is_capital(name[1]));
    taken = taken || ((begins(name, "int") || begins(name, "uint")) && ends(name, "_t"));
    taken = taken || begins(name, "FP_") || begins(name, "M_") || begins(name, "MATH_");
    const bool limit = ends(name, "_MAX") || ends(name, "_MIN") || ends(name, "_C");
    for (size_t i = 0; i < sizeof limited / sizeof *limited && limit; i++) taken = taken || begins(name, limited[i]);
    return taken;
}

/* What the files of other programs may contain: helpers and their guards, macros, and what is named after a program
 * with two _ behind its name. That is _WORKSPACE, __room, and __c, __f or __part with a number. */
static bool is_of_file(const char *name) {
    static const char *const behind[] = {"c", "f", "part"};
    const char *digits = name + strlen(name);
    while (digits > name && is_digit(digits[-1])) digits--;
    bool own = ends(name, "_WORKSPACE") || ends(name, "__room") || begins(name, "HAS_") || lam__emit_is_helper(name);
    for (size_t i = 0; i < sizeof behind / sizeof *behind && *digits; i++) {
        const size_t n = strlen(behind[i]) + 2;
        own = own || ((size_t)(digits - name) >= n && !memcmp(digits - n, "__", 2) &&
                      !memcmp(digits - n + 2, behind[i], n - 2));
    }
    return own;
}

static bool is_taken(const char *name) {
    const size_t n = strlen(name);
    return is_word(name, n) || is_function(name, n) || is_reserved(name) || is_of_file(name);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Letters of other alphabets are refused, since not all compilers take them. */
bool lam__emit_names_fit(const char *name) {
    bool fits = is_letter(*name);
    for (const char *c = name; *c; c++) fits = fits && (is_letter(*c) || is_digit(*c));
    return fits && strlen(name) < LAM__EMIT_NAME && !is_taken(name);
}

/* What stands for a character in a name. */
static char spelled(char c) {
    return is_letter(c) || is_digit(c) ? c : '_';
}

/* As much of `from` as there is room for. One place is left for a _ behind it in any case, so that it is cut at the
 * same letter whether that is there or not. */
static void spell(char name[LAM__EMIT_NAME], const char *front, const char *from, const char *behind) {
    size_t n = strlen(strcpy(name, front));
    if (n == 0 && (!*from || is_digit(*from))) name[n++] = '_';
    for (; *from && n < LAM__EMIT_NAME - 2; from++) name[n++] = spelled(*from);
    strcpy(name + n, behind);
}

/* A _ in front of another one or of a capital is the compiler's, so it goes. With a _ behind it no name is taken for
 * what it is or how it ends, and behind an f_ none for how it begins. */
void lam__emit_names_make(const char *from, char name[LAM__EMIT_NAME]) {
    while (from[0] && from[1] && spelled(from[0]) == '_' && (spelled(from[1]) == '_' || is_capital(from[1]))) from++;
    for (int k = 0; k < 4; k++) {
        spell(name, k < 2 ? "" : "f_", from, k % 2 ? "_" : "");
        if (!is_taken(name)) return;
    }
}
