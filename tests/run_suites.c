/* main() of a room's test program. SUITES is set by the build: one SUITE(name) for each file of the room, which
 * defines suite_<name>. Check's own switches (CK_FORK, CK_RUN_SUITE, ...) work as usual; the last line is Check's
 * count, which .ci/run sums up. A switch that selects no test is a mistake, and fails. */
#include <check.h>
#include <stdlib.h>

#define SUITE(name) Suite *suite_##name(void);
SUITES
#undef SUITE

typedef Suite *make_suite(void);

static make_suite *const suites[] = {
#define SUITE(name) suite_##name,
    SUITES
#undef SUITE
};

int main(void) {
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_NORMAL);
    const int ran = srunner_ntests_run(runner), failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return ran > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
