// batch_norm.cl: normalisation of every value of a sample over the samples of a batch, or over time.
//
//   nx[b,i] = (x[b,i] - mean[i]) * scale[i]      scale = 1 / sqrt(variance + eps)
//   y[b,i]  = act(gamma[i] * nx[b,i] + beta[i])
//
// Statistics come from one of three places: this batch (BatchStatistics, two or more rows), the running
// statistics after they took in this one sample (RunningStatistics: NeuroNet's form), or the running
// statistics as they are (BatchScale: evaluation).
//
// Used by   ops/batch_norm.py    Checked against   reference/batch_norm.py
// NeuroNet  BatchFeedForward, CalcHiddenGradientBatch; errata F6-F10
// Overwrites scale, y, dx and sums; adds to dgamma and dbeta; moves running statistics and count.

#define ROWS 8   // of the batch per work-item, where each does the same to its rows

// Mean and scale from the biased variance of this batch. The running statistics take it in with weight
// batch / total, where total is the number of samples so far, at most batch_size; their variance is unbiased.
// grid: n
__kernel void BatchStatistics(
    __global const float *x,            // [batch, n]
    __global float *mean,               // [n]
    __global float *scale,              // [n]
    __global float *running_mean,       // [n]
    __global float *running_variance,   // [n]
    __global float *count,              // [n]  samples so far
    const int batch, const int n, const int batch_size, const float eps)
{
    const int i = get_global_id(0);
    float sum = 0.0f, squares = 0.0f;
    for (int b = 0; b < batch; ++b)
        sum += x[b * n + i];
    const float m = sum / batch;
    for (int b = 0; b < batch; ++b) {
        const float d = x[b * n + i] - m;
        squares += d * d;
    }
    mean[i] = m;
    scale[i] = 1.0f / sqrt(squares / batch + eps);
    const float total = fmax((float)batch, fmin(count[i] + batch, (float)batch_size));
    const float weight = batch / total;
    running_mean[i] += (m - running_mean[i]) * weight;
    running_variance[i] += (squares / (batch - 1) - running_variance[i]) * weight;
    count[i] = total;
}

// mean = (mean (B-1) + x) / B,  variance = (variance (B-1) + (x - mean)^2) / B, with B = count after it.
// grid: n
__kernel void RunningStatistics(
    __global const float *x,            // [n]
    __global float *mean,               // [n]
    __global float *variance,           // [n]
    __global float *count,              // [n]
    __global float *scale,              // [n]
    const int batch_size, const float eps)
{
    const int i = get_global_id(0);
    const float total = fmin(count[i] + 1.0f, (float)batch_size);
    const float m = mean[i] + (x[i] - mean[i]) / total, d = x[i] - m;
    mean[i] = m;
    const float v = variance[i] + (d * d - variance[i]) / total;
    variance[i] = v;
    scale[i] = 1.0f / sqrt(v + eps);
    count[i] = total;
}

// grid: n
__kernel void BatchScale(
    __global const float *variance,     // [n]
    __global float *scale,              // [n]
    const float eps)
{
    const int i = get_global_id(0);
    scale[i] = 1.0f / sqrt(variance[i] + eps);
}

// grid: n/8, batch/8
__kernel BY8 void BatchFeedForward(
    __global const float *x,            // [batch, n]
    __global const float *mean,         // [n]
    __global const float *scale,        // [n]
    __global const float *gamma,        // [n]
    __global const float *beta,         // [n]
    __global float *y,                  // [batch, n]
    const int batch, const int n, const int activation)
{
    const int i = 8 * get_global_id(0), count = n - i;
    const int first = get_global_id(1) * ROWS, last = min(batch, first + ROWS);
    const float8 m = load8(mean + i, count), s = load8(scale + i, count);
    const float8 g = load8(gamma + i, count), shift = load8(beta + i, count);
    for (int at = first * n + i; at < last * n; at += n)
        store8(activate8(g * ((load8(x + at, count) - m) * s) + shift, activation), y + at, count);
}

// sums[0] = sum of dz, sums[1] = sum of dz * nx: what both the input's and the weights' gradients need.
// grid: n
__kernel void BatchGradientSums(
    __global const float *x,            // [batch, n]
    __global const float *dz,           // [batch, n]
    __global const float *mean,         // [n]
    __global const float *scale,        // [n]
    __global float *sums,               // [2, n]
    const int batch, const int n)
{
    const int i = get_global_id(0);
    const float m = mean[i];
    float s0 = 0.0f, s1 = 0.0f;
    for (int b = 0; b < batch; ++b) {
        const float d = dz[b * n + i];
        s0 += d;
        s1 += d * (x[b * n + i] - m);
    }
    sums[i] = s0;
    sums[n + i] = s1 * scale[i];
}

// share = 1 / batch for statistics of this batch, 0 for statistics that do not depend on x.
// grid: n/8, batch/8
__kernel BY8 void CalcHiddenGradientBatch(
    __global const float *x,            // [batch, n]
    __global const float *dz,           // [batch, n]
    __global const float *mean,         // [n]
    __global const float *scale,        // [n]
    __global const float *gamma,        // [n]
    __global const float *sums,         // [2, n]
    __global float *dx,                 // [batch, n]
    const int batch, const int n, const float share)
{
    const int i = 8 * get_global_id(0), count = n - i;
    const int first = get_global_id(1) * ROWS, last = min(batch, first + ROWS);
    const float8 m = load8(mean + i, count), s = load8(scale + i, count), g = load8(gamma + i, count) * s;
    const float8 s0 = load8(sums + i, count) * share, s1 = load8(sums + n + i, count) * share * s;
    for (int at = first * n + i; at < last * n; at += n)
        store8(g * (load8(dz + at, count) - s0 - (load8(x + at, count) - m) * s1), dx + at, count);
}

// For RunningStatistics, whose mean and variance have taken in x with weight 1 / count.
// grid: n
__kernel void CalcHiddenGradientRunning(
    __global const float *x,            // [n]
    __global const float *dz,           // [n]
    __global const float *mean,         // [n]
    __global const float *scale,        // [n]
    __global const float *gamma,        // [n]
    __global const float *count,        // [n]
    __global float *dx)                 // [n]
{
    const int i = get_global_id(0);
    const float nx = (x[i] - mean[i]) * scale[i], total = count[i];
    dx[i] = dz[i] * gamma[i] * scale[i] * ((total - 1.0f) / total) * (1.0f - nx * nx / total);
}

// grid: n
__kernel void WeightGradientBatch(
    __global const float *sums,         // [2, n]
    __global float *dgamma,             // [n]
    __global float *dbeta,              // [n]
    const int n)
{
    const int i = get_global_id(0);
    dbeta[i] += sums[i];
    dgamma[i] += sums[n + i];
}
