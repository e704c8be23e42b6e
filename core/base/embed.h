/* embed.h - a file of the sources, embedded in a module. */
#ifndef GBEES_BASE_EMBED_H
#define GBEES_BASE_EMBED_H

/* Declares `symbol`, the text of a file with a 0 behind it, and `symbol`_end, where that 0 is. `path` is below the
 * folder of the sources, which the compiler's -I names. */
#define GBEES_EMBED(symbol, path)                                                                                    \
    extern const char symbol[], symbol##_end[];                                                                      \
    __asm__(".pushsection .rodata\n"                                                                                 \
            ".balign 16\n"                                                                                           \
            ".hidden " #symbol "\n"                                                                                  \
            ".hidden " #symbol "_end\n"                                                                              \
            ".globl " #symbol "\n"                                                                                   \
            ".globl " #symbol "_end\n" #symbol ":\n"                                                                 \
            ".incbin \"" path "\"\n" #symbol "_end:\n"                                                               \
            ".byte 0\n"                                                                                              \
            ".popsection\n");

#endif
