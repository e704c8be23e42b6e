/* cluster.h - what blocks of a cluster have for each other: their memories, the hardware's barrier, and letters; of
 * platform.h, which says for which machine.
 */
#ifndef GBEES_CUDA_CLUSTER_H
#define GBEES_CUDA_CLUSTER_H

/* Blocks of a cluster reach into each other's memory: what `own` is in another one.  A kernel tells first what it
 * shares, and all meet before others are there and before they go. */
GBEES_NUM void cluster_register_memory(void *own)
{
    (void)own;
}

GBEES_NUM void *cluster_memory_of(void *own, uint32_t block)
{
#if __CUDA_ARCH__ >= 900
    void *other;

    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(own), "r"(block));
    return other;
#else
    (void)block;
    return own;
#endif
}

/* All blocks of a launch meet: by the hardware's own barrier, where they are one cluster. */
GBEES_NUM void cluster_barrier(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/* ... in two parts, where not all that comes behind a meeting has to wait for it: a warp has come; all have, with
 * what they had made known before. */
GBEES_NUM void cluster_fence(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
#endif
}

GBEES_NUM void cluster_arrive(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}

GBEES_NUM void cluster_wait(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/* ---- letters --------------------------------------------------------------------------------------------------- */

/* Letters from block to block of a cluster: each counts in a box of the block that it goes to when it is there, so
 * that they are waited for without a meeting.  By one thread of a block: mbarrier_init() before a meeting, for so
 * many letters a round, and mbarrier_expect() once a round, which says how many bytes they are. (Stores that count by
 * themselves are of CUDA 12.1.) */
#define COUNTING_STORES (__CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201)

/* Where something is, of this block's memory; in another block's. */
GBEES_NUM uint32_t own_place(const void *own)
{
    return (uint32_t)__cvta_generic_to_shared(own);
}

GBEES_NUM void mbarrier_init(uint64_t *box, uint32_t letters)
{
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], %1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(own_place(box)),
        "r"(COUNTING_STORES ? 1 : 1 + letters)
        : "memory");
#endif
}

GBEES_NUM void mbarrier_expect(uint64_t *box, uint32_t bytes)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(own_place(box)),
                 "r"(COUNTING_STORES ? bytes : 0)
                 : "memory");
#endif
}

#if __CUDA_ARCH__ >= 900

GBEES_NUM uint32_t place_in(const void *own, uint32_t block)
{
    uint32_t other;

    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own_place(own)), "r"(block));
    return other;
}

/* Counts in a box, if such stores are known. */
GBEES_NUM void store_counted(uint32_t to, uint32_t box, uint4 word)
{
#if COUNTING_STORES
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%2, %3, %4, %5}, [%1];" ::"r"(to),
        "r"(box), "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
        : "memory");
#else
    asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(word.x), "r"(word.y), "r"(word.z),
                 "r"(word.w)
                 : "memory");
#endif
}

#endif

/* A multiple of 16 bytes, to the place in another block's memory that is `to` in this one's. */
GBEES_NUM void send_message(void *to, uint64_t *box, uint32_t block, const void *letter, int bytes)
{
#if __CUDA_ARCH__ >= 900
    const uint32_t there = place_in(to, block), its_box = place_in(box, block);

#pragma unroll
    for (int i = 0; i < bytes / 16; i++)
        store_counted(there + 16 * (uint32_t)i, its_box, ((const uint4 *)letter)[i]);
    if (!COUNTING_STORES)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(its_box) : "memory");
#endif
}

/* Until all of a round have come; the box's first round is 0. */
GBEES_NUM void mbarrier_wait(uint64_t *box, int round)
{
#if __CUDA_ARCH__ >= 900
    uint32_t done = 0;

    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(own_place(box)), "r"((uint32_t)round & 1)
                     : "memory");
#endif
}

#endif
