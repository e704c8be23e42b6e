/* card.h - checks of the descriptor (card) that a module exports. */
#ifndef GBEES_MODULE_CARD_H
#define GBEES_MODULE_CARD_H

#include <gbees/backend.h>
#include <gbees/model.h>
#include <gbees/parallel.h>

/* `size` is the number of bytes that the module's file gives the card, 0 if that is not known.  Nothing but the ABI
 * number is read from a card of another ABI.  The error's text does not name the file. */
int gbees_card_check_model(const gbees_model *card, size_t size, gbees_error *error);
int gbees_card_check_backend(const gbees_backend *card, size_t size, gbees_error *error);
int gbees_card_check_parallel(const gbees_parallel_module *card, size_t size, gbees_error *error);

#endif
