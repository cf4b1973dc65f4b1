/* SANITIZED: 1 where a sanitizer watches, which makes tests ten times as slow and finds what it is there for with fewer
 * samples; else 0. */
#ifndef LAM_TESTS_SANITIZED_H
#define LAM_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
