// dense.cl: the fully connected layer.
//
//   z[n,o] = b[o] + sum_i x[n,i] * w[o,i]       y = act(z)
//
// Used by   ops/dense.py          Checked against   reference/dense.py
// NeuroNet  FeedForward, CalcHiddenGradient, UpdateWeightsAdam; there the bias is the last column of w.
// Overwrites y and dx; adds to dw and db. Only the forward pass has its own CPU and GPU form here: for the
// others a dense layer is a product of matrices (matmul.cl) or a convolution with one window (conv.cl).

// --- any device ----------------------------------------------------------------------------

// grid: outputs, batch
__kernel void FeedForward(
    __global const float *x,    // [batch, inputs]
    __global const float *w,    // [outputs, inputs]
    __global const float *b,    // [outputs]
    __global float *y,          // [batch, outputs]
    const int inputs, const int outputs, const int activation)
{
    const int o = get_global_id(0), n = get_global_id(1);
    float z = b[o];
    for (int i = 0; i < inputs; ++i)
        z += x[n * inputs + i] * w[o * inputs + i];
    y[n * outputs + o] = activate(z, activation);
}

// grid: inputs, batch
__kernel void CalcHiddenGradient(
    __global const float *dz,   // [batch, outputs]
    __global const float *w,    // [outputs, inputs]
    __global float *dx,         // [batch, inputs]
    const int inputs, const int outputs)
{
    const int i = get_global_id(0), n = get_global_id(1);
    float sum = 0.0f;
    for (int o = 0; o < outputs; ++o)
        sum += dz[n * outputs + o] * w[o * inputs + i];
    dx[n * inputs + i] = sum;
}

// Gradient of weight (o, i), or of the bias of o for i = inputs.
static float weight_gradient(__global const float *x, __global const float *dz, const int o, const int i,
                             const int batch, const int inputs, const int outputs)
{
    float sum = 0.0f;
    for (int n = 0; n < batch; ++n)
        sum += dz[n * outputs + o] * (i < inputs ? x[n * inputs + i] : 1.0f);
    return sum;
}

// grid: inputs + 1, outputs
__kernel void WeightGradient(
    __global const float *x,    // [batch, inputs]
    __global const float *dz,   // [batch, outputs]
    __global float *dw,         // [outputs, inputs]
    __global float *db,         // [outputs]
    const int batch, const int inputs, const int outputs)
{
    const int i = get_global_id(0), o = get_global_id(1);
    const float g = weight_gradient(x, dz, o, i, batch, inputs, outputs);
    if (i < inputs) dw[o * inputs + i] += g;
    else db[o] += g;
}

// grid: inputs + 1, outputs
__kernel void UpdateWeightsAdam(
    __global const float *x,    // [batch, inputs]
    __global const float *dz,   // [batch, outputs]
    __global float *w,          // [outputs, inputs]
    __global float *b,          // [outputs]
    __global float *w_m,        // [outputs, inputs]
    __global float *w_v,        // [outputs, inputs]
    __global float *b_m,        // [outputs]
    __global float *b_v,        // [outputs]
    __global const float *hyper, // [9]
    const int batch, const int inputs, const int outputs)
{
    const int i = get_global_id(0), o = get_global_id(1), at = o * inputs + i;
    const float g = weight_gradient(x, dz, o, i, batch, inputs, outputs);
    if (i < inputs) adam(w + at, w_m + at, w_v + at, g, hyper);
    else adam(b + o, b_m + o, b_v + o, g, hyper);
}

// --- CPU: a work-item sums 4 rows x 16 outputs, 8 inputs of 4 x 4 at a time in registers --------------

static float sum8(float8 v)
{
    const float4 two = v.lo + v.hi;
    return (two.s0 + two.s2) + (two.s1 + two.s3);
}

// z[r][o] = sum_i x[r, i] * w[o, i] for 4 outputs; rows and outputs behind the last one repeat it
static void products(const int rows, __global const float *x, const int last_row, __global const float *w,
                     const int last_output, const int inputs, float z[4][4])
{
    __global const float *xr[4], *wo[4];
    float8 sum[4][4];
    #pragma unroll
    for (int r = 0; r < rows; ++r) {
        xr[r] = x + min(r, last_row) * inputs;
        #pragma unroll
        for (int o = 0; o < 4; ++o)
            sum[r][o] = 0.0f;
    }
    #pragma unroll
    for (int o = 0; o < 4; ++o)
        wo[o] = w + min(o, last_output) * inputs;
    int i = 0;
    for (; i + 8 <= inputs; i += 8)
        #pragma unroll
        for (int o = 0; o < 4; ++o) {
            const float8 weight = vload8(0, wo[o] + i);
            #pragma unroll
            for (int r = 0; r < rows; ++r)
                sum[r][o] += vload8(0, xr[r] + i) * weight;
        }
    #pragma unroll
    for (int r = 0; r < rows; ++r)
        #pragma unroll
        for (int o = 0; o < 4; ++o)
            z[r][o] = sum8(sum[r][o]);
    for (; i < inputs; ++i)
        #pragma unroll
        for (int r = 0; r < rows; ++r)
            #pragma unroll
            for (int o = 0; o < 4; ++o)
                z[r][o] += xr[r][i] * wo[o][i];
}

// group: 1, 1
// grid: outputs/16, batch/4
__kernel void FeedForwardCPU(
    __global const float *x,    // [batch, inputs]
    __global const float *w,    // [outputs, inputs]
    __global const float *b,    // [outputs]
    __global float *y,          // [batch, outputs]
    const int batch, const int inputs, const int outputs, const int activation)
{
    const int n = 4 * get_global_id(1), first = 16 * get_global_id(0), rows = min(4, batch - n);
    x += n * inputs;
    for (int o = first; o < min(first + 16, outputs); o += 4) {
        const int count = min(4, outputs - o);
        float z[4][4];
        if (rows == 1) products(1, x, 0, w + o * inputs, count - 1, inputs, z);
        else products(4, x, rows - 1, w + o * inputs, count - 1, inputs, z);
        for (int r = 0; r < rows; ++r)
            for (int j = 0; j < count; ++j)
                y[(n + r) * outputs + o + j] = activate(z[r][j] + b[o + j], activation);
    }
}

// --- GPU: a work-group sums 4 rows x 16 outputs, 16 work-items each ------------------------------

// group: 16, 16
// grid: outputs/16*16, batch/4*16
__kernel void FeedForwardGPU(
    __global const float *x,    // [batch, inputs]
    __global const float *w,    // [outputs, inputs]
    __global const float *b,    // [outputs]
    __global float *y,          // [batch, outputs]
    const int batch, const int inputs, const int outputs, const int activation)
{
    __local float part[4][16][17];
    const int lane = get_local_id(0), j = get_local_id(1);
    const int n = 4 * get_group_id(1), first = 16 * get_group_id(0);
    const int last = batch - 1;
    __global const float *x0 = x + n * inputs, *x1 = x + min(n + 1, last) * inputs;
    __global const float *x2 = x + min(n + 2, last) * inputs, *x3 = x + min(n + 3, last) * inputs;
    w += min(first + j, outputs - 1) * inputs;
    float4 sum = 0.0f;
    for (int i = lane; i < inputs; i += 16)
        sum += w[i] * (float4)(x0[i], x1[i], x2[i], x3[i]);
    part[0][j][lane] = sum.s0;
    part[1][j][lane] = sum.s1;
    part[2][j][lane] = sum.s2;
    part[3][j][lane] = sum.s3;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int o = first + lane;                     // from here: 16 outputs x 4 rows
    if (j >= 4 || n + j >= batch || o >= outputs) return;
    float z = b[o];
    for (int i = 0; i < 16; ++i)
        z += part[j][lane][i];
    y[(n + j) * outputs + o] = activate(z, activation);
}
