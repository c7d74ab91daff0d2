// complex_conv.cl: complex filters as filters of real numbers, and their gradients back.
//
//   (a + ib)(x + iy) = (ax - by) + i(bx + ay), so a weight a + ib is the block     [ a  -b ]
//   of a real convolution over pairs re, im, whose kernels do all the work:        [ b   a ]
//
// The transposed block is the conjugate: the real input gradient is conj(w) dy, the block's gradient
// conj(z) dy, as the complex ones must be.
//
// Used by   ops/complex_conv.py, with ops/conv.py    Checked against   reference/complex_conv.py
// NeuroNet  FeedForwardComplexConv, CalcHiddenGradientComplexConv, UpdateWeightsComplexConvAdam; errata A4, A5, A9
// Overwrites wide; adds to dw, and leaves 0 in dwide.

// grid: window, window_out
__kernel void ComplexWeights(
    __global const float *w,    // [window_out, window, 2]
    __global float *wide,       // [window_out, 2, window, 2]
    const int window)
{
    const int k = get_global_id(0), f = get_global_id(1);
    const float2 weight = vload2(f * window + k, w);
    vstore2((float2)(weight.x, -weight.y), 2 * f * window + k, wide);
    vstore2((float2)(weight.y, weight.x), (2 * f + 1) * window + k, wide);
}

// grid: window, window_out
__kernel void ComplexWeightGradient(
    __global float *dwide,      // [window_out, 2, window, 2]
    __global float *dw,         // [window_out, window, 2]
    const int window)
{
    const int k = get_global_id(0), f = get_global_id(1), at = f * window + k;
    const float2 re = vload2(2 * f * window + k, dwide), im = vload2((2 * f + 1) * window + k, dwide);
    vstore2(vload2(at, dw) + (float2)(re.x + im.y, im.x - re.y), at, dw);
    vstore2((float2)0.0f, 2 * f * window + k, dwide);
    vstore2((float2)0.0f, (2 * f + 1) * window + k, dwide);
}
