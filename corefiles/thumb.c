/*
 * The native half of the shop: makes thumbnails, and has a bug.
 *
 * The rows of an interlaced photo arrive out of order, so photo_open() leaves them to a second pass. Nobody wrote that pass.
 */
#include <stdlib.h>

struct photo {
    int width;
    int height;
    const unsigned char **rows; /* NULL: not decoded yet */
};

static void photo_open(struct photo *photo, const unsigned char *file)
{
    photo->width = file[1];
    photo->height = file[2];
    photo->rows = NULL;
    if (file[0] == 'I')
        return;
    photo->rows = malloc(photo->height * sizeof(*photo->rows));
    for (int y = 0; y < photo->height; y++)
        photo->rows[y] = file + 3 + y * photo->width;
}

/** Scale the photo in @p file into @p thumb, @p width by @p height pixels. */
void thumb_resize(const unsigned char *file, unsigned char *thumb, int width, int height)
{
    struct photo photo;
    photo_open(&photo, file);
    for (int y = 0; y < height; y++) {
        const unsigned char *row = photo.rows[y * photo.height / height];
        for (int x = 0; x < width; x++)
            thumb[y * width + x] = row[x * photo.width / width];
    }
    free(photo.rows);
}
