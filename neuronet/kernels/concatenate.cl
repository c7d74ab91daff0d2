// concatenate.cl: the rows of two matrices side by side, and apart again.
//
//   output[r] = [ input1[r] | input2[r] ]
//
// Used by   ops/concatenate.py   Checked against   reference/concatenate.py
// NeuroNet  ConcatenateBuffers, DeconcatenateBuffers (there up to four matrices)

// grid: windows, rows
__kernel void ConcatenateBuffers(
    __global const float *input1,   // [rows, window1]
    __global const float *input2,   // [rows, window2]
    __global float *output,         // [rows, windows]
    const int window1, const int window2, const int windows)
{
    const int k = get_global_id(0), r = get_global_id(1);
    output[r * windows + k] = k < window1 ? input1[r * window1 + k] : input2[r * window2 + k - window1];
}

// grid: windows, rows
__kernel void DeconcatenateBuffers(
    __global const float *input,    // [rows, windows]
    __global float *output1,        // [rows, window1]
    __global float *output2,        // [rows, window2]
    const int window1, const int window2, const int windows)
{
    const int k = get_global_id(0), r = get_global_id(1);
    const float value = input[r * windows + k];
    if (k < window1) output1[r * window1 + k] = value;
    else output2[r * window2 + k - window1] = value;
}

// One of the two alone; offset is 0 or the width of the first.
// grid: window, rows
__kernel void DeconcatenateOne(
    __global const float *input,    // [rows, windows]
    __global float *output,         // [rows, window]
    const int window, const int windows, const int offset)
{
    const int k = get_global_id(0), r = get_global_id(1);
    output[r * window + k] = input[r * windows + offset + k];
}

// output[r] = [ 0 | input[r] ]
// grid: windows, rows
__kernel void PadBuffer(
    __global const float *input,    // [rows, window]
    __global float *output,         // [rows, windows]
    const int window, const int windows)
{
    const int k = get_global_id(0), r = get_global_id(1), zeros = windows - window;
    output[r * windows + k] = k < zeros ? 0.0f : input[r * window + k - zeros];
}

// --- CPU: a work-item copies 16 rows, 8 values at once ----------------------------------------------

#define STRETCH 16

static void copy_row(__global const float *from, __global float *to, const int count)
{
    int k = 0;
    for (; k + 8 <= count; k += 8) vstore8(vload8(0, from + k), 0, to + k);
    for (; k < count; ++k) to[k] = from[k];
}

// group: 1
// grid: rows/16
__kernel void ConcatenateBuffersCPU(
    __global const float *input1,   // [rows, window1]
    __global const float *input2,   // [rows, window2]
    __global float *output,         // [rows, windows]
    const int rows, const int window1, const int window2, const int windows)
{
    const int first = STRETCH * get_global_id(0), last = min(first + STRETCH, rows);
    for (int r = first; r < last; ++r) {
        copy_row(input1 + r * window1, output + r * windows, window1);
        copy_row(input2 + r * window2, output + r * windows + window1, window2);
    }
}

// group: 1
// grid: rows/16
__kernel void DeconcatenateBuffersCPU(
    __global const float *input,    // [rows, windows]
    __global float *output1,        // [rows, window1]
    __global float *output2,        // [rows, window2]
    const int rows, const int window1, const int window2, const int windows)
{
    const int first = STRETCH * get_global_id(0), last = min(first + STRETCH, rows);
    for (int r = first; r < last; ++r) {
        copy_row(input + r * windows, output1 + r * window1, window1);
        copy_row(input + r * windows + window1, output2 + r * window2, window2);
    }
}

// group: 1
// grid: rows/16
__kernel void PadBufferCPU(
    __global const float *input,    // [rows, window]
    __global float *output,         // [rows, windows]
    const int rows, const int window, const int windows)
{
    const int first = STRETCH * get_global_id(0), last = min(first + STRETCH, rows), zeros = windows - window;
    for (int r = first; r < last; ++r) {
        for (int k = 0; k < zeros; k += 8)
            store8(0.0f, output + r * windows + k, zeros - k);
        copy_row(input + r * window, output + r * windows + zeros, window);
    }
}
