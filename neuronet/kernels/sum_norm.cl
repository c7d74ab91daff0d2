// sum_norm.cl: a branch and its shortcut, added and normalised in one pass, and the gradients.
//
//   sum = a + b      y = gamma nx + beta      nx = (sum - mean) scale      scale = 1 / sqrt(variance + eps)
//   dsum = scale (g - mean of g - nx mean of g nx) + dshortcut             g = gamma dy
//
// All means are over the window of a row; rows are all units of all samples. layer_norm.cl without the sums.
//
// Used by   ops/sum_norm.py      Checked against   reference/sum_norm.py
// NeuroNet  SumAndNormilize (half the sum, without eps, gamma, beta and gradient there: errata G16-G18)
// Overwrites sum, mean, scale, y and dsum; dsum may be dshortcut.

// --- any device ----------------------------------------------------------------------------

// grid: rows
__kernel void SumNormalize(
    __global const float *a,            // [rows, window]
    __global const float *b,            // [rows, window]
    __global const float *gamma,        // [window]
    __global const float *beta,         // [window]
    __global float *sum,                // [rows, window]
    __global float *mean,               // [rows]
    __global float *scale,              // [rows]
    __global float *y,                  // [rows, window]
    const int window, const float eps)
{
    const int r = get_global_id(0), at = r * window;
    float total = 0.0f, squares = 0.0f;
    for (int k = 0; k < window; ++k) {
        sum[at + k] = a[at + k] + b[at + k];
        total += sum[at + k];
    }
    const float m = total / window;
    for (int k = 0; k < window; ++k)
        squares += (sum[at + k] - m) * (sum[at + k] - m);
    const float s = 1.0f / sqrt(squares / window + eps);
    mean[r] = m;
    scale[r] = s;
    for (int k = 0; k < window; ++k)
        y[at + k] = gamma[k] * ((sum[at + k] - m) * s) + beta[k];
}

// grid: rows
__kernel void SumNormalizeGradient(
    __global const float *sum,          // [rows, window]
    __global const float *dy,           // [rows, window]
    __global const float *mean,         // [rows]
    __global const float *scale,        // [rows]
    __global const float *gamma,        // [window]
    __global const float *dshortcut,    // [rows, window]
    __global float *dsum,               // [rows, window]
    const int window)
{
    const int r = get_global_id(0), at = r * window;
    const float m = mean[r], s = scale[r];
    float level = 0.0f, along = 0.0f;
    for (int k = 0; k < window; ++k) {
        const float g = gamma[k] * dy[at + k];
        level += g;
        along += g * ((sum[at + k] - m) * s);
    }
    level /= window;
    along /= window;
    for (int k = 0; k < window; ++k) {
        const float nx = (sum[at + k] - m) * s;
        dsum[at + k] = s * (gamma[k] * dy[at + k] - level - nx * along) + dshortcut[at + k];
    }
}

// --- CPU: 8 values of a row in the lanes --------------------------------------------------------------

#define ROWS 16     // of a work-item

// group: 1
// grid: rows/16
__kernel void SumNormalizeCPU(
    __global const float *a,            // [rows, window]
    __global const float *b,            // [rows, window]
    __global const float *gamma,        // [window]
    __global const float *beta,         // [window]
    __global float *sum,                // [rows, window]
    __global float *mean,               // [rows]
    __global float *scale,              // [rows]
    __global float *y,                  // [rows, window]
    const int rows, const int window, const float eps)
{
    const int begin = ROWS * get_global_id(0), end = min(rows, begin + ROWS), whole = window / 8 * 8;
    for (int r = begin; r < end; ++r) {
        const int at = r * window;
        float8 totals = 0.0f, squares = 0.0f;
        for (int k = 0; k < window; k += 8) {
            const float8 v = load8(a + at + k, window - k) + load8(b + at + k, window - k);
            store8(v, sum + at + k, window - k);
            totals += v;
        }
        const float m = sum8(totals) / window;
        for (int k = 0; k < whole; k += 8) {
            const float8 v = LOAD8(sum + at + k) - m;
            squares += v * v;
        }
        float rest = 0.0f;
        for (int k = whole; k < window; ++k)
            rest += (sum[at + k] - m) * (sum[at + k] - m);
        const float s = 1.0f / sqrt((sum8(squares) + rest) / window + eps);
        mean[r] = m;
        scale[r] = s;
        for (int k = 0; k < window; k += 8) {
            const int left = window - k;
            const float8 nx = (load8(sum + at + k, left) - m) * s;
            store8(load8(gamma + k, left) * nx + load8(beta + k, left), y + at + k, left);
        }
    }
}

// group: 1
// grid: rows/16
__kernel void SumNormalizeGradientCPU(
    __global const float *sum,          // [rows, window]
    __global const float *dy,           // [rows, window]
    __global const float *mean,         // [rows]
    __global const float *scale,        // [rows]
    __global const float *gamma,        // [window]
    __global const float *dshortcut,    // [rows, window]
    __global float *dsum,               // [rows, window]
    const int rows, const int window)
{
    const int begin = ROWS * get_global_id(0), end = min(rows, begin + ROWS);
    for (int r = begin; r < end; ++r) {
        const int at = r * window;
        const float m = mean[r], s = scale[r];
        float8 levels = 0.0f, alongs = 0.0f;
        for (int k = 0; k < window; k += 8) {
            const int left = window - k;
            const float8 g = load8(gamma + k, left) * load8(dy + at + k, left);     // 0 behind the row
            levels += g;
            alongs += g * ((load8(sum + at + k, left) - m) * s);
        }
        const float level = sum8(levels) / window, along = sum8(alongs) / window;
        for (int k = 0; k < window; k += 8) {
            const int left = window - k;
            const float8 g = load8(gamma + k, left) * load8(dy + at + k, left);
            const float8 nx = (load8(sum + at + k, left) - m) * s;
            store8(s * (g - level - nx * along) + load8(dshortcut + at + k, left), dsum + at + k, left);
        }
    }
}

// --- GPU: 32 work-items share a row, a work-group has 4 rows --------------------------------------------

#define LANES 32

// The sum of one value of each of a row's lanes, for all of them
static float over_lanes(const float mine, __local float *values)
{
    const int lane = get_local_id(0);
    values += get_local_id(1) * LANES;
    values[lane] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int rest = LANES / 2; rest > 0; rest /= 2) {
        if (lane < rest) values[lane] += values[lane + rest];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float all = values[0];
    barrier(CLK_LOCAL_MEM_FENCE);       // before the next call writes
    return all;
}

// group: 32, 4
// grid: 32, rows
__kernel void SumNormalizeGPU(
    __global const float *a,            // [rows, window]
    __global const float *b,            // [rows, window]
    __global const float *gamma,        // [window]
    __global const float *beta,         // [window]
    __global float *sum,                // [rows, window]
    __global float *mean,               // [rows]
    __global float *scale,              // [rows]
    __global float *y,                  // [rows, window]
    const int rows, const int window, const float eps)
{
    __local float values[4 * LANES];
    const int lane = get_local_id(0), r = get_global_id(1), at = r * window;
    const int last = r < rows ? window : 0;         // rows behind the last join in at the barriers only
    float total = 0.0f, squares = 0.0f;
    for (int k = lane; k < last; k += LANES) {
        const float v = a[at + k] + b[at + k];
        sum[at + k] = v;
        total += v;
    }
    const float m = over_lanes(total, values) / window;
    for (int k = lane; k < last; k += LANES)
        squares += (sum[at + k] - m) * (sum[at + k] - m);
    const float s = 1.0f / sqrt(over_lanes(squares, values) / window + eps);
    if (r < rows && lane == 0) {
        mean[r] = m;
        scale[r] = s;
    }
    for (int k = lane; k < last; k += LANES)
        y[at + k] = gamma[k] * ((sum[at + k] - m) * s) + beta[k];
}

// group: 32, 4
// grid: 32, rows
__kernel void SumNormalizeGradientGPU(
    __global const float *sum,          // [rows, window]
    __global const float *dy,           // [rows, window]
    __global const float *mean,         // [rows]
    __global const float *scale,        // [rows]
    __global const float *gamma,        // [window]
    __global const float *dshortcut,    // [rows, window]
    __global float *dsum,               // [rows, window]
    const int rows, const int window)
{
    __local float values[4 * LANES];
    const int lane = get_local_id(0), r = get_global_id(1), at = r * window;
    const int last = r < rows ? window : 0;
    const float m = r < rows ? mean[r] : 0.0f, s = r < rows ? scale[r] : 0.0f;
    float level = 0.0f, along = 0.0f;
    for (int k = lane; k < last; k += LANES) {
        const float g = gamma[k] * dy[at + k];
        level += g;
        along += g * ((sum[at + k] - m) * s);
    }
    level = over_lanes(level, values) / window;
    along = over_lanes(along, values) / window;
    for (int k = lane; k < last; k += LANES) {
        const float nx = (sum[at + k] - m) * s;
        dsum[at + k] = s * (gamma[k] * dy[at + k] - level - nx * along) + dshortcut[at + k];
    }
}
