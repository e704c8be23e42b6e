/* report.h - registers, stack and spills of each kernel, from ptxas' log. */
#ifndef GBEES_CUDA_REPORT_H
#define GBEES_CUDA_REPORT_H

/* Makes a report of the log of NVRTC or nvJitLink (or NULL): a line a kernel, sorted by name,
 *
 *     NAME: 28 registers, 0 bytes of stack, 0 spilled, 0 reloaded, 0 shared
 *
 * Stack, spills and shared memory are in bytes.  The caller frees it.  NULL: out of memory. */
char *cuda_report(const char *log);

/* Returns the sum of the spilled bytes of all kernels of a report. */
int cuda_report_spilled(const char *report);

#endif
