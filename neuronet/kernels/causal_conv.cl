// causal_conv.cl: convolution over time, four taps for each channel, that sees no later step.
//
//   z[t,c] = b[c] + sum_k w[k,c] x[t - 3 + k, c]         y = silu(z)
//
// x are ``channels`` columns of wider rows, from ``offset`` on; ``tail`` holds the 3 steps in front of the first.
//
// Used by   ops/causal_conv.py        Checked against   reference/causal_conv.py
// Source    Gu & Dao, arXiv:2312.00752, figure 3. NeuroNet's CNeuronMambaOCL convolves over the features of
//           one step (errata F20).
// Overwrites y, the parts and the channels' columns of drows; CausalConvKeep replaces tail.

#define TAPS 4
#define STRETCH 64      // steps of one part

// --- any device ----------------------------------------------------------------------------

// Channel c of step t; before the first step, of the tail. Both point to c of their first step.
static float input(__global const float *x, __global const float *tail, const int t, const int width,
                   const int channels)
{
    return t < 0 ? tail[(t + TAPS - 1) * channels] : x[t * width];
}

// grid: channels, length, batch
__kernel void CausalConv(
    __global const float *rows,     // [batch, length, width]
    __global const float *tail,     // [batch, 3, channels]
    __global const float *w,        // [4, channels]
    __global const float *b,        // [channels]
    __global float *y,              // [batch, length, channels]
    const int length, const int width, const int channels, const int offset)
{
    const int c = get_global_id(0), t = get_global_id(1), n = get_global_id(2);
    rows += n * length * width + offset + c;
    tail += n * (TAPS - 1) * channels + c;
    float z = b[c];
    for (int k = 0; k < TAPS; ++k)
        z += w[k * channels + c] * input(rows, tail, t - TAPS + 1 + k, width, channels);
    y[(n * length + t) * channels + c] = activate(z, ACT_SILU);
}

// From the last step to the first. d[k] is dL/dz of step t + k; those of a stretch's end lie in the next.
// grid: channels, stretches, batch
__kernel void CausalConvGradient(
    __global const float *rows,     // [batch, length, width]
    __global const float *tail,     // [batch, 3, channels]
    __global const float *w,        // [4, channels]
    __global const float *b,        // [channels]
    __global const float *dy,       // [batch, length, channels]
    __global float *drows,          // [batch, length, width]
    __global float *w_parts,        // [batch, stretches, 4, channels]
    __global float *b_parts,        // [batch, stretches, channels]
    const int length, const int width, const int channels, const int stretches, const int offset)
{
    const int c = get_global_id(0), part = get_global_id(2) * stretches + get_global_id(1);
    const int n = get_global_id(2), begin = STRETCH * get_global_id(1), end = min(begin + STRETCH, length);
    rows += n * length * width + offset + c;
    drows += n * length * width + offset + c;
    dy += n * length * channels + c;
    tail += n * (TAPS - 1) * channels + c;
    float tap[TAPS], d[TAPS], dw[TAPS], db = 0.0f;
    for (int k = 0; k < TAPS; ++k) {
        tap[k] = w[k * channels + c];
        d[k] = dw[k] = 0.0f;
    }
    const int from = min(end + TAPS - 1, length) - 1;
    float x[TAPS];                              // of tap k at step t: input t - 3 + k
    for (int k = 1; k < TAPS; ++k)
        x[k - 1] = input(rows, tail, from - TAPS + 1 + k, width, channels);
    for (int t = from; t >= begin; --t) {
        float z = b[c], dx = 0.0f;
        for (int k = TAPS - 1; k > 0; --k)
            x[k] = x[k - 1];
        x[0] = input(rows, tail, t - TAPS + 1, width, channels);
        for (int k = 0; k < TAPS; ++k)
            z += tap[k] * x[k];
        for (int k = TAPS - 1; k > 0; --k)
            d[k] = d[k - 1];
        d[0] = dy[t * channels] * activation_gradient(z, ACT_SILU);
        if (t >= end) continue;
        for (int k = 0; k < TAPS; ++k) {
            dw[k] += d[0] * x[k];
            dx += tap[TAPS - 1 - k] * d[k];
        }
        db += d[0];
        drows[t * width] = dx;
    }
    for (int k = 0; k < TAPS; ++k)
        w_parts[(part * TAPS + k) * channels + c] = dw[k];
    b_parts[part * channels + c] = db;
}

// tail = the 3 steps in front of the step behind the last
// grid: channels, batch
__kernel void CausalConvKeep(
    __global const float *rows,     // [batch, length, width]
    __global float *tail,           // [batch, 3, channels]
    const int length, const int width, const int channels, const int offset)
{
    const int c = get_global_id(0), n = get_global_id(1);
    rows += n * length * width + offset + c;
    tail += n * (TAPS - 1) * channels + c;
    for (int k = 0; k < TAPS - 1; ++k)      // never reads what it has written
        tail[k * channels] = input(rows, tail, length - TAPS + 1 + k, width, channels);
}

// --- CPU: 8 channels in the lanes, rows read in the order of memory ------------------------------------

static float8 input8(__global const float *x, __global const float *tail, const int t, const int width,
                     const int channels, const int count)
{
    return load8(t < 0 ? tail + (t + TAPS - 1) * channels : x + t * width, count);
}

// group: 1, 1
// grid: length/64, batch
__kernel void CausalConvCPU(
    __global const float *rows,     // [batch, length, width]
    __global const float *tail,     // [batch, 3, channels]
    __global const float *w,        // [4, channels]
    __global const float *b,        // [channels]
    __global float *y,              // [batch, length, channels]
    const int length, const int width, const int channels, const int offset)
{
    const int n = get_global_id(1), begin = STRETCH * get_global_id(0), end = min(begin + STRETCH, length);
    rows += n * length * width + offset;
    tail += n * (TAPS - 1) * channels;
    y += n * length * channels;
    for (int t = begin; t < end; ++t)
        for (int c = 0; c < channels; c += 8) {
            const int count = channels - c;
            float8 z = load8(b + c, count);
            #pragma unroll
            for (int k = 0; k < TAPS; ++k)
                z += load8(w + k * channels + c, count) *
                     input8(rows + c, tail + c, t - TAPS + 1 + k, width, channels, count);
            store8(z * sigmoid8(z), y + t * channels + c, count);
        }
}

#define VECTORS 8       // of 8 channels for each work-item

// group: 1, 1, 1
// grid: channels/64, stretches, batch
__kernel void CausalConvGradientCPU(
    __global const float *rows,     // [batch, length, width]
    __global const float *tail,     // [batch, 3, channels]
    __global const float *w,        // [4, channels]
    __global const float *b,        // [channels]
    __global const float *dy,       // [batch, length, channels]
    __global float *drows,          // [batch, length, width]
    __global float *w_parts,        // [batch, stretches, 4, channels]
    __global float *b_parts,        // [batch, stretches, channels]
    const int length, const int width, const int channels, const int stretches, const int offset)
{
    const int first = 8 * VECTORS * get_global_id(0), n = get_global_id(2);
    const int begin = STRETCH * get_global_id(1), end = min(begin + STRETCH, length);
    const int part = n * stretches + get_global_id(1), vectors = min(VECTORS, (channels - first + 7) / 8);
    rows += n * length * width + offset + first;
    drows += n * length * width + offset + first;
    dy += n * length * channels + first;
    tail += n * (TAPS - 1) * channels + first;
    float8 d[TAPS][VECTORS];                    // dL/dz of step t is d[t % TAPS]
    float8 tap[TAPS][VECTORS], dw[TAPS][VECTORS], bias[VECTORS], db[VECTORS];
    for (int v = 0; v < vectors; ++v) {
        const int c = first + 8 * v;
        bias[v] = load8(b + c, channels - c);
        db[v] = 0.0f;
        for (int k = 0; k < TAPS; ++k) {
            tap[k][v] = load8(w + k * channels + c, channels - c);
            d[k][v] = dw[k][v] = 0.0f;
        }
    }
    for (int t = min(end + TAPS - 1, length) - 1; t >= begin; --t)
        for (int v = 0; v < vectors; ++v) {
            const int c = 8 * v, count = channels - first - c;
            float8 x[TAPS], z = bias[v];
            #pragma unroll
            for (int k = 0; k < TAPS; ++k) {
                x[k] = input8(rows + c, tail + c, t - TAPS + 1 + k, width, channels, count);
                z += tap[k][v] * x[k];
            }
            const float8 e = sigmoid8(z), dz = e * (1.0f + z * (1.0f - e));
            const float8 d0 = load8(dy + t * channels + c, count) * dz;
            d[t % TAPS][v] = d0;
            if (t >= end) continue;
            float8 dx = 0.0f;
            #pragma unroll
            for (int k = 0; k < TAPS; ++k) {
                dx += tap[TAPS - 1 - k][v] * d[(t + k) % TAPS][v];
                dw[k][v] += d0 * x[k];
            }
            db[v] += d0;
            store8(dx, drows + t * width + c, count);
        }
    for (int v = 0; v < vectors; ++v) {
        const int c = first + 8 * v;
        for (int k = 0; k < TAPS; ++k)
            store8(dw[k][v], w_parts + (part * TAPS + k) * channels + c, channels - c);
        store8(db[v], b_parts + part * channels + c, channels - c);
    }
}
