// soft_max.cl: softmax of the rows of a matrix, with each row's largest value subtracted first.
//
//   y[r,i] = exp(x[r,i] - max_j x[r,j]) / sum_j exp(x[r,j] - max_k x[r,k])
//   dx[r,i] = y[r,i] * (dy[r,i] - sum_j y[r,j] * dy[r,j])
//
// Any number of classes (errata F12). The plain form gives a row to one work-item, the GPU form to a
// work-group of 64.
//
// Used by   ops/soft_max.py      Checked against   reference/soft_max.py
// NeuroNet  SoftMax_FeedForward, SoftMax_HiddenGradient

// grid: rows
__kernel void SoftMax_FeedForward(
    __global const float *x,    // [rows, classes]
    __global float *y,          // [rows, classes]
    const int classes)
{
    x += get_global_id(0) * classes;
    y += get_global_id(0) * classes;
    const int whole = classes / 8 * 8;   // in blocks of 8; a sum in 8 lanes is also the more exact one
    float top = x[0], sum = 0.0f;
    float8 tops = top, sums = 0.0f;
    for (int i = 0; i < whole; i += 8) tops = fmax(tops, vload8(0, x + i));
    for (int i = whole; i < classes; ++i) top = fmax(top, x[i]);
    top = fmax(top, fmax(fmax(fmax(tops.s0, tops.s1), fmax(tops.s2, tops.s3)),
                         fmax(fmax(tops.s4, tops.s5), fmax(tops.s6, tops.s7))));
    for (int i = 0; i < whole; i += 8) {
        const float8 e = exp(vload8(0, x + i) - top);
        vstore8(e, 0, y + i);
        sums += e;
    }
    for (int i = whole; i < classes; ++i) {
        y[i] = exp(x[i] - top);
        sum += y[i];
    }
    sum += ((sums.s0 + sums.s1) + (sums.s2 + sums.s3)) + ((sums.s4 + sums.s5) + (sums.s6 + sums.s7));
    for (int i = 0; i < classes; ++i) y[i] /= sum;
}

// grid: rows
__kernel void SoftMax_HiddenGradient(
    __global const float *y,    // [rows, classes]
    __global const float *dy,   // [rows, classes]
    __global float *dx,         // [rows, classes]
    const int classes)
{
    y += get_global_id(0) * classes;
    dy += get_global_id(0) * classes;
    dx += get_global_id(0) * classes;
    float sum = 0.0f;
    for (int i = 0; i < classes; ++i) sum += y[i] * dy[i];
    for (int i = 0; i < classes; ++i) dx[i] = y[i] * (dy[i] - sum);
}

// --- GPU ---------------------------------------------------------------------------------

#define GROUP 64

// The sum, or the largest, of one value of each work-item, for all of them.
static float reduce(float value, bool largest, __local float *values)
{
    const int id = get_local_id(0);
    values[id] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int rest = GROUP / 2; rest > 0; rest /= 2) {
        if (id < rest) {
            const float other = values[id + rest];
            values[id] = largest ? fmax(values[id], other) : values[id] + other;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float all = values[0];
    barrier(CLK_LOCAL_MEM_FENCE);   // before the next call writes
    return all;
}

// group: 64, 1
// grid: 64, rows
__kernel void SoftMax_FeedForwardGPU(
    __global const float *x,    // [rows, classes]
    __global float *y,          // [rows, classes]
    const int classes)
{
    __local float values[GROUP];
    const int id = get_local_id(0);
    x += get_global_id(1) * classes;
    y += get_global_id(1) * classes;
    float top = -INFINITY, sum = 0.0f;
    for (int i = id; i < classes; i += GROUP) top = fmax(top, x[i]);
    top = reduce(top, true, values);
    for (int i = id; i < classes; i += GROUP) sum += exp(x[i] - top);
    sum = reduce(sum, false, values);
    for (int i = id; i < classes; i += GROUP) y[i] = exp(x[i] - top) / sum;
}

// group: 64, 1
// grid: 64, rows
__kernel void SoftMax_HiddenGradientGPU(
    __global const float *y,    // [rows, classes]
    __global const float *dy,   // [rows, classes]
    __global float *dx,         // [rows, classes]
    const int classes)
{
    __local float values[GROUP];
    const int id = get_local_id(0);
    y += get_global_id(1) * classes;
    dy += get_global_id(1) * classes;
    dx += get_global_id(1) * classes;
    float sum = 0.0f;
    for (int i = id; i < classes; i += GROUP) sum += y[i] * dy[i];
    sum = reduce(sum, false, values);
    for (int i = id; i < classes; i += GROUP) dx[i] = y[i] * (dy[i] - sum);
}
