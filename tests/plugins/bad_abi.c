/* bad_abi - a plugin made for another gbees: its card has another ABI number and is too small to be read further. */
struct card {
    unsigned abi, size;
};

extern const struct card gbees_model_card;
__attribute__((visibility("default"))) const struct card gbees_model_card = {1000, sizeof(struct card)};
