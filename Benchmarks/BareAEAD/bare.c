#include "BareAEAD.h"

static const uint8_t nonce[12];

int bare_seal(const cordon_aead *aead, uint8_t *memory, size_t count, int times) {
    uint8_t tag[16], context[32] = {0};
    int good = 1;
    for (int time = 0; time < times; time++) {
        good &= cordon_aead_seal(aead, memory, tag, nonce, memory, count, context, sizeof context);
    }
    return good;
}

int bare_open(const cordon_aead *aead, uint8_t *out, const uint8_t *in, const uint8_t *tag, size_t count, int times) {
    uint8_t context[32] = {0};
    int good = 1;
    for (int time = 0; time < times; time++) {
        good &= cordon_aead_open(aead, out, tag, nonce, in, count, context, sizeof context);
    }
    return good;
}
