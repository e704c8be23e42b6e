/* colormap.c - looks up and mixes colours. The tables are matplotlib's viridis and seaborn's mako, every eighth of
 * the way. */
#include "colormap.h"
#include <stddef.h>

static const unsigned viridis[] = {0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c,
                                   0x28ae80, 0x5ec962, 0xaddc30, 0xfde725};
static const unsigned mako[] = {0xffffff, 0xdef5e5, 0x8bdab2, 0x40b7ad, 0x348fa7,
                                0x37659e, 0x413d7b, 0x2e1e3b, 0x0b0405};

gbees_rgb gbees_rgb_grey(double level)
{
    return (gbees_rgb){level, level, level};
}

gbees_rgb gbees_rgb_mix(gbees_rgb a, gbees_rgb b, double u)
{
    return (gbees_rgb){a.r + u * (b.r - a.r), a.g + u * (b.g - a.g), a.b + u * (b.b - a.b)};
}

static gbees_rgb unpack(unsigned hex)
{
    return (gbees_rgb){(hex >> 16 & 255) / 255.0, (hex >> 8 & 255) / 255.0, (hex & 255) / 255.0};
}

static gbees_rgb look_up(const unsigned *table, size_t count, double u)
{
    const double last = (double)(count - 1);
    const double place = u <= 0 ? 0 : u >= 1 ? last : u * last;
    size_t k = (size_t)place;

    if (k > count - 2)
        k = count - 2;
    return gbees_rgb_mix(unpack(table[k]), unpack(table[k + 1]), place - (double)k);
}

gbees_rgb gbees_colormap_line(double u)
{
    return look_up(viridis, sizeof viridis / sizeof viridis[0], 0.84 * (u < 0 ? 0 : u > 1 ? 1 : u));
}

gbees_rgb gbees_colormap_density(double u)
{
    return look_up(mako, sizeof mako / sizeof mako[0], u);
}
