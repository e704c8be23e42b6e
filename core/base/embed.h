/* embed.h - embeds the text of a source file in an object file, for compilation at run time. */
#ifndef GBEES_BASE_EMBED_H
#define GBEES_BASE_EMBED_H

/* Defines `symbol`, the file's bytes followed by a NUL, and `symbol`_end, the address of that NUL; both are hidden
 * outside of the module. path: relative to the top source folder, which must be among the compiler's -I. */
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
