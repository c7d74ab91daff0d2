// rpb.cl: the gradient of a relative-position bias, and its Adam step.
//
//   dw[k] += sum_r dscore[r,k]
//
// Rows r share a bias: all units of all samples, or the samples where each unit has a bias of its own.
//
// Used by   ops/rpb.py           Checked against   reference/rpb.py
// NeuroNet  RPBUpdateAdam, without a rate and a bias correction there; errata G11, G12
// RPBGradient adds to dw; RPBUpdateAdam takes an Adam step from the same sums instead.

// --- any device ----------------------------------------------------------------------------

static float column_sum(__global const float *dscore, const int k, const int rows, const int columns)
{
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r)
        sum += dscore[r * columns + k];
    return sum;
}

// grid: columns
__kernel void RPBGradient(
    __global const float *dscore,   // [rows, columns]
    __global float *dw,             // [columns]
    const int rows, const int columns)
{
    const int k = get_global_id(0);
    dw[k] += column_sum(dscore, k, rows, columns);
}

// grid: columns
__kernel void RPBUpdateAdam(
    __global const float *dscore,   // [rows, columns]
    __global float *w,              // [columns]
    __global float *m,              // [columns]
    __global float *v,              // [columns]
    __global const float *hyper,    // [9]
    const int rows, const int columns)
{
    const int k = get_global_id(0);
    adam(w + k, m + k, v + k, column_sum(dscore, k, rows, columns), hyper);
}

// --- CPU: 8 columns in the lanes ------------------------------------------------------------------------

static float8 column_sum8(__global const float *dscore, const int rows, const int columns, const int count)
{
    float8 sum = 0.0f;
    for (int r = 0; r < rows; ++r)
        sum += load8(dscore + r * columns, count);
    return sum;
}

// group: 1
// grid: columns/8
__kernel void RPBGradientCPU(
    __global const float *dscore,   // [rows, columns]
    __global float *dw,             // [columns]
    const int rows, const int columns)
{
    const int k = 8 * get_global_id(0), count = columns - k;
    store8(load8(dw + k, count) + column_sum8(dscore + k, rows, columns, count), dw + k, count);
}

// group: 1
// grid: columns/8
__kernel void RPBUpdateAdamCPU(
    __global const float *dscore,   // [rows, columns]
    __global float *w,              // [columns]
    __global float *m,              // [columns]
    __global float *v,              // [columns]
    __global const float *hyper,    // [9]
    const int rows, const int columns)
{
    const int k = 8 * get_global_id(0), count = columns - k;
    adam8(w + k, m + k, v + k, column_sum8(dscore + k, rows, columns, count), count, hyper);
}

// --- GPU: a work-group sums a column ---------------------------------------------------------------------

#define LANES 256

static float column_sum_of_group(__global const float *dscore, const int k, const int rows, const int columns,
                                 __local float *part)
{
    const int lane = get_local_id(0);
    float sum = 0.0f;
    for (int r = lane; r < rows; r += LANES)
        sum += dscore[r * columns + k];
    part[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int rest = LANES / 2; rest > 0; rest /= 2) {
        if (lane < rest) part[lane] += part[lane + rest];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return part[0];
}

// group: 256
// grid: columns*256
__kernel void RPBGradientGPU(
    __global const float *dscore,   // [rows, columns]
    __global float *dw,             // [columns]
    const int rows, const int columns)
{
    __local float part[LANES];
    const int k = get_group_id(0);
    const float g = column_sum_of_group(dscore, k, rows, columns, part);
    if (get_local_id(0) == 0) dw[k] += g;
}

// group: 256
// grid: columns*256
__kernel void RPBUpdateAdamGPU(
    __global const float *dscore,   // [rows, columns]
    __global float *w,              // [columns]
    __global float *m,              // [columns]
    __global float *v,              // [columns]
    __global const float *hyper,    // [9]
    const int rows, const int columns)
{
    __local float part[LANES];
    const int k = get_group_id(0);
    const float g = column_sum_of_group(dscore, k, rows, columns, part);
    if (get_local_id(0) == 0) adam(w + k, m + k, v + k, g, hyper);
}
