/* Lamina: composable function transforms for C. Reading order: what everything uses (base), contexts and failure,
 * tensors, the operations, random numbers, functions, the transforms, sparse derivatives, control flow, custom
 * Functions, minima, initial value problems, what C++ has beside them; extend.h, for authors of primitives, is included
 * on its own. */
#ifndef LAMINA_LAMINA_H
#define LAMINA_LAMINA_H

#include <lamina/base.h>
#include <lamina/context.h>
#include <lamina/tensor.h>
#include <lamina/ops.h>
#include <lamina/random.h>
#include <lamina/rotation.h>
#include <lamina/signal.h>
#include <lamina/stats.h>
#include <lamina/structured.h>
#include <lamina/fn.h>
#include <lamina/transforms.h>
#include <lamina/sparse.h>
#include <lamina/control.h>
#include <lamina/program.h>
#include <lamina/function.h>
#include <lamina/optimize.h>
#include <lamina/ode.h>
#include <lamina/options.h>

#endif
