// batch_norm.cl: normalisation of every value of a sample over the samples of a batch, or over time.
//
//   nx[b,i] = (x[b,i] - mean[i]) / sqrt(variance[i] + eps)        y = act(gamma[i] * nx + beta[i])
//
// Statistics come from one of three places: this batch (BatchStatistics, rows > 1), the running
// statistics after they took in this one sample (RunningStatistics, rows = 1: NeuroNet's form), or the
// running statistics as they are (evaluation).
//
// Used by   ops/batch_norm.py    Checked against   reference/batch_norm.py
// NeuroNet  BatchFeedForward, CalcHiddenGradientBatch; errata F6-F10
// Overwrites y, dx and sums; adds to dgamma and dbeta; moves running statistics and count.

// Mean and biased variance of this batch. The running ones take it in with weight batch / total, where
// total is the number of samples so far, at most batch_size; their variance is unbiased.
// grid: n
__kernel void BatchStatistics(
    __global const float *x,            // [batch, n]
    __global float *mean,               // [n]
    __global float *variance,           // [n]
    __global float *running_mean,       // [n]
    __global float *running_variance,   // [n]
    __global float *count,              // [n]  samples so far
    const int batch, const int n, const int batch_size)
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
    variance[i] = squares / batch;
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
    const int batch_size)
{
    const int i = get_global_id(0);
    const float total = fmin(count[i] + 1.0f, (float)batch_size);
    const float m = mean[i] + (x[i] - mean[i]) / total, d = x[i] - m;
    mean[i] = m;
    variance[i] += (d * d - variance[i]) / total;
    count[i] = total;
}

// grid: n, batch
__kernel void BatchFeedForward(
    __global const float *x,            // [batch, n]
    __global const float *mean,         // [n]
    __global const float *variance,     // [n]
    __global const float *gamma,        // [n]
    __global const float *beta,         // [n]
    __global float *y,                  // [batch, n]
    const int n, const float eps, const int activation)
{
    const int i = get_global_id(0), at = get_global_id(1) * n + i;
    const float nx = (x[at] - mean[i]) / sqrt(variance[i] + eps);
    y[at] = activate(gamma[i] * nx + beta[i], activation);
}

// sums[0] = sum of dz, sums[1] = sum of dz * nx: what both the input's and the weights' gradients need.
// grid: n
__kernel void BatchGradientSums(
    __global const float *x,            // [batch, n]
    __global const float *dz,           // [batch, n]
    __global const float *mean,         // [n]
    __global const float *variance,     // [n]
    __global float *sums,               // [2, n]
    const int batch, const int n, const float eps)
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
    sums[n + i] = s1 / sqrt(variance[i] + eps);
}

// share = 1 / batch for statistics of this batch, 0 for statistics that do not depend on x.
// grid: n, batch
__kernel void CalcHiddenGradientBatch(
    __global const float *x,            // [batch, n]
    __global const float *dz,           // [batch, n]
    __global const float *mean,         // [n]
    __global const float *variance,     // [n]
    __global const float *gamma,        // [n]
    __global const float *sums,         // [2, n]
    __global float *dx,                 // [batch, n]
    const int n, const float eps, const float share)
{
    const int i = get_global_id(0), at = get_global_id(1) * n + i;
    const float deviation = sqrt(variance[i] + eps), nx = (x[at] - mean[i]) / deviation;
    dx[at] = gamma[i] / deviation * (dz[at] - (sums[i] + nx * sums[n + i]) * share);
}

// For RunningStatistics, whose mean and variance have taken in x with weight 1 / count.
// grid: n
__kernel void CalcHiddenGradientRunning(
    __global const float *x,            // [n]
    __global const float *dz,           // [n]
    __global const float *mean,         // [n]
    __global const float *variance,     // [n]
    __global const float *gamma,        // [n]
    __global const float *count,        // [n]
    __global float *dx,                 // [n]
    const float eps)
{
    const int i = get_global_id(0);
    const float deviation = sqrt(variance[i] + eps), nx = (x[i] - mean[i]) / deviation, total = count[i];
    dx[i] = dz[i] * gamma[i] / deviation * ((total - 1.0f) / total) * (1.0f - nx * nx / total);
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
