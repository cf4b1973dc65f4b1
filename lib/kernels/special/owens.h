/* Owen's T function. Like the rest of this room, see special.h. */
#ifndef LAM_KERNELS_SPECIAL_OWENS_H
#define LAM_KERNELS_SPECIAL_OWENS_H

double lam__special_owens_t(double h, double a);

#endif
