/* write_all.h - writes to a file or a pipe that may take a part at a time. */
#ifndef GBEES_BASE_WRITE_ALL_H
#define GBEES_BASE_WRITE_ALL_H

#include <errno.h>
#include <unistd.h>

/* Writes all `size` bytes. Returns 0, or -1 and errno. */
static inline int gbees_write_all(int descriptor, const void *data, size_t size)
{
    for (const char *from = data; size > 0;) {
        const ssize_t done = write(descriptor, from, size);

        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0) {
            from += done;
            size -= (size_t)done;
        }
    }
    return 0;
}

#endif
