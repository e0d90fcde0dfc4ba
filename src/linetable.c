/* Line tables (co_linetable). A bounded cursor over bytes of the target; see pa_line_of() in code.h. */
#include "code.h"

struct cursor {
    const uint8_t *bytes;
    uint32_t length, next;
    bool damaged; /* a number ran past the end or is too long */
};

static uint8_t next_byte(struct cursor *cursor)
{
    if (cursor->next >= cursor->length) {
        cursor->damaged = true;
        return 0;
    }
    return cursor->bytes[cursor->next++];
}

/* 6 bits a byte, low bits first; bit 6 says that more follows. */
static uint32_t next_varint(struct cursor *cursor)
{
    uint32_t value = 0;
    for (uint32_t shift = 0; shift < 32; shift += 6) {
        uint8_t byte = next_byte(cursor);
        value |= (uint32_t)(byte & 63) << shift;
        if (!(byte & 64))
            return value;
    }
    cursor->damaged = true;
    return 0;
}

/* The lowest bit is the sign. */
static int64_t next_svarint(struct cursor *cursor)
{
    uint32_t value = next_varint(cursor);
    return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

int32_t pa_line_of(const uint8_t *table, uint32_t length, int32_t firstlineno, int64_t unit)
{
    struct cursor cursor = {.bytes = table, .length = length};
    int64_t line = firstlineno, end = 0;
    if (unit < 0)
        return firstlineno;
    while (cursor.next < length) {
        /* Bit 7 begins an entry; bits 3-6 are its form, bits 0-2 the code units it covers, less one. */
        uint8_t first = next_byte(&cursor);
        uint8_t form = first >> 3 & 15;
        bool has_line = form != 15;
        if (!(first & 128))
            return 0;
        end += (first & 7) + 1;
        if (form == 14) {
            line += next_svarint(&cursor);
            for (int i = 0; i < 3; i++)
                next_varint(&cursor);
        } else if (form == 13) {
            line += next_svarint(&cursor);
        } else if (form >= 10 && form <= 12) {
            line += form - 10;
            next_byte(&cursor);
            next_byte(&cursor);
        } else if (form < 10) {
            next_byte(&cursor);
        }
        if (cursor.damaged || line > INT32_MAX || line < INT32_MIN)
            return 0;
        if (unit < end)
            return has_line && line > 0 ? (int32_t)line : 0;
    }
    return 0;
}
