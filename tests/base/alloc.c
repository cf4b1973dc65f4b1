/* The pool of a context: large blocks and lumps share what waits for reuse, every byte is counted, and whoever is
 * refused leaves nothing behind. Blocks wait for reuse here under a sanitizer too, which sees each elsewhere. */
#include "tests/support.h"

#include "lib/base/alloc.h"

enum { BYTES = 5000, CLASS = 5120 }; /* a block and what its class has */

static void start(lam__pool *pool, memory *m, size_t limit) {
    *m = (memory){0};
    const lam_ctx_options options = memory_options(m);
    lam__alloc_start(pool, &options.allocator, limit, false);
    pool->plain = false;
}

static void stop(lam__pool *pool, const memory *m) {
    ck_assert_uint_eq(pool->bytes, 0);
    lam__alloc_stop(pool);
    ck_assert_uint_eq(m->blocks, 0);
    ck_assert(!m->wrong_size);
}

START_TEST(lumps_and_large_blocks_take_each_others_memory_which_nobody_touched) {
    lam__pool pool;
    memory m;
    start(&pool, &m, 0);
    lam__lump *lump = lam__alloc_lump(&pool, BYTES);
    char *data = lump->data;
    ck_assert_uint_eq(pool.bytes, CLASS + LAM__ALLOC_STEP);
    memset(data, 7, BYTES);
    lam__alloc_lump_put(&pool, lump, BYTES);
    ck_assert_uint_eq(pool.bytes, 0);
    ck_assert_uint_eq(pool.cached, CLASS);
    const size_t requests = m.requests;
    for (int i = 0; i < 3; i++) {
        char *block = lam__alloc_get(&pool, CLASS);
        ck_assert_ptr_eq(block, data);
        ck_assert_uint_eq(pool.cached, 0);
        lam__alloc_put(&pool, block, CLASS);
        lump = lam__alloc_lump(&pool, BYTES);
        ck_assert_ptr_eq(lump->data, data);
        ck_assert_uint_eq(pool.bytes, CLASS + LAM__ALLOC_STEP);
        lam__alloc_lump_put(&pool, lump, BYTES);
    }
    for (int i = 0; i < BYTES; i++) ck_assert_int_eq(data[i], 7);
    ck_assert_uint_eq(m.requests, requests);
    stop(&pool, &m);
}
END_TEST

START_TEST(lumps_of_all_sizes_have_room_and_are_counted) {
    lam__pool pool;
    memory m;
    start(&pool, &m, 0);
    for (size_t bytes = LAM__ALLOC_SMALL + 1; bytes < 6 << 20; bytes += bytes / 7) {
        lam__lump *lump = lam__alloc_lump(&pool, bytes), *other = lam__alloc_lump(&pool, bytes);
        ck_assert_uint_ge(pool.bytes, 2 * bytes);
        ck_assert_uint_le(pool.bytes, 2 * (bytes + bytes / 4 + LAM__ALLOC_STEP));
        ck_assert_uint_eq((uintptr_t)lump->data % LAM__ALLOC_STEP, 0);
        memset(lump->data, 1, bytes);
        memset(other->data, 2, bytes);
        ck_assert_int_eq(((char *)lump->data)[bytes - 1], 1);
        lam__alloc_lump_put(&pool, lump, bytes);
        lam__alloc_lump_put(&pool, other, bytes);
    }
    lam__alloc_trim(&pool);
    ck_assert_uint_eq(pool.cached, 0);
    ck_assert_uint_le(m.bytes, 4 << 20); /* slabs of headers */
    stop(&pool, &m);
}
END_TEST

START_TEST(the_limit_counts_the_header_and_what_waits_does_not_count) {
    lam__pool pool;
    memory m;
    start(&pool, &m, CLASS + LAM__ALLOC_STEP);
    for (int i = 0; i < 3; i++) {
        lam__lump *lump = lam__alloc_lump(&pool, BYTES);
        ck_assert_ptr_nonnull(lump);
        ck_assert_ptr_null(lam__alloc_get(&pool, 1));
        lam__alloc_lump_put(&pool, lump, BYTES);
        void *small = lam__alloc_get(&pool, 1);
        ck_assert_ptr_null(lam__alloc_lump(&pool, BYTES + LAM__ALLOC_STEP));
        ck_assert_uint_eq(pool.bytes, LAM__ALLOC_STEP);
        lam__alloc_put(&pool, small, 1);
    }
    ck_assert_ptr_null(lam__alloc_lump(&pool, LAM__ALLOC_MOST + 1));
    stop(&pool, &m);
}
END_TEST

/* The data, then the slab of the header. */
START_TEST(a_lump_that_is_refused_leaves_nothing) {
    for (size_t refused = 1; refused <= 2; refused++) {
        lam__pool pool;
        memory m;
        start(&pool, &m, 0);
        m.refuse = refused;
        m.from_then_on = true;
        ck_assert_ptr_null(lam__alloc_lump(&pool, BYTES));
        ck_assert_uint_eq(pool.bytes, 0);
        ck_assert_uint_eq(m.blocks, 0);
        m.refuse = 0;
        lam__lump *lump = lam__alloc_lump(&pool, BYTES);
        ck_assert_ptr_nonnull(lump);
        lam__alloc_lump_put(&pool, lump, BYTES);
        stop(&pool, &m);
    }
}
END_TEST

/* What waits for reuse is not alive and not counted, so that it may be half of the limit and no more. */
START_TEST(what_waits_is_at_most_half_of_the_limit) {
    enum { BLOCKS = 8, LIMIT = 10 * CLASS };
    lam__pool pool;
    memory m;
    void *blocks[BLOCKS];
    start(&pool, &m, LIMIT);
    for (int i = 0; i < BLOCKS; i++) ck_assert_ptr_nonnull(blocks[i] = lam__alloc_get(&pool, CLASS));
    for (int i = 0; i < BLOCKS; i++) lam__alloc_put(&pool, blocks[i], CLASS);
    ck_assert_uint_eq(pool.cached, LIMIT / 2);
    ck_assert_uint_le(m.bytes, LIMIT / 2 + 64 * 1024); /* headers come from a slab */
    stop(&pool, &m);
}
END_TEST

START_TEST(what_waits_is_given_back_before_a_request_is_refused) {
    lam__pool pool;
    memory m;
    start(&pool, &m, 0);
    lam__alloc_put(&pool, lam__alloc_get(&pool, CLASS), CLASS);
    ck_assert_uint_eq(pool.cached, CLASS);
    m.refuse = m.requests + 1;
    void *other = lam__alloc_get(&pool, 2 * CLASS);
    ck_assert_ptr_nonnull(other);
    ck_assert_uint_eq(pool.cached, 0);
    lam__alloc_put(&pool, other, 2 * CLASS);
    stop(&pool, &m);
}
END_TEST

/* The second slab of a class is twice as large; where that is refused one as large as the first does. */
START_TEST(a_slab_that_is_refused_is_asked_for_smaller) {
    lam__pool pool;
    memory m;
    start(&pool, &m, 0);
    void *blocks[64];
    ck_assert_ptr_nonnull(blocks[0] = lam__alloc_get(&pool, LAM__ALLOC_SMALL));
    const size_t first = m.bytes;
    m.refuse = m.requests + 1;
    for (int i = 1; i < 64; i++) ck_assert_ptr_nonnull(blocks[i] = lam__alloc_get(&pool, LAM__ALLOC_SMALL));
    ck_assert_uint_eq(m.requests, m.refuse + 1);
    ck_assert_uint_eq(m.bytes, 2 * first);
    for (int i = 0; i < 64; i++) lam__alloc_put(&pool, blocks[i], LAM__ALLOC_SMALL);
    stop(&pool, &m);
}
END_TEST

Suite *suite_base_alloc(void) {
    return SUITE_OF("base/alloc", lumps_and_large_blocks_take_each_others_memory_which_nobody_touched,
                    lumps_of_all_sizes_have_room_and_are_counted,
                    the_limit_counts_the_header_and_what_waits_does_not_count, a_lump_that_is_refused_leaves_nothing,
                    what_waits_is_at_most_half_of_the_limit, what_waits_is_given_back_before_a_request_is_refused,
                    a_slab_that_is_refused_is_asked_for_smaller);
}
