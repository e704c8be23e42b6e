/* cluster.h - what blocks of one thread block cluster use to work together: distributed shared memory, the cluster
 * barrier, and messages that are counted by an mbarrier of the block that receives them.
 *
 * Included by platform.h for GPUs; the tests' platform of threads has functions of the same names.
 */
#ifndef GBEES_CUDA_CLUSTER_H
#define GBEES_CUDA_CLUSTER_H

/* ---- distributed shared memory --------------------------------------------------------------------------------- */

/* Registers the shared memory that other blocks will access. A GPU needs no registration; the platform of threads
 * stores the address. Afterwards all blocks have to wait at a barrier before the first access, and after the last one
 * before a block ends. */
GBEES_NUM void cluster_register_memory(void *own)
{
    (void)own;
}

/* The address, in shared memory of block `block`, of the variable that has the address `own` in this block's. */
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

/* ---- the cluster barrier --------------------------------------------------------------------------------------- */

/* Waits until all threads of the cluster have called it; what any of them has written before is visible to all after
 * it. */
GBEES_NUM void cluster_barrier(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/* The cluster barrier in three parts: cluster_fence(), cluster_arrive(), cluster_wait(). Between the last two a warp
 * can do work that needs no other block's data. The arrival does not make earlier writes visible: the fence does,
 * which a warp calls at a place where it has time to wait for them. */
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

/* ---- messages -------------------------------------------------------------------------------------------------- */

/* A message is a copy of a few words into another block's shared memory. An mbarrier there completes a round when all
 * messages of that round have arrived, so that the receiver waits for these and not for the cluster barrier.
 *
 * From CUDA 12.1 on the stores themselves count at the mbarrier (st.async), by bytes: the receiver announces once a
 * round how many bytes it expects. With an older compiler each message arrives at the mbarrier by an instruction of
 * its own, and the receiver's announcement is one more arrival. */
#define COUNTING_STORES (__CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201)

/* The 32-bit address of a variable in this block's shared memory. */
GBEES_NUM uint32_t shared_address(const void *own)
{
    return (uint32_t)__cvta_generic_to_shared(own);
}

/* Initialises an mbarrier in this block's shared memory for `messages` messages a round. By one thread of the block,
 * before a barrier of the cluster. */
GBEES_NUM void mbarrier_init(uint64_t *mbarrier, uint32_t messages)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(
                     shared_address(mbarrier)),
                 "r"(COUNTING_STORES ? 1 : 1 + messages)
                 : "memory");
#endif
}

/* Announces how many bytes arrive in this round, all messages together. By one thread of the block, once a round. */
GBEES_NUM void mbarrier_expect(uint64_t *mbarrier, uint32_t bytes)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(mbarrier)),
                 "r"(COUNTING_STORES ? bytes : 0)
                 : "memory");
#endif
}

#if __CUDA_ARCH__ >= 900

/* The 32-bit address of the same variable in another block's shared memory. */
GBEES_NUM uint32_t shared_address_in(const void *own, uint32_t block)
{
    uint32_t other;

    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(shared_address(own)), "r"(block));
    return other;
}

/* Stores 16 bytes, and counts them at the mbarrier where the compiler has such stores. */
GBEES_NUM void store_counted(uint32_t to, uint32_t mbarrier, uint4 word)
{
#if COUNTING_STORES
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%2, %3, %4, %5}, [%1];" ::"r"(to),
        "r"(mbarrier), "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
        : "memory");
#else
    asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(word.x), "r"(word.y), "r"(word.z),
                 "r"(word.w)
                 : "memory");
#endif
}

#endif

/* Sends `bytes` bytes, a multiple of 16, to block `block`. `to` and `mbarrier` are this block's addresses of the
 * variables that receive and count the message in the other one. By one thread. */
GBEES_NUM void send_message(void *to, uint64_t *mbarrier, uint32_t block, const void *message, int bytes)
{
#if __CUDA_ARCH__ >= 900
    const uint32_t there = shared_address_in(to, block), counted_at = shared_address_in(mbarrier, block);

#pragma unroll
    for (int i = 0; i < bytes / 16; i++)
        store_counted(there + 16 * (uint32_t)i, counted_at, ((const uint4 *)message)[i]);
    if (!COUNTING_STORES)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(counted_at) : "memory");
#endif
}

/* Waits until all messages of a round have arrived; an mbarrier's first round is 0. By all threads that will read
 * them. */
GBEES_NUM void mbarrier_wait(uint64_t *mbarrier, int round)
{
#if __CUDA_ARCH__ >= 900
    uint32_t done = 0;

    while (!done)
        asm volatile("{\n\t.reg .pred p;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"
                     "selp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(shared_address(mbarrier)), "r"((uint32_t)round & 1)
                     : "memory");
#endif
}

#endif
