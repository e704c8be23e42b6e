/* gif.c - hands the pixels of each figure, with a palette (palette.c), to giflib. */
#include "gif.h"
#include "palette.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef GBEES_GIF

#include <gif_lib.h>

struct gbees_gif {
    GifFileType *file;
    FILE *stream;
    char *path;
    int width, height;
    int reason; /* errno of the first write that failed */
};

int gbees_gif_is_there(gbees_error *error)
{
    (void)error;
    return GBEES_OK;
}

static int write_part(GifFileType *file, const GifByteType *data, int length)
{
    gbees_gif *gif = file->UserData;
    const size_t written = fwrite(data, 1, (size_t)length, gif->stream);

    if (written != (size_t)length && !gif->reason)
        gif->reason = errno;
    return (int)written;
}

static int fail(const gbees_gif *gif, int code, gbees_error *error)
{
    const char *why = gif->reason ? strerror(gif->reason) : GifErrorString(code);

    return gbees_error_set(error, GBEES_EIO, "can't write %s: %s", gif->path, why ? why : "giflib failed");
}

/* Frees what gbees_gif_create() has made. */
static void release(gbees_gif *gif)
{
    if (gif->stream)
        (void)fclose(gif->stream);
    free(gif->path);
    free(gif);
}

static int open_file(gbees_gif *gif, gbees_error *error)
{
    int code = 0;

    gif->stream = fopen(gif->path, "wb");
    if (!gif->stream)
        return gbees_error_set(error, GBEES_EIO, "can't write %s: %s", gif->path, strerror(errno));
    gif->file = EGifOpen(gif, write_part, &code);
    if (!gif->file)
        return fail(gif, code, error);
    EGifSetGifVersion(gif->file, 1);
    if (EGifPutScreenDesc(gif->file, gif->width, gif->height, 8, 0, NULL) == GIF_ERROR ||
        EGifPutExtensionLeader(gif->file, APPLICATION_EXT_FUNC_CODE) == GIF_ERROR ||
        EGifPutExtensionBlock(gif->file, 11, "NETSCAPE2.0") == GIF_ERROR ||
        EGifPutExtensionBlock(gif->file, 3, "\x01\x00\x00") == GIF_ERROR || /* for ever */
        EGifPutExtensionTrailer(gif->file) == GIF_ERROR)
        return fail(gif, gif->file->Error, error);
    return GBEES_OK;
}

int gbees_gif_create(const char *path, const gbees_figure *first, gbees_gif **gif, gbees_error *error)
{
    gbees_gif *made = calloc(1, sizeof *made);

    if (made)
        made->path = strdup(path);
    if (!made || !made->path) {
        free(made);
        return gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an animation");
    }
    made->width = cairo_image_surface_get_width(first->surface);
    made->height = cairo_image_surface_get_height(first->surface);
    const int status = open_file(made, error);
    if (status && made->file)
        return gbees_gif_close(made, status, error);
    if (status)
        release(made);
    else
        *gif = made;
    return status;
}

/* The pixels of a figure, row by row; NULL: no memory. */
static uint32_t *take_pixels(const gbees_gif *gif, const gbees_figure *figure)
{
    const unsigned char *row = cairo_image_surface_get_data(figure->surface);
    const size_t width = (size_t)gif->width;
    uint32_t *pixel = malloc(width * (size_t)gif->height * sizeof *pixel);

    for (int y = 0; pixel && y < gif->height; y++, row += cairo_image_surface_get_stride(figure->surface))
        memcpy(pixel + (size_t)y * width, row, width * sizeof *pixel);
    return pixel;
}

static int put_image(const gbees_gif *gif, const gbees_palette *palette, const uint32_t *pixel)
{
    GifColorType color[GBEES_PALETTE_COLORS] = {{0}};
    GifByteType line[1 << 14];

    for (int k = 0; k < palette->count; k++)
        color[k] = (GifColorType){palette->color[k][0], palette->color[k][1], palette->color[k][2]};
    ColorMapObject *map = GifMakeMapObject(GBEES_PALETTE_COLORS, color);
    int code = map ? EGifPutImageDesc(gif->file, 0, 0, gif->width, gif->height, 0, map) : GIF_ERROR;
    GifFreeMapObject(map);
    for (int y = 0; y < gif->height && code == GIF_OK; y++, pixel += gif->width) {
        for (int x = 0; x < gif->width; x++)
            line[x] = gbees_palette_color(palette, pixel[x]);
        code = EGifPutLine(gif->file, line, gif->width);
    }
    return code;
}

int gbees_gif_add(gbees_gif *gif, const gbees_figure *figure, int hundredths, gbees_error *error)
{
    const GraphicsControlBlock control = {
        .DisposalMode = DISPOSE_DO_NOT, .DelayTime = hundredths, .TransparentColor = NO_TRANSPARENT_COLOR};
    gbees_palette *palette = calloc(1, sizeof *palette);
    GifByteType block[4];
    int status = GBEES_OK;

    cairo_surface_flush(figure->surface);
    uint32_t *pixel = take_pixels(gif, figure);
    if (!palette || !pixel || !gbees_palette_make(palette, (size_t)gif->width * (size_t)gif->height, pixel))
        status = gbees_error_set(error, GBEES_ENOMEM, "not enough memory for an animation");
    const int length = (int)EGifGCBToExtension(&control, block);
    if (!status && (EGifPutExtension(gif->file, GRAPHICS_EXT_FUNC_CODE, length, block) == GIF_ERROR ||
                    put_image(gif, palette, pixel) == GIF_ERROR))
        status = fail(gif, gif->file->Error, error);
    free(palette);
    free(pixel);
    return status;
}

int gbees_gif_close(gbees_gif *gif, int status, gbees_error *error)
{
    int code = 0;

    if (EGifCloseFile(gif->file, &code) == GIF_ERROR && !status)
        status = fail(gif, code, error);
    if (fclose(gif->stream) && !status) {
        gif->reason = errno;
        status = fail(gif, code, error);
    }
    gif->stream = NULL;
    if (status)
        (void)remove(gif->path);
    release(gif);
    return status;
}

#else

int gbees_gif_is_there(gbees_error *error)
{
    return gbees_error_set(
        error, GBEES_EUSAGE,
        "this gbees-plot makes no animations: it was built without giflib (Debian: apt-get install "
        "libgif-dev, then configure and build again)");
}

int gbees_gif_create(const char *path, const gbees_figure *first, gbees_gif **gif, gbees_error *error)
{
    (void)path, (void)first, (void)gif;
    return gbees_gif_is_there(error);
}

int gbees_gif_add(gbees_gif *gif, const gbees_figure *figure, int hundredths, gbees_error *error)
{
    (void)gif, (void)figure, (void)hundredths;
    return gbees_gif_is_there(error);
}

int gbees_gif_close(gbees_gif *gif, int status, gbees_error *error)
{
    (void)gif, (void)error;
    return status;
}

#endif
