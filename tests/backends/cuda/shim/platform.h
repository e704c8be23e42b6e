/* platform.h - the host in place of a GPU, for the engine's text (backends/cuda/device/platform.h): a block is a
 * thread with one lane, barriers and atomics are real. */
#ifndef GBEES_SHIM_PLATFORM_H
#define GBEES_SHIM_PLATFORM_H

#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WARP_SIZE = 1, BLOCK_WARPS = 1 };

#define GBEES_KERNEL static void
#define GBEES_BY_VALUE const
#define BLOCK_LOCAL

/* The block that a thread is, and how many there are (shim/driver.c). */
extern _Thread_local uint32_t shim_block, shim_blocks;
extern _Thread_local int shim_waited; /* 1: the block has called wait_for_launch() */
extern uint32_t shim_cluster_barrier; /* a counter, as that of counter_barrier() */

GBEES_NUM int warp_lane(void)
{
    return 0;
}

GBEES_NUM uint32_t block_warp(void)
{
    return 0;
}

GBEES_NUM uint32_t block_index(void)
{
    return shim_block;
}

GBEES_NUM uint32_t block_count(void)
{
    return shim_blocks;
}

GBEES_NUM int is_block_leader(void)
{
    return 1;
}

GBEES_NUM int opaque_true(void)
{
    return 1;
}

GBEES_NUM const void *opaque(const void *at)
{
    return at;
}

GBEES_NUM const void *opaque_global(const void *at)
{
    return at;
}

GBEES_NUM uint32_t opaque_value(uint32_t value)
{
    return value;
}

GBEES_NUM void compiler_fence(void)
{
}

GBEES_NUM void block_sync(void)
{
}

GBEES_NUM void warp_sync(void)
{
}

GBEES_NUM uint32_t warp_ballot(int condition)
{
    return condition != 0;
}

GBEES_NUM int warp_all(int condition)
{
    return condition != 0;
}

GBEES_NUM int warp_any(int condition)
{
    return condition != 0;
}

GBEES_NUM uint32_t warp_shuffle(uint32_t value, uint32_t lane)
{
    (void)lane;
    return value;
}

GBEES_NUM float warp_shuffle_f(float value, uint32_t lane)
{
    (void)lane;
    return value;
}

GBEES_NUM double warp_shuffle_d(double value, uint32_t lane)
{
    (void)lane;
    return value;
}

GBEES_NUM float warp_exchange_f(float value, int bit)
{
    (void)bit;
    return value;
}

GBEES_NUM double warp_exchange_d(double value, int bit)
{
    (void)bit;
    return value;
}

GBEES_NUM int64_t warp_add(int64_t value)
{
    return value;
}

GBEES_NUM uint64_t warp_or(uint64_t bits)
{
    return bits;
}

GBEES_NUM double warp_add_double(double value)
{
    return value;
}

GBEES_NUM double warp_max(double value)
{
    return value;
}

GBEES_NUM uint64_t warp_max_64(uint64_t bits)
{
    return bits;
}

GBEES_NUM uint32_t warp_match(uint32_t value)
{
    (void)value;
    return 1;
}

GBEES_NUM uint32_t warp_max_32(uint32_t value)
{
    return value;
}

GBEES_NUM void atomic_add_64(int64_t *to, int64_t value)
{
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

GBEES_NUM uint32_t atomic_fetch_add_32(uint32_t *to, uint32_t value)
{
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

GBEES_NUM uint64_t atomic_fetch_add_64(uint64_t *from, uint64_t value)
{
    return __atomic_fetch_add(from, value, __ATOMIC_RELAXED);
}

GBEES_NUM void atomic_or_64(uint64_t *to, uint64_t bits)
{
    __atomic_fetch_or(to, bits, __ATOMIC_RELAXED);
}

GBEES_NUM void block_or_64(uint64_t *to, uint64_t bits)
{
    *to |= bits;
}

GBEES_NUM void atomic_max_64(uint64_t *to, uint64_t value)
{
    uint64_t now = __atomic_load_n(to, __ATOMIC_RELAXED);

    while (now < value && !__atomic_compare_exchange_n(to, &now, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

GBEES_NUM void atomic_min_64(uint64_t *to, uint64_t value)
{
    uint64_t now = __atomic_load_n(to, __ATOMIC_RELAXED);

    while (now > value && !__atomic_compare_exchange_n(to, &now, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

GBEES_NUM uint32_t atomic_cas_32(uint32_t *at, uint32_t expected, uint32_t desired)
{
    __atomic_compare_exchange_n(at, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
}

GBEES_NUM uint32_t load_32(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

GBEES_NUM int32_t load_key(const int32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

GBEES_NUM uint64_t load_64(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

GBEES_NUM void store_32(uint32_t *at, uint32_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

GBEES_NUM void store_release_32(uint32_t *at, uint32_t value)
{
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

GBEES_NUM uint32_t load_acquire_32(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

GBEES_NUM void lane_copy_async(void *to, const void *from, int size)
{
    memcpy(to, from, (size_t)size);
}

GBEES_NUM void warp_copy_async(void *to, const void *from, int bytes)
{
    memcpy(to, from, (size_t)bytes);
}

GBEES_NUM void copy_async_wait(void)
{
}

/* Blocks that wait sleep: there may be fewer processors than blocks, and other tests run beside this one. */
GBEES_NUM void counter_barrier(uint32_t *counter)
{
    const uint32_t before = __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL);
    const uint32_t target = (before / shim_blocks + 1) * shim_blocks;
    uint32_t now = before + 1;

    if (now == target)
        (void)syscall(SYS_futex, counter, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    for (; (int32_t)(now - target) < 0; now = __atomic_load_n(counter, __ATOMIC_ACQUIRE))
        (void)syscall(SYS_futex, counter, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
}

GBEES_NUM void wait_for_launch(void)
{
    shim_waited = 1;
}

GBEES_NUM void cluster_barrier(void)
{
    counter_barrier(&shim_cluster_barrier);
}

GBEES_NUM int count_bits(uint64_t bits)
{
    return __builtin_popcountll(bits);
}

GBEES_NUM int lowest_bit(uint32_t bits)
{
    return __builtin_ctz(bits);
}

GBEES_NUM uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

GBEES_NUM double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

GBEES_NUM int64_t nearest(double value)
{
    return llrint(value);
}

#endif
