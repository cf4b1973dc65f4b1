/* Rotations of space, under the conventions of scipy.spatial.transform.Rotation: quaternions (x, y, z, w), w last;
 * rotation vectors, the axis times the angle; matrices that multiply columns; Euler angles; all in radians. All take
 * stacks, of which these are the last axes, and leading axes broadcast; integers are taken as f64, complex numbers
 * refused. A quaternion stands for the rotation of its direction: only lam_quat_mul and lam_quat_conj use its length,
 * which must not be 0. At the identity, which has no axis, all derivatives exist. The opening comment of ops.h applies
 * here too. */
#ifndef LAMINA_ROTATION_H
#define LAMINA_ROTATION_H

#include <lamina/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The unit quaternion of a rotation vector.
 * Shape   [..., 3] to [..., 4].
 * Fails   LAM_ERR_SHAPE; LAM_ERR_DTYPE for complex operands. Owner: current scope. Derivative: exact everywhere. */
LAM_API lam_tensor *lam_quat_from_rotvec(lam_tensor *v);

/* The rotation vector of a quaternion, of at most half a turn.
 * Shape   [..., 4] to [..., 3].
 * Fails   as lam_quat_from_rotvec does. Owner: current scope. Derivative: exact; at half a turn, where the vector jumps
 *         to its opposite, that of one side. */
LAM_API lam_tensor *lam_rotvec_from_quat(lam_tensor *q);

/* The matrix of a quaternion.
 * Shape   [..., 4] to [..., 3, 3].
 * Fails   as lam_quat_from_rotvec does. Owner: current scope. Derivative: exact. */
LAM_API lam_tensor *lam_matrix_from_quat(lam_tensor *q);

/* The unit quaternion of a matrix that is a rotation, with its largest element positive.
 * Shape   [..., 3, 3] to [..., 4].
 * Fails   as lam_quat_from_rotvec does. Owner: current scope. Derivative: exact along rotations.
 * Source  Shepperd, Quaternion from rotation matrix, 1978. */
LAM_API lam_tensor *lam_quat_from_matrix(lam_tensor *m);

/* The unit quaternion of successive rotations about these axes: "xyz" about fixed axes, "XYZ" about axes that turn with
 * the body; one to three of them, neighbours different.
 * Shape   [..., number of axes] to [..., 4].
 * Fails   LAM_ERR_VALUE for other axes; as lam_quat_from_rotvec does. Owner: current scope. Derivative: exact. */
LAM_API lam_tensor *lam_quat_from_euler(const char *axes, lam_tensor *angles);

/* The angles about three such axes, the second of them within [-pi/2, pi/2], or in [0, pi] if the first axis is also
 * the third. Where the second is at an end, within 1e-7, the third is 0.
 * Shape   [..., 4] to [..., 3].
 * Fails   as lam_quat_from_euler does. Owner: current scope. Derivative: exact, except that of the second at an end.
 * Source  Bernardes and Viollet, Quaternion to Euler angles conversion, 2022. */
LAM_API lam_tensor *lam_euler_from_quat(const char *axes, lam_tensor *q);

/* Hamilton's product: the rotation q, then p.
 * Shape   both [..., 4].
 * Fails   as lam_quat_from_rotvec does. Owner: current scope. Derivative: bilinear. */
LAM_API lam_tensor *lam_quat_mul(lam_tensor *p, lam_tensor *q);

/* The conjugate: the inverse rotation.
 * Shape   [..., 4].
 * Fails   as lam_quat_from_rotvec does. Owner: current scope. Derivative: linear. */
LAM_API lam_tensor *lam_quat_conj(lam_tensor *q);

/* Vectors turned.
 * Shape   q [..., 4], v [..., 3] to [..., 3].
 * Fails   as lam_quat_from_rotvec does. Owner: current scope. Derivative: exact; linear in v. */
LAM_API lam_tensor *lam_quat_rotate(lam_tensor *q, lam_tensor *v);

/* The unit quaternion at fraction t of the shorter way from p to q, at constant speed; it continues beyond 0 and 1.
 * Shape   p and q [..., 4], t [...], to [..., 4].
 * Fails   as lam_quat_from_rotvec does. Owner: current scope. Derivative: exact, even where p and q are the same
 *         rotation.
 * Source  Shoemake, Animating rotation with quaternion curves, 1985. */
LAM_API lam_tensor *lam_slerp(lam_tensor *p, lam_tensor *q, lam_tensor *t);

#ifdef __cplusplus
}
#endif
#endif
