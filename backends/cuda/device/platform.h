/* platform.h - what the device code needs of the machine that it runs on: the place of a thread in a launch,
 * reductions of a warp, barriers, atomics, asynchronous copies.
 *
 * The unit of work is a warp: 32 lanes on a GPU.  Tests compile the same text for the host, where a build names
 * another header for this (GBEES_PLATFORM_HEADER): there a block is a thread, with one warp of one lane.  No result
 * depends on the number of lanes, warps or blocks: sums over warps are sums of integers.
 */
#ifndef GBEES_CUDA_PLATFORM_H
#define GBEES_CUDA_PLATFORM_H

#include "device/kernels.h"
#include "device/state.h"

/* 1: the kernels recompute values in place of keeping them in registers. */
#ifndef GBEES_LOW_REGISTERS
#define GBEES_LOW_REGISTERS 0
#endif

#ifdef GBEES_PLATFORM_HEADER

#include GBEES_PLATFORM_HEADER

#else

enum { WARP_SIZE = 32, BLOCK_WARPS = GBEES_WARPS, BLOCK_THREADS = WARP_SIZE * BLOCK_WARPS };

/* Begins the definition of a kernel. */
#define GBEES_KERNEL extern "C" __global__ void __launch_bounds__(BLOCK_THREADS, GBEES_BLOCKS)
/* A struct that a kernel is passed by value, and reads where it is; a variable in the block's shared memory. */
#define GBEES_BY_VALUE const __grid_constant__
#define BLOCK_LOCAL __shared__

/* ---- values that are opaque to the compiler, to save registers ---- */

/* A thread's number in its block.  With GBEES_LOW_REGISTERS it is read anew each time; otherwise the compiler keeps
 * it, and all that it computes from it, in registers from step to step. */
GBEES_NUM uint32_t block_thread(void)
{
#if GBEES_LOW_REGISTERS
    uint32_t number;

    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
    return number;
#else
    return threadIdx.x;
#endif
}

/* Returns 1, opaque to the compiler, which then does not move instructions from behind a test of it to before the
 * test. */
GBEES_NUM int opaque_true(void)
{
    uint32_t rows;

    asm volatile("mov.u32 %0, %%nctaid.y;" : "=r"(rows));
    return rows == 1;
}

/* Returns the address, opaque to the compiler, which then reads again what it has read there before. */
GBEES_NUM const void *opaque(const void *at)
{
    asm volatile("" : "+l"(at));
    return at;
}

/* Returns an address in global memory as opaque() does, so that global loads and stores are still used. */
GBEES_NUM const void *opaque_global(const void *at)
{
    at = opaque(at);
    __builtin_assume(__isGlobal(at));
    return at;
}

/* Returns the value, and has the compiler compute it here, not later. */
GBEES_NUM uint32_t opaque_value(uint32_t value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* Keeps the compiler from moving loads from behind this call to before it. */
GBEES_NUM void compiler_fence(void)
{
    asm volatile("" ::: "memory");
}

/* ---- the place of a thread, and barriers of a block ---- */

/* A thread's lane in its warp, and its warp's number in the block. */
GBEES_NUM int warp_lane(void)
{
    return (int)(block_thread() % WARP_SIZE);
}

GBEES_NUM uint32_t block_warp(void)
{
    return block_thread() / WARP_SIZE;
}

/* A block's number in the launch, and the number of blocks. */
GBEES_NUM uint32_t block_index(void)
{
    return blockIdx.x;
}

GBEES_NUM uint32_t block_count(void)
{
    return gridDim.x;
}

/* Barriers of all lanes of a warp, and of all threads of a block. What was written before is visible after them. */
GBEES_NUM void warp_sync(void)
{
    __syncwarp();
}

GBEES_NUM void block_sync(void)
{
    __syncthreads();
}

/* ---- lanes of a warp; all of them call these ---- */

/* Bit l: lane l's condition. */
GBEES_NUM uint32_t warp_ballot(int condition)
{
    return __ballot_sync(0xffffffffu, condition);
}

/* Whether the condition holds in all lanes; whether it holds in any lane. */
GBEES_NUM int warp_all(int condition)
{
    return __all_sync(0xffffffffu, condition);
}

GBEES_NUM int warp_any(int condition)
{
    return __any_sync(0xffffffffu, condition);
}

/* Lane l's value. */
GBEES_NUM uint32_t warp_shuffle(uint32_t value, uint32_t lane)
{
    return __shfl_sync(0xffffffffu, value, (int)lane);
}

GBEES_NUM float warp_shuffle_f(float value, uint32_t lane)
{
    return __shfl_sync(0xffffffffu, value, (int)lane);
}

GBEES_NUM double warp_shuffle_d(double value, uint32_t lane)
{
    return __shfl_sync(0xffffffffu, value, (int)lane);
}

/* Exchanges values between two lanes whose numbers differ in one bit: returns the other lane's value. */
GBEES_NUM float warp_exchange_f(float value, int bit)
{
    return __shfl_xor_sync(0xffffffffu, value, bit);
}

GBEES_NUM double warp_exchange_d(double value, int bit)
{
    return __shfl_xor_sync(0xffffffffu, value, bit);
}

/* The sum over all lanes. */
GBEES_NUM int64_t warp_add(int64_t value)
{
#if __CUDA_ARCH__ >= 800 /* one instruction adds words of 32 bits: 22, 22 and 20 bits of the value */
    const uint64_t bits = (uint64_t)value;
    const uint64_t low = __reduce_add_sync(0xffffffffu, (unsigned)(bits & 0x3fffff));
    const uint64_t middle = __reduce_add_sync(0xffffffffu, (unsigned)(bits >> 22 & 0x3fffff));
    const uint64_t high = __reduce_add_sync(0xffffffffu, (unsigned)(bits >> 44));

    return (int64_t)(low + (middle << 22) + (high << 44));
#else
    for (int distance = WARP_SIZE / 2; distance; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
#endif
}

/* The OR over all lanes. */
GBEES_NUM uint64_t warp_or(uint64_t bits)
{
#if __CUDA_ARCH__ >= 800
    const unsigned high = __reduce_or_sync(0xffffffffu, (unsigned)(bits >> 32));

    return (uint64_t)high << 32 | __reduce_or_sync(0xffffffffu, (unsigned)bits);
#else
    for (int distance = WARP_SIZE / 2; distance; distance /= 2)
        bits |= __shfl_xor_sync(0xffffffffu, bits, distance);
    return bits;
#endif
}

/* The sum over all lanes, always in the same order. */
GBEES_NUM double warp_add_double(double value)
{
    for (int distance = WARP_SIZE / 2; distance; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/* The maximum over all lanes. */
GBEES_NUM double warp_max(double value)
{
    for (int distance = WARP_SIZE / 2; distance; distance /= 2)
        value = fmax(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

GBEES_NUM uint64_t warp_max_64(uint64_t bits)
{
#if __CUDA_ARCH__ >= 800
    const unsigned high = __reduce_max_sync(0xffffffffu, (unsigned)(bits >> 32));
    const unsigned low = __reduce_max_sync(0xffffffffu, bits >> 32 == high ? (unsigned)bits : 0);

    return (uint64_t)high << 32 | low;
#else
    for (int distance = WARP_SIZE / 2; distance; distance /= 2) {
        const uint64_t other = __shfl_xor_sync(0xffffffffu, bits, distance);

        bits = other > bits ? other : bits;
    }
    return bits;
#endif
}

/* Bit l: lane l has the same value. */
GBEES_NUM uint32_t warp_match(uint32_t value)
{
    return __match_any_sync(0xffffffffu, value);
}

GBEES_NUM uint32_t warp_max_32(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, value);
#else
    return (uint32_t)warp_max_64(value);
#endif
}

/* ---- atomics ---- */

GBEES_NUM void atomic_add_64(int64_t *to, int64_t value)
{
    atomicAdd((unsigned long long *)to, (unsigned long long)value);
}

/* Adds; returns the old value. */
GBEES_NUM uint32_t atomic_fetch_add_32(uint32_t *to, uint32_t value)
{
    return atomicAdd(to, value);
}

/* Adds; returns the old value. */
GBEES_NUM uint64_t atomic_fetch_add_64(uint64_t *from, uint64_t value)
{
    return atomicAdd((unsigned long long *)from, (unsigned long long)value);
}

GBEES_NUM void atomic_or_64(uint64_t *to, uint64_t bits)
{
    atomicOr((unsigned long long *)to, (unsigned long long)bits);
}

/* Sets bits of a word in shared memory, whose atomics are of 32 bits. */
GBEES_NUM void block_or_64(uint64_t *to, uint64_t bits)
{
    uint32_t *halves = (uint32_t *)to;

    if ((uint32_t)bits)
        atomicOr(halves, (uint32_t)bits);
    if ((uint32_t)(bits >> 32))
        atomicOr(halves + 1, (uint32_t)(bits >> 32));
}

GBEES_NUM void atomic_max_64(uint64_t *to, uint64_t value)
{
    atomicMax((unsigned long long *)to, (unsigned long long)value);
}

GBEES_NUM void atomic_min_64(uint64_t *to, uint64_t value)
{
    atomicMin((unsigned long long *)to, (unsigned long long)value);
}

/* Compare-and-swap with acquire semantics; returns the old value. */
GBEES_NUM uint32_t atomic_cas_32(uint32_t *at, uint32_t expected, uint32_t desired)
{
    uint32_t was;

    asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(was)
                 : "l"(at), "r"(expected), "r"(desired)
                 : "memory");
    return was;
}

/* ---- loads and stores for data that other blocks use ---- */

/* Loads that bypass the multiprocessor's own cache, which does not see what other multiprocessors store. */
GBEES_NUM uint32_t load_32(const uint32_t *at)
{
    return *(const volatile uint32_t *)at;
}

GBEES_NUM int32_t load_key(const int32_t *at)
{
    return *(const volatile int32_t *)at;
}

GBEES_NUM uint64_t load_64(const uint64_t *at)
{
    return *(const volatile uint64_t *)at;
}

/* A store to a word in which several threads may store the same value. */
GBEES_NUM void store_32(uint32_t *at, uint32_t value)
{
    *at = value;
}

/* Store-release: a thread that reads the value by load_acquire_32() then sees all that this thread has stored before.
 * It takes less time than a fence, which waits for all memory accesses of the multiprocessor. */
GBEES_NUM void store_release_32(uint32_t *at, uint32_t value)
{
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

GBEES_NUM uint32_t load_acquire_32(const uint32_t *at)
{
    uint32_t value;

    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

/* ---- asynchronous copies from global to shared memory ---- */

/* Starts to copy `size` bytes, 4, 8 or 16, by one lane. */
GBEES_NUM void lane_copy_async(void *to, const void *from, int size)
{
#if __CUDA_ARCH__ >= 800
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(to);

    if (size == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    else if (size == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
#else
    for (int i = 0; i < size / 4; i++)
        ((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
#endif
}

/* Starts to copy `bytes` bytes by a warp: an equal part of 4, 8 or 16 bytes for each lane. */
GBEES_NUM void warp_copy_async(void *to, const void *from, int bytes)
{
    const int size = bytes / WARP_SIZE, at = warp_lane() * size;

    lane_copy_async((char *)to + at, (const char *)from + at, size);
}

/* Waits until all copies that the lanes of the warp have started are done. */
GBEES_NUM void copy_async_wait(void)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncwarp();
}

/* ---- barriers of a launch ---- */

/* Whether this is a block's first thread. */
GBEES_NUM int is_block_leader(void)
{
    return threadIdx.x == 0;
}

/* Called first by kernels that may be launched before the one ahead of them in the stream has ended (programmatic
 * dependent launch): waits for that end, and allows the next kernel to be launched. */
GBEES_NUM void wait_for_launch(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Waits until all threads of the blocks' cluster have called it; what any of them has written before is visible to
 * all after it. */
GBEES_NUM void cluster_barrier(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/* A barrier of all blocks of a launch, all of which must be resident.  The counter only grows during a launch; the
 * host sets it to 0 before. */
GBEES_NUM void counter_barrier(uint32_t *counter)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        uint32_t target = (atomicAdd(counter, 1u) / gridDim.x + 1) * gridDim.x;

        while ((int32_t)(*(volatile uint32_t *)counter - target) < 0)
            ;
        __threadfence();
    }
    __syncthreads();
}

/* ---- bits of words ---- */

GBEES_NUM int count_bits(uint64_t bits)
{
    return __popcll((long long)bits);
}

/* The number of the lowest bit that is set; bits != 0. */
GBEES_NUM int lowest_bit(uint32_t bits)
{
    return __ffs((int)bits) - 1;
}

GBEES_NUM uint64_t bits_of(double value)
{
    return (uint64_t)__double_as_longlong(value);
}

GBEES_NUM double double_of(uint64_t bits)
{
    return __longlong_as_double((long long)bits);
}

/* Rounds to nearest, ties to even. */
GBEES_NUM int64_t nearest(double value)
{
    return __double2ll_rn(value);
}

#endif

/* A warp's number in the launch, and the number of warps. */
GBEES_NUM uint32_t warp_index(void)
{
    return block_index() * BLOCK_WARPS + block_warp();
}

GBEES_NUM uint32_t warp_count(void)
{
    return block_count() * BLOCK_WARPS;
}

/* Whether this is the first thread of the launch: the one that writes the state. */
GBEES_NUM int is_grid_leader(void)
{
    return warp_index() == 0 && warp_lane() == 0;
}

#endif
