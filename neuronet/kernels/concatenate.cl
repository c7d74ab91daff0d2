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
