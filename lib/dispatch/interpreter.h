/* The contract between the machine and an interpreter: what gives a level its meaning. The core asks no interpreter
 * who it is; NULL in a slot is the documented default. transforms/README.md shows how to add one. */
#ifndef LAM_DISPATCH_INTERPRETER_H
#define LAM_DISPATCH_INTERPRETER_H

#include "lib/tensor/value.h"

typedef struct lam__level lam__level;
struct lam__draw;
struct lam__slice_params;

/* Does a call in its own way. One reference per output. */
typedef lam_status lam__run(const lam_call_site *call, void *env, lam_value *out[]);

typedef struct lam__interpreter {
    const char *name;
    bool hides_axis;  /* what lies in a box has an axis more than the box shows */
    bool transparent; /* a box says nothing of what lies in it: who looks at that loses nothing. Set where `read` is */

    /* Does one primitive whose highest operand is a box of `level`. The level's parent is current. Gives one
     * reference per output; on failure records it and leaves out[] NULL. */
    lam_status (*process)(lam__level *level, const lam_call_site *call, lam_value *out[]);

    /* Levels that record what functions do: does a call whose highest operand is a box of `level` by `run`, and knows
     * what was recorded meanwhile for its doing. NULL: such calls come to process. */
    lam_status (*follow)(lam__level *level, const lam_call_site *call, lam__run *run, void *env, lam_value *out[]);

    /* Adds g, with its sign, to `sum`, a box of this level that only the caller holds, so that the box shows the sum.
     * g has its dtype and dims; it is another box of the level, or belongs to a lower one or none. The level's parent
     * is current. False, with nothing done, where the box cannot take it in; otherwise *status tells. NULL: sums are
     * made by process. */
    bool (*accumulate)(lam__level *level, lam_value *sum, lam_value *g, int sign, lam_status *status);

    /* The same for x times y, whose dims are those of `sum`. NULL: the product is made and added. */
    bool (*accumulate_product)(lam__level *level, lam_value *sum, lam_value *x, lam_value *y, int sign,
                               lam_status *status);

    /* The same for g that has the dims of a part of `sum` and goes there (part.h). NULL: it is put among zeros and
     * added. */
    bool (*accumulate_part)(lam__level *level, lam_value *sum, const struct lam__slice_params *part, lam_value *g,
                            int sign, lam_status *status);

    /* x, a box of this level that only the caller holds, becomes x times y: y has its dtype and dims, and is another
     * box of the level, or belongs to a lower one or none. Otherwise as accumulate. NULL: products are made by
     * process. */
    bool (*multiply)(lam__level *level, lam_value *x, lam_value *y, lam_status *status);

    /* Has a say in draws from the context's generator (draw.h), which come to the innermost such level of the chain:
     * gives one reference to the value that its level sees. The level's parent is current; what lam__draw_make makes
     * comes from there. NULL: none, they pass. */
    lam_value *(*draw)(lam__level *level, const struct lam__draw *d);

    /* A staged primitive has passed below this level, since none of its operands belongs to it, and it has drawn;
     * before that the generator stood at `before`. Puts other results into out[] and says so, or leaves them. The
     * level's parent is current. Set where `draw` is. */
    lam_status (*drawn)(lam__level *level, const lam_call_site *call, lam_random_state before, lam_value *out[],
                        bool *other);

    /* The value below whose elements a box shows, borrowed; NULL (also as slot): they cannot be read, for the
     * reason that `unreadable` gives. */
    lam_value *(*read)(const lam_value *box);
    lam_status unreadable_status;
    const char *unreadable, *unreadable_remedy;

    /* Whether a box shows zeros whatever its elements will be, which cannot be read yet. NULL: that is not known. */
    bool (*zero)(const lam_value *box);

    /* Releases payload.extra of a box. NULL: there is nothing in it. */
    void (*drop)(lam_value *box);

    /* Called when the level is popped, before its remaining boxes are ended. NULL: nothing to do. */
    void (*finish)(lam__level *level);

    /* Appends what the level's name does not say, for example "(size 5)". NULL: nothing. */
    void (*describe)(const lam__level *level, lam__text *text);

    /* Prints what a box holds beside its type, for example "axis 0". NULL: nothing. */
    void (*print)(FILE *file, const lam_value *box);
} lam__interpreter;

/* One entry of the level stack; lives in the C frame of the transform that pushed it. */
struct lam__level {
    lam_ctx *ctx;
    const lam__interpreter *interpreter;
    uint64_t serial;      /* its name in messages: 1, 2, ...; never reused */
    uint64_t birth;       /* from the context's clock, as that of handles */
    int depth;            /* 0: evaluation */
    int hidden;           /* axes that boxes of this level and those below hide at most */
    lam__level *parent;   /* the level that was current when this one was pushed, and is again when it is popped */
    lam__level *shadowed; /* the display entry that this level replaced */
    lam_value *boxes;     /* those alive */
    void *state;          /* the interpreter's */
};

extern const lam__interpreter lam__interpreter_eval;

#endif
