/* Lamina: composable function transforms for C. This header includes all others except extend.h, in reading order:
 *   base.h          dtypes, statuses, plain structs
 *   lists.h         LAM_LIST, LAM_DIMS, LAM_AXES, LAM_TREE (by base.h)
 *   context.h       contexts, failures, scopes, threads
 *   tensor.h        making, reading and keeping tensors
 *   ops.h           creation, elementwise operations, layout; conventions, derivatives at singular points; includes
 *     arrange.h       choosing, deleting, inserting, repeating, padding; sets
 *     bits.h          bits, digits, divisors
 *     complex.h       complex numbers and their derivatives
 *     convolution.h   convolutions, windows, pooling
 *     fft.h           Fourier transforms
 *     indexing.h      gather, scatter, NumPy's indexing, histograms, sorting
 *     linalg.h        contractions, matrix factorisations, eigenvalues, norms
 *     neural.h        activations, losses, normalisation, attention, interpolation
 *     numeric.h       remainders, comparisons, differences, bins, grids
 *     polynomial.h    polynomials
 *     reductions.h    reductions, quantiles, softmax, scans
 *     special.h       special functions
 *     literals.h      C numbers as operands
 *   random.h        keys, samplers, the generator of the context
 *   rotation.h      quaternions and other forms of rotations
 *   signal.h        cosine transforms, spectra, interpolation on grids, images
 *   stats.h         distributions and statistics
 *   structured.h    structured matrices, more factorisations
 *   fn.h            functions
 *   transforms.h    grad, vjp, jvp, vmap, jacobian, hessian, checkpoint, ...
 *   sparse.h        sparse Jacobians and Hessians
 *   control.h       cond, while, scan; named axes
 *   program.h       trace, emit_c, jit
 *   function.h      custom Functions, hooks, custom rules, linear solves, roots
 *   optimize.h      minima
 *   ode.h           initial value problems
 *   options.h       C++: options by reference
 * extend.h, for authors of primitives, is included on its own. */
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
