/* short_card - a card of the right ABI that ends before its fields do, whatever it says of its size. */
#include <gbees/model.h>

struct card {
    unsigned abi, size;
    const char *name;
};

extern const struct card gbees_model_card;
__attribute__((visibility("default")))
const struct card gbees_model_card = {GBEES_MODEL_ABI, sizeof(gbees_model), "short_card"};
