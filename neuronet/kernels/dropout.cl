// dropout.cl: sets random elements to zero and scales the others, so that the mean stays.
//
//   out[i] = random(i) < probability ? 0 : inputs[i] / (1 - probability)
//
// random(i) is a word of Philox 4x32-10 (common.cl) with key (key[0], step[0]): word i / 256 % 4 of the counter
// (i / 1024 * 256 + i % 256, 0, 0, 0), so that neighbouring work-items touch neighbouring elements.
// It depends on nothing else: a backward pass repeats the mask instead of storing it.
//
// Used by   ops/dropout.py       Checked against   reference/dropout.py
// NeuroNet  Dropout: there the host draws the mask, and the tail writes out of bounds (errata F25)

static float masked(float value, uint random, uint threshold, float scale)
{
    return random < threshold ? 0.0f : value * scale;
}

// grid: 256, n/1024
__kernel void Dropout(
    __global const float *inputs,   // [n]
    __global const int *key,        // [1]
    __global const int *step,       // [4]  see kernels/step.cl
    __global float *out,            // [n]
    const int n, const uint threshold, const float scale)
{
    const int lane = get_global_id(0), group = get_global_id(1), i = group * 1024 + lane;
    const uint4 random = philox(group * 256 + lane, 0, 0, 0, key[0], step[0]);
    if (i < n) out[i] = masked(inputs[i], random.x, threshold, scale);
    if (i + 256 < n) out[i + 256] = masked(inputs[i + 256], random.y, threshold, scale);
    if (i + 512 < n) out[i + 512] = masked(inputs[i + 512], random.z, threshold, scale);
    if (i + 768 < n) out[i + 768] = masked(inputs[i + 768], random.w, threshold, scale);
}
