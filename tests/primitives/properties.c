/* The registry against the case table: each primitive has a row, each row has every property. One test per property and
 * row. */
#include "tests/primitives/probe.h"
#include "tests/primitives/properties.h"

#include <lamina/extend.h>

static const struct {
    const char *name;
    int (*holds)(const cases_row *row);
    int every;
} properties[] = {
#define PROPERTY(name, every) {#name, property_##name, every},
    PROPERTIES(PROPERTY)
#undef PROPERTY
};

enum { COUNT = sizeof properties / sizeof properties[0] };

START_TEST(each_row_has_each_property) {
    const int at = _i % cases_count(), k = _i / cases_count();
    const cases_row *row = cases_at(at);
    if (SANITIZED && (at + k) % properties[k].every) return;
    int looked = properties[k].holds(row);
    ck_assert_msg(looked > 0, "row %d (%s): the property '%s' looks at nothing", at, row->name, properties[k].name);
}
END_TEST

/* ---- completeness --------------------------------------------------------------------------------------------- */

static const lam_primitive *primitive_named(const char *name) {
    for (const lam_primitive *const *p = lam_primitives(); *p; p++)
        if (strcmp((*p)->name, name) == 0) return *p;
    return NULL;
}

START_TEST(each_primitive_has_a_row) {
    for (const lam_primitive *const *p = lam_primitives(); *p; p++) {
        int rows = 0;
        for (int i = 0; cases_at(i); i++) rows += strcmp(cases_at(i)->name, (*p)->name) == 0;
        ck_assert_msg(rows > 0, "primitive '%s' has no row in the case table", (*p)->name);
    }
    for (int i = 0; cases_at(i); i++)
        ck_assert_msg(primitive_named(cases_at(i)->name), "row '%s': there is no such primitive", cases_at(i)->name);
}
END_TEST

typedef struct extent {
    bool empty, scalar;
    int least_rank;
} extent;

static void look_at_forms(const cases_row *row, extent *e) {
    static probe_form form;
    for (const cases_form *f = row->forms; f && f->operands; f++) {
        probe_types(f->operands, LAM_F64, &form);
        e->scalar = e->scalar || form.in[0].rank == 0;
        e->least_rank = row->least_rank;
        for (int i = 0; i < form.inputs; i++) e->empty = e->empty || form.in[i].count == 0;
    }
}

/* Over all rows of a primitive: an operand without elements, and one of rank 0 where that has a meaning. */
START_TEST(each_primitive_is_tried_empty_and_as_scalar) {
    for (const lam_primitive *const *p = lam_primitives(); *p; p++) {
        extent e = {0};
        for (int i = 0; cases_at(i); i++)
            if (strcmp(cases_at(i)->name, (*p)->name) == 0) look_at_forms(cases_at(i), &e);
        ck_assert_msg(e.empty, "no row of '%s' has an operand without elements", (*p)->name);
        ck_assert_msg(e.scalar || e.least_rank > 0, "no row of '%s' has an operand of rank 0", (*p)->name);
    }
}
END_TEST

Suite *suite_primitives_properties(void) {
    Suite *suite =
        SUITE_OF("primitives/properties", each_primitive_has_a_row, each_primitive_is_tried_empty_and_as_scalar);
    for (int k = 0; k < COUNT; k++)
        suite_loop_from(suite, properties[k].name, each_row_has_each_property, k * cases_count(),
                        (k + 1) * cases_count());
    return suite;
}
