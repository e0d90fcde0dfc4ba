/* Plain values: str, int and float. See object.h. */
#include "object.h"

#include <math.h>
#include <stdio.h>

/* Bytes of text that @p c takes; writes them. Code points that Unicode has not become U+FFFD. */
static uint32_t encode(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c > 0x10ffff)
        c = 0xfffd;
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Where and how the characters of a str are stored. Include/cpython/unicodeobject.h, struct _PyUnicodeObject_state. */
struct str_storage {
    uint64_t data;
    uint64_t length; /* characters */
    uint32_t width;  /* bytes a character: 1, 2 or 4 */
    bool ascii;
};

static bool read_str_storage(struct pa_objects *objects, uint64_t address, struct str_storage *storage)
{
    const struct pa_layout *layout = objects->layout;
    uint32_t state;
    if (!pa_memory_u32(objects->memory, address + PA_OFFSET(layout, unicode_state), &state) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, unicode_length), &storage->length))
        return false;
    /* Without the GIL the interned state is a byte of its own, for atomic access, and kind begins with the next byte. */
    uint32_t kind_bit = layout->free_threaded ? 8 : 2;
    storage->width = state >> kind_bit & 7;
    bool compact = state >> (kind_bit + 3) & 1;
    storage->ascii = state >> (kind_bit + 4) & 1;
    if ((storage->width != 1 && storage->width != 2 && storage->width != 4) || storage->length > INT64_MAX / 4)
        return false;
    if (compact) {
        storage->data =
            address + (storage->ascii ? PA_OFFSET(layout, unicode_ascii_data) : PA_OFFSET(layout, unicode_compact_data));
        return true;
    }
    /* Instances of str subclasses: a pointer to the characters stands where a compact str has them. */
    return pa_memory_u64(objects->memory, address + PA_OFFSET(layout, unicode_compact_data), &storage->data);
}

static bool is_str(struct pa_objects *objects, uint64_t address)
{
    return pa_kind_of(objects, address) == PA_KIND_STR;
}

/* "1,234" */
static uint32_t write_count(uint64_t count, char *out)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    uint32_t length = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out[length++] = ',';
        out[length++] = digits[i];
    }
    return length;
}

bool pa_str_read_some(struct pa_objects *objects, uint64_t address, uint32_t limit, char *text, uint32_t *length, uint64_t *left)
{
    uint8_t scratch[256];
    struct str_storage storage;
    if (!is_str(objects, address) || !read_str_storage(objects, address, &storage))
        return false;
    uint64_t characters = storage.length <= limit ? storage.length : limit;
    uint32_t out = 0;
    for (uint64_t done = 0; done < characters;) {
        uint64_t part = sizeof(scratch) / storage.width;
        if (part > characters - done)
            part = characters - done;
        const uint8_t *bytes = pa_memory_view(objects->memory, storage.data + done * storage.width, part * storage.width, scratch);
        if (!bytes)
            return false;
        for (uint32_t i = 0; i < part; i++) {
            uint32_t c = storage.width == 1   ? bytes[i]
                         : storage.width == 2 ? bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8
                                              : pa_get_u32(bytes, 4 * i);
            out += encode(c, text + out);
        }
        done += part;
    }
    *length = out;
    *left = storage.length - characters;
    return true;
}

bool pa_str_read(struct pa_objects *objects, uint64_t address, char *text, uint32_t *length)
{
    uint64_t left;
    if (!pa_str_read_some(objects, address, PA_MAX_STRING, text, length, &left))
        return false;
    if (left > 0) {
        char *out = text + *length;
        memcpy(out, "\xe2\x80\xa6 (", 5);
        uint32_t digits = write_count(left, out + 5);
        memcpy(out + 5 + digits, " more characters)", 17);
        *length += 5 + digits + 17;
    }
    return true;
}

bool pa_str_equals(struct pa_objects *objects, uint64_t address, const char *ascii)
{
    uint8_t scratch[256];
    struct str_storage storage;
    size_t length = strlen(ascii);
    if (!is_str(objects, address) || !read_str_storage(objects, address, &storage))
        return false;
    if (storage.length != length || storage.width != 1 || length > sizeof(scratch))
        return false;
    const uint8_t *bytes = pa_memory_view(objects->memory, storage.data, length, scratch);
    return bytes && memcmp(bytes, ascii, length) == 0;
}

bool pa_int_read(struct pa_objects *objects, uint64_t address, int64_t *value)
{
    const struct pa_layout *layout = objects->layout;
    enum pa_kind kind = pa_kind_of(objects, address);
    uint64_t tag;
    if ((kind != PA_KIND_INT && kind != PA_KIND_BOOL) ||
        !pa_memory_u64(objects->memory, address + PA_OFFSET(layout, long_tag), &tag))
        return false;
    /* Include/internal/pycore_long.h: sign in bits 0-1 (0 positive, 1 zero, 2 negative), number of 30-bit digits from bit 3. */
    uint64_t digits = tag >> 3;
    if (digits > 2)
        return false;
    uint64_t magnitude = 0;
    for (uint32_t i = 0; i < digits; i++) {
        uint32_t digit;
        if (!pa_memory_u32(objects->memory, address + PA_OFFSET(layout, long_digit) + 4 * i, &digit) || digit >= 1u << 30)
            return false;
        magnitude |= (uint64_t)digit << 30 * i;
    }
    switch (tag & 3) {
    case 0:
        *value = (int64_t)magnitude;
        return true;
    case 1:
        *value = 0;
        return true;
    case 2:
        *value = -(int64_t)magnitude;
        return true;
    default:
        return false;
    }
}

double pa_number_read(struct pa_objects *objects, uint64_t object)
{
    uint64_t bits;
    int64_t number;
    double value;
    if (pa_int_read(objects, object, &number))
        return (double)number;
    if (pa_kind_of(objects, object) != PA_KIND_FLOAT || !pa_object_word(objects, object, PA_F_float_value, &bits))
        return NAN;
    memcpy(&value, &bits, sizeof(value));
    return value;
}
