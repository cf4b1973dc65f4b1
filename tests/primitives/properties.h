/* The properties that every primitive must have. Each takes a row of the case table and gives how many of its forms it
 * has looked at; none is a failure. */
#ifndef LAM_TESTS_PROPERTIES_H
#define LAM_TESTS_PROPERTIES_H

#include "tests/primitives/cases.h"

#define PROPERTIES(X)                                                                                                  \
    X(value)                                                                                                           \
    X(layouts)                                                                                                         \
    X(types)                                                                                                           \
    X(forward)                                                                                                         \
    X(reverse)                                                                                                         \
    X(strided_reverse)                                                                                                 \
    X(second)                                                                                                          \
    X(linear)                                                                                                          \
    X(batch)                                                                                                           \
    X(batch_twice)                                                                                                     \
    X(batch_derivative)                                                                                                \
    X(batch_without_loop)                                                                                              \
    X(wrong) X(memory) X(complex_operands) X(half) X(threads) X(compiled) X(text) X(mutated) X(sparsity)

#define PROPERTY(name) int property_##name(const cases_row *row);
PROPERTIES(PROPERTY)
#undef PROPERTY

#endif
