/* card.h - checks of the descriptor (card) that a module exports. */
#ifndef GBEES_MODULE_CARD_H
#define GBEES_MODULE_CARD_H

#include <gbees/backend.h>
#include <gbees/model.h>
#include <gbees/parallel.h>

/* Each checks one kind of card: its ABI number first, and every member after it only if that is right. Returns
 * GBEES_OK; or GBEES_EMODEL for a model and GBEES_EBACKEND for the others, with a text that says how to mend the card
 * but does not name the file. size: bytes of the card according to the symbol table of its file; 0: unknown. */
int gbees_card_check_model(const gbees_model *card, size_t size, gbees_error *error);
int gbees_card_check_backend(const gbees_backend *card, size_t size, gbees_error *error);
int gbees_card_check_parallel(const gbees_parallel_module *card, size_t size, gbees_error *error);

#endif
