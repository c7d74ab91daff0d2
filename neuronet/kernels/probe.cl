// probe.cl: how fast a device multiplies and adds when no memory is in the way.
//
//   y[i] = sum of 64 numbers, each multiplied by 0.5 and increased by 0.25, `steps` times
//
// Used by   ops/probe.py, for cases/bench.py      Checked against   reference/probe.py

#define CHAINS 8   // independent, so that the latency of one operation is hidden behind the others

// grid: n
__kernel void MultiplyAddProbe(
    __global const float *x,    // [n]
    __global float *y,          // [n]
    const int steps)
{
    const int i = get_global_id(0);
    float8 value[CHAINS];
    #pragma unroll
    for (int c = 0; c < CHAINS; ++c)
        value[c] = x[i] + (float8)(0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f) + 8.0f * c;
    for (int k = 0; k < steps; ++k) {
        #pragma unroll
        for (int c = 0; c < CHAINS; ++c)
            value[c] = value[c] * 0.5f + 0.25f;
    }
    float8 sum = 0.0f;
    #pragma unroll
    for (int c = 0; c < CHAINS; ++c)
        sum += value[c];
    y[i] = ((sum.s0 + sum.s1) + (sum.s2 + sum.s3)) + ((sum.s4 + sum.s5) + (sum.s6 + sum.s7));
}
