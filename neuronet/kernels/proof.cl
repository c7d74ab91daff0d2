// proof.cl: max pooling along the units of a sequence, one feature column at a time.
//
//   y[n,u,f] = max_k x[n, u*step + k, f]        0 <= k < window
//
// The backward pass finds the maxima by index[n,u,f], the k of each.
// Only whole windows are pooled. The first of equal maxima receives the whole gradient (errata F11);
// where windows overlap, gradients add. A NaN in a window is its maximum.
//
// Used by   ops/proof.py         Checked against   reference/proof.py
// NeuroNet  FeedForwardProof, CalcInputGradientProof, which take the input as one line (window_in = 1)

// grid: window_in, units, batch
__kernel void FeedForwardProof(
    __global const float *x,    // [batch, inputs, window_in]
    __global float *y,          // [batch, units, window_in]
    __global int *index,        // [batch, units, window_in]
    const int inputs, const int window_in, const int units, const int window, const int step)
{
    const int f = get_global_id(0), u = get_global_id(1), n = get_global_id(2);
    __global const float *first = x + (n * inputs + u * step) * window_in + f;
    float best = first[0];
    for (int k = 1; k < window; ++k) {
        const float v = first[k * window_in];
        best = (v > best) | (v != v) ? v : best;
    }
    int where = 0;   // in a loop of its own: PoCL runs two plain loops 3 times faster than one of both
    for (int k = window - 1; k >= 0; --k) {
        const float v = first[k * window_in];
        where = (v == best) | (v != v) ? k : where;
    }
    const int at = (n * units + u) * window_in + f;
    y[at] = best;
    index[at] = where;
}

// grid: window_in, inputs, batch
__kernel void CalcInputGradientProof(
    __global const float *dy,   // [batch, units, window_in]
    __global const int *index,  // [batch, units, window_in]
    __global float *dx,         // [batch, inputs, window_in]
    const int inputs, const int window_in, const int units, const int window, const int step)
{
    const int f = get_global_id(0), i = get_global_id(1), n = get_global_id(2);
    const int last = min(units - 1, i / step);
    float sum = 0.0f;
    for (int u = max(0, (i - window + step) / step); u <= last; ++u) {   // windows that cover unit i
        const int at = (n * units + u) * window_in + f;
        if (index[at] == i - u * step) sum += dy[at];
    }
    dx[(n * inputs + i) * window_in + f] = sum;
}
