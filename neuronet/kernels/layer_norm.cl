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

// --- CPU: 8 values of a row in the lanes ------------------------------------------------------------------

#define SOME 16     // rows of a work-item

// A row's last block of 8 may overlap the one before: `counted` is 1 for values of no other block, else 0
#define LAST(window) max(0, (window) - 8)

static float8 counted_of_last(const int window)
{
    const int8 lane = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    const int rest = (window - 1) % 8 + 1;
    return select((float8)0.0f, (float8)1.0f, window < 8 ? lane < rest : lane >= 8 - rest);
}

// group: 1
// grid: rows/16
__kernel BY8 void NormalizeRowsCPU(
    __global const float *x,        // [rows, window]
    __global const float *gamma,    // [window]
    __global const float *beta,     // [window]
    __global float *mean,           // [rows]
    __global float *scale,          // [rows]
    __global float *y,              // [rows, window]
    const int rows, const int window, const float eps)
{
    const int begin = SOME * get_global_id(0), end = min(rows, begin + SOME), last = LAST(window);
    const float8 counted = counted_of_last(window);
    const float8 gamma_end = load8(gamma + last, window), beta_end = load8(beta + last, window);
    x += begin * window;
    y += begin * window;
    for (int r = begin; r < end; ++r, x += window, y += window) {
        const float8 x_end = load8(x + last, window);
        float8 sums = counted * x_end;
        for (int k = 0; k < last; k += 8)
            sums += LOAD8(x + k);
        const float m = sum8(sums) / window;
        float8 squares = counted * (x_end - m) * (x_end - m);
        for (int k = 0; k < last; k += 8)
            squares += (LOAD8(x + k) - m) * (LOAD8(x + k) - m);
        const float s = 1.0f / sqrt(sum8(squares) / window + eps);
        for (int k = 0; k < last; k += 8)
            store8(LOAD8(gamma + k) * ((LOAD8(x + k) - m) * s) + LOAD8(beta + k), y + k, 8);
        store8(gamma_end * ((x_end - m) * s) + beta_end, y + last, window);
        mean[r] = m;
        scale[r] = s;
    }
}

// group: 1
// grid: rows/16
__kernel BY8 void NormalizeRowsGradientCPU(
    __global const float *x,        // [rows, window]
    __global const float *dy,       // [rows, window]
    __global const float *mean,     // [rows]
    __global const float *scale,    // [rows]
    __global const float *gamma,    // [window]
    __global float *sums,           // [2, rows]
    __global float *dx,             // [rows, window]
    const int rows, const int window)
{
    const int begin = SOME * get_global_id(0), end = min(rows, begin + SOME), last = LAST(window);
    const float8 counted = counted_of_last(window), gamma_end = load8(gamma + last, window);
    x += begin * window;
    dy += begin * window;
    dx += begin * window;
    for (int r = begin; r < end; ++r, x += window, dy += window, dx += window) {
        const float m = mean[r], s = scale[r];
        const float8 d_end = gamma_end * load8(dy + last, window), x_end = load8(x + last, window) - m;
        float8 levels = counted * d_end, alongs = counted * d_end * x_end;
        for (int k = 0; k < last; k += 8) {
            const float8 d = LOAD8(gamma + k) * LOAD8(dy + k);
            levels += d;
            alongs += d * (LOAD8(x + k) - m);
        }
        const float level = sum8(levels) / window, along = sum8(alongs) * s / window;
        for (int k = 0; k < last; k += 8) {
            const float8 nx = (LOAD8(x + k) - m) * s;
            store8(s * (LOAD8(gamma + k) * LOAD8(dy + k) - level - nx * along), dx + k, 8);
        }
        store8(s * (d_end - level - x_end * s * along), dx + last, window);
        sums[r] = level;
        sums[rows + r] = along;
    }
}

// grid: window/8, chunks
__kernel BY8 void NormalizeWeightPartsCPU(
    __global const float *x,        // [rows, window]
    __global const float *dy,       // [rows, window]
    __global const float *mean,     // [rows]
    __global const float *scale,    // [rows]
    __global float *parts,          // [chunks, 2, window]
    const int rows, const int window, const int chunks)
{
    const int k = 8 * get_global_id(0), c = get_global_id(1), count = window - k;
    const int length = (rows + chunks - 1) / chunks, last = min(rows, (c + 1) * length);
    float8 s0 = 0.0f, s1 = 0.0f;
    for (int r = c * length; r < last; ++r) {
        const float8 d = load8(dy + r * window + k, count);
        s0 += d;
        s1 += d * ((load8(x + r * window + k, count) - mean[r]) * scale[r]);
    }
    store8(s0, parts + 2 * c * window + k, count);
    store8(s1, parts + (2 * c + 1) * window + k, count);
}

// --- GPU: 32 work-items have a row, or 8 a column of many rows ----------------------------------------------

#include "parts.clh"

#define TOGETHER ADDING     // rows of a work-group

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

// group: 32, 8
// grid: window, 8*chunks
__kernel void NormalizeWeightPartsGPU(
    __global const float *x,        // [rows, window]
    __global const float *dy,       // [rows, window]
    __global const float *mean,     // [rows]
    __global const float *scale,    // [rows]
    __global float *parts,          // [chunks, 2, window]
    const int rows, const int window, const int chunks)
{
    __local float all[ADDING * LANES], more[ADDING * LANES];
    const int k = get_global_id(0), c = get_group_id(1), length = (rows + chunks - 1) / chunks;
    const int last = k < window ? min(rows, (c + 1) * length) : 0;
    float s0 = 0.0f, s1 = 0.0f;
    #pragma unroll 4
    for (int r = c * length + get_local_id(1); r < last; r += ADDING) {
        const float d = dy[r * window + k];
        s0 += d;
        s1 += d * ((x[r * window + k] - mean[r]) * scale[r]);
    }
    s0 = together(s0, all);
    s1 = together(s1, more);
    if (get_local_id(1) > 0 || k >= window) return;
    parts[2 * c * window + k] = s0;
    parts[(2 * c + 1) * window + k] = s1;
}

// group: 32, 8
// grid: window, 8
__kernel void NormalizeWeightGradientGPU(
    __global const float *parts,    // [chunks, 2, window]
    __global float *dgamma,         // [window]
    __global float *dbeta,          // [window]
    const int chunks, const int window)
{
    __local float all[ADDING * LANES], more[ADDING * LANES];
    const int k = get_global_id(0);
    const float s0 = parts_together(parts, chunks, 2 * window, k, k < window, all);
    const float s1 = parts_together(parts, chunks, 2 * window, window + k, k < window, more);
    if (get_local_id(1) > 0 || k >= window) return;
    dbeta[k] += s0;
    dgamma[k] += s1;
}
