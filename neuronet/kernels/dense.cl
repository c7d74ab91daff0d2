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

// z[16*r + o] = sum_i x[r, i] * w[o, i] for 4 rows and 4 outputs; those behind the last repeat it
static void products_4x4(__global const float *x, const int last_row, __global const float *w,
                         const int last_output, const int inputs, float *z)
{
    __global const float *row[4], *output[4];
    float8 sum[4][4];
    #pragma unroll
    for (int r = 0; r < 4; ++r) {
        row[r] = x + min(r, last_row) * inputs;
        output[r] = w + min(r, last_output) * inputs;
        #pragma unroll
        for (int o = 0; o < 4; ++o)
            sum[r][o] = 0.0f;
    }
    int i = 0;
    for (; i + 8 <= inputs; i += 8) {
        const float8 x0 = LOAD8(row[0] + i), x1 = LOAD8(row[1] + i);
        const float8 x2 = LOAD8(row[2] + i), x3 = LOAD8(row[3] + i);
        #pragma unroll
        for (int o = 0; o < 4; ++o) {
            const float8 weight = LOAD8(output[o] + i);
            sum[0][o] += x0 * weight;
            sum[1][o] += x1 * weight;
            sum[2][o] += x2 * weight;
            sum[3][o] += x3 * weight;
        }
    }
    #pragma unroll
    for (int r = 0; r < 4; ++r)
        #pragma unroll
        for (int o = 0; o < 4; ++o)
            z[16 * r + o] = sum8(sum[r][o]);
    for (; i < inputs; ++i)
        for (int r = 0; r < 4; ++r)
            for (int o = 0; o < 4; ++o)
                z[16 * r + o] += row[r][i] * output[o][i];
}

// The same for one row: NeuroNet's own batch
static void products_1x4(__global const float *x, __global const float *w, const int last_output,
                         const int inputs, float *z)
{
    __global const float *output[4];
    float8 sum[4];
    #pragma unroll
    for (int o = 0; o < 4; ++o) {
        output[o] = w + min(o, last_output) * inputs;
        sum[o] = 0.0f;
    }
    int i = 0;
    for (; i + 8 <= inputs; i += 8) {
        const float8 x8 = LOAD8(x + i);
        #pragma unroll
        for (int o = 0; o < 4; ++o)
            sum[o] += x8 * LOAD8(output[o] + i);
    }
    #pragma unroll
    for (int o = 0; o < 4; ++o)
        z[o] = sum8(sum[o]);
    for (; i < inputs; ++i)
        for (int o = 0; o < 4; ++o)
            z[o] += x[i] * output[o][i];
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
    const int n = 4 * get_global_id(1), first = 16 * get_global_id(0);
    const int rows = min(4, batch - n), count = min(16, outputs - first);
    float z[4 * 16] = {0.0f};   // all, for vectors reach behind the last output
    x += n * inputs;
    w += first * inputs;
    for (int o = 0; o < count; o += 4)
        if (rows == 1) products_1x4(x, w + o * inputs, count - 1 - o, inputs, z + o);
        else products_4x4(x, rows - 1, w + o * inputs, count - 1 - o, inputs, z + o);
    for (int r = 0; r < rows; ++r) {
        __global float *out = y + (n + r) * outputs + first;
        for (int o = 0; o < count; o += 8) {
            const float8 sum = vload8(0, z + 16 * r + o) + load8(b + first + o, count - o);
            store8(activate8(sum, activation), out + o, count - o);
        }
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
