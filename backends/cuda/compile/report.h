/* report.h - what ptxas says of each kernel. */
#ifndef GBEES_CUDA_REPORT_H
#define GBEES_CUDA_REPORT_H

/* Of the log of a compiler or linker: a line a kernel, by name,
 *
 *     NAME: 28 registers, 0 bytes of stack, 0 spilled, 0 reloaded, 0 shared
 *
 * To be freed by the caller; NULL if memory ran out. */
char *cuda_report(const char *log);

/* Bytes of registers that kernels keep in memory, of all the lines of a report. */
int cuda_report_spilled(const char *report);

#endif
