/* The properties that every primitive must have. Each takes a row of the case table and gives how many of its forms it
 * has looked at; none is a failure. With a sanitizer one row of so many is looked at: every other by those
 * that run what others have run before. */
#ifndef LAM_TESTS_PROPERTIES_H
#define LAM_TESTS_PROPERTIES_H

#include "tests/primitives/cases.h"

#define PROPERTIES(X)                                                                                                  \
    X(value, 1)                                                                                                        \
    X(layouts, 1)                                                                                                      \
    X(types, 1)                                                                                                        \
    X(forward, 1)                                                                                                      \
    X(reverse, 1)                                                                                                      \
    X(strided_reverse, 1)                                                                                              \
    X(second, 2)                                                                                                       \
    X(linear, 1)                                                                                                       \
    X(batch, 1)                                                                                                        \
    X(batch_twice, 2)                                                                                                  \
    X(batch_derivative, 2)                                                                                             \
    X(batch_without_loop, 1)                                                                                           \
    X(wrong, 1)                                                                                                        \
    X(memory, 1)                                                                                                       \
    X(complex_operands, 1)                                                                                             \
    X(half, 1)                                                                                                         \
    X(threads, 1)                                                                                                      \
    X(compiled, 2)                                                                                                     \
    X(text, 2)                                                                                                         \
    X(mutated, 1)                                                                                                      \
    X(sparsity, 2)

#define PROPERTY(name, every) int property_##name(const cases_row *row);
PROPERTIES(PROPERTY)
#undef PROPERTY

#endif
