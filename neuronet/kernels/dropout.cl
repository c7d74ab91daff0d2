// dropout.cl: sets random elements to zero and scales the others, so that the mean stays.
//
//   out[i] = random(i) < probability ? 0 : inputs[i] / (1 - probability)
//
// random(i) is word i % 4 of Philox 4x32-10 with counter (i/4, 0, 0, 0) and key (key[0], step[0]):
// it depends on nothing else, so a backward pass repeats the mask instead of storing it.
//
// Used by   ops/dropout.py       Checked against   reference/dropout.py
// NeuroNet  Dropout; there the host draws the mask, and the tail writes out of bounds (errata F25)

// Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
static uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        const uint high0 = mul_hi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
        const uint high1 = mul_hi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
        counter = (uint4)(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
        key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}

static float masked(float value, uint random, uint threshold, float scale)
{
    return random < threshold ? 0.0f : value * scale;
}

// grid: n/4
__kernel void Dropout(
    __global const float *inputs,   // [n]
    __global const int *key,        // [1]
    __global const int *step,       // [4]  see kernels/step.cl
    __global float *out,            // [n]
    const int n, const uint threshold, const float scale)
{
    const int block = get_global_id(0), i = block * 4;
    const uint4 random = philox((uint4)(block, 0, 0, 0), (uint2)(key[0], step[0]));
    out[i] = masked(inputs[i], random.x, threshold, scale);
    if (i + 1 < n) out[i + 1] = masked(inputs[i + 1], random.y, threshold, scale);
    if (i + 2 < n) out[i + 2] = masked(inputs[i + 2], random.z, threshold, scale);
    if (i + 3 < n) out[i + 3] = masked(inputs[i + 3], random.w, threshold, scale);
}
