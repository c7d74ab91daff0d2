// depthwise_conv.cl: convolution over time, each channel with taps of its own.
//
//   y[t,c] = b[c] + sum_k w[k,c] x[t - before + k, c]
//
// In front of the first unit lies the end of ``tail``, behind the last lie zeros. before = taps - 1 sees no
// later unit, before = (taps - 1) / 2 stands in the middle.
//
// Used by   ops/depthwise_conv.py     Checked against   reference/depthwise_conv.py
// Source    local patch interaction, El-Nouby et al., arXiv:2106.09681. NeuroNet's CNeuronXCiTOCL slides over
//           the features of neighbouring units instead (errata G26).
// Overwrites y, dx and the parts; DepthwiseConvKeep replaces tail.

#define STRETCH 64      // units of one part

// --- any device ----------------------------------------------------------------------------

// Channel c of unit t. Both point to c of their first unit.
static float input(__global const float *x, __global const float *tail, const int t, const int length,
                   const int taps, const int channels)
{
    if (t >= length) return 0.0f;
    return t < 0 ? tail[(t + taps) * channels] : x[t * channels];
}

// grid: channels, length, batch
__kernel void DepthwiseConv(
    __global const float *x,        // [batch, length, channels]
    __global const float *tail,     // [batch, taps, channels]
    __global const float *w,        // [taps, channels]
    __global const float *b,        // [channels]
    __global float *y,              // [batch, length, channels]
    const int length, const int channels, const int taps, const int before)
{
    const int c = get_global_id(0), t = get_global_id(1), n = get_global_id(2);
    x += n * length * channels + c;
    tail += n * taps * channels + c;
    float sum = b[c];
    for (int k = 0; k < taps; ++k)
        sum += w[k * channels + c] * input(x, tail, t - before + k, length, taps, channels);
    y[(n * length + t) * channels + c] = sum;
}

// grid: channels, length, batch
__kernel void DepthwiseConvInput(
    __global const float *dy,       // [batch, length, channels]
    __global const float *w,        // [taps, channels]
    __global float *dx,             // [batch, length, channels]
    const int length, const int channels, const int taps, const int before)
{
    const int c = get_global_id(0), s = get_global_id(1), n = get_global_id(2);
    float sum = 0.0f;
    for (int k = 0; k < taps; ++k) {
        const int t = s + before - k;
        if (t >= 0 && t < length) sum += w[k * channels + c] * dy[(n * length + t) * channels + c];
    }
    dx[(n * length + s) * channels + c] = sum;
}

// grid: channels, taps*stretches, batch
__kernel void DepthwiseConvWeights(
    __global const float *x,        // [batch, length, channels]
    __global const float *tail,     // [batch, taps, channels]
    __global const float *dy,       // [batch, length, channels]
    __global float *w_parts,        // [batch, stretches, taps, channels]
    __global float *b_parts,        // [batch, stretches, channels]
    const int length, const int channels, const int taps, const int stretches, const int before)
{
    const int c = get_global_id(0), k = get_global_id(1) % taps, part = get_global_id(1) / taps;
    const int n = get_global_id(2), begin = STRETCH * part, end = min(begin + STRETCH, length);
    x += n * length * channels + c;
    dy += n * length * channels + c;
    tail += n * taps * channels + c;
    float dw = 0.0f, db = 0.0f;
    for (int t = begin; t < end; ++t) {
        dw += dy[t * channels] * input(x, tail, t - before + k, length, taps, channels);
        db += dy[t * channels];
    }
    w_parts[((n * stretches + part) * taps + k) * channels + c] = dw;
    if (k == 0) b_parts[(n * stretches + part) * channels + c] = db;
}

// tail = the ``taps`` units in front of the unit behind the last
// grid: channels, batch
__kernel void DepthwiseConvKeep(
    __global const float *x,        // [batch, length, channels]
    __global float *tail,           // [batch, taps, channels]
    const int length, const int channels, const int taps)
{
    const int c = get_global_id(0), n = get_global_id(1);
    x += n * length * channels + c;
    tail += n * taps * channels + c;
    for (int k = 0; k < taps; ++k)      // never reads what it has written
        tail[k * channels] = input(x, tail, length - taps + k, length, taps, channels);
}

// --- CPU: 8 channels in the lanes, rows read in the order of memory ------------------------------------

static float8 input8(__global const float *x, __global const float *tail, const int t, const int length,
                     const int taps, const int channels, const int count)
{
    if (t >= length) return 0.0f;
    return load8(t < 0 ? tail + (t + taps) * channels : x + t * channels, count);
}

// group: 1, 1
// grid: length/64, batch
__kernel void DepthwiseConvCPU(
    __global const float *x,        // [batch, length, channels]
    __global const float *tail,     // [batch, taps, channels]
    __global const float *w,        // [taps, channels]
    __global const float *b,        // [channels]
    __global float *y,              // [batch, length, channels]
    const int length, const int channels, const int taps, const int before)
{
    const int n = get_global_id(1), begin = STRETCH * get_global_id(0), end = min(begin + STRETCH, length);
    x += n * length * channels;
    y += n * length * channels;
    tail += n * taps * channels;
    for (int t = begin; t < end; ++t)
        for (int c = 0; c < channels; c += 8) {
            const int count = channels - c;
            float8 sum = load8(b + c, count);
            for (int k = 0; k < taps; ++k)
                sum += load8(w + k * channels + c, count) *
                       input8(x + c, tail + c, t - before + k, length, taps, channels, count);
            store8(sum, y + t * channels + c, count);
        }
}

// group: 1, 1
// grid: length/64, batch
__kernel void DepthwiseConvInputCPU(
    __global const float *dy,       // [batch, length, channels]
    __global const float *w,        // [taps, channels]
    __global float *dx,             // [batch, length, channels]
    const int length, const int channels, const int taps, const int before)
{
    const int n = get_global_id(1), begin = STRETCH * get_global_id(0), end = min(begin + STRETCH, length);
    dy += n * length * channels;
    dx += n * length * channels;
    for (int s = begin; s < end; ++s)
        for (int c = 0; c < channels; c += 8) {
            float8 sum = 0.0f;
            for (int k = max(0, s + before - length + 1); k <= min(taps - 1, s + before); ++k)
                sum += load8(w + k * channels + c, channels - c) *
                       load8(dy + (s + before - k) * channels + c, channels - c);
            store8(sum, dx + s * channels + c, channels - c);
        }
}

// group: 1, 1
// grid: stretches, batch
__kernel void DepthwiseConvWeightsCPU(
    __global const float *x,        // [batch, length, channels]
    __global const float *tail,     // [batch, taps, channels]
    __global const float *dy,       // [batch, length, channels]
    __global float *w_parts,        // [batch, stretches, taps, channels]
    __global float *b_parts,        // [batch, stretches, channels]
    const int length, const int channels, const int taps, const int stretches, const int before)
{
    const int part = get_global_id(0), n = get_global_id(1);
    const int begin = STRETCH * part, end = min(begin + STRETCH, length);
    x += n * length * channels;
    dy += n * length * channels;
    tail += n * taps * channels;
    w_parts += (n * stretches + part) * taps * channels;
    b_parts += (n * stretches + part) * channels;
    for (int c = 0; c < channels; c += 8) {
        const int count = channels - c;
        float8 db = 0.0f;
        for (int t = begin; t < end; ++t)
            db += load8(dy + t * channels + c, count);
        store8(db, b_parts + c, count);
        for (int k = 0; k < taps; ++k) {
            float8 dw = 0.0f;
            for (int t = begin; t < end; ++t)
                dw += load8(dy + t * channels + c, count) *
                      input8(x + c, tail + c, t - before + k, length, taps, channels, count);
            store8(dw, w_parts + k * channels + c, count);
        }
    }
}
