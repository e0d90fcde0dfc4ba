/* Images and their target. See image.h. */
#include "image.h"

#include "../fuzz/image.h"
#include "wellformed.h"

#include <unistd.h>

static struct image *current;

/* Count a call. @return false if it is the one to abort at. */
static bool count_call(void)
{
    current->aborted |= ++current->calls == current->abort_at;
    return current->calls != current->abort_at;
}

static struct image_run *run_at(struct image *image, uint64_t address)
{
    for (uint32_t i = 0; i < image->run_count; i++) {
        if (address - image->runs[i].address < image->runs[i].size)
            return &image->runs[i];
    }
    return NULL;
}

static int32_t target_read(uint64_t address, uint64_t length, void *buffer)
{
    current->reads++;
    if (!count_call())
        return PA_ABORTED;
    for (uint64_t done = 0; done < length;) {
        const struct image_run *run = run_at(current, address + done);
        if (!run)
            return PA_UNREADABLE;
        uint64_t offset = address + done - run->address, part = run->size - offset;
        part = part < length - done ? part : length - done;
        memcpy((uint8_t *)buffer + done, run->bytes + offset, part);
        done += part;
    }
    current->read_bytes += length;
    return PA_OK;
}

static int64_t target_sections(const char *name, uint64_t *addresses, uint64_t capacity)
{
    uint64_t count = 0;
    if (!count_call())
        return -2;
    for (uint32_t i = 0; i < current->section_count; i++) {
        if (strcmp(current->sections[i].name, name) != 0)
            continue;
        if (count < capacity)
            addresses[count] = current->sections[i].value;
        count++;
    }
    return (int64_t)count;
}

static int32_t target_symbol(const char *name, uint64_t *address)
{
    if (!count_call())
        return PA_ABORTED;
    for (uint32_t i = 0; i < current->symbol_count; i++) {
        if (strcmp(current->symbols[i].name, name) == 0) {
            *address = current->symbols[i].value;
            return PA_OK;
        }
    }
    return PA_UNREADABLE;
}

static int32_t target_symbol_at(uint64_t address, const char *name)
{
    uint64_t found;
    int32_t status = target_symbol(name, &found);
    return status == PA_OK && found != address ? PA_UNREADABLE : status;
}

static int64_t target_member_offset(const char *type, const char *path)
{
    if (!count_call())
        return -2;
    for (uint32_t i = 0; i < current->member_count; i++) {
        if (strcmp(current->members[i].name, type) == 0 && strcmp(current->members[i].path, path) == 0)
            return (int64_t)current->members[i].value;
    }
    return -1;
}

static int64_t target_ranges(struct pa_range *ranges, uint64_t capacity)
{
    uint64_t count = 0, file_offset = 0;
    if (!count_call())
        return -2;
    if (current->lists_nothing)
        return -1;
    for (uint32_t i = 0; i < current->run_count; i++) {
        const struct image_run *run = &current->runs[i];
        uint32_t flags = run->flags | (current->target.core_path ? PA_RANGE_IN_CORE : 0);
        if (run->listed && count < capacity)
            ranges[count] = (struct pa_range){
                .start = run->address, .end = run->address + run->size, .file_offset = file_offset, .flags = flags};
        count += run->listed;
        file_offset += run->size;
    }
    return (int64_t)count;
}

static int64_t target_threads(struct pa_thread_info *threads, uint64_t capacity)
{
    if (!count_call())
        return -2;
    for (uint32_t i = 0; i < current->thread_count && i < capacity; i++)
        threads[i] = current->threads[i];
    return current->thread_count;
}

static int32_t target_source_line(const char *file, int32_t line, char *buffer, uint64_t capacity)
{
    (void)file;
    (void)line;
    if (!count_call())
        return PA_ABORTED;
    if (!current->source)
        return PA_UNREADABLE;
    snprintf(buffer, capacity, "%s", current->source);
    return PA_OK;
}

static int32_t target_write(uint32_t style, const char *bytes, uint64_t length)
{
    (void)style;
    current->writes++;
    if (!count_call())
        return PA_ABORTED;
    check_fast(first_bad_byte(bytes, length) == length); /* clean UTF-8 */
    if (current->output_length + length + 1 > current->output_capacity) {
        current->output_capacity = 2 * (current->output_length + length + 1);
        current->output = realloc(current->output, current->output_capacity);
        ck_assert_ptr_nonnull(current->output);
    }
    memcpy(current->output + current->output_length, bytes, length);
    current->output_length += length;
    current->output[current->output_length] = '\0';
    return PA_OK;
}

static int32_t target_poll(void)
{
    current->polls++;
    return count_call() ? PA_OK : PA_ABORTED;
}

static int64_t target_native_frames(uint32_t number, struct pa_native_frame *frames, uint64_t capacity, const char **stopped)
{
    (void)number;
    if (!count_call())
        return -2;
    if (current->native_count == 0)
        return -1;
    uint64_t stored = current->native_count < capacity ? current->native_count : capacity;
    memcpy(frames, current->natives, stored * sizeof(*frames));
    *stopped = current->native_stopped;
    return current->native_count;
}

static int32_t target_file_at(uint64_t address, char *path, uint64_t capacity)
{
    if (!count_call())
        return PA_ABORTED;
    for (uint32_t i = 0; i < current->file_count; i++) {
        if (address - current->files[i].value < 65536) {
            snprintf(path, capacity, "%s", current->files[i].name);
            return PA_OK;
        }
    }
    return PA_UNREADABLE;
}

static int32_t target_stop(uint32_t number, struct pa_stop *stop)
{
    (void)number;
    *stop = current->stop;
    return count_call() ? PA_OK : PA_ABORTED;
}

static int64_t target_object_files(struct pa_object_file *files, uint64_t capacity)
{
    if (!count_call())
        return -2;
    if (capacity > 0)
        memcpy(files, current->objects, current->object_count * sizeof(*files));
    return current->object_count;
}

static int64_t target_arguments(char *buffer, uint64_t capacity, uint32_t *cut)
{
    if (!count_call())
        return -2;
    if (!current->arguments)
        return -1;
    memcpy(buffer, current->arguments, current->arguments_size < capacity ? current->arguments_size : capacity);
    *cut = current->arguments_cut;
    return (int64_t)current->arguments_size;
}

struct image *image_new(void)
{
    struct image *image = calloc(1, sizeof(*image));
    ck_assert_ptr_nonnull(image);
    image->target = (struct pa_target){
        .abi_version = PA_ABI_VERSION,
        .flags = PA_TARGET_LIVE,
        .debugger = "18.1",
        .pid = 4711,
        .read = target_read,
        .sections = target_sections,
        .symbol = target_symbol,
        .member_offset = target_member_offset,
        .ranges = target_ranges,
        .threads = target_threads,
        .source_line = target_source_line,
        .write = target_write,
        .poll = target_poll,
        .symbol_at = target_symbol_at,
        .native_frames = target_native_frames,
        .file_at = target_file_at,
        .stop = target_stop,
        .object_files = target_object_files,
        .arguments = target_arguments,
    };
    image->output = calloc(1, 1);
    image->output_capacity = 1;
    current = image;
    return image;
}

void image_free(struct image *image)
{
    for (uint32_t i = 0; i < image->run_count; i++)
        free(image->runs[i].bytes);
    if (*image->path)
        unlink(image->path);
    free(image->output);
    free(image);
    current = NULL;
}

void image_map(struct image *image, uint64_t address, uint64_t size, uint32_t flags)
{
    ck_assert_uint_lt(image->run_count, COUNT(image->runs));
    struct image_run run = {.address = address, .size = size, .bytes = calloc(1, size), .flags = flags, .listed = true};
    ck_assert_ptr_nonnull(run.bytes);
    image->runs[image->run_count++] = run;
}

void image_unmap(struct image *image, uint64_t address)
{
    struct image_run *run = run_at(image, address);
    ck_assert(run && run->address == address);
    free(run->bytes);
    image->run_count--;
    memmove(run, run + 1, (size_t)(image->runs + image->run_count - run) * sizeof(*run));
}

uint8_t *image_at(struct image *image, uint64_t address, uint64_t size)
{
    struct image_run *run = run_at(image, address);
    if (!run || size > run->size - (address - run->address))
        ck_abort_msg("%llu bytes at 0x%llx are not in the image", (unsigned long long)size, (unsigned long long)address);
    return run->bytes + (address - run->address);
}

void image_put(struct image *image, uint64_t address, const void *bytes, uint64_t size)
{
    memcpy(image_at(image, address, size), bytes, size);
}

void image_put_u64(struct image *image, uint64_t address, uint64_t value)
{
    image_put(image, address, &value, sizeof(value));
}

void image_put_u32(struct image *image, uint64_t address, uint32_t value)
{
    image_put(image, address, &value, sizeof(value));
}

void image_put_u8(struct image *image, uint64_t address, uint8_t value)
{
    image_put(image, address, &value, sizeof(value));
}

uint64_t image_u64(struct image *image, uint64_t address)
{
    uint64_t value;
    memcpy(&value, image_at(image, address, sizeof(value)), sizeof(value));
    return value;
}

static void add_name(struct image_name *names, uint32_t *count, uint32_t capacity, struct image_name name)
{
    ck_assert_uint_lt(*count, capacity);
    names[(*count)++] = name;
}

void image_add_section(struct image *image, const char *name, uint64_t address)
{
    add_name(image->sections, &image->section_count, COUNT(image->sections), (struct image_name){name, NULL, address});
}

void image_add_symbol(struct image *image, const char *name, uint64_t address)
{
    add_name(image->symbols, &image->symbol_count, COUNT(image->symbols), (struct image_name){name, NULL, address});
}

void image_add_member(struct image *image, const char *type, const char *path, uint64_t offset)
{
    add_name(image->members, &image->member_count, COUNT(image->members), (struct image_name){type, path, offset});
}

void image_make_core(struct image *image)
{
    strcpy(image->path, "/tmp/pyasync-unit-XXXXXX");
    int file = mkstemp(image->path);
    ck_assert_int_ge(file, 0);
    for (uint32_t i = 0; i < image->run_count; i++)
        ck_assert_int_eq(write(file, image->runs[i].bytes, image->runs[i].size), (ssize_t)image->runs[i].size);
    close(file);
    image->target.flags = PA_TARGET_CORE;
    image->target.core_path = image->target.core_name = image->path;
}

void image_truncate_core(struct image *image, uint64_t size)
{
    ck_assert_int_eq(truncate(image->path, (off_t)size), 0);
}

static void save_names(FILE *file, const struct image_name *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct seed_name name = {.address = names[i].value};
        snprintf(name.name, sizeof(name.name), "%s", names[i].name);
        fwrite(&name, sizeof(name), 1, file);
    }
}

void image_save(struct image *image, const char *path)
{
    const struct seed_head head = {SEED_MAGIC, image->run_count, (uint64_t)image->section_count + image->symbol_count, 0, 0};
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fwrite(&head, sizeof(head), 1, file);
    for (uint32_t i = 0; i < image->run_count; i++) {
        struct seed_run run = {image->runs[i].address, image->runs[i].size, image->runs[i].flags};
        fwrite(&run, sizeof(run), 1, file);
    }
    save_names(file, image->sections, image->section_count);
    save_names(file, image->symbols, image->symbol_count);
    for (uint32_t i = 0; i < image->run_count; i++)
        fwrite(image->runs[i].bytes, image->runs[i].size, 1, file);
    ck_assert_int_eq(fclose(file), 0);
}

void image_reset(struct image *image)
{
    image->output_length = 0;
    image->output[0] = '\0';
    image->calls = image->reads = image->polls = image->read_bytes = image->writes = 0;
    image->aborted = false;
}
