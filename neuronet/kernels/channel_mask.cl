// channel_mask.cl: which channels see each other, drawn from logits and trained straight through the draw.
//
//   u = (2 clamp(z) + noise) / tau     y = sigmoid(u)     mask = 1 where u >= 0, else 0; or y itself (soft)
//   dz = dmask (2 / tau) y (1 - y)
//
// noise = log U - log(1 - U) is the difference of two Gumbel variables, so that mask is 1 with probability
// sigmoid(2 z) for any tau; or 0. U comes from the random number of its element as in dropout.cl: 23 bits
// and a half, so that it is never 0 nor 1. The clamp to +-15 keeps y within reach of float32; dz passes it as
// if it were not there. The diagonal is 1 and has no gradient: a channel always sees itself.
//
// Used by   ops/channel_mask.py     Checked against   reference/channel_mask.py
// Source    Wu et al., CATCH, arXiv:2410.12261; Jang, Gu & Poole, arXiv:1611.01144 (Gumbel-softmax).
// NeuroNet  none published; errata C17, C18.

#define MOST_LOGIT 15.0f

static void choose(const float z, const uint random, const bool self, const float noisy, const int soft,
                   const float rate, __global float *y, __global float *mask)
{
    const float uniform = ((float)(random >> 9) + 0.5f) * 0x1.0p-23f;
    const float inside = z > MOST_LOGIT ? MOST_LOGIT : z < -MOST_LOGIT ? -MOST_LOGIT : z;  // NaN stays
    const float noise = noisy * (log(uniform) - log(1.0f - uniform)), u = rate * (2.0f * inside + noise);
    const float chance = sigmoid(u), hard = u >= 0.0f ? 1.0f : u < 0.0f ? 0.0f : u;
    *y = chance;
    *mask = self ? 1.0f : soft ? chance : hard;
}

// grid: 256, n/1024
__kernel void ChannelMask(
    __global const float *z,        // [n]
    __global const int *key,        // [1]
    __global const int *step,       // [4]  see kernels/step.cl
    __global float *y,              // [n]
    __global float *mask,           // [n]
    const int n, const int units, const float rate, const float noisy, const int soft)
{
    const int lane = get_global_id(0), group = get_global_id(1), i = group * 1024 + lane;
    const uint4 r = philox(group * 256 + lane, 0, 0, 0, key[0], step[0]);
    const int a = i + 256, b = i + 512, c = i + 768, cells = units * units, turn = units + 1;
    if (i < n) choose(z[i], r.x, i % cells % turn == 0, noisy, soft, rate, y + i, mask + i);
    if (a < n) choose(z[a], r.y, a % cells % turn == 0, noisy, soft, rate, y + a, mask + a);
    if (b < n) choose(z[b], r.z, b % cells % turn == 0, noisy, soft, rate, y + b, mask + b);
    if (c < n) choose(z[c], r.w, c % cells % turn == 0, noisy, soft, rate, y + c, mask + c);
}

// grid: n
__kernel void ChannelMaskGradient(
    __global const float *y,        // [n]
    __global const float *dmask,    // [n]
    __global float *dz,             // [n]
    const int units, const float rate)
{
    const int i = get_global_id(0);
    const float slope = 2.0f * rate * y[i] * (1.0f - y[i]);
    dz[i] = i % (units * units) % (units + 1) == 0 ? 0.0f : dmask[i] * slope;
}
