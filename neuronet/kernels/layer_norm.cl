// layer_norm.cl: normalisation of each unit over its own window.
//
//   nx[r,k] = (x[r,k] - mean[r]) * scale[r]      scale = 1 / sqrt(variance + eps)
//   y[r,k]  = gamma[k] * nx[r,k] + beta[k]
//
// Rows r are all units of all samples.
//
// Used by   ops/layer_norm.py    Checked against   reference/layer_norm.py
// NeuroNet  Normalize (in place and without gamma, beta and gradient there)
// Overwrites mean, scale, y, sums, dx and parts; adds to dgamma and dbeta.

#define ROWS 8   // per work-item, where each does the same to its rows

// grid: rows
__kernel void NormalizeStatistics(
    __global const float *x,        // [rows, window]
    __global float *mean,           // [rows]
    __global float *scale,          // [rows]
    const int window, const float eps)
{
    const int r = get_global_id(0);
    x += r * window;
    float sum = 0.0f, squares = 0.0f;
    for (int k = 0; k < window; ++k)
        sum += x[k];
    const float m = sum / window;
    for (int k = 0; k < window; ++k)
        squares += (x[k] - m) * (x[k] - m);
    mean[r] = m;
    scale[r] = 1.0f / sqrt(squares / window + eps);
}

// grid: window, rows/8
__kernel void Normalize(
    __global const float *x,        // [rows, window]
    __global const float *mean,     // [rows]
    __global const float *scale,    // [rows]
    __global const float *gamma,    // [window]
    __global const float *beta,     // [window]
    __global float *y,              // [rows, window]
    const int rows, const int window)
{
    const int k = get_global_id(0), first = get_global_id(1) * ROWS, last = min(rows, first + ROWS);
    const float g = gamma[k], shift = beta[k];
    for (int r = first; r < last; ++r)
        y[r * window + k] = g * ((x[r * window + k] - mean[r]) * scale[r]) + shift;
}

// sums[0] = mean of gamma * dy, sums[1] = mean of gamma * dy * nx, over the window.
// grid: rows
__kernel void NormalizeGradientSums(
    __global const float *x,        // [rows, window]
    __global const float *dy,       // [rows, window]
    __global const float *mean,     // [rows]
    __global const float *scale,    // [rows]
    __global const float *gamma,    // [window]
    __global float *sums,           // [2, rows]
    const int rows, const int window)
{
    const int r = get_global_id(0);
    const float m = mean[r];
    x += r * window;
    dy += r * window;
    float s0 = 0.0f, s1 = 0.0f;
    for (int k = 0; k < window; ++k) {
        const float d = gamma[k] * dy[k];
        s0 += d;
        s1 += d * (x[k] - m);
    }
    sums[r] = s0 / window;
    sums[rows + r] = s1 * scale[r] / window;
}

// grid: window, rows/8
__kernel void NormalizeGradient(
    __global const float *x,        // [rows, window]
    __global const float *dy,       // [rows, window]
    __global const float *mean,     // [rows]
    __global const float *scale,    // [rows]
    __global const float *gamma,    // [window]
    __global const float *sums,     // [2, rows]
    __global float *dx,             // [rows, window]
    const int rows, const int window)
{
    const int k = get_global_id(0), first = get_global_id(1) * ROWS, last = min(rows, first + ROWS);
    const float g = gamma[k];
    for (int r = first; r < last; ++r) {
        const float nx = (x[r * window + k] - mean[r]) * scale[r];
        dx[r * window + k] = scale[r] * (g * dy[r * window + k] - sums[r] - nx * sums[rows + r]);
    }
}

// Sums of dy and dy * nx over the rows of one of ``chunks`` equal stretches.
// grid: window, chunks
__kernel void NormalizeWeightParts(
    __global const float *x,        // [rows, window]
    __global const float *dy,       // [rows, window]
    __global const float *mean,     // [rows]
    __global const float *scale,    // [rows]
    __global float *parts,          // [chunks, 2, window]
    const int rows, const int window, const int chunks)
{
    const int k = get_global_id(0), c = get_global_id(1);
    const int length = (rows + chunks - 1) / chunks, last = min(rows, (c + 1) * length);
    float s0 = 0.0f, s1 = 0.0f;
    for (int r = c * length; r < last; ++r) {
        const float d = dy[r * window + k];
        s0 += d;
        s1 += d * ((x[r * window + k] - mean[r]) * scale[r]);
    }
    parts[2 * c * window + k] = s0;
    parts[(2 * c + 1) * window + k] = s1;
}

// grid: window
__kernel void NormalizeWeightGradient(
    __global const float *parts,    // [chunks, 2, window]
    __global float *dgamma,         // [window]
    __global float *dbeta,          // [window]
    const int chunks, const int window)
{
    const int k = get_global_id(0);
    float s0 = 0.0f, s1 = 0.0f;
    for (int c = 0; c < chunks; ++c) {
        s0 += parts[2 * c * window + k];
        s1 += parts[(2 * c + 1) * window + k];
    }
    dbeta[k] += s0;
    dgamma[k] += s1;
}

// --- GPU: 32 work-items have a row, and do all of it in one launch ------------------------------------------

#define LANES 32
#define TOGETHER 8  // rows of a work-group

// The sum over the work-items of a row, in their order
static float sum_of_row(const float mine, __local float *all)
{
    all += get_local_id(1) * LANES;
    all[get_local_id(0)] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < LANES; ++i)
        sum += all[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// group: 32, 8
// grid: 32, rows/8*8
__kernel void NormalizeRows(
    __global const float *x,        // [rows, window]
    __global const float *gamma,    // [window]
    __global const float *beta,     // [window]
    __global float *mean,           // [rows]
    __global float *scale,          // [rows]
    __global float *y,              // [rows, window]
    const int rows, const int window, const float eps)
{
    __local float all[TOGETHER * LANES];
    const int lane = get_local_id(0), r = get_global_id(1), last = r < rows ? window : 0;
    x += r * window;
    float sum = 0.0f, squares = 0.0f;
    for (int k = lane; k < last; k += LANES)
        sum += x[k];
    const float m = sum_of_row(sum, all) / window;
    for (int k = lane; k < last; k += LANES)
        squares += (x[k] - m) * (x[k] - m);
    const float s = 1.0f / sqrt(sum_of_row(squares, all) / window + eps);
    for (int k = lane; k < last; k += LANES)
        y[r * window + k] = gamma[k] * ((x[k] - m) * s) + beta[k];
    if (lane == 0 && r < rows) {
        mean[r] = m;
        scale[r] = s;
    }
}

// group: 32, 8
// grid: 32, rows/8*8
__kernel void NormalizeRowsGradient(
    __global const float *x,        // [rows, window]
    __global const float *dy,       // [rows, window]
    __global const float *mean,     // [rows]
    __global const float *scale,    // [rows]
    __global const float *gamma,    // [window]
    __global float *sums,           // [2, rows]
    __global float *dx,             // [rows, window]
    const int rows, const int window)
{
    __local float all[TOGETHER * LANES];
    const int lane = get_local_id(0), r = get_global_id(1), last = r < rows ? window : 0, at = min(r, rows - 1);
    const float m = mean[at], s = scale[at];
    x += r * window;
    dy += r * window;
    float s0 = 0.0f, s1 = 0.0f;
    for (int k = lane; k < last; k += LANES) {
        const float d = gamma[k] * dy[k];
        s0 += d;
        s1 += d * (x[k] - m);
    }
    s0 = sum_of_row(s0, all) / window;
    s1 = sum_of_row(s1, all) * s / window;
    for (int k = lane; k < last; k += LANES)
        dx[r * window + k] = s * (gamma[k] * dy[k] - s0 - (x[k] - m) * s * s1);
    if (lane == 0 && r < rows) {
        sums[r] = s0;
        sums[rows + r] = s1;
    }
}
