/* Reading target memory: the mapped core, the block cache, the scan, and the session's own memory. */
#include "image.h"
#include "limits.h"
#include "memory.h"

#include <unistd.h>

static struct image *image;
static struct pa_work work;
static struct pa_memory memory;

#define BASE 0x20000u /* a block begins here */

static void setup(void)
{
    image = image_new();
}

static void start(void)
{
    pa_work_init(&work, &image->target);
    ck_assert_int_eq(pa_memory_init(&memory, &work), PA_OK);
}

static void teardown(void)
{
    pa_memory_deinit(&memory);
    ck_assert_uint_eq(work.bytes, 0);
    image_free(image);
}

/* Bytes that tell their address. */
static void fill(uint64_t address, uint64_t size)
{
    image_map(image, address, size, PA_RANGE_WRITABLE);
    for (uint64_t i = 0; i < size; i++)
        image_put_u8(image, address + i, (uint8_t)((address + i) * 7 + ((address + i) >> 8)));
}

static bool reads(uint64_t address, size_t length)
{
    uint8_t *buffer = malloc(length);
    bool read = pa_memory_read(&memory, address, length, buffer);
    for (size_t i = 0; i < length && read; i++)
        check_fast(buffer[i] == (uint8_t)((address + i) * 7 + ((address + i) >> 8)));
    free(buffer);
    return read;
}

static bool aborts(void)
{
    bool aborted = work.fatal == PA_ABORTED;
    work.fatal = PA_OK;
    return aborted;
}

START_TEST(test_core_is_shown_in_place)
{
    uint8_t scratch[64];
    fill(BASE, 0x3000);
    image_make_core(image);
    start();
    const uint8_t *view = pa_memory_view(&memory, BASE + 100, 64, scratch);
    ck_assert_ptr_nonnull(view);
    ck_assert_ptr_ne(view, scratch);
    ck_assert(reads(BASE, 0x3000));
    ck_assert_uint_eq(image->reads, 0);
}
END_TEST

START_TEST(test_view_goes_across_adjoining_runs)
{
    uint8_t scratch[64];
    fill(BASE + 0x1000, 0x800);
    fill(BASE, 0x1000);
    fill(BASE + 0x1800, 0x800);
    image_make_core(image);
    start();
    ck_assert_ptr_eq(pa_memory_view(&memory, BASE + 0xfe0, 64, scratch), scratch);
    ck_assert(reads(BASE + 0xfe0, 64));
    ck_assert(reads(BASE, 0x2000));
    ck_assert_uint_eq(image->reads, 0);
    ck_assert(!reads(BASE + 0x1ff8, 16));
    ck_assert(!reads(BASE - 8, 16));
}
END_TEST

START_TEST(test_what_the_core_does_not_have_is_asked_of_the_debugger)
{
    fill(BASE, 0x1000);
    image_make_core(image);
    fill(BASE + 0x1000, 0x1000); /* read-only file data: not in the core */
    image->runs[1].listed = false;
    start();
    ck_assert(reads(BASE + 0xf00, 0x200));
    ck_assert(reads(BASE + 0x1800, 0x10));
    ck_assert_uint_gt(image->reads, 0);
}
END_TEST

START_TEST(test_truncated_core_is_clamped)
{
    uint64_t word;
    fill(BASE, 0x1000);
    fill(BASE + 0x10000, 0x1000);
    fill(BASE + 0x20000, 0x1000);
    image_make_core(image);
    image_truncate_core(image, 0x1800);
    start();
    image->abort_at = 1; /* the debugger would have the bytes: nobody is to ask it for those that are there */
    image->calls = 0;
    ck_assert(reads(BASE, 0x1000));
    ck_assert(reads(BASE + 0x10000, 0x800));
    ck_assert_uint_eq(image->calls, 0);
    image->abort_at = 0;
    image->runs[1].address = image->runs[2].address = UINT64_MAX; /* now it has not */
    ck_assert(!pa_memory_u64(&memory, BASE + 0x107fc, &word));
    ck_assert(!pa_memory_u64(&memory, BASE + 0x10800, &word));
    ck_assert(!pa_memory_u64(&memory, BASE + 0x20000, &word));
}
END_TEST

START_TEST(test_missing_page_in_a_block_leaves_the_others)
{
    fill(BASE, 0x2000);
    fill(BASE + 0x3000, 0x1000);
    start();
    ck_assert(reads(BASE + 0x10, 16));
    ck_assert(!reads(BASE + 0x2ff8, 16));
    ck_assert(!reads(BASE + 0x2800, 8));
    ck_assert(reads(BASE + 0x3ff8, 8));
    ck_assert(!reads(BASE + 0x3ff8, 16));
}
END_TEST

START_TEST(test_page_that_is_partly_there_is_read_exactly)
{
    fill(BASE + 0x123, 0x100);
    start();
    ck_assert(reads(BASE + 0x123, 0x100));
    ck_assert(reads(BASE + 0x200, 1));
    ck_assert(!reads(BASE + 0x122, 2));
    ck_assert(!reads(BASE + 0x222, 2));
}
END_TEST

START_TEST(test_block_is_asked_for_once)
{
    fill(BASE, PA_CACHE_BLOCK);
    start();
    for (uint32_t i = 0; i < 1000; i++)
        check_fast(reads(BASE + 8 * i, 8));
    ck_assert_uint_eq(image->reads, 1);
}
END_TEST

/* Read one word of each of @p blocks blocks. */
static void read_blocks(uint32_t blocks)
{
    uint64_t got;
    for (uint64_t offset = 0; offset < (uint64_t)blocks * PA_CACHE_BLOCK; offset += PA_CACHE_BLOCK) {
        check_fast(pa_memory_u64(&memory, BASE + offset, &got));
        check_fast(got == offset);
    }
}

static void map_blocks(uint32_t blocks)
{
    uint64_t size = (uint64_t)blocks * PA_CACHE_BLOCK;
    image_map(image, BASE, size, PA_RANGE_WRITABLE);
    for (uint64_t offset = 0; offset < size; offset += PA_CACHE_BLOCK)
        image_put_u64(image, BASE + offset, offset);
    start();
}

START_TEST(test_cache_is_bounded)
{
    map_blocks(2 * PA_CACHE_BLOCKS);
    for (uint32_t round = 0; round < 4; round++)
        read_blocks(2 * PA_CACHE_BLOCKS);
    ck_assert_uint_le(work.peak, PA_CACHE_BLOCKS * (PA_CACHE_BLOCK + 4096ull));
}
END_TEST

START_TEST(test_blocks_read_once_take_little_memory)
{
    map_blocks(4 * PA_CACHE_FEW_BLOCKS);
    read_blocks(4 * PA_CACHE_FEW_BLOCKS);
    ck_assert_uint_le(work.peak, PA_CACHE_FEW_BLOCKS * (PA_CACHE_BLOCK + 4096ull));
}
END_TEST

START_TEST(test_blocks_read_again_are_kept)
{
    map_blocks(4 * PA_CACHE_FEW_BLOCKS);
    for (uint32_t round = 0; round < 8; round++)
        read_blocks(4 * PA_CACHE_FEW_BLOCKS);
    image->reads = 0;
    read_blocks(4 * PA_CACHE_FEW_BLOCKS);
    ck_assert_uint_eq(image->reads, 0);
}
END_TEST

START_TEST(test_addresses_at_the_end_of_the_space)
{
    fill(UINT64_MAX - 0xfff, 0xfff);
    start();
    ck_assert(!reads(UINT64_MAX - 7, 64));
    ck_assert(!reads(UINT64_MAX, 1));
    ck_assert(!reads(0, 8));
}
END_TEST

START_TEST(test_interrupted_read_is_no_missing_memory)
{
    fill(BASE, 0x1000);
    start();
    image_reset(image);
    image->abort_at = 1;
    ck_assert(!reads(BASE, 8));
    ck_assert(aborts());
    ck_assert(reads(BASE, 8));
}
END_TEST

START_TEST(test_interrupted_page_read_is_no_missing_memory)
{
    fill(BASE + 8, 0x1000); /* the block is not whole, so its pages are tried; the page neither, so the bytes are */
    start();
    for (uint32_t call = 1; call <= 3; call++) {
        image_reset(image);
        image->abort_at = call;
        if (!reads(BASE + 8, 8))
            ck_assert(aborts());
    }
    image->abort_at = 0;
    ck_assert(reads(BASE + 8, 8));
}
END_TEST

START_TEST(test_debugger_that_cannot_list_memory_is_read_all_the_same)
{
    fill(BASE, 0x1000);
    image->lists_nothing = true;
    start();
    ck_assert(reads(BASE, 0x1000));
}
END_TEST

START_TEST(test_core_that_cannot_be_mapped_is_read_through_the_debugger)
{
    fill(BASE, 0x1000);
    image_make_core(image);
    image->target.core_path = "/no/such/core";
    start();
    ck_assert(reads(BASE, 0x1000));
    ck_assert_uint_gt(image->reads, 0);
}
END_TEST

/* A process of this machine: this one, whose own bytes the image does not have. */
START_TEST(test_process_is_read_without_the_debugger)
{
    uint64_t *words = aligned_alloc(PA_CACHE_BLOCK, PA_CACHE_BLOCK), word;
    image->target.process = getpid();
    start();
    for (uint32_t i = 0; i < PA_CACHE_BLOCK / 8; i++)
        words[i] = i;
    for (uint32_t i = 0; i < PA_CACHE_BLOCK / 8; i++) {
        check_fast(pa_memory_u64(&memory, (uintptr_t)&words[i], &word));
        check_fast(word == i);
    }
    ck_assert_uint_eq(image->reads, 0);
    free(words);
}
END_TEST

START_TEST(test_what_the_process_does_not_give_the_debugger_does)
{
    image->target.process = getpid();
    fill(BASE, 0x1000); /* below all that Linux maps */
    start();
    ck_assert(reads(BASE, 0x1000));
    ck_assert(!reads(BASE + 0x1000, 8));
    ck_assert(memory.direct);
}
END_TEST

START_TEST(test_process_that_is_gone_is_read_through_the_debugger)
{
    image->target.process = INT32_MAX; /* more than Linux gives out */
    fill(BASE, 0x1000);
    start();
    ck_assert(reads(BASE, 0x1000));
    ck_assert(!memory.direct);
}
END_TEST

/* Ranges as a debugger must not give them. */
static int64_t bad_ranges(struct pa_range *ranges, uint64_t capacity)
{
    static const struct pa_range bad[] = {
        {BASE, BASE + 0x1000, 0, PA_RANGE_IN_CORE, 0},
        {BASE + 0x800, BASE + 0x1800, 0, PA_RANGE_IN_CORE, 0},               /* overlaps */
        {BASE + 0x5000, BASE + 0x5000, 0, PA_RANGE_IN_CORE, 0},              /* empty */
        {BASE + 0x7000, BASE + 0x6000, 0, PA_RANGE_IN_CORE, 0},              /* negative */
        {BASE + 0x8000, BASE + 0x9000, 0x100000000u, PA_RANGE_IN_CORE, 0},   /* behind the file */
        {BASE + 0xa000, BASE + 0xc000, UINT64_MAX - 8, PA_RANGE_IN_CORE, 0}, /* likewise, and its end overflows */
        {BASE + 0xd000, UINT64_MAX, 0xff8, PA_RANGE_IN_CORE, 0},             /* longer than the file */
    };
    for (uint64_t i = 0; i < COUNT(bad) && i < capacity; i++)
        ranges[i] = bad[i];
    return COUNT(bad);
}

START_TEST(test_ranges_that_cannot_be_are_dropped_or_clamped)
{
    fill(BASE, 0x1000);
    image_make_core(image);
    image->target.ranges = bad_ranges;
    start();
    ck_assert(reads(BASE, 0x1000));
    ck_assert(!reads(BASE + 0x1400, 8));
    ck_assert(!reads(BASE + 0x6800, 8));
    ck_assert(!reads(BASE + 0x8000, 8));
    ck_assert(!reads(BASE + 0xa000, 8));
    uint64_t word;
    ck_assert(pa_memory_u64(&memory, BASE + 0xd000, &word));
    ck_assert(!pa_memory_u64(&memory, BASE + 0xd004, &word));
}
END_TEST

static int64_t many_ranges(struct pa_range *ranges, uint64_t capacity)
{
    (void)ranges;
    (void)capacity;
    return INT64_MAX;
}

START_TEST(test_absurd_number_of_ranges_is_refused)
{
    fill(BASE, 0x1000);
    image->target.ranges = many_ranges;
    start();
    ck_assert(reads(BASE, 0x1000));
}
END_TEST

static bool note_hit(void *context, uint64_t address)
{
    uint64_t *hits = context;
    hits[1 + hits[0]++] = address;
    return hits[0] < 8;
}

START_TEST(test_scan_finds_aligned_words_in_the_ranges_asked_for)
{
    uint64_t hits[16] = {0};
    image_map(image, BASE + 4, 0x2000, PA_RANGE_WRITABLE);
    image_map(image, BASE + 0x10000, 0x1000, 0);
    image_put_u64(image, BASE + 8, 42);
    image_put_u64(image, BASE + 0x1ff8, 42); /* crosses nothing: pages are 8-aligned */
    image_put_u64(image, BASE + 0x1004, 42); /* not aligned */
    image_put_u64(image, BASE + 0x10ff8, 42);
    if (_i == 1)
        image_make_core(image);
    start();
    ck_assert_uint_eq(pa_memory_scan(&memory, PA_RANGE_WRITABLE, 42, note_hit, hits), 0x2000);
    ck_assert_uint_eq(hits[0], 2);
    ck_assert_uint_eq(hits[1], BASE + 8);
    ck_assert_uint_eq(hits[2], BASE + 0x1ff8);
    ck_assert_uint_eq(pa_memory_scan(&memory, 0, 42, note_hit, hits), 0x3000);
    ck_assert_uint_eq(hits[0], 5);
}
END_TEST

START_TEST(test_scan_ends_when_told_or_interrupted)
{
    uint64_t hits[16] = {0};
    image_map(image, BASE, 0x100000, PA_RANGE_WRITABLE);
    start();
    pa_memory_scan(&memory, 0, 0, note_hit, hits);
    ck_assert_uint_eq(hits[0], 8);
    work.fatal = PA_ABORTED;
    ck_assert_uint_eq(pa_memory_scan(&memory, 0, 0, note_hit, hits), 0);
}
END_TEST

START_TEST(test_poll_is_called_at_most_every_few_milliseconds_and_can_abort)
{
    start();
    image_reset(image);
    for (uint32_t i = 0; i < 3000000; i++)
        check_fast(pa_work_step(&work));
    ck_assert_uint_ge(image->polls, 1);
    ck_assert_uint_lt(image->polls, 1000);
    image_reset(image);
    image->abort_at = 1;
    uint32_t steps = 0;
    while (pa_work_step(&work) && steps < 1000000000)
        steps++;
    ck_assert_int_eq(work.fatal, PA_ABORTED);
    ck_assert(!pa_work_step(&work));
    ck_assert_uint_eq(image->polls, 1);
}
END_TEST

struct item {
    uint64_t key;
    uint32_t value;
};

START_TEST(test_index_finds_what_was_added)
{
    PA_ARRAY(struct item) items = {0};
    struct pa_index index = {0};
    start();
    ck_assert_uint_eq(pa_index_find(&index, items.items, sizeof(struct item), 0), PA_NONE);
    for (uint32_t i = 0; i < 100000; i++) {
        struct item *item = pa_array_push(&work, &items, PA_NONE);
        *item = (struct item){(uint64_t)i << 12 | 0x7f0000000000u, i};
        check_fast(pa_index_add(&work, &index, items.items, sizeof(struct item), i));
    }
    for (uint32_t i = 0; i < 100000; i++)
        check_fast(pa_index_find(&index, items.items, sizeof(struct item), (uint64_t)i << 12 | 0x7f0000000000u) == i);
    ck_assert_uint_eq(pa_index_find(&index, items.items, sizeof(struct item), 8), PA_NONE);
    pa_array_free(&work, &items);
    pa_index_free(&work, &index);
}
END_TEST

START_TEST(test_limit_of_memory_is_kept_and_fatal)
{
    PA_ARRAY(struct item) items = {0};
    struct pa_arena arena = {0};
    start();
    work.limit = 100000;
    while (pa_array_push(&work, &items, PA_NONE))
        ;
    ck_assert_int_eq(work.fatal, PA_NO_MEMORY);
    ck_assert_uint_le(work.bytes, work.limit);
    ck_assert_uint_le(work.peak, work.limit);
    ck_assert_uint_gt(items.count, 1000);
    char *block = calloc(1, 200000);
    ck_assert_uint_eq(pa_arena_add(&work, &arena, block, 200000).length, 0);
    free(block);
    pa_array_free(&work, &items);
    pa_arena_free(&work, &arena);
}
END_TEST

START_TEST(test_array_ends_at_its_own_limit)
{
    PA_ARRAY(uint32_t) items = {0};
    start();
    uint32_t count = 0;
    while (pa_array_push(&work, &items, 1000))
        count++;
    ck_assert_uint_eq(count, 1000);
    ck_assert_int_eq(work.fatal, PA_OK);
    pa_array_free(&work, &items);
}
END_TEST

Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = add_case(suite, "memory");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_core_is_shown_in_place);
    tcase_add_test(tests, test_view_goes_across_adjoining_runs);
    tcase_add_test(tests, test_what_the_core_does_not_have_is_asked_of_the_debugger);
    tcase_add_test(tests, test_truncated_core_is_clamped);
    tcase_add_test(tests, test_missing_page_in_a_block_leaves_the_others);
    tcase_add_test(tests, test_page_that_is_partly_there_is_read_exactly);
    tcase_add_test(tests, test_block_is_asked_for_once);
    tcase_add_test(tests, test_cache_is_bounded);
    tcase_add_test(tests, test_blocks_read_once_take_little_memory);
    tcase_add_test(tests, test_blocks_read_again_are_kept);
    tcase_add_test(tests, test_addresses_at_the_end_of_the_space);
    tcase_add_test(tests, test_interrupted_read_is_no_missing_memory);
    tcase_add_test(tests, test_interrupted_page_read_is_no_missing_memory);
    tcase_add_test(tests, test_debugger_that_cannot_list_memory_is_read_all_the_same);
    tcase_add_test(tests, test_core_that_cannot_be_mapped_is_read_through_the_debugger);
    tcase_add_test(tests, test_process_is_read_without_the_debugger);
    tcase_add_test(tests, test_what_the_process_does_not_give_the_debugger_does);
    tcase_add_test(tests, test_process_that_is_gone_is_read_through_the_debugger);
    tcase_add_test(tests, test_ranges_that_cannot_be_are_dropped_or_clamped);
    tcase_add_test(tests, test_absurd_number_of_ranges_is_refused);
    tcase_add_loop_test(tests, test_scan_finds_aligned_words_in_the_ranges_asked_for, 0, 2);
    tcase_add_test(tests, test_scan_ends_when_told_or_interrupted);
    tcase_add_test(tests, test_poll_is_called_at_most_every_few_milliseconds_and_can_abort);
    tcase_add_test(tests, test_index_finds_what_was_added);
    tcase_add_test(tests, test_limit_of_memory_is_kept_and_fatal);
    tcase_add_test(tests, test_array_ends_at_its_own_limit);
    return suite;
}
