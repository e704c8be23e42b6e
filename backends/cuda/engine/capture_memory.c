/* capture_memory.c - keeps one block of the GPU's memory and a flag, under a lock, that says whether a record's
 * cells are in it. */
#include "capture_memory.h"

void capture_memory_open(capture_memory *c)
{
    *c = (capture_memory){.is_taken = 0};
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->change, NULL);
}

void capture_memory_close(capture_memory *c, device_memory *memory)
{
    device_array_free(memory, &c->array);
    (void)pthread_cond_destroy(&c->change);
    (void)pthread_mutex_destroy(&c->lock);
}

int capture_memory_reserve(capture_memory *c, device_memory *memory, size_t size)
{
    gbees_error ignored;

    if (size <= c->array.size)
        return 1;
    return size - c->array.size <= device_memory_left(memory) / 4 &&
           device_array_grow(memory, &c->array, size, memory->total, &ignored) == 0;
}

int capture_memory_release(capture_memory *c, device_memory *memory)
{
    if (!c->array.size)
        return 0;
    (void)pthread_mutex_lock(&c->lock);
    while (c->is_taken)
        (void)pthread_cond_wait(&c->change, &c->lock);
    (void)pthread_mutex_unlock(&c->lock);
    device_array_free(memory, &c->array);
    return 1;
}

int capture_memory_is_taken(capture_memory *c)
{
    (void)pthread_mutex_lock(&c->lock);
    const int taken = c->is_taken;
    (void)pthread_mutex_unlock(&c->lock);
    return taken;
}

void capture_memory_set(capture_memory *c, int taken)
{
    (void)pthread_mutex_lock(&c->lock);
    c->is_taken = taken;
    (void)pthread_cond_broadcast(&c->change);
    (void)pthread_mutex_unlock(&c->lock);
}
