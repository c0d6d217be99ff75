#ifndef CORDON_BARE_AEAD_H
#define CORDON_BARE_AEAD_H

#include "CordonAEADShim.h"

// Seals, or opens, the same memory many times with nothing around the cipher: the limit. 1 when all went well.
int bare_seal(const cordon_aead *aead, uint8_t *memory, size_t count, int times);
int bare_open(const cordon_aead *aead, uint8_t *out, const uint8_t *in, const uint8_t *tag, size_t count, int times);

#endif
